/** @file
 * What one node of a cluster contributed to a result. */
#ifndef KVC_SIM_METRICS_NODE_RESULT_H
#define KVC_SIM_METRICS_NODE_RESULT_H

#include "sim/metrics/result.h"

/** A node. Values are means over the replicas; NaN: unknown. */
struct kvc_node_result {
    char name[KVC_NAME_MAX];  /**< "node17". */
    char class[KVC_NAME_MAX]; /**< Name of its group of equal nodes. */
    double key_frac;          /**< Share of all keys that it owns at the begin. */
    double request_frac;      /**< Share of all requests that are sent to it at the begin. */
    double throughput_mops;   /**< Requests that it answers [million/s]. */
    double offered;           /**< Requests sent to it in a replica. */
    double dropped;           /**< Those of them that were lost. */
    double hit_frac;          /**< Share of the GETs that hit. */
    double latency_mean_us;   /**< Mean latency [us]. */
    double latency_p50_us;    /**< Median of the latency [us]. */
    double latency_p99_us;    /**< 99th percentile of the latency [us]. */
    double utilization_frac;  /**< Utilization of its busiest stage, 0 to 1. */
    char stage[KVC_NAME_MAX]; /**< That stage in the last replica. */
    double watts_mean;        /**< Mean power of its devices whose power is known [W]; 0: none is. */
};

/** Fills all but name, class and shares from the result of a node. */
void kvc_node_result_of(const struct kvc_result *result, struct kvc_node_result *node);

/** Adds a replica's values with the weight 1/replicas. `sum` starts as a zeroed struct. */
void kvc_node_result_add(struct kvc_node_result *sum, const struct kvc_node_result *replica,
                         uint32_t replicas);

#endif
