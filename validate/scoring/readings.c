#include "validate/scoring/readings.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/diag.h"
#include "sim/metrics/bottleneck.h"
#include "sim/probes/quiet.h"

const char *const kvc_reading_names[KVC_READINGS] = {
    "throughput_mops", "latency_mean_us", "latency_p99_us",    "t_search_us",       "jobs_per_search",
    "t_insert_us",     "jobs_per_insert", "search_ns_per_job", "insert_ns_per_job",
};

const char *const kvc_reading_half_names[KVC_READINGS] = {
    [KVC_READING_THROUGHPUT] = "throughput_half_frac",
    [KVC_READING_LATENCY_MEAN] = "latency_mean_half_frac",
    [KVC_READING_LATENCY_P99] = "latency_p99_half_frac",
    [KVC_READING_SEARCH_JOB] = "search_job_half_frac",
    [KVC_READING_INSERT_JOB] = "insert_job_half_frac",
};

void kvc_readings_of(const struct kvc_result *result, struct kvc_readings *readings)
{
    for (int i = KVC_READING_T_SEARCH; i < KVC_READINGS; i++) {
        readings->value[i] = kvc_metrics_get(&result->model, kvc_reading_names[i]);
    }
    readings->value[KVC_READING_THROUGHPUT] = result->throughput_mops;
    readings->value[KVC_READING_LATENCY_MEAN] =
        result->has_histogram ? kvc_histogram_mean_ns(&result->latency) / 1e3 : result->latency_mean_us;
    readings->value[KVC_READING_LATENCY_P99] =
        result->has_histogram ? kvc_histogram_percentile_ns(&result->latency, 0.99) / 1e3 : NAN;
    for (int i = 0; i < KVC_READINGS; i++) {
        readings->half_frac[i] = kvc_reading_half_names[i] != NULL
                                     ? kvc_metrics_get(&result->model, kvc_reading_half_names[i])
                                     : NAN;
    }
    strcpy(readings->bottleneck, result->bottleneck_stage);
}

/* Sorts the existing values of one reading and returns how many there are. */
static uint32_t sorted(const struct kvc_readings *repetitions, uint32_t count, int reading, double *values)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!isnan(repetitions[i].value[reading])) {
            values[kept++] = repetitions[i].value[reading];
        }
    }
    gsl_sort(values, 1, kept);
    return kept;
}

/* Names the stages that more than half of the repetitions name. */
static void join_bottlenecks(const struct kvc_readings *repetitions, uint32_t count, char *joined)
{
    char every[KVC_NAME_MAX], *rest;
    joined[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        strcpy(every, repetitions[i].bottleneck);
        for (char *name = strtok_r(every, "+", &rest); name != NULL; name = strtok_r(NULL, "+", &rest)) {
            uint32_t votes = 0;
            for (uint32_t j = 0; j < count; j++) {
                votes += kvc_bottleneck_names(repetitions[j].bottleneck, name);
            }
            if (2 * votes > count && !kvc_bottleneck_names(joined, name)) {
                kvc_bottleneck_add_name(joined, name);
            }
        }
    }
    if (joined[0] == '\0') {
        strcpy(joined, kvc_bottleneck_undecided);
    }
}

/* Half the width of the interval of a median, relative to it. An interval within a repetition that is not
 * known makes that of the median unknown. `values` holds the existing values. */
static double half_width(const struct kvc_readings *repetitions, uint32_t count, int reading,
                         const double *values, uint32_t kept, double median)
{
    double squares = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!isnan(repetitions[i].value[reading])) {
            double half = repetitions[i].half_frac[reading] * repetitions[i].value[reading];
            squares += half * half;
        }
    }
    double within = sqrt(squares) / kept, among = kvc_quiet_half_width(values, kept);
    bool among_counts = !isnan(within) && among > within;
    return (among_counts ? among : within) / median;
}

void kvc_readings_median(const struct kvc_readings *repetitions, uint32_t count, struct kvc_readings *median,
                         double *spread_frac)
{
    double *values = malloc((count + 1) * sizeof(*values));
    if (values == NULL || count == 0) {
        KVC_BUG("no median of %u repetitions", count);
    }
    for (int i = 0; i < KVC_READINGS; i++) {
        uint32_t kept = sorted(repetitions, count, i, values);
        median->value[i] = kept > 0 ? (values[(kept - 1) / 2] + values[kept / 2]) / 2 : NAN;
        median->half_frac[i] =
            kept > 0 ? half_width(repetitions, count, i, values, kept, median->value[i]) : NAN;
        if (i == KVC_READING_THROUGHPUT) {
            *spread_frac = kept > 0 ? (values[kept - 1] - values[0]) / median->value[i] : NAN;
        }
    }
    join_bottlenecks(repetitions, count, median->bottleneck);
    free(values);
}
