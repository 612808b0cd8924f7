/* The GPU's launches of index operations, where there is a GPU. */
#ifndef KVC_VALIDATE_CALIBRATE_GPU_H
#define KVC_VALIDATE_CALIBRATE_GPU_H

#include <stdbool.h>

#include "validate/calibrate/stages.h"

struct kvc_gpu_costs {
    bool present; /* false: no device, or a program that was built without CUDA; nothing else is set */
    char name[128];
    uint32_t multiprocessors;
    uint64_t memory_bytes;
    /* One launch by its jobs, read from and answered into host memory: copies included. Inserts are of keys
     * that are there. */
    struct kvc_law search, insert;
};

/* `index_bytes`: of the table, a power of two. KVC_ERR_RUNTIME: the device is there and fails. */
enum kvc_status kvc_gpu_measure(uint64_t index_bytes, struct kvc_gpu_costs *costs, struct kvc_diag *diag);

#endif
