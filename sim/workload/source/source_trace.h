/** @file
 * Arrivals of a source that are read from a trace. */
#ifndef KVC_SIM_WORKLOAD_SOURCE_SOURCE_TRACE_H
#define KVC_SIM_WORKLOAD_SOURCE_SOURCE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/workload/source/source_state.h"

/** Returns whether a line is sent by until_ns; see kvc_source_peek. */
bool kvc_source_peek_trace(struct kvc_source *source, const struct kvc_source_shard *shard, double until_ns);

/** Drains the next line of a trace; see kvc_source_drain. */
uint32_t kvc_source_drain_trace(struct kvc_source *source, struct kvc_source_shard *shard, double until_ns,
                                struct kvc_batch *batch);

/** Returns the next send time of a trace; see kvc_source_next_ns. */
double kvc_source_next_trace_ns(struct kvc_source *source, const struct kvc_source_shard *shard);

#endif
