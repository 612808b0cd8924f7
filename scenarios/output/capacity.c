#include "scenarios/output/capacity.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/model.h"
#include "models/price.h"
#include "scenarios/output/accuracy.h"
#include "scenarios/output/json.h"
#include "scenarios/output/json_value.h"
#include "scenarios/output/table.h"
#include "sim/base/version.h"

const char *const kvc_capacity_latency_names[] = {"mean", "p50", "p95", "p99", "p999", NULL};

void kvc_capacity_free(struct kvc_capacity *capacity)
{
    free(capacity->point);
    capacity->point = NULL;
    capacity->count = 0;
}

/* The best point of a partial answer in which no load is served. */
static const struct kvc_capacity_point no_point = {
    .unserved_frac = NAN, .latency = {[0 ... KVC_CAPACITY_VALUES - 1] = {.mean = NAN, .half_width = NAN}}};

static const struct kvc_capacity_point *best_of(const struct kvc_capacity *capacity)
{
    return capacity->best < capacity->count ? &capacity->point[capacity->best] : &no_point;
}

static struct kvc_accuracy_kind kind_of(const struct kvc_capacity_report *report)
{
    struct kvc_accuracy_kind kind = kvc_accuracy_kind_of(report->loaded, KVC_ACCURACY_SIMULATION, false);
    kind.load = KVC_ACCURACY_CAPACITY;
    return kind;
}

/* Judges the scenario's objectives at the highest load that is served. A capacity knows neither hit ratio nor
 * watts. */
static struct kvc_slo_verdict verdict_of(const struct kvc_capacity_report *report)
{
    const struct kvc_capacity_point *point = best_of(report->capacity);
    const struct kvc_price price = kvc_scenario_price(&report->loaded->scenario);
    struct kvc_slo_values values = {
        .value = {[KVC_OBJECTIVE_P50] = point->latency[KVC_CAPACITY_P50].mean,
                  [KVC_OBJECTIVE_P95] = point->latency[KVC_CAPACITY_P95].mean,
                  [KVC_OBJECTIVE_P99] = point->latency[KVC_CAPACITY_P99].mean,
                  [KVC_OBJECTIVE_P999] = point->latency[KVC_CAPACITY_P999].mean,
                  [KVC_OBJECTIVE_MOPS] = report->capacity->mean_mops,
                  [KVC_OBJECTIVE_LOSS] = point->unserved_frac,
                  [KVC_OBJECTIVE_HIT] = NAN,
                  [KVC_OBJECTIVE_WATTS] = NAN,
                  [KVC_OBJECTIVE_PRICE] = kvc_price_whole_usd(&price)},
        .half_width = {[KVC_OBJECTIVE_P50] = point->latency[KVC_CAPACITY_P50].half_width,
                       [KVC_OBJECTIVE_P95] = point->latency[KVC_CAPACITY_P95].half_width,
                       [KVC_OBJECTIVE_P99] = point->latency[KVC_CAPACITY_P99].half_width,
                       [KVC_OBJECTIVE_P999] = point->latency[KVC_CAPACITY_P999].half_width,
                       [KVC_OBJECTIVE_MOPS] = (report->capacity->high_mops - report->capacity->low_mops) / 2},
        .window_margin_frac = NAN};
    memcpy(values.tenant_p99_us, &point->latency[KVC_CAPACITY_TENANT], sizeof(values.tenant_p99_us));
    return kvc_slo_verdict_of(&report->loaded->slo, &values);
}

/* Returns why the closed form has no capacity, as a sentence, or NULL if it has one. */
static const char *closed_form_note(const struct kvc_capacity *capacity)
{
    if (isfinite(capacity->closed_form_mops)) {
        return NULL;
    }
    if (!isfinite(capacity->closed_form_limit_mops)) {
        return "the closed form has no limit";
    }
    return isnan(capacity->point[0].closed_form.latency_us[capacity->bounds.latency])
               ? "the closed form does not know the bounded latency"
               : "the closed form meets the latency bound at no load";
}

static void write_number(double value, FILE *out)
{
    fputc(',', out);
    if (isfinite(value)) {
        fprintf(out, "%.12g", value);
    }
}

