#include "scenarios/output/json.h"
#include "scenarios/output/json_value.h"
#include "scenarios/output/pipeline.h"
#include "scenarios/output/report.h"
#include "scenarios/output/windows.h"
#include "sim/base/version.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/model.h"
#include "models/price.h"

#define SCHEMA "kvcast.result/1"

static json_t *parameter_value(const struct kvc_parameter *parameter)
{
    json_t *value = parameter->bare ? json_loads(parameter->value, JSON_DECODE_ANY, NULL) : NULL;
    return value != NULL ? value : kvc_json_text(parameter->value);
}

json_t *kvc_json_values(const struct kvc_parameters *list)
{
    json_t *object = json_object();
    for (uint32_t i = 0; i < list->count; i++) {
        json_object_set_new(object, list->entry[i].path, parameter_value(&list->entry[i]));
    }
    return object;
}

json_t *kvc_json_sources(const struct kvc_parameters *list)
{
    json_t *object = json_object();
    for (uint32_t i = 0; i < list->count; i++) {
        json_object_set_new(object, list->entry[i].path, kvc_json_text(list->entry[i].source));
    }
    return object;
}

/* Returns half the width of the interval of the value GROUP.ENTRY.NAME, without the parts that are NULL. */
static json_t *half_width_of(const struct kvc_outcome *outcome, const char *group, const char *entry,
                             const char *name)
{
    char full[KVC_VALUE_NAME_MAX];
    kvc_value_name(group, entry, name, full);
    return kvc_json_number(kvc_outcome_wide_interval(outcome, full).half_width);
}

static json_t *half_width(const struct kvc_outcome *outcome, const char *name)
{
    return half_width_of(outcome, NULL, NULL, name);
}

static json_t *throughput(const struct kvc_outcome *outcome)
{
    json_t *object = json_object();
    json_t *replicas = json_array();
    for (uint32_t i = 0; i < outcome->replicas; i++) {
        json_array_append_new(replicas, kvc_json_number(kvc_outcome_value(outcome, i, "throughput_mops")));
    }
    double mean = kvc_outcome_wide_interval(outcome, "throughput_mops").mean;
    json_object_set_new(object, "mean", kvc_json_number(mean));
    json_object_set_new(object, "ci95", half_width(outcome, "throughput_mops"));
    json_object_set_new(object, "replicas", replicas);
    return object;
}

static json_t *percentile(const struct kvc_outcome *outcome, double p, double us)
{
    json_t *object = json_object();
    char name[KVC_NAME_MAX];
    kvc_percentile_name(p, name);
    json_object_set_new(object, "p", kvc_json_number(p));
    json_object_set_new(object, "us", kvc_json_number(us));
    json_object_set_new(object, "ci95", half_width(outcome, name));
    return object;
}

static json_t *cdf(const struct kvc_histogram *histogram)
{
    static double value_ns[KVC_CDF_POINTS], fraction[KVC_CDF_POINTS];
    json_t *array = json_array();
    uint32_t points = kvc_histogram_cdf(histogram, KVC_CDF_POINTS, value_ns, fraction);
    for (uint32_t i = 0; i < points; i++) {
        json_array_append_new(
            array, json_pack("[o,o]", kvc_json_number(value_ns[i] * 1e-3), kvc_json_number(fraction[i])));
    }
    return array;
}

static json_t *latency(const struct kvc_outcome *outcome)
{
    const struct kvc_result *result = &outcome->result;
    const struct kvc_histogram *histogram = &result->latency;
    json_t *object = json_object();
    json_t *percentiles = json_array();
    bool measured = result->has_histogram && histogram->count > 0;
    for (int i = 0; i < KVC_PERCENTILES; i++) {
        double us = kvc_result_latency_percentile_us(result, kvc_percentiles[i]);
        if (!isnan(us)) {
            json_array_append_new(percentiles, percentile(outcome, kvc_percentiles[i], us));
        }
    }
    json_object_set_new(object, "mean", kvc_json_number(kvc_result_latency_mean_us(result)));
    json_object_set_new(object, "ci95", half_width(outcome, "latency_mean_us"));
    json_object_set_new(object, "min", kvc_json_number(measured ? histogram->min_ns * 1e-3 : NAN));
    json_object_set_new(object, "min_ci95", half_width(outcome, "latency_min_us"));
    json_object_set_new(object, "max", kvc_json_number(measured ? histogram->max_ns * 1e-3 : NAN));
    json_object_set_new(object, "max_ci95", half_width(outcome, "latency_max_us"));
    json_object_set_new(object, "percentiles", percentiles);
    json_object_set_new(object, "cdf", measured ? cdf(histogram) : json_array());
    json_object_set_new(object, "clipped", kvc_json_count(histogram->clipped));
    json_object_set_new(object, "assumes", kvc_json_text_or_null(result->latency_assumes));
    return object;
}

