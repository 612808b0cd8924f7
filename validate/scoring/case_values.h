/* The values of one result that cases can ask for, without the result's histogram.
 *
 * A case names its metric: throughput_mops, latency_mean_us, latency_p95_us, latency_p99_us, latency_min_us,
 * latency_max_us, watts_mean, kops_per_watt, or a metric of the store's model or kernels. */
#ifndef KVC_VALIDATE_SCORING_CASE_VALUES_H
#define KVC_VALIDATE_SCORING_CASE_VALUES_H

#include <stdbool.h>

#include "sim/metrics/result.h"

struct kvc_case_values {
    struct kvc_metrics model, kernel;
    double throughput_mops;
    double mean_us, p95_us, p99_us, min_us, max_us; /* Latency; a closed form has only mean and p95. */
    double watts;
};

/* `closed_form`: the result is a prediction, which has no histogram. */
void kvc_case_values_of(const struct kvc_result *result, bool closed_form, struct kvc_case_values *values);

/* Returns the value of the metric, or NaN when the result has no such metric. */
double kvc_case_values_get(const struct kvc_case_values *values, const char *metric);

#endif
