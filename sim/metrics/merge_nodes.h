/** @file
 * Adds the results of nodes that share nothing up to the result of their cluster.
 *
 * Throughput, counts, power, energy and histograms add up, exactly. The utilization of a stage is the mean
 * over the nodes that have it, and its time that of its requests. A metric whose name has a unit or a ratio
 * in it
 * ("_us", "_frac", "_per_", "_over_", ...) is the mean over the nodes that know it, one of "_max" or "_most"
 * the largest; any other metric is a count, and counts and rates ("_mops", "_kops") add up.
 *
 * Intervals of a single replica: nodes are independent, so that the means of their batches can be added batch
 * by batch. Throughput and offered rate are sums, and the mean latency is that of all requests. Percentiles
 * by batch cannot be told from those of nodes and have no interval without replicas.
 *
 * Looks of a power policy are listed node by node, under the node's name. Notes of several nodes that differ
 * in numbers only become the one of the first.
 *
 * Devices: all of them where they fit into a result, named after their node ("node17.socket0.gpu"); otherwise
 * one for each class of nodes ("node*.socket0.gpu") with the mean utilization and the energy and power of
 * all. */
#ifndef KVC_SIM_METRICS_MERGE_NODES_H
#define KVC_SIM_METRICS_MERGE_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/metrics/result.h"

/** How a metric of nodes becomes one of the cluster. */
enum kvc_merge_kind { KVC_MERGE_MEAN, KVC_MERGE_MOST, KVC_MERGE_SUM };

/** Returns how a metric of this name is merged. */
enum kvc_merge_kind kvc_merge_kind_of(const char *name);

/** Nodes that are being added up. A zeroed struct is empty. */
struct kvc_merge_nodes {
    struct kvc_result *sum;                 /**< The cluster; zeroed before the first node. */
    uint32_t nodes;                         /**< Nodes that were added. */
    uint32_t stage_nodes[KVC_STAGES_MAX];   /**< Nodes that know the utilization of each stage. */
    uint32_t kernel_nodes[KVC_METRICS_MAX]; /**< Nodes that know each metric of the kernels. */
    uint32_t model_nodes[KVC_METRICS_MAX];  /**< Likewise of the model. */
    uint32_t device_nodes[KVC_DEVICES_MAX]; /**< Nodes that have each device. */
    double batch_requests[KVC_BATCHES_MAX]; /**< Throughput by batch, the weight of mean latencies. */
    bool batches_differ;                    /**< Not all nodes have the same batches. */
};

/** Adds a node. Its devices, whose names begin with "node0", get names that begin with `prefix`; of equal
 * names, there is one device. Call once per node, in the order of the nodes. */
void kvc_merge_nodes_add(struct kvc_merge_nodes *merge, const struct kvc_result *node, const char *prefix);

/** Completes the means after the last node. */
void kvc_merge_nodes_end(struct kvc_merge_nodes *merge);

#endif
