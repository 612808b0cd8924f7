/* The cost of a cache line on this machine: latency and throughput by working set, and sequential bandwidth.
 */
#ifndef KVC_SIM_PROBES_MEMORY_LATENCY_H
#define KVC_SIM_PROBES_MEMORY_LATENCY_H

#include <stdint.h>

#include "sim/base/diag.h"

enum { KVC_MEMORY_LATENCY_SIZES_MAX = 16, KVC_MEMORY_LATENCY_CHAINS = 6 };

/* One working set. */
struct kvc_memory_latency_point {
    uint64_t bytes; /* Size of the working set [bytes]. */
    /* Time per random line when a core follows 1, 2, 4, ... 32 dependent chains at once [ns]. The first is
     * the latency; the others show how many misses a core overlaps. */
    double line_ns[KVC_MEMORY_LATENCY_CHAINS];
};

struct kvc_memory_latency_curve {
    uint32_t count; /* Measured working sets. */
    struct kvc_memory_latency_point point[KVC_MEMORY_LATENCY_SIZES_MAX];
    double sequential_bytes_per_s; /* One core that reads the largest working set in order [bytes/s]. */
};

/* Measures working sets from 16 KiB to `bytes_max`, each four times as large as the one before, on huge pages
 * if the system provides them. KVC_ERR_RUNTIME: there is too little memory. */
enum kvc_status kvc_memory_latency_measure(uint64_t bytes_max, struct kvc_memory_latency_curve *curve,
                                           struct kvc_diag *diag);

#endif
