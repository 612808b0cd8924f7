/* Drives a loaded scenario to its answer: it checks the memory, prepares and runs every replica in a
 * forked child and merges the results.
 *
 * SimGrid allows one engine in a process, so every replica runs in a child of its own. It prepares a store of
 * its own there, because replicas differ in what their stores hold and where (sim/base/seeds.h). Replicas are
 * merged strictly in their order, so that the answer is the same, bit for bit, for any number of jobs.
 *
 * A cluster whose nodes are simulated apart (models/cluster/cluster.h) runs node by node: every node gets its
 * keys and its share of the load, is simulated in a child, and the results are added up, replica by replica.
 * The ring and the keys' places on it differ between replicas, as they do when all nodes are simulated
 * together. Every node has streams of random numbers of its own, derived from the replica's seed and the
 * node's number. Results are added in the order of the nodes, so that the answer is the same for any number
 * of jobs.
 *
 * A node that fails answers the requests that have reached it. Requests that are sent to it later, until
 * clients notice, are drawn as a Poisson number and count as offered and dropped. A node that leaves hands
 * nothing over. In both cases, clients send to the other nodes at once after the change, and the moved keys
 * miss there. */
#ifndef KVC_SCENARIOS_RUN_DRIVER_H
#define KVC_SCENARIOS_RUN_DRIVER_H

#include <stdint.h>

#include "models/measured/pair.h"
#include "models/model.h"
#include "scenarios/output/outcome.h"
#include "sim/base/diag.h"
#include "sim/base/files/partial_file.h"
#include "sim/base/progress.h"
#include "sim/scenario.h"

/* The options of a run. */
struct kvc_run_options {
    uint32_t jobs;          /* Children at a time; 0: as many as processors and memory allow. */
    uint32_t first_replica; /* Number of the first replica, for a run that continues another one. */
    double available_bytes; /* Memory that the run may use; 0: all that is free [bytes]. */
    struct kvc_partial_file
        *timeline; /* File for the timeline of replica 0 (in a cluster: of its node 0), or NULL. */
    struct kvc_partial_file *platform;   /* File for the SimGrid platform of the same simulation, or NULL. */
    const struct kvc_progress *progress; /* May be NULL. */
};

/* Simulates all replicas, node by node if the nodes of a cluster are simulated apart. *out is NULL after an
 * error. */
enum kvc_status kvc_driver_run(const struct kvc_scenario *scenario, const struct kvc_run_options *options,
                               struct kvc_outcome **out, struct kvc_diag *diag);

/* Judges whether the measured time of a run was long enough. KVC_ERR_SCENARIO if nothing was answered, or so
 * few requests were sent that not even their median has a 95 % interval; a run without any interval gets a
 * note. A trace is as long as it is, and a load or a machine that changes has no interval within a run. */
enum kvc_status kvc_driver_judge(const struct kvc_scenario *scenario, struct kvc_outcome *outcome,
                                 struct kvc_diag *diag);

/* Runs the store for real on this machine, once, regardless of run.replicas. *out is NULL after an error. */
enum kvc_status kvc_driver_measure(const struct kvc_scenario *scenario, const struct kvc_run_options *options,
                                   struct kvc_outcome **out, struct kvc_diag *diag);

/* Runs two stores for real on this machine, in `pairs` pairs of turns (models/measured/pair.h). */
enum kvc_status kvc_driver_measure_pair(const struct kvc_scenario *const scenario[2], uint32_t pairs,
                                        const struct kvc_run_options *options, struct kvc_pair_result *result,
                                        struct kvc_diag *diag);

/* Makes the scenario that a closed form takes: that of a trace has the mean rate of the trace, and its
 * profile if clients fill what misses (sim/workload/trace/profile.h). It shares all allocated parts with
 * `scenario`. Returns KVC_ERR_SCENARIO if the trace cannot be read. */
enum kvc_status kvc_driver_steady(const struct kvc_scenario *scenario, struct kvc_scenario *steady,
                                  struct kvc_diag *diag);

/* Forecasts the scenario that a closed form takes. */
enum kvc_status kvc_driver_forecast(const struct kvc_scenario *scenario, struct kvc_forecast *out,
                                    struct kvc_diag *diag);

/* Answers by the store's closed form. *out is NULL after an error. */
enum kvc_status kvc_driver_predict(const struct kvc_scenario *scenario, struct kvc_outcome **out,
                                   struct kvc_diag *diag);

/* Simulates all replicas of a cluster, node by node. If `usual` is not NULL, the answer will be compared with
 * it: every node measures the same time as it did there. `usual` has the same nodes and at least as many
 * replicas. *out is NULL after an error. */
enum kvc_status kvc_cluster_run(const struct kvc_scenario *scenario, const struct kvc_run_options *options,
                                const struct kvc_outcome *usual, struct kvc_outcome **out,
                                struct kvc_diag *diag);

#endif
