/* From a loaded scenario to an answer: memory check, preparation, one forked child per replica, merging.
 *
 * SimGrid allows one engine in a process, so every replica runs in a child of its own. Replicas are merged
 * strictly in their order: the answer is the same, bit for bit, for any number of jobs. */
#ifndef KVC_SCENARIOS_RUN_DRIVER_H
#define KVC_SCENARIOS_RUN_DRIVER_H

#include <stdint.h>

#include "models/model.h"
#include "scenarios/output/outcome.h"
#include "sim/base/diag.h"
#include "sim/scenario.h"

enum { KVC_TIMELINE_EVENTS_MAX = 200000 }; /* some 20 MB of JSON, what Perfetto opens at once */

struct kvc_run_options {
    uint32_t jobs;                       /* children at a time; 0: as many as processors and memory allow */
    double available_bytes;              /* memory that may be taken; 0: what the machine has */
    const char *timeline_path;           /* of replica 0; NULL: none */
    const char *platform_path;           /* of replica 0; NULL: not kept */
    const struct kvc_progress *progress; /* NULL: nobody listens */
};

/* Simulates all replicas. *out is NULL unless KVC_OK is returned. */
enum kvc_status kvc_driver_run(const struct kvc_scenario *scenario, const struct kvc_run_options *drive,
                               struct kvc_outcome **out, struct kvc_diag *diag);

/* Runs the store's real pipeline on this machine, once, whatever run.replicas says. */
enum kvc_status kvc_driver_measure(const struct kvc_scenario *scenario, const struct kvc_run_options *drive,
                                   struct kvc_outcome **out, struct kvc_diag *diag);

/* The closed-form answer. *out is NULL unless KVC_OK is returned. */
enum kvc_status kvc_driver_predict(const struct kvc_scenario *scenario, struct kvc_outcome **out,
                                   struct kvc_diag *diag);

#endif
