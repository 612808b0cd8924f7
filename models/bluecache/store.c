#include "models/bluecache/store.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/bluecache/dram_slab.h"
#include "kernels/bluecache/flash_page.h"
#include "models/bluecache/card.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/diag.h"
#include "sim/base/seeds.h"
#include "sim/devices/flash/flash_translation.h"
#include "sim/run/preload.h"
#include "sim/run/replica_memory.h"

enum { HOT_STRATA = 64 };

struct kvc_sampling kvc_bluecache_sampling_of(const struct kvc_scenario *scenario)
{
    return kvc_sampling_of(&scenario->workload, kvc_bluecache_config_of(scenario)->sample_rate, HOT_STRATA);
}

double kvc_bluecache_store_memory_bytes(const struct kvc_scenario *scenario, double sets)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    uint64_t pages = (uint64_t)kvc_bluecache_log_pages(&config->geometry);
    double keys = kvc_replica_stored_keys(scenario, config->sample_rate) / config->stores;
    double key_bytes = kvc_workload_key_bytes_mean(workload);
    double value_bytes = kvc_workload_value_bytes_mean(workload);
    double item_bytes = kvc_dram_slab_item_bytes((uint32_t)key_bytes, (uint32_t)value_bytes);
    double puts = keys + (config->sample_rate > 0 ? sets / (double)config->sample_rate / config->stores : 0);
    double kept = config->sizes.dram_bytes / item_bytes; /* Pairs go to flash when DRAM is full. */
    double log_bytes = fmax(puts - kept, 0) * (KVC_FLASH_RECORD_HEADER_BYTES + key_bytes + value_bytes);
    return config->stores * kvc_bluecache_sizes_memory_bytes(&config->sizes, keys, item_bytes, log_bytes) +
           config->nodes * kvc_flash_translation_bytes(config->flash, pages) +
           (double)KVC_BLUECACHE_RUN_MAX * config->value_max_bytes;
}

static void free_shards(struct kvc_bluecache_shards *shards)
{
    for (uint32_t i = 0; i < shards->shards && shards->shard != NULL; i++) {
        kvc_bluecache_store_free(shards->shard[i].store);
        kvc_bluecache_card_close(&shards->shard[i].card);
    }
    free(shards->shard);
    free(shards->value);
    free(shards);
}

struct kvc_bluecache_store_params kvc_bluecache_store_params_of(const struct kvc_bluecache_config *config,
                                                                struct kvc_flash_medium *medium,
                                                                uint64_t seed)
{
    const struct kvc_bluecache_sizes *sizes = &config->sizes;
    return (struct kvc_bluecache_store_params){
        .index_bytes = (uint64_t)sizes->index_bytes,
        .dram_bytes = (uint64_t)sizes->dram_bytes,
        .medium = medium,
        .chunk_pages = sizes->chunk_pages,
        .value_max_bytes = config->value_max_bytes,
        .parallel_pages = kvc_bluecache_writer_parallel(sizes->chunk_pages),
        .slab_bytes = sizes->slab_bytes,
        .seed = seed,
    };
}

static void open_shard(struct kvc_bluecache_shard *shard, const struct kvc_bluecache_config *config,
                       uint64_t seed)
{
    kvc_bluecache_card_open(&shard->card, &config->sizes.geometry);
    const struct kvc_bluecache_store_params params =
        kvc_bluecache_store_params_of(config, &shard->card.medium, seed);
    shard->store = kvc_bluecache_store_create(&params);
    if (shard->store == NULL) {
        kvc_out_of_memory("index, DRAM store and log of a node: %s", strerror(errno));
    }
    kvc_bluecache_store_format(shard->store);
}

static struct kvc_bluecache_keys keys_of(const struct kvc_batch *batch, uint32_t first, uint32_t count)
{
    return (struct kvc_bluecache_keys){.count = count,
                                       .keys = batch->keys + (size_t)first * batch->key_stride,
                                       .stride = batch->key_stride,
                                       .bytes = batch->key_bytes + first};
}

/* Marks a value with the number of the next SET. */
static const uint8_t *next_value(struct kvc_bluecache_shards *shards, uint8_t *value, uint32_t bytes)
{
    uint64_t number = ++shards->sets;
    uint32_t part = bytes < sizeof(number) ? bytes : sizeof(number);
    memcpy(value, &number, part);
    memcpy(value + bytes - part, &number, part);
    return value;
}

/* The store copies the values. */
static void put(struct kvc_bluecache_shards *shards, uint32_t number, const struct kvc_batch *batch,
                uint32_t first, uint32_t count)
{
    const uint8_t *value[KVC_BLUECACHE_RUN_MAX];
    const struct kvc_bluecache_keys keys = keys_of(batch, first, count);
    for (uint32_t i = 0; i < count; i++) {
        value[i] =
            next_value(shards, shards->value + (size_t)i * shards->value_room, batch->value_bytes[first + i]);
    }
    if (!kvc_bluecache_store_put(shards->shard[number].store, &keys, value, batch->value_bytes + first)) {
        KVC_BUG("a put of %u pairs failed: %s", count, strerror(errno));
    }
}

static void set_keys(void *data, const struct kvc_preload_visit *visit)
{
    for (uint32_t i = 0; i < visit->count; i++) {
        put(data, visit->shard, visit->batch, visit->row[i], 1);
    }
}

