/* A plan as files: plan.json and plan.csv. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "models/model.h"
#include "scenarios/explore/plan/report.h"
#include "scenarios/output/json.h"
#include "scenarios/output/json_value.h"
#include "sim/base/version.h"

#define SCHEMA "kvcast.plan/1"

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static json_t *values_of(const struct kvc_planned *planned, uint32_t candidate)
{
    uint32_t value[KVC_SWEEP_AXES_MAX];
    json_t *object = json_object();
    kvc_space_point(planned->space, candidate, value);
    for (uint32_t i = 0; i < planned->space->axis_count; i++) {
        const struct kvc_sweep_axis *axis = &planned->space->axis[i];
        set(object, axis->path, kvc_json_text(axis->value[value[i]].label));
    }
    return object;
}

static json_t *closed_form(const struct kvc_plan_candidate *candidate)
{
    json_t *object = json_object();
    for (int i = 0; i < KVC_PLAN_PRICE_USD; i++) {
        set(object, kvc_plan_metric_names[i], kvc_json_number(candidate->closed_form[i]));
    }
    return object;
}

static json_t *simulated(const struct kvc_plan_search *search, const struct kvc_plan_candidate *candidate)
{
    if (candidate->replicas == 0) {
        return json_null();
    }
    json_t *object = json_object();
    for (int i = 0; i < KVC_PLAN_PRICE_USD; i++) {
        struct kvc_interval interval = kvc_plan_value(search, candidate, (enum kvc_plan_metric)i);
        json_t *value = json_object();
        set(value, "mean", kvc_json_number(interval.mean));
        set(value, "half_width", kvc_json_number(interval.half_width));
        set(object, kvc_plan_metric_names[i], value);
    }
    return object;
}

static json_t *goal_of(const struct kvc_plan_goal *goal)
{
    json_t *object = json_object();
    set(object, "metric", kvc_json_text(goal->name));
    set(object, goal->at_least ? "at_least" : "at_most", kvc_json_number(goal->bound));
    return object;
}

static json_t *goals_of(const struct kvc_planned *planned, uint32_t candidate)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < planned->goal_count; i++) {
        const struct kvc_plan_goal *goal = &planned->goal[i];
        struct kvc_interval found = kvc_plan_found(planned, candidate, i);
        double worse = found.mean + (goal->at_least ? -1 : 1) * found.half_width;
        json_t *object = goal_of(goal);
        set(object, "found", kvc_json_number(found.mean));
        set(object, "half_width", kvc_json_number(found.half_width));
        set(object, "margin_frac", kvc_json_number(kvc_plan_margin_frac(goal, found.mean)));
        set(object, "margin_least_frac", kvc_json_number(kvc_plan_margin_frac(goal, worse)));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *candidate_of(const struct kvc_planned *planned, int64_t number)
{
    if (number < 0) {
        return json_null();
    }
    const struct kvc_plan_candidate *candidate = &planned->search.candidate[number];
    bool has_goal = candidate->fate == KVC_PLAN_PRUNED || candidate->fate == KVC_PLAN_FAILED ||
                    candidate->fate == KVC_PLAN_UNDECIDED;
    json_t *object = json_object();
    set(object, "point", kvc_json_count((uint64_t)number + 1));
    set(object, "values", values_of(planned, (uint32_t)number));
    set(object, "nodes", kvc_json_number(candidate->nodes));
    set(object, "price_usd", kvc_json_number(candidate->price_usd));
    set(object, "fate", kvc_json_text(kvc_plan_fate_names[candidate->fate]));
    set(object, "decided_by", has_goal ? kvc_json_text(planned->goal[candidate->goal].name) : json_null());
    set(object, "replicas", kvc_json_count(candidate->replicas));
    set(object, "closed_form", closed_form(candidate));
    set(object, "simulated", simulated(&planned->search, candidate));
    set(object, "goals", goals_of(planned, (uint32_t)number));
    return object;
}

static json_t *counts(const struct kvc_planned *planned)
{
    json_t *object = json_object();
    set(object, "candidates", kvc_json_count(planned->search.count));
    for (int fate = KVC_PLAN_REFUSED; fate < KVC_PLAN_FATES; fate++) {
        uint32_t count = kvc_plan_count(planned, (enum kvc_plan_fate)fate, -1);
        set(object, kvc_plan_fate_names[fate], kvc_json_count(count));
    }
    for (uint32_t i = 0; i < planned->goal_count; i++) {
        char key[KVC_TENANT_NAME_MAX + 16];
        snprintf(key, sizeof(key), "pruned_by_%s", planned->goal[i].name);
        set(object, key, kvc_json_count(kvc_plan_count(planned, KVC_PLAN_PRUNED, (int)i)));
    }
    return object;
}

static json_t *list_fate(const struct kvc_planned *planned, enum kvc_plan_fate fate)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < planned->search.count; i++) {
        if (planned->search.candidate[planned->search.order[i]].fate == fate) {
            json_array_append_new(array, candidate_of(planned, planned->search.order[i]));
        }
    }
    return array;
}

static json_t *front(const struct kvc_planned *planned)
{
    const struct kvc_plan_front *found = &planned->front;
    json_t *object = json_object(), *points = json_array();
    set(object, "latency",
        found->latency < KVC_PLAN_METRICS ? kvc_json_text(kvc_plan_metric_names[found->latency])
                                          : json_null());
    set(object, "has_price", json_boolean(found->has_price));
    set(object, "has_watts", json_boolean(found->has_watts));
    for (uint32_t i = 0; i < found->count; i++) {
        json_array_append_new(points, candidate_of(planned, found->candidate[i]));
    }
    set(object, "points", points);
    return object;
}

static json_t *binding(const struct kvc_plan_binding *found)
{
    json_t *object = json_object();
    set(object, "stage", kvc_json_text_or_null(found->stage));
    set(object, "device", kvc_json_text_or_null(found->device));
    set(object, "utilization_frac", kvc_json_number(found->utilization_frac));
    set(object, "limit_mops", kvc_json_number(found->limit_mops));
    set(object, "limit_resource", kvc_json_text_or_null(found->resource));
    set(object, "limit_device", kvc_json_text_or_null(found->resource_device));
    set(object, "limit_gain_frac", kvc_json_number(found->gain_frac));
    return object;
}

static json_t *headroom(const struct kvc_plan_headroom *found)
{
    if (!found->is_known) {
        return json_null();
    }
    json_t *object = json_object();
    set(object, "low_mops", kvc_json_number(found->low_mops));
    set(object, "mean_mops", kvc_json_number(found->mean_mops));
    set(object, "high_mops", kvc_json_number(found->high_mops));
    set(object, "margin_frac", kvc_json_number(found->mean_mops / found->offered_mops - 1));
    return object;
}

/* Lists the errors by which candidates may have been pruned. */
static json_t *errors(const struct kvc_planned *planned)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < planned->goal_count; i++) {
        for (int j = 0; j < KVC_PLAN_METRICS && planned->goal[i].metric < KVC_PLAN_METRICS; j++) {
            const struct kvc_plan_error *error = &planned->errors.of[j][planned->goal[i].metric];
            if (error->answers > 0) {
                json_t *object = json_object();
                set(object, "closed_form", kvc_json_text(kvc_plan_metric_names[j]));
                set(object, "simulated", kvc_json_text(planned->goal[i].name));
                set(object, "low_frac", kvc_json_number(error->low_frac));
                set(object, "high_frac", kvc_json_number(error->high_frac));
                set(object, "answers", kvc_json_count(error->answers));
                json_array_append_new(array, object);
            }
        }
    }
    return array;
}

