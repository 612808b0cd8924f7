/** @file
 * The closed form of how clients fill their frames (sim/workload/source/source.h, open loop).
 *
 * A flow's requests form a Poisson process of the rate a. A frame leaves with its n-th request, or the
 * timeout T after its first one. N is the number of requests in the time T after the first: Poisson
 * distributed with the mean a T. The frame then has min(1 + N, n) requests. It holds j requests, all of which
 * wait, for P(N >= j) / a on average, so the waits of a frame's requests add up to the sum of
 * j * P(N >= j) / a over j = 1 ... n - 1. Without a timeout, the mean wait is (n - 1) / 2 / a. */
#ifndef KVC_SIM_WORKLOAD_SOURCE_FILL_H
#define KVC_SIM_WORKLOAD_SOURCE_FILL_H

#include <stdint.h>

#include "sim/workload/workload.h"

/** Means over the frames of a flow. */
struct kvc_fill {
    double requests; /**< Requests in a frame. */
    double wait_ns;  /**< Time from a request's send time until its frame leaves [ns], over all requests. */
};

/** Returns the means for a flow that sends `per_ns` requests per ns, above 0, in frames of up to
 * `frame_requests`, at least 1. `timeout_ns` is the longest wait [ns]; 0: no limit. */
struct kvc_fill kvc_fill_of(double per_ns, uint32_t frame_requests, double timeout_ns);

/** Returns the most requests in a frame that has room for `room` of them. */
uint32_t kvc_fill_most(const struct kvc_workload *workload, uint32_t room);

/** Returns the mean number of requests in a frame that has `most` at most. */
double kvc_fill_mean(const struct kvc_workload *workload, uint32_t most);

#endif
