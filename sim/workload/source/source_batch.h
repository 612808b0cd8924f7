/** @file
 * Moves the waiting requests of a source to a batch. */
#ifndef KVC_SIM_WORKLOAD_SOURCE_SOURCE_BATCH_H
#define KVC_SIM_WORKLOAD_SOURCE_SOURCE_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/workload/source/source_state.h"

/** Returns how many requests of the next frame the batch has room for, at most a whole frame. */
uint32_t kvc_source_room(const struct kvc_source *source, const struct kvc_batch *batch);

/** Moves `count` rows from the head of a queue to the batch. Leaves their send times to the caller. */
void kvc_source_move_rows(const struct kvc_source *source, struct kvc_rows *rows, uint32_t count,
                          struct kvc_batch *batch);

/** Marks the batch with the frame drained last, for clients that send their frames in turn. */
void kvc_source_mark_frame(const struct kvc_source *source, struct kvc_source_shard *shard, double left_ns,
                           struct kvc_batch *batch);

/** Returns the connection of the next frame, for clients that send their frames in turn. */
uint32_t kvc_source_turn_connection(const struct kvc_source *source, const struct kvc_source_shard *shard);

#endif
