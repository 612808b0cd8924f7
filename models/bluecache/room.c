#include "models/bluecache/room.h"

#include <math.h>

#include "kernels/bluecache/dram_slab.h"
#include "kernels/bluecache/index.h"
#include "models/bluecache/card.h"
#include "models/bluecache/costs.h"
#include "sim/devices/flash/flash.h"
#include "sim/workload/keys/hashed_sets.h"

struct kvc_bluecache_capacity kvc_bluecache_capacity_of(const struct kvc_scenario *scenario)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    uint32_t key = (uint32_t)kvc_workload_key_bytes_mean(&scenario->workload);
    uint32_t value = (uint32_t)kvc_workload_value_bytes_mean(&scenario->workload);
    const struct kvc_flash_geometry *geometry = &config->geometry;
    double pages = kvc_bluecache_log_pages(geometry);
    double slabs = ceil(config->options->dram_bytes / KVC_DRAM_SLAB_BYTES);
    double in_slab = floor(KVC_DRAM_SLAB_BYTES / (double)kvc_dram_slab_item_bytes(key, value));
    double records = config->stores / kvc_bluecache_record_pages(config, key, value);
    double row_pages = pages / geometry->blocks_per_chip;
    return (struct kvc_bluecache_capacity){
        .dram = config->stores * slabs * in_slab,
        .flash = records * pages,
        .log = records * (pages - row_pages / 2 + (double)config->options->chunk_pages / 2)};
}

uint32_t kvc_bluecache_rooms(const struct kvc_scenario *scenario, struct kvc_model_room *room)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    double keys = (double)scenario->workload.keys, stores = config->stores;
    double sets = stores * config->options->index_bytes / KVC_BLUECACHE_BUCKET_BYTES;
    const struct kvc_bluecache_capacity capacity = kvc_bluecache_capacity_of(scenario);
    room[0] = (struct kvc_model_room){.option = "system.index",
                                      .unit = KVC_UNIT_BYTES,
                                      .size = config->options->index_bytes,
                                      .needed = config->needed_index_bytes,
                                      .keys = kvc_hashed_sets_held(keys, sets, KVC_BLUECACHE_WAYS)};
    room[1] = (struct kvc_model_room){.option = "system.flash",
                                      .unit = KVC_UNIT_BYTES,
                                      .size = config->options->flash_bytes,
                                      .needed = config->needed_flash_bytes,
                                      .keys = capacity.dram + capacity.flash};
    return 2;
}
