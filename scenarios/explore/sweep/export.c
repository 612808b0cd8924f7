#include "scenarios/explore/sweep/export.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/explore/sweep/database_internal.h"
#include "scenarios/output/json_value.h"
#include "scenarios/output/number.h"
#include "sim/base/array.h"

struct metric_column {
    char kind[16], name[KVC_VALUE_NAME_MAX]; /* In the table `metrics`. */
    char shown[KVC_VALUE_NAME_MAX + 16];     /* In the export. */
};

/* An export that is being written. */
struct table {
    struct kvc_database *database;
    sqlite3_stmt *rows, *metrics; /* All points, and the metrics of one point. */
    int plain;                    /* Columns of `rows` before the notes. */
    bool has_notes;
    uint32_t written; /* Rows. */
    uint32_t count, room;
    struct metric_column *metric;
    char *line; /* The line of CSV that is being written. */
    size_t used, line_room;
    sqlite3_value **value; /* Of the metrics of one row, by column; NULL: none. */
};

/* Whether the point's table or a metric before has a column of this name. */
static bool is_taken(const struct table *table, const char *name)
{
    bool taken = false;
    for (int i = 0; i < sqlite3_column_count(table->rows) && !taken; i++) {
        taken = strcmp(sqlite3_column_name(table->rows, i), name) == 0;
    }
    for (uint32_t i = 0; i < table->count && !taken; i++) {
        taken = strcmp(table->metric[i].shown, name) == 0;
    }
    return taken;
}

static void add_metric(struct table *table, const char *kind, const char *name)
{
    char shown[sizeof(table->metric->shown)];
    snprintf(shown, sizeof(shown), "%s", name);
    for (int number = 1; is_taken(table, shown); number++) {
        if (number == 1) {
            snprintf(shown, sizeof(shown), "%.15s_%.150s", kind, name);
        } else {
            snprintf(shown, sizeof(shown), "%.15s_%.140s_%d", kind, name, number);
        }
    }
    if (table->count == table->room) {
        table->room = table->room > 0 ? 2 * table->room : 64;
        table->metric = kvc_array_grown(table->metric, table->room, sizeof(*table->metric));
    }
    struct metric_column *column = &table->metric[table->count++];
    snprintf(column->kind, sizeof(column->kind), "%s", kind);
    snprintf(column->name, sizeof(column->name), "%s", name);
    memcpy(column->shown, shown, sizeof(shown));
}

/* Lists the metrics: stages, kernel, model, each in the order of the first point that has it. */
static enum kvc_status list_metrics(struct table *table, struct kvc_diag *diag)
{
    sqlite3_stmt *statement;
    int code = SQLITE_DONE;
    enum kvc_status status = kvc_database_prepare(
        table->database,
        "SELECT kind, name FROM metrics GROUP BY kind, name ORDER BY"
        " CASE kind WHEN 'stage' THEN 0 WHEN 'kernel' THEN 1 ELSE 2 END, min(point * 1000 + place)",
        &statement, diag);
    while (status == KVC_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        add_metric(table, (const char *)sqlite3_column_text(statement, 0),
                   (const char *)sqlite3_column_text(statement, 1));
    }
    if (status == KVC_OK && code != SQLITE_DONE) {
        status = kvc_database_fail(table->database, diag);
    }
    sqlite3_finalize(statement);
    return status;
}

static void forget_values(struct table *table)
{
    for (uint32_t i = 0; table->value != NULL && i < table->count; i++) {
        sqlite3_value_free(table->value[i]);
        table->value[i] = NULL;
    }
}

static void close_table(struct table *table)
{
    forget_values(table);
    free(table->value);
    free(table->metric);
    free(table->line);
    sqlite3_finalize(table->rows);
    sqlite3_finalize(table->metrics);
}

static enum kvc_status open_table(struct kvc_database *database, struct table *table, struct kvc_diag *diag)
{
    *table = (struct table){.database = database, .has_notes = !database->layout->predict};
    enum kvc_status status =
        kvc_database_prepare(database, "SELECT * FROM points ORDER BY point", &table->rows, diag);
    if (status == KVC_OK) {
        status = kvc_database_prepare(database, "SELECT kind, name, value FROM metrics WHERE point = ?",
                                      &table->metrics, diag);
    }
    if (status == KVC_OK) {
        status = list_metrics(table, diag);
    }
    table->plain = sqlite3_column_count(table->rows) - table->has_notes;
    table->value = kvc_array_grown(NULL, table->count + 1, sizeof(*table->value));
    memset(table->value, 0, (table->count + 1) * sizeof(*table->value));
    return status;
}