static json_t *notes(const struct kvc_plan_report *report)
{
    struct kvc_plan_notes found;
    json_t *array = json_array();
    kvc_plan_note(report->planned, &found);
    for (uint32_t i = 0; i < report->loaded->warning_count; i++) {
        json_array_append_new(array, kvc_json_text_or_null(report->loaded->warning[i]));
    }
    for (uint32_t i = 0; i < found.count; i++) {
        json_array_append_new(array, kvc_json_text_or_null(found.note[i]));
    }
    return array;
}

static json_t *goals(const struct kvc_planned *planned)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < planned->goal_count; i++) {
        json_array_append_new(array, goal_of(&planned->goal[i]));
    }
    return array;
}

static json_t *document(const struct kvc_plan_report *report)
{
    const struct kvc_planned *planned = report->planned;
    const struct kvc_plan_search *search = &planned->search;
    const struct kvc_scenario *scenario = &report->loaded->scenario;
    json_t *object = json_object();
    set(object, "schema", kvc_json_text(SCHEMA));
    set(object, "scenario", kvc_json_text_or_null(scenario->name));
    set(object, "system", kvc_json_text(scenario->model->name));
    set(object, "seed", kvc_json_count(scenario->run.seed));
    set(object, "version", kvc_json_text_or_null(kvc_version));
    set(object, "command", kvc_json_text("plan"));
    set(object, "command_line", kvc_json_text_or_null(report->command_line));
    set(object, "minimise", kvc_json_text(kvc_plan_objective_names[search->minimise]));
    set(object, "offered_mops", kvc_json_number(kvc_workload_rate_max_mops(&scenario->workload)));
    set(object, "is_met", json_boolean(search->chosen >= 0));
    set(object, "goals", goals(planned));
    set(object, "counts", counts(planned));
    set(object, "simulations", kvc_json_count(search->simulations));
    set(object, "replicas_most", kvc_json_count(search->test.most));
    set(object, "confidence", kvc_json_number(search->test.confidence));
    set(object, "chosen", candidate_of(planned, search->chosen));
    set(object, "runner_up", candidate_of(planned, search->runner_up));
    set(object, "nearest", candidate_of(planned, search->nearest));
    set(object, "undecided", list_fate(planned, KVC_PLAN_UNDECIDED));
    set(object, "front", front(planned));
    set(object, "binding", binding(&planned->binding));
    set(object, "headroom", headroom(&planned->headroom));
    set(object, "closed_form_errors", errors(planned));
    const struct kvc_accuracy_kind kind = kvc_accuracy_kind_of(report->loaded, KVC_ACCURACY_SIMULATION, true);
    set(object, "accuracy", kvc_accuracy_json(&kind));
    set(object, "notes", notes(report));
    set(object, "parameters", kvc_json_values(&report->loaded->parameters));
    set(object, "provenance", kvc_json_sources(&report->loaded->provenance));
    return object;
}

