/** @file
 * Open-loop arrivals of a source: frames are sent at times that do not depend on the store. */
#ifndef KVC_SIM_WORKLOAD_SOURCE_OPEN_H
#define KVC_SIM_WORKLOAD_SOURCE_OPEN_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/workload/source_state.h"

/** Prepares the arrivals of an open loop. */
void kvc_source_start_open(struct kvc_source *source, uint64_t seed);

/** Drains a frame of an open loop; see kvc_source_drain. */
uint32_t kvc_source_drain_open(struct kvc_source *source, struct kvc_source_shard *shard, double until_ns,
                               struct kvc_batch *batch);

/** Returns the next send time of an open loop; see kvc_source_next_ns. */
double kvc_source_next_open_ns(struct kvc_source *source, const struct kvc_source_shard *shard);

#endif
