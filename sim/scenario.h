/** @file
 * A scenario is everything that a model needs to know: the store, its nodes, the load and the run.
 *
 * The structs are plain; no Lua is left in them.
 *
 * The machines of a cluster share the keys of the workload by consistent hashing
 * (sim/workload/keys/hash_ring.h). Nodes are numbered from 0: first the initial nodes, or the nodes of each
 * member in order, then the nodes that join during the run, in the order of the changes. */
#ifndef KVC_SIM_SCENARIO_H
#define KVC_SIM_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/base/text/option.h"
#include "sim/devices/node.h"
#include "sim/metrics/spans.h"
#include "sim/power_policy.h"
#include "sim/store_policy.h"
#include "sim/workload/source/source.h"
#include "sim/workload/workload.h"

enum {
    KVC_CLUSTER_NODES_MAX = 1024, /**< Nodes of a cluster, with those that join. */
    KVC_CLUSTER_CHANGES_MAX = 16, /**< Changes of a cluster during a run. */
    KVC_CLUSTER_MEMBERS_MAX = 16, /**< Groups of equal nodes. */
};

/** Method of simulating the nodes of a cluster. */
enum kvc_cluster_simulate {
    KVC_CLUSTER_AUTO, /**< Apart if nothing couples the nodes (models/cluster/cluster.h), otherwise together.
                       */
    KVC_CLUSTER_TOGETHER, /**< All nodes in one engine. */
    KVC_CLUSTER_APART,    /**< Every node in a process of its own. */
};

/** Databases of a cluster whose nodes have one (node.database). */
enum kvc_cluster_database {
    KVC_CLUSTER_SHARED,   /**< All nodes share one database. */
    KVC_CLUSTER_PER_NODE, /**< Every node has a database of its own. */
};

/** A change of the cluster during a run. Exactly one of `join`, `leave` and `fail` is a number. */
struct kvc_cluster_change {
    double at_ns;     /**< When it happens, counted from the start of the measured time [ns]. */
    double join;      /**< Number of nodes that join, each without any data; NaN: none. */
    double leave;     /**< Number of the node that leaves without handing anything over; NaN: none. */
    double fail;      /**< Number of the node that fails and loses the requests sent to it; NaN: none. */
    double detect_ns; /**< Time for which clients send to a failed node [ns]. */
};

struct kvc_cluster_member;

