/* Cache lines of this machine's memory: latency and throughput by working set, sequential reads. */
#ifndef KVC_VALIDATE_PROBES_MEMORY_LATENCY_H
#define KVC_VALIDATE_PROBES_MEMORY_LATENCY_H

#include <stdint.h>

#include "sim/base/diag.h"

enum { KVC_MEMORY_LATENCY_SIZES_MAX = 16, KVC_MEMORY_LATENCY_CHAINS = 6 };

/* Of one working set. */
struct kvc_memory_latency_point {
    uint64_t bytes;
    /* One random line, by the number of dependent chains that are followed at once: 1, 2, 4, ... 32. The
     * first is the latency; the others show how many lines a core has under way. */
    double line_ns[KVC_MEMORY_LATENCY_CHAINS];
};

struct kvc_memory_latency_curve {
    uint32_t count;
    struct kvc_memory_latency_point point[KVC_MEMORY_LATENCY_SIZES_MAX];
    double sequential_bytes_per_s; /* one core, over the largest working set */
};

/* Working sets from 16 KiB to `bytes_max` in steps of 4, on huge pages as far as the system gives them.
 * KVC_ERR_RUNTIME without memory. */
enum kvc_status kvc_memory_latency_measure(uint64_t bytes_max, struct kvc_memory_latency_curve *curve,
                                           struct kvc_diag *diag);

#endif
