#include "scenarios/explore/sweep/database.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenarios/explore/sweep/database_internal.h"

enum { BUSY_MS = 2000 }; /* A reader that checkpoints is done sooner. */

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

/* Refuses a database that is a link, or anything else than a file: SQLite would write out of the folder. */
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
    int64_t tables = 0;
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
    /* The file may be a stranger's: nothing in its schema runs. */
    sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    enum kvc_status status =
        kvc_database_query(database, "SELECT count(*) FROM sqlite_master", &tables, diag);
    if (status == KVC_OK) { /* A damaged file may look as if it had no tables. */
        status = tables > 0 ? kvc_database_check(database, identity, diag)
                            : kvc_database_check_pages(database, diag);
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
    if (status == KVC_OK && tables == 0) {
        status = kvc_database_create(database, identity, diag);
    }
    return status == KVC_OK ? kvc_database_prepare_all(database, diag) : status;
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
        status = open_file(database, folder, identity, diag);
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
        bind_number(database->add_point, at++, verdict.judged[i].margin_frac);
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
    bind_text(statement, at++, row->bottleneck_stage);
    bind_text(statement, at++, row->bottleneck_device);
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
