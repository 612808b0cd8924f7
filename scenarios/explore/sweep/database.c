#include "scenarios/explore/sweep/database.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenarios/explore/sweep/database_internal.h"
#include "scenarios/output/json.h"
#include "sim/base/rng.h"
#include "sim/base/version.h"

/* ---- identity ---- */

void kvc_identity_free(struct kvc_identity *identity)
{
    for (uint32_t i = 0; i < identity->count; i++) {
        free(identity->entry[i].text);
    }
    identity->count = 0;
}

/* Adds an entry and takes over its text. */
static void add(struct kvc_identity *identity, const char *key, const char *noun, char *text)
{
    if (text == NULL) {
        kvc_out_of_memory("the description of the sweep");
    }
    identity->entry[identity->count++] = (struct kvc_identity_entry){key, noun, text};
}

static void add_number(struct kvc_identity *identity, const char *key, const char *noun, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRIu64, number);
    add(identity, key, noun, strdup(text));
}

static char *dump(json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    return text;
}

static json_t *axes_json(const struct kvc_space *space)
{
    json_t *axes = json_array();
    for (uint32_t i = 0; i < space->axis_count; i++) {
        const struct kvc_sweep_axis *axis = &space->axis[i];
        json_t *entry = json_object(), *values = json_array();
        for (uint32_t j = 0; j < axis->count; j++) {
            json_array_append_new(values, json_string(axis->value[j].label));
        }
        json_object_set_new(entry, "path", json_string(axis->path));
        json_object_set_new(entry, "values", values);
        json_array_append_new(axes, entry);
    }
    return axes;
}

/* Hashes the resolved values, because a hardware profile may have changed under the same name. */
static uint64_t values_hash(const struct kvc_space *space)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < space->axis_count; i++) {
        for (uint32_t j = 0; j < space->axis[i].count; j++) {
            hash = kvc_mix64(hash ^ space->axis[i].value[j].resolved_hash);
        }
    }
    return hash;
}

static uint64_t points_hash(const struct kvc_space *space)
{
    uint64_t hash = space->points;
    for (size_t i = 0; space->tuple != NULL && i < (size_t)space->points * space->axis_count; i++) {
        hash = kvc_mix64(hash ^ space->tuple[i]);
    }
    return hash;
}

static json_t *slo_json(const struct kvc_slo *slo)
{
    const double bounds[] = {slo->p50_ns,    slo->p95_ns,   slo->p99_ns, slo->p999_ns,   slo->mops,
                             slo->loss_frac, slo->hit_frac, slo->watts,  slo->price_usd, slo->window_ns};
    json_t *array = json_array();
    for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++) {
        json_t *bound = json_real(bounds[i]); /* NULL for NaN. */
        json_array_append_new(array, bound != NULL ? bound : json_null());
    }
    return array;
}

static json_t *overrides_json(const struct kvc_overrides *set)
{
    json_t *array = json_array();
    for (uint32_t i = 0; set != NULL && i < set->count; i++) {
        json_array_append_new(array, json_pack("[s,s]", set->entry[i].path, set->entry[i].value));
    }
    return array;
}

static const char *design_name(const struct kvc_sweep *sweep)
{
    static const char *const names[] = {[KVC_SWEEP_GRID] = "grid",
                                        [KVC_SWEEP_LIST] = "list",
                                        [KVC_SWEEP_RANDOM] = "random",
                                        [KVC_SWEEP_LATIN_HYPERCUBE] = "latin_hypercube"};
    return names[sweep->design];
}

/* Reads a file in pieces. Returns false with errno if it cannot be read. */
static bool read_file(const char *path, void (*take)(void *data, const char *bytes, size_t count), void *data)
{
    char buffer[1 << 16];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    for (size_t count; (count = fread(buffer, 1, sizeof(buffer), file)) > 0;) {
        take(data, buffer, count);
    }
    bool whole = !ferror(file);
    fclose(file);
    return whole;
}

static void take_text(void *data, const char *bytes, size_t count)
{
    fwrite(bytes, 1, count, data);
}

/* FNV-1a over the bytes. */
static void take_hash(void *data, const char *bytes, size_t count)
{
    uint64_t *hash = data;
    for (size_t i = 0; i < count; i++) {
        *hash = (*hash ^ (unsigned char)bytes[i]) * 0x100000001b3ull;
    }
}

