/* Drives a cluster whose nodes are simulated apart (models/cluster/cluster.h): it gives every node its keys
 * and its share of the load, simulates each in a child, and adds their results up, replica by replica.
 *
 * The ring and the keys' places on it differ between replicas, as they do when all nodes are simulated
 * together. Every node has streams of random numbers of its own, derived from the replica's seed and its
 * number. Results are added in the order of the nodes, so that the answer is the same for any number of jobs.
 *
 * A node that fails answers the requests that have reached it. Those that are sent to it later, until clients
 * notice, are drawn as a Poisson number and count as offered and dropped. A node that leaves hands nothing
 * over. In both cases, clients send to the other nodes at once after the change, and the moved keys miss
 * there.
 */
#ifndef KVC_SCENARIOS_RUN_CLUSTER_H
#define KVC_SCENARIOS_RUN_CLUSTER_H

#include "scenarios/output/outcome.h"
#include "scenarios/run/options.h"
#include "sim/base/diag.h"
#include "sim/scenario.h"

/* Simulates all replicas of all nodes. `usual` is the answer that this one is to be compared with, and NULL
 * if there is none: every node then measures the same time as there. It has the same nodes and at least as
 * many replicas. *out is NULL after an error. */
enum kvc_status kvc_cluster_run(const struct kvc_scenario *scenario, const struct kvc_run_options *options,
                                const struct kvc_outcome *usual, struct kvc_outcome **out,
                                struct kvc_diag *diag);

#endif
