/* The GPU of this machine: as its driver describes it, and what the simplest things take on it. */
#ifndef KVC_VALIDATE_PROBES_GPU_H
#define KVC_VALIDATE_PROBES_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "validate/probes/probe.h"

struct kvc_gpu_facts {
    bool present; /* false: no device, or a program that was built without CUDA; nothing else is set */
    char name[128];
    uint32_t multiprocessors;
    uint64_t memory_bytes;
    /* a kernel that does nothing, launched and waited for; a copy of a few bytes, the slower way */
    struct kvc_probe_time launch, copy;
    /* copies of many bytes of pinned memory */
    double h2d_bytes_per_s, d2h_bytes_per_s;
    double sectors_per_s; /* of 32 bytes, at random, read by as many threads as there is room for */
};

/* KVC_ERR_RUNTIME: there is a GPU, but it has no memory left or fails. */
enum kvc_status kvc_gpu_measure(struct kvc_gpu_facts *facts, struct kvc_diag *diag);

#endif