static char *scenario_text(const char *path)
{
    char *text = NULL;
    size_t bytes;
    FILE *memory = open_memstream(&text, &bytes);
    if (memory == NULL) {
        kvc_out_of_memory("the text of %s", path);
    }
    read_file(path, take_text, memory); /* The text is only for information, so an error does not matter. */
    bool whole = !ferror(memory);
    if (fclose(memory) != 0 || !whole) {
        kvc_out_of_memory("the text of %s", path);
    }
    return text;
}

/* Adds the hash of a trace, once for each file. */
static enum kvc_status add_trace(json_t *traces, const char *path, struct kvc_diag *diag)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    char text[24];
    if (path[0] == '\0' || json_object_get(traces, path) != NULL) {
        return KVC_OK;
    }
    if (!read_file(path, take_hash, &hash)) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "cannot be read: %s", strerror(errno));
    }
    snprintf(text, sizeof(text), "%016" PRIx64, hash);
    json_object_set_new(traces, path, json_string(text));
    return KVC_OK;
}

static enum kvc_status add_traces(const struct kvc_loaded *loaded, const struct kvc_space *space,
                                  json_t *traces, struct kvc_diag *diag)
{
    const struct kvc_workload *workload = &loaded->scenario.workload;
    enum kvc_status status =
        workload->arrival == KVC_ARRIVAL_TRACE ? add_trace(traces, workload->trace.path, diag) : KVC_OK;
    for (uint32_t i = 0; i < space->axis_count; i++) {
        for (uint32_t j = 0; j < space->axis[i].count && status == KVC_OK; j++) {
            status = add_trace(traces, space->axis[i].value[j].trace, diag);
        }
    }
    return status;
}

enum kvc_status kvc_identity_of(const struct kvc_loaded *loaded, const struct kvc_overrides *set,
                                const struct kvc_space *space, bool predict, struct kvc_identity *identity,
                                struct kvc_diag *diag)
{
    json_t *traces = json_object();
    enum kvc_status status = add_traces(loaded, space, traces, diag);
    *identity = (struct kvc_identity){0};
    add(identity, "version", "the version of kvcast", strdup(kvc_version));
    add(identity, "command", "--predict", strdup(predict ? "predict" : "run"));
    add_number(identity, "seed", "the seed", loaded->scenario.run.seed);
    json_t *parameters = kvc_json_values(&loaded->parameters);
    json_object_del(parameters, "run.seed"); /* The seed has an entry of its own. */
    add(identity, "parameters", "the scenario", dump(parameters));
    add(identity, "slo", "the objectives", dump(slo_json(&loaded->slo)));
    add(identity, "axes", "the axes", dump(axes_json(space)));
    add_number(identity, "values_hash", "what the values of the axes stand for", values_hash(space));
    add(identity, "design", "the design", strdup(design_name(&loaded->sweep)));
    add_number(identity, "points_hash", "the points", points_hash(space));
    add(identity, "traces", "a trace", dump(traces));
    add_number(identity, "points", NULL, space->points);
    add(identity, "scenario_file", NULL, strdup(loaded->scenario.file));
    add(identity, "scenario_text", NULL, scenario_text(loaded->scenario.file));
    add(identity, "overrides", NULL, dump(overrides_json(set)));
    return status;
}

/* ---- SQLite ---- */

enum kvc_status kvc_database_fail(const struct kvc_database *database, struct kvc_diag *diag)
{
    int code = sqlite3_errcode(database->sqlite) & 0xff;
    const char *says = sqlite3_errmsg(database->sqlite);
    switch (code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, database->path, 0,
                                "is locked by another program; what is done so far is kept, start the sweep "
                                "again when it has ended");
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, database->path, 0,
                                "is damaged or no database (%s); choose another folder, or --restart to "
                                "replace it",
                                says);
    case SQLITE_FULL:
    case SQLITE_IOERR:
        return kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, database->path, 0,
                                "cannot be written (%s); what is done so far is kept, start the sweep again "
                                "when there is room",
                                says);
    default:
        return kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, database->path, 0, "%s", says);
    }
}

enum kvc_status kvc_database_prepare(const struct kvc_database *database, const char *sql, sqlite3_stmt **out,
                                     struct kvc_diag *diag)
{
    *out = NULL;
    if (sqlite3_prepare_v3(database->sqlite, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) != SQLITE_OK) {
        return kvc_database_fail(database, diag);
    }
    return KVC_OK;
}

