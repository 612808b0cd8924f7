#include "scenarios/output/sensitivity.h"

#include <math.h>
#include <stdlib.h>

const char *const kvc_sensitivity_metric_names[KVC_SENSITIVITY_METRICS] = {
    [KVC_SENSITIVITY_THROUGHPUT] = "throughput_mops", [KVC_SENSITIVITY_MEAN] = "latency_mean_us",
    [KVC_SENSITIVITY_P50] = "latency_p50_us",         [KVC_SENSITIVITY_P95] = "latency_p95_us",
    [KVC_SENSITIVITY_P99] = "latency_p99_us",
};

int kvc_sensitivity_latency_of(const struct kvc_sensitivity_parameter *parameter, int latency)
{
    while (latency > KVC_SENSITIVITY_MEAN && isnan(parameter->elasticity[latency].mean)) {
        latency--;
    }
    return latency;
}

void kvc_sensitivity_free(struct kvc_sensitivity *sensitivity)
{
    if (sensitivity != NULL) {
        free(sensitivity->parameter);
        free(sensitivity);
    }
}
