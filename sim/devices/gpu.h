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

#include "sim/base/option.h"
#include "sim/devices/pcie.h"

enum { KVC_GPU_CLOCKS_MAX = 8 };

/* One frequency pair; the fit is absent where search_ns_per_op is 0. */
struct kvc_gpu_clock {
    double core_hz, memory_hz;
    double search_ns_per_op, search_base_ns;
    double insert_ns_per_op, insert_base_ns; /* insert and delete */
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

extern const struct kvc_option_table kvc_gpu_option_table;
extern const struct kvc_option_table kvc_gpu_clock_option_table;

/* One launch: what goes in, what the kernel touches, what comes out; all streams together. */
struct kvc_gpu_work {
    double jobs;
    double in_bytes, out_bytes; /* over PCIe */
    double sectors;             /* random 32-byte sectors that the kernel reads or writes */
    double depth;               /* dependent accesses of one job */
    double threads_per_job;
    uint32_t streams;
};

enum kvc_gpu_kernel { KVC_GPU_SEARCH, KVC_GPU_INSERT };

/* Time of one launch at clock pair `clock`; 0 jobs take 0. */
double kvc_gpu_launch_ns(const struct kvc_gpu *gpu, uint32_t clock, const struct kvc_pcie *pcie,
                         enum kvc_gpu_kernel kernel, const struct kvc_gpu_work *work);

#endif
