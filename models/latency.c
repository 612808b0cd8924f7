#include "models/latency.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "sim/base/bracket.h"
#include "sim/base/diag.h"

static const double rounding_frac = 1e-6; /* Closed forms find their solutions to this precision. */

void kvc_latency_add(struct kvc_latency_law *law, double share, double least_ns, double spread_ns)
{
    if (!(share > 0)) {
        return;
    }
    if (!isfinite(least_ns + spread_ns)) {
        KVC_BUG("a part of a latency takes %g to %g ns", least_ns, least_ns + spread_ns);
    }
    if (law->parts == KVC_LATENCY_PARTS_MAX) {
        KVC_BUG("more than %d parts of a latency", KVC_LATENCY_PARTS_MAX);
    }
    law->part[law->parts++] = (struct kvc_latency_part){share, least_ns, spread_ns};
}

static double share_of_all(const struct kvc_latency_law *law)
{
    double sum = 0;
    for (uint32_t i = 0; i < law->parts; i++) {
        sum += law->part[i].share;
    }
    return sum;
}

double kvc_latency_alone_ns(const struct kvc_latency_law *law)
{
    double sum_ns = 0;
    for (uint32_t i = 0; i < law->parts; i++) {
        sum_ns += law->part[i].share * (law->part[i].least_ns + law->part[i].spread_ns / 2);
    }
    return sum_ns / share_of_all(law);
}

/* Returns Erlang's probability that a job waits for one of k servers, by the recursion of the loss formula.
 */
static double waits_frac_of(double servers, double utilization_frac)
{
    double load = servers * utilization_frac, lost = 1;
    for (double k = 1; k <= servers; k++) {
        lost = load * lost / (k + load * lost);
    }
    return lost / (1 - utilization_frac * (1 - lost));
}

struct kvc_latency_wait kvc_latency_wait_of(const struct kvc_workload *workload,
                                            const struct kvc_latency_queue *queue)
{
    if (queue->utilization_frac >= 1) {
        return (struct kvc_latency_wait){*queue, INFINITY, 1};
    }
    double rho = queue->utilization_frac, first = queue->first_frac;
    /* A random share of requests at even distances has a coefficient of variation of its own. */
    double arrival_cv2 =
        (workload->arrival == KVC_ARRIVAL_FIXED ? 1 - queue->share : 1) * (1 - queue->even_frac);
    double once = waits_frac_of(queue->servers, rho);
    double left = queue->is_first ? 1 - first : (1 - first) * (1 - rho);
    double wait_ns = once * (arrival_cv2 + queue->job_cv2) / 2 * queue->job_ns / queue->servers / left;
    if (queue->ends_together) {
        wait_ns *= 1 + rho / (1 + rho);
    }
    wait_ns = queue->longest_ns > 0 ? fmin(wait_ns, queue->longest_ns) : wait_ns;
    return (struct kvc_latency_wait){*queue, queue->equals_frac * queue->visits * wait_ns,
                                     queue->equals_frac * (1 - pow(1 - once, queue->visits))};
}

void kvc_latency_queue(struct kvc_latency_law *law, const struct kvc_workload *workload,
                       const struct kvc_latency_queue *queue)
{
    if (kvc_workload_clients_wait(workload) || !(queue->job_ns > 0 && queue->utilization_frac > 0)) {
        return;
    }
    struct kvc_latency_wait wait = kvc_latency_wait_of(workload, queue), *longest = &law->wait[queue->group];
    if (wait.mean_ns > longest->mean_ns) {
        *longest = wait;
    }
}

/* The sum of all waits: the mean over all requests, and the share of the requests that wait. */
struct sum {
    double mean_ns, waits_frac;
};

static struct sum sum_of(const struct kvc_latency_law *law)
{
    double mean_ns = 0, nowhere_frac = 1;
    for (int i = 0; i < KVC_LATENCY_GROUPS; i++) {
        mean_ns += law->wait[i].mean_ns;
        nowhere_frac *= 1 - law->wait[i].waits_frac;
    }
    return (struct sum){mean_ns, 1 - nowhere_frac};
}

