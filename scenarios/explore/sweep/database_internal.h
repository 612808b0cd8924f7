/* What the files of the database share. */
#ifndef KVC_SCENARIOS_EXPLORE_SWEEP_DATABASE_INTERNAL_H
#define KVC_SCENARIOS_EXPLORE_SWEEP_DATABASE_INTERNAL_H

#include <limits.h>
#include <sqlite3.h>

#include "scenarios/explore/sweep/database.h"

struct kvc_database {
    sqlite3 *sqlite;
    char path[PATH_MAX];
    const struct kvc_database_layout *layout;
    struct kvc_slo_verdict objectives; /* Which ones the scenario states. */
    sqlite3_stmt *add_point, *add_metric, *add_document, *begin, *commit;
};

/* Fails with what SQLite says about the last call. */
enum kvc_status kvc_database_fail(const struct kvc_database *database, struct kvc_diag *diag);

/* Compiles a statement. *out is NULL after an error. */
enum kvc_status kvc_database_prepare(const struct kvc_database *database, const char *sql, sqlite3_stmt **out,
                                     struct kvc_diag *diag);

/* Runs statements that return nothing. */
enum kvc_status kvc_database_execute(const struct kvc_database *database, const char *sql,
                                     struct kvc_diag *diag);

/* Reads one number. */
enum kvc_status kvc_database_query(const struct kvc_database *database, const char *sql, int64_t *number,
                                   struct kvc_diag *diag);

/* Creates the tables and writes the identity (database_schema.c). */
enum kvc_status kvc_database_create(struct kvc_database *database, const struct kvc_identity *identity,
                                    struct kvc_diag *diag);

/* Fails if SQLite finds the file inconsistent (database_schema.c). */
enum kvc_status kvc_database_check_pages(const struct kvc_database *database, struct kvc_diag *diag);

/* Checks that a file that exists holds this sweep (database_schema.c). */
enum kvc_status kvc_database_check(struct kvc_database *database, const struct kvc_identity *identity,
                                   struct kvc_diag *diag);

/* Prepares the statements that add points (database_schema.c). */
enum kvc_status kvc_database_prepare_all(struct kvc_database *database, struct kvc_diag *diag);

#endif
