/* Whether what the database holds of each point is what kvcast writes. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/explore/sweep/database_internal.h"

/* A pass over the points. */
struct repair {
    struct kvc_database *database;
    sqlite3_stmt *points, *metrics, *document; /* All points; what belongs to one of them. */
    sqlite3_stmt *discard[3];                  /* Remove a point from each table. */
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
    if (!is_text_or_null(row, column) || !is_text_or_null(row, column + 1)) {
        return "has a bottleneck without a name";
    }
    for (column += 2; column < sqlite3_column_count(row); column++) {
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

/* Removes metrics and documents of points that are not stored, which would be in their way. */
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
