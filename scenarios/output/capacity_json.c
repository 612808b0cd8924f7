#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "models/model.h"
#include "scenarios/output/capacity.h"
#include "scenarios/output/json.h"
#include "scenarios/output/json_value.h"
#include "sim/base/version.h"

#define SCHEMA "kvcast.capacity/1"

static json_t *interval(const struct kvc_interval *value)
{
    json_t *object = json_object();
    json_object_set_new(object, "mean", kvc_json_number(value->mean));
    json_object_set_new(object, "ci95", kvc_json_number(value->half_width));
    return object;
}

static json_t *latencies(const struct kvc_capacity_point *point)
{
    json_t *object = json_object();
    for (int i = 0; i < KVC_CAPACITY_LATENCIES; i++) {
        json_object_set_new(object, kvc_capacity_latency_names[i], interval(&point->latency[i]));
    }
    return object;
}

static json_t *closed_form(const struct kvc_capacity_point *point)
{
    json_t *object = json_object();
    json_object_set_new(object, "throughput_mops", kvc_json_number(point->closed_form.throughput_mops));
    json_object_set_new(object, "latency_mean_us", kvc_json_number(point->closed_form.mean_us));
    json_object_set_new(object, "latency_p95_us", kvc_json_number(point->closed_form.p95_us));
    return object;
}

static json_t *points(const struct kvc_capacity *capacity)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < capacity->count; i++) {
        const struct kvc_capacity_point *point = &capacity->point[i];
        json_t *object = json_object();
        json_object_set_new(object, "offered_mops", kvc_json_number(point->offered_mops));
        json_object_set_new(object, "share_frac", kvc_json_number(point->share_frac));
        json_object_set_new(object, "served", json_boolean(point->served));
        json_object_set_new(object, "served_by", kvc_json_count(point->served_by));
        json_object_set_new(object, "replicas", kvc_json_count(point->replicas));
        json_object_set_new(object, "throughput_mops", interval(&point->throughput));
        json_object_set_new(object, "loss_frac", kvc_json_number(point->loss_frac));
        json_object_set_new(object, "backlog_growth_frac", kvc_json_number(point->growth_frac));
        json_object_set_new(object, "latency_us", latencies(point));
        json_object_set_new(object, "warmup_s", kvc_json_number(point->warmup_s));
        json_object_set_new(object, "duration_s", kvc_json_number(point->duration_s));
        json_object_set_new(object, "closed_form", closed_form(point));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *capacity_mops(const struct kvc_capacity *capacity)
{
    json_t *object = json_object();
    json_object_set_new(object, "low", kvc_json_number(capacity->low_mops));
    json_object_set_new(object, "high", kvc_json_number(capacity->high_mops));
    json_object_set_new(object, "mean", kvc_json_number(capacity->mean_mops));
    return object;
}

static json_t *latency_bound(const struct kvc_capacity_bounds *bounds)
{
    json_t *object = json_object();
    if (!bounds->bounds_latency) {
        json_decref(object);
        return json_null();
    }
    json_object_set_new(object, "metric", kvc_json_text_or_null(kvc_capacity_latency_names[bounds->latency]));
    json_object_set_new(object, "us", kvc_json_number(bounds->latency_us));
    return object;
}

static json_t *bottleneck(const struct kvc_capacity *capacity)
{
    const struct kvc_capacity_point *point = &capacity->point[capacity->best];
    json_t *object = json_object();
    json_object_set_new(object, "stage", kvc_json_text_or_null(point->bottleneck_stage));
    json_object_set_new(object, "device", kvc_json_text_or_null(point->bottleneck_device));
    json_object_set_new(object, "why", kvc_json_text_or_null(point->bottleneck_why));
    return object;
}

static json_t *notes(const struct kvc_capacity_report *report)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < report->loaded->warning_count; i++) {
        json_array_append_new(array, kvc_json_text_or_null(report->loaded->warning[i]));
    }
    if (kvc_capacity_closed_form_note(report->capacity) != NULL) {
        json_array_append_new(array, kvc_json_text_or_null(kvc_capacity_closed_form_note(report->capacity)));
    }
    return array;
}

static json_t *document(const struct kvc_capacity_report *report)
{
    const struct kvc_scenario *scenario = &report->loaded->scenario;
    const struct kvc_capacity *capacity = report->capacity;
    json_t *object = json_object();
    json_object_set_new(object, "schema", kvc_json_text_or_null(SCHEMA));
    json_object_set_new(object, "scenario", kvc_json_text_or_null(scenario->name));
    json_object_set_new(object, "system", kvc_json_text_or_null(scenario->model->name));
    json_object_set_new(object, "seed", kvc_json_count(scenario->run.seed));
    json_object_set_new(object, "version", kvc_json_text_or_null(kvc_version));
    json_object_set_new(object, "command", kvc_json_text_or_null("capacity"));
    json_object_set_new(object, "command_line", kvc_json_text_or_null(report->command_line));
    json_object_set_new(object, "machine", kvc_json_machine(&scenario->node.machine));
    json_object_set_new(object, "capacity_mops", capacity_mops(capacity));
    json_object_set_new(object, "closed_form_mops", kvc_json_number(capacity->closed_form_mops));
    json_object_set_new(object, "closed_form_limit_mops", kvc_json_number(capacity->closed_form_limit_mops));
    json_object_set_new(object, "loss_bound_frac", kvc_json_number(capacity->bounds.loss_frac));
    json_object_set_new(object, "latency_bound", latency_bound(&capacity->bounds));
    json_object_set_new(object, "precision_frac", kvc_json_number(capacity->bounds.precision_frac));
    json_object_set_new(object, "bottleneck", bottleneck(capacity));
    const struct kvc_slo_verdict verdict = kvc_capacity_verdict(report);
    json_t *slo = kvc_slo_verdict_json(&verdict);
    if (slo != NULL) {
        json_object_set_new(object, "slo", slo);
    }
    json_object_set_new(object, "points", points(capacity));
    json_object_set_new(object, "notes", notes(report));
    json_object_set_new(object, "parameters", kvc_json_values(&report->loaded->parameters));
    json_object_set_new(object, "provenance", kvc_json_sources(&report->loaded->provenance));
    return object;
}

enum kvc_status kvc_capacity_write_json(const struct kvc_capacity_report *report, FILE *out,
                                        struct kvc_diag *diag)
{
    json_t *object = document(report);
    errno = 0;
    bool written = json_dumpf(object, out, JSON_INDENT(2) | JSON_REAL_PRECISION(KVC_JSON_DIGITS)) == 0 &&
                   fputc('\n', out) != EOF && fflush(out) == 0;
    json_decref(object);
    if (!written) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "cannot write the capacity: %s", strerror(errno));
    }
    return KVC_OK;
}
