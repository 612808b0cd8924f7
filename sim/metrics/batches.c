#include "sim/metrics/batches.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/metrics/statistics.h"
#include "sim/metrics/values.h"

void kvc_ratios_close(struct kvc_ratios *ratios)
{
    free(ratios->ratio);
    ratios->ratio = NULL;
}

void kvc_ratios_begin(struct kvc_ratios *ratios, int32_t batch)
{
    ratios->next = 0;
    ratios->batch = batch;
}

static void add(struct kvc_ratios *ratios, const struct kvc_ratio *ratio)
{
    if (ratios->count == ratios->room) {
        ratios->room = ratios->room > 0 ? 2 * ratios->room : 64;
        ratios->ratio = kvc_array_grown(ratios->ratio, ratios->room, sizeof(*ratios->ratio));
    }
    ratios->ratio[ratios->count++] = (struct kvc_ratio_batches){.latest = *ratio};
}

void kvc_ratios_sample(struct kvc_ratios *ratios, const struct kvc_ratio *ratio)
{
    uint32_t at = ratios->next++;
    if (at == ratios->count) {
        add(ratios, ratio);
        return;
    }
    struct kvc_ratio_batches *batches = &ratios->ratio[at];
    if (ratios->batch >= 0) {
        batches->part[ratios->batch] += ratio->part - batches->latest.part;
        batches->whole[ratios->batch] += ratio->whole - batches->latest.whole;
    }
    batches->latest = *ratio;
}

/* Joins neighbouring batches of a ratio in pairs. */
static void join(struct kvc_ratio_batches *batches)
{
    for (uint32_t i = 0; i < KVC_BATCHES_MAX; i++) {
        double part = batches->part[i], whole = batches->whole[i];
        batches->part[i] = batches->whole[i] = 0;
        batches->part[i / 2] += part;
        batches->whole[i / 2] += whole;
    }
}

void kvc_ratios_join(struct kvc_ratios *ratios)
{
    for (uint32_t i = 0; i < ratios->count; i++) {
        join(&ratios->ratio[i]);
    }
}

/* Returns whether one of the first `count` batches has nothing to divide by. */
static bool has_gap(const struct kvc_ratio_batches *batches, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!(batches->whole[i] > 0)) {
            return true;
        }
    }
    return false;
}

/* Returns the quotient of the sums over the first `count` batches, and in *whole the mean denominator. */
static double quotient_of(const struct kvc_ratio_batches *batches, uint32_t count, double *whole)
{
    double parts = 0, wholes = 0;
    for (uint32_t i = 0; i < count; i++) {
        parts += batches->part[i];
        wholes += batches->whole[i];
    }
    *whole = wholes / count;
    return parts / wholes;
}

static double half_width(struct kvc_ratio_batches *batches, uint32_t count, double measured_ns)
{
    enum kvc_ratio_kind kind = batches->latest.kind;
    double mean[KVC_BATCHES_MAX], whole;
    while (count >= KVC_BATCHES_MIN && has_gap(batches, count)) {
        join(batches);
        count /= 2;
    }
    double quotient = quotient_of(batches, count, &whole);
    for (uint32_t i = 0; i < count; i++) {
        double value = quotient + (batches->part[i] - quotient * batches->whole[i]) / whole;
        mean[i] = kind != KVC_RATIO_OF_COUNTS ? kvc_rounded(value, KVC_BATCH_DIGITS) : value;
        mean[i] *= kind == KVC_RATIO_OF_TIME ? measured_ns : 1;
    }
    return kvc_interval_of_batches(mean, count).half_width;
}

void kvc_ratios_report(struct kvc_ratios *ratios, uint32_t count, double measured_ns,
                       struct kvc_result *result)
{
    for (uint32_t i = 0; i < ratios->count; i++) {
        const struct kvc_ratio *ratio = &ratios->ratio[i].latest;
        char full[KVC_VALUE_NAME_MAX];
        kvc_value_name(ratio->group, ratio->entry, ratio->name, full);
        kvc_result_add_half_width(result, full, half_width(&ratios->ratio[i], count, measured_ns));
    }
}

void kvc_batches_open(struct kvc_batches *batches, double length_ns)
{
    *batches = (struct kvc_batches){.length_ns = length_ns};
    batches->batch = kvc_array_of(KVC_BATCHES_MAX, sizeof(*batches->batch));
}

double kvc_batches_memory_bytes(double length_ns, double duration_ns, double latency_octaves)
{
    static const double octave_bytes =
        (double)(1 << KVC_HISTOGRAM_SUB_BITS) * sizeof(((struct kvc_histogram *)0)->slot[0]);
    double counts_bytes = sizeof(struct kvc_batch_counts) - sizeof(struct kvc_histogram);
    return fmin(ceil(duration_ns / length_ns), KVC_BATCHES_MAX) *
           (counts_bytes + latency_octaves * octave_bytes);
}

void kvc_batches_close(struct kvc_batches *batches)
{
    free(batches->batch);
    batches->batch = NULL;
    kvc_ratios_close(&batches->ratios);
}

