/* MemcachedGPU's part of a calibration: the costs of its kernels, calls and responses, as values of a machine
 * file. */
#ifndef KVC_MODELS_MEMCACHEDGPU_REAL_CALIBRATE_H
#define KVC_MODELS_MEMCACHEDGPU_REAL_CALIBRATE_H

#include "models/memcachedgpu/real/survey.h"
#include "models/model.h"

/* The values of a cost profile from a survey. */

struct kvc_memcachedgpu_derived {
    double clock_hz; /* Clock of the multiprocessors while they work [Hz]. */
    /* Dependent accesses to device memory of the slowest block in a batch of 512 hits whose packets have just
     * arrived: the extra time of the kernel compared with all lines in the second-level cache, divided by the
     * extra time of a warp's access. The slowest block counts, because the batch ends with it; it is the
     * block that met equal tags of other keys. */
    double accesses;
    double block_cycles; /* Time of that kernel without these accesses, including accesses to the second-level
                            cache [cycles]. */
    double key_cycles;   /* Slope of that kernel's time over the length of its keys [cycles/byte]. */
    double packet_cycles;  /* Slope of a large batch's time over its packets, times the multiprocessors
                              [cycles]. */
    double set_cycles;     /* Time of a SET of a stored key, without as many accesses [cycles]. */
    double call_ns;        /* Time of one CUDA call in a thread that does nothing else [ns]. */
    double call_polled_ns; /* Time of a call while another thread polls an event [ns]; NaN: not measured. */
    double answer_ns;      /* Time of a response whose lines are all cached [ns]. */
};

/* Returns false if the survey lacks a row that is needed. */
bool kvc_memcachedgpu_derive(const struct kvc_memcachedgpu_survey *survey,
                             struct kvc_memcachedgpu_derived *derived);

/* Adds the fields of memcachedgpu_costs, the survey as comments, and a summary to the profile. Without a GPU,
 * or in a program built without CUDA, it adds only a line of the summary. The CPU's part of a SET through TCP
 * is not measured. Returns KVC_ERR_RUNTIME if the GPU fails or memory is short. */
enum kvc_status kvc_memcachedgpu_calibrate(const struct kvc_calibration *calibration, struct kvc_diag *diag);

#endif
