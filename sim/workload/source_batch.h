/** @file
 * Moves the waiting requests of a source to a batch. */
#ifndef KVC_SIM_WORKLOAD_SOURCE_BATCH_H
#define KVC_SIM_WORKLOAD_SOURCE_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/workload/source_state.h"

/** Returns how many requests of the next frame the batch has room for, at most a whole frame. */
uint32_t kvc_source_room(const struct kvc_source *source, const struct kvc_batch *batch);

/** Moves `count` rows from the head of a queue to the batch. All get the same send time. */
void kvc_source_move_rows(const struct kvc_source *source, struct kvc_rows *rows, double sent_ns,
                          uint32_t count, struct kvc_batch *batch);

#endif
