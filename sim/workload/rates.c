#include "sim/workload/rates.h"

#include <math.h>

/* Returns the factor of one burst at a time, and sets *until_ns to when it begins or ends next. */
static double factor_of(const struct kvc_burst *burst, double time_ns, double *until_ns)
{
    double every_ns = burst->every_ns, first_ns = burst->at_ns;
    if (first_ns < 0) { /* In the middle of each period. */
        first_ns = (every_ns - burst->length_ns) / 2;
    }
    double number = every_ns > 0 ? fmax(floor((time_ns - first_ns) / every_ns), 0) : 0;
    while (every_ns > 0 && first_ns + (number + 1) * every_ns <= time_ns) {
        number++; /* The quotient was rounded down. */
    }
    double begin_ns = first_ns + number * every_ns, end_ns = begin_ns + burst->length_ns;
    *until_ns = time_ns < begin_ns ? begin_ns
                : time_ns < end_ns ? end_ns
                : every_ns > 0     ? first_ns + (number + 1) * every_ns
                                   : INFINITY;
    return time_ns >= begin_ns && time_ns < end_ns ? burst->times : NAN;
}

double kvc_bursts_factor(const struct kvc_workload *workload, double time_ns, double *until_ns)
{
    double factor = NAN;
    *until_ns = INFINITY;
    for (uint32_t i = 0; i < workload->burst_count; i++) {
        double edge_ns;
        factor = fmax(factor, factor_of(&workload->bursts[i], time_ns, &edge_ns)); /* Ignores a NaN. */
        *until_ns = fmin(*until_ns, edge_ns);
    }
    return isnan(factor) ? 1 : factor;
}

/* Returns the requests of a curve up to a time [million/s * ns]. */
static double requests_of_curve(const struct kvc_workload *workload, double until_ns)
{
    const struct kvc_rate_point *point = workload->curve, *last = point + workload->curve_points - 1;
    double sum = fmin(point->time_ns, until_ns) * point->rate_mops;
    for (; point < last && point->time_ns < until_ns; point++) {
        double length_ns = point[1].time_ns - point->time_ns,
               part_ns = fmin(until_ns - point->time_ns, length_ns);
        double grown_mops = (point[1].rate_mops - point->rate_mops) * part_ns / length_ns;
        sum += part_ns * (point->rate_mops + grown_mops / 2);
    }
    return sum + fmax(until_ns - last->time_ns, 0) * last->rate_mops;
}

static double requests_of_bursts(const struct kvc_workload *workload, double from_ns, double until_ns)
{
    double sum = 0, edge_ns;
    for (double at_ns = from_ns; at_ns < until_ns; at_ns = edge_ns) {
        double factor = kvc_bursts_factor(workload, at_ns, &edge_ns);
        sum += factor * workload->rate_mops * (fmin(edge_ns, until_ns) - at_ns);
    }
    return sum;
}

double kvc_workload_rate_mean_mops(const struct kvc_workload *workload, double from_ns, double until_ns)
{
    double requests = 0, length_ns = 0;
    switch ((enum kvc_arrival)workload->arrival) {
    case KVC_ARRIVAL_CURVE:
        requests = requests_of_curve(workload, until_ns) - requests_of_curve(workload, from_ns);
        return requests / (until_ns - from_ns);
    case KVC_ARRIVAL_BURSTS:
        return requests_of_bursts(workload, from_ns, until_ns) / (until_ns - from_ns);
    case KVC_ARRIVAL_MMPP:
        for (uint32_t i = 0; i < workload->mmpp_states; i++) {
            requests += workload->mmpp[i].rate_mops * workload->mmpp[i].length_ns;
            length_ns += workload->mmpp[i].length_ns;
        }
        return requests / length_ns;
    default:
        return kvc_workload_rate_max_mops(workload);
    }
}

void kvc_workload_scale_rates(struct kvc_workload *workload, double factor)
{
    workload->rate_mops *= factor;
    for (uint32_t i = 0; i < workload->curve_points; i++) {
        workload->curve[i].rate_mops *= factor;
    }
    for (uint32_t i = 0; i < workload->mmpp_states; i++) {
        workload->mmpp[i].rate_mops *= factor;
    }
}
