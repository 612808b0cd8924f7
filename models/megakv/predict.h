/* Mega-KV in closed form: what limits the speed, and how the batches of a cycle add up to latency. */
#ifndef KVC_MODELS_MEGAKV_PREDICT_H
#define KVC_MODELS_MEGAKV_PREDICT_H

#include "models/megakv/costs.h"
#include "models/megakv/equations.h"
#include "sim/metrics/result.h"
#include "sim/scenario.h"

/* The fit of the scenario's clock pair, or, for a GPU without one, the line through two mechanistic launches.
 */
struct kvc_megakv_fit kvc_megakv_fit_of(const struct kvc_megakv_costs *costs, uint32_t clock);

struct kvc_megakv_load kvc_megakv_load_of(const struct kvc_scenario *scenario);

/* Requests per ns that one socket's GPU, threads and NIC sustain at the scenario's cycle. */
struct kvc_megakv_limits {
    double gpu, receivers, senders, rx, tx;
    double lowest;
};
struct kvc_megakv_limits kvc_megakv_limits_of(const struct kvc_scenario *scenario,
                                              const struct kvc_megakv_costs *costs);

enum kvc_status kvc_megakv_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                   struct kvc_diag *diag);

#endif
