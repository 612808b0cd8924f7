/** @file
 * Open-loop arrivals of a source: clients send requests at times that do not depend on the store, and
 * collect them in frames. */
#ifndef KVC_SIM_WORKLOAD_SOURCE_SOURCE_OPEN_H
#define KVC_SIM_WORKLOAD_SOURCE_SOURCE_OPEN_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/workload/source/source_state.h"

/** Prepares the clients of an open loop. Returns false if memory is short. */
bool kvc_source_start_open(struct kvc_source *source, uint64_t seed);

/** Frees what the clients have. */
void kvc_source_free_open(struct kvc_source *source);

/** Looks at the next frame of an open loop; see kvc_source_peek. */
bool kvc_source_peek_open(struct kvc_source *source, const struct kvc_source_shard *shard, double until_ns,
                          uint32_t *connection);

/** Drains a frame of an open loop; see kvc_source_drain. */
uint32_t kvc_source_drain_open(struct kvc_source *source, struct kvc_source_shard *shard, double until_ns,
                               struct kvc_batch *batch);

/** Returns when the next frame of an open loop leaves; see kvc_source_next_ns. */
double kvc_source_next_open_ns(struct kvc_source *source, const struct kvc_source_shard *shard);

#endif