/* Adds the counts of a batch to `sum` and empties them. */
static void move_counts(struct kvc_batch_counts *sum, struct kvc_batch_counts *batch)
{
    sum->offered += batch->offered;
    sum->dropped += batch->dropped;
    sum->completed += batch->completed;
    sum->gets += batch->gets;
    sum->hits += batch->hits;
    sum->joules += batch->joules;
    batch->offered = batch->dropped = batch->completed = batch->gets = batch->hits = 0;
    batch->joules = 0;
    for (int stage = 0; stage < KVC_BATCH_STAGES; stage++) {
        sum->busy_ns[stage] += batch->busy_ns[stage];
        batch->busy_ns[stage] = 0;
    }
}

/* Joins the histograms of pairs. An empty one stays untouched, because its memory may not be there yet. */
static void join_latencies(struct kvc_batches *batches)
{
    for (uint32_t i = 1; i < KVC_BATCHES_MAX; i++) {
        struct kvc_histogram *latency = &batches->batch[i].latency;
        if (latency->count > 0) {
            kvc_histogram_add(&batches->batch[i / 2].latency, latency);
            kvc_histogram_reset(latency);
        }
    }
}

static void join_pairs(struct kvc_batches *batches)
{
    for (uint32_t i = 1; i < KVC_BATCHES_MAX; i++) {
        move_counts(&batches->batch[i / 2], &batches->batch[i]);
    }
    join_latencies(batches);
    kvc_ratios_join(&batches->ratios);
    batches->length_ns *= 2;
}

struct kvc_batch_counts *kvc_batches_at(struct kvc_batches *batches, double offset_ns)
{
    while (offset_ns >= KVC_BATCHES_MAX * batches->length_ns) {
        join_pairs(batches);
    }
    uint32_t index = (uint32_t)(offset_ns / batches->length_ns);
    return &batches->batch[index < KVC_BATCHES_MAX ? index : KVC_BATCHES_MAX - 1];
}

/* Returns the number of leading rows that belong to the batch of the first one, which is at least one. */
static uint32_t rows_of_batch(const struct kvc_batches *batches, double from_ns, const double *done_ns,
                              uint32_t count)
{
    double end_ns = from_ns + (floor((done_ns[0] - from_ns) / batches->length_ns) + 1) * batches->length_ns;
    uint32_t rows = 1;
    if (done_ns[count - 1] < end_ns) {
        return count;
    }
    while (rows < count && done_ns[rows] < end_ns) {
        rows++;
    }
    return rows;
}

void kvc_batches_latencies(struct kvc_batches *batches, double from_ns, const double *sent_ns,
                           const double *done_ns, uint32_t count)
{
    for (uint32_t i = 0, rows; i < count; i += rows) {
        struct kvc_batch_counts *batch = kvc_batches_at(batches, done_ns[i] - from_ns);
        rows = rows_of_batch(batches, from_ns, done_ns + i, count - i);
        kvc_histogram_record(&batch->latency, sent_ns + i, done_ns + i, rows);
    }
}

void kvc_batches_completions(struct kvc_batches *batches, double from_ns, const double *done_ns,
                             uint32_t count)
{
    for (uint32_t i = 0, rows; i < count; i += rows) {
        struct kvc_batch_counts *batch = kvc_batches_at(batches, done_ns[i] - from_ns);
        rows = rows_of_batch(batches, from_ns, done_ns + i, count - i);
        batch->completed += rows;
    }
}

void kvc_batches_busy(struct kvc_batches *batches, uint32_t stage, double start_ns, double end_ns)
{
    /* Joins the batches now, so that their length does not change later. */
    kvc_batches_at(batches, fmax(nextafter(end_ns, 0), 0));
    while (start_ns < end_ns) {
        struct kvc_batch_counts *batch = kvc_batches_at(batches, start_ns);
        double until_ns = (double)(batch - batches->batch + 1) * batches->length_ns;
        until_ns = until_ns > start_ns ? fmin(until_ns, end_ns)
                                       : end_ns; /* Keeps rounding from stopping the loop. */
        batch->busy_ns[stage] += until_ns - start_ns;
        start_ns = until_ns;
    }
}

double kvc_sum_of_stages(const double busy_ns[KVC_BATCH_STAGES], unsigned stages)
{
    double sum_ns = 0;
    for (int stage = 0; stage < KVC_BATCH_STAGES; stage++) {
        sum_ns += (stages & 1u << stage) != 0 ? busy_ns[stage] : 0;
    }
    return sum_ns;
}

/* Adds the means of the first `count` batches for the caller to fill in. */
static struct kvc_batch_means *add_means(struct kvc_result *result, const char *name, uint32_t count)
{
    if (result->batch_means_count == KVC_BATCH_MEANS_MAX) {
        KVC_BUG("no room for the batches of %s", name);
    }
    struct kvc_batch_means *means = &result->batch_means[result->batch_means_count++];
    snprintf(means->name, sizeof(means->name), "%s", name);
    means->count = count;
    return means;
}

