/* The values of a cost profile from a survey. */
#ifndef KVC_MODELS_MEMCACHEDGPU_REAL_DERIVE_H
#define KVC_MODELS_MEMCACHEDGPU_REAL_DERIVE_H

#include "models/memcachedgpu/real/survey.h"

struct kvc_memcachedgpu_derived {
    double clock_hz; /* Of the multiprocessors while they work [Hz]. */
    /* Dependent accesses to device memory of the slowest block in a batch of 512 hits whose packets have just
     * arrived: what the kernel takes longer than with all lines in the second-level cache, over what a warp's
     * access takes longer. The slowest block counts, because a batch ends with it; it is the one in which
     * tags of other keys were equal. */
    double accesses;
    double block_cycles;   /* The rest of that kernel, with accesses to the second-level cache [cycles]. */
    double key_cycles;     /* Slope of such a kernel over the length of its keys [cycles/byte]. */
    double packet_cycles;  /* Slope of a large batch over its packets, times multiprocessors [cycles]. */
    double set_cycles;     /* A SET of a held key, less as many accesses [cycles]. */
    double call_ns;        /* Time of a batch in a thread that only makes calls, by its calls [ns]. */
    double call_polled_ns; /* The same while another thread asks for an event [ns]; NaN: not measured. */
    double answer_ns;      /* A response whose lines are all cached [ns]. */
};

/* Returns false if the survey lacks a row that is needed. */
bool kvc_memcachedgpu_derive(const struct kvc_memcachedgpu_survey *survey,
                             struct kvc_memcachedgpu_derived *derived);

#endif
