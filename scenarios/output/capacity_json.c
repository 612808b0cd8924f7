#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "models/model.h"
#include "scenarios/output/capacity.h"
#include "scenarios/output/json.h"
#include "sim/base/version.h"

#define SCHEMA "kvcast.capacity/1"

/* Significant digits of numbers, as in the result document. */
enum { DIGITS = 12 };

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *count(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* Jansson refuses text that is not valid UTF-8; such a text becomes null. */
static json_t *text(const char *bytes)
{
    json_t *string = bytes[0] != '\0' ? json_string(bytes) : NULL;
    return string != NULL ? string : json_null();
}

static json_t *interval(const struct kvc_interval *value)
{
    json_t *object = json_object();
    json_object_set_new(object, "mean", number(value->mean));
    json_object_set_new(object, "ci95", number(value->half_width));
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
    json_object_set_new(object, "throughput_mops", number(point->closed_form.throughput_mops));
    json_object_set_new(object, "latency_mean_us", number(point->closed_form.mean_us));
    json_object_set_new(object, "latency_p95_us", number(point->closed_form.p95_us));
    return object;
}

static json_t *points(const struct kvc_capacity *capacity)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < capacity->count; i++) {
        const struct kvc_capacity_point *point = &capacity->point[i];
        json_t *object = json_object();
        json_object_set_new(object, "offered_mops", number(point->offered_mops));
        json_object_set_new(object, "share_frac", number(point->share_frac));
        json_object_set_new(object, "served", json_boolean(point->served));
        json_object_set_new(object, "served_by", count(point->served_by));
        json_object_set_new(object, "replicas", count(point->replicas));
        json_object_set_new(object, "throughput_mops", interval(&point->throughput));
        json_object_set_new(object, "loss_frac", number(point->loss_frac));
        json_object_set_new(object, "backlog_growth_frac", number(point->growth_frac));
        json_object_set_new(object, "latency_us", latencies(point));
        json_object_set_new(object, "warmup_s", number(point->warmup_s));
        json_object_set_new(object, "duration_s", number(point->duration_s));
        json_object_set_new(object, "closed_form", closed_form(point));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *capacity_mops(const struct kvc_capacity *capacity)
{
    json_t *object = json_object();
    json_object_set_new(object, "low", number(capacity->low_mops));
    json_object_set_new(object, "high", number(capacity->high_mops));
    json_object_set_new(object, "mean", number(capacity->mean_mops));
    return object;
}

static json_t *latency_bound(const struct kvc_capacity_bounds *bounds)
{
    json_t *object = json_object();
    if (!bounds->bounds_latency) {
        json_decref(object);
        return json_null();
    }
    json_object_set_new(object, "metric", text(kvc_capacity_latency_names[bounds->latency]));
    json_object_set_new(object, "us", number(bounds->latency_us));
    return object;
}

static json_t *bottleneck(const struct kvc_capacity *capacity)
{
    const struct kvc_capacity_point *point = &capacity->point[capacity->best];
    json_t *object = json_object();
    json_object_set_new(object, "stage", text(point->bottleneck_stage));
    json_object_set_new(object, "device", text(point->bottleneck_device));
    json_object_set_new(object, "why", text(point->bottleneck_why));
    return object;
}

static json_t *machine(const struct kvc_machine *machine)
{
    json_t *object = json_object();
    if (machine->name[0] == '\0') {
        json_decref(object);
        return json_null();
    }
    json_object_set_new(object, "name", text(machine->name));
    json_object_set_new(object, "date", text(machine->date));
    json_object_set_new(object, "compiler", text(machine->compiler));
    json_object_set_new(object, "commit", text(machine->commit));
    return object;
}

static json_t *notes(const struct kvc_capacity_report *report)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < report->loaded->warning_count; i++) {
        json_array_append_new(array, text(report->loaded->warning[i]));
    }
    if (kvc_capacity_closed_form_note(report->capacity) != NULL) {
        json_array_append_new(array, text(kvc_capacity_closed_form_note(report->capacity)));
    }
    return array;
}

static json_t *document(const struct kvc_capacity_report *report)
{
    const struct kvc_scenario *scenario = &report->loaded->scenario;
    const struct kvc_capacity *capacity = report->capacity;
    json_t *object = json_object();
    json_object_set_new(object, "schema", text(SCHEMA));
    json_object_set_new(object, "scenario", text(scenario->name));
    json_object_set_new(object, "system", text(scenario->model->name));
    json_object_set_new(object, "seed", count(scenario->run.seed));
    json_object_set_new(object, "version", text(kvc_version));
    json_object_set_new(object, "command", text("capacity"));
    json_object_set_new(object, "command_line", text(report->command_line));
    json_object_set_new(object, "machine", machine(&scenario->node.machine));
    json_object_set_new(object, "capacity_mops", capacity_mops(capacity));
    json_object_set_new(object, "closed_form_mops", number(capacity->closed_form_mops));
    json_object_set_new(object, "closed_form_limit_mops", number(capacity->closed_form_limit_mops));
    json_object_set_new(object, "loss_bound_frac", number(capacity->bounds.loss_frac));
    json_object_set_new(object, "latency_bound", latency_bound(&capacity->bounds));
    json_object_set_new(object, "precision_frac", number(capacity->bounds.precision_frac));
    json_object_set_new(object, "bottleneck", bottleneck(capacity));
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
    bool written = json_dumpf(object, out, JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS)) == 0 &&
                   fputc('\n', out) != EOF && fflush(out) == 0;
    json_decref(object);
    if (!written) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "cannot write the capacity: %s", strerror(errno));
    }
    return KVC_OK;
}
