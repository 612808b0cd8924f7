#include "models/forecast.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/latency.h"
#include "models/model.h"
#include "models/price.h"
#include "sim/base/array.h"
#include "sim/base/text/copy.h"
#include "sim/metrics/bottleneck.h"
#include "sim/run/meters.h"

/* ---- power ---- */

static void add_device(struct kvc_power *power, const char *device, double cores,
                       const struct kvc_watts *watts)
{
    for (uint32_t i = 0; i < power->count; i++) {
        struct kvc_power_kind *kind = &power->kind[i];
        if (strcmp(kind->device, device) == 0 && kind->cores == cores &&
            memcmp(&kind->watts, watts, sizeof(*watts)) == 0) {
            kind->count++;
            return;
        }
    }
    if (power->count == KVC_POWER_KINDS_MAX) {
        KVC_BUG("more than %d kinds of devices with power", KVC_POWER_KINDS_MAX);
    }
    struct kvc_power_kind *kind = &power->kind[power->count++];
    *kind = (struct kvc_power_kind){.count = 1, .cores = cores, .watts = *watts};
    kvc_text_copy(kind->device, sizeof(kind->device), device);
}

struct kvc_power kvc_power_of(const struct kvc_platform *platform)
{
    struct kvc_power power = {.count = 0};
    if (platform == NULL) {
        return (struct kvc_power){.missing = "all devices"};
    }
    for (uint32_t i = 0; i < kvc_platform_hosts(platform); i++) {
        const struct kvc_platform_host *host = kvc_platform_host(platform, i);
        const struct kvc_watts *watts = &host->pstate[host->first_pstate].watts;
        if (watts->all_w > 0) {
            add_device(&power, host->device, host->cores, watts);
        }
    }
    for (uint32_t i = 0; i < kvc_platform_links(platform); i++) {
        const struct kvc_platform_link *link = kvc_platform_link(platform, i);
        if (link->busy_w > 0) {
            add_device(&power, link->device, 1,
                       &(struct kvc_watts){link->idle_w, link->busy_w, link->busy_w});
        }
    }
    kvc_platform_missing_watts(platform, power.missing);
    return power;
}

struct kvc_power kvc_scenario_power(const struct kvc_scenario *scenario)
{
    struct kvc_platform *platform = kvc_scenario_platform(scenario);
    struct kvc_power power = kvc_power_of(platform);
    kvc_platform_free(platform);
    return power;
}

/* Returns the utilization of a kind of device, or NaN. */
static double utilization_of(const char *kind, const struct kvc_forecast_device *device, uint32_t devices)
{
    for (uint32_t i = 0; i < devices; i++) {
        if (strcmp(device[i].device, kind) == 0) {
            return fmin(fmax(device[i].utilization_frac, 0), 1);
        }
    }
    return NAN;
}

static double watts_at(const struct kvc_power_kind *kind, double utilization_frac)
{
    const struct kvc_watts *watts = &kind->watts;
    double busy_cores = utilization_frac * kind->cores;
    if (watts->idle_w == watts->all_w) {
        return watts->all_w;
    }
    if (busy_cores < 1 || kind->cores <= 1) {
        return watts->idle_w + busy_cores * (watts->one_w - watts->idle_w);
    }
    return watts->one_w + (busy_cores - 1) / (kind->cores - 1) * (watts->all_w - watts->one_w);
}

double kvc_power_watts(const struct kvc_power *power, const struct kvc_forecast_device *device,
                       uint32_t devices, char missing[KVC_MISSING_BYTES])
{
    double sum_w = 0;
    kvc_missing_add(missing, power->missing);
    for (uint32_t i = 0; i < power->count; i++) {
        const struct kvc_power_kind *kind = &power->kind[i];
        double watts = kind->count * watts_at(kind, utilization_of(kind->device, device, devices));
        if (isnan(watts)) {
            kvc_missing_add(missing, kind->device);
        } else {
            sum_w += watts;
        }
    }
    return sum_w;
}

