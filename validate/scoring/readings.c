#include "validate/scoring/readings.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/diag.h"

const char *const kvc_reading_names[KVC_READINGS] = {
    "throughput_mops", "latency_mean_us", "latency_p99_us",  "t_search_us",
    "jobs_per_search", "t_insert_us",     "jobs_per_insert",
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

static const char *most_frequent_bottleneck(const struct kvc_readings *repetitions, uint32_t count)
{
    uint32_t best = 0, best_votes = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t votes = 0;
        for (uint32_t j = 0; j < count; j++) {
            votes += strcmp(repetitions[i].bottleneck, repetitions[j].bottleneck) == 0;
        }
        if (votes > best_votes) {
            best = i;
            best_votes = votes;
        }
    }
    return repetitions[best].bottleneck;
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
        if (i == KVC_READING_THROUGHPUT) {
            *spread_frac = kept > 0 ? (values[kept - 1] - values[0]) / median->value[i] : NAN;
        }
    }
    strcpy(median->bottleneck, most_frequent_bottleneck(repetitions, count));
    free(values);
}
