#include "validate/scoring/case_values.h"

#include <math.h>
#include <string.h>

void kvc_case_values_of(const struct kvc_result *result, bool closed_form, struct kvc_case_values *values)
{
    const struct kvc_histogram *latency = &result->latency;
    values->model = result->model;
    values->kernel = result->kernel;
    values->throughput_mops = result->throughput_mops;
    values->watts = result->watts_mean;
    values->mean_us = closed_form ? result->latency_mean_us : kvc_histogram_mean_ns(latency) / 1e3;
    values->p95_us = closed_form ? result->latency_p95_us : kvc_histogram_percentile_ns(latency, 0.95) / 1e3;
    values->p99_us = closed_form ? NAN : kvc_histogram_percentile_ns(latency, 0.99) / 1e3;
    values->min_us = closed_form ? NAN : latency->min_ns / 1e3;
    values->max_us = closed_form ? NAN : latency->max_ns / 1e3;
}

double kvc_case_values_get(const struct kvc_case_values *values, const char *metric)
{
    const struct {
        const char *name;
        double value;
    } common[] = {
        {"throughput_mops", values->throughput_mops},
        {"latency_mean_us", values->mean_us},
        {"latency_p95_us", values->p95_us},
        {"latency_min_us", values->min_us},
        {"latency_max_us", values->max_us},
        {"latency_p99_us", values->p99_us},
        {"watts_mean", values->watts},
        {"kops_per_watt", values->throughput_mops * 1e3 / values->watts},
    };
    for (size_t i = 0; i < sizeof(common) / sizeof(*common); i++) {
        if (strcmp(common[i].name, metric) == 0) {
            return common[i].value;
        }
    }
    double value = kvc_metrics_get(&values->model, metric);
    return isnan(value) ? kvc_metrics_get(&values->kernel, metric) : value;
}
