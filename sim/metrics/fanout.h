/** @file
 * The latency of a multiget, whose keys lie on several nodes: the client has to wait for the slowest.
 *
 * The m keys of a multiget are drawn independently; each lies on node i with that node's share q_i of the
 * requests. Keys of one node travel together and have one latency. With the distribution F_i of node i, the
 * slowest is at most x with probability
 *
 *     P(x) = sum over all splits of m keys of multinomial(split; q) * product of F_i(x) over nodes with a key
 *          = m! [z^m] product over i of (1 + F_i(x) (exp(q_i z) - 1)).
 *
 * The coefficient is computed from values of the generating function on a circle of radius m, exactly but for
 * rounding (Cauchy's formula with the trapezoidal rule, whose error here is the probability that a Poisson
 * variable with mean m is more than about 12 standard deviations off).
 *
 * What this assumes: the latencies of a multiget's parts are independent of each other and distributed as
 * those of all requests to the node. Nodes that share nothing see independent requests, except that a
 * multiget itself sends to several at once. Not modelled: that keys which travel together share a frame, and
 * what the client needs to put responses together. */
#ifndef KVC_SIM_METRICS_FANOUT_H
#define KVC_SIM_METRICS_FANOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/metrics/histogram.h"

/** A node that keys may lie on. */
struct kvc_fanout_node {
    double share; /**< Share of the requests; those of all nodes add up to 1. */
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
