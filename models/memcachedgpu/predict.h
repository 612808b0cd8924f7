/* MemcachedGPU's closed form: the smallest limit of its stages, and the latency of a batch. */
#ifndef KVC_MODELS_MEMCACHEDGPU_PREDICT_H
#define KVC_MODELS_MEMCACHEDGPU_PREDICT_H

#include "sim/base/diag.h"
#include "sim/metrics/result.h"
#include "sim/scenario.h"

/* Predicts the result of a resolved scenario. Always returns KVC_OK. */
enum kvc_status kvc_memcachedgpu_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                         struct kvc_diag *diag);

/* Returns the share of the GETs that find their key after preloading: a key survives with the probability
 * that its set still has room. The long-run effect of LRU is not modelled. */
double kvc_memcachedgpu_hit_frac(const struct kvc_scenario *scenario);

/* Returns the length of a run's windows [ns]: several batches, and at least the longest wait for a batch. */
double kvc_memcachedgpu_window_ns(const struct kvc_scenario *scenario);

/* Adds the throughput per dollar of CPU and GPU, if their prices are known. */
void kvc_memcachedgpu_add_price(const struct kvc_scenario *scenario, struct kvc_result *result);

#endif
