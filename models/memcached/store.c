#include "models/memcached/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/clock.h"
#include "sim/base/seeds.h"
#include "sim/devices/flash/flash_translation.h"
#include "sim/run/preload.h"
#include "sim/run/replica_memory.h"

double kvc_memcached_memory_bytes(const struct kvc_scenario *scenario)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    double shards = kvc_scenario_shards(scenario), items = kvc_replica_stored_keys(scenario, 1) / shards;
    double drive_bytes = config->flash != NULL
                             ? kvc_flash_translation_bytes(config->flash, kvc_memcached_disk_pages(config))
                             : 0;
    return shards * (kvc_memcached_shard_memory_bytes(config, items, kvc_workload_key_bytes_mean(workload),
                                                      kvc_workload_value_bytes_mean(workload)) +
                     drive_bytes) +
           kvc_replica_memory_bytes(scenario, KVC_MEMCACHED_WINDOW_NS, kvc_scenario_shards(scenario));
}

void kvc_memcached_store_free(struct kvc_memcached_store *store)
{
    if (store == NULL) {
        return;
    }
    for (uint32_t i = 0; i < store->shards && store->shard != NULL; i++) {
        kvc_memcached_shard_close(&store->shard[i]);
    }
    free(store->shard);
    free(store);
}

static void set_keys(void *data, const struct kvc_preload_visit *visit)
{
    struct kvc_memcached_store *store = data;
    const struct kvc_batch *batch = visit->batch;
    for (uint32_t i = 0; i < visit->count; i++) {
        uint32_t row = visit->row[i];
        const struct kvc_memcached_access access = {.op = KVC_OP_SET,
                                                    .key = batch->keys + (size_t)row * batch->key_stride,
                                                    .key_bytes = batch->key_bytes[row],
                                                    .value_bytes = batch->value_bytes[row]};
        kvc_memcached_shard_run(&store->shard[visit->shard], &access);
    }
}

static enum kvc_status preload(const struct kvc_scenario *scenario, uint64_t seed,
                               const struct kvc_progress *progress, struct kvc_memcached_store *store,
                               struct kvc_diag *diag)
{
    const struct kvc_source_params params =
        kvc_scenario_source(scenario, (uint32_t)scenario->node.sockets, seed);
    const struct kvc_sampling sampling = kvc_sampling_of(&scenario->workload, 1, 1);
    struct kvc_preload *walker = kvc_preload_create(&params, &sampling, diag);
    if (walker == NULL) {
        return diag->status;
    }
    /* Age decides what Fatcache keeps, whatever its clients ask for; the others keep what is popular. */
    bool by_age = kvc_memcached_config_of(scenario)->kind == KVC_MEMCACHED_FATCACHE;
    kvc_preload_walk(walker, by_age ? KVC_PRELOAD_SPREAD : KVC_PRELOAD_POPULAR_LAST, progress, "preload",
                     set_keys, store);
    kvc_preload_free(walker);
    for (uint32_t i = 0; i < store->shards; i++) {
        store->shard[i].stats = (struct kvc_index_stats){0};
    }
    return KVC_OK;
}

static enum kvc_status open_shards(const struct kvc_scenario *scenario, uint64_t seed,
                                   struct kvc_memcached_store *store, struct kvc_diag *diag)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    uint32_t value_bytes = kvc_workload_value_bytes_max(&scenario->workload);
    store->shard = calloc(store->shards, sizeof(*store->shard));
    for (uint32_t i = 0; i < store->shards; i++) {
        if (store->shard == NULL ||
            !kvc_memcached_shard_open(&store->shard[i], config, value_bytes, kvc_seed_of_hash(seed))) {
            return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a table of %.3g GiB: %s",
                                 kvc_memcached_shard_bytes(config) / 0x1p30, strerror(errno));
        }
    }
    return KVC_OK;
}

enum kvc_status kvc_memcached_store_create(const struct kvc_scenario *scenario, uint64_t seed, void **state,
                                           const struct kvc_progress *progress, struct kvc_diag *diag)
{
    double started_s = kvc_clock_wall_s();
    struct kvc_memcached_store *store = calloc(1, sizeof(*store));
    if (store == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the store");
    }
    store->shards = kvc_scenario_shards(scenario);
    enum kvc_status status = open_shards(scenario, seed, store, diag);
    if (status == KVC_OK) {
        status = preload(scenario, seed, progress, store, diag);
    }
    if (status != KVC_OK) {
        kvc_memcached_store_free(store);
        return status;
    }
    store->preload_wall_s = kvc_clock_wall_s() - started_s;
    *state = store;
    return KVC_OK;
}
