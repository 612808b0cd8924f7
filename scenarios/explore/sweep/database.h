/* The database of a sweep: one SQLite file, FOLDER/sweep.sqlite, into which results go as they complete.
 *
 *     meta(key, value)                   what the sweep is (struct kvc_identity)
 *     points(point, AXES..., ...)        a row of numbers for each point that is done; names end in units
 *     metrics(point, kind, name, value)  utilization of stages, metrics of kernel and model; simulations only
 *     documents(point, document)         the whole result document; simulations only
 *
 * Points count from 1. A point with all that belongs to it is one transaction, so that a process that is
 * killed at any moment leaves whole points only. Others may read the file meanwhile (it is in WAL mode); only
 * the owner of the folder (sim/base/files/folder_lock.h) writes. Only the process that opened the database
 * may use it, not its children. */
#ifndef KVC_SCENARIOS_EXPLORE_SWEEP_DATABASE_H
#define KVC_SCENARIOS_EXPLORE_SWEEP_DATABASE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "scenarios/explore/space.h"
#include "scenarios/explore/sweep/row.h"
#include "scenarios/load/load.h"
#include "scenarios/output/accuracy.h"
#include "sim/base/diag.h"

/* The identity of a sweep. Points of two runs belong to one sweep only if it is the same for both.
 *
 * It is a list of named texts: the version of kvcast, the command, the seed, the parameters that the scenario
 * resolves to, its objectives, the axes with what their values resolve to, the design, the points, and the
 * contents of the traces. A comment or a new order of the keys does not make another sweep. */
enum { KVC_IDENTITY_MAX = 16 };

struct kvc_identity_entry {
    const char *key;  /* Name in the database. */
    const char *noun; /* Noun for messages; NULL: the entry is for information and is not compared. */
    char *text;
};

/* A zeroed struct is empty. */
struct kvc_identity {
    uint32_t count;
    struct kvc_identity_entry entry[KVC_IDENTITY_MAX];
};

void kvc_identity_free(struct kvc_identity *identity);

/* Describes the sweep of a loaded scenario, evaluated with the user's overrides `set`. Returns
 * KVC_ERR_SCENARIO if a file cannot be read. */
enum kvc_status kvc_identity_of(const struct kvc_loaded *loaded, const struct kvc_overrides *set,
                                const struct kvc_space *space, bool predict, struct kvc_identity *identity,
                                struct kvc_diag *diag);

struct kvc_database;

/* Inputs that determine the columns of `points`. */
struct kvc_database_layout {
    const struct kvc_space *space;
    const struct kvc_slo *slo;
    const struct kvc_plan_request *plan; /* May be NULL. */
    bool predict;                        /* Leave out the columns that only simulations have. */
};

/* Opens the database of `folder` or creates it. With `restart`, an existing one is removed first, and so
 * is one that holds another sweep without a point. Returns KVC_ERR_SCENARIO if the file holds points of
 * another sweep, has another schema, is damaged or is no database of a sweep, and KVC_ERR_RUNTIME if another
 * process writes to it or it cannot be written. An error does not change the file. *out is NULL unless KVC_OK
 * is returned. `layout` must outlive the database. */
enum kvc_status kvc_database_open(const char *folder, const struct kvc_identity *identity,
                                  const struct kvc_database_layout *layout, bool restart,
                                  struct kvc_database **out, struct kvc_diag *diag);

void kvc_database_close(struct kvc_database *database); /* NULL is allowed. */

/* Result of kvc_database_repair(). */
struct kvc_database_damage {
    /* Number of points with a row, metrics or a document that are not as kvcast writes them. */
    uint32_t points;
    char first[128]; /* Description of the first defect: "point 3 has no result document". */
};

/* Checks the row, the metrics and the document of every point. It removes a point that lacks one of them or
 * holds a value of a wrong type or of another point, so that the point is due again. */
enum kvc_status kvc_database_repair(struct kvc_database *database, struct kvc_database_damage *damage,
                                    struct kvc_diag *diag);

/* Sets stored[i] to 1 for every point i, counted from 0, that is done, and *count to their number. */
enum kvc_status kvc_database_stored(struct kvc_database *database, uint8_t *stored, uint32_t *count,
                                    struct kvc_diag *diag);

/* Begin and end a transaction. Everything added in between becomes visible and durable at once. */
enum kvc_status kvc_database_begin(struct kvc_database *database, struct kvc_diag *diag);
enum kvc_status kvc_database_commit(struct kvc_database *database, struct kvc_diag *diag);

/* Adds a point within a transaction. `details` is NULL for the closed form. An error rolls the transaction
 * back; earlier ones stay. */
enum kvc_status kvc_database_add(struct kvc_database *database, uint32_t point, const uint32_t *value,
                                 const struct kvc_row *row, const struct kvc_row_details *details,
                                 struct kvc_diag *diag);

/* Exports of a sweep's database: CSV and JSON with one row per point that is done, in the order of the
 * points, whatever order they were stored in. First come the columns of the table `points`, then the metrics
 * that some point has, then the notes; an unknown value is empty in CSV and null in JSON. No two columns
 * share a name: a stage or metric whose name is taken gets the prefix stage_, kernel_ or model_. */

/* Writes CSV. Write errors stay in the stream (ferror). */
enum kvc_status kvc_export_csv(struct kvc_database *database, FILE *out, struct kvc_diag *diag);

/* Writes a JSON document of the schema "kvcast.sweep/1": { schema, version, command, seed, design, axes,
 * best, accuracy, points: [...] }; `best` is that of kvc_best_write_json(), and `accuracy` that of points of
 * this kind. */
enum kvc_status kvc_export_json(struct kvc_database *database, const struct kvc_accuracy_kind *kind,
                                FILE *out, struct kvc_diag *diag);

/* Returns what FOLDER/sweep.sqlite says of all points: { scenario_file, command, version, parameters,
 * overrides }, and provenance, accuracy and scenario of the first point if it was simulated. Members that
 * cannot be read are missing. Nothing is written. The caller releases the object. */
json_t *kvc_database_summary(const char *folder);

#endif
