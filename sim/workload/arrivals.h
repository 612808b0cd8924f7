/** @file
 * Send times of the frames of an open loop: a Poisson process, equal distances, or a Poisson process whose
 * rate follows a curve.
 *
 * The rate curve is linear between its points, and constant before the first and after the last one. Its
 * arrivals are found by inverting the integral of the rate (a Poisson process under a change of time),
 * without thinning. */
#ifndef KVC_SIM_WORKLOAD_ARRIVALS_H
#define KVC_SIM_WORKLOAD_ARRIVALS_H

#include <stdint.h>

#include "sim/base/rng.h"
#include "sim/workload/workload.h"

/** The state of an arrival process. */
struct kvc_arrivals {
    const struct kvc_workload *workload; /**< Defines the process. */
    double frame_requests;               /**< Requests per frame. */
    double last_ns;                      /**< Send time of the previous frame [ns]. */
    uint64_t count;                      /**< Frames so far. */
    struct kvc_rng rng;                  /**< Draws the gaps. */
};

/** Starts a process. `workload` must outlive `arrivals` and have an open-loop arrival: poisson, fixed or
 * curve. */
void kvc_arrivals_init(struct kvc_arrivals *arrivals, const struct kvc_workload *workload,
                       uint32_t frame_requests, uint64_t seed);

/** Returns the send time of the next frame [ns], or +infinity after a curve has ended at rate 0. */
double kvc_arrivals_next(struct kvc_arrivals *arrivals);

#endif
