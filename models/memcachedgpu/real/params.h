/* The options of a scenario that a measured run uses. */
#ifndef KVC_MODELS_MEMCACHEDGPU_REAL_PARAMS_H
#define KVC_MODELS_MEMCACHEDGPU_REAL_PARAMS_H

#include <stdint.h>

enum { KVC_MEMCACHEDGPU_REAL_STREAMS_MAX = 32, KVC_MEMCACHEDGPU_REAL_POSTS_MAX = 16 };

struct kvc_memcachedgpu_real_params {
    uint32_t batch;        /* Packets. */
    uint32_t streams;      /* Batches in flight. */
    uint32_t post_threads; /* GNoM-post threads. */
    uint64_t entries;      /* Entries of the set-associative table. */
    uint32_t ways;
    uint32_t key_room; /* Longest key that an entry has room for [bytes]. */
    /* The background task; 0 blocks: none. */
    uint32_t background_blocks, background_threads, background_kernels;
    double background_ns;       /* Time of the task as one kernel on the idle GPU [ns]. */
    double background_start_ns; /* When it starts, after the measured time begins [ns]. */
};

#endif
