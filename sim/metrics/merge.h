/** @file
 * Averages the results of the replicas of one run into a single result. */
#ifndef KVC_SIM_METRICS_MERGE_H
#define KVC_SIM_METRICS_MERGE_H

#include <stdint.h>

#include "sim/metrics/result.h"

/** Adds one replica to a sum: counts and histograms add up; rates and metrics are averaged with weight
 * 1/replicas; notes are joined without duplicates. The bottleneck is determined anew from the averages.
 * `sum` starts as a zeroed struct. Call once per replica, in the order of the replicas. */
void kvc_result_merge(struct kvc_result *sum, const struct kvc_result *replica, uint32_t replicas);

#endif
