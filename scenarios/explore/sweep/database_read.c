/* Reads of a sweep's database: the check of each point's contents, and the exports. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/explore/sweep/best.h"
#include "scenarios/explore/sweep/database_internal.h"
#include "scenarios/output/json_value.h"
#include "sim/base/array.h"

/* A pass over the points. */
struct repair {
    struct kvc_database *database;
    sqlite3_stmt *points, *metrics, *document; /* All points; the metrics and the document of one. */
    sqlite3_stmt *discard[3];                  /* These remove a point from each table. */
    struct kvc_database_damage *damage;
};

static bool is_number_or_null(sqlite3_stmt *row, int column)
{
    int type = sqlite3_column_type(row, column);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT || type == SQLITE_NULL;
}

static bool is_text_or_null(sqlite3_stmt *row, int column)
{
    int type = sqlite3_column_type(row, column);
    return type == SQLITE_TEXT || type == SQLITE_NULL;
}

/* Returns whether the row has the values of the point on the axes. */
static bool has_values_of(const struct kvc_space *space, uint32_t point, sqlite3_stmt *row)
{
    uint32_t value[KVC_SWEEP_AXES_MAX];
    kvc_space_point(space, point, value);
    for (uint32_t i = 0; i < space->axis_count; i++) {
        const struct kvc_sweep_value *expected = &space->axis[i].value[value[i]];
        int column = (int)i + 1, type = sqlite3_column_type(row, column);
        const char *text = type == SQLITE_TEXT ? (const char *)sqlite3_column_text(row, column) : NULL;
        bool is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
        bool is_same = space->axis[i].numeric
                           ? is_number && sqlite3_column_double(row, column) == expected->number
                           : text != NULL && strcmp(text, expected->label) == 0;
        if (!is_same) {
            return false;
        }
    }
    return true;
}

/* Returns what is wrong with the current row of `points`, or NULL. */
static const char *judge_row(const struct repair *repair, sqlite3_int64 number)
{
    const struct kvc_database_layout *layout = repair->database->layout;
    const struct kvc_space *space = layout->space;
    sqlite3_stmt *row = repair->points;
    if (number < 1 || number > space->points) {
        return "is none of this sweep";
    }
    if (!has_values_of(space, (uint32_t)number - 1, row)) {
        return "has the values of another point";
    }
    int column = (int)space->axis_count + 1;
    for (int i = 0; i < KVC_ROW_COLUMNS; i++) {
        if ((!layout->predict || !kvc_row_kinds[i].simulated) && !is_number_or_null(row, column++)) {
            return "has a text where a number belongs";
        }
    }
    for (uint32_t i = kvc_database_tenants(repair->database) * KVC_ROW_TENANT_COLUMNS; i > 0; i--) {
        if (!is_number_or_null(row, column++)) {
            return "has a text where a tenant's number belongs";
        }
    }
    for (int i = 0; i < 4; i++) { /* The bottleneck's stage and device, and what states no power or price. */
        if (!is_text_or_null(row, column++)) {
            return "has a bottleneck without a name";
        }
    }
    for (; column < sqlite3_column_count(row); column++) {
        bool is_notes = !layout->predict && column == sqlite3_column_count(row) - 1;
        if (!(is_notes ? is_text_or_null(row, column) : is_number_or_null(row, column))) {
            return is_notes ? "has notes that are no text" : "has a margin that is no number";
        }
    }
    return NULL;
}

static bool is_group(const char *text)
{
    size_t i = 0;
    while (kvc_row_groups[i] != NULL && strcmp(kvc_row_groups[i], text) != 0) {
        i++;
    }
    return kvc_row_groups[i] != NULL;
}

/* Returns what is wrong with the current metric, or NULL. */
static const char *judge_metric(sqlite3_stmt *row)
{
    bool has_texts = sqlite3_column_type(row, 0) == SQLITE_TEXT && sqlite3_column_type(row, 1) == SQLITE_TEXT;
    const char *kind = has_texts ? (const char *)sqlite3_column_text(row, 0) : "";
    const char *name = has_texts ? (const char *)sqlite3_column_text(row, 1) : "";
    if (name[0] == '\0' || strlen(name) >= KVC_VALUE_NAME_MAX) {
        return "has a stage or metric without a name";
    }
    return !is_group(kind)              ? "has a metric of an unknown kind"
           : !is_number_or_null(row, 2) ? "has a metric that is no number"
                                        : NULL;
}

