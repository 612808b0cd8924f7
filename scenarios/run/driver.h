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
#include "scenarios/run/options.h"
#include "sim/base/diag.h"
#include "sim/scenario.h"

/* Simulates all replicas; those of a cluster whose nodes are simulated apart, node by node
 * (scenarios/run/cluster.h). *out is NULL after an error. */
enum kvc_status kvc_driver_run(const struct kvc_scenario *scenario, const struct kvc_run_options *options,
                               struct kvc_outcome **out, struct kvc_diag *diag);

/* Runs the store for real on this machine, once, regardless of run.replicas. *out is NULL after an error. */
enum kvc_status kvc_driver_measure(const struct kvc_scenario *scenario, const struct kvc_run_options *options,
                                   struct kvc_outcome **out, struct kvc_diag *diag);

/* Answers by the store's closed form. *out is NULL after an error. */
enum kvc_status kvc_driver_predict(const struct kvc_scenario *scenario, struct kvc_outcome **out,
                                   struct kvc_diag *diag);

#endif