/* Sets the mean of a value and half the width of its interval. */
static void set_interval(json_t *object, const char *key, const char *half_width_key,
                         struct kvc_interval interval)
{
    json_object_set_new(object, key, kvc_json_number(interval.mean));
    json_object_set_new(object, half_width_key, kvc_json_number(interval.half_width));
}

static json_t *load(const struct kvc_report *report)
{
    const struct kvc_service service = kvc_service_of(report->loaded, report->outcome);
    json_t *object = json_object();
    json_object_set_new(object, "offered_mops", kvc_json_number(service.offered_mops));
    json_object_set_new(object, "served_mops", kvc_json_number(service.served_mops));
    json_object_set_new(object, "lost_frac", kvc_json_number(service.lost_frac));
    json_object_set_new(object, "growth_frac", kvc_json_number(service.growth_frac));
    json_object_set_new(object, "unserved_frac", kvc_json_number(service.unserved_frac));
    json_object_set_new(object, "overloaded",
                        isnan(service.behind_frac) ? json_null() : json_boolean(service.behind_frac > 0));
    return object;
}

static json_t *requests(const struct kvc_outcome *outcome)
{
    const struct kvc_result *result = &outcome->result;
    json_t *object = json_object();
    json_object_set_new(object, "offered", kvc_json_count(result->offered));
    json_object_set_new(object, "completed", kvc_json_count(result->completed));
    json_object_set_new(object, "dropped", kvc_json_count(result->dropped));
    json_object_set_new(object, "hits", kvc_json_count(result->hits));
    json_object_set_new(object, "misses", kvc_json_count(result->misses));
    json_object_set_new(object, "gets", kvc_json_count(result->gets));
    json_object_set_new(object, "sets", kvc_json_count(result->sets));
    json_object_set_new(object, "deletes", kvc_json_count(result->deletes));
    set_interval(object, "offered_mops", "offered_ci95_mops",
                 kvc_outcome_wide_interval(outcome, "offered_mops"));
    set_interval(object, "lost_frac", "lost_ci95_frac", kvc_outcome_wide_interval(outcome, "lost_frac"));
    set_interval(object, "hit_frac", "hit_ci95_frac", kvc_outcome_wide_interval(outcome, "hit_frac"));
    return object;
}

static double rate_mops(uint64_t requests, const struct kvc_result *result)
{
    return (double)requests * 1e-6 / result->simulated_s;
}

