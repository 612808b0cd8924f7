/* GPU: time of one launch of index operations over all streams.
 *
 * Two forms. `fit`: T = k*x + b measured on the card for each clock pair (Mega-KV, VLDB J. 2017, Table 2;
 * copies included). `mechanistic`, used where a clock pair has no fit: the streams' chunks pass through
 * copy-in engine, SMs and copy-out engine as a flow shop of equal jobs. A kernel takes its random 32-byte
 * sectors over the card's rate, or its dependent accesses one after the other for as many waves as the SMs
 * need to hold all jobs, if that is longer. Not modelled: cache hits in L2, shared-memory limits on
 * occupancy, clock ramps. */
#ifndef KVC_SIM_DEVICES_GPU_H
#define KVC_SIM_DEVICES_GPU_H

#include <stdint.h>

#include "sim/devices/node.h"
#include "sim/devices/pcie.h"

enum { KVC_GPU_CLOCKS_MAX = 8 };

/** Straight line through measured launch times, copies included: T = ns_per_op * jobs + base_ns. */
struct kvc_gpu_fit {
    double ns_per_op; /**< 0: not measured. */
    double base_ns;
};

/** One pair of clock frequencies with the lines that were fitted at them. */
struct kvc_gpu_clock {
    double core_hz, memory_hz;
    struct kvc_gpu_fit search, insert; /**< Lines of search launches, and of insert and delete launches. */
};

struct kvc_gpu {
    char name[KVC_TEXT_MAX];
    uint64_t sms; /* each holds 2048 threads (CUDA C++ Programming Guide, compute capability 3.5 and 9.0) */
    double memory_bytes;
    double sectors_per_s; /* random 32-byte sectors, whole card, 0: unknown */
    double access_ns;     /* one dependent device-memory access */
    double launch_ns;     /* launch and completion seen from the host */
    uint32_t clock_count;
    struct kvc_gpu_clock clocks[KVC_GPU_CLOCKS_MAX]; /* fastest first */
};

extern const struct kvc_device_kind kvc_gpu_kind;

/** The node's gpu; NULL if it has none. */
static inline const struct kvc_gpu *kvc_gpu_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_gpu_kind);
}

/* One launch: what goes in, what the kernel touches, what comes out; all streams together. */
struct kvc_gpu_work {
    double jobs;
    double in_bytes, out_bytes; /* over PCIe */
    double sectors;             /* random 32-byte sectors that the kernel reads or writes */
    double depth;               /* dependent accesses of one job */
    double threads_per_job;
    uint32_t streams;
};

/** Time of one launch [ns]; 0 jobs take no time. `fit`: the measured line of this kernel at the card's
 * clocks; NULL: the mechanistic form. */
double kvc_gpu_launch_ns(const struct kvc_gpu *gpu, const struct kvc_pcie *pcie,
                         const struct kvc_gpu_fit *fit, const struct kvc_gpu_work *work);

#endif