/* Returns what is wrong with the metrics of a point, or NULL. */
static const char *judge_metrics(const struct repair *repair, sqlite3_int64 number, int *code)
{
    const char *wrong = NULL;
    sqlite3_bind_int64(repair->metrics, 1, number);
    while ((*code = sqlite3_step(repair->metrics)) == SQLITE_ROW && wrong == NULL) {
        wrong = judge_metric(repair->metrics);
    }
    sqlite3_reset(repair->metrics);
    return wrong;
}

/* Returns what is wrong with the result document of a point, or NULL. */
static const char *judge_document(const struct repair *repair, sqlite3_int64 number, int *code)
{
    static const char schema[] = "kvcast.result/";
    const char *wrong = "has no result document";
    sqlite3_bind_int64(repair->document, 1, number);
    *code = sqlite3_step(repair->document);
    if (*code == SQLITE_ROW && sqlite3_column_type(repair->document, 0) == SQLITE_TEXT) {
        const char *text = (const char *)sqlite3_column_text(repair->document, 0);
        json_t *document = json_loadb(text, (size_t)sqlite3_column_bytes(repair->document, 0), 0, NULL);
        const char *found = json_string_value(json_object_get(document, "schema"));
        bool is_result = found != NULL && strncmp(found, schema, sizeof(schema) - 1) == 0;
        wrong = is_result          ? NULL
                : document == NULL ? "has a result document that is no JSON"
                                   : "has a document that is no result of kvcast";
        json_decref(document);
    }
    sqlite3_reset(repair->document);
    return wrong;
}

static enum kvc_status discard(struct repair *repair, sqlite3_int64 number, const char *wrong,
                               struct kvc_diag *diag)
{
    struct kvc_database_damage *damage = repair->damage;
    if (damage->points++ == 0) {
        snprintf(damage->first, sizeof(damage->first), "point %lld %s", (long long)number, wrong);
    }
    for (size_t i = 0; i < sizeof(repair->discard) / sizeof(*repair->discard); i++) {
        sqlite3_bind_int64(repair->discard[i], 1, number);
        int code = sqlite3_step(repair->discard[i]);
        sqlite3_reset(repair->discard[i]);
        if (code != SQLITE_DONE) {
            return kvc_database_fail(repair->database, diag);
        }
    }
    return KVC_OK;
}

static enum kvc_status judge_points(struct repair *repair, struct kvc_diag *diag)
{
    int code = SQLITE_ROW, inner = SQLITE_DONE;
    enum kvc_status status = KVC_OK;
    while (status == KVC_OK && (code = sqlite3_step(repair->points)) == SQLITE_ROW) {
        sqlite3_int64 number = sqlite3_column_int64(repair->points, 0);
        const char *wrong = judge_row(repair, number);
        if (wrong == NULL && !repair->database->layout->predict) {
            wrong = judge_metrics(repair, number, &inner);
        }
        if (wrong == NULL && inner == SQLITE_DONE && !repair->database->layout->predict) {
            wrong = judge_document(repair, number, &inner);
            inner = inner == SQLITE_ROW ? SQLITE_DONE : inner;
        }
        if (inner != SQLITE_DONE && inner != SQLITE_ROW) {
            return kvc_database_fail(repair->database, diag);
        }
        status = wrong != NULL ? discard(repair, number, wrong, diag) : KVC_OK;
        inner = SQLITE_DONE;
    }
    return status == KVC_OK && code != SQLITE_DONE ? kvc_database_fail(repair->database, diag) : status;
}

/* Removes metrics and documents of points that have no row, so that these points can be added. */
static enum kvc_status discard_orphans(struct repair *repair, struct kvc_diag *diag)
{
    static const char *const sql = "DELETE FROM metrics WHERE point NOT IN (SELECT point FROM points);"
                                   "DELETE FROM documents WHERE point NOT IN (SELECT point FROM points)";
    struct kvc_database_damage *damage = repair->damage;
    int64_t orphans = 0;
    enum kvc_status status =
        kvc_database_query(repair->database,
                           "SELECT count(*) FROM (SELECT point FROM metrics UNION SELECT point FROM documents"
                           " EXCEPT SELECT point FROM points)",
                           &orphans, diag);
    if (status != KVC_OK || orphans == 0) {
        return status;
    }
    if (damage->points == 0) {
        snprintf(damage->first, sizeof(damage->first), "a point has metrics or a document but no row");
    }
    damage->points += (uint32_t)orphans;
    return kvc_database_execute(repair->database, sql, diag);
}

