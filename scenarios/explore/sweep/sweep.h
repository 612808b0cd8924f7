/* A sweep answers every point of a space (scenarios/explore/space.h), by simulation or by the closed form,
 * and keeps the answers in a database (scenarios/explore/sweep/database.h).
 *
 * Simulated points are all loaded and checked before the first one runs. Each runs in its own child process,
 * with its replicas one after the other, since a process can have only one engine; it is stored as soon as it
 * ends. The closed form answers in this process, and points are stored in batches. An interrupted sweep
 * continues with the points that are not stored. At its end, and after an error or an interruption,
 * FOLDER/sweep.csv has a row for each point that is done.
 *
 * Results do not depend on the number of jobs. Which points are due is decided once, from the database. */
#ifndef KVC_SCENARIOS_EXPLORE_SWEEP_SWEEP_H
#define KVC_SCENARIOS_EXPLORE_SWEEP_SWEEP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "models/model.h"
#include "scenarios/explore/sweep/best.h"
#include "scenarios/explore/sweep/database.h"
#include "scenarios/load/load.h"
#include "scenarios/output/accuracy.h"
#include "sim/base/diag.h"

typedef enum kvc_status kvc_load_fn(const char *path, const struct kvc_overrides *set,
                                    struct kvc_loaded **out, struct kvc_diag *diag);

struct kvc_sweep_options {
    const char *path;                /* Path of the scenario. */
    const struct kvc_overrides *set; /* The user's overrides, which come before the point's values. */
    kvc_load_fn *load;               /* kvc_scenario_load, or its substitute in a test. */
    kvc_load_fn *load_point;         /* kvc_scenario_load_point, or its substitute in a test. */
    const char *folder;
    bool predict;     /* Evaluate the closed form instead of simulating. */
    bool restart;     /* Replace an existing database. */
    uint32_t jobs;    /* Points that run at the same time; 0 for one per processor. */
    const char *csv;  /* A further file for the table, or NULL. */
    const char *json; /* A file for the table as JSON, "-" for `out`, or NULL. */
    FILE *out;        /* Receives the JSON document. */
    const struct kvc_progress *progress;
};

struct kvc_sweep_done {
    uint32_t points;                   /* Number of points. */
    uint32_t kept;                     /* Points that were stored before. */
    struct kvc_database_damage damage; /* Stored points that were damaged and therefore due again. */
    struct kvc_accuracy_kind kind;     /* What the points are forecasts of. */
    struct kvc_best best;
    char best_values[512]; /* The values of its leader: "system.cycle = 160us, ...". */
    double evaluate_s, store_s,
        export_s; /* Processor time of a sweep by closed form; 0 for simulations [s]. */
};

/* Answers the points that are not stored and writes the exports. Returns KVC_ERR_SCENARIO for errors that the
 * user can fix, such as a wrong point or a folder with another sweep, and KVC_ERR_RUNTIME if a point fails or
 * the database cannot be written. SIGINT and SIGTERM end the work early, unless there are several ranks, and
 * it returns KVC_ERR_INTERRUPTED. Stored points stay stored. */
enum kvc_status kvc_sweep_run(const struct kvc_sweep_options *task, struct kvc_sweep_done *done,
                              struct kvc_diag *diag);

#endif
