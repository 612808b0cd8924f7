#include "scenarios/explore/plan/plan_values.h"

#include <math.h>

#include "models/forecast.h"

/* A closed form that does not know a value may leave it 0. */
static double known(double value)
{
    return value > 0 ? value : NAN;
}

bool kvc_plan_is_steady(const struct kvc_workload *workload)
{
    return workload->arrival == KVC_ARRIVAL_POISSON || workload->arrival == KVC_ARRIVAL_FIXED;
}

void kvc_plan_forecast_values(const struct kvc_forecast *forecast, bool is_steady,
                              double value[KVC_PLAN_METRICS])
{
    value[KVC_PLAN_P50_US] = known(forecast->latency_p50_us);
    value[KVC_PLAN_P95_US] = known(forecast->latency_p95_us);
    value[KVC_PLAN_P99_US] = known(forecast->latency_p99_us);
    value[KVC_PLAN_P999_US] = known(forecast->latency_p999_us);
    value[KVC_PLAN_MEAN_US] = known(forecast->latency_mean_us);
    value[KVC_PLAN_MOPS] = known(forecast->throughput_mops);
    value[KVC_PLAN_SERVED_FRAC] = is_steady ? forecast->throughput_mops / forecast->offered_mops : NAN;
    value[KVC_PLAN_HIT_FRAC] = forecast->hit_frac;
    value[KVC_PLAN_WATTS] = known(forecast->watts_mean);
    value[KVC_PLAN_PRICE_USD] = forecast->price_usd;
}

enum kvc_status kvc_plan_predict_values(const struct kvc_scenario *scenario, double value[KVC_PLAN_METRICS],
                                        struct kvc_diag *diag)
{
    struct kvc_forecast forecast;
    enum kvc_status status = kvc_scenario_forecast(scenario, &forecast, diag);
    if (status == KVC_OK) {
        kvc_plan_forecast_values(&forecast, kvc_plan_is_steady(&scenario->workload), value);
    }
    return status;
}

void kvc_plan_simulated_values(const struct kvc_outcome *outcome, double value[KVC_PLAN_METRICS])
{
    static const char *const names[KVC_PLAN_METRICS] = {
        [KVC_PLAN_P50_US] = "latency_p50_us",   [KVC_PLAN_P95_US] = "latency_p95_us",
        [KVC_PLAN_P99_US] = "latency_p99_us",   [KVC_PLAN_P999_US] = "latency_p99.9_us",
        [KVC_PLAN_MEAN_US] = "latency_mean_us", [KVC_PLAN_MOPS] = "throughput_mops",
        [KVC_PLAN_HIT_FRAC] = "hit_frac",       [KVC_PLAN_WATTS] = "watts_mean",
    };
    for (int i = 0; i < KVC_PLAN_METRICS; i++) {
        value[i] = names[i] != NULL ? kvc_outcome_interval(outcome, names[i]).mean : NAN;
    }
    value[KVC_PLAN_SERVED_FRAC] = value[KVC_PLAN_MOPS] / kvc_outcome_interval(outcome, "offered_mops").mean;
    value[KVC_PLAN_WATTS] = known(value[KVC_PLAN_WATTS]);
}
