#include "scenarios/output/sweep_table.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/metrics/values.h"

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

static const json_t *member(const json_t *document, const char *object, const char *key)
{
    return json_object_get(json_object_get(document, object), key);
}

/* Where a column finds its value in a document. */
enum place {
    MEMBER,     /* The member `key` of the object `object`. */
    PERCENTILE, /* The member `key` of the percentile `p` of the latency. */
    STAGE,      /* The utilization of the stage `key`. */
    NOTES,      /* All notes. */
};

struct column {
    char name[KVC_VALUE_NAME_MAX];
    enum place place;
    const char *object, *key;
    double p;
};

/* Starts as zero. `names` is a set of the columns' names, the first ones of which belong to the sweep. */
struct columns {
    uint32_t count, room;
    struct column *column;
    json_t *names;
};

/* Claims a name that no column has: `name` itself, or else with a prefix, and then with a number. */
static void claim_name(json_t *names, const char *prefix, const char *name, char unique[KVC_VALUE_NAME_MAX])
{
    snprintf(unique, KVC_VALUE_NAME_MAX, "%s", name);
    for (int number = 1; json_object_get(names, unique) != NULL; number++) {
        if (number == 1) {
            snprintf(unique, KVC_VALUE_NAME_MAX, "%.16s_%.128s", prefix, name);
        } else {
            snprintf(unique, KVC_VALUE_NAME_MAX, "%.16s_%.100s_%d", prefix, name, number);
        }
    }
    json_object_set_new(names, unique, json_true());
}

/* Adds a column unless there is one for the same values. */
static void add_column(struct columns *columns, const char *prefix, const struct column *wanted)
{
    for (uint32_t i = 0; i < columns->count; i++) {
        const struct column *column = &columns->column[i];
        if (column->place == wanted->place && strcmp(column->object, wanted->object) == 0 &&
            strcmp(column->key, wanted->key) == 0 && column->p == wanted->p) {
            return;
        }
    }
    if (columns->count == columns->room) {
        columns->room = columns->room > 0 ? 2 * columns->room : 64;
        columns->column = kvc_array_grown(columns->column, columns->room, sizeof(*columns->column));
    }
    struct column *added = &columns->column[columns->count++];
    *added = *wanted;
    claim_name(columns->names, prefix, wanted->name, added->name);
}

/* Adds a column for every member of an object of a document. */
static void add_members(struct columns *columns, const json_t *document, const char *object)
{
    const char *key;
    json_t *unused;
    json_object_foreach(json_object_get(document, object), key, unused)
    {
        struct column column = {.place = MEMBER, .object = object, .key = key};
        snprintf(column.name, sizeof(column.name), "%s", key);
        add_column(columns, object, &column);
    }
}

static void add_stages(struct columns *columns, const json_t *document)
{
    size_t index;
    json_t *entry;
    json_array_foreach(json_object_get(document, "stages"), index, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        struct column column = {.place = STAGE, .object = "", .key = name};
        snprintf(column.name, sizeof(column.name), "%.100s_utilization_frac", name);
        add_column(columns, "stage", &column);
    }
}

/* Columns that every sweep has, before and after those of the stages. */
static const struct column first_columns[] = {
    {"throughput_mops", MEMBER, "throughput_mops", "mean", 0},
    {"throughput_ci95_mops", MEMBER, "throughput_mops", "ci95", 0},
    {"offered_mops", MEMBER, "requests", "offered_mops", 0},
    {"offered_ci95_mops", MEMBER, "requests", "offered_ci95_mops", 0},
    {"lost_frac", MEMBER, "requests", "lost_frac", 0},
    {"lost_ci95_frac", MEMBER, "requests", "lost_ci95_frac", 0},
    {"hit_frac", MEMBER, "requests", "hit_frac", 0},
    {"hit_ci95_frac", MEMBER, "requests", "hit_ci95_frac", 0},
    {"latency_mean_us", MEMBER, "latency_us", "mean", 0},
    {"latency_mean_ci95_us", MEMBER, "latency_us", "ci95", 0},
    {"latency_p50_us", PERCENTILE, "", "us", 0.5},
    {"latency_p50_ci95_us", PERCENTILE, "", "ci95", 0.5},
    {"latency_p95_us", PERCENTILE, "", "us", 0.95},
    {"latency_p95_ci95_us", PERCENTILE, "", "ci95", 0.95},
    {"latency_p99_us", PERCENTILE, "", "us", 0.99},
    {"latency_p99_ci95_us", PERCENTILE, "", "ci95", 0.99},
    {"completed", MEMBER, "requests", "completed", 0},
    {"dropped", MEMBER, "requests", "dropped", 0},
};
static const struct column later_columns[] = {
    {"bottleneck", MEMBER, "bottleneck", "stage", 0},
    {"watts_mean", MEMBER, "energy", "watts_mean", 0},
    {"watts_mean_ci95", MEMBER, "energy", "watts_mean_ci95", 0},
};
static const struct column last_column = {"notes", NOTES, "", "", 0};

