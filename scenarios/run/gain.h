/* Finds the bottleneck of a scenario: the resource of the store whose speedup by 5 % gains the most
 * throughput.
 *
 * A simulated scenario is run once more for each resource, with the same seeds. The pairs of runs differ in
 * nothing but the speed of the resource, so the interval of their difference is much narrower than the
 * interval of the throughput itself. The interval is over the replicas, or over parts of the measured time if
 * there is one replica. Resources whose stages and devices are all mostly idle are left out, unless clients
 * wait for responses, because any latency counts then. The closed form answers without an interval.
 *
 * A store that serves all requests of an open load cannot gain, so "load" is the answer without further runs.
 * Not modelled: options that a user would change with the faster resource. */
#ifndef KVC_SCENARIOS_RUN_GAIN_H
#define KVC_SCENARIOS_RUN_GAIN_H

#include "scenarios/output/outcome.h"
#include "scenarios/run/driver.h"
#include "sim/base/diag.h"
#include "sim/scenario.h"

/* Sets the gains of an answered scenario and its bottleneck by them: the stage is the busiest of those that
 * spend time on the resource. If no resource gains more than chance explains, or if the store does not name
 * its resources, the bottleneck by utilization stays, which is "load" if no stage is busy for 90 % of the
 * time: resources that are equally busy gain only together. The reason says which of these it is. `options`
 * are the options of the run; NULL: the closed form answered. */
enum kvc_status kvc_gain_find(const struct kvc_scenario *scenario, const struct kvc_run_options *options,
                              struct kvc_outcome *outcome, struct kvc_diag *diag);

/* Finds the same, and what every resource that the requests take changes in throughput and latency: also of
 * an open load that is served, where only latencies can gain, and of resources that are mostly idle.
 * relief[0 .. *count - 1] are in the order of the store's resources; `relief` has room for KVC_GAINS_MAX. */
enum kvc_status kvc_gain_relieve(const struct kvc_scenario *scenario, const struct kvc_run_options *options,
                                 struct kvc_outcome *outcome, struct kvc_relief *relief, uint32_t *count,
                                 struct kvc_diag *diag);

#endif
