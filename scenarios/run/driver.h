/* Drives a loaded scenario to its answer: it checks the memory, prepares and runs every replica in a
 * forked child and merges the results.
 *
 * SimGrid allows one engine in a process, so every replica runs in a child of its own. It prepares a store of
 * its own there, because replicas differ in what their stores hold and where (sim/base/seeds.h). Replicas are
 * merged strictly in their order, so that the answer is the same, bit for bit, for any number of jobs. */
#ifndef KVC_SCENARIOS_RUN_DRIVER_H
#define KVC_SCENARIOS_RUN_DRIVER_H

#include <stdint.h>

#include "models/model.h"
#include "scenarios/output/outcome.h"
#include "sim/base/diag.h"
#include "sim/scenario.h"

enum { KVC_TIMELINE_EVENTS_MAX = 200000 }; /* About 20 MB of JSON, which Perfetto opens at once. */

struct kvc_run_options {
    uint32_t jobs;                       /* Children at a time; 0: as many as processors and memory allow. */
    double available_bytes;              /* Memory that the run may use; 0: all that is free [bytes]. */
    const char *timeline_path;           /* File for the timeline of replica 0, or NULL. */
    const char *platform_path;           /* File for the SimGrid platform of replica 0, or NULL. */
    const struct kvc_progress *progress; /* May be NULL. */
};

/* Simulates all replicas. *out is NULL after an error. */
enum kvc_status kvc_driver_run(const struct kvc_scenario *scenario, const struct kvc_run_options *options,
                               struct kvc_outcome **out, struct kvc_diag *diag);

/* Runs the store for real on this machine, once, regardless of run.replicas. *out is NULL after an error. */
enum kvc_status kvc_driver_measure(const struct kvc_scenario *scenario, const struct kvc_run_options *options,
                                   struct kvc_outcome **out, struct kvc_diag *diag);

/* Answers by the store's closed form. *out is NULL after an error. */
enum kvc_status kvc_driver_predict(const struct kvc_scenario *scenario, struct kvc_outcome **out,
                                   struct kvc_diag *diag);

#endif