void kvc_latency_closed(struct kvc_latency_law *law, double mean_ns)
{
    double wait_ns = fmax(mean_ns - kvc_latency_alone_ns(law) - sum_of(law).mean_ns, 0);
    for (uint32_t i = 0; i < law->parts; i++) {
        law->part[i].least_ns += wait_ns;
    }
}

/* ---- percentiles ---- */

/* Returns the integral of the probability that a wait is at most x, from 0 to x. */
static double integral_of_waits(const struct sum *wait, double x)
{
    if (x <= 0) {
        return 0;
    }
    return wait->mean_ns > 0 ? x + wait->mean_ns * expm1(-x / wait->mean_ns * wait->waits_frac) : x;
}

/* Returns the probability that a latency is at most t. */
static double probability(const struct kvc_latency_law *law, const struct sum *wait, double t)
{
    double sum = 0, all = 0;
    for (uint32_t i = 0; i < law->parts; i++) {
        const struct kvc_latency_part *part = &law->part[i];
        double x = t - part->least_ns, within = 0;
        if (part->spread_ns > 0) {
            within =
                (integral_of_waits(wait, x) - integral_of_waits(wait, x - part->spread_ns)) / part->spread_ns;
        } else if (x >= 0) {
            within =
                wait->mean_ns > 0 ? 1 - wait->waits_frac * exp(-x / wait->mean_ns * wait->waits_frac) : 1;
        }
        sum += part->share * within;
        all += part->share;
    }
    return sum / all;
}

/* A quantile of a law. */
struct quantile {
    const struct kvc_latency_law *law;
    const struct sum *wait;
    double p;
};

static double beyond_quantile(void *data, double t)
{
    const struct quantile *quantile = data;
    return probability(quantile->law, quantile->wait, t) - quantile->p;
}

/* Returns a bracket of the quantile, which lies beyond the shortest latency, and before the longest one if
 * nothing waits. */
static struct kvc_bracket bracket_of(struct quantile *quantile)
{
    const struct kvc_latency_law *law = quantile->law;
    struct kvc_bracket bracket = {INFINITY, -quantile->p, 1, NAN};
    for (uint32_t i = 0; i < law->parts; i++) {
        const struct kvc_latency_part *part = &law->part[i];
        bracket.low = fmin(bracket.low, part->least_ns);
        bracket.high = fmax(bracket.high, part->least_ns + part->spread_ns);
    }
    bracket.low -= bracket.low > 0 ? bracket.low * rounding_frac : 1; /* Nothing is as short. */
    while ((bracket.f_high = beyond_quantile(quantile, bracket.high)) < 0) {
        bracket.high *= 2;
    }
    return bracket;
}

/* Returns the upper end of the interval that bisection finds between two powers of 2. Its first 32 steps are
 * known if the quantile's bracket lies in one of the intervals that they can lead to. */
static double quantile_us(const struct kvc_latency_law *law, const struct sum *wait, double p)
{
    static const double precision = 1e-10;
    struct quantile quantile = {law, wait, p};
    struct kvc_bracket bracket = bracket_of(&quantile);
    double low = 0, high = 1;
    kvc_bracket_narrow(&bracket, beyond_quantile, &quantile);
    while (kvc_bracket_is_below(&bracket, beyond_quantile, &quantile, high)) {
        low = high;
        high *= 2;
    }
    double step = low * 0x1p-32, from = low > 0 ? floor(bracket.low / step) * step : 0;
    if (from >= low && bracket.high <= from + step) {
        low = from;
        high = from + step;
    }
    while (high - low > precision * high) {
        double middle = (low + high) / 2;
        *(kvc_bracket_is_below(&bracket, beyond_quantile, &quantile, middle) ? &low : &high) = middle;
    }
    return high * 1e-3;
}

/* Why latencies are unknown. */
static const char *unknown_because(const struct kvc_latency_law *law, const struct kvc_workload *workload,
                                   double throughput_mops)
{
    double rate_mops = kvc_workload_rate_max_mops(workload);
    if (isfinite(rate_mops) &&
        (throughput_mops < rate_mops * (1 - rounding_frac) || !isfinite(sum_of(law).mean_ns))) {
        return "the load is at or above the capacity, so that the backlog grows with the time";
    }
    if (!isfinite(rate_mops) && !kvc_workload_clients_wait(workload)) {
        return "a trace has no rate beforehand";
    }
    return law->unknown;
}

