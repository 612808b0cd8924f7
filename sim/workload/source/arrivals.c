#include "sim/workload/source/arrivals.h"

#include <math.h>

#include "sim/workload/keys/key_part.h"

static const double mops_per_ns = 1e-3; /* Requests per ns at 1 Mops. */

void kvc_arrivals_init(struct kvc_arrivals *arrivals, const struct kvc_workload *workload, uint32_t step,
                       uint64_t seed)
{
    *arrivals = (struct kvc_arrivals){.workload = workload, .step = step};
    kvc_rng_init(&arrivals->rng, seed, "workload.arrival", 0);
    kvc_exponential_init(&arrivals->exponential);
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

/* Returns when `requests` more requests have arrived. */
static double follow_curve(struct kvc_arrivals *arrivals, double requests)
{
    const struct kvc_workload *workload = arrivals->workload;
    const struct kvc_rate_point *point = workload->curve;
    double from_ns = arrivals->last_ns;
    uint32_t last = workload->curve_points - 1, i = arrivals->point;
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
            arrivals->point = i;
            return from_ns + wait;
        }
        requests -= (fmax(rate, 0) + slope * length / 2) * length;
        from_ns = end;
    }
    arrivals->point = i;
    return from_ns + time_for(fmax(requests, 0), point[last].rate_mops * mops_per_ns, 0);
}

/* Returns when `requests` more requests have arrived, at a rate that changes with the epochs of a part. */
static double follow_epochs(struct kvc_arrivals *arrivals, double requests)
{
    const struct kvc_key_part *part = arrivals->workload->part;
    double per_ns = arrivals->workload->rate_mops * mops_per_ns / kvc_key_part_share_max(part);
    double now_ns = arrivals->last_ns;
    while (isfinite(now_ns)) {
        double rate = per_ns * part->epoch[arrivals->point].share;
        bool last = arrivals->point + 1 == part->epochs;
        double end_ns = last ? INFINITY : part->epoch[arrivals->point + 1].from_ns;
        if (rate > 0 && now_ns + requests / rate < end_ns) {
            return now_ns + requests / rate;
        }
        requests -= rate > 0 ? rate * (end_ns - now_ns) : 0;
        now_ns = end_ns;
        arrivals->point += !last;
    }
    return INFINITY;
}

/* 24 random bits as a number below `flows`. The bias is below flows / 2^24. */
static uint16_t flow_of(uint32_t random, uint32_t flows)
{
    return (uint16_t)((uint64_t)random * flows >> 24);
}

static void fill_poisson(struct kvc_arrivals *arrivals, double *sent_ns, uint16_t *flow, uint32_t count)
{
    struct kvc_rng rng = arrivals->rng; /* In registers: a time written through `sent_ns` might alias it. */
    double gap_ns = arrivals->step / (arrivals->workload->rate_mops * mops_per_ns),
           now_ns = arrivals->last_ns;
    uint32_t flows = kvc_workload_flows(arrivals->workload), rest;
    for (uint32_t i = 0; i < count; i++) {
        now_ns += gap_ns * kvc_exponential_draw(&arrivals->exponential, &rng, &rest);
        sent_ns[i] = now_ns;
        flow[i] = flow_of(rest, flows);
    }
    arrivals->last_ns = now_ns;
    arrivals->rng = rng;
}

static void fill_epochs(struct kvc_arrivals *arrivals, double *sent_ns, uint16_t *flow, uint32_t count)
{
    uint32_t flows = kvc_workload_flows(arrivals->workload), rest;
    for (uint32_t i = 0; i < count; i++) {
        double draw = kvc_exponential_draw(&arrivals->exponential, &arrivals->rng, &rest);
        sent_ns[i] = arrivals->last_ns = follow_epochs(arrivals, draw * arrivals->step);
        flow[i] = flow_of(rest, flows);
    }
}

static void fill_curve(struct kvc_arrivals *arrivals, double *sent_ns, uint16_t *flow, uint32_t count)
{
    uint32_t flows = kvc_workload_flows(arrivals->workload), rest;
    for (uint32_t i = 0; i < count; i++) {
        double draw = kvc_exponential_draw(&arrivals->exponential, &arrivals->rng, &rest);
        sent_ns[i] = arrivals->last_ns = follow_curve(arrivals, draw * arrivals->step);
        flow[i] = flow_of(rest, flows);
    }
}

static void fill_fixed(struct kvc_arrivals *arrivals, double *sent_ns, uint16_t *flow, uint32_t count)
{
    double gap_ns = arrivals->step / (arrivals->workload->rate_mops * mops_per_ns);
    uint32_t flows = kvc_workload_flows(arrivals->workload);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t number = arrivals->count + i;
        sent_ns[i] = (double)number * gap_ns; /* A product, not a sum, so that errors do not add up. */
        flow[i] = (uint16_t)(number % flows);
    }
    arrivals->last_ns = sent_ns[count - 1];
}

/* Of the arrivals of all nodes, skips those of other nodes: the number of an arrival grows by a geometrically
 * distributed step. */
static void fill_fixed_of_part(struct kvc_arrivals *arrivals, double *sent_ns, uint16_t *flow, uint32_t count)
{
    double share = kvc_key_part_share_max(arrivals->workload->part);
    double gap_ns = arrivals->step * share / (arrivals->workload->rate_mops * mops_per_ns);
    uint32_t flows = kvc_workload_flows(arrivals->workload);
    for (uint32_t i = 0; i < count; i++) {
        double skipped = share < 1 ? floor(log1p(-kvc_rng_unit(&arrivals->rng)) / log1p(-share)) : 0;
        arrivals->number += (uint64_t)skipped;
        sent_ns[i] = (double)arrivals->number * gap_ns;
        flow[i] = (uint16_t)(arrivals->number++ % flows);
    }
    arrivals->last_ns = sent_ns[count - 1];
}

void kvc_arrivals_fill(struct kvc_arrivals *arrivals, double *sent_ns, uint16_t *flow, uint32_t count)
{
    const struct kvc_key_part *part = arrivals->workload->part;
    switch (arrivals->workload->arrival) {
    case KVC_ARRIVAL_FIXED:
        (part != NULL ? fill_fixed_of_part : fill_fixed)(arrivals, sent_ns, flow, count);
        break;
    case KVC_ARRIVAL_CURVE:
        fill_curve(arrivals, sent_ns, flow, count);
        break;
    default:
        (part != NULL && part->epochs > 1 ? fill_epochs : fill_poisson)(arrivals, sent_ns, flow, count);
    }
    arrivals->count += count;
}
