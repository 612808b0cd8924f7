#include "scenarios/output/compared/compare.h"

#include <math.h>
#include <string.h>

#include "plots/document.h"
#include "scenarios/output/json_value.h"
#include "sim/base/version.h"

/* Where a metric stands in a result. */
struct place {
    const char *name;            /* Ends in the unit. */
    const char *label;           /* Name for people. */
    const char *object;          /* Member of the document. */
    const char *mean, *interval; /* Members of the object; interval NULL: the mean is exact. */
    bool is_total;               /* A sum over devices, some of which may be unknown. */
};

static const struct place places[] = {
    {"throughput_mops", "throughput, Mops", "throughput_mops", "mean", "ci95", false},
    {"latency_mean_us", "latency mean, us", "latency_us", "mean", "ci95", false},
    {"hit_frac", "hit ratio", "requests", "hit_frac", "hit_ci95_frac", false},
    {"lost_frac", "lost requests", "requests", "lost_frac", "lost_ci95_frac", false},
    {"watts_mean", "power, W", "energy", "watts_mean", "watts_mean_ci95", true},
    {"kops_per_watt", "efficiency, kops/W", "energy", "kops_per_watt", "kops_per_watt_ci95", false},
    {"price_usd", "price, USD", "price", "usd", NULL, true},
};

enum { PLACES = sizeof(places) / sizeof(*places) };

/* The latency percentiles that are compared. */
static const struct {
    double p;
    const char *name, *label;
} percentiles[] = {{0.5, "latency_p50_us", "latency p50, us"},
                   {0.95, "latency_p95_us", "latency p95, us"},
                   {0.99, "latency_p99_us", "latency p99, us"},
                   {0.999, "latency_p999_us", "latency p99.9, us"}};

enum { PERCENTILES = sizeof(percentiles) / sizeof(*percentiles) };

/* A value with half the width of its interval; NaN: unknown. */
struct value {
    double mean, half_width;
};

struct comparing {
    const struct kvc_compared *result;
    uint32_t count;
    json_t *metrics, *notes;
};

static json_t *difference(const struct value *first, const struct value *other, bool comparable)
{
    json_t *object = json_object();
    double change = other->mean - first->mean, half_width = hypot(first->half_width, other->half_width);
    const char *verdict = change == 0                    ? "same"
                          : !(fabs(change) >= 0)         ? NULL
                          : !(half_width >= 0)           ? NULL
                          : !(fabs(change) > half_width) ? "same"
                          : change > 0                   ? "higher"
                                                         : "lower";
    json_object_set_new(object, "change", kvc_json_number(change));
    json_object_set_new(object, "ci95", kvc_json_number(half_width));
    json_object_set_new(object, "change_frac",
                        kvc_json_number(first->mean != 0 ? change / fabs(first->mean) : NAN));
    json_object_set_new(object, "verdict",
                        verdict != NULL && comparable ? json_string(verdict) : json_null());
    return object;
}

/* Adds a metric unless no result has it. */
static void add_metric(struct comparing *comparing, const char *name, const char *label,
                       const struct value *value, bool comparable)
{
    json_t *values = json_array(), *differences = json_array(), *metric = json_object();
    bool known = false;
    for (uint32_t i = 0; i < comparing->count; i++) {
        known |= !isnan(value[i].mean);
        json_array_append_new(values, json_pack("{s:o, s:o}", "mean", kvc_json_number(value[i].mean), "ci95",
                                                kvc_json_number(value[i].half_width)));
        if (i > 0) {
            json_array_append_new(differences, difference(&value[0], &value[i], comparable));
        }
    }
    json_object_set_new(metric, "name", kvc_json_text(name));
    json_object_set_new(metric, "label", kvc_json_text_or_null(label));
    json_object_set_new(metric, "values", values);
    json_object_set_new(metric, "differences", differences);
    if (known) {
        json_array_append(comparing->metrics, metric);
    }
    json_decref(metric);
}

/* Notes which devices a total lacks. */
static void note_missing(struct comparing *comparing, const struct place *place, const json_t *missing)
{
    char note[256];
    const char *device;
    json_t *ignored;
    int length =
        snprintf(note, sizeof(note), "%s: not judged, because not all devices state theirs", place->label);
    json_object_foreach((json_t *)missing, device, ignored)
    {
        if (length < (int)sizeof(note) - 32) {
            length += snprintf(note + length, sizeof(note) - (size_t)length, "%s%.20s",
                               strchr(note, '(') != NULL ? ", " : " (", device);
        }
    }
    snprintf(note + length, sizeof(note) - (size_t)length, strchr(note, '(') != NULL ? ")" : "");
    json_array_append_new(comparing->notes, kvc_json_text(note));
}

