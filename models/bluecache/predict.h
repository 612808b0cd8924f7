/* The closed form of BlueCache: the lowest of the rates of its devices, the time of a request that waits
 * nowhere, and what flushes make of both (flushes.h). */
#ifndef KVC_MODELS_BLUECACHE_PREDICT_H
#define KVC_MODELS_BLUECACHE_PREDICT_H

#include "sim/base/diag.h"
#include "sim/metrics/result.h"
#include "sim/scenario.h"

/* Adds the capacity of the flash of all cards for their power, if both are known [GB/W], and the price of
 * flash and, as far as it is known, of the card's DRAM for that capacity [USD/GB]. */
void kvc_bluecache_add_capacity(const struct kvc_scenario *scenario, struct kvc_result *result);

enum kvc_status kvc_bluecache_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                      struct kvc_diag *diag);

#endif
