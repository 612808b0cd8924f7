#include "scenarios/output/compared/pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/model.h"
#include "plots/document.h"
#include "scenarios/output/json.h"
#include "scenarios/output/json_value.h"
#include "scenarios/output/table.h"
#include "sim/base/version.h"

static void put(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, kvc_json_number(value));
}

/* A disturbance of pairs that is worth a note. */
static const double noted_frac = 0.1;

static json_t *side_json(const struct kvc_loaded *loaded)
{
    json_t *side = json_object();
    json_object_set_new(side, "scenario", kvc_json_text(loaded->scenario.name));
    json_object_set_new(side, "system", kvc_json_text(loaded->scenario.model->name));
    json_object_set_new(side, "seed", kvc_json_count(loaded->scenario.run.seed));
    return side;
}

/* Returns the parameters of which both stores have another value, or only one has any. */
static json_t *differing(const struct kvc_loaded *const loaded[2])
{
    json_t *of[2] = {kvc_json_values(&loaded[0]->parameters), kvc_json_values(&loaded[1]->parameters)};
    json_t *list = json_array(), *value;
    const char *path;
    for (int side = 0; side < 2; side++) {
        json_object_foreach(of[side], path, value)
        {
            json_t *a = json_object_get(of[0], path), *b = json_object_get(of[1], path);
            if (json_equal(a, b) || (side == 1 && a != NULL)) {
                continue;
            }
            json_t *entry = json_object(), *values = json_array();
            json_array_append_new(values, a != NULL ? json_incref(a) : json_null());
            json_array_append_new(values, b != NULL ? json_incref(b) : json_null());
            json_object_set_new(entry, "path", json_string(path));
            json_object_set_new(entry, "values", values);
            json_array_append_new(list, entry);
        }
    }
    json_decref(of[0]);
    json_decref(of[1]);
    return list;
}

static json_t *machine_json(const struct kvc_pair_result *result)
{
    json_t *machine = json_object();
    put(machine, "core_speed_steps_per_ns", result->core_speed_steps_per_ns);
    put(machine, "memory_line_ns", result->memory.line_ns);
    put(machine, "memory_latency_ns", result->memory.latency_ns);
    put(machine, "memory_bytes_per_s", result->memory.bytes_per_s);
    put(machine, "memory_handoff_ns", result->memory.handoff_ns);
    json_t *lines = json_array();
    for (uint32_t core = 0; core < result->cores; core++) {
        json_array_append_new(lines, kvc_json_number(result->core_line_ns[core]));
    }
    json_object_set_new(machine, "core_line_ns", lines);
    put(machine, "stalled_frac", result->stalled_frac);
    put(machine, "others_frac", result->others_frac);
    put(machine, "disturbed_frac", result->disturbed_frac);
    return machine;
}

json_t *kvc_pair_json(const struct kvc_loaded *const loaded[2], const struct kvc_pair_result *result)
{
    json_t *pair = json_object(), *metrics = json_array(), *notes = json_array();
    json_object_set_new(pair, "schema", json_string("kvcast.pair/1"));
    json_object_set_new(pair, "version", kvc_json_text(kvc_version));
    json_object_set_new(pair, "a", side_json(loaded[0]));
    json_object_set_new(pair, "b", side_json(loaded[1]));
    json_object_set_new(pair, "parameters", differing(loaded));
    json_object_set_new(pair, "pairs", kvc_json_count(result->pairs));
    json_object_set_new(pair, "counted_pairs", kvc_json_count(result->counted));
    for (int m = 0; m < KVC_PAIR_METRICS; m++) {
        const struct kvc_pair_reading *reading = &result->reading[m];
        json_t *metric = json_object();
        json_object_set_new(metric, "name", json_string(kvc_pair_metric_names[m]));
        put(metric, "a", reading->a);
        put(metric, "b", reading->b);
        put(metric, "ratio", reading->ratio);
        put(metric, "low", reading->low);
        put(metric, "high", reading->high);
        json_array_append_new(metrics, metric);
    }
    json_object_set_new(pair, "metrics", metrics);
    json_object_set_new(pair, "machine", machine_json(result));
    if (result->disturbed_frac > noted_frac) {
        char text[160];
        snprintf(text, sizeof(text),
                 "the machine disturbed half of the pairs by %.0f %% and more: the intervals are wide",
                 100 * result->disturbed_frac);
        json_array_append_new(notes, kvc_json_text(text));
    }
    if (isnan(result->reading[KVC_PAIR_THROUGHPUT].ratio)) {
        json_array_append_new(
            notes,
            kvc_json_text(
                "no metric has a reading: in fewer than six of the pairs that count, both stores answered"));
    }
    json_object_set_new(pair, "notes", notes);
    return pair;
}

