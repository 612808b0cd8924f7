/* Internals that database.c and database_read.c share. */
#ifndef KVC_SCENARIOS_EXPLORE_SWEEP_DATABASE_INTERNAL_H
#define KVC_SCENARIOS_EXPLORE_SWEEP_DATABASE_INTERNAL_H

#include <limits.h>
#include <sqlite3.h>

#include "scenarios/explore/sweep/database.h"

struct kvc_database {
    sqlite3 *sqlite;
    char path[PATH_MAX];
    const struct kvc_database_layout *layout;
    bool is_vain;                      /* The file holds another sweep, of which it has no point. */
    struct kvc_slo_verdict objectives; /* The objectives that the scenario states. */
    sqlite3_stmt *add_point, *add_metric, *add_document, *begin, *commit;
};

/* Returns the number of tenants that points have columns for. A closed form does not tell tenants apart. */
uint32_t kvc_database_tenants(const struct kvc_database *database);

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

#endif