/* The keys of columns belong to the documents. */
static struct columns all_columns(const struct kvc_sweep_table *table)
{
    struct columns columns = {.names = json_object()};
    json_object_set_new(columns.names, "point", json_true());
    for (uint32_t i = 0; i < table->sweep->count; i++) {
        json_object_set_new(columns.names, table->sweep->axis[i].path, json_true());
    }
    for (size_t i = 0; i < sizeof(first_columns) / sizeof(*first_columns); i++) {
        add_column(&columns, "result", &first_columns[i]);
    }
    for (uint32_t i = 0; i < table->count; i++) {
        add_stages(&columns, table->row[i].document);
    }
    for (size_t i = 0; i < sizeof(later_columns) / sizeof(*later_columns); i++) {
        add_column(&columns, "result", &later_columns[i]);
    }
    for (uint32_t i = 0; i < table->count; i++) {
        add_members(&columns, table->row[i].document, "kernel");
    }
    for (uint32_t i = 0; i < table->count; i++) {
        add_members(&columns, table->row[i].document, "model");
    }
    add_column(&columns, "result", &last_column);
    return columns;
}

/* Returns the entry of an array of objects whose member `key` equals `value`. */
static const json_t *entry_of(const json_t *array, const char *key, const json_t *value)
{
    size_t index;
    json_t *entry;
    json_array_foreach(array, index, entry) if (json_equal(json_object_get(entry, key), value))
    {
        return entry;
    }
    return NULL;
}

/* Returns the value of a column, or NULL if the document has none. */
static const json_t *value_of(const json_t *document, const struct column *column)
{
    const json_t *found = NULL;
    json_t *wanted = NULL;
    switch (column->place) {
    case MEMBER:
        return member(document, column->object, column->key);
    case PERCENTILE:
        wanted = json_real(column->p);
        found = entry_of(member(document, "latency_us", "percentiles"), "p", wanted);
        found = json_object_get(found, column->key);
        break;
    case STAGE:
        wanted = json_string(column->key);
        found = entry_of(json_object_get(document, "stages"), "name", wanted);
        found = json_object_get(found, "utilization_frac");
        break;
    case NOTES:
        return json_object_get(document, "notes");
    }
    json_decref(wanted);
    return found;
}

/* Writes an array of texts as one cell, with "; " between them. */
static void write_texts(const json_t *array, FILE *out)
{
    char *joined = NULL;
    size_t bytes, index;
    json_t *text;
    FILE *memory = open_memstream(&joined, &bytes);
    if (memory == NULL) {
        kvc_out_of_memory("the notes of a point");
    }
    json_array_foreach(array, index, text)
        fprintf(memory, "%s%s", index > 0 ? "; " : "", json_string_value(text));
    fclose(memory);
    write_text(joined, out);
    free(joined);
}

static void write_value(const json_t *value, FILE *out)
{
    if (json_is_number(value)) {
        fprintf(out, "%.12g", json_number_value(value));
    } else if (json_is_string(value)) {
        write_text(json_string_value(value), out);
    } else if (json_is_array(value)) {
        write_texts(value, out);
    }
}

static void write_row(const struct kvc_sweep_table *table, uint32_t number, const struct columns *columns,
                      FILE *out)
{
    const struct kvc_sweep_row *row = &table->row[number];
    fprintf(out, "%u", number + 1);
    for (uint32_t i = 0; i < table->sweep->count; i++) {
        fputc(',', out);
        write_text(row->value[i], out);
    }
    for (uint32_t i = 0; i < columns->count; i++) {
        fputc(',', out);
        write_value(value_of(row->document, &columns->column[i]), out);
    }
    fputc('\n', out);
}

void kvc_sweep_table_write(const struct kvc_sweep_table *table, FILE *out)
{
    struct columns columns = all_columns(table);
    fputs("point", out);
    for (uint32_t i = 0; i < table->sweep->count; i++) {
        fputc(',', out);
        write_text(table->sweep->axis[i].path, out);
    }
    for (uint32_t i = 0; i < columns.count; i++) {
        fputc(',', out);
        write_text(columns.column[i].name, out);
    }
    fputc('\n', out);
    for (uint32_t i = 0; i < table->count; i++) {
        write_row(table, i, &columns, out);
    }
    json_decref(columns.names);
    free(columns.column);
}