static void add_place(struct comparing *comparing, const struct place *place)
{
    struct value value[KVC_COMPARED_MAX];
    json_t *missing = json_object();
    for (uint32_t i = 0; i < comparing->count; i++) {
        const json_t *object = json_object_get(comparing->result[i].document, place->object), *device;
        size_t j;
        value[i] = (struct value){kvc_document_number(object, place->mean),
                                  place->interval != NULL ? kvc_document_number(object, place->interval) : 0};
        json_array_foreach(json_object_get(object, "missing"), j, device)
        {
            if (place->is_total && json_is_string(device)) {
                json_object_set_new(missing, json_string_value(device), json_true());
            }
        }
    }
    bool complete = json_object_size(missing) == 0;
    if (!complete) {
        note_missing(comparing, place, missing);
    }
    for (uint32_t i = 0; i < comparing->count; i++) {
        value[i].mean = complete || value[i].mean != 0 ? value[i].mean : NAN; /* None states its own. */
    }
    add_metric(comparing, place->name, place->label, value, complete);
    json_decref(missing);
}

static struct value percentile_of(const json_t *document, double p)
{
    const json_t *list = json_object_get(json_object_get(document, "latency_us"), "percentiles"), *entry;
    size_t i;
    json_array_foreach(list, i, entry)
    {
        if (kvc_document_number(entry, "p") == p) {
            return (struct value){kvc_document_number(entry, "us"), kvc_document_number(entry, "ci95")};
        }
    }
    return (struct value){NAN, NAN};
}

static void add_percentiles(struct comparing *comparing)
{
    struct value value[KVC_COMPARED_MAX];
    for (int i = 0; i < PERCENTILES; i++) {
        for (uint32_t j = 0; j < comparing->count; j++) {
            value[j] = percentile_of(comparing->result[j].document, percentiles[i].p);
        }
        add_metric(comparing, percentiles[i].name, percentiles[i].label, value, true);
    }
}

/* Writes the name of a stage's utilization. */
static const char *stage_name(const json_t *stage, char name[128])
{
    snprintf(name, 128, "stage.%s.%s.utilization_frac", kvc_document_text(stage, "name"),
             kvc_document_text(stage, "device"));
    return name;
}

static struct value utilization_of(const json_t *document, const char *wanted)
{
    const json_t *stage;
    char name[128];
    size_t i;
    json_array_foreach(json_object_get(document, "stages"), i, stage)
    {
        if (strcmp(stage_name(stage, name), wanted) == 0) {
            return (struct value){kvc_document_number(stage, "utilization_frac"),
                                  kvc_document_number(stage, "utilization_ci95_frac")};
        }
    }
    return (struct value){NAN, NAN};
}

/* Adds the utilization of every stage that a result has, those of the first result first. */
static void add_stages(struct comparing *comparing)
{
    json_t *seen = json_object();
    for (uint32_t i = 0; i < comparing->count; i++) {
        const json_t *stage;
        size_t at;
        json_array_foreach(json_object_get(comparing->result[i].document, "stages"), at, stage)
        {
            struct value value[KVC_COMPARED_MAX];
            char name[128], label[128];
            if (json_object_get(seen, stage_name(stage, name)) != NULL) {
                continue;
            }
            json_object_set_new(seen, name, json_true());
            for (uint32_t j = 0; j < comparing->count; j++) {
                value[j] = utilization_of(comparing->result[j].document, name);
            }
            snprintf(label, sizeof(label), "%s (%s) busy", kvc_document_text(stage, "name"),
                     kvc_document_text(stage, "device"));
            add_metric(comparing, name, label, value, true);
        }
    }
    json_decref(seen);
}

/* Returns the members that an object of the results has, in the order in which they first appear. */
static json_t *union_of(const struct comparing *comparing, const char *object)
{
    json_t *all = json_object();
    for (uint32_t i = 0; i < comparing->count; i++) {
        json_object_update_missing(all, json_object_get(comparing->result[i].document, object));
    }
    return all;
}

/* Adds the metrics of an object whose intervals stand in an object beside it. */
static void add_group(struct comparing *comparing, const char *group)
{
    json_t *all = union_of(comparing, group), *ignored;
    char intervals[32], name[128];
    const char *key;
    snprintf(intervals, sizeof(intervals), "%s_ci95", group);
    json_object_foreach(all, key, ignored)
    {
        struct value value[KVC_COMPARED_MAX];
        for (uint32_t i = 0; i < comparing->count; i++) {
            const json_t *document = comparing->result[i].document;
            value[i] = (struct value){kvc_document_number(json_object_get(document, group), key),
                                      kvc_document_number(json_object_get(document, intervals), key)};
        }
        snprintf(name, sizeof(name), "%s.%s", group, key);
        add_metric(comparing, name, "", value, true);
    }
    json_decref(all);
}

