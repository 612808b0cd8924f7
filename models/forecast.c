#include "models/forecast.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/model.h"
#include "models/price.h"

static double busiest_frac(const struct kvc_result *result)
{
    double busiest = NAN;
    for (uint32_t i = 0; i < result->stage_count; i++) {
        busiest = fmax(busiest, result->stage[i].utilization_frac);
    }
    return busiest;
}

static void take_result(const struct kvc_result *result, struct kvc_forecast *out)
{
    out->throughput_mops = result->throughput_mops;
    out->latency_mean_us = result->latency_mean_us;
    out->latency_p95_us = result->latency_p95_us;
    out->hit_frac = kvc_metrics_get(&result->model, "hit_frac");
    out->watts_mean = result->watts_mean > 0 ? result->watts_mean : NAN;
    out->utilization_frac = busiest_frac(result);
    snprintf(out->bottleneck_stage, sizeof(out->bottleneck_stage), "%.*s", KVC_FORECAST_NAME_MAX - 1,
             result->bottleneck_stage);
    snprintf(out->bottleneck_device, sizeof(out->bottleneck_device), "%.*s", KVC_FORECAST_NAME_MAX - 1,
             result->bottleneck_device);
}

static enum kvc_status from_prediction(const struct kvc_scenario *scenario, struct kvc_forecast *out,
                                       struct kvc_diag *diag)
{
    struct kvc_result *result = calloc(1, sizeof(*result));
    if (result == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the prediction of %s",
                             scenario->model->name);
    }
    enum kvc_status status = scenario->model->predict(scenario, result, diag);
    if (status == KVC_OK) {
        take_result(result, out);
    }
    free(result);
    return status;
}

enum kvc_status kvc_scenario_forecast(const struct kvc_scenario *scenario, struct kvc_forecast *out,
                                      struct kvc_diag *diag)
{
    const struct kvc_model *model = scenario->model;
    double rate_mops = kvc_workload_rate_max_mops(&scenario->workload);
    *out = (struct kvc_forecast){.throughput_mops = NAN,
                                 .offered_mops = isfinite(rate_mops) ? rate_mops : NAN,
                                 .latency_mean_us = NAN,
                                 .latency_p50_us = NAN,
                                 .latency_p95_us = NAN,
                                 .latency_p99_us = NAN,
                                 .latency_p999_us = NAN,
                                 .hit_frac = NAN,
                                 .watts_mean = NAN,
                                 .kops_per_watt = NAN,
                                 .price_usd = NAN,
                                 .utilization_frac = NAN,
                                 .nodes = scenario->cluster.nodes};
    enum kvc_status status =
        model->forecast != NULL ? model->forecast(scenario, out, diag) : from_prediction(scenario, out, diag);
    out->price_usd = kvc_scenario_price_usd(scenario, NULL);
    out->kops_per_watt = out->throughput_mops * 1e3 / out->watts_mean;
    return status;
}