void kvc_capacity_write_csv(const struct kvc_capacity_report *report, FILE *out)
{
    const struct kvc_capacity *capacity = report->capacity;
    const struct kvc_slo *slo = &report->loaded->slo;
    fputs("offered_mops,share_frac,served,served_by,replicas,throughput_mops,throughput_ci95_mops,loss_frac,"
          "backlog_growth_frac",
          out);
    for (int i = 0; i < KVC_CAPACITY_LATENCIES; i++) {
        const char *name = kvc_capacity_latency_names[i];
        fprintf(out, ",latency_%s_us,latency_%s_ci95_us", name, name);
    }
    fputs(",closed_form_throughput_mops", out);
    for (int i = 0; i < KVC_CAPACITY_LATENCIES; i++) {
        fprintf(out, ",closed_form_latency_%s_us", kvc_capacity_latency_names[i]);
    }
    fputs(",warmup_s,duration_s,unserved_frac", out);
    for (uint32_t i = 0; i < kvc_slo_tenants(slo); i++) {
        const char *tenant = slo->workload->tenants[i].name;
        char value[KVC_TENANT_NAME_MAX], half_width[KVC_TENANT_NAME_MAX];
        kvc_tenant_value_name(tenant, "latency_p99_us", value);
        kvc_tenant_value_name(tenant, "latency_p99_ci95_us", half_width);
        fprintf(out, ",%s,%s", value, half_width);
    }
    fputc('\n', out);
    for (uint32_t i = 0; i < capacity->count; i++) {
        const struct kvc_capacity_point *point = &capacity->point[i];
        fprintf(out, "%.12g", point->offered_mops);
        write_number(point->share_frac, out);
        fprintf(out, ",%d,%u,%u", point->served, point->served_by, point->replicas);
        write_number(point->throughput.mean, out);
        write_number(point->throughput.half_width, out);
        write_number(point->loss_frac, out);
        write_number(point->growth_frac, out);
        for (int j = 0; j < KVC_CAPACITY_LATENCIES; j++) {
            write_number(point->latency[j].mean, out);
            write_number(point->latency[j].half_width, out);
        }
        write_number(point->closed_form.throughput_mops, out);
        for (int j = 0; j < KVC_CAPACITY_LATENCIES; j++) {
            write_number(point->closed_form.latency_us[j], out);
        }
        write_number(point->warmup_ns * 1e-9, out);
        write_number(point->duration_ns * 1e-9, out);
        write_number(point->unserved_frac, out);
        for (uint32_t j = 0; j < kvc_slo_tenants(slo); j++) {
            write_number(point->latency[KVC_CAPACITY_TENANT + j].mean, out);
            write_number(point->latency[KVC_CAPACITY_TENANT + j].half_width, out);
        }
        fputc('\n', out);
    }
}

/* Returns where the search was interrupted and what is known. */
static const char *describe_partial(const struct kvc_capacity *capacity, char text[KVC_NOTE_BYTES])
{
    char a[KVC_TABLE_DIGITS_TEXT], b[KVC_TABLE_DIGITS_TEXT];
    const char *low = kvc_table_digits(capacity->low_mops, a),
               *high = kvc_table_digits(capacity->high_mops, b);
    int length = snprintf(text, KVC_NOTE_BYTES, "interrupted in %s; the capacity ", capacity->interrupted_in);
    char *end = text + length;
    size_t left = KVC_NOTE_BYTES - (size_t)length;
    if (capacity->low_mops > 0 && !isnan(capacity->high_mops)) {
        snprintf(end, left, "lies in %s .. %s Mops", low, high);
    } else if (capacity->low_mops > 0) {
        snprintf(end, left, "is at least %s Mops, and nothing bounds it from above yet", low);
    } else if (!isnan(capacity->high_mops)) {
        snprintf(end, left, "is below %s Mops, and nothing bounds it from below yet", high);
    } else {
        snprintf(end, left, "has no bounds yet, because the replicas disagree");
    }
    return text;
}

static void write_capacity(const struct kvc_table *table, const struct kvc_capacity *capacity)
{
    const struct kvc_capacity_bounds *bounds = &capacity->bounds;
    char a[KVC_TABLE_DIGITS_TEXT], b[KVC_TABLE_DIGITS_TEXT], c[KVC_TABLE_DIGITS_TEXT];
    kvc_table_heading(table, "capacity");
    fprintf(table->out, "%s Mops  (%s .. %s)\n", kvc_table_digits(capacity->mean_mops, a),
            kvc_table_digits(capacity->low_mops, b), kvc_table_digits(capacity->high_mops, c));
    kvc_table_heading(table, "closed form");
    fprintf(table->out, "%s Mops", kvc_table_digits(capacity->closed_form_mops, a));
    if (bounds->bounds_latency) {
        fprintf(table->out, "   without the latency bound %s Mops",
                kvc_table_digits(capacity->closed_form_limit_mops, a));
    }
    const char *note = closed_form_note(capacity);
    fprintf(table->out, "%s%s%s\n", note != NULL ? "  (" : "", note != NULL ? note : "",
            note != NULL ? ")" : "");
    kvc_table_heading(table, "bounds");
    fprintf(table->out, "loss at most %g", bounds->loss_frac);
    if (bounds->bounds_latency) {
        fprintf(table->out, ", latency %s at most %g us", kvc_capacity_latency_names[bounds->latency],
                bounds->latency_us);
    }
    fprintf(table->out, "; precision %g\n", bounds->precision_frac);
}