static json_t *describe_results(const struct comparing *comparing)
{
    static const char *const keys[] = {"scenario", "system", "command", "version", "seed", "bottleneck"};
    json_t *list = json_array();
    for (uint32_t i = 0; i < comparing->count; i++) {
        json_t *entry = json_object();
        json_object_set_new(entry, "name", kvc_json_text(comparing->result[i].name));
        for (size_t j = 0; j < sizeof(keys) / sizeof(*keys); j++) {
            json_t *value = json_object_get(comparing->result[i].document, keys[j]);
            json_object_set(entry, keys[j], value != NULL ? value : json_null());
        }
        json_array_append_new(list, entry);
    }
    return list;
}

/* Returns the parameters that are not the same in all results. Of stores of different kinds, the options of
 * the store have nothing in common, and only the kind is listed. */
static json_t *changed_parameters(const struct comparing *comparing)
{
    json_t *all = union_of(comparing, "parameters"), *list = json_array(), *ignored;
    const char *path;
    bool same_kind = true;
    for (uint32_t i = 1; i < comparing->count; i++) {
        same_kind &= json_equal(json_object_get(comparing->result[0].document, "system"),
                                json_object_get(comparing->result[i].document, "system"));
    }
    json_object_foreach(all, path, ignored)
    {
        json_t *values = json_array();
        bool same = !same_kind && strncmp(path, "system.", 7) == 0 && strcmp(path, "system.kind") != 0;
        bool equal = true;
        for (uint32_t i = 0; i < comparing->count; i++) {
            json_t *value =
                json_object_get(json_object_get(comparing->result[i].document, "parameters"), path);
            json_array_append(values, value != NULL ? value : json_null());
            equal &= json_equal(json_array_get(values, 0), json_array_get(values, i));
        }
        if (!equal && !same) {
            json_array_append_new(list, json_pack("{s:s, s:O}", "path", path, "values", values));
        }
        json_decref(values);
    }
    json_decref(all);
    return list;
}

/* Notes what makes the latencies of a result depend on the length of its run. */
static void note_overload(struct comparing *comparing)
{
    for (uint32_t i = 0; i < comparing->count; i++) {
        const json_t *load = json_object_get(comparing->result[i].document, "load");
        if (json_is_true(json_object_get(load, "overloaded"))) {
            char note[64];
            snprintf(note, sizeof(note), "%c is overloaded: its latencies grow with the run", 'A' + (int)i);
            json_array_append_new(comparing->notes, json_string(note));
        }
    }
}

json_t *kvc_compare(const struct kvc_compared *result, uint32_t count)
{
    struct comparing comparing = {result, count, json_array(), json_array()};
    json_t *document = json_object();
    add_place(&comparing, &places[0]);
    add_place(&comparing, &places[1]);
    add_percentiles(&comparing);
    for (int i = 2; i < PLACES; i++) {
        add_place(&comparing, &places[i]);
    }
    add_stages(&comparing);
    add_group(&comparing, "kernel");
    add_group(&comparing, "model");
    note_overload(&comparing);
    json_object_set_new(document, "schema", json_string("kvcast.compare/1"));
    json_object_set_new(document, "version", json_string(kvc_version));
    json_object_set_new(document, "results", describe_results(&comparing));
    json_object_set_new(document, "metrics", comparing.metrics);
    json_object_set_new(document, "parameters", changed_parameters(&comparing));
    json_object_set_new(document, "notes", comparing.notes);
    return document;
}

/* Writes a number, or nothing for null. */
static void write_cell(const json_t *object, const char *key, FILE *out)
{
    double value = kvc_document_number(object, key);
    fprintf(out, isnan(value) ? "," : ",%.12g", value);
}

void kvc_compare_write_csv(const json_t *comparison, FILE *out)
{
    const json_t *metric, *value;
    size_t i, j;
    fputs("metric,result,mean,ci95,change,change_ci95,change_frac,verdict\n", out);
    json_array_foreach(json_object_get(comparison, "metrics"), i, metric)
    {
        json_array_foreach(json_object_get(metric, "values"), j, value)
        {
            const json_t *difference = json_array_get(json_object_get(metric, "differences"), j - 1);
            const char *verdict = json_string_value(json_object_get(difference, "verdict"));
            fprintf(out, "%s,%c", kvc_document_text(metric, "name"), 'A' + (int)j);
            write_cell(value, "mean", out);
            write_cell(value, "ci95", out);
            write_cell(difference, "change", out);
            write_cell(difference, "ci95", out);
            write_cell(difference, "change_frac", out);
            fprintf(out, ",%s\n", verdict != NULL ? verdict : "");
        }
    }
}
