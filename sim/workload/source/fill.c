#include "sim/workload/source/fill.h"

#include <math.h>

struct kvc_fill kvc_fill_of(double per_ns, uint32_t frame_requests, double timeout_ns)
{
    double mean = timeout_ns > 0 ? per_ns * timeout_ns : INFINITY;
    double log_term = -mean, at_most = 0, requests = 1, waits = 0; /* log P(N = 0); P(N < j) */
    if (isinf(mean)) {
        return (struct kvc_fill){.requests = frame_requests, .wait_ns = (frame_requests - 1) / 2.0 / per_ns};
    }
    for (uint32_t j = 1; j < frame_requests; j++) {
        at_most += exp(log_term);
        log_term += log(mean / j);
        double reached = fmax(1 - at_most, 0);
        requests += reached;
        waits += j * reached;
    }
    return (struct kvc_fill){.requests = requests, .wait_ns = waits / per_ns / requests};
}