void kvc_pair_write_csv(const json_t *pair, FILE *out)
{
    static const char *const keys[] = {"a", "b", "ratio", "low", "high"};
    const json_t *metric;
    size_t index;
    fputs("metric,a,b,ratio,low,high\n", out);
    json_array_foreach(json_object_get(pair, "metrics"), index, metric)
    {
        fputs(kvc_document_text(metric, "name"), out);
        for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
            const json_t *value = json_object_get(metric, keys[i]);
            fprintf(out, json_is_number(value) ? ",%.12g" : ",", json_number_value(value));
        }
        fputc('\n', out);
    }
}

static void write_sides(const struct kvc_table *table, const json_t *pair)
{
    static const char *const keys[] = {"a", "b"};
    const json_t *parameter;
    size_t index;
    for (int side = 0; side < 2; side++) {
        const json_t *of = json_object_get(pair, keys[side]);
        fprintf(table->out, "%s%c%s  %s (%s)\n", table->bold, 'A' + side, table->plain,
                kvc_document_text(of, "scenario"), kvc_document_text(of, "system"));
    }
    json_array_foreach(json_object_get(pair, "parameters"), index, parameter)
    {
        fprintf(table->out, "   %s:", kvc_document_text(parameter, "path"));
        for (size_t side = 0; side < 2; side++) {
            const json_t *value = json_array_get(json_object_get(parameter, "values"), side);
            char *text = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY);
            const char *shown = text != NULL ? text : json_string_value(value);
            fprintf(table->out, " %s%s", strcmp(shown, "null") == 0 ? "-" : shown,
                    side == 0 ? " against" : "\n");
            free(text);
        }
    }
}

void kvc_pair_write_table(const json_t *pair, bool color, FILE *out)
{
    static const char *const labels[KVC_PAIR_METRICS] = {
        "throughput [Mops]", "latency mean [us]", "latency p99 [us]", "search [us]",
        "insert [us]",       "jobs a search",     "jobs an insert",   "1000 requests / J"};
    const struct kvc_table table = kvc_table_begin(out, color);
    const json_t *metric, *note;
    char a[KVC_TABLE_DIGITS_TEXT], b[KVC_TABLE_DIGITS_TEXT];
    size_t index;
    write_sides(&table, pair);
    fprintf(out, "\n%s%-20s %10s %10s %9s   95 %% interval%s\n", table.bold, "", "A", "B", "B / A",
            table.plain);
    json_array_foreach(json_object_get(pair, "metrics"), index, metric)
    {
        if (json_is_null(json_object_get(metric, "ratio"))) {
            continue;
        }
        double low = kvc_document_number(metric, "low"), high = kvc_document_number(metric, "high");
        bool differs = low > 1 || high < 1;
        fprintf(out, "%-20s %10s %10s %s%9.4f%s   %.4f to %.4f%s\n", labels[index],
                kvc_table_digits(kvc_document_number(metric, "a"), a),
                kvc_table_digits(kvc_document_number(metric, "b"), b), differs ? table.bold : "",
                kvc_document_number(metric, "ratio"), differs ? table.plain : "", low, high,
                differs ? "" : "   (no difference shown)");
    }
    fprintf(out, "\n%.0f of %.0f pairs of turns count, half of them disturbed by %.1f %% or more\n",
            kvc_document_number(pair, "counted_pairs"), kvc_document_number(pair, "pairs"),
            100 * kvc_document_number(json_object_get(pair, "machine"), "disturbed_frac"));
    json_array_foreach(json_object_get(pair, "notes"), index, note)
    {
        fprintf(out, "note: %s\n", json_string_value(note));
    }
}
