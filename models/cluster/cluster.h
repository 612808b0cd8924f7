/* A cluster whose nodes are simulated apart: when that is possible, and what each node is.
 *
 * Nodes that share nothing can be simulated one by one, each in a process of its own. That is so if
 *
 * - the load of a node does not depend on the others: an open load (poisson, fixed or a curve), whose clients
 *   do not wait, or a saturating load with clients for each socket. One set of saturating clients, and those
 * of a closed loop, send less to all nodes when one is slow. A trace, actions and phases stay in one engine,
 * too.
 * - the nodes do not exchange messages and share no device (`has_links_between_nodes` of a store is false),
 * and no database is behind them that all share (cluster.database).
 * - no device changes during the run (run.changes), which names nodes of one engine.
 *
 * Such a cluster is simulated apart unless cluster.simulate is "together". A node's scenario has one node,
 * its share of the keys and of the rate, and the node and options of its class. A class is a group of equal
 * nodes (cluster.members), or all nodes. */
#ifndef KVC_MODELS_CLUSTER_CLUSTER_H
#define KVC_MODELS_CLUSTER_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "models/resource.h"
#include "sim/base/diag.h"
#include "sim/metrics/result.h"
#include "sim/scenario.h"
#include "sim/workload/keys/key_parts.h"

/* Returns what couples the nodes of a scenario, as the end of a sentence: "clients that wait for all nodes";
 * NULL: nothing. */
const char *kvc_cluster_coupling(const struct kvc_scenario *scenario);

/* Returns whether the nodes are simulated apart. A single node is where the cluster needs it: for multigets,
 * changes or members. */
bool kvc_cluster_is_apart(const struct kvc_scenario *scenario);

/* Checks the cluster of a scenario whose workload and run have been checked: its options, and whether the
 * nodes can be apart where they must. */
enum kvc_status kvc_cluster_check_scenario(const struct kvc_scenario *scenario, struct kvc_diag *diag);

/* Returns the number of classes. */
uint32_t kvc_cluster_classes(const struct kvc_scenario *scenario);

/* Returns the name of a class: that of the member, or "node". */
const char *kvc_cluster_class_name(const struct kvc_scenario *scenario, uint32_t class);

/* Returns the class of a node. Nodes that join are of the first class. */
uint32_t kvc_cluster_class_of(const struct kvc_scenario *scenario, uint32_t node);

/* Returns the nodes of a class at the begin. */
uint64_t kvc_cluster_class_nodes(const struct kvc_scenario *scenario, uint32_t class);

/* Returns the points of a node of a class on the hash ring. */
uint32_t kvc_cluster_class_points(const struct kvc_scenario *scenario, uint32_t class);

/* Returns the share of the keys that a node of the class owns on average at the begin. */
double kvc_cluster_class_share(const struct kvc_scenario *scenario, uint32_t class);

/* Returns the load of the cluster with which a node of the class that serves up to `mops` is fully busy
 * [Mops]. */
double kvc_cluster_limit_mops(const struct kvc_scenario *scenario, uint32_t class, double mops);

/* Returns how much of what it could serve, `mops`, a node of the class serves, 0 to 1: less than all where
 * one set of clients waits for all nodes and another class limits the cluster to `all_mops`. */
double kvc_cluster_held_back_frac(const struct kvc_scenario *scenario, uint32_t class, double mops,
                                  double all_mops);

/* Returns the scenario of a single node of the class with its average share of keys and requests, resolved;
 * NULL after an error. It shares options and devices with the original. */
struct kvc_scenario *kvc_cluster_class_scenario(const struct kvc_scenario *scenario, uint32_t class,
                                                struct kvc_diag *diag);

/* Frees such a scenario. NULL is allowed. */
void kvc_cluster_free_class(struct kvc_scenario *class);

/* Makes the scenario of a class that of the node with this part of the keys. `whole` has the load of all
 * nodes; the store stays as large as that of the class. Fails if the part is too small. */
enum kvc_status kvc_cluster_take_part(struct kvc_scenario *node, const struct kvc_scenario *whole,
                                      const struct kvc_key_part *part, struct kvc_diag *diag);

/* What the hash ring looks like from one change to the next. */
struct kvc_cluster_epochs {
    uint32_t count, nodes;
    double from_ns[KVC_KEY_EPOCHS_MAX]; /* Simulated time at which each begins [ns]. */
    uint32_t *points;                   /* Of node i in epoch e: entry e * nodes + i. */
    bool *dead;                         /* Likewise, whether clients send to it in vain. */
};

/* Finds the epochs of a scenario that has been checked; a change happens `at` after the warm-up. Frees
 * nothing on error. */
enum kvc_status kvc_cluster_epochs_open(struct kvc_cluster_epochs *epochs,
                                        const struct kvc_scenario *scenario, struct kvc_diag *diag);
void kvc_cluster_epochs_close(struct kvc_cluster_epochs *epochs);

/* Returns the memory that a functional run of the scenario needs in one process [bytes]. Of a cluster whose
 * nodes are simulated apart, this is that of its largest node and of the lists of keys, which all nodes
 * share. */
double kvc_scenario_memory_bytes(const struct kvc_scenario *scenario);

/* The closed form of a cluster of different machines (cluster.members).
 *
 * Every class of nodes is forecast as a single node with its average share of the keys and of the requests.
 * What the nodes serve adds up; a mean latency is that of all requests, and a percentile that of the slowest
 * class. Where one set of saturating clients waits for all nodes, the class whose nodes have most of the load
 * for their speed limits all others. Not in the closed form: that shares vary between nodes of a class by
 * chance. */

/* Predicts a scenario, whether its nodes are alike or not. `result` comes zeroed. */
enum kvc_status kvc_scenario_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                     struct kvc_diag *diag);

/* Resources (models/resource.h) of a cluster whose nodes are looked at class by class: those that are
 * simulated apart, and those of different machines.
 *
 * A resource becomes faster in every class of nodes that takes time of it, whether its devices are the
 * scenario's or the member's own. Options that are "auto" stay as each class had them resolved, because a
 * node has fewer keys than the whole. */

/* Returns whether the requests of some class take any of the resource. */
bool kvc_cluster_resource_is_used(const struct kvc_model_resource *resource,
                                  const struct kvc_scenario *scenario);

/* Returns a resolved copy of the scenario in which the resource is faster in all classes; NULL after an
 * error. kvc_scenario_free_copy() frees it. */
struct kvc_scenario *kvc_cluster_faster(const struct kvc_scenario *scenario,
                                        const struct kvc_model_resource *resource, double factor,
                                        struct kvc_diag *diag);

#endif
