#include "models/memcached/room.h"

#include <math.h>

#include "kernels/mica/mica.h"
#include "sim/workload/keys/hashed_sets.h"
#include "sim/workload/keys/popularity_blocks.h"

double kvc_memcached_slab_items(const struct kvc_scenario *scenario, double slabs)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    double item = kvc_memcached_slab_item_bytes((uint32_t)kvc_workload_key_bytes_mean(&scenario->workload),
                                                (uint32_t)kvc_workload_value_bytes_mean(&scenario->workload));
    return kvc_scenario_shards(scenario) * config->threads * (slabs - 0.5) *
           floor(KVC_MEMCACHED_SLAB_BYTES / item);
}

/* Returns the items for which Fatcache has slabs. */
static double fatcache_items(const struct kvc_scenario *scenario)
{
    const struct kvc_memcached_slab_sizes *slabs = &kvc_memcached_config_of(scenario)->slabs;
    return kvc_memcached_slab_items(scenario, (double)slabs->memory_slabs + slabs->disk_slabs);
}

/* Returns the items that MICA's logs hold. */
static double log_items(const struct kvc_scenario *scenario)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    double item_bytes =
        kvc_mica_item_bytes(kvc_workload_key_bytes_mean(workload), kvc_workload_value_bytes_mean(workload));
    return kvc_scenario_shards(scenario) * config->threads * floor(config->options->log_bytes / item_bytes);
}

/* Buckets of the index of all sockets. */
struct sets {
    double count, ways;
};

static struct sets sets_of(const struct kvc_scenario *scenario)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    const struct kvc_memcached_options *options = config->options;
    double shards = kvc_scenario_shards(scenario), ways = (double)options->ways;
    if (config->kind == KVC_MEMCACHED_MICA) {
        return (struct sets){shards * config->threads * (double)options->buckets, KVC_MICA_ENTRIES};
    }
    return (struct sets){shards * ceil((double)options->entries / ways), ways};
}

/* Returns the items that the store has room for. */
static double room_of(const struct kvc_scenario *scenario)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    double entries = kvc_scenario_shards(scenario) * (double)config->options->entries;
    if (config->kind == KVC_MEMCACHED_MICA) {
        struct sets sets = sets_of(scenario);
        return fmin(log_items(scenario), sets.count * sets.ways);
    }
    return config->kind == KVC_MEMCACHED_FATCACHE ? fmin(fatcache_items(scenario), entries) : entries;
}

double kvc_memcached_held_frac(const struct kvc_scenario *scenario)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    double stored = floor(workload->preload_frac * (double)workload->keys);
    struct sets sets;
    if (workload->trace.profile != NULL) {
        return kvc_workload_trace_hit_frac(workload, room_of(scenario));
    }
    switch (config->kind) {
    case KVC_MEMCACHED_MICA:
        sets = sets_of(scenario);
        return kvc_hashed_sets_hit_frac(workload, fmin(stored, log_items(scenario)), sets.count, sets.ways);
    case KVC_MEMCACHED_FPGA:
        sets = sets_of(scenario);
        return kvc_hashed_sets_hit_frac(workload, stored, sets.count, sets.ways);
    case KVC_MEMCACHED_FATCACHE:
        return kvc_popularity_mass(workload, stored) * fmin(room_of(scenario) / fmax(stored, 1), 1);
    case KVC_MEMCACHED_VANILLA:
        break;
    }
    return kvc_popularity_mass(workload, fmin(stored, room_of(scenario)));
}

static uint32_t mica_rooms(const struct kvc_scenario *scenario, struct kvc_model_room *room)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    double keys = (double)scenario->workload.keys;
    struct sets sets = sets_of(scenario);
    room[0] = (struct kvc_model_room){.option = "system.buckets",
                                      .size = (double)config->options->buckets,
                                      .needed = config->needed.buckets,
                                      .keys = kvc_hashed_sets_held(keys, sets.count, sets.ways)};
    room[1] = (struct kvc_model_room){.option = "system.log",
                                      .unit = KVC_UNIT_BYTES,
                                      .size = config->options->log_bytes,
                                      .needed = config->needed.log_bytes,
                                      .keys = log_items(scenario)};
    return 2;
}

uint32_t kvc_memcached_rooms(const struct kvc_scenario *scenario, struct kvc_model_room *room)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    if (config->kind == KVC_MEMCACHED_MICA) {
        return mica_rooms(scenario, room);
    }
    room[0] =
        (struct kvc_model_room){.option = "system.entries",
                                .size = (double)config->options->entries,
                                .needed = config->needed.entries,
                                .keys = kvc_scenario_shards(scenario) * (double)config->options->entries};
    if (config->kind == KVC_MEMCACHED_FPGA) {
        struct sets sets = sets_of(scenario);
        room[0].keys = kvc_hashed_sets_held((double)scenario->workload.keys, sets.count, sets.ways);
    }
    if (config->kind != KVC_MEMCACHED_FATCACHE) {
        return 1;
    }
    room[1] = (struct kvc_model_room){.option = "system.disk",
                                      .unit = KVC_UNIT_BYTES,
                                      .size = config->options->disk_bytes,
                                      .needed = config->needed.disk_bytes,
                                      .keys = fatcache_items(scenario)};
    return 2;
}
