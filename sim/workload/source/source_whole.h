/** @file
 * Frames of an open loop that a client fills at once: frames, and not requests, form the arrival process. */
#ifndef KVC_SIM_WORKLOAD_SOURCE_SOURCE_WHOLE_H
#define KVC_SIM_WORKLOAD_SOURCE_SOURCE_WHOLE_H

#include <stdbool.h>

#include "sim/workload/source/source_state.h"

/** Makes room for one more frame in the queue of a shard. Returns false if memory is short. */
bool kvc_source_reserve_frame(struct kvc_source_shard *shard);

/** Sends the next frame of the stream, to whichever shard. A frame is short if its shard is so cold that
 * filling it would make a million requests ahead for the other shards. The contents of a frame depend on the
 * stream alone, and not on the requests drained so far. Returns false at the end of the load. */
bool kvc_source_send_whole(struct kvc_source *source);

#endif
