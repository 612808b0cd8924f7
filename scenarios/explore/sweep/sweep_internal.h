/* What the parts of a sweep share: sweep.c prepares and ends it, sweep_simulate.c and sweep_predict.c answer
 * the points that are due. */
#ifndef KVC_SCENARIOS_EXPLORE_SWEEP_SWEEP_INTERNAL_H
#define KVC_SCENARIOS_EXPLORE_SWEEP_SWEEP_INTERNAL_H

#include "scenarios/explore/sweep/sweep.h"
#include "sim/base/files/folder_lock.h"
#include "sim/base/files/partial_file.h"

/* What the progress bar shows. */
struct kvc_sweep_progress {
    struct kvc_progress progress;     /* For the pool; forwards to `shown`. */
    const struct kvc_progress *shown; /* May be NULL. */
    double started_s;
    uint32_t total, kept, ended; /* Points; `ended` counts those of this run. */
    bool judged;                 /* The scenario states objectives. */
    bool best_met;               /* The best point meets them. */
    double best_mops;            /* Highest throughput; of points that meet the objectives if there is one. */
};

struct kvc_sweep_run {
    const struct kvc_sweep_options *task;
    struct kvc_overrides set; /* The user's, and the replicas of the sweep. */
    struct kvc_loaded *base;  /* The scenario without the values of a point. */
    struct kvc_space *space;
    struct kvc_database_layout layout;
    struct kvc_folder_lock lock; /* Of the first rank. */
    struct kvc_database *database;
    uint32_t *due; /* Points that are not stored. */
    uint32_t due_count;
    double available_bytes;            /* 0 when unknown. */
    double *due_memory_bytes;          /* Memory reserved while a point runs, by its place in `due`. */
    struct kvc_partial_file csv, json; /* What the user asked for beside FOLDER/sweep.csv. */
    struct kvc_sweep_progress progress;
    struct kvc_sweep_done *done;
};

/* Load and answer the points that are due. */
enum kvc_status kvc_sweep_simulate(struct kvc_sweep_run *run, struct kvc_diag *diag);
enum kvc_status kvc_sweep_predict(struct kvc_sweep_run *run, struct kvc_diag *diag);

/* Writes the values of a point: "system.cycle = 160us, run.seed = 1". */
void kvc_sweep_show_point(const struct kvc_space *space, uint32_t point, char *text, size_t size);

/* Puts the number and the values of a point in front of a message about it. */
void kvc_sweep_name_point(const struct kvc_sweep_run *run, uint32_t point, struct kvc_diag *diag);

/* Counts a point that has ended and shows the progress, with the share of this run that is done. */
void kvc_sweep_note(struct kvc_sweep_progress *progress, const struct kvc_row *row,
                    const struct kvc_slo *slo);
void kvc_sweep_show(struct kvc_sweep_progress *progress, double fraction);

#endif
