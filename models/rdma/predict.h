/* Closed form of a store over RDMA: wire, messages, cores, or atomics on the most popular key bound the
 * throughput.
 */
#ifndef KVC_MODELS_RDMA_PREDICT_H
#define KVC_MODELS_RDMA_PREDICT_H

#include "models/rdma/config.h"
#include "sim/metrics/result.h"

enum kvc_status kvc_rdma_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                 struct kvc_diag *diag);

#endif