/* Reads the metrics of the current row. */
static void read_metrics(struct table *table)
{
    forget_values(table);
    if (table->count == 0) {
        return;
    }
    sqlite3_bind_int64(table->metrics, 1, sqlite3_column_int64(table->rows, 0));
    uint32_t next = 0; /* Points mostly have the same metrics. */
    while (sqlite3_step(table->metrics) == SQLITE_ROW) {
        const char *kind = (const char *)sqlite3_column_text(table->metrics, 0);
        const char *name = (const char *)sqlite3_column_text(table->metrics, 1);
        for (uint32_t tried = 0; tried < table->count; tried++, next++) {
            const struct metric_column *column = &table->metric[next % table->count];
            if (strcmp(column->name, name) == 0 && strcmp(column->kind, kind) == 0) {
                table->value[next++ % table->count] =
                    sqlite3_value_dup(sqlite3_column_value(table->metrics, 2));
                break;
            }
        }
    }
    sqlite3_reset(table->metrics);
}

/* ---- CSV ---- */

/* Makes room for `bytes` more at the end of the line, and returns where they belong. */
static char *extend(struct table *table, size_t bytes)
{
    if (table->used + bytes > table->line_room) {
        table->line_room = 2 * (table->used + bytes);
        table->line = kvc_array_grown(table->line, table->line_room, 1);
    }
    return table->line + table->used;
}

static void put_char(struct table *table, char c)
{
    *extend(table, 1) = c;
    table->used++;
}

static void put_text(struct table *table, const char *text)
{
    bool quoted = strpbrk(text, ",\"\n") != NULL;
    char *start = extend(table, 2 * strlen(text) + 2), *at = start;
    if (quoted) {
        *at++ = '"';
    }
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            *at++ = '"';
        }
        *at++ = *text;
    }
    if (quoted) {
        *at++ = '"';
    }
    table->used += (size_t)(at - start);
}

static void put_cell(struct table *table, sqlite3_value *value)
{
    switch (value != NULL ? sqlite3_value_type(value) : SQLITE_NULL) {
    case SQLITE_INTEGER: /* A number that happens to be whole; the database keeps it in fewer bytes. */
    case SQLITE_FLOAT:
        table->used += kvc_number_text(sqlite3_value_double(value), extend(table, KVC_NUMBER_TEXT_MAX));
        break;
    case SQLITE_TEXT:
        put_text(table, (const char *)sqlite3_value_text(value));
        break;
    default:
        break;
    }
}

static void end_line(struct table *table, FILE *out)
{
    put_char(table, '\n');
    fwrite(table->line, 1, table->used, out);
    table->used = 0;
}

static void put_csv_head(struct table *table, FILE *out)
{
    for (int i = 0; i < table->plain; i++) {
        if (i > 0) {
            put_char(table, ',');
        }
        put_text(table, sqlite3_column_name(table->rows, i));
    }
    for (uint32_t i = 0; i < table->count; i++) {
        put_char(table, ',');
        put_text(table, table->metric[i].shown);
    }
    if (table->has_notes) {
        put_char(table, ',');
        put_text(table, "notes");
    }
    end_line(table, out);
}

static void put_csv_row(struct table *table, FILE *out)
{
    for (int i = 0; i < table->plain; i++) {
        if (i > 0) {
            put_char(table, ',');
        }
        put_cell(table, sqlite3_column_value(table->rows, i));
    }
    read_metrics(table);
    for (uint32_t i = 0; i < table->count; i++) {
        put_char(table, ',');
        put_cell(table, table->value[i]);
    }
    if (table->has_notes) {
        put_char(table, ',');
        put_cell(table, sqlite3_column_value(table->rows, table->plain));
    }
    end_line(table, out);
}

/* Calls `put` for every row. */
static enum kvc_status put_rows(struct table *table, void (*put)(struct table *table, FILE *out), FILE *out,
                                struct kvc_diag *diag)
{
    int code;
    while ((code = sqlite3_step(table->rows)) == SQLITE_ROW) {
        put(table, out);
    }
    return code == SQLITE_DONE ? KVC_OK : kvc_database_fail(table->database, diag);
}