void kvc_latencies_set(const struct kvc_latency_law *law, const struct kvc_workload *workload,
                       double throughput_mops, struct kvc_latencies *latencies)
{
    *latencies = (struct kvc_latencies){NAN, NAN, NAN, NAN, NAN};
    if (unknown_because(law, workload, throughput_mops) == NULL) {
        const struct sum wait = sum_of(law);
        latencies->mean_us = (kvc_latency_alone_ns(law) + wait.mean_ns) * 1e-3;
        latencies->p50_us = quantile_us(law, &wait, 0.5);
        latencies->p95_us = quantile_us(law, &wait, 0.95);
        latencies->p99_us = quantile_us(law, &wait, 0.99);
        latencies->p999_us = quantile_us(law, &wait, 0.999);
    }
}

void kvc_latencies_explain(const struct kvc_latency_law *law, const struct kvc_workload *workload,
                           double throughput_mops, char text[KVC_NOTE_BYTES])
{
    const char *unknown = unknown_because(law, workload, throughput_mops);
    if (unknown != NULL) {
        snprintf(text, KVC_NOTE_BYTES, "unknown: %s", unknown);
        return;
    }
    int used = snprintf(text, KVC_NOTE_BYTES, "assumes that ");
    const char *next = "requests wait only for ";
    for (int i = 0; i < KVC_LATENCY_GROUPS; i++) {
        const struct kvc_latency_queue *queue = &law->wait[i].queue;
        if (law->wait[i].mean_ns > 0) {
            used += snprintf(
                text + used, KVC_NOTE_BYTES - used, "%s%s (%s/G/%.0f, %.1f %% busy)", next, queue->name,
                workload->arrival == KVC_ARRIVAL_FIXED || kvc_workload_clients_wait(workload) ? "G" : "M",
                queue->servers, 100 * queue->utilization_frac);
            next = " and ";
        }
    }
    bool waits = sum_of(law).mean_ns > 0;
    if (waits) {
        used += snprintf(text + used, KVC_NOTE_BYTES - used, ", with an exponential tail");
    }
    if (kvc_workload_clients_wait(workload)) {
        used += snprintf(text + used, KVC_NOTE_BYTES - used,
                         "%sclients keep their requests in the store, and all wait equally long%s",
                         waits ? "; " : "", waits ? " beside that" : "");
    } else if (!waits) {
        used += snprintf(text + used, KVC_NOTE_BYTES - used, "requests wait for no other one");
    }
    if (law->assumes != NULL) {
        snprintf(text + used, KVC_NOTE_BYTES - used, "; %s", law->assumes);
    }
}

void kvc_result_set_latencies(struct kvc_result *result, const struct kvc_latency_law *law,
                              const struct kvc_workload *workload)
{
    kvc_latencies_set(law, workload, result->throughput_mops, &result->predicted);
    if (!result->is_wordless) {
        kvc_latencies_explain(law, workload, result->throughput_mops, result->latency_assumes);
    }
}

void kvc_result_add_server_latency(struct kvc_result *result, double path_ns)
{
    double mean_us = kvc_result_latency_mean_us(result);
    if (!isnan(mean_us)) {
        kvc_metrics_set(&result->model, "server_mean_us", mean_us - 2e-3 * path_ns);
    }
}

/* ---- clusters ---- */

static void raise(double *to, double value)
{
    *to = isnan(*to) || isnan(value) ? NAN : fmax(*to, value);
}

void kvc_latencies_add_class(struct kvc_latencies *sum, const struct kvc_latencies *class, double mops)
{
    sum->mean_us += mops * class->mean_us;
    raise(&sum->p50_us, class->p50_us);
    raise(&sum->p95_us, class->p95_us);
    raise(&sum->p99_us, class->p99_us);
    raise(&sum->p999_us, class->p999_us);
}

void kvc_latencies_end_sum(struct kvc_latencies *sum, double mops)
{
    sum->mean_us /= mops;
}