enum kvc_status kvc_database_execute(const struct kvc_database *database, const char *sql,
                                     struct kvc_diag *diag)
{
    if (sqlite3_exec(database->sqlite, sql, NULL, NULL, NULL) != SQLITE_OK) {
        return kvc_database_fail(database, diag);
    }
    return KVC_OK;
}

enum kvc_status kvc_database_query(const struct kvc_database *database, const char *sql, int64_t *number,
                                   struct kvc_diag *diag)
{
    sqlite3_stmt *statement;
    enum kvc_status status = kvc_database_prepare(database, sql, &statement, diag);
    if (status == KVC_OK && sqlite3_step(statement) != SQLITE_ROW) {
        status = kvc_database_fail(database, diag);
    }
    if (status == KVC_OK) {
        *number = sqlite3_column_int64(statement, 0);
    }
    sqlite3_finalize(statement);
    return status;
}

/* ---- tables ---- */

enum { APPLICATION_ID = 0x6b766361 /* "kvca" */, SCHEMA_VERSION = 1 };

/* Returns the name of an axis' column: its path and the unit, as in "system.cycle_ns". */
static void axis_column(const struct kvc_sweep_axis *axis, char name[KVC_PATH_MAX + 16])
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

uint32_t kvc_database_tenants(const struct kvc_database *database)
{
    return database->layout->predict ? 0 : kvc_slo_tenants(database->layout->slo);
}

/* Writes the columns of `points`, with their types, or a question mark for each. */
static void write_columns(const struct kvc_database *database, bool marks, FILE *out)
{
    const struct kvc_database_layout *layout = database->layout;
    char name[KVC_PATH_MAX + KVC_TENANT_NAME_MAX];
    fputs(marks ? "?" : "point INTEGER PRIMARY KEY", out);
    for (uint32_t i = 0; i < layout->space->axis_count; i++) {
        axis_column(&layout->space->axis[i], name);
        fprintf(out, marks ? ", ?" : ", \"%s\" %s", name,
                layout->space->axis[i].numeric ? "NUMERIC" : "TEXT");
    }
    for (int i = 0; i < KVC_ROW_COLUMNS; i++) {
        if (!layout->predict || !kvc_row_kinds[i].simulated) {
            fprintf(out, marks ? ", ?" : ", \"%s\" NUMERIC", kvc_row_kinds[i].name);
        }
    }
    for (uint32_t i = 0; i < kvc_database_tenants(database); i++) {
        for (int k = 0; k < KVC_ROW_TENANT_COLUMNS; k++) {
            kvc_row_tenant_name(&layout->slo->workload->tenants[i], k, name);
            fprintf(out, marks ? ", ?" : ", \"%s\" NUMERIC", name);
        }
    }
    fputs(marks ? ", ?, ?, ?, ?"
                : ", bottleneck TEXT, bottleneck_device TEXT, watts_missing TEXT, price_missing TEXT",
          out);
    if (database->objectives.count > 0) {
        fputs(marks ? ", ?" : ", slo_met INTEGER", out);
    }
    for (uint32_t i = 0; i < database->objectives.count; i++) {
        const struct kvc_judged *judged = &database->objectives.judged[i];
        const char *quote = judged->tenant != NULL ? "\"" : "";
        if (judged->is_stated) {
            kvc_judged_name(judged, kvc_objective_kinds[judged->objective].key, name);
            fprintf(out, marks ? ", ?" : ", %sslo_%s_margin_frac%s REAL", quote, name, quote);
        }
    }
    if (!layout->predict) {
        fputs(marks ? ", ?" : ", notes TEXT", out);
    }
}

/* Returns a statement with the columns of `points` between two texts. The caller frees it; NULL if memory is
 * short. */
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

/* Prepares a statement with the columns of `points` between two texts, or runs it if `prepared` is NULL. */
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

/* The tables other than `points`, in the words in which SQLite remembers them. */
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

