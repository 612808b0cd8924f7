/* The GPU of this machine: what its driver reports, and what the simplest operations on it cost. */
#ifndef KVC_SIM_PROBES_GPU_H
#define KVC_SIM_PROBES_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/probes/timing.h"

struct kvc_gpu_facts {
    bool present; /* False without a GPU or in a program built without CUDA; then nothing else is set. */
    char name[128];
    uint32_t multiprocessors;
    uint64_t memory_bytes;
    struct kvc_timing launch; /* An empty kernel, launched and waited for. */
    struct kvc_timing copy;   /* A copy of 64 bytes in the slower of the two directions. */
    double h2d_bytes_per_s;   /* Copies of 64 MiB of pinned memory to the device [bytes/s]. */
    double d2h_bytes_per_s;   /* Copies of 64 MiB from the device to pinned memory [bytes/s]. */
    double access_ns;         /* A dependent access of 32 threads to random sectors of 2 GiB [ns]. */
    double clock_hz;          /* Clock of the multiprocessors meanwhile [Hz]. */
    double sectors_per_s; /* Random reads of 32-byte sectors by as many threads as fit on the device [1/s]. */
};

/* Measures the GPU if there is one. KVC_ERR_RUNTIME: the GPU has too little free memory, or it fails. */
enum kvc_status kvc_gpu_measure(struct kvc_gpu_facts *facts, struct kvc_diag *diag);

#endif