static enum kvc_status prepare(struct repair *repair, struct kvc_diag *diag)
{
    const struct {
        const char *sql;
        sqlite3_stmt **statement;
    } statements[] = {
        {"SELECT * FROM points ORDER BY point", &repair->points},
        {"SELECT kind, name, value FROM metrics WHERE point = ?", &repair->metrics},
        {"SELECT document FROM documents WHERE point = ?", &repair->document},
        {"DELETE FROM points WHERE point = ?", &repair->discard[0]},
        {"DELETE FROM metrics WHERE point = ?", &repair->discard[1]},
        {"DELETE FROM documents WHERE point = ?", &repair->discard[2]},
    };
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < sizeof(statements) / sizeof(*statements) && status == KVC_OK; i++) {
        status = kvc_database_prepare(repair->database, statements[i].sql, statements[i].statement, diag);
    }
    return status;
}

enum kvc_status kvc_database_repair(struct kvc_database *database, struct kvc_database_damage *damage,
                                    struct kvc_diag *diag)
{
    struct repair repair = {.database = database, .damage = damage};
    *damage = (struct kvc_database_damage){.points = 0};
    enum kvc_status status = prepare(&repair, diag);
    if (status == KVC_OK) {
        status = kvc_database_begin(database, diag);
    }
    if (status == KVC_OK) {
        status = judge_points(&repair, diag);
    }
    sqlite3_finalize(repair.points);
    sqlite3_finalize(repair.metrics);
    sqlite3_finalize(repair.document);
    for (size_t i = 0; i < sizeof(repair.discard) / sizeof(*repair.discard); i++) {
        sqlite3_finalize(repair.discard[i]);
    }
    if (status == KVC_OK) {
        status = discard_orphans(&repair, diag);
    }
    if (status == KVC_OK) {
        return kvc_database_commit(database, diag);
    }
    if (!sqlite3_get_autocommit(database->sqlite)) {
        sqlite3_exec(database->sqlite, "ROLLBACK", NULL, NULL, NULL);
    }
    return status;
}

struct metric_column {
    char kind[16], name[KVC_VALUE_NAME_MAX]; /* Kind and name in the table `metrics`. */
    char shown[KVC_VALUE_NAME_MAX + 16];     /* Name in the export. */
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
    sqlite3_value **value; /* The metrics of one row, by column; NULL: none. */
};

/* Returns whether the table `points` or an earlier metric has a column of this name. */
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
                sqlite3_value **value = &table->value[next++ % table->count];
                sqlite3_value_free(*value); /* A damaged file may have a metric twice. */
                *value = sqlite3_value_dup(sqlite3_column_value(table->metrics, 2));
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

enum kvc_status kvc_export_json(struct kvc_database *database, const struct kvc_accuracy_kind *kind,
                                FILE *out, struct kvc_diag *diag)
{
    static const char *const keys[] = {"version", "command", "seed", "design", "axes"};
    struct table table;
    struct kvc_best best;
    enum kvc_status status = open_table(database, &table, diag);
    fputs("{\n  \"schema\": \"kvcast.sweep/1\",\n", out);
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys) && status == KVC_OK; i++) {
        status = put_meta(database, keys[i], out, diag);
    }
    status = status == KVC_OK ? kvc_best_find(database, &best, diag) : status;
    if (status == KVC_OK) {
        fputs("  \"best\": ", out);
        kvc_best_write_json(&best, out);
        json_t *accuracy = kvc_accuracy_json(kind);
        fputs(",\n  \"accuracy\": ", out);
        json_dumpf(accuracy, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(KVC_JSON_DIGITS));
        json_decref(accuracy);
        fputs(",\n  \"points\": [", out);
        status = put_rows(&table, put_json_row, out, diag);
    }
    fputs("\n  ]\n}\n", out);
    close_table(&table);
    return status;
}