enum kvc_status kvc_plan_write_json(const struct kvc_plan_report *report, FILE *out, struct kvc_diag *diag)
{
    json_t *object = document(report);
    enum kvc_status status = kvc_json_write_document(object, "plan", out, diag);
    json_decref(object);
    return status;
}

static void put_number(double value, FILE *out)
{
    fputc(',', out);
    if (isfinite(value)) {
        fprintf(out, "%.12g", value);
    }
}

/* Labels may contain commas. */
static void put_text(const char *text, FILE *out)
{
    fputc('"', out);
    for (const char *at = text; *at != '\0'; at++) {
        fputs(*at == '"' ? "\"\"" : (char[]){*at, '\0'}, out);
    }
    fputc('"', out);
}

static void put_header(const struct kvc_planned *planned, FILE *out)
{
    fputs("point", out);
    for (uint32_t i = 0; i < planned->space->axis_count; i++) {
        fprintf(out, ",%s", planned->space->axis[i].path);
    }
    fputs(",nodes,fate,decided_by,replicas", out);
    for (int i = 0; i < KVC_PLAN_METRICS; i++) {
        fprintf(out, ",%s%s", i == KVC_PLAN_PRICE_USD ? "" : "closed_form_", kvc_plan_metric_names[i]);
    }
    for (int i = 0; i < KVC_PLAN_PRICE_USD; i++) {
        fprintf(out, ",%s,%s_half_width", kvc_plan_metric_names[i], kvc_plan_metric_names[i]);
    }
    for (uint32_t i = 0; i < planned->goal_count; i++) {
        if (planned->goal[i].metric >= KVC_PLAN_TENANT_US) {
            fprintf(out, ",%s,%s_half_width", planned->goal[i].name, planned->goal[i].name);
        }
    }
    fputs(",bottleneck,is_on_front\n", out);
}

static const char *decided_by(const struct kvc_planned *planned, const struct kvc_plan_candidate *candidate)
{
    bool has_goal = candidate->fate == KVC_PLAN_PRUNED || candidate->fate == KVC_PLAN_FAILED ||
                    candidate->fate == KVC_PLAN_UNDECIDED;
    return has_goal ? planned->goal[candidate->goal].name : "";
}

static void put_candidate(const struct kvc_planned *planned, uint32_t number, bool is_on_front, FILE *out)
{
    const struct kvc_plan_candidate *candidate = &planned->search.candidate[number];
    uint32_t value[KVC_SWEEP_AXES_MAX];
    kvc_space_point(planned->space, number, value);
    fprintf(out, "%u", number + 1);
    for (uint32_t i = 0; i < planned->space->axis_count; i++) {
        fputc(',', out);
        put_text(planned->space->axis[i].value[value[i]].label, out);
    }
    put_number(candidate->nodes, out);
    fprintf(out, ",%s,%s,%u", kvc_plan_fate_names[candidate->fate], decided_by(planned, candidate),
            candidate->replicas);
    for (int i = 0; i < KVC_PLAN_METRICS; i++) {
        put_number(candidate->closed_form[i], out);
    }
    for (int i = 0; i < KVC_PLAN_PRICE_USD; i++) {
        struct kvc_interval interval = {NAN, NAN};
        if (candidate->replicas > 0) {
            interval = kvc_plan_value(&planned->search, candidate, (enum kvc_plan_metric)i);
        }
        put_number(interval.mean, out);
        put_number(interval.half_width, out);
    }
    for (uint32_t i = 0; i < planned->goal_count; i++) {
        if (planned->goal[i].metric >= KVC_PLAN_TENANT_US) {
            struct kvc_interval found = kvc_plan_found(planned, number, i);
            put_number(found.mean, out);
            put_number(found.half_width, out);
        }
    }
    fprintf(out, ",%s,%d\n",
            candidate->fate == KVC_PLAN_REFUSED ? "" : planned->forecast[number].bottleneck_stage,
            is_on_front);
}

static bool is_on_front(const struct kvc_plan_front *front, uint32_t number)
{
    bool found = false;
    for (uint32_t i = 0; i < front->count && !found; i++) {
        found = front->candidate[i] == number;
    }
    return found;
}

void kvc_plan_write_csv(const struct kvc_planned *planned, FILE *out)
{
    put_header(planned, out);
    for (uint32_t i = 0; i < planned->search.count; i++) {
        put_candidate(planned, i, is_on_front(&planned->front, i), out);
    }
}
