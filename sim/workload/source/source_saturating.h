/** @file
 * Saturating arrivals of a source: a request always waits, up to a window per shard. */
#ifndef KVC_SIM_WORKLOAD_SOURCE_SOURCE_SATURATING_H
#define KVC_SIM_WORKLOAD_SOURCE_SOURCE_SATURATING_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/workload/source/source_state.h"

/** Returns whether a whole frame is waiting. Makes requests for it unless a full window forbids that. */
bool kvc_source_fill_window(struct kvc_source *source, const struct kvc_source_shard *shard);

/** Drains a frame under saturating load; see kvc_source_drain. */
uint32_t kvc_source_drain_saturating(struct kvc_source *source, struct kvc_source_shard *shard,
                                     struct kvc_batch *batch);

#endif