static json_t *stages(const struct kvc_outcome *outcome)
{
    const struct kvc_result *result = &outcome->result;
    json_t *array = json_array();
    for (uint32_t i = 0; i < result->stage_count; i++) {
        const struct kvc_stage_result *stage = &result->stage[i];
        json_t *object = json_object();
        json_object_set_new(object, "name", kvc_json_text(stage->name));
        json_object_set_new(object, "device", kvc_json_text(stage->device));
        json_object_set_new(object, "utilization_frac", kvc_json_number(stage->utilization_frac));
        json_object_set_new(object, "utilization_ci95_frac",
                            half_width_of(outcome, "stages", stage->name, "utilization_frac"));
        json_object_set_new(object, "busy_s", kvc_json_number(stage->busy_s));
        json_object_set_new(object, "served",
                            result->has_histogram ? kvc_json_count(stage->served) : json_null());
        json_object_set_new(object, "served_mops",
                            result->has_histogram ? kvc_json_number(rate_mops(stage->served, result))
                                                  : kvc_json_number(kvc_result_stage_mops(result, i)));
        json_object_set_new(object, "mean_us", kvc_json_number(stage->mean_us));
        json_object_set_new(object, "mean_ci95_us", half_width_of(outcome, "stages", stage->name, "mean_us"));
        json_object_set_new(object, "waiting_requests", kvc_json_number(stage->waiting_requests));
        json_object_set_new(object, "waiting_ci95_requests",
                            half_width_of(outcome, "stages", stage->name, "waiting_requests"));
        json_object_set_new(object, "wait_us", kvc_json_number(stage->wait_us));
        json_object_set_new(object, "wait_ci95_us", half_width_of(outcome, "stages", stage->name, "wait_us"));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *gains(const struct kvc_outcome *outcome)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < outcome->gain_count; i++) {
        const struct kvc_gain *gain = &outcome->gain[i];
        json_t *object = json_object();
        json_object_set_new(object, "resource", kvc_json_text(gain->resource));
        json_object_set_new(object, "device", kvc_json_text(gain->device));
        json_object_set_new(object, "utilization_frac", kvc_json_number(gain->utilization_frac));
        json_object_set_new(object, "gain_frac", kvc_json_number(gain->gain_frac.mean));
        json_object_set_new(object, "ci95_frac", kvc_json_number(gain->gain_frac.half_width));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *bottleneck(const struct kvc_outcome *outcome)
{
    const struct kvc_result *result = &outcome->result;
    json_t *object = json_object();
    json_object_set_new(object, "stage", kvc_json_text_or_null(result->bottleneck_stage));
    json_object_set_new(object, "device", kvc_json_text_or_null(result->bottleneck_device));
    json_object_set_new(object, "why", kvc_json_text_or_null(result->bottleneck_why));
    json_object_set_new(object, "gains", gains(outcome));
    return object;
}

static json_t *metrics(const struct kvc_metrics *list)
{
    json_t *object = json_object();
    for (uint32_t i = 0; i < list->count; i++) {
        json_object_set_new(object, list->entry[i].name, kvc_json_number(list->entry[i].value));
    }
    return object;
}

/* Returns the half widths of the metrics of "kernel" or "model" under the same keys. */
static json_t *half_widths(const struct kvc_outcome *outcome, const char *group,
                           const struct kvc_metrics *list)
{
    json_t *object = json_object();
    for (uint32_t i = 0; i < list->count; i++) {
        const char *name = list->entry[i].name;
        json_object_set_new(object, name, half_width_of(outcome, group, NULL, name));
    }
    return object;
}

/* Returns the member `intervals`, which names the source of the intervals. */
static json_t *intervals(const struct kvc_outcome *outcome)
{
    static const char *const names[] = {[KVC_INTERVALS_UNKNOWN] = "",
                                        [KVC_INTERVALS_OF_REPLICAS] = "replicas",
                                        [KVC_INTERVALS_OF_BATCHES] = "batches"};
    json_t *object = json_object();
    uint32_t count;
    enum kvc_interval_source source = kvc_outcome_intervals(outcome, &count);
    double batch_s = source == KVC_INTERVALS_OF_BATCHES ? outcome->result.batch_s : NAN;
    json_object_set_new(object, "confidence_frac", kvc_json_number(0.95));
    json_object_set_new(object, "from", kvc_json_text_or_null(names[source]));
    json_object_set_new(object, "count", kvc_json_count(count));
    json_object_set_new(object, "batch_s", kvc_json_number(batch_s));
    if (source == KVC_INTERVALS_UNKNOWN && outcome->result.moves) {
        json_object_set_new(object, "why", kvc_json_text("the load or the machine changes during the run"));
    }
    return object;
}

static json_t *windows(const struct kvc_result *result)
{
    json_t *object = json_object();
    json_t *mops = json_array(), *latency_us = json_array();
    for (uint32_t i = 0; i < result->window_count; i++) {
        json_array_append_new(mops, kvc_json_number((double)result->window_mops[i]));
        json_array_append_new(latency_us, kvc_json_number(kvc_result_window_latency_us(result, i)));
    }
    json_object_set_new(object, "length_us", kvc_json_number(result->window_us));
    json_object_set_new(object, "mops", mops);
    json_object_set_new(object, "latency_mean_us", latency_us);
    return object;
}

/* Returns half the width of the interval of an energy; energies add up over the replicas. */
static json_t *half_width_of_joules(const struct kvc_outcome *outcome, const char *group, const char *entry)
{
    char name[KVC_VALUE_NAME_MAX];
    kvc_value_name(group, entry, "joules", name);
    double replicas = outcome->replicas > 0 ? outcome->replicas : 1;
    return kvc_json_number(replicas * kvc_outcome_wide_interval(outcome, name).half_width);
}

static json_t *metered_devices(const struct kvc_outcome *outcome)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < outcome->result.device_count; i++) {
        const struct kvc_device_result *device = &outcome->result.device[i];
        if (isnan(device->joules)) {
            continue;
        }
        json_t *object = json_object();
        json_object_set_new(object, "device", kvc_json_text(device->name));
        json_object_set_new(object, "joules", kvc_json_number(device->joules));
        json_object_set_new(object, "joules_ci95", half_width_of_joules(outcome, "devices", device->name));
        json_object_set_new(object, "watts_mean", kvc_json_number(device->watts_mean));
        json_object_set_new(object, "watts_mean_ci95",
                            half_width_of(outcome, "devices", device->name, "watts_mean"));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *devices(const struct kvc_outcome *outcome)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < outcome->result.device_count; i++) {
        const struct kvc_device_result *device = &outcome->result.device[i];
        json_t *object = json_object();
        json_object_set_new(object, "name", kvc_json_text(device->name));
        json_object_set_new(object, "kind", kvc_json_text(device->device));
        json_object_set_new(object, "utilization_frac", kvc_json_number(device->utilization_frac));
        json_object_set_new(object, "utilization_ci95_frac",
                            half_width_of(outcome, "devices", device->name, "utilization_frac"));
        json_array_append_new(array, object);
    }
    return array;
}

