/* When frames are sent in open loop: Poisson, at equal distances, or Poisson with a rate along a curve.
 *
 * The curve is linear between its points, constant before the first and after the last. Its arrivals are
 * found by inverting the integral of the rate (a Poisson process under a change of time), without thinning.
 */
#ifndef KVC_SIM_WORKLOAD_ARRIVALS_H
#define KVC_SIM_WORKLOAD_ARRIVALS_H

#include <stdint.h>

#include "sim/base/rng.h"
#include "sim/workload/workload.h"

struct kvc_arrivals {
    const struct kvc_workload *workload;
    double frame_requests;
    double last_ns;
    uint64_t count;
    struct kvc_rng rng;
};

/* `workload` must outlive `arrivals` and have an open-loop arrival: poisson, fixed or curve. */
void kvc_arrivals_init(struct kvc_arrivals *arrivals, const struct kvc_workload *workload,
                       uint32_t frame_requests, uint64_t seed);

/* Send time of the next frame; +infinity when a curve has ended at rate 0. */
double kvc_arrivals_next(struct kvc_arrivals *arrivals);

#endif