static void report_rates(const struct kvc_batches *batches, uint32_t count, struct kvc_result *result)
{
    bool sends = false; /* A store that counts nothing as sent has no such rate. */
    struct kvc_batch_means *throughput = add_means(result, "throughput_mops", count);
    struct kvc_batch_means *offered = add_means(result, "offered_mops", count);
    struct kvc_batch_means *lost = add_means(result, "lost_frac", count);
    struct kvc_batch_means *hits = add_means(result, "hit_frac", count);
    struct kvc_batch_means *latency = add_means(result, "latency_mean_us", count);
    for (uint32_t i = 0; i < count; i++) {
        sends = sends || batches->batch[i].offered > 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct kvc_batch_counts *batch = &batches->batch[i];
        double length_us = batches->length_ns * 1e-3;
        throughput->mean[i] = (double)batch->completed / length_us;
        offered->mean[i] = sends ? (double)batch->offered / length_us : NAN;
        lost->mean[i] = batch->offered > 0 ? (double)batch->dropped / (double)batch->offered : NAN;
        hits->mean[i] = batch->gets > 0 ? (double)batch->hits / (double)batch->gets : NAN;
        latency->mean[i] = kvc_histogram_mean_ns(&batch->latency) * 1e-3;
    }
}

/* The energy of a batch is scaled to the whole run, so that its interval is the run's. */
static void report_energy(const struct kvc_batches *batches, uint32_t count, double measured_ns,
                          struct kvc_result *result)
{
    struct kvc_batch_means *watts = add_means(result, "watts_mean", count);
    struct kvc_batch_means *joules = add_means(result, "joules", count);
    struct kvc_batch_means *kops_per_watt = add_means(result, "kops_per_watt", count);
    for (uint32_t i = 0; i < count; i++) {
        const struct kvc_batch_counts *batch = &batches->batch[i];
        double mean = batch->joules > 0
                          ? kvc_rounded(batch->joules / (batches->length_ns * 1e-9), KVC_BATCH_DIGITS)
                          : NAN;
        watts->mean[i] = mean;
        joules->mean[i] = mean * measured_ns * 1e-9;
        kops_per_watt->mean[i] = (double)batch->completed / (batches->length_ns * 1e-6) / mean;
    }
}

/* Returns whether the batches have enough values on both sides of a percentile. */
static bool suffices(const struct kvc_batches *batches, uint32_t count, double p)
{
    uint64_t values = 0;
    for (uint32_t i = 0; i < count; i++) {
        values += batches->batch[i].latency.count;
    }
    return (double)values * fmin(p, 1 - p) >= (double)KVC_BATCH_TAIL * count * (1 - 1e-9);
}

static void report_percentile(const struct kvc_batches *batches, uint32_t count, double p,
                              struct kvc_result *result)
{
    char name[KVC_NAME_MAX];
    kvc_percentile_name(p, name);
    struct kvc_batch_means *means = add_means(result, name, count);
    for (uint32_t i = 0; i < count; i++) {
        means->mean[i] = kvc_histogram_percentile_ns(&batches->batch[i].latency, p) * 1e-3;
    }
}

/* Returns the number of batches that the end of the measured time does not cut off. */
static uint32_t whole_batches(const struct kvc_batches *batches, double measured_ns)
{
    return (uint32_t)fmin(measured_ns / batches->length_ns + 1e-9, KVC_BATCHES_MAX);
}

void kvc_batches_report(struct kvc_batches *batches, double measured_ns, struct kvc_result *result)
{
    uint32_t count = whole_batches(batches, measured_ns);
    bool known[KVC_PERCENTILES] = {false};
    for (uint32_t i = 0; i < KVC_BATCHES_MAX; i++) {
        if (batches->batch[i].latency.count > 0) {
            kvc_histogram_add(&result->latency, &batches->batch[i].latency);
        }
    }
    report_rates(batches, count, result);
    report_energy(batches, count, measured_ns, result);
    kvc_ratios_report(&batches->ratios, count, measured_ns, result);
    result->batch_s = batches->length_ns * 1e-9;
    for (; count >= KVC_BATCHES_MIN; count /= 2, join_latencies(batches)) {
        for (int i = 0; i < KVC_PERCENTILES; i++) {
            if (!known[i] && suffices(batches, count, kvc_percentiles[i])) {
                report_percentile(batches, count, kvc_percentiles[i], result);
                known[i] = true;
            }
        }
    }
}

void kvc_batches_report_stage(const struct kvc_batches *batches, const char *name, unsigned stages,
                              double servers, double measured_ns, struct kvc_result *result)
{
    char full[KVC_VALUE_NAME_MAX];
    kvc_value_name("stages", name, "utilization_frac", full);
    struct kvc_batch_means *means = add_means(result, full, whole_batches(batches, measured_ns));
    for (uint32_t i = 0; i < means->count; i++) {
        means->mean[i] = kvc_sum_of_stages(batches->batch[i].busy_ns, stages) / servers / batches->length_ns;
    }
}