/* Creates the tables and writes the identity (database_schema.c). */
static enum kvc_status create_tables(struct kvc_database *database, const struct kvc_identity *identity,
                                     struct kvc_diag *diag)
{
    char pragmas[96];
    snprintf(pragmas, sizeof(pragmas), "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION_ID,
             SCHEMA_VERSION);
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

/* Fails if SQLite finds the file inconsistent (database_schema.c). */
static enum kvc_status check_pages(const struct kvc_database *database, struct kvc_diag *diag)
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

/* Adds what changed to the list in `text`. A hash follows from other entries, so it is listed only if these
 * are the same. */
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

/* Checks that a file that exists holds this sweep (database_schema.c). */
static enum kvc_status check_file(struct kvc_database *database, const struct kvc_identity *identity,
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
    if (status == KVC_OK && schema != SCHEMA_VERSION) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, database->path, 0,
                                "has the schema %d of another version of kvcast, this one writes %d; choose "
                                "another folder, or --restart to replace it",
                                (int)schema, SCHEMA_VERSION);
    }
    if (status == KVC_OK) {
        status = check_pages(database, diag);
    }
    for (int i = 0; i < TABLES && status == KVC_OK; i++) {
        status = check_table(database, tables[i].name, tables[i].sql, diag);
    }
    /* Another sweep also has other columns, but the message names the change of the sweep. */
    status = status == KVC_OK ? compare(database, identity, diag) : status;
    if (status == KVC_ERR_SCENARIO) {
        int64_t points = -1;
        kvc_database_query(database, "SELECT count(*) FROM points", &points, NULL);
        database->is_vain = points == 0;
    }
    return status == KVC_OK ? check_points_table(database, diag) : status;
}

/* Prepares the statements that add points (database_schema.c). */
static enum kvc_status prepare_statements(struct kvc_database *database, struct kvc_diag *diag)
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

/* ---- points ---- */

enum { BUSY_MS = 2000 }; /* A reader that checkpoints is done sooner. */

/* Runs a statement to its end and makes it ready for the next time. */
static enum kvc_status step(const struct kvc_database *database, sqlite3_stmt *statement,
                            struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    if (sqlite3_step(statement) != SQLITE_DONE) {
        status = kvc_database_fail(database, diag);
    }
    sqlite3_reset(statement);
    return status;
}

static const char *const suffixes[] = {"-wal", "-shm", "-journal", ""};
enum { SUFFIXES = sizeof(suffixes) / sizeof(*suffixes) };

/* Refuses a database that is a link or anything but a regular file: SQLite would write outside the folder. */
static enum kvc_status check_kinds(const struct kvc_database *database, struct kvc_diag *diag)
{
    char path[PATH_MAX + 16];
    struct stat found;
    for (size_t i = 0; i < SUFFIXES; i++) {
        snprintf(path, sizeof(path), "%s%s", database->path, suffixes[i]);
        if (lstat(path, &found) == 0 && !S_ISREG(found.st_mode)) {
            return kvc_diag_fail_at(
                diag, KVC_ERR_SCENARIO, path, 0,
                "is %s, allowed: a file of this folder; remove it, or choose another folder",
                S_ISLNK(found.st_mode) ? "a symbolic link" : "no regular file");
        }
    }
    return KVC_OK;
}

static enum kvc_status remove_old(const struct kvc_database *database, struct kvc_diag *diag)
{
    char path[PATH_MAX + 16];
    for (size_t i = 0; i < SUFFIXES; i++) {
        snprintf(path, sizeof(path), "%s%s", database->path, suffixes[i]);
        if (unlink(path) != 0 && errno != ENOENT) {
            return kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, path, 0, "cannot be removed: %s", strerror(errno));
        }
    }
    return KVC_OK;
}

static bool real_path(const char *folder, char path[PATH_MAX])
{
    static const char name[] = "/sweep.sqlite";
    if (realpath(folder, path) == NULL) {
        return false;
    }
    if (strlen(path) + sizeof(name) > PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    strcat(path, name);
    return true;
}

/* Opens the file, which a first sweep that was killed early may have left without tables. */
static enum kvc_status open_file(struct kvc_database *database, const char *folder,
                                 const struct kvc_identity *identity, struct kvc_diag *diag)
{
    int64_t count = 0;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
    char real[PATH_MAX]; /* SQLite allows no link in the whole path; the user's folder may be one. */
    if (!real_path(folder, real)) {
        return kvc_diag_fail_write(diag, database->path, errno);
    }
    if (sqlite3_open_v2(real, &database->sqlite, flags, NULL) != SQLITE_OK) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, database->path, 0, "cannot be opened: %s",
                                database->sqlite != NULL ? sqlite3_errmsg(database->sqlite)
                                                         : "out of memory");
    }
    sqlite3_busy_timeout(database->sqlite, BUSY_MS);
    /* The file may come from a stranger: nothing in its schema runs. */
    sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    enum kvc_status status = kvc_database_query(database, "SELECT count(*) FROM sqlite_master", &count, diag);
    if (status == KVC_OK) { /* A damaged file may look as if it had no tables. */
        status = count > 0 ? check_file(database, identity, diag) : check_pages(database, diag);
    }
    if (status == KVC_OK) {
        /* A closed form is quickly computed again after a loss of power; a simulation is not. */
        status = kvc_database_execute(
            database,
            database->layout->predict
                ? "PRAGMA temp_store = MEMORY; PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL"
                : "PRAGMA temp_store = MEMORY; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL",
            diag);
    }
    if (status == KVC_OK && count == 0) {
        status = create_tables(database, identity, diag);
    }
    return status == KVC_OK ? prepare_statements(database, diag) : status;
}

