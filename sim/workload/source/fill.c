#include "sim/workload/source/fill.h"

#include <float.h>
#include <math.h>

/* Returns a j up to which N < j is less likely than 10^-80: P(N <= mean - k sqrt(mean)) is at most exp(-k^2 /
 * 2) by Chernoff's bound. It is 0 if P(N = 0) is no smaller than numbers can be. */
static uint32_t surely_reached(double mean, uint32_t at_most)
{
    return mean < 600 ? 0 : (uint32_t)fmin(mean - 20 * sqrt(mean), at_most);
}

/* Returns P(N = j) for 0 or a large j, for which Stirling's series needs two terms. */
static double probability(double mean, double j)
{
    return j == 0
               ? exp(-mean)
               : exp(j * log(mean / j) + j - mean - (1 - 1 / (30 * j * j)) / (12 * j)) / sqrt(2 * M_PI * j);
}

struct kvc_fill kvc_fill_of(double per_ns, uint32_t frame_requests, double timeout_ns)
{
    double mean = timeout_ns > 0 ? per_ns * timeout_ns : INFINITY;
    if (isinf(mean)) {
        return (struct kvc_fill){.requests = frame_requests, .wait_ns = (frame_requests - 1) / 2.0 / per_ns};
    }
    uint32_t first = surely_reached(mean, frame_requests - 1);
    double term = probability(mean, first), below = 0; /* P(N = j - 1); P(N < j) */
    double requests = 1.0 + first, waits = first * (first + 1.0) / 2;
    /* Beyond the mean, terms fall faster than a geometric series, so one of a thousandth of a rounding ends
     * the sum. */
    for (uint32_t j = first + 1; j < frame_requests && (j < mean || term > DBL_EPSILON / 1024); j++) {
        below += term;
        term *= mean / j;
        double reached = below < 1 ? 1 - below : 0;
        requests += reached;
        waits += j * reached;
    }
    return (struct kvc_fill){.requests = requests, .wait_ns = waits / per_ns / requests};
}

uint32_t kvc_fill_most(const struct kvc_workload *workload, uint32_t room)
{
    return kvc_workload_has_multigets(workload) && room > workload->multiget ? (uint32_t)workload->multiget
                                                                             : room;
}

double kvc_fill_mean(const struct kvc_workload *workload, uint32_t most)
{
    double frames = ceil((double)workload->multiget / most); /* Frames of a multiget. */
    return kvc_workload_has_multigets(workload)
               ? 1 / (workload->get_frac * frames / (double)workload->multiget + 1 - workload->get_frac)
               : most;
}
