/* The tables of a sweep's database, and whether a file has them. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/explore/sweep/database_internal.h"

enum { APPLICATION_ID = 0x6b766361 }; /* "kvca" */

void kvc_database_axis_name(const struct kvc_sweep_axis *axis, char name[KVC_PATH_MAX + 16])
{
    static const char *const suffixes[] = {
        [KVC_UNIT_NONE] = "",        [KVC_UNIT_NS] = "_ns",
        [KVC_UNIT_BYTES] = "_bytes", [KVC_UNIT_BYTES_PER_S] = "_bytes_per_s",
        [KVC_UNIT_HZ] = "_hz",       [KVC_UNIT_MOPS] = "_mops",
        [KVC_UNIT_WATTS] = "_watts",
    };
    const char *suffix = axis->numeric ? suffixes[axis->unit] : "";
    size_t length = strlen(axis->path), tail = strlen(suffix);
    bool has_it = length >= tail && strcmp(axis->path + length - tail, suffix) == 0;
    snprintf(name, KVC_PATH_MAX + 16, "%s%s", axis->path, has_it ? "" : suffix);
}

/* Writes the columns of `points`, with their types, or a question mark for each. */
static void write_columns(const struct kvc_database *database, bool marks, FILE *out)
{
    const struct kvc_database_layout *layout = database->layout;
    char name[KVC_PATH_MAX + 16];
    fputs(marks ? "?" : "point INTEGER PRIMARY KEY", out);
    for (uint32_t i = 0; i < layout->space->axis_count; i++) {
        kvc_database_axis_name(&layout->space->axis[i], name);
        fprintf(out, marks ? ", ?" : ", \"%s\" %s", name,
                layout->space->axis[i].numeric ? "NUMERIC" : "TEXT");
    }
    for (int i = 0; i < KVC_ROW_COLUMNS; i++) {
        if (!layout->predict || !kvc_row_kinds[i].simulated) {
            fprintf(out, marks ? ", ?" : ", \"%s\" NUMERIC", kvc_row_kinds[i].name);
        }
    }
    fputs(marks ? ", ?, ?" : ", bottleneck TEXT, bottleneck_device TEXT", out);
    if (database->objectives.count > 0) {
        fputs(marks ? ", ?" : ", slo_met INTEGER", out);
    }
    for (uint32_t i = 0; i < database->objectives.count; i++) {
        fprintf(out, marks ? ", ?" : ", slo_%s_margin_frac REAL",
                kvc_objective_kinds[database->objectives.judged[i].objective].key);
    }
    if (!layout->predict) {
        fputs(marks ? ", ?" : ", notes TEXT", out);
    }
}

/* Returns a statement around the columns of `points`, which the caller frees; NULL if memory is short. */
static char *with_columns_text(const struct kvc_database *database, const char *before, bool marks,
                               const char *after)
{
    char *sql = NULL;
    size_t bytes;
    FILE *out = open_memstream(&sql, &bytes);
    if (out == NULL) {
        return NULL;
    }
    fputs(before, out);
    write_columns(database, marks, out);
    fputs(after, out);
    if (fclose(out) != 0) {
        free(sql);
        return NULL;
    }
    return sql;
}

/* Runs, or prepares if `prepared` is not NULL, a statement around the columns of `points`. */
static enum kvc_status with_columns(const struct kvc_database *database, const char *before, bool marks,
                                    const char *after, sqlite3_stmt **prepared, struct kvc_diag *diag)
{
    char *sql = with_columns_text(database, before, marks, after);
    if (sql == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a statement");
    }
    enum kvc_status status = prepared != NULL ? kvc_database_prepare(database, sql, prepared, diag)
                                              : kvc_database_execute(database, sql, diag);
    free(sql);
    return status;
}

/* The tables but `points`, as SQLite remembers them. */
static const struct {
    const char *name, *sql;
} tables[] = {
    {"meta", "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"},
    {"documents", "CREATE TABLE documents(point INTEGER PRIMARY KEY, document TEXT NOT NULL)"},
    {"metrics", "CREATE TABLE metrics(point INTEGER, kind TEXT, name TEXT, value NUMERIC, place INTEGER,"
                " PRIMARY KEY(point, kind, name)) WITHOUT ROWID"},
};

enum { TABLES = sizeof(tables) / sizeof(*tables) };

