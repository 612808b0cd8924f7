/* KV-Direct's closed-form prediction: the slowest of clock, network, PCIe and the NIC's DRAM limits the
 * throughput. */
#ifndef KVC_MODELS_KVDIRECT_PREDICT_H
#define KVC_MODELS_KVDIRECT_PREDICT_H

#include "sim/base/diag.h"
#include "sim/metrics/result.h"
#include "sim/scenario.h"

enum kvc_status kvc_kvdirect_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                     struct kvc_diag *diag);

#endif
