/* Room for keys in BlueCache: the pairs that its index, DRAM and flash hold. */
#ifndef KVC_MODELS_BLUECACHE_ROOM_H
#define KVC_MODELS_BLUECACHE_ROOM_H

#include "models/bluecache/config.h"
#include "models/room.h"

/* Pairs that all nodes have room for; `log` is the mean number of records that flash and the write buffers
 * hold once the log is full: all rows but half of one, which is being written over, and half of a chunk. */
struct kvc_bluecache_capacity {
    double dram, flash, log;
};

/* Returns the pairs for which a resolved scenario has room. */
struct kvc_bluecache_capacity kvc_bluecache_capacity_of(const struct kvc_scenario *scenario);

/* The rooms of struct kvc_model: index and flash. */
uint32_t kvc_bluecache_rooms(const struct kvc_scenario *scenario, struct kvc_model_room *room);

#endif
