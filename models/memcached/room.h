/* Room for keys in memcached, MICA, the FPGA and Fatcache: sizes that follow from the keys, and the share of
 * the requests whose keys are stored. */
#ifndef KVC_MODELS_MEMCACHED_ROOM_H
#define KVC_MODELS_MEMCACHED_ROOM_H

#include "models/memcached/config.h"
#include "models/room.h"

/* Returns the items that Fatcache's instances keep in `slabs` slabs each, one of which is half full. */
double kvc_memcached_slab_items(const struct kvc_scenario *scenario, double slabs);

/* Returns the share of the requests whose keys are stored after the preload.
 *
 * The most popular keys are stored last. Memcached's queue and MICA's log therefore keep the most popular
 * ones, and so does each bucket of MICA's and the FPGA's index. Fatcache stores its keys in a random order
 * and gives up the oldest ones. */
double kvc_memcached_held_frac(const struct kvc_scenario *scenario);

/* The rooms of struct kvc_model. */
uint32_t kvc_memcached_rooms(const struct kvc_scenario *scenario, struct kvc_model_room *room);

#endif
