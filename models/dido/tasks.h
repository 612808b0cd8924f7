/* The work of DIDO's tasks (Zhang et al., ICDE 2017, sec. III.A) for a query: instructions and lines of
 * memory.
 *
 * The paper counts the instructions of its tasks (sec. IV.A), but does not publish them. Here, Mega-KV's real
 * structures in kernels/megakv/ are counted, which do the same work:
 *
 *   PP      parses a request of a frame (packet.h) and hashes its key (hash.h).
 *   MM      allocates an item in a full store, which evicts one, and writes key and value (slab.h).
 *   search  finds the location of a hash (cuckoo.h).
 *   insert  adds the location of a new item.
 *   delete  removes the location of an evicted or deleted item.
 *   KC      finds the item of a location and compares its key.
 *   RD      finds the item of a location, copies its value to a buffer and marks it as referenced.
 *   WR      writes a response (packet.h): a header and, for a hit, the value from the buffer.
 *
 * Every task is a function of its own, as in the paper, so KC and RD each find the item. If RD writes its
 * value straight into the response, because WR is in the same stage, WR executes no more than for a value of
 * 0 bytes.
 *
 * The table is at load 0.9, and no search finds another key's element. A core's instructions were counted one
 * by one with task_counts_bench for the paper's four sizes of items: GCC 12 -O3, the table's portable code,
 * AES instructions for the hash, and a C library without AVX2, because the paper's processor has none. The
 * code prefetches, which takes part of the instructions of search, KC and RD. A GPU thread's instructions
 * were counted on an NVIDIA H100 with a profiler (kernels/megakv/query_cuda_bench.cu), in warps of 32
 * threads: they include instructions that only other threads of the warp need, most of all in insert. PP and
 * MM have no GPU code. They count the instructions of a core that hashes without AES and copies words of 8
 * bytes, as WR's threads do; a thread of PP executes them for all requests of a frame, one after the other
 * (costs.h). AMD has other instructions, so these are estimates for the paper's GPU.
 *
 * How many of its instructions a core completes in a cycle is part of its profile; task_ipc.sh finds it out.
 *
 * RV and SD have no work here: they call the operating system, whose costs are the options receive_cycles and
 * send_cycles.
 *
 * Lines have 64 bytes. The arrays of a batch that pass hashes and locations between tasks (about 20 bytes a
 * query) and the bitmaps of the slabs are left out. What RD writes to its buffer and WR reads from it is left
 * out, too, because only a pipeline that separates the two tasks sends it through the memory. */
#ifndef KVC_MODELS_DIDO_TASKS_H
#define KVC_MODELS_DIDO_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/workload/batch.h"

/* The paper's eight tasks, with its index operations as tasks of their own (sec. III.B.2), in the order
 * in which a stage does them for a query. */
enum kvc_dido_task {
    KVC_DIDO_RV,     /* Receive frames. */
    KVC_DIDO_PP,     /* Process packets: parse requests. */
    KVC_DIDO_MM,     /* Memory management. */
    KVC_DIDO_SEARCH, /* Index: search. */
    KVC_DIDO_INSERT, /* Index: insert. */
    KVC_DIDO_ERASE,  /* Index: delete. */
    KVC_DIDO_KC,     /* Key comparison. */
    KVC_DIDO_RD,     /* Read the item. */
    KVC_DIDO_WR,     /* Write the response. */
    KVC_DIDO_SD,     /* Send frames. */
    KVC_DIDO_TASKS,  /* Number of tasks. */
};

/* Returns the bit of a task in a set of tasks. */
static inline uint32_t kvc_dido_bit(enum kvc_dido_task task)
{
    return UINT32_C(1) << task;
}

static inline bool kvc_dido_is_index(enum kvc_dido_task task)
{
    return task == KVC_DIDO_SEARCH || task == KVC_DIDO_INSERT || task == KVC_DIDO_ERASE;
}

/* Names of the tasks, as the paper has them. */
extern const char *const kvc_dido_task_names[KVC_DIDO_TASKS];

/* Work of a query in a task. */
struct kvc_dido_work {
    double instructions; /* Instructions of a core, or of a GPU thread. */
    double random_lines; /* First lines of objects at random places in memory: buckets and items. */
    double next_lines;   /* Lines that follow a first one, or that are read or written in order. */
};

/* Returns the mean work of a task for a query, or nothing if the operation does not use the task. A GET is a
 * hit. A GET that misses searches both buckets (304 instructions of a core, 238 of a GPU thread), does no RD,
 * and has the WR of a value of 0 bytes. A SET inserts its new item and deletes the evicted one. A deleted
 * item stays in its slab until CLOCK evicts it, as in Mega-KV, so a DELETE has no MM. Sizes beyond the
 * paper's (keys of 8 to 128 bytes, values of 8 to 1024 bytes) are extrapolated. */
struct kvc_dido_work kvc_dido_work_of(enum kvc_dido_task task, enum kvc_op op, uint32_t key_bytes,
                                      uint32_t value_bytes, bool on_gpu);

/* Buckets that operations on the index read; counted like the work above, at loads from 0.3 to 0.9. */
struct kvc_dido_index_lines {
    double search; /* Lines of a search for a hash in the index; a search for another hash reads 2. */
    double insert; /* Lines of an insert of a new hash; a search finds a hash that the index has. */
    double erase;
};

/* Returns the lines at a load factor, interpolated between the counted load factors; outside of them, the
 * nearest one counts. */
struct kvc_dido_index_lines kvc_dido_index_lines_at(double load_frac);

#endif