/* Opens the file, and replaces it if it holds another sweep that has failed before its first point. */
static enum kvc_status open_or_replace(struct kvc_database *database, const char *folder,
                                       const struct kvc_identity *identity, struct kvc_diag *diag)
{
    struct kvc_diag inner = {0};
    enum kvc_status status = open_file(database, folder, identity, &inner);
    if (status != KVC_OK && database->is_vain) {
        sqlite3_close(database->sqlite);
        database->sqlite = NULL;
        status = remove_old(database, diag);
        return status == KVC_OK ? open_file(database, folder, identity, diag) : status;
    }
    if (status != KVC_OK && diag != NULL) {
        *diag = inner;
    }
    return status;
}

void kvc_database_close(struct kvc_database *database)
{
    if (database == NULL) {
        return;
    }
    sqlite3_finalize(database->add_point);
    sqlite3_finalize(database->add_metric);
    sqlite3_finalize(database->add_document);
    sqlite3_finalize(database->begin);
    sqlite3_finalize(database->commit);
    sqlite3_close(database->sqlite);
    free(database);
}

enum kvc_status kvc_database_open(const char *folder, const struct kvc_identity *identity,
                                  const struct kvc_database_layout *layout, bool restart,
                                  struct kvc_database **out, struct kvc_diag *diag)
{
    struct kvc_database *database = calloc(1, sizeof(*database));
    *out = NULL;
    if (database == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the database");
    }
    database->layout = layout;
    database->objectives = kvc_slo_verdict_of(layout->slo, &(struct kvc_slo_values){.value = {NAN}});
    enum kvc_status status = KVC_OK;
    if (snprintf(database->path, sizeof(database->path), "%s/sweep.sqlite", folder) >=
        (int)sizeof(database->path) - 64) {
        status = kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the path of the folder is too long");
    }
    if (status == KVC_OK) {
        status = check_kinds(database, diag);
    }
    if (status == KVC_OK && restart) {
        status = remove_old(database, diag);
    }
    if (status == KVC_OK) {
        status = open_or_replace(database, folder, identity, diag);
    }
    if (status != KVC_OK) {
        kvc_database_close(database);
        return status;
    }
    *out = database;
    return KVC_OK;
}

enum kvc_status kvc_database_stored(struct kvc_database *database, uint8_t *stored, uint32_t *count,
                                    struct kvc_diag *diag)
{
    sqlite3_stmt *statement;
    int code = SQLITE_DONE;
    enum kvc_status status =
        kvc_database_prepare(database, "SELECT point FROM points ORDER BY point", &statement, diag);
    *count = 0;
    while (status == KVC_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        sqlite3_int64 point = sqlite3_column_int64(statement, 0);
        if (point >= 1 && point <= database->layout->space->points) {
            stored[point - 1] = 1;
            ++*count;
        }
    }
    if (status == KVC_OK && code != SQLITE_DONE) {
        status = kvc_database_fail(database, diag);
    }
    sqlite3_finalize(statement);
    return status;
}

enum kvc_status kvc_database_begin(struct kvc_database *database, struct kvc_diag *diag)
{
    return step(database, database->begin, diag);
}

enum kvc_status kvc_database_commit(struct kvc_database *database, struct kvc_diag *diag)
{
    enum kvc_status status = step(database, database->commit, diag);
    if (status != KVC_OK && !sqlite3_get_autocommit(database->sqlite)) {
        sqlite3_exec(database->sqlite, "ROLLBACK", NULL, NULL, NULL);
    }
    return status;
}

