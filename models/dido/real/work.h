/* The tasks of DIDO on the queries of a set, for real: the kernels of kernels/megakv on frames in memory.
 *
 *   PP      parses the frames and hashes the keys.
 *   MM      allocates an item for each SET, for neighbours of one size at once, and writes it.
 *   search  finds the locations of the GETs.
 *   insert  adds the locations of the new items; delete removes those of evicted and deleted ones. The index
 *           allows one thread to change it at a time, so both hold a lock for their part of a set.
 *   KC, RD  are one call if they are in the same stage. KC alone finds the item and compares its key. The
 *           item may be evicted and another key's before the RD of a later stage reads it, which the client
 *           notices, as with Mega-KV's getk: such a GET is a miss.
 *   WR      writes a response frame: a header for each query of the set, then the values. An RD of the same
 *           stage has written the values there; otherwise WR copies them from RD's buffer.
 *   SD      hands the response to the client, which compares the first bytes of each value with the hash of
 *           its key. Nothing is sent.
 *
 * Here they run on threads of the CPU; gpu.h has those of a stage on the GPU. Values that the GPU has read,
 * and responses that it has written, lie by row (batch.h), so WR and SD find them there. The GPU cannot mark
 * items as referenced, so SD marks those that it has read.
 *
 * RV divides frames among sets (batch.h). */
#ifndef KVC_MODELS_DIDO_REAL_WORK_H
#define KVC_MODELS_DIDO_REAL_WORK_H

#include <stdatomic.h>

#include "kernels/index.h"
#include "models/dido/pipeline.h"
#include "models/dido/real/batch.h"

/* What all threads share. */
struct kvc_dido_real_store {
    struct kvc_index *index;
    struct kvc_megakv_slab *slab;
    uint64_t hash_seed;
    bool reads_on_gpu, responds_on_gpu; /* RD and WR are in the stage on the GPU. */
    _Alignas(64) atomic_flag changing;  /* A thread changes the index. */
};

/* What a thread has counted. */
struct kvc_dido_real_counts {
    uint64_t hits, misses, sets, deletes; /* Answered by SD. */
    uint64_t task_ticks[KVC_DIDO_TASKS];  /* Time of the tasks (sim/base/clock.h). */
    uint64_t rejected;                    /* SETs that found no memory. */
    uint64_t foreign;                     /* Values of other keys, which count as misses. */
    struct kvc_index_stats index;
    struct kvc_megakv_slab_stats slab;
};

/* A thread's own place to work. */
struct kvc_dido_real_bench {
    struct kvc_dido_real_store *store;
    struct kvc_dido_real_counts counts;
    uint32_t room;      /* Queries of a set at most. */
    uint32_t *row;      /* Queries that a task is about. */
    uint64_t *hash;     /* Theirs. */
    uint32_t *location; /* Theirs. */
};

/* Ends the program if memory is short. */
void kvc_dido_real_bench_open(struct kvc_dido_real_bench *bench, struct kvc_dido_real_store *store,
                              uint32_t room);
void kvc_dido_real_bench_close(struct kvc_dido_real_bench *bench); /* A zeroed one is allowed. */

/* Does the tasks of a stage for a set, in the order of the pipeline. RV is done before. */
void kvc_dido_real_work(struct kvc_dido_real_bench *bench, struct kvc_dido_real_batch *batch, uint32_t set,
                        const struct kvc_dido_stage *stage);

#endif