static const char points_head[] = "CREATE TABLE points(", points_tail[] = ")";

static enum kvc_status write_identity(const struct kvc_database *database,
                                      const struct kvc_identity *identity, struct kvc_diag *diag)
{
    sqlite3_stmt *statement;
    enum kvc_status status =
        kvc_database_prepare(database, "INSERT INTO meta VALUES (?, ?)", &statement, diag);
    for (uint32_t i = 0; i < identity->count && status == KVC_OK; i++) {
        sqlite3_bind_text(statement, 1, identity->entry[i].key, -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, identity->entry[i].text, -1, SQLITE_STATIC);
        if (sqlite3_step(statement) != SQLITE_DONE) {
            status = kvc_database_fail(database, diag);
        }
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return status;
}

enum kvc_status kvc_database_create(struct kvc_database *database, const struct kvc_identity *identity,
                                    struct kvc_diag *diag)
{
    char pragmas[96];
    snprintf(pragmas, sizeof(pragmas), "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION_ID,
             KVC_DATABASE_SCHEMA);
    enum kvc_status status = kvc_database_execute(database, "BEGIN IMMEDIATE", diag);
    for (int i = 0; i < TABLES && status == KVC_OK; i++) {
        status = kvc_database_execute(database, tables[i].sql, diag);
    }
    if (status == KVC_OK) {
        status = with_columns(database, points_head, false, points_tail, NULL, diag);
    }
    if (status == KVC_OK) {
        status = write_identity(database, identity, diag);
    }
    if (status == KVC_OK) {
        status = kvc_database_execute(database, pragmas, diag);
    }
    if (status == KVC_OK) {
        return kvc_database_execute(database, "COMMIT", diag);
    }
    sqlite3_exec(database->sqlite, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

enum kvc_status kvc_database_check_pages(const struct kvc_database *database, struct kvc_diag *diag)
{
    sqlite3_stmt *statement;
    enum kvc_status status = kvc_database_prepare(database, "PRAGMA quick_check(1)", &statement, diag);
    if (status == KVC_OK && sqlite3_step(statement) != SQLITE_ROW) {
        status = kvc_database_fail(database, diag);
    }
    const char *says = status == KVC_OK ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (status == KVC_OK && (says == NULL || strcmp(says, "ok") != 0)) {
        status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, database->path, 0,
                                  "is damaged (%.200s); choose another folder, or --restart to replace it",
                                  says != NULL ? says : "no answer");
    }
    sqlite3_finalize(statement);
    return status;
}

/* Checks that a table is as kvcast creates it, so that its rows have what the statements expect. */
static enum kvc_status check_table(const struct kvc_database *database, const char *name, const char *sql,
                                   struct kvc_diag *diag)
{
    sqlite3_stmt *statement;
    enum kvc_status status = kvc_database_prepare(
        database, "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", &statement, diag);
    if (status != KVC_OK) {
        return status;
    }
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    int code = sqlite3_step(statement);
    const char *found = code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        status = kvc_database_fail(database, diag);
    } else if (found == NULL || strcmp(found, sql) != 0) {
        status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, database->path, 0,
                                  "is damaged (the table %s is not as kvcast makes it); choose another "
                                  "folder, or --restart to replace it",
                                  name);
    }
    sqlite3_finalize(statement);
    return status;
}

static enum kvc_status check_points_table(const struct kvc_database *database, struct kvc_diag *diag)
{
    char *sql = with_columns_text(database, points_head, false, points_tail);
    enum kvc_status status = sql != NULL ? check_table(database, "points", sql, diag)
                                         : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a statement");
    free(sql);
    return status;
}

/* Names the first parameter that differs: " (system.index was "64MiB" and is "128MiB")". */
static void show_parameter(const char *before, const char *now, char *text, size_t size)
{
    json_t *old = json_loads(before, 0, NULL), *new = json_loads(now, 0, NULL), *value;
    const char *key;
    text[0] = '\0';
    json_object_foreach(new, key, value)
    {
        const json_t *other = json_object_get(old, key);
        if (json_equal(value, (json_t *)other)) {
            continue;
        }
        char *was = other != NULL ? json_dumps(other, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12)) : NULL;
        char *is = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
        snprintf(text, size, " (%s was %.60s and is %.60s)", key, was != NULL ? was : "absent", is);
        free(was);
        free(is);
        break;
    }
    json_decref(old);
    json_decref(new);
}

