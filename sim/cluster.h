/** @file
 * The machines that share the keys of a workload by consistent hashing (sim/workload/keys/hash_ring.h).
 *
 * Nodes are numbered from 0: first those of `nodes`, or of each member in order, then those that join during
 * the run, in the order of the changes. */
#ifndef KVC_SIM_CLUSTER_H
#define KVC_SIM_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/base/text/option.h"

enum {
    KVC_CLUSTER_NODES_MAX = 1024, /**< Nodes of a cluster, with those that join. */
    KVC_CLUSTER_CHANGES_MAX = 16, /**< Changes of a cluster during a run. */
    KVC_CLUSTER_MEMBERS_MAX = 16, /**< Groups of equal nodes. */
};

/** How the nodes of a cluster are simulated. */
enum kvc_cluster_simulate {
    KVC_CLUSTER_AUTO, /**< Apart where nothing couples the nodes (models/cluster/cluster.h), else together. */
    KVC_CLUSTER_TOGETHER, /**< All nodes in one engine. */
    KVC_CLUSTER_APART,    /**< Every node in a process of its own. */
};

/** What is behind the caches of a cluster whose nodes have a database (node.database). */
enum kvc_cluster_database {
    KVC_CLUSTER_SHARED,   /**< One database behind all nodes. */
    KVC_CLUSTER_PER_NODE, /**< Behind every node a database of its own. */
};

/** A change of the cluster during a run. Exactly one of `join`, `leave` and `fail` is a number. */
struct kvc_cluster_change {
    double at_ns;     /**< When it happens, counted from the begin of the measured time [ns]. */
    double join;      /**< How many nodes join, each without any data; NaN: none. */
    double leave;     /**< Number of the node that leaves without handing anything over; NaN: none. */
    double fail;      /**< Number of the node that fails and loses the requests sent to it; NaN: none. */
    double detect_ns; /**< How long clients send to a node that has failed [ns]. */
};

struct kvc_cluster_member;

/** The cluster of a scenario. */
struct kvc_cluster {
    uint64_t nodes;         /**< Nodes at the begin. */
    uint64_t virtual_nodes; /**< Points of a node on the hash ring; 0: KVC_HASH_RING_POINTS. */
    int simulate;           /**< enum kvc_cluster_simulate. */
    int database;           /**< enum kvc_cluster_database. */
    uint64_t multiget;      /**< Keys of a multiget whose latency is computed; 0: none. */
    uint32_t change_count;  /**< Used entries of `change`. */
    struct kvc_cluster_change change[KVC_CLUSTER_CHANGES_MAX]; /**< Changes during the run, in any order. */
    uint32_t member_count;             /**< Used entries of `member`; 0: all nodes are alike. */
    struct kvc_cluster_member *member; /**< Groups of equal nodes (sim/scenario.h), owned by the scenario. */
};

/** The options of struct kvc_cluster. */
extern const struct kvc_option_table kvc_cluster_option_table;

/** The options of struct kvc_cluster_change. */
extern const struct kvc_option_table kvc_cluster_change_option_table;

/** Returns the nodes of a cluster, with those that join. */
uint32_t kvc_cluster_nodes(const struct kvc_cluster *cluster);

/** Checks what the ranges of single options cannot express. Messages begin with the path that they are about:
 * "cluster.changes.1.leave". */
enum kvc_status kvc_cluster_check(const struct kvc_cluster *cluster, struct kvc_diag *diag);

#endif