/** The cluster of a scenario. */
struct kvc_cluster {
    uint64_t nodes;         /**< Nodes at the start. */
    uint64_t virtual_nodes; /**< Points of a node on the hash ring; 0: KVC_HASH_RING_POINTS. */
    int simulate;           /**< enum kvc_cluster_simulate. */
    int database;           /**< enum kvc_cluster_database. */
    uint64_t multiget;      /**< Keys of a multiget whose latency is computed; 0: none. */
    uint32_t change_count;  /**< Used entries of `change`. */
    struct kvc_cluster_change change[KVC_CLUSTER_CHANGES_MAX]; /**< Changes during the run, in any order. */
    uint32_t member_count;             /**< Used entries of `member`; 0: all nodes are equal. */
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

/** Share of the requests that run through the store's real structures. */
enum kvc_functional {
    /** Every request runs through the real index and slabs, which keep no values if the store can do without
     * them; the outcomes are the same. */
    KVC_FUNCTIONAL_COMPACT,
    KVC_FUNCTIONAL_FULL,    /**< Every request does, and the values are there. */
    KVC_FUNCTIONAL_SAMPLED, /**< Requests for 1/sample_rate of the keys do; a hash picks the keys. */
    KVC_FUNCTIONAL_OFF,     /**< No request runs through them; the hit ratio is the closed form's. */
};

/** Method of finding the bottleneck of a scenario. */
enum kvc_bottleneck_by {
    KVC_BOTTLENECK_BY_GAIN,        /**< Paired runs: the resource whose speed-up gains most. */
    KVC_BOTTLENECK_BY_UTILIZATION, /**< The stage that is busy most. */
    KVC_BOTTLENECK_BY_COMMAND,     /**< By gain where a command answers one scenario, else by utilization. */
};

enum { KVC_RUN_CHANGES_MAX = 32 /**< Changes of devices in a run. */ };

/** A change of a device during a run: another clock, or an outage. Exactly one of clock_hz and off_ns is a
 * number (sim/run/changes.h). */
struct kvc_change {
    double at_ns;              /**< When it happens, counted from the start of the measured time [ns]. */
    char device[KVC_TEXT_MAX]; /**< Name of a host or link of the platform: "node0.socket1.gpu". */
    double clock_hz; /**< Clock of the performance state that the host changes to [Hz]; NaN: none. */
    double off_ns;   /**< Time for which the device is turned off [ns]; NaN: it is not. */
};

/** Options of the simulation. */
struct kvc_run {
    int functional;        /**< enum kvc_functional. */
    uint64_t sample_rate;  /**< SAMPLED: a power of two; 0: the smallest that fits sample_bytes. */
    double sample_bytes;   /**< SAMPLED: memory that sample_rate 0 aims at. */
    double warmup_ns;      /**< Simulated time before measuring; negative: until the simulation is steady
                                (sim/metrics/recorder.h), or 0 if the load itself changes. */
    double warmup_most_ns; /**< Longest warm-up whose end is detected [ns]; 0: 2000 windows. */
    double duration_ns;    /**< Simulated time that is measured, after the warm-up; negative: 20 ms, or to the
                              end of    a trace. */
    uint64_t seed;         /**< Seed of all random streams. */
    uint64_t replicas;     /**< Independent runs. */
    int bottleneck;        /**< enum kvc_bottleneck_by. */
    uint32_t change_count; /**< Used entries of `changes`. */
    struct kvc_change changes[KVC_RUN_CHANGES_MAX]; /**< Changes of devices within the measured time. */
    struct kvc_spans_request
        judged; /**< Spans that the objectives state; length 0: automatic (kvc_scenario_judged()). */
};

/** The options of struct kvc_change, an element of `run.changes`. */
extern const struct kvc_option_table kvc_change_option_table;

/** The options of struct kvc_run. */
extern const struct kvc_option_table kvc_run_option_table;

/** Gives an automatic duration and, where the load changes with time, an automatic warm-up their values. */
void kvc_run_settle(struct kvc_run *run, const struct kvc_workload *workload);

/** Returns the warm-up of a measurement on a real machine, whose end cannot be detected: `warmup` or, if that
 * is automatic, half of the duration and at least 50 ms [ns]. */
double kvc_run_real_warmup_ns(const struct kvc_run *run);

/** Returns whether every request runs through the real structures. */
static inline bool kvc_run_is_whole(const struct kvc_run *run)
{
    return run->functional == KVC_FUNCTIONAL_COMPACT || run->functional == KVC_FUNCTIONAL_FULL;
}

/** Checks that the sample rate is a power of two and keeps enough of the `keys`. */
enum kvc_status kvc_run_check(const struct kvc_run *run, uint64_t keys, struct kvc_diag *diag);

/** Returns the sampling rate (sim/workload/keys/sampling.h) of a run whose data structures take `full_bytes`
 * if they hold every key: 1 for functional = "compact" or "full", 0 for "off". */
uint64_t kvc_run_sample_rate(const struct kvc_run *run, double full_bytes);

/** A group of equal nodes of a cluster. */
struct kvc_cluster_member {
    char name[KVC_TEXT_MAX]; /**< Name of the group. */
    uint64_t nodes;          /**< Number of nodes. */
    double weight;           /**< Points of each node on the hash ring, as a multiple of virtual_nodes. */
    void *options;           /**< The store's options, as in a scenario. */
    struct kvc_node node;    /**< The machine. */
};

/** The options of struct kvc_cluster_member. */
extern const struct kvc_option_table kvc_cluster_member_option_table;

struct kvc_model;

/** One scenario. A copy of the struct shares `options`, `config` and the devices of `node`. */
struct kvc_scenario {
    char name[KVC_TEXT_MAX];       /**< Name that results carry; without "/". */
    char file[KVC_TEXT_MAX];       /**< Path that the scenario was loaded from. */
    const struct kvc_model *model; /**< The store. */
    void *options;        /**< The store's options as the user wrote them: model->options->size bytes. */
    const void *config;   /**< The store's resolved configuration: model->config_bytes bytes. NULL before
                               kvc_scenario_resolve() of models/model.h. */
    struct kvc_node node; /**< One machine; all nodes are equal unless cluster.member says otherwise. */
    struct kvc_cluster cluster;     /**< Number of machines and their options. */
    struct kvc_workload workload;   /**< The offered load. */
    struct kvc_run run;             /**< Options of the simulation. */
    struct kvc_power_policy power;  /**< The policy that chooses the clocks during the run. */
    struct kvc_store_policy policy; /**< The function system.policy, if there is one. */
};

/** Shards of the keys: one for each socket of the cluster. */
static inline uint32_t kvc_scenario_shards(const struct kvc_scenario *scenario)
{
    return (uint32_t)(scenario->cluster.nodes * scenario->node.sockets);
}

/** Returns the spans that a run counts: those that the objectives state, or without a stated length 50 spans
 * of a run in which a device or the cluster changes, and none of another one. */
struct kvc_spans_request kvc_scenario_judged(const struct kvc_scenario *scenario);

/** Returns the parameters of the scenario's request source for a store with `sockets` shards per node, in a
 * replica with this seed (sim/base/seeds.h). A frame has one request. */
struct kvc_source_params kvc_scenario_source(const struct kvc_scenario *scenario, uint32_t sockets,
                                             uint64_t seed);

#endif