enum kvc_status kvc_export_csv(struct kvc_database *database, FILE *out, struct kvc_diag *diag)
{
    struct table table;
    enum kvc_status status = open_table(database, &table, diag);
    if (status == KVC_OK) {
        put_csv_head(&table, out);
        status = put_rows(&table, put_csv_row, out, diag);
    }
    close_table(&table);
    return status;
}

/* ---- JSON ---- */

static json_t *json_of(sqlite3_value *value)
{
    switch (value != NULL ? sqlite3_value_type(value) : SQLITE_NULL) {
    case SQLITE_INTEGER:
        return json_integer(sqlite3_value_int64(value));
    case SQLITE_FLOAT:
        return kvc_json_number(sqlite3_value_double(value));
    case SQLITE_TEXT:
        return kvc_json_text((const char *)sqlite3_value_text(value));
    default:
        return json_null();
    }
}

static void put_json_row(struct table *table, FILE *out)
{
    json_t *object = json_object();
    bool is_first = table->written++ == 0;
    for (int i = 0; i < table->plain; i++) {
        json_object_set_new(object, sqlite3_column_name(table->rows, i),
                            json_of(sqlite3_column_value(table->rows, i)));
    }
    read_metrics(table);
    for (uint32_t i = 0; i < table->count; i++) {
        json_object_set_new(object, table->metric[i].shown, json_of(table->value[i]));
    }
    if (table->has_notes) {
        json_object_set_new(object, "notes", json_of(sqlite3_column_value(table->rows, table->plain)));
    }
    fputs(is_first ? "\n    " : ",\n    ", out);
    json_dumpf(object, out, JSON_REAL_PRECISION(KVC_JSON_DIGITS));
    json_decref(object);
}

/* Writes a member of the document from the table `meta`. */
static enum kvc_status put_meta(struct kvc_database *database, const char *key, FILE *out,
                                struct kvc_diag *diag)
{
    sqlite3_stmt *statement;
    enum kvc_status status =
        kvc_database_prepare(database, "SELECT value FROM meta WHERE key = ?", &statement, diag);
    if (status == KVC_OK) {
        sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
        const char *text =
            sqlite3_step(statement) == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : "";
        json_t *value = json_loads(text, JSON_DECODE_ANY, NULL); /* Numbers and axes are JSON already. */
        value = value != NULL ? value : kvc_json_text(text);
        fprintf(out, "  \"%s\": ", key);
        json_dumpf(value, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(KVC_JSON_DIGITS));
        fputs(",\n", out);
        json_decref(value);
    }
    sqlite3_finalize(statement);
    return status;
}

enum kvc_status kvc_export_json(struct kvc_database *database, FILE *out, struct kvc_diag *diag)
{
    static const char *const keys[] = {"version", "command", "seed", "design", "axes"};
    struct table table;
    enum kvc_status status = open_table(database, &table, diag);
    fputs("{\n  \"schema\": \"kvcast.sweep/1\",\n", out);
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys) && status == KVC_OK; i++) {
        status = put_meta(database, keys[i], out, diag);
    }
    fputs("  \"points\": [", out);
    if (status == KVC_OK) {
        status = put_rows(&table, put_json_row, out, diag);
    }
    fputs("\n  ]\n}\n", out);
    close_table(&table);
    return status;
}

enum kvc_status kvc_export_best(struct kvc_database *database, struct kvc_best *best, struct kvc_diag *diag)
{
    bool judged = database->objectives.count > 0;
    sqlite3_stmt *statement;
    *best = (struct kvc_best){.judged = judged};
    enum kvc_status status = kvc_database_prepare(
        database,
        judged ? "SELECT point, throughput_mops, (SELECT count(*) FROM points WHERE slo_met = 1) FROM points"
                 " WHERE throughput_mops IS NOT NULL ORDER BY slo_met IS 1 DESC, throughput_mops DESC, point"
                 " LIMIT 1"
               : "SELECT point, throughput_mops, 0 FROM points WHERE throughput_mops IS NOT NULL"
                 " ORDER BY throughput_mops DESC, point LIMIT 1",
        &statement, diag);
    if (status == KVC_OK && sqlite3_step(statement) == SQLITE_ROW) {
        best->point = (uint32_t)sqlite3_column_int64(statement, 0);
        best->throughput_mops = sqlite3_column_double(statement, 1);
        best->met = (uint32_t)sqlite3_column_int64(statement, 2);
    }
    sqlite3_finalize(statement);
    return status;
}
