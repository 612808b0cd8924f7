/* MemcachedGPU's part of a calibration: the costs of its kernels, calls and responses, as values of a machine
 * file. */
#ifndef KVC_MODELS_MEMCACHEDGPU_REAL_CALIBRATE_H
#define KVC_MODELS_MEMCACHEDGPU_REAL_CALIBRATE_H

#include "models/memcachedgpu/real/survey.h"
#include "models/model.h"

/* The values of a cost profile from a survey. */

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

/* Adds to the profile: the fields of memcachedgpu_costs, the survey as comments, and a summary. Without a
 * GPU, or in a program that was built without CUDA, it adds nothing but a line of the summary. The CPU's part
 * of a SET through TCP is not measured. Returns KVC_ERR_RUNTIME if the GPU fails or memory is short. */
enum kvc_status kvc_memcachedgpu_calibrate(const struct kvc_calibration *calibration, struct kvc_diag *diag);

#endif
