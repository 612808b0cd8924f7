#include "models/megakv/store.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "models/megakv/config.h"
#include "sim/base/clock.h"
#include "sim/workload/source.h"

enum {
    PRELOAD_BLOCK = 4096,
    PRELOAD_ROWS = PRELOAD_BLOCK + 1, /* a block of strata may begin and end inside one */
};

/* Strata of the most popular keys that a sampled store keeps whole. Under Zipf's law the key that stands for
 * the next stratum has about 1/HOT_STRATA of the share of requests that the most popular key has. */
enum { HOT_STRATA = 64 };

static uint64_t hot_keys(const struct kvc_scenario *scenario, uint64_t rate)
{
    uint64_t hot = rate > 1 ? HOT_STRATA * rate : 0, keys = scenario->workload.keys / 2 / rate * rate;
    return hot < keys ? hot : keys;
}

/* Slab memory that the hot keys of a shard need; consistent hashing may give one a quarter more than its
 * share. */
static double hot_bytes(const struct kvc_scenario *scenario, uint64_t rate)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    double shards = config->shards;
    return 1.25 * (double)hot_keys(scenario, rate) / shards * config->means.item_bytes;
}

double kvc_megakv_store_bytes(const struct kvc_scenario *scenario)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    uint64_t rate = config->sample_rate;
    return rate > 0 ? config->full_bytes / (double)rate + config->shards * hot_bytes(scenario, rate) : 0;
}

void kvc_megakv_store_free(struct kvc_megakv_store *store)
{
    if (store == NULL) {
        return;
    }
    for (uint32_t i = 0; i < store->shard_count && store->shards != NULL; i++) {
        kvc_index_free(store->shards[i].index);
        kvc_megakv_slab_free(store->shards[i].slab);
    }
    free(store->shards);
    free(store->value);
    free(store);
}

static bool same_sizes(const struct kvc_batch *batch, const uint32_t *rows, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        if (batch->key_bytes[rows[i]] != batch->key_bytes[rows[0]] ||
            batch->value_bytes[rows[i]] != batch->value_bytes[rows[0]]) {
            return false;
        }
    }
    return true;
}

uint32_t kvc_megakv_store_write(const struct kvc_megakv_store *store, struct kvc_megakv_shard *shard,
                                const struct kvc_batch *batch, const uint32_t *rows, uint32_t count,
                                uint32_t *location, struct kvc_megakv_slab_evicted *evicted)
{
    uint32_t evicted_total = 0;
    uint32_t step = same_sizes(batch, rows, count) ? count : 1;
    for (uint32_t i = 0; i < count; i += step) {
        uint32_t evicted_now = 0;
        uint32_t got =
            kvc_megakv_slab_alloc(shard->slab, batch->key_bytes[rows[i]], batch->value_bytes[rows[i]], step,
                                  location + i, evicted + evicted_total, &evicted_now, &shard->slab_stats);
        evicted_total += evicted_now;
        shard->rejected += step - got;
        for (uint32_t j = got; j < step; j++) {
            location[i + j] = KVC_LOCATION_NONE;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = rows[i];
        if (location[i] == KVC_LOCATION_NONE) {
            continue;
        }
        memcpy(store->value, &batch->hash[row], sizeof(batch->hash[row]));
        kvc_megakv_slab_write(shard->slab, location[i], batch->keys + (size_t)row * batch->key_stride,
                              batch->key_bytes[row], store->value, batch->value_bytes[row],
                              &shard->slab_stats);
    }
    return evicted_total;
}

/* Scratch of the preloader: one block of keys and its rows by shard. */
struct preloader {
    struct kvc_megakv_store *store;
    struct kvc_source *source;
    struct kvc_batch *batch;
    uint32_t rows[PRELOAD_ROWS], location[PRELOAD_ROWS], erase_location[PRELOAD_ROWS];
    uint64_t hash[PRELOAD_ROWS];
    uint16_t shard_of[PRELOAD_ROWS];
    struct kvc_megakv_slab_evicted evicted[PRELOAD_ROWS];
};

static void load_rows(struct preloader *loader, struct kvc_megakv_shard *shard, uint32_t count)
{
    uint32_t inserts = 0;
    uint32_t evicted = kvc_megakv_store_write(loader->store, shard, loader->batch, loader->rows, count,
                                              loader->location, loader->evicted);
    for (uint32_t i = 0; i < evicted; i++) {
        loader->hash[i] = loader->evicted[i].hash;
        loader->erase_location[i] = loader->evicted[i].location;
    }
    kvc_index_erase(shard->index, loader->hash, loader->erase_location, evicted, NULL, &shard->index_stats);
    for (uint32_t i = 0; i < count; i++) {
        if (loader->location[i] == KVC_LOCATION_NONE) {
            continue;
        }
        loader->hash[inserts] = loader->batch->hash[loader->rows[i]];
        loader->location[inserts++] = loader->location[i];
    }
    kvc_index_insert(shard->index, loader->hash, loader->location, inserts, NULL, &shard->index_stats);
}

static void load_block(struct preloader *loader)
{
    const struct kvc_batch *batch = loader->batch;
    uint16_t *shard_of = loader->shard_of;
    for (uint32_t i = 0; i < batch->count; i++) {
        shard_of[i] = (uint16_t)kvc_source_shard(loader->source, batch->hash[i]);
    }
    for (uint32_t s = 0; s < loader->store->shard_count; s++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < batch->count; i++) {
            loader->rows[count] = i;
            count += shard_of[i] == s;
        }
        load_rows(loader, &loader->store->shards[s], count);
    }
}

