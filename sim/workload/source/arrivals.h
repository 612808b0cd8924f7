/** @file
 * Send times of the requests of an open loop, and the clients that send them.
 *
 * The requests of all clients together are a Poisson process, a Poisson process whose rate follows a curve,
 * or equally far apart. A Poisson process deals each request to a client at random, so that the requests of
 * every client are a Poisson process of their own, independent of the others'. With equal distances, the
 * clients take turns.
 *
 * The workload of a part (sim/workload/keys/key_part.h) has the rate of its node. Of requests of all nodes at
 * equal distances, each is the node's with the probability of its share. A Poisson process at one rate may
 * have epochs: the rate is that of the largest share, and falls with the share.
 *
 * The rate curve is linear between its points, and constant before the first and after the last one. Its
 * arrivals are found by inverting the integral of the rate (a Poisson process under a change of time),
 * without thinning. */
#ifndef KVC_SIM_WORKLOAD_SOURCE_ARRIVALS_H
#define KVC_SIM_WORKLOAD_SOURCE_ARRIVALS_H

#include <stdint.h>

#include "sim/base/rng.h"
#include "sim/workload/source/exponential.h"
#include "sim/workload/workload.h"

/** The state of an arrival process. */
struct kvc_arrivals {
    const struct kvc_workload *workload; /**< Defines the process. */
    double step;                         /**< Requests that are sent together: 1, or those of a frame. */
    double last_ns;                      /**< Send time of the last arrival [ns]. */
    uint64_t count;                      /**< Arrivals so far. */
    uint64_t number;                     /**< Fixed, of a part: arrivals of all nodes so far. */
    uint32_t point;     /**< Curve: the first point that the last arrival may precede. Epochs of
                             a part: that of the last arrival. */
    struct kvc_rng rng; /**< Draws the gaps and the clients. */
    struct kvc_exponential exponential; /**< Tables of the gaps' distribution. */
};

/** Starts a process of which each arrival stands for `step` requests that are sent together. `workload` must
 * outlive `arrivals` and have an open-loop arrival: poisson, fixed or curve. */
void kvc_arrivals_init(struct kvc_arrivals *arrivals, const struct kvc_workload *workload, uint32_t step,
                       uint64_t seed);

/** Returns the next `count` arrivals in order: their send times [ns], +infinity after a curve has ended at
 * rate 0, and their clients, below kvc_workload_flows(). */
void kvc_arrivals_fill(struct kvc_arrivals *arrivals, double *sent_ns, uint16_t *flow, uint32_t count);

#endif
