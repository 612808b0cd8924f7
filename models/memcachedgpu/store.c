#include "models/memcachedgpu/store.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/memcachedgpu/packet.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/seeds.h"
#include "sim/run/preload.h"
#include "sim/run/replica_memory.h"

enum {
    KEY_ROOM = KVC_MEMCACHEDGPU_PACKET_KEY_MAX + 8,
    ITEMS_OF_SLAB = 65536,
    PAGE_BYTES = 4096,
    VALUE_FILL = 0x76
};

static struct kvc_megakv_slab_params slab_params_of(const struct kvc_scenario *scenario, uint64_t hash_seed)
{
    return (struct kvc_megakv_slab_params){
        .bytes = (uint64_t)kvc_memcachedgpu_config_of(scenario)->slab_bytes,
        .rate = 1,
        .hash_seed = hash_seed,
        .compact = scenario->run.functional != KVC_FUNCTIONAL_FULL,
    };
}

static double shard_memory_bytes(const struct kvc_scenario *scenario)
{
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    double keys = kvc_replica_stored_keys(scenario, 1) / config->shards, bytes = 0;
    double items = fmin(keys, (double)config->options->entries);
    double item_bytes = kvc_megakv_slab_item_bytes((uint32_t)kvc_workload_key_bytes_mean(workload),
                                                   (uint32_t)kvc_workload_value_bytes_mean(workload));
    const struct kvc_memcachedgpu_shape shape = kvc_memcachedgpu_shape_of(config);
    const struct kvc_megakv_slab_params slab = slab_params_of(scenario, 0);
    for (uint32_t i = 0; i < config->class_count; i++) {
        double share = (double)config->classes[i].entries / (double)config->options->entries;
        bytes += kvc_memcachedgpu_table_memory_bytes(&shape, i, share * items);
    }
    bool expires = config->options->expiry_ns > 0;
    /* The first places of each slab are in use; the last of their pages is full in part. */
    double slabs = ceil(items * item_bytes / KVC_MEGAKV_SLAB_BYTES);
    double written_bytes = items * sizeof(double) + slabs * PAGE_BYTES;
    return bytes + (expires ? written_bytes : 0) +
           (double)kvc_megakv_slab_memory_bytes(&slab, items, item_bytes, false);
}

double kvc_memcachedgpu_store_memory_bytes(const struct kvc_scenario *scenario)
{
    bool real = scenario->run.functional != KVC_FUNCTIONAL_OFF;
    return real ? kvc_memcachedgpu_config_of(scenario)->shards * shard_memory_bytes(scenario) : 0;
}

void kvc_memcachedgpu_store_free(struct kvc_memcachedgpu_store *store)
{
    if (store == NULL) {
        return;
    }
    for (uint32_t i = 0; i < store->shard_count && store->shards != NULL; i++) {
        kvc_memcachedgpu_tables_close(&store->shards[i].tables);
        kvc_megakv_slab_free(store->shards[i].slab);
        free(store->shards[i].written_ns);
    }
    free(store->shards);
    free(store->value);
    free(store);
}

/* A location is the number of the slab and of the item in it. Slabs of large items leave most places unused,
 * but memory that is never written costs nothing. */
double *kvc_memcachedgpu_written_ns(const struct kvc_memcachedgpu_shard *shard, uint32_t location)
{
    return &shard->written_ns[location];
}

/* Frees the slab memory of an item that has left the tables. */
static struct kvc_memcachedgpu_written leave(struct kvc_memcachedgpu_shard *shard,
                                             const struct kvc_set_assoc_item *item)
{
    if (item->location == KVC_LOCATION_NONE) {
        return (struct kvc_memcachedgpu_written){0};
    }
    kvc_megakv_slab_release(shard->slab, item->location);
    return (struct kvc_memcachedgpu_written){.left = true, .stamp = item->stamp};
}

struct kvc_memcachedgpu_written kvc_memcachedgpu_store_set(const struct kvc_memcachedgpu_store *store,
                                                           struct kvc_memcachedgpu_shard *shard,
                                                           uint64_t key_id, uint32_t key_bytes,
                                                           uint32_t value_bytes, double now_ns)
{
    uint8_t key[KEY_ROOM];
    uint32_t location, evictions = 0;
    struct kvc_megakv_slab_evicted evicted;
    kvc_memcachedgpu_text_key(key, key_id, key_bytes);
    if (kvc_megakv_slab_alloc(shard->slab, key_bytes, value_bytes, 1, &location, &evicted, &evictions,
                              &shard->slab_stats) == 0) {
        shard->rejected++;
        return (struct kvc_memcachedgpu_written){0};
    }
    if (store->value != NULL) {
        kvc_megakv_slab_write(shard->slab, location, key, key_bytes, store->value, value_bytes,
                              &shard->slab_stats);
    } else { /* The number of a key stands for its bytes. */
        kvc_megakv_slab_write_hash(shard->slab, location, key_id, key_bytes, value_bytes, &shard->slab_stats);
    }
    if (shard->written_ns != NULL) {
        *kvc_memcachedgpu_written_ns(shard, location) = now_ns;
    }
    const struct kvc_set_assoc_item item = {.location = location, .value_bytes = value_bytes};
    struct kvc_set_assoc_item out = kvc_memcachedgpu_tables_insert(&shard->tables, key, key_bytes, &item,
                                                                   ++shard->stamp, &shard->index_stats);
    return leave(shard, &out);
}