/* Keys of the block [first, first + count) that the store keeps. */
static void gather_keys(struct preloader *loader, uint64_t first, uint32_t count)
{
    const struct kvc_megakv_store *store = loader->store;
    uint64_t rate = store->sample_rate;
    loader->batch->count = 0;
    if (rate == 1 || first < store->hot_keys) {
        kvc_source_keys(loader->source, first, count, loader->batch);
        return;
    }
    for (uint64_t stratum = first / rate; stratum < (first + count + rate - 1) / rate; stratum++) {
        uint64_t key_id = kvc_sampling_key(stratum, rate);
        if (key_id >= first && key_id < first + count) {
            kvc_source_keys(loader->source, key_id, 1, loader->batch);
        }
    }
}

static enum kvc_status preload(const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                               struct kvc_megakv_store *store, struct kvc_diag *diag)
{
    uint64_t keys = (uint64_t)(scenario->workload.preload_frac * (double)scenario->workload.keys);
    uint64_t block = PRELOAD_BLOCK * store->sample_rate;
    struct preloader *loader = calloc(1, sizeof(*loader));
    struct kvc_source_params params = {
        .workload = &scenario->workload,
        .nodes = (uint32_t)scenario->cluster.nodes,
        .sockets = (uint32_t)scenario->node.sockets,
        .hash_seed = KVC_MEGAKV_HASH_SEED,
        .frame_requests = 1,
    };
    if (loader == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory to preload");
    }
    loader->store = store;
    loader->source = kvc_source_create(&params, diag);
    loader->batch = kvc_batch_create(PRELOAD_ROWS, kvc_workload_key_stride(&scenario->workload));
    enum kvc_status status = loader->source != NULL ? KVC_OK : diag->status;
    if (status == KVC_OK && loader->batch == NULL) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory to preload");
    }
    for (uint64_t end = keys; end > 0 && status == KVC_OK;) {
        /* hot keys are kept whole: blocks of their own size, so that a block never holds more than the batch
         */
        uint64_t span = end <= store->hot_keys ? PRELOAD_BLOCK : block;
        uint64_t floor_id = end <= store->hot_keys ? 0 : store->hot_keys;
        uint64_t first = end - floor_id > span ? end - span : floor_id;
        gather_keys(loader, first, (uint32_t)(end - first));
        load_block(loader);
        end = first;
        kvc_progress_report(progress, "preload", 1 - (double)end / (double)keys);
    }
    kvc_source_free(loader->source);
    kvc_batch_free(loader->batch);
    free(loader);
    return status;
}

static enum kvc_status create_shards(const struct kvc_scenario *scenario, struct kvc_megakv_store *store,
                                     struct kvc_diag *diag)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    double rate = (double)store->sample_rate;
    /* The slab store would round up, by as much as a small sample's whole size. */
    double slabs = fmax(
        round((config->slab_bytes / rate + hot_bytes(scenario, store->sample_rate)) / KVC_MEGAKV_SLAB_BYTES),
        1);
    store->shards = calloc(store->shard_count, sizeof(*store->shards));
    store->value = malloc(kvc_workload_value_bytes_max(&scenario->workload) + sizeof(uint64_t));
    if (store->shards == NULL || store->value == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for %u shards", store->shard_count);
    }
    memset(store->value, 0x5a, kvc_workload_value_bytes_max(&scenario->workload) + sizeof(uint64_t));
    for (uint32_t i = 0; i < store->shard_count; i++) {
        struct kvc_megakv_cuckoo_params params = {
            .bytes = (uint64_t)fmax(config->index_bytes / rate, 64),
            .max_displacements = config->max_displacements,
            .seed = i,
        };
        store->shards[i].index = kvc_megakv_cuckoo_create(&params);
        store->shards[i].slab =
            kvc_megakv_slab_create((uint64_t)slabs * KVC_MEGAKV_SLAB_BYTES, KVC_MEGAKV_HASH_SEED);
        if (store->shards[i].index == NULL || store->shards[i].slab == NULL) {
            return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a shard of %.3g GiB: %s",
                                 (config->index_bytes + config->slab_bytes) / rate / 0x1p30, strerror(errno));
        }
    }
    return KVC_OK;
}

static void reset_stats(struct kvc_megakv_store *store)
{
    for (uint32_t i = 0; i < store->shard_count; i++) {
        store->shards[i].index_stats = (struct kvc_index_stats){0};
        store->shards[i].slab_stats = (struct kvc_megakv_slab_stats){0};
        store->shards[i].rejected = 0;
    }
}

enum kvc_status kvc_megakv_store_create(const struct kvc_scenario *scenario,
                                        const struct kvc_progress *progress, struct kvc_megakv_store **store,
                                        struct kvc_diag *diag)
{
    double started_s = kvc_clock_wall_s();
    struct kvc_megakv_store *made = calloc(1, sizeof(*made));
    enum kvc_status status = KVC_OK;
    if (made == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the store");
    }
    made->shard_count = kvc_scenario_shards(scenario);
    made->sample_rate = kvc_megakv_config_of(scenario)->sample_rate;
    made->hot_keys = made->sample_rate > 0 ? hot_keys(scenario, made->sample_rate) : 0;
    if (made->sample_rate > 0) {
        status = create_shards(scenario, made, diag);
        if (status == KVC_OK && scenario->workload.arrival != KVC_ARRIVAL_TRACE) {
            status = preload(scenario, progress, made, diag);
        }
        if (status == KVC_OK) {
            reset_stats(made);
        }
    }
    made->preload_wall_s = kvc_clock_wall_s() - started_s;
    if (status != KVC_OK) {
        kvc_megakv_store_free(made);
        return status;
    }
    *store = made;
    return KVC_OK;
}
