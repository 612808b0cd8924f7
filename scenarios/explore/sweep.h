/* A sweep runs every point of a scenario's `sweep` table: the Cartesian product of its axes, the first of
 * which varies slowest.
 *
 * All points are loaded and checked before the first one runs. Each point runs in its own child process,
 * since a process can have only one engine, and writes the result document FOLDER/points/NNNN.json. A
 * document that the same version of kvcast wrote for the same parameters is kept, so that an interrupted
 * sweep continues where it stopped. At the end FOLDER/sweep.csv has one row per point. The contents of trace
 * files are not compared: remove the points after changing a trace. */
#ifndef KVC_SCENARIOS_EXPLORE_SWEEP_H
#define KVC_SCENARIOS_EXPLORE_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "models/model.h"
#include "scenarios/load/load.h"
#include "sim/base/diag.h"

typedef enum kvc_status kvc_load_fn(const char *path, const struct kvc_overrides *set,
                                    struct kvc_loaded **out, struct kvc_diag *diag);

struct kvc_sweep_options {
    const char *path;                /* Path of the scenario. */
    const struct kvc_overrides *set; /* The user's overrides, which come before the point's values. */
    kvc_load_fn *load;               /* kvc_scenario_load, or its substitute in a test. */
    kvc_load_fn *load_point;         /* kvc_scenario_load_point, or its substitute in a test. */
    const char *folder;
    bool predict;  /* Evaluate the closed form instead of simulating. */
    uint32_t jobs; /* Points that run at the same time; 0 for one per processor. */
    const struct kvc_progress *progress;
};

struct kvc_sweep_done {
    uint32_t points; /* Number of points. */
    uint32_t kept;   /* Points whose document already existed. */
};

enum kvc_status kvc_sweep_run(const struct kvc_sweep_options *task, struct kvc_sweep_done *done,
                              struct kvc_diag *diag);

#endif