/* Writes the heading or the values of the tenants that have objectives. NULL: the heading. */
static void write_tenants(const struct kvc_slo *slo, const struct kvc_capacity_point *point, FILE *out)
{
    char text[KVC_TABLE_DIGITS_TEXT];
    for (uint32_t i = 0; i < kvc_slo_tenants(slo); i++) {
        const char *tenant = slo->workload->tenants[i].name;
        if (isnan(kvc_slo_tenant_us(slo, i))) {
            continue;
        }
        if (point == NULL) {
            fprintf(out, "  p99 of %s", tenant);
        } else {
            fprintf(out, "%*s", (int)(strlen("  p99 of ") + strlen(tenant)),
                    kvc_table_digits(point->latency[KVC_CAPACITY_TENANT + i].mean, text));
        }
    }
}

static void write_points(const struct kvc_table *table, const struct kvc_capacity_report *report)
{
    const struct kvc_capacity *capacity = report->capacity;
    const struct kvc_slo *slo = &report->loaded->slo;
    fprintf(table->out, "\n%s%-10s%10s%10s%10s%10s%10s%10s%10s%10s%16s", table->bold, "offered", "served by",
            "Mops", "loss", "growth", "mean us", "p50", "p95", "p99", "closed form us");
    write_tenants(slo, NULL, table->out);
    fprintf(table->out, "%s\n", table->plain);
    for (uint32_t i = 0; i < capacity->count; i++) {
        const struct kvc_capacity_point *point = &capacity->point[i];
        char text[KVC_TABLE_DIGITS_TEXT], served[32];
        snprintf(served, sizeof(served), "%u of %u", point->served_by, point->replicas);
        fprintf(table->out, "%s%-10s", point->served ? "" : table->warn,
                kvc_table_digits(point->offered_mops, text));
        fprintf(table->out, "%10s", served);
        fprintf(table->out, "%10s", kvc_table_digits(point->throughput.mean, text));
        fprintf(table->out, "%10.2g%10.4f", point->loss_frac, point->growth_frac);
        for (int j = KVC_CAPACITY_MEAN; j <= KVC_CAPACITY_P99; j++) {
            fprintf(table->out, "%10s", kvc_table_digits(point->latency[j].mean, text));
        }
        fprintf(table->out, "%16s", kvc_table_digits(point->closed_form.latency_us[KVC_CAPACITY_MEAN], text));
        write_tenants(slo, point, table->out);
        fprintf(table->out, "%s\n", point->served ? "" : table->plain);
    }
}

void kvc_capacity_write_table(const struct kvc_capacity_report *report, bool color, FILE *out)
{
    const struct kvc_scenario *scenario = &report->loaded->scenario;
    const struct kvc_capacity *capacity = report->capacity;
    const struct kvc_capacity_point *best = best_of(capacity);
    struct kvc_table table = kvc_table_begin(out, color);
    fprintf(out, "%s%s%s  %s on %" PRIu64 " node%s, capacity\n\n", table.bold, scenario->name, table.plain,
            scenario->model->name, scenario->cluster.nodes, scenario->cluster.nodes == 1 ? "" : "s");
    if (capacity->interrupted_in[0] != '\0') {
        char text[KVC_NOTE_BYTES];
        kvc_table_heading(&table, "partial");
        fprintf(out, "%s%s%s\n", table.warn, describe_partial(capacity, text), table.plain);
    }
    write_capacity(&table, capacity);
    if (best->bottleneck_why[0] != '\0') {
        kvc_table_heading(&table, "bottleneck");
        fprintf(out, "at %g Mops: %s\n", best->offered_mops, best->bottleneck_why);
    }
    const struct kvc_slo_verdict verdict = verdict_of(report);
    kvc_slo_verdict_write(&verdict, "slo", table.warn, table.plain, out);
    const struct kvc_accuracy_kind kind = kind_of(report);
    kvc_accuracy_write_line(&kind, table.bold, table.plain, out);
    write_points(&table, report);
}

