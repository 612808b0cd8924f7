#include "sim/workload/arrivals.h"

#include <math.h>

static const double mops_per_ns = 1e-3; /* Requests per ns at 1 Mops. */

void kvc_arrivals_init(struct kvc_arrivals *arrivals, const struct kvc_workload *workload,
                       uint32_t frame_requests, uint64_t seed)
{
    *arrivals = (struct kvc_arrivals){.workload = workload, .frame_requests = frame_requests};
    kvc_rng_init(&arrivals->rng, seed, "workload.arrival", 0);
}

/* Returns the time until `requests` have arrived, at a rate that starts at `rate` and grows by `slope` per
 * ns, or +infinity if they never do. */
static double time_for(double requests, double rate, double slope)
{
    double root = rate * rate + 2 * slope * requests;
    if (root < 0) {
        return INFINITY;
    }
    double denominator = rate + sqrt(root);
    return denominator > 0 ? 2 * requests / denominator : INFINITY;
}

static double follow_curve(const struct kvc_workload *workload, double from_ns, double requests)
{
    const struct kvc_rate_point *point = workload->curve;
    uint32_t last = workload->curve_points - 1, i = 0;
    while (i <= last && point[i].time_ns <= from_ns) {
        i++; /* Ends at the first point after from_ns. */
    }
    for (; i <= last; i++) {
        double end = point[i].time_ns, rate = point[i].rate_mops * mops_per_ns, slope = 0;
        if (i > 0) {
            slope =
                (point[i].rate_mops - point[i - 1].rate_mops) * mops_per_ns / (end - point[i - 1].time_ns);
            rate -= slope * (end - from_ns);
        }
        double length = end - from_ns, wait = time_for(requests, fmax(rate, 0), slope);
        if (wait <= length) {
            return from_ns + wait;
        }
        requests -= (fmax(rate, 0) + slope * length / 2) * length;
        from_ns = end;
    }
    return from_ns + time_for(fmax(requests, 0), point[last].rate_mops * mops_per_ns, 0);
}

double kvc_arrivals_next(struct kvc_arrivals *arrivals)
{
    const struct kvc_workload *workload = arrivals->workload;
    double gap_ns = arrivals->frame_requests / (workload->rate_mops * mops_per_ns);
    switch (workload->arrival) {
    case KVC_ARRIVAL_FIXED:
        arrivals->last_ns =
            (double)arrivals->count * gap_ns; /* A product, not a sum, so that errors do not add up. */
        break;
    case KVC_ARRIVAL_CURVE:
        arrivals->last_ns = follow_curve(workload, arrivals->last_ns,
                                         kvc_rng_exponential(&arrivals->rng, arrivals->frame_requests));
        break;
    default:
        arrivals->last_ns += kvc_rng_exponential(&arrivals->rng, gap_ns);
    }
    arrivals->count++;
    return arrivals->last_ns;
}