static enum kvc_status preload(const struct kvc_scenario *scenario, uint64_t seed,
                               const struct kvc_progress *progress, struct kvc_bluecache_shards *shards,
                               struct kvc_diag *diag)
{
    struct kvc_source_params params = kvc_scenario_source(scenario, 1, seed);
    params.nodes = shards->shards;
    const struct kvc_sampling sampling = kvc_bluecache_sampling_of(scenario);
    struct kvc_preload *walker = kvc_preload_create(&params, &sampling, diag);
    if (walker == NULL) {
        return diag->status;
    }
    /* Storing popular keys last keeps them in DRAM. Without DRAM, it would put them on the same pages of
     * the log. */
    bool by_age = kvc_bluecache_config_of(scenario)->options->dram_bytes <= 0;
    kvc_preload_walk(walker, by_age ? KVC_PRELOAD_SPREAD : KVC_PRELOAD_POPULAR_LAST, progress, "preload",
                     set_keys, shards);
    kvc_preload_free(walker);
    for (uint32_t i = 0; i < shards->shards; i++) {
        struct kvc_bluecache_shard *shard = &shards->shard[i];
        kvc_bluecache_store_flush(
            shard->store); /* Keys that are still in the write buffer go to flash, too. */
        shard->card.notes = true;
    }
    return KVC_OK;
}

enum kvc_status kvc_bluecache_shards_create(const struct kvc_scenario *scenario, uint64_t seed, void **state,
                                            const struct kvc_progress *progress, struct kvc_diag *diag)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    double started_s = kvc_clock_wall_s();
    struct kvc_bluecache_shards *shards = kvc_array_of(1, sizeof(*shards));
    shards->shards = config->stores;
    shards->value_room = config->value_max_bytes;
    shards->value = kvc_array_of(KVC_BLUECACHE_RUN_MAX, shards->value_room);
    shards->shard = kvc_array_of(shards->shards, sizeof(*shards->shard));
    for (uint32_t i = 0; i < shards->shards; i++) {
        open_shard(&shards->shard[i], config, kvc_seed_of_hash(seed) + i);
    }
    enum kvc_status status = preload(scenario, seed, progress, shards, diag);
    if (status != KVC_OK) {
        free_shards(shards);
        return status;
    }
    shards->preload_wall_s = kvc_clock_wall_s() - started_s;
    *state = shards;
    return KVC_OK;
}

typedef void get_fn(struct kvc_bluecache_store *store, const struct kvc_bluecache_keys *keys, uint8_t *out,
                    uint32_t capacity, uint32_t *value_bytes, struct kvc_bluecache_read *read);

static void get(struct kvc_bluecache_shards *shards, uint32_t number, const struct kvc_batch *batch,
                uint32_t first, uint32_t count, get_fn *fetch, struct kvc_bluecache_done *done)
{
    struct kvc_bluecache_read read[KVC_BLUECACHE_RUN_MAX];
    uint32_t length[KVC_BLUECACHE_RUN_MAX];
    const struct kvc_bluecache_keys keys = keys_of(batch, first, count);
    fetch(shards->shard[number].store, &keys, shards->value, shards->value_room, length, read);
    for (uint32_t i = 0; i < count; i++) {
        done[i] = (struct kvc_bluecache_done){length[i] != KVC_BLUECACHE_MISS, read[i].place, read[i].pages};
    }
}

void kvc_bluecache_shards_run(struct kvc_bluecache_shards *shards, uint32_t number,
                              const struct kvc_batch *batch, uint32_t first, uint32_t count,
                              struct kvc_bluecache_done *done)
{
    struct kvc_bluecache_store *store = shards->shard[number].store;
    bool found[KVC_BLUECACHE_RUN_MAX] = {false};
    switch ((enum kvc_op)batch->op[first]) {
    case KVC_OP_GET:
        get(shards, number, batch, first, count, kvc_bluecache_store_get, done);
        return;
    case KVC_OP_SET: {
        struct kvc_bluecache_store_stats before, after;
        kvc_bluecache_store_stats(store, &before);
        put(shards, number, batch, first, count);
        kvc_bluecache_store_stats(store, &after);
        uint64_t bypassed = after.bypassed - before.bypassed;
        for (uint32_t i = 0; i < count; i++) {
            uint8_t place = i < bypassed ? KVC_BLUECACHE_IN_BUFFER : KVC_BLUECACHE_IN_DRAM;
            done[i] = (struct kvc_bluecache_done){.hit = true, .place = place};
        }
        return;
    }
    default: {
        const struct kvc_bluecache_keys keys = keys_of(batch, first, count);
        if (!kvc_bluecache_store_delete(store, &keys, found)) {
            KVC_BUG("a delete of %u keys failed: %s", count, strerror(errno));
        }
        for (uint32_t i = 0; i < count; i++) {
            done[i] = (struct kvc_bluecache_done){
                .hit = found[i], .place = found[i] ? KVC_BLUECACHE_IN_BUFFER : KVC_BLUECACHE_IN_NONE};
        }
        return;
    }
    }
}

void kvc_bluecache_shards_peek(struct kvc_bluecache_shards *shards, uint32_t number,
                               const struct kvc_batch *batch, uint32_t row, struct kvc_bluecache_done *done)
{
    get(shards, number, batch, row, 1, kvc_bluecache_store_peek, done);
}
