/** @file
 * Closed-loop arrivals of a source: a client sends its next request after the response to the last one. */
#ifndef KVC_SIM_WORKLOAD_SOURCE_SOURCE_CLOSED_H
#define KVC_SIM_WORKLOAD_SOURCE_SOURCE_CLOSED_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/workload/source/source_state.h"

/** Queues the first request of every client. Client i of N first sends after i/N of the think time. Returns
 * false if memory is short. */
bool kvc_source_start_clients(struct kvc_source *source, uint64_t seed);

/** Looks at the next frame of a closed loop; see kvc_source_peek. */
bool kvc_source_peek_closed(const struct kvc_source *source, const struct kvc_source_shard *shard,
                            double until_ns, uint32_t *connection);

/** Drains what the clients have sent; see kvc_source_drain. */
uint32_t kvc_source_drain_closed(struct kvc_source *source, struct kvc_source_shard *shard, double until_ns,
                                 struct kvc_batch *batch);

/** Queues the next requests of clients whose responses arrive at done_ns[i]. */
void kvc_source_complete_closed(struct kvc_source *source, const uint32_t *client, const double *done_ns,
                                uint32_t count);

#endif