/* ---- forecasts ---- */

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
    out->latency = result->predicted;
    out->hit_frac = kvc_metrics_get(&result->model, "hit_frac");
    out->watts_mean = result->watts_mean > 0 ? result->watts_mean : NAN;
    memcpy(out->watts_missing, result->watts_missing, sizeof(out->watts_missing));
    out->utilization_frac = busiest_frac(result);
    kvc_text_copy(out->bottleneck_stage, KVC_FORECAST_NAME_MAX, result->bottleneck_stage);
    kvc_text_copy(out->bottleneck_device, KVC_FORECAST_NAME_MAX, result->bottleneck_device);
}

/* Empties what closed forms fill in. Tables keep what lies beyond their counts, and what only runs fill in,
 * such as windows, batches and the histogram, has been empty from the start. */
static void clear_prediction(struct kvc_result *result)
{
    memset(result, 0, offsetof(struct kvc_result, device));
}

/* A result is nearly a megabyte, so the thread keeps an empty one between forecasts. */
static enum kvc_status from_prediction(const struct kvc_scenario *scenario, struct kvc_forecast *out,
                                       struct kvc_diag *diag)
{
    static _Thread_local struct kvc_result *kept;
    struct kvc_result *result = kept != NULL ? kept : kvc_array_of(1, sizeof(*result));
    kept = NULL; /* A prediction that asks for forecasts finds none. */
    result->is_wordless = true;
    enum kvc_status status = scenario->model->predict(scenario, result, diag);
    if (status == KVC_OK) {
        take_result(result, out);
    }
    clear_prediction(result);
    free(kept);
    kept = result;
    return status;
}

void kvc_forecast_add_stage(struct kvc_forecast *forecast, const char *name, const char *device,
                            double utilization_frac)
{
    bool limits = utilization_frac >= kvc_bottleneck_saturated_frac;
    if (isnan(forecast->utilization_frac) || utilization_frac > forecast->utilization_frac) {
        forecast->utilization_frac = utilization_frac;
        kvc_text_copy(forecast->bottleneck_stage, KVC_FORECAST_NAME_MAX, limits ? name : "load");
        kvc_text_copy(forecast->bottleneck_device, KVC_FORECAST_NAME_MAX, limits ? device : "load");
    }
}

void kvc_forecast_add_device(struct kvc_forecast *forecast, const char *device, double utilization_frac)
{
    if (forecast->device_count == KVC_FORECAST_DEVICES_MAX) {
        KVC_BUG("more than %d kinds of devices in a forecast", KVC_FORECAST_DEVICES_MAX);
    }
    struct kvc_forecast_device *added = &forecast->device[forecast->device_count++];
    kvc_text_copy(added->device, sizeof(added->device), device);
    added->utilization_frac = utilization_frac;
}

/* Adds the power, unless the store's closed form has stated it. An incomplete sum is not reported: a
 * configuration whose GPU does not state watts must not appear to draw none. */
static void add_power(const struct kvc_scenario *scenario, const struct kvc_power *power,
                      struct kvc_forecast *out)
{
    struct kvc_power own;
    if (power == NULL) {
        own = kvc_scenario_power(scenario);
        power = &own;
    }
    if (isnan(out->watts_mean)) {
        out->watts_mean = kvc_power_watts(power, out->device, out->device_count, out->watts_missing);
    }
    if (out->watts_missing[0] != '\0') {
        out->watts_mean = NAN;
    }
    out->kops_per_watt = out->throughput_mops * 1e3 / out->watts_mean;
}

static void add_price(const struct kvc_scenario *scenario, struct kvc_forecast *out)
{
    struct kvc_price price = kvc_scenario_price(scenario);
    memcpy(out->price_missing, price.missing, sizeof(out->price_missing));
    out->price_usd = kvc_price_whole_usd(&price);
}

/* Forecasts a node of every class of a cluster. */
static enum kvc_status forecast_classes(const struct kvc_scenario *scenario, struct kvc_forecast *class,
                                        struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (uint32_t i = 0; i < kvc_cluster_classes(scenario) && status == KVC_OK; i++) {
        struct kvc_scenario *one = kvc_cluster_class_scenario(scenario, i, diag);
        status = one != NULL ? kvc_scenario_forecast_with(one, NULL, &class[i], diag) : diag->status;
        kvc_cluster_free_class(one);
    }
    return status;
}

