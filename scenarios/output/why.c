#include "scenarios/output/why.h"

#include <math.h>
#include <string.h>

#include "models/model.h"
#include "plots/document.h"
#include "scenarios/output/json.h"
#include "scenarios/output/json_value.h"
#include "scenarios/output/table.h"
#include "sim/base/version.h"

/* Members of a resource, by enum kvc_relief_value. */
static const char *const values[KVC_RELIEF_VALUES] = {"throughput", "latency_mean", "latency_p99"};

/* Share of the requests beyond the 99th percentile. */
static const double SLOWEST_FRAC = 0.01;

/* ---- the document ---- */

static json_t *resources(const struct kvc_why *why)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < why->count; i++) {
        const struct kvc_relief *relief = &why->relief[i];
        json_t *object = json_object();
        json_object_set_new(object, "resource", kvc_json_text(relief->resource));
        json_object_set_new(object, "device", kvc_json_text(relief->device));
        json_object_set_new(object, "utilization_frac", kvc_json_number(relief->utilization_frac));
        for (int j = 0; j < KVC_RELIEF_VALUES; j++) {
            json_t *change = json_object();
            json_object_set_new(change, "change_frac", kvc_json_number(relief->change_frac[j].mean));
            json_object_set_new(change, "ci95_frac", kvc_json_number(relief->change_frac[j].half_width));
            json_object_set_new(object, values[j], change);
        }
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *stages(const struct kvc_outcome *outcome)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < outcome->result.stage_count; i++) {
        const struct kvc_stage_result *stage = &outcome->result.stage[i];
        json_t *object = json_object();
        char name[KVC_VALUE_NAME_MAX];
        kvc_value_name("stages", stage->name, "mean_us", name);
        json_object_set_new(object, "stage", kvc_json_text(stage->name));
        json_object_set_new(object, "device", kvc_json_text(stage->device));
        json_object_set_new(object, "utilization_frac", kvc_json_number(stage->utilization_frac));
        json_object_set_new(object, "mean_us", kvc_json_number(stage->mean_us));
        json_object_set_new(object, "mean_ci95_us",
                            kvc_json_number(kvc_outcome_interval(outcome, name).half_width));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *path(const struct kvc_paths *paths)
{
    double mean_us[KVC_PATHS_PARTS_MAX], slowest_us[KVC_PATHS_PARTS_MAX], mean_sum_us = 0, slowest_sum_us = 0;
    double requests = kvc_paths_slowest(paths, 1, mean_us);
    double slowest = kvc_paths_slowest(paths, SLOWEST_FRAC, slowest_us);
    if (requests == 0) {
        return json_null();
    }
    for (uint32_t i = 0; i < paths->parts; i++) {
        mean_sum_us += mean_us[i];
        slowest_sum_us += slowest_us[i];
    }
    json_t *object = json_object(), *parts = json_array();
    for (uint32_t i = 0; i < paths->parts; i++) {
        json_t *part = json_object();
        json_object_set_new(part, "part", kvc_json_text(paths->name[i]));
        json_object_set_new(part, "mean_us", kvc_json_number(mean_us[i]));
        json_object_set_new(part, "mean_frac", kvc_json_number(mean_us[i] / mean_sum_us));
        json_object_set_new(part, "slowest_us", kvc_json_number(slowest_us[i]));
        json_object_set_new(part, "slowest_frac", kvc_json_number(slowest_us[i] / slowest_sum_us));
        json_array_append_new(parts, part);
    }
    json_object_set_new(object, "requests", kvc_json_number(requests));
    json_object_set_new(object, "slowest_requests", kvc_json_number(slowest));
    json_object_set_new(object, "parts", parts);
    json_object_set_new(object, "mean_us", kvc_json_number(mean_sum_us));
    json_object_set_new(object, "slowest_us", kvc_json_number(slowest_sum_us));
    return object;
}

static json_t *notes(const struct kvc_why *why)
{
    json_t *list = json_array();
    const struct kvc_result *result = &why->outcome->result;
    if (why->note != NULL) {
        json_array_append_new(list, kvc_json_text(why->note));
    }
    if (result->paths.parts == 0) {
        json_array_append_new(
            list, kvc_json_text(why->answer == KVC_ACCURACY_CLOSED_FORM
                                    ? "the closed form knows no single requests: what each stage adds to the "
                                      "99th percentile is unknown"
                                    : "with a database behind the store, the simulation records no time of a "
                                      "request in each part: what each stage adds to the latency is unknown, "
                                      "and the gains say which resources it depends on"));
    }
    for (uint32_t i = 0; i < result->note_count; i++) {
        json_array_append_new(list, kvc_json_text(result->note[i]));
    }
    return list;
}

static json_t *latency(const struct kvc_outcome *outcome)
{
    const struct kvc_result *result = &outcome->result;
    json_t *object = json_object();
    json_object_set_new(object, "mean", kvc_json_number(kvc_result_latency_mean_us(result)));
    json_object_set_new(object, "mean_ci95",
                        kvc_json_number(kvc_outcome_interval(outcome, "latency_mean_us").half_width));
    json_object_set_new(object, "p99", kvc_json_number(kvc_result_latency_percentile_us(result, 0.99)));
    json_object_set_new(object, "p99_ci95",
                        kvc_json_number(kvc_outcome_interval(outcome, "latency_p99_us").half_width));
    return object;
}

json_t *kvc_why_json(const struct kvc_why *why)
{
    const struct kvc_scenario *scenario = &why->loaded->scenario;
    const struct kvc_result *result = &why->outcome->result;
    const struct kvc_interval throughput = kvc_outcome_interval(why->outcome, "throughput_mops");
    const struct kvc_accuracy_kind kind = kvc_accuracy_kind_of(why->loaded, why->answer, false);
    json_t *document = json_object(), *bottleneck = json_object(), *mops = json_object();
    json_object_set_new(bottleneck, "stage", kvc_json_text_or_null(result->bottleneck_stage));
    json_object_set_new(bottleneck, "device", kvc_json_text_or_null(result->bottleneck_device));
    json_object_set_new(bottleneck, "why", kvc_json_text_or_null(result->bottleneck_why));
    json_object_set_new(mops, "mean", kvc_json_number(throughput.mean));
    json_object_set_new(mops, "ci95", kvc_json_number(throughput.half_width));
    json_object_set_new(document, "schema", kvc_json_text("kvcast.why/1"));
    json_object_set_new(document, "version", kvc_json_text(kvc_version));
    json_object_set_new(document, "name", kvc_json_text(why->name));
    json_object_set_new(document, "scenario", kvc_json_text(scenario->name));
    json_object_set_new(document, "system", kvc_json_text(scenario->model->name));
    json_object_set_new(document, "seed", kvc_json_count(scenario->run.seed));
    json_object_set_new(document, "replicas", kvc_json_count(why->outcome->replicas));
    json_object_set_new(document, "answer", kvc_json_text(kvc_accuracy_answers[why->answer]));
    json_object_set_new(document, "bottleneck", bottleneck);
    json_object_set_new(document, "throughput_mops", mops);
    json_object_set_new(document, "latency_us", latency(why->outcome));
    json_object_set_new(document, "resources", resources(why));
    json_object_set_new(document, "stages", stages(why->outcome));
    json_object_set_new(document, "path", path(&result->paths));
    json_object_set_new(document, "accuracy", kvc_accuracy_json(&kind));
    json_object_set_new(document, "notes", notes(why));
    json_object_set_new(document, "parameters", kvc_json_values(&why->loaded->parameters));
    json_object_set_new(document, "provenance", kvc_json_sources(&why->loaded->provenance));
    return document;
}

/* ---- CSV ---- */

/* Writes a name in quotes, which part names with commas need. */
static void write_name(const char *kind, const json_t *entry, FILE *out)
{
    fprintf(out, "%s,\"%s\"", kind, json_string_value(json_object_get(entry, kind)));
    const char *device = json_string_value(json_object_get(entry, "device"));
    fprintf(out, ",%s", device != NULL ? device : "");
}

static void write_cell(const json_t *object, const char *key, FILE *out)
{
    double value = kvc_document_number(object, key);
    fprintf(out, isnan(value) ? "," : ",%.12g", value);
}

void kvc_why_write_csv(const json_t *why, FILE *out)
{
    const json_t *entry;
    size_t i;
    fputs("kind,name,device,utilization_frac,throughput_frac,throughput_ci95_frac,latency_mean_frac,"
          "latency_mean_ci95_frac,latency_p99_frac,latency_p99_ci95_frac,mean_us,slowest_us\n",
          out);
    json_array_foreach(json_object_get(why, "resources"), i, entry)
    {
        write_name("resource", entry, out);
        write_cell(entry, "utilization_frac", out);
        for (int j = 0; j < KVC_RELIEF_VALUES; j++) {
            write_cell(json_object_get(entry, values[j]), "change_frac", out);
            write_cell(json_object_get(entry, values[j]), "ci95_frac", out);
        }
        fputs(",,\n", out);
    }
    json_array_foreach(json_object_get(why, "stages"), i, entry)
    {
        write_name("stage", entry, out);
        write_cell(entry, "utilization_frac", out);
        fputs(",,,,,,", out);
        write_cell(entry, "mean_us", out);
        fputs(",\n", out);
    }
    json_array_foreach(json_object_get(json_object_get(why, "path"), "parts"), i, entry)
    {
        write_name("part", entry, out);
        fputs(",,,,,,,", out);
        write_cell(entry, "mean_us", out);
        write_cell(entry, "slowest_us", out);
        fputc('\n', out);
    }
}

/* ---- table ---- */

/* Writes a value with its interval, or "-". */
static void write_interval(const json_t *object, const char *mean, const char *ci95, FILE *out)
{
    double value = kvc_document_number(object, mean), half_width = kvc_document_number(object, ci95);
    if (isnan(value)) {
        fputc('-', out);
        return;
    }
    fprintf(out, "%.4g", value);
    if (!isnan(half_width)) {
        fprintf(out, " +- %.2g", half_width);
    }
}

/* Writes a change, marked where it is more than chance. */
static void write_change(const struct kvc_table *table, const json_t *change, bool is_exact)
{
    double frac = kvc_document_number(change, "change_frac"),
           half_width = kvc_document_number(change, "ci95_frac");
    char cell[64];
    if (isnan(frac)) {
        snprintf(cell, sizeof(cell), "-");
    } else if (isnan(half_width)) {
        snprintf(cell, sizeof(cell), "%+.2f %%", fabs(frac) < 5e-5 ? 0 : 100 * frac);
    } else {
        snprintf(cell, sizeof(cell), "%+.2f +- %.2f %%", fabs(frac) < 5e-5 ? 0 : 100 * frac,
                 100 * half_width);
    }
    bool is_sure = fabs(frac) >= 5e-4 && (is_exact || fabs(frac) > half_width);
    fprintf(table->out, "%s%20s%s", is_sure ? table->warn : "", cell, is_sure ? table->plain : "");
}

static void write_resources(const struct kvc_table *table, const json_t *why)
{
    const json_t *entry, *list = json_object_get(why, "resources");
    bool is_exact =
        strcmp(kvc_document_text(why, "answer"), kvc_accuracy_answers[KVC_ACCURACY_CLOSED_FORM]) == 0;
    size_t i;
    if (json_array_size(list) == 0) {
        return;
    }
    fprintf(table->out, "\n%s%-14s%-8s%12s%20s%20s%20s%s\n", table->bold, "5 % faster", "device",
            "utilisation", "throughput", "mean latency", "p99 latency", table->plain);
    json_array_foreach(list, i, entry)
    {
        double busy_frac = kvc_document_number(entry, "utilization_frac");
        fprintf(table->out, "%-14s%-8s", kvc_document_text(entry, "resource"),
                kvc_document_text(entry, "device"));
        if (isnan(busy_frac)) {
            fprintf(table->out, "%12s", "-");
        } else {
            fprintf(table->out, "%10.1f %%", 100 * busy_frac);
        }
        for (int j = 0; j < KVC_RELIEF_VALUES; j++) {
            write_change(table, json_object_get(entry, values[j]), is_exact);
        }
        fputc('\n', table->out);
    }
}

static void write_path(const struct kvc_table *table, const json_t *why)
{
    const json_t *way = json_object_get(why, "path"), *entry;
    size_t i;
    if (!json_is_object(way)) {
        return;
    }
    fprintf(table->out, "\n%s%-24s%12s%10s%20s%10s%s\n", table->bold, "a request is in", "mean us", "share",
            "slowest 1 % us", "share", table->plain);
    json_array_foreach(json_object_get(way, "parts"), i, entry)
    {
        fprintf(table->out, "%-24s%12.4g%8.1f %%%20.4g%8.1f %%\n", kvc_document_text(entry, "part"),
                kvc_document_number(entry, "mean_us"), 100 * kvc_document_number(entry, "mean_frac"),
                kvc_document_number(entry, "slowest_us"), 100 * kvc_document_number(entry, "slowest_frac"));
    }
    fprintf(table->out, "%-24s%12.4g%10s%20.4g%10s  (of %.0f and %.0f requests)\n", "in all",
            kvc_document_number(way, "mean_us"), "", kvc_document_number(way, "slowest_us"), "",
            kvc_document_number(way, "requests"), kvc_document_number(way, "slowest_requests"));
}

static void write_stages(const struct kvc_table *table, const json_t *why)
{
    const json_t *entry;
    size_t i;
    fprintf(table->out, "\n%s%-14s%-8s%12s%20s%s\n", table->bold, "stage", "device", "utilisation", "mean us",
            table->plain);
    json_array_foreach(json_object_get(why, "stages"), i, entry)
    {
        double busy_frac = kvc_document_number(entry, "utilization_frac"),
               us = kvc_document_number(entry, "mean_us");
        char busy[32], mean[32];
        snprintf(busy, sizeof(busy), isnan(busy_frac) ? "-" : "%.1f %%", 100 * busy_frac);
        snprintf(mean, sizeof(mean), isnan(us) ? "-" : "%.4g", us);
        fprintf(table->out, "%-14s%-8s%12s%20s\n", kvc_document_text(entry, "stage"),
                kvc_document_text(entry, "device"), busy, mean);
    }
}

/* Returns the place of a name in a list of `count`, which has it. */
static int place_of(const char *name, const char *const *list, int count)
{
    int place = 0;
    while (place < count - 1 && strcmp(list[place], name) != 0) {
        place++;
    }
    return place;
}

/* Returns the rule by which a device's costs were carried over; NULL: they were measured. */
static const char *carried_rule(const json_t *accuracy, const char *device)
{
    const json_t *entry;
    size_t i;
    json_array_foreach(json_object_get(accuracy, "carried_over"), i, entry)
    {
        if (strcmp(kvc_document_text(entry, "device"), device) == 0) {
            return kvc_document_text(entry, "rule");
        }
    }
    return NULL;
}

static void write_accuracy(const struct kvc_table *table, const json_t *why)
{
    const json_t *accuracy = json_object_get(why, "accuracy");
    const char *load = kvc_document_text(accuracy, "load");
    const struct kvc_accuracy_kind kind = {
        kvc_document_text(why, "system"),
        (enum kvc_accuracy_answer)place_of(kvc_document_text(why, "answer"), kvc_accuracy_answers,
                                           KVC_ACCURACY_ANSWERS),
        (enum kvc_accuracy_load)place_of(load, kvc_accuracy_loads, KVC_ACCURACY_LOADS),
        carried_rule(accuracy, "gpu"), carried_rule(accuracy, "cpu")};
    kvc_accuracy_write_line(&kind, table->bold, table->plain, table->out);
}

void kvc_why_write_table(const json_t *why, bool color, FILE *out)
{
    struct kvc_table table = kvc_table_begin(out, color);
    const json_t *bottleneck = json_object_get(why, "bottleneck"), *note;
    size_t i;
    fprintf(out, "%s%s%s  %s, %s", table.bold, kvc_document_text(why, "scenario"), table.plain,
            kvc_document_text(why, "system"), kvc_document_text(why, "answer"));
    if (kvc_document_number(why, "replicas") > 0) {
        fprintf(out, ", %.0f replicas", kvc_document_number(why, "replicas"));
    }
    fputs("\n\n", out);
    kvc_table_heading(&table, "binds");
    fprintf(out, "%s (%s): %s\n", kvc_document_text(bottleneck, "stage"),
            kvc_document_text(bottleneck, "device"), kvc_document_text(bottleneck, "why"));
    kvc_table_heading(&table, "throughput");
    write_interval(json_object_get(why, "throughput_mops"), "mean", "ci95", out);
    fputs(" Mops\n", out);
    kvc_table_heading(&table, "latency");
    fputs("mean ", out);
    write_interval(json_object_get(why, "latency_us"), "mean", "mean_ci95", out);
    fputs("   p99 ", out);
    write_interval(json_object_get(why, "latency_us"), "p99", "p99_ci95", out);
    fputs(" us\n", out);
    write_accuracy(&table, why);
    write_resources(&table, why);
    write_path(&table, why);
    write_stages(&table, why);
    json_array_foreach(json_object_get(why, "notes"), i, note)
    {
        fprintf(out, "%s%s%s%s\n", i == 0 ? "\n" : "", table.warn, json_string_value(note), table.plain);
    }
}
