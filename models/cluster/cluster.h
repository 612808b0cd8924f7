/* A cluster whose nodes are simulated apart, each as a scenario of its own.
 *
 * Nodes that share nothing can be simulated one by one, each in a process of its own. This requires that
 *
 * - the load of a node does not depend on the others: an open load (poisson, fixed or a curve), whose clients
 *   do not wait, or a saturating load with clients for each socket. A single set of saturating or closed-loop
 *   clients sends less to all nodes when one is slow. Traces, actions and phases also need one engine.
 * - the nodes exchange no messages and share no device (the store's `has_links_between_nodes` is false) and
 *   no database (cluster.database).
 * - no device changes during the run, because run.changes names nodes of one engine.
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

/* Returns what couples the nodes of a scenario, as the end of a sentence, such as "clients that wait for all
 * of them"; NULL if nothing does. */
const char *kvc_cluster_coupling(const struct kvc_scenario *scenario);

/* Returns whether the nodes are simulated apart. A single node is, too, if the cluster has multigets, changes
 * or members. */
bool kvc_cluster_is_apart(const struct kvc_scenario *scenario);

/* Checks the cluster's options, and whether the nodes can be simulated apart if they must be. Workload and
 * run have been checked before. */
enum kvc_status kvc_cluster_check_scenario(const struct kvc_scenario *scenario, struct kvc_diag *diag);

/* Returns the number of classes. */
uint32_t kvc_cluster_classes(const struct kvc_scenario *scenario);

/* Returns the name of a class: the member's name, or "node". */
const char *kvc_cluster_class_name(const struct kvc_scenario *scenario, uint32_t class);

/* Returns the class of a node. Nodes that join belong to the first class. */
uint32_t kvc_cluster_class_of(const struct kvc_scenario *scenario, uint32_t node);

/* Returns the number of nodes of a class at the start. */
uint64_t kvc_cluster_class_nodes(const struct kvc_scenario *scenario, uint32_t class);

/* Returns how many points a node of a class has on the hash ring. */
uint32_t kvc_cluster_class_points(const struct kvc_scenario *scenario, uint32_t class);

/* Returns the share of the keys that a node of the class owns on average at the start. */
double kvc_cluster_class_share(const struct kvc_scenario *scenario, uint32_t class);

/* Returns the load of the cluster that keeps a node of the class, which serves up to `mops`, fully busy
 * [Mops]. */
double kvc_cluster_limit_mops(const struct kvc_scenario *scenario, uint32_t class, double mops);

/* Returns the share of its capacity `mops` that a node of the class serves, 0 to 1. It is below 1 if one set
 * of clients waits for all nodes and another class limits the cluster to `all_mops`. */
double kvc_cluster_held_back_frac(const struct kvc_scenario *scenario, uint32_t class, double mops,
                                  double all_mops);

/* Returns the scenario of a single node of the class with its average share of keys and requests, resolved;
 * NULL after an error. It shares options and devices with the original. */
struct kvc_scenario *kvc_cluster_class_scenario(const struct kvc_scenario *scenario, uint32_t class,
                                                struct kvc_diag *diag);

/* Frees the scenario of a class. NULL is allowed. */
void kvc_cluster_free_class(struct kvc_scenario *class);

/* Turns the scenario of a class into the scenario of the node with this part of the keys. `whole` has the
 * load of all nodes; the store keeps the size that the class has. Fails if the part is too small. */
enum kvc_status kvc_cluster_take_part(struct kvc_scenario *node, const struct kvc_scenario *whole,
                                      const struct kvc_key_part *part, struct kvc_diag *diag);

/* States of the hash ring between changes. */
struct kvc_cluster_epochs {
    uint32_t count, nodes;
    double from_ns[KVC_KEY_EPOCHS_MAX]; /* Simulated time at which each epoch begins [ns]. */
    /* Points of node i on the ring in epoch e, at entry e * nodes + i. */
    uint32_t *points;
    /* Whether clients still send to node i although it is dead, at the same entry. */
    bool *dead;
};

/* Finds the epochs of a scenario that has been checked; a change happens `at` after the warm-up. Frees
 * nothing on error. */
enum kvc_status kvc_cluster_epochs_open(struct kvc_cluster_epochs *epochs,
                                        const struct kvc_scenario *scenario, struct kvc_diag *diag);
void kvc_cluster_epochs_close(struct kvc_cluster_epochs *epochs);

/* Returns the memory that a functional run of the scenario needs in one process [bytes]. If nodes are
 * simulated apart, this is the memory of the largest node and of the lists of keys, which all nodes share. */
double kvc_scenario_memory_bytes(const struct kvc_scenario *scenario);

/* The closed form of a cluster of different machines (cluster.members).
 *
 * Every class of nodes is forecast as a single node with its average share of the keys and of the requests.
 * The throughputs of the nodes add up. The mean latency covers all requests; a percentile comes from the
 * slowest class. If one set of saturating clients waits for all nodes, the class with the highest load
 * relative to its speed limits all others. Not modelled: random differences between the shares of a class's
 * nodes. */

/* Predicts a scenario with equal or different nodes. `result` must be zeroed. */
enum kvc_status kvc_scenario_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                     struct kvc_diag *diag);

/* Resources (models/resource.h) of a cluster whose nodes are simulated apart or are different machines, class
 * by class.
 *
 * A resource becomes faster in every class of nodes that uses it, whether the devices belong to the scenario
 * or to the member. "auto" options keep the values that each class resolved, because a node has fewer keys
 * than the whole. */

/* Returns whether the requests of any class use the resource. */
bool kvc_cluster_resource_is_used(const struct kvc_model_resource *resource,
                                  const struct kvc_scenario *scenario);

/* Returns a resolved copy of the scenario in which the resource is faster in all classes; NULL after an
 * error. kvc_scenario_free_copy() frees it. */
struct kvc_scenario *kvc_cluster_faster(const struct kvc_scenario *scenario,
                                        const struct kvc_model_resource *resource, double factor,
                                        struct kvc_diag *diag);

#endif
