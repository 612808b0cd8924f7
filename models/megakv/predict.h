/* The closed form of Mega-KV: the limits of its speed, and the latency of a request in a periodic schedule.
 */
#ifndef KVC_MODELS_MEGAKV_PREDICT_H
#define KVC_MODELS_MEGAKV_PREDICT_H

#include "models/megakv/costs.h"
#include "models/megakv/equations.h"
#include "sim/metrics/result.h"
#include "sim/scenario.h"

/* Returns the fit of a clock pair. Without a fit, and with measured costs, this is the line through the
 * durations of a small and a large launch. */
struct kvc_megakv_fit kvc_megakv_fit_of(const struct kvc_megakv_costs *costs, uint32_t clock);

/* Returns the load that the equations take: the scenario's share of GETs and its delay. */
struct kvc_megakv_load kvc_megakv_load_of(const struct kvc_scenario *scenario);

/* The speeds that the parts of a socket sustain at the scenario's cycle [requests/ns]. */
struct kvc_megakv_limits {
    double gpu, receivers, senders, rx, tx;
    double buffers; /* Each pipeline fills at most one buffer in a cycle. */
    double lowest;
};
struct kvc_megakv_limits kvc_megakv_limits_of(const struct kvc_scenario *scenario,
                                              const struct kvc_megakv_costs *costs);

/* Fills `result` with the prediction. Returns KVC_OK. */
enum kvc_status kvc_megakv_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                   struct kvc_diag *diag);

#endif
