/* The tasks of DIDO on the queries of a set, for real: the kernels of kernels/megakv on frames in memory.
 *
 *   PP      parses the frames and hashes the keys.
 *   MM      allocates an item for each SET, for neighbours of one size at once, and writes it.
 *   search  finds the locations of the GETs.
 *   insert  adds the locations of the new items; delete removes the locations of evicted and deleted ones.
 * The index allows one thread to change it at a time, so both hold a lock for their part of a set. KC, RD are
 * one call if they are in the same stage. KC alone finds the item and compares its key. The item may be
 * evicted and another key's before the RD of a later stage reads it, which the client notices, as with
 * Mega-KV's getk: such a GET is a miss. WR      writes a response frame: a header for each query of the set,
 * then the values. An RD of the same stage has written the values there; otherwise WR copies them from RD's
 * buffer. SD      hands the response to the client, which compares the first bytes of each value with the
 * hash of its key. Nothing is sent.
 *
 * Here they run on threads of the CPU; gpu.h has the tasks of a stage on the GPU. Values that the GPU has
 * read, and responses that it has written, lie by row, so WR and SD find them there. The GPU cannot mark
 * items as referenced, so SD marks the items that the GPU has read.
 *
 * RV divides frames among sets. */
#ifndef KVC_MODELS_DIDO_REAL_WORK_H
#define KVC_MODELS_DIDO_REAL_WORK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernels/index.h"
#include "kernels/megakv/slab.h"
#include "models/dido/pipeline.h"

/* A batch of queries that the stages of a real pipeline hand on by pointer, with all that the tasks find out
 * about them.
 *
 * The rows of a batch are divided into sets. The threads of a stage take sets in turn, as with the paper's
 * tags (sec. III.B.3). A set consists of whole frames, because the start of a query is known only after the
 * queries before it in its frame are parsed. It ends with the frame that brings it to system.steal_set
 * queries. */

/* A frame of requests in memory. */
struct kvc_dido_real_frame {
    const uint8_t *at;
    uint32_t bytes;
    uint32_t requests;
    double sent_ns; /* Intended send time, from the start of the run [ns]. */
};

struct kvc_dido_real_set {
    uint32_t first_frame, frames;
    uint32_t first, rows;    /* The queries that these frames announce. */
    uint32_t evictions;      /* Items that MM evicted; their list begins at evicted[first]. */
    uint32_t value_bytes;    /* Size of the values that RD has read, which are contiguous [bytes]. */
    uint32_t response_bytes; /* Size of the response frame, set by WR [bytes]. */
};

/* Sizes of the parts of batches. */
struct kvc_dido_real_batch_shape {
    uint32_t set_queries;   /* Queries after which a set ends with its frame. */
    uint32_t frame_queries; /* Most queries of a frame. */
    uint32_t rows;          /* Most queries of a batch, including one more frame. */
    uint32_t key_stride;    /* Distance between two keys [bytes]. */
    uint32_t value_stride;  /* Room for the value of a row; at least its size [bytes]. */
};

struct kvc_dido_real_batch {
    struct kvc_dido_real_batch_shape shape;
    uint32_t rows, frames, sets;
    double began_ns;       /* When RV began with it [ns]. */
    double stage_began_ns; /* When the current stage began with it [ns]. */
    double slowest_ns;     /* Longest time of a stage so far [ns]. */
    struct kvc_dido_real_frame *frame;
    struct kvc_dido_real_set *set;
    /* Indexed by row. */
    uint8_t *op; /* enum kvc_megakv_packet_op. */
    uint8_t *key_bytes;
    uint8_t *keys;         /* Key i at i * key_stride, padded with zeros. */
    const uint8_t **value; /* Value of a SET, in its frame. */
    uint32_t *value_bytes; /* Size of the value of a SET [bytes]. */
    uint32_t *read_bytes;  /* Size of the value that RD has read [bytes]. */
    uint64_t *hash;
    uint32_t *location; /* Location of the item that the index has, or that MM has written. */
    uint8_t *result;    /* enum kvc_megakv_slab_read_result of a GET. */
    struct kvc_megakv_slab_evicted *evicted;
    /* By set, from the room of its first row on. */
    uint8_t *values;    /* Values that RD leaves for the WR of a later stage. */
    uint8_t *responses; /* A header for each row of the set, then the values in the same order. */
    /* A stage on the GPU shares the memory of op, key_bytes, keys, read_bytes, hash, location, result,
     * evicted, values and responses. Its RD leaves the value of row i at i * value_stride of `values`, and
     * its WR the response, a header and the value, at i * (KVC_DIDO_REAL_HEADER_BYTES + value_stride) of
     * `responses`. */
    uint8_t *block;
    uint64_t block_bytes;
};

enum { KVC_DIDO_REAL_HEADER_BYTES = 8 /* Header of a response: the result, and the size of the value. */ };

/* Ends the program if memory is short. */
struct kvc_dido_real_batch *kvc_dido_real_batch_create(const struct kvc_dido_real_batch_shape *shape);
void kvc_dido_real_batch_free(struct kvc_dido_real_batch *batch); /* NULL is allowed. */

/* Removes all frames. */
void kvc_dido_real_batch_clear(struct kvc_dido_real_batch *batch);

/* Appends a frame to the last set, or to a new one if that is full. The batch must have room for its rows. */
void kvc_dido_real_batch_add(struct kvc_dido_real_batch *batch, const struct kvc_dido_real_frame *frame);

/* Returns the most queries that a set can have. */
static inline uint32_t kvc_dido_real_set_most(const struct kvc_dido_real_batch_shape *shape)
{
    return shape->set_queries - 1 + shape->frame_queries;
}

/* Returns the place where RD leaves the values of a set for a WR of another stage. */
static inline uint8_t *kvc_dido_real_values(const struct kvc_dido_real_batch *batch,
                                            const struct kvc_dido_real_set *set)
{
    return batch->values + (uint64_t)set->first * batch->shape.value_stride;
}

/* Returns the start of a set's response frame. */
static inline uint8_t *kvc_dido_real_response(const struct kvc_dido_real_batch *batch,
                                              const struct kvc_dido_real_set *set)
{
    return batch->responses + (uint64_t)set->first * (KVC_DIDO_REAL_HEADER_BYTES + batch->shape.value_stride);
}

/* Data that all threads share. */
struct kvc_dido_real_store {
    struct kvc_index *index;
    struct kvc_megakv_slab *slab;
    uint64_t hash_seed;
    bool reads_on_gpu, responds_on_gpu; /* RD and WR are in the stage on the GPU. */
    _Alignas(64) atomic_flag changing;  /* A thread changes the index. */
};

/* Counts of a thread. */
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
    uint32_t room;      /* Most queries of a set. */
    uint32_t *row;      /* Queries of the current task. */
    uint64_t *hash;     /* Theirs. */
    uint32_t *location; /* Theirs. */
};

/* Ends the program if memory is short. */
void kvc_dido_real_bench_open(struct kvc_dido_real_bench *bench, struct kvc_dido_real_store *store,
                              uint32_t room);
void kvc_dido_real_bench_close(struct kvc_dido_real_bench *bench); /* A zeroed bench is allowed. */

/* Does the tasks of a stage for a set, in the order of the pipeline. RV has been done before. */
void kvc_dido_real_work(struct kvc_dido_real_bench *bench, struct kvc_dido_real_batch *batch, uint32_t set,
                        const struct kvc_dido_stage *stage);

#endif