/* Adds what changed to the list in `text`. A hash follows from other entries, so it counts if they are the
 * same. */
static void note_change(const struct kvc_identity_entry *entry, const char *before, char *text, size_t size)
{
    char shown[256] = "";
    size_t used = strlen(text);
    bool is_hash = strstr(entry->key, "_hash") != NULL;
    if (is_hash && used > 0) {
        return;
    }
    if (strcmp(entry->key, "parameters") == 0) {
        show_parameter(before, entry->text, shown, sizeof(shown));
    } else if (!is_hash && strlen(before) + strlen(entry->text) < 80) {
        snprintf(shown, sizeof(shown), " (%s, now %s)", before, entry->text);
    }
    snprintf(text + used, size - used, "%s%s%s", used > 0 ? ", " : "", entry->noun, shown);
}

static enum kvc_status compare(const struct kvc_database *database, const struct kvc_identity *identity,
                               struct kvc_diag *diag)
{
    char changed[700] = "";
    sqlite3_stmt *statement;
    enum kvc_status status =
        kvc_database_prepare(database, "SELECT value FROM meta WHERE key = ?", &statement, diag);
    for (uint32_t i = 0; i < identity->count && status == KVC_OK; i++) {
        const struct kvc_identity_entry *entry = &identity->entry[i];
        sqlite3_bind_text(statement, 1, entry->key, -1, SQLITE_STATIC);
        int code = sqlite3_step(statement);
        const char *before = code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
        before = before != NULL ? before : "";
        if (code != SQLITE_ROW && code != SQLITE_DONE) {
            status = kvc_database_fail(database, diag);
        } else if (entry->noun != NULL && strcmp(before, entry->text) != 0) {
            note_change(entry, before, changed, sizeof(changed));
        }
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    if (status == KVC_OK && changed[0] != '\0') {
        status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, database->path, 0,
                                  "holds another sweep; changed: %s; choose another folder, or --restart to "
                                  "replace it",
                                  changed);
    }
    return status;
}

enum kvc_status kvc_database_check(struct kvc_database *database, const struct kvc_identity *identity,
                                   struct kvc_diag *diag)
{
    int64_t application = 0, schema = 0;
    enum kvc_status status = kvc_database_query(database, "PRAGMA application_id", &application, diag);
    if (status == KVC_OK && application != APPLICATION_ID) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, database->path, 0,
                                "is a database of another program; choose another folder, or --restart to "
                                "replace it");
    }
    if (status == KVC_OK) {
        status = kvc_database_query(database, "PRAGMA user_version", &schema, diag);
    }
    if (status == KVC_OK && schema != KVC_DATABASE_SCHEMA) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, database->path, 0,
                                "has the schema %d of another version of kvcast, this one writes %d; choose "
                                "another folder, or --restart to replace it",
                                (int)schema, KVC_DATABASE_SCHEMA);
    }
    if (status == KVC_OK) {
        status = kvc_database_check_pages(database, diag);
    }
    for (int i = 0; i < TABLES && status == KVC_OK; i++) {
        status = check_table(database, tables[i].name, tables[i].sql, diag);
    }
    /* Another sweep has other points: that is told first. */
    status = status == KVC_OK ? compare(database, identity, diag) : status;
    return status == KVC_OK ? check_points_table(database, diag) : status;
}

enum kvc_status kvc_database_prepare_all(struct kvc_database *database, struct kvc_diag *diag)
{
    enum kvc_status status =
        with_columns(database, "INSERT INTO points VALUES (", true, ")", &database->add_point, diag);
    if (status == KVC_OK) {
        status = kvc_database_prepare(database, "INSERT OR IGNORE INTO metrics VALUES (?, ?, ?, ?, ?)",
                                      &database->add_metric, diag);
    }
    if (status == KVC_OK) {
        status = kvc_database_prepare(database, "INSERT INTO documents VALUES (?, ?)",
                                      &database->add_document, diag);
    }
    if (status == KVC_OK) {
        status = kvc_database_prepare(database, "BEGIN IMMEDIATE", &database->begin, diag);
    }
    return status == KVC_OK ? kvc_database_prepare(database, "COMMIT", &database->commit, diag) : status;
}
