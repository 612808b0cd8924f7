/* The database of a sweep: one SQLite file, FOLDER/sweep.sqlite, into which results go as they complete.
 *
 *     meta(key, value)                   what the sweep is (scenarios/explore/sweep/identity.h)
 *     points(point, AXES..., ...)        a row of numbers for each point that is done; names end in units
 *     metrics(point, kind, name, value)  of simulated points: utilization of stages, metrics of kernel and
 * model documents(point, document)         of simulated points: the whole result document
 *
 * Points count from 1. A point with all that belongs to it is one transaction, so that a process that is
 * killed at any moment leaves whole points only. Others may read the file meanwhile (it is in WAL mode); one
 * process at a time writes, the owner of the folder (sim/base/files/folder_lock.h). The database is only for
 * the process that opened it, not for its children. */
#ifndef KVC_SCENARIOS_EXPLORE_SWEEP_DATABASE_H
#define KVC_SCENARIOS_EXPLORE_SWEEP_DATABASE_H

#include <stdbool.h>
#include <stdint.h>

#include "scenarios/explore/sweep/identity.h"
#include "scenarios/explore/sweep/row.h"
#include "scenarios/explore/space.h"
#include "sim/base/diag.h"

enum { KVC_DATABASE_SCHEMA = 1 };

struct kvc_database;

/* What the columns of `points` follow from. */
struct kvc_database_layout {
    const struct kvc_space *space;
    const struct kvc_slo *slo;
    bool predict; /* No columns that only simulations have. */
};

/* Opens the database of `folder` or creates it. With `restart`, an existing one is removed first. Returns
 * KVC_ERR_SCENARIO if the file holds another sweep, has another schema, is damaged or is no database of a
 * sweep, and KVC_ERR_RUNTIME if another process writes to it or it cannot be written. The file is left as it
 * is then. *out is NULL unless KVC_OK is returned. `layout` must outlive the database. */
enum kvc_status kvc_database_open(const char *folder, const struct kvc_identity *identity,
                                  const struct kvc_database_layout *layout, bool restart,
                                  struct kvc_database **out, struct kvc_diag *diag);

void kvc_database_close(struct kvc_database *database); /* NULL is allowed. */

/* What kvc_database_repair() found. */
struct kvc_database_damage {
    uint32_t
        points; /* Number of points with a row, metrics or a document that are not as kvcast writes them. */
    char first[128]; /* What is wrong with the first: "point 3 has no result document". */
};

/* Checks the row, the metrics and the document of every point, and removes the points of which something is
 * missing, of another type or of another point, so that they are due again. */
enum kvc_status kvc_database_repair(struct kvc_database *database, struct kvc_database_damage *damage,
                                    struct kvc_diag *diag);

/* Sets stored[i] to 1 for every point i, counted from 0, that is done, and *count to their number. */
enum kvc_status kvc_database_stored(struct kvc_database *database, uint8_t *stored, uint32_t *count,
                                    struct kvc_diag *diag);

/* Begin and end a transaction. What lies between becomes visible and lasting as a whole. */
enum kvc_status kvc_database_begin(struct kvc_database *database, struct kvc_diag *diag);
enum kvc_status kvc_database_commit(struct kvc_database *database, struct kvc_diag *diag);

/* Adds a point within a transaction. `details` is NULL for the closed form. After an error the transaction is
 * gone; earlier ones stay. */
enum kvc_status kvc_database_add(struct kvc_database *database, uint32_t point, const uint32_t *value,
                                 const struct kvc_row *row, const struct kvc_row_details *details,
                                 struct kvc_diag *diag);

/* Returns the name of an axis' column: its path and the unit, as in "system.cycle_ns". */
void kvc_database_axis_name(const struct kvc_sweep_axis *axis, char name[KVC_PATH_MAX + 16]);

#endif