/* Binds a number, or NULL if it is unknown. */
static void bind_number(sqlite3_stmt *statement, int at, double number)
{
    if (isnan(number)) {
        sqlite3_bind_null(statement, at);
    } else {
        sqlite3_bind_double(statement, at, number);
    }
}

static void bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    if (text[0] == '\0') {
        sqlite3_bind_null(statement, at);
    } else {
        sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
    }
}

/* Binds the verdict: whether all objectives are met, and the margin of each. Returns the next place. */
static int bind_verdict(const struct kvc_database *database, const struct kvc_row *row, int at)
{
    const struct kvc_slo_verdict verdict = kvc_row_verdict(row, database->layout->slo);
    if (verdict.count == 0) {
        return at;
    }
    bind_number(database->add_point, at++,
                verdict.state == KVC_SLO_UNKNOWN ? NAN : (double)(verdict.state == KVC_SLO_MET));
    for (uint32_t i = 0; i < verdict.count; i++) {
        if (verdict.judged[i].is_stated) {
            bind_number(database->add_point, at++, verdict.judged[i].margin_frac);
        }
    }
    return at;
}

static enum kvc_status add_row(struct kvc_database *database, uint32_t point, const uint32_t *value,
                               const struct kvc_row *row, const char *notes, struct kvc_diag *diag)
{
    const struct kvc_space *space = database->layout->space;
    sqlite3_stmt *statement = database->add_point;
    int at = 1;
    sqlite3_bind_int64(statement, at++, (sqlite3_int64)point + 1);
    for (uint32_t i = 0; i < space->axis_count; i++) {
        const struct kvc_sweep_value *chosen = &space->axis[i].value[value[i]];
        if (space->axis[i].numeric) {
            sqlite3_bind_double(statement, at++, chosen->number);
        } else {
            sqlite3_bind_text(statement, at++, chosen->label, -1, SQLITE_STATIC);
        }
    }
    for (int i = 0; i < KVC_ROW_COLUMNS; i++) {
        if (!database->layout->predict || !kvc_row_kinds[i].simulated) {
            bind_number(statement, at++, row->number[i]);
        }
    }
    for (uint32_t i = 0; i < kvc_database_tenants(database); i++) {
        for (int k = 0; k < KVC_ROW_TENANT_COLUMNS; k++) {
            bind_number(statement, at++, i < row->tenants ? row->tenant[i][k] : NAN);
        }
    }
    bind_text(statement, at++, row->bottleneck_stage);
    bind_text(statement, at++, row->bottleneck_device);
    bind_text(statement, at++, row->watts_missing);
    bind_text(statement, at++, row->price_missing);
    at = bind_verdict(database, row, at);
    if (!database->layout->predict) {
        bind_text(statement, at++, notes);
    }
    return step(database, statement, diag);
}

static enum kvc_status add_details(struct kvc_database *database, uint32_t point,
                                   const struct kvc_row_details *details, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (uint32_t i = 0; i < details->count && status == KVC_OK; i++) {
        const struct kvc_row_metric *metric = &details->metric[i];
        sqlite3_stmt *statement = database->add_metric;
        sqlite3_bind_int64(statement, 1, (sqlite3_int64)point + 1);
        sqlite3_bind_text(statement, 2, kvc_row_groups[metric->group], -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 3, metric->name, -1, SQLITE_STATIC);
        bind_number(statement, 4, metric->value);
        sqlite3_bind_int64(statement, 5, i);
        status = step(database, statement, diag);
    }
    if (status == KVC_OK) {
        sqlite3_bind_int64(database->add_document, 1, (sqlite3_int64)point + 1);
        sqlite3_bind_text(database->add_document, 2, details->document, -1, SQLITE_STATIC);
        status = step(database, database->add_document, diag);
    }
    return status;
}

enum kvc_status kvc_database_add(struct kvc_database *database, uint32_t point, const uint32_t *value,
                                 const struct kvc_row *row, const struct kvc_row_details *details,
                                 struct kvc_diag *diag)
{
    enum kvc_status status =
        add_row(database, point, value, row, details != NULL ? details->notes : "", diag);
    if (status == KVC_OK && details != NULL) {
        status = add_details(database, point, details, diag);
    }
    if (status != KVC_OK && !sqlite3_get_autocommit(database->sqlite)) {
        sqlite3_exec(database->sqlite, "ROLLBACK", NULL, NULL, NULL);
    }
    return status;
}
