#include "scenarios/output/sweep_table.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct kvc_sweep_row {
    json_t *document;
    const char **value; /* By axis; not owned. */
};

void kvc_sweep_table_free(struct kvc_sweep_table *table)
{
    for (uint32_t i = 0; i < table->count; i++) {
        json_decref(table->row[i].document);
        free(table->row[i].value);
    }
    free(table->row);
    table->row = NULL;
    table->count = table->room = 0;
}

/* Removes the long parts of a document that the table does not need. */
static void drop_long_parts(json_t *document)
{
    json_object_del(json_object_get(document, "latency_us"), "cdf");
    json_object_del(document, "parameters");
    json_object_del(document, "provenance");
    json_object_del(document, "windows");
}

enum kvc_status kvc_sweep_table_add(struct kvc_sweep_table *table, const char *path, struct kvc_diag *diag)
{
    json_error_t error;
    if (table->count == table->room) {
        uint32_t room = table->room == 0 ? 64 : 2 * table->room;
        struct kvc_sweep_row *row = realloc(table->row, room * sizeof(*row));
        if (row == NULL) {
            return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %u points", room);
        }
        table->row = row;
        table->room = room;
    }
    struct kvc_sweep_row row = {.value = calloc(table->sweep->count, sizeof(*row.value))};
    if (row.value == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for the points");
    }
    row.document = json_load_file(path, 0, &error);
    if (row.document == NULL) {
        free(row.value);
        return kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, path, error.line, "%s", error.text);
    }
    drop_long_parts(row.document);
    table->row[table->count++] = row;
    return KVC_OK;
}

void kvc_sweep_table_value(struct kvc_sweep_table *table, uint32_t axis, const char *value)
{
    table->row[table->count - 1].value[axis] = value;
}

static void write_text(const char *text, FILE *out)
{
    if (strpbrk(text, ",\"\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            fputc('"', out);
        }
        fputc(*text, out);
    }
    fputc('"', out);
}

static void write_number(const json_t *value, FILE *out)
{
    fputc(',', out);
    if (json_is_number(value)) {
        fprintf(out, "%.12g", json_number_value(value));
    }
}

static const json_t *member(const json_t *document, const char *object, const char *key)
{
    return json_object_get(json_object_get(document, object), key);
}

static const json_t *percentile(const json_t *document, double p)
{
    size_t index;
    json_t *entry;
    json_array_foreach(member(document, "latency_us", "percentiles"), index,
                       entry) if (json_number_value(json_object_get(entry, "p")) == p)
    {
        return json_object_get(entry, "us");
    }
    return NULL;
}

static const json_t *stage(const json_t *document, const char *name)
{
    size_t index;
    json_t *entry;
    json_array_foreach(json_object_get(document, "stages"), index,
                       entry) if (strcmp(json_string_value(json_object_get(entry, "name")), name) == 0)
    {
        return json_object_get(entry, "utilization_frac");
    }
    return NULL;
}

/* Columns that only some points may have, as keys of JSON objects in the order of their first appearance. */
struct columns {
    json_t *stages, *kernel, *model;
};

static void write_members(const json_t *document, const char *object, const json_t *names, FILE *out)
{
    const char *name;
    json_t *unused;
    json_object_foreach((json_t *)names, name, unused) write_number(member(document, object, name), out);
}

static void write_row(const struct kvc_sweep_table *table, uint32_t number, const struct columns *columns,
                      FILE *out)
{
    const struct kvc_sweep_row *row = &table->row[number];
    const json_t *document = row->document;
    const char *bottleneck = json_string_value(member(document, "bottleneck", "stage"));
    const char *name;
    json_t *unused;
    fprintf(out, "%u", number + 1);
    for (uint32_t i = 0; i < table->sweep->count; i++) {
        fputc(',', out);
        write_text(row->value[i], out);
    }
    write_number(member(document, "throughput_mops", "mean"), out);
    write_number(member(document, "throughput_mops", "ci95"), out);
    write_number(member(document, "latency_us", "mean"), out);
    write_number(percentile(document, 0.5), out);
    write_number(percentile(document, 0.95), out);
    write_number(percentile(document, 0.99), out);
    write_number(member(document, "requests", "completed"), out);
    write_number(member(document, "requests", "dropped"), out);
    json_object_foreach(columns->stages, name, unused) write_number(stage(document, name), out);
    fputc(',', out);
    write_text(bottleneck != NULL ? bottleneck : "", out);
    write_number(member(document, "energy", "watts_mean"), out);
    write_members(document, "kernel", columns->kernel, out);
    write_members(document, "model", columns->model, out);
    fputc('\n', out);
}

static void add_names(json_t *names, const json_t *object)
{
    const char *name;
    json_t *unused;
    json_object_foreach((json_t *)object, name, unused) json_object_set_new(names, name, json_null());
}

static struct columns all_columns(const struct kvc_sweep_table *table)
{
    struct columns columns = {json_object(), json_object(), json_object()};
    for (uint32_t i = 0; i < table->count; i++) {
        const json_t *document = table->row[i].document;
        size_t index;
        json_t *entry;
        json_array_foreach(json_object_get(document, "stages"), index, entry) json_object_set_new(
            columns.stages, json_string_value(json_object_get(entry, "name")), json_null());
        add_names(columns.kernel, json_object_get(document, "kernel"));
        add_names(columns.model, json_object_get(document, "model"));
    }
    return columns;
}

static void write_names(const json_t *names, const char *ending, FILE *out)
{
    const char *name;
    json_t *unused;
    json_object_foreach((json_t *)names, name, unused) fprintf(out, ",%s%s", name, ending);
}

void kvc_sweep_table_write(const struct kvc_sweep_table *table, FILE *out)
{
    struct columns columns = all_columns(table);
    fputs("point", out);
    for (uint32_t i = 0; i < table->sweep->count; i++) {
        fputc(',', out);
        write_text(table->sweep->axis[i].path, out);
    }
    fputs(
        ",throughput_mops,throughput_ci95_mops,latency_mean_us,latency_p50_us,latency_p95_us,latency_p99_us,"
        "completed,dropped",
        out);
    write_names(columns.stages, "_utilization_frac", out);
    fputs(",bottleneck,watts_mean", out);
    write_names(columns.kernel, "", out);
    write_names(columns.model, "", out);
    fputc('\n', out);
    for (uint32_t i = 0; i < table->count; i++) {
        write_row(table, i, &columns, out);
    }
    json_decref(columns.stages);
    json_decref(columns.kernel);
    json_decref(columns.model);
}
