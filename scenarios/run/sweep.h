/* Every point of a scenario's `sweep` table: the cartesian product of its axes, the first axis varying
 * slowest.
 *
 * All points are loaded and checked before the first one runs. Each runs in a child of its own (one engine
 * per process) and leaves FOLDER/points/NNNN.json, a whole result document; a document that is there already
 * and answers the same parameters by the same version is kept, so an interrupted sweep goes on where it
 * ended. At the end FOLDER/sweep.csv has one row per point. What a trace file contains is not compared:
 * remove the points after changing it. */
#ifndef KVC_SCENARIOS_RUN_SWEEP_H
#define KVC_SCENARIOS_RUN_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "models/model.h"
#include "scenarios/load/load.h"
#include "sim/base/diag.h"

enum { KVC_SWEEP_POINTS_MAX = 9999 };

typedef enum kvc_status kvc_load_fn(const char *path, const struct kvc_overrides *set,
                                    struct kvc_loaded **out, struct kvc_diag *diag);

struct kvc_sweep_options {
    const char *path;                /* of the scenario */
    const struct kvc_overrides *set; /* the user's; a point's own values come after them */
    kvc_load_fn *load;               /* kvc_scenario_load, or what a test puts in its place */
    const char *folder;
    bool predict;  /* closed form instead of simulation */
    uint32_t jobs; /* points at a time; 0: as many as there are processors */
    const struct kvc_progress *progress;
};

struct kvc_sweep_done {
    uint32_t points, kept;
};

enum kvc_status kvc_sweep_run(const struct kvc_sweep_options *task, struct kvc_sweep_done *done,
                              struct kvc_diag *diag);

#endif
