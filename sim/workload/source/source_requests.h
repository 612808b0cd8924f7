/** @file
 * Makes the requests of a source: their operations, keys, sizes and hashes, in blocks. */
#ifndef KVC_SIM_WORKLOAD_SOURCE_SOURCE_REQUESTS_H
#define KVC_SIM_WORKLOAD_SOURCE_SOURCE_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/workload/source/source_state.h"

/** Writes the bytes of `count` keys from their ids and sizes. */
void kvc_source_make_keys(const struct kvc_source *source, const struct kvc_columns *to,
                          const uint8_t *key_bytes, uint32_t count);

/** Completes requests whose operations and key ids are set: adds sizes, key bytes and hashes. `count` is at
 * most KVC_SOURCE_BLOCK. */
void kvc_source_complete_columns(const struct kvc_source *source, struct kvc_columns to, uint32_t count);

/** Makes the requests to come those of an epoch of the workload's part. Returns false if memory is short. */
bool kvc_source_enter_epoch(struct kvc_source *source, uint32_t epoch);

/** Makes the next KVC_SOURCE_BLOCK requests of the global stream and queues them at their shards. Returns
 * false and stops the stream if memory is short. In an open loop of a part with several epochs, their times
 * are in source->clients.sent_ns. */
bool kvc_source_make_block(struct kvc_source *source);

#endif