struct kvc_memcachedgpu_written kvc_memcachedgpu_store_delete(struct kvc_memcachedgpu_shard *shard,
                                                              uint64_t key_id, uint32_t key_bytes)
{
    uint8_t key[KEY_ROOM];
    kvc_memcachedgpu_text_key(key, key_id, key_bytes);
    struct kvc_set_assoc_item out =
        kvc_memcachedgpu_tables_erase(&shard->tables, key, key_bytes, &shard->index_stats);
    return leave(shard, &out);
}

static void load_keys(void *data, const struct kvc_preload_visit *visit)
{
    struct kvc_memcachedgpu_store *store = data;
    for (uint32_t i = 0; i < visit->count; i++) {
        uint32_t row = visit->row[i];
        kvc_memcachedgpu_store_set(store, &store->shards[visit->shard], visit->batch->key_id[row],
                                   visit->batch->key_bytes[row], visit->batch->value_bytes[row], 0);
    }
}

static enum kvc_status preload(const struct kvc_scenario *scenario, uint64_t seed,
                               const struct kvc_progress *progress, struct kvc_memcachedgpu_store *store,
                               struct kvc_diag *diag)
{
    const struct kvc_source_params params = kvc_scenario_source(scenario, 1, seed);
    const struct kvc_sampling all = {.rate = 1};
    struct kvc_preload *walker = kvc_preload_create(&params, &all, diag);
    if (walker == NULL) {
        return diag->status;
    }
    kvc_preload_walk(walker, KVC_PRELOAD_SPREAD, progress, "preload", load_keys, store);
    kvc_preload_free(walker);
    return KVC_OK;
}

static void open_shard(const struct kvc_scenario *scenario, uint64_t seed,
                       struct kvc_memcachedgpu_shard *shard)
{
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    const struct kvc_memcachedgpu_shape shape = kvc_memcachedgpu_shape_of(config);
    kvc_memcachedgpu_tables_open(&shard->tables, &shape);
    uint64_t slab_bytes = (uint64_t)config->slab_bytes;
    uint64_t slabs = (slab_bytes + KVC_MEGAKV_SLAB_BYTES - 1) / KVC_MEGAKV_SLAB_BYTES;
    const struct kvc_megakv_slab_params slab = slab_params_of(scenario, kvc_seed_of_hash(seed));
    shard->slab = kvc_megakv_slab_create_with(&slab);
    if (shard->slab == NULL) {
        kvc_out_of_memory("slabs of %.3g GiB: %s", config->slab_bytes / 0x1p30, strerror(errno));
    }
    if (config->options->expiry_ns > 0) {
        shard->written_ns = kvc_array_of(slabs * ITEMS_OF_SLAB, sizeof(*shard->written_ns));
    }
}

static enum kvc_status open_shards(const struct kvc_scenario *scenario, uint64_t seed,
                                   const struct kvc_progress *progress, struct kvc_memcachedgpu_store *store,
                                   struct kvc_diag *diag)
{
    uint32_t value_bytes = kvc_workload_value_bytes_max(&scenario->workload);
    store->shards = kvc_array_of(store->shard_count, sizeof(*store->shards));
    if (scenario->run.functional == KVC_FUNCTIONAL_FULL) {
        store->value = kvc_array_of(value_bytes + 1, 1);
        memset(store->value, VALUE_FILL, value_bytes + 1);
    }
    for (uint32_t i = 0; i < store->shard_count; i++) {
        open_shard(scenario, seed, &store->shards[i]);
    }
    enum kvc_status status = preload(scenario, seed, progress, store, diag);
    for (uint32_t i = 0; i < store->shard_count; i++) {
        store->shards[i].index_stats = (struct kvc_index_stats){0};
        store->shards[i].slab_stats = (struct kvc_megakv_slab_stats){0};
        store->shards[i].rejected = 0;
    }
    return status;
}

enum kvc_status kvc_memcachedgpu_store_create(const struct kvc_scenario *scenario, uint64_t seed,
                                              const struct kvc_progress *progress,
                                              struct kvc_memcachedgpu_store **store, struct kvc_diag *diag)
{
    double started_s = kvc_clock_wall_s();
    struct kvc_memcachedgpu_store *made = kvc_array_of(1, sizeof(*made));
    enum kvc_status status = KVC_OK;
    made->shard_count = kvc_memcachedgpu_config_of(scenario)->shards;
    if (scenario->run.functional != KVC_FUNCTIONAL_OFF) {
        status = open_shards(scenario, seed, progress, made, diag);
    }
    if (status != KVC_OK) {
        kvc_memcachedgpu_store_free(made);
        return status;
    }
    made->preload_wall_s = kvc_clock_wall_s() - started_s;
    *store = made;
    return KVC_OK;
}
