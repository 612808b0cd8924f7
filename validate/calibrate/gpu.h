/* The GPU of this machine, as its driver describes it. */
#ifndef KVC_VALIDATE_CALIBRATE_GPU_H
#define KVC_VALIDATE_CALIBRATE_GPU_H

#include <stdbool.h>
#include <stdint.h>

struct kvc_gpu_facts {
    bool present; /* false: no device, or a program that was built without CUDA; nothing else is set */
    char name[128];
    uint32_t multiprocessors;
    uint64_t memory_bytes;
};

void kvc_gpu_ask(struct kvc_gpu_facts *facts);

#endif