/* Adds whether a total contains all devices, and those that it lacks. */
static void set_missing(json_t *object, const char *missing)
{
    char names[KVC_MISSING_BYTES];
    json_t *array = json_array();
    snprintf(names, sizeof(names), "%s", missing);
    for (char *rest, *name = strtok_r(names, ", ", &rest); name != NULL; name = strtok_r(NULL, ", ", &rest)) {
        json_array_append_new(array, json_string(name));
    }
    json_object_set_new(object, "complete", json_boolean(missing[0] == '\0'));
    json_object_set_new(object, "missing", array);
}

static json_t *price(const struct kvc_scenario *scenario)
{
    struct kvc_price found = kvc_scenario_price(scenario);
    json_t *object = json_object();
    json_object_set_new(object, "usd", kvc_json_number(found.usd));
    set_missing(object, found.missing);
    return object;
}

static json_t *energy(const struct kvc_outcome *outcome)
{
    const struct kvc_result *result = &outcome->result;
    json_t *object = json_object();
    double watts = result->watts_mean;
    if (watts <= 0) {
        json_decref(object);
        return json_null();
    }
    /* A prediction has no duration. */
    json_object_set_new(object, "joules", kvc_json_number(result->simulated_s > 0 ? result->joules : NAN));
    json_object_set_new(object, "joules_ci95", half_width_of_joules(outcome, NULL, NULL));
    json_object_set_new(object, "watts_mean", kvc_json_number(watts));
    json_object_set_new(object, "watts_mean_ci95", half_width(outcome, "watts_mean"));
    bool is_whole = result->watts_missing[0] == '\0';
    json_object_set_new(object, "kops_per_watt",
                        kvc_json_number(is_whole ? result->throughput_mops * 1e3 / watts : NAN));
    json_object_set_new(object, "kops_per_watt_ci95", half_width(outcome, "kops_per_watt"));
    set_missing(object, result->watts_missing);
    json_object_set_new(object, "devices", metered_devices(outcome));
    return object;
}

/* Adds the verdict if the scenario states an objective, and the windows if there are any. */
static void set_slo(json_t *object, const struct kvc_report *report)
{
    struct kvc_slo_windows windows;
    const struct kvc_slo_verdict verdict = kvc_slo_judge(report->loaded, report->outcome, &windows);
    json_t *slo = kvc_slo_verdict_json(&verdict), *worst = kvc_slo_windows_json(&windows);
    if (slo != NULL) {
        json_object_set_new(object, "slo", slo);
    }
    if (worst != NULL) {
        json_object_set_new(object, "worst_window", worst);
    }
}

