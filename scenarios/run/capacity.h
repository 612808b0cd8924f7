/* Searches the capacity of a store: the highest open load that it serves within a loss and a latency bound.
 *
 * The search probes loads (scenarios/run/capacity_probe.h). It starts at the closed form's capacity, moves
 * away from it in growing steps until the capacity is bracketed, and bisects. Three searches share their
 * probes: for the highest load that most replicas serve, for the highest load that all replicas serve with no
 * disputed load below it, and for the load above which no replica serves any load. If the replicas agree, the
 * three loads are the same. The last two are the ends of the reported interval, and the mean is the middle of
 * the first search's bracket. Low ends are reduced by the growth of a backlog that a probe cannot see.
 * Replicas that disagree therefore widen the interval, and so does any other probe that contradicts it.
 *
 * At the end the latency curve is probed at fixed shares of the highest load that most replicas serve. */
#ifndef KVC_SCENARIOS_RUN_CAPACITY_H
#define KVC_SCENARIOS_RUN_CAPACITY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "scenarios/load/load.h"
#include "scenarios/output/capacity.h"
#include "sim/base/diag.h"
#include "sim/base/progress.h"

enum { KVC_CAPACITY_LONGEST = 8 /* Default of kvc_capacity_options.longest; a power of two. */ };

struct kvc_capacity_options {
    struct kvc_capacity_bounds bounds;
    bool no_curve;    /* Leave out the latency curve. */
    uint32_t longest; /* Longest measured time of a probe, relative to the scenario's; 0 for the default. */
    uint32_t jobs;    /* Processes that run at the same time; 0 for as many as fit. */
    const struct kvc_progress *progress; /* May be NULL. */
};

/* The bounds without options: no loss, any latency, 1 %. */
extern const struct kvc_capacity_bounds kvc_capacity_bounds_default;

/* Parse the bounds "0.001", "0.01" and "p99=1ms". The message of KVC_ERR_SCENARIO names the text and what is
 * allowed. */
enum kvc_status kvc_capacity_parse_loss(const char *text, struct kvc_capacity_bounds *bounds,
                                        struct kvc_diag *diag);
enum kvc_status kvc_capacity_parse_precision(const char *text, struct kvc_capacity_bounds *bounds,
                                             struct kvc_diag *diag);
enum kvc_status kvc_capacity_parse_latency(const char *text, struct kvc_capacity_bounds *bounds,
                                           struct kvc_diag *diag);

/* Finds the capacity. Errors: KVC_ERR_SCENARIO for arrivals without a rate and for run.changes;
 * KVC_ERR_RUNTIME if no load meets the bounds, if every load does, or if a run fails; KVC_ERR_INTERRUPTED if
 * a deferred signal ended it (sim/base/cleanup.h), after which *capacity is what the points judged so far
 * say, if there are any. The caller frees *capacity. */
enum kvc_status kvc_capacity_find(const struct kvc_loaded *loaded, const struct kvc_capacity_options *options,
                                  struct kvc_capacity *capacity, struct kvc_diag *diag);

struct kvc_capacity_task {
    const struct kvc_loaded *loaded;
    const char *path;                /* Path of the scenario, as the user wrote it. */
    const struct kvc_overrides *set; /* The user's overrides. */
    struct kvc_capacity_options options;
    const char *out;  /* Folder for capacity.json and capacity.csv, or NULL. */
    const char *json; /* File for the JSON document, "-" for the stream, or NULL. */
    bool keeps;       /* Keep the answer to another question that is in `out` (kvc_folder_keep()). */
    bool color;       /* Use terminal colours in the table. */
};

/* Finds the capacity, writes the files, and then writes the table to `out`, or the document if `json` is "-".
 * Nothing starts if an output cannot be opened.
 *
 * The first SIGINT or SIGTERM ends the search, the second one the process. If a load has been judged by then,
 * *partial is set and the answer is what is known; else KVC_ERR_INTERRUPTED is returned. A job of several
 * ranks ends at the first signal without an answer. */
enum kvc_status kvc_capacity_answer(const struct kvc_capacity_task *task, FILE *out, bool *partial,
                                    struct kvc_diag *diag);

/* Draws capacity.svg, .pdf and .png from the capacity in the folder. */
enum kvc_status kvc_capacity_draw(const char *folder, struct kvc_diag *diag);

#endif