/* Adds the values of a class; means are weighted by the `mops` of all its nodes. */
static void add_class(const struct kvc_forecast *class, double nodes, double mops, struct kvc_forecast *out)
{
    out->throughput_mops += mops;
    out->hit_frac += mops * class->hit_frac;
    out->watts_mean += nodes * class->watts_mean;
    out->price_usd += nodes * class->price_usd;
    kvc_latencies_add_class(&out->latency, &class->latency, mops);
    kvc_forecast_add_stage(out, class->bottleneck_stage, class->bottleneck_device, class->utilization_frac);
    kvc_missing_add(out->price_missing, class->price_missing);
    kvc_missing_add(out->watts_missing, class->watts_missing);
}

/* Forecasts a cluster of different machines from its classes; models/cluster/cluster.h says how they are
 * combined.
 */
static enum kvc_status forecast_members(const struct kvc_scenario *scenario, struct kvc_forecast *out,
                                        struct kvc_diag *diag)
{
    struct kvc_forecast *class = kvc_array_of(KVC_CLUSTER_MEMBERS_MAX, sizeof(*class));
    double all_mops = INFINITY;
    enum kvc_status status = forecast_classes(scenario, class, diag);
    for (uint32_t i = 0; i < kvc_cluster_classes(scenario); i++) {
        all_mops = fmin(all_mops, kvc_cluster_limit_mops(scenario, i, class[i].throughput_mops));
    }
    out->throughput_mops = out->hit_frac = out->watts_mean = out->price_usd = 0;
    out->latency = (struct kvc_latencies){0};
    for (uint32_t i = 0; i < kvc_cluster_classes(scenario) && status == KVC_OK; i++) {
        double nodes = (double)kvc_cluster_class_nodes(scenario, i), one = class[i].throughput_mops;
        add_class(&class[i], nodes, nodes * one * kvc_cluster_held_back_frac(scenario, i, one, all_mops),
                  out);
    }
    kvc_latencies_end_sum(&out->latency, out->throughput_mops);
    out->hit_frac /= out->throughput_mops;
    out->kops_per_watt = out->throughput_mops * 1e3 / out->watts_mean;
    free(class);
    return status;
}

double kvc_forecast_unserved_frac(const struct kvc_workload *workload, double throughput_mops)
{
    static const double rounding_frac = 1e-6; /* Closed forms find their solutions to this precision. */
    if (kvc_workload_is_steady(workload)) {
        double unserved = 1 - throughput_mops / kvc_workload_rate_max_mops(workload);
        return unserved > rounding_frac || isnan(unserved) ? unserved : 0;
    }
    return kvc_workload_clients_wait(workload) ? 0 : NAN;
}

enum kvc_status kvc_scenario_forecast_with(const struct kvc_scenario *scenario, const struct kvc_power *power,
                                           struct kvc_forecast *out, struct kvc_diag *diag)
{
    const struct kvc_model *model = scenario->model;
    double rate_mops = kvc_workload_rate_max_mops(&scenario->workload);
    memset(out, 0, sizeof(*out)); /* Clears the padding, too, so that equal forecasts have equal bytes. */
    out->throughput_mops = out->hit_frac = out->utilization_frac = NAN;
    out->latency = (struct kvc_latencies){NAN, NAN, NAN, NAN, NAN};
    out->watts_mean = out->kops_per_watt = out->price_usd = NAN;
    out->offered_mops = isfinite(rate_mops) ? rate_mops : NAN;
    out->nodes = scenario->cluster.nodes;
    bool has_members = scenario->cluster.member_count > 0;
    enum kvc_status status = has_members               ? forecast_members(scenario, out, diag)
                             : model->forecast != NULL ? model->forecast(scenario, out, diag)
                                                       : from_prediction(scenario, out, diag);
    if (status == KVC_OK && !has_members) {
        add_power(scenario, power, out);
        add_price(scenario, out);
    }
    out->unserved_frac = kvc_forecast_unserved_frac(&scenario->workload, out->throughput_mops);
    return status;
}

enum kvc_status kvc_scenario_forecast(const struct kvc_scenario *scenario, struct kvc_forecast *out,
                                      struct kvc_diag *diag)
{
    return kvc_scenario_forecast_with(scenario, NULL, out, diag);
}
