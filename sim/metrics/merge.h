/** @file
 * Joins results: the replicas of one run, the nodes of a cluster that share nothing, and the latency
 * of multigets to these nodes.
 *
 * Nodes: throughput, counts, power, energy and histograms add up, exactly. The utilization of a stage is the
 * mean over the nodes that have it, and the time in it is the mean over its requests. A metric whose name has
 * a unit or a ratio in it ("_us", "_frac", "_per_", "_over_", ...) is the mean over the nodes that know it,
 * and a metric with "_max" or "_most" in it is the largest. Any other metric is a count; counts and rates
 * ("_mops", "_kops") add up.
 *
 * Intervals of a single replica: nodes are independent, so that the means of their batches can be added batch
 * by batch. Throughput and offered rate are sums, and the mean latency covers all requests. Percentiles by
 * batch do not follow from the nodes' percentiles and have no interval without replicas.
 *
 * Looks of a power policy are listed node by node, under the node's name. If notes of several nodes differ in
 * numbers only, the first one stays.
 *
 * Devices are named after their node ("node17.socket0.gpu"). If they do not all fit into a result, there is
 * one for each class of nodes ("node*.socket0.gpu") with the mean utilization and the sums of energy and
 * power.
 *
 * Multigets: the keys of a multiget lie on several nodes, and the client has to wait for the slowest. The m
 * keys of a multiget are drawn independently; each lies on node i with that node's share q_i of the requests.
 * Keys of one node travel together and have one latency. With the distribution F_i of node i, the slowest is
 * at most x with probability
 *
 *     P(x) = sum over all splits of m keys of multinomial(split; q) * product of F_i(x) over nodes with a key
 *          = m! [z^m] product over i of (1 + F_i(x) (exp(q_i z) - 1)).
 *
 * The coefficient is computed from values of the generating function on a circle of radius m, exactly but for
 * rounding (Cauchy's formula with the trapezoidal rule, whose error here is the probability that a Poisson
 * variable with mean m is more than about 12 standard deviations off).
 *
 * This assumes that the latencies of a multiget's parts are independent of each other and distributed as the
 * latencies of all requests to the node. Nodes that share nothing see independent requests, except that a
 * multiget itself sends to several at once. Not modelled: keys that travel together share a frame; the client
 * needs time to assemble responses. */
#ifndef KVC_SIM_METRICS_MERGE_H
#define KVC_SIM_METRICS_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/metrics/histogram.h"
#include "sim/metrics/result.h"

/** Adds one replica to a sum: counts and histograms add up; rates and metrics are averaged with weight
 * 1/replicas; notes are joined without duplicates. The bottleneck is determined anew from the averages.
 * `sum` starts as a zeroed struct. Call once per replica, in the order of the replicas. */
void kvc_result_merge(struct kvc_result *sum, const struct kvc_result *replica, uint32_t replicas);

/** Method of merging a metric of nodes into one of the cluster. */
enum kvc_merge_kind { KVC_MERGE_MEAN, KVC_MERGE_MOST, KVC_MERGE_SUM };

/** Returns how a metric of this name is merged. */
enum kvc_merge_kind kvc_merge_kind_of(const char *name);

/** Nodes that are being added up. A zeroed struct is empty. */
struct kvc_merge_nodes {
    struct kvc_result *sum;                 /**< The cluster; zeroed before the first node. */
    uint32_t nodes;                         /**< Nodes that were added. */
    uint32_t stage_nodes[KVC_STAGES_MAX];   /**< Nodes that know the utilization of each stage. */
    uint32_t kernel_nodes[KVC_METRICS_MAX]; /**< Nodes that know each metric of the kernels. */
    uint32_t model_nodes[KVC_METRICS_MAX];  /**< Nodes that know each metric of the model. */
    uint32_t device_nodes[KVC_DEVICES_MAX]; /**< Nodes that have each device. */
    double batch_requests[KVC_BATCHES_MAX]; /**< Throughput by batch, the weight of mean latencies. */
    bool batches_differ;                    /**< Not all nodes have the same batches. */
};

/** Adds a node. Its devices, whose names begin with "node0", get names that begin with `prefix`; devices of
 * equal names become one. Call once per node, in the order of the nodes. */
void kvc_merge_nodes_add(struct kvc_merge_nodes *merge, const struct kvc_result *node, const char *prefix);

/** Completes the means after the last node. */
void kvc_merge_nodes_end(struct kvc_merge_nodes *merge);

/** A node that keys may lie on. */
struct kvc_fanout_node {
    double share; /**< Share of the requests; the shares of all nodes add up to 1. */
    const struct kvc_histogram_pack
        *latency; /**< Latencies of its requests; not empty if the share is above 0. */
};

/** The latency of a multiget. */
struct kvc_fanout {
    double mean_us; /**< Mean [us]. */
    double p50_us;  /**< Median [us]. */
    double p95_us;  /**< 95th percentile [us]. */
    double p99_us;  /**< 99th percentile [us]. */
};

/** Computes the latency of a multiget of `keys` keys, at least 1, with the precision of the histograms.
 * Returns false if memory is short or no node has a latency. */
bool kvc_fanout_of(const struct kvc_fanout_node *node, uint32_t nodes, uint32_t keys, struct kvc_fanout *out);

#endif