/* Returns the observations and choices of the power policy. */
static json_t *looks(const struct kvc_result *result)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < result->look_count; i++) {
        const struct kvc_look *look = &result->look[i];
        const struct {
            const char *name;
            double value;
        } numbers[] = {
            {"at_s", look->at_s},
            {"span_s", look->span_s},
            {"offered_mops", look->offered_mops},
            {"served_mops", look->served_mops},
            {"capacity_mops", look->capacity_mops},
            {"cpu_busy_frac", look->cpu_busy_frac},
            {"gpu_busy_frac", look->gpu_busy_frac},
            {"latency_mean_us", look->latency_mean_us},
            {"latency_p99_us", look->latency_p99_us},
            {"watts", look->watts},
            {"cpu_hz", look->cpu_hz},
            {"gpu_hz", look->gpu_hz},
        };
        json_t *object = json_object();
        json_object_set_new(object, "unit", kvc_json_text(look->unit));
        for (size_t j = 0; j < sizeof(numbers) / sizeof(*numbers); j++) {
            json_object_set_new(object, numbers[j].name, kvc_json_number(numbers[j].value));
        }
        json_object_set_new(object, "changed", json_boolean(look->changed));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *notes(const struct kvc_report *report)
{
    const struct kvc_result *result = &report->outcome->result;
    json_t *array = json_array();
    for (uint32_t i = 0; i < report->loaded->warning_count; i++) {
        json_array_append_new(array, kvc_json_text(report->loaded->warning[i]));
    }
    for (uint32_t i = 0; i < result->note_count; i++) {
        json_array_append_new(array, kvc_json_text(result->note[i]));
    }
    if (result->watts_mean <= 0) {
        json_array_append_new(array, kvc_json_text("energy is null: no power is stated"));
    }
    return array;
}

static json_t *simulation(const struct kvc_result *result)
{
    json_t *object = json_object();
    double rate = result->wall_s > 0 ? (double)result->requests_simulated / result->wall_s : NAN;
    json_object_set_new(object, "simulated_s", kvc_json_number(result->simulated_s));
    json_object_set_new(object, "warmup_s", kvc_json_number(result->warmup_s));
    json_object_set_new(object, "requests", kvc_json_count(result->requests_simulated));
    json_object_set_new(object, "activities", kvc_json_count(result->activities));
    json_object_set_new(object, "wall_cpu_s", kvc_json_number(result->cpu_s));
    json_object_set_new(object, "wall_s", kvc_json_number(result->wall_s));
    json_object_set_new(object, "wall_source_s", kvc_json_number(result->source_wall_s));
    json_object_set_new(object, "wall_kernel_s", kvc_json_number(result->kernel_wall_s));
    json_object_set_new(object, "wall_engine_s", kvc_json_number(result->engine_wall_s));
    json_object_set_new(object, "wall_preload_s", kvc_json_number(result->preload_wall_s));
    json_object_set_new(object, "requests_per_wall_s", kvc_json_number(rate));
    json_object_set_new(object, "memory_planned_bytes", kvc_json_number(result->memory_planned_bytes));
    json_object_set_new(object, "memory_taken_bytes", kvc_json_number(result->memory_taken_bytes));
    return object;
}

static json_t *document(const struct kvc_report *report)
{
    const struct kvc_scenario *scenario = &report->loaded->scenario;
    const struct kvc_result *result = &report->outcome->result;
    json_t *object = json_object();
    json_object_set_new(object, "schema", kvc_json_text(SCHEMA));
    json_object_set_new(object, "scenario", kvc_json_text(scenario->name));
    json_object_set_new(object, "system", kvc_json_text(scenario->model->name));
    json_object_set_new(object, "seed", kvc_json_count(scenario->run.seed));
    json_object_set_new(object, "version", kvc_json_text(kvc_version));
    json_object_set_new(object, "command", kvc_json_text(report->command));
    json_object_set_new(object, "command_line", kvc_json_text(report->command_line));
    json_object_set_new(object, "machine", kvc_json_machine(&scenario->node.machine));
    json_object_set_new(object, "intervals", intervals(report->outcome));
    json_object_set_new(object, "throughput_mops", throughput(report->outcome));
    json_object_set_new(object, "latency_us", latency(report->outcome));
    json_object_set_new(object, "load", load(report));
    json_object_set_new(object, "requests", requests(report->outcome));
    json_object_set_new(object, "stages", stages(report->outcome));
    json_t *pipeline = kvc_json_pipeline(report);
    if (pipeline != NULL) {
        json_object_set_new(object, "pipeline", pipeline);
    }
    json_object_set_new(object, "devices", devices(report->outcome));
    json_object_set_new(object, "bottleneck", bottleneck(report->outcome));
    json_object_set_new(object, "energy", energy(report->outcome));
    json_object_set_new(object, "price", price(&report->loaded->scenario));
    set_slo(object, report);
    if (result->look_count > 0) {
        json_object_set_new(object, "clocks", looks(result));
    }
    struct kvc_accuracy_kind kind;
    if (kvc_report_is_forecast(report, &kind)) {
        json_object_set_new(object, "accuracy", kvc_accuracy_json(&kind));
    }
    json_object_set_new(object, "kernel", metrics(&result->kernel));
    json_object_set_new(object, "kernel_ci95", half_widths(report->outcome, "kernel", &result->kernel));
    json_object_set_new(object, "model", metrics(&result->model));
    json_object_set_new(object, "model_ci95", half_widths(report->outcome, "model", &result->model));
    if (report->sensitivity != NULL) {
        json_object_set_new(object, "sensitivity", kvc_sensitivity_json(report->sensitivity));
    }
    if (result->tenant_count > 0) {
        json_object_set_new(object, "tenants", kvc_json_tenants(report));
    }
    if (report->outcome->node_count > 0) {
        json_object_set_new(object, "cluster", kvc_json_nodes(report->outcome));
    }
    json_object_set_new(object, "windows", windows(result));
    json_object_set_new(object, "notes", notes(report));
    json_object_set_new(object, "simulation", simulation(result));
    json_object_set_new(object, "parameters", kvc_json_values(&report->loaded->parameters));
    json_object_set_new(object, "provenance", kvc_json_sources(&report->loaded->provenance));
    return object;
}

/* Arrays without objects, such as points and replicas, take one line each. Everything else is indented. */
static bool is_one_line(const json_t *value)
{
    size_t index;
    json_t *element;
    if (json_is_object(value)) {
        return json_object_size(value) == 0;
    }
    json_array_foreach(value, index, element) if (json_is_object(element))
    {
        return false;
    }
    return true;
}

static bool write_value(const json_t *value, int depth, FILE *out);

static bool write_members(const json_t *object, int depth, FILE *out)
{
    const char *key, *separator = "";
    json_t *member;
    json_object_foreach((json_t *)object, key, member)
    {
        json_t *name = json_string(key);
        bool written = fprintf(out, "%s\n%*s", separator, 2 * depth, "") >= 0 &&
                       json_dumpf(name, out, JSON_ENCODE_ANY) == 0 && fputs(": ", out) >= 0 &&
                       write_value(member, depth, out);
        json_decref(name);
        if (!written) {
            return false;
        }
        separator = ",";
    }
    return true;
}

static bool write_elements(const json_t *array, int depth, FILE *out)
{
    size_t index;
    json_t *element;
    json_array_foreach(array, index,
                       element) if (fprintf(out, "%s\n%*s", index > 0 ? "," : "", 2 * depth, "") < 0 ||
                                    !write_value(element, depth, out))
    {
        return false;
    }
    return true;
}

static bool write_value(const json_t *value, int depth, FILE *out)
{
    if (is_one_line(value)) {
        return json_dumpf(value, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(KVC_JSON_DIGITS)) == 0;
    }
    bool object = json_is_object(value);
    return fputc(object ? '{' : '[', out) != EOF &&
           (object ? write_members(value, depth + 1, out) : write_elements(value, depth + 1, out)) &&
           fprintf(out, "\n%*s%c", 2 * depth, "", object ? '}' : ']') >= 0;
}

enum kvc_status kvc_json_write(const struct kvc_report *report, FILE *out, struct kvc_diag *diag)
{
    json_t *object = document(report);
    errno = 0;
    bool written = write_value(object, 0, out) && fputc('\n', out) != EOF && fflush(out) == 0;
    json_decref(object);
    if (!written) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "cannot write the result: %s", strerror(errno));
    }
    return KVC_OK;
}