/* ---- capacity.json ---- */

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
    for (int i = 0; i < KVC_CAPACITY_LATENCIES; i++) {
        char name[KVC_NAME_MAX];
        snprintf(name, sizeof(name), "latency_%s_us", kvc_capacity_latency_names[i]);
        json_object_set_new(object, name, kvc_json_number(point->closed_form.latency_us[i]));
    }
    return object;
}

static json_t *tenants(const struct kvc_slo *slo, const struct kvc_capacity_point *point)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < kvc_slo_tenants(slo); i++) {
        const struct kvc_interval *p99_us = &point->latency[KVC_CAPACITY_TENANT + i];
        enum kvc_slo_state state = kvc_judged_tenant(slo, i, p99_us).state;
        json_t *object = json_object();
        json_object_set_new(object, "name", kvc_json_text(slo->workload->tenants[i].name));
        json_object_set_new(object, "latency_p99_us", interval(p99_us));
        json_object_set_new(object, "p99_at_most_us", kvc_json_number(kvc_slo_tenant_us(slo, i)));
        json_object_set_new(object, "met",
                            state == KVC_SLO_UNKNOWN ? json_null() : json_boolean(state == KVC_SLO_MET));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *points(const struct kvc_capacity_report *report)
{
    const struct kvc_capacity *capacity = report->capacity;
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
        json_object_set_new(object, "unserved_frac", kvc_json_number(point->unserved_frac));
        json_object_set_new(object, "latency_us", latencies(point));
        json_object_set_new(object, "warmup_s", kvc_json_number(point->warmup_ns * 1e-9));
        json_object_set_new(object, "duration_s", kvc_json_number(point->duration_ns * 1e-9));
        json_object_set_new(object, "closed_form", closed_form(point));
        if (kvc_slo_tenants(&report->loaded->slo) > 0) {
            json_object_set_new(object, "tenants", tenants(&report->loaded->slo, point));
        }
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
    const struct kvc_capacity_point *point = best_of(capacity);
    json_t *object = json_object();
    json_object_set_new(object, "stage", kvc_json_text_or_null(point->bottleneck_stage));
    json_object_set_new(object, "device", kvc_json_text_or_null(point->bottleneck_device));
    json_object_set_new(object, "why", kvc_json_text_or_null(point->bottleneck_why));
    return object;
}

static json_t *notes(const struct kvc_capacity_report *report)
{
    json_t *array = json_array();
    char text[KVC_NOTE_BYTES];
    if (report->capacity->interrupted_in[0] != '\0') {
        json_array_append_new(array, kvc_json_text_or_null(describe_partial(report->capacity, text)));
    }
    for (uint32_t i = 0; i < report->loaded->warning_count; i++) {
        json_array_append_new(array, kvc_json_text_or_null(report->loaded->warning[i]));
    }
    if (closed_form_note(report->capacity) != NULL) {
        json_array_append_new(array, kvc_json_text_or_null(closed_form_note(report->capacity)));
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
    if (capacity->interrupted_in[0] != '\0') {
        json_object_set_new(object, "partial", json_true());
    }
    json_object_set_new(object, "capacity_mops", capacity_mops(capacity));
    json_object_set_new(object, "closed_form_mops", kvc_json_number(capacity->closed_form_mops));
    json_object_set_new(object, "closed_form_limit_mops", kvc_json_number(capacity->closed_form_limit_mops));
    json_object_set_new(object, "loss_bound_frac", kvc_json_number(capacity->bounds.loss_frac));
    json_object_set_new(object, "latency_bound", latency_bound(&capacity->bounds));
    json_object_set_new(object, "precision_frac", kvc_json_number(capacity->bounds.precision_frac));
    json_object_set_new(object, "bottleneck", bottleneck(capacity));
    const struct kvc_slo_verdict verdict = verdict_of(report);
    json_t *slo = kvc_slo_verdict_json(&verdict);
    if (slo != NULL) {
        json_object_set_new(object, "slo", slo);
    }
    const struct kvc_accuracy_kind kind = kind_of(report);
    json_object_set_new(object, "accuracy", kvc_accuracy_json(&kind));
    json_object_set_new(object, "points", points(report));
    json_object_set_new(object, "notes", notes(report));
    json_object_set_new(object, "parameters", kvc_json_values(&report->loaded->parameters));
    json_object_set_new(object, "provenance", kvc_json_sources(&report->loaded->provenance));
    return object;
}

enum kvc_status kvc_capacity_write_json(const struct kvc_capacity_report *report, FILE *out,
                                        struct kvc_diag *diag)
{
    json_t *object = document(report);
    enum kvc_status status = kvc_json_write_document(object, "capacity", out, diag);
    json_decref(object);
    return status;
}
