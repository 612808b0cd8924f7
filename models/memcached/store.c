#include "models/memcached/store.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/memcachedgpu/chained.h"
#include "kernels/memcachedgpu/set_assoc.h"
#include "kernels/mica/mica.h"
#include "kernels/pages.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/seeds.h"
#include "sim/devices/flash/flash_translation.h"
#include "sim/run/preload.h"
#include "sim/run/replica_memory.h"

/* ---- slabs of Fatcache ---- */

/* Returns the first page of a slab on the SSD. */
static uint64_t first_page(const struct kvc_memcached_slab_sizes *sizes, uint32_t slab)
{
    return (uint64_t)(slab % sizes->disk_slabs) * kvc_memcached_slab_pages(sizes);
}

struct kvc_memcached_place kvc_memcached_slabs_add(struct kvc_memcached_slabs *slabs,
                                                   const struct kvc_memcached_slab_sizes *sizes,
                                                   uint32_t item_bytes, struct kvc_memcached_drain *drain)
{
    *drain = (struct kvc_memcached_drain){.evicts = false};
    if (slabs->offset + item_bytes > KVC_MEMCACHED_SLAB_BYTES) {
        slabs->slab++;
        slabs->offset = 0;
        if (slabs->slab >= sizes->memory_slabs) {
            uint32_t oldest = slabs->slab - sizes->memory_slabs;
            drain->written =
                (struct kvc_memcached_pages){first_page(sizes, oldest), kvc_memcached_slab_pages(sizes)};
            drain->evicts = oldest >= sizes->disk_slabs;
        }
    }
    struct kvc_memcached_place place = {slabs->slab, slabs->offset};
    slabs->offset += item_bytes;
    return place;
}

bool kvc_memcached_slabs_find(const struct kvc_memcached_slabs *slabs,
                              const struct kvc_memcached_slab_sizes *sizes,
                              const struct kvc_memcached_place *place, uint32_t item_bytes,
                              struct kvc_memcached_pages *pages)
{
    uint32_t age = slabs->slab - place->slab;
    *pages = (struct kvc_memcached_pages){0};
    if (age < sizes->memory_slabs) {
        return true;
    }
    if (age >= sizes->memory_slabs + sizes->disk_slabs) {
        return false;
    }
    uint32_t first = place->offset / sizes->page_bytes;
    uint32_t last = (place->offset + item_bytes - 1) / sizes->page_bytes;
    *pages = (struct kvc_memcached_pages){first_page(sizes, place->slab) + first, last - first + 1};
    return true;
}

/* ---- shards ---- */

enum { BUCKET_BYTES = 128 };

/* Timestamps of memcached's table are milliseconds. */
static const double tick_ns = 1e6;

static struct kvc_chained_params chained_params(const struct kvc_memcached_config *config)
{
    return (struct kvc_chained_params){.buckets = config->buckets,
                                       .capacity = (uint32_t)config->options->entries,
                                       .key_bytes_max = config->key_bytes_max,
                                       .bump_after =
                                           (uint32_t)fmin(config->options->bump_ns / tick_ns, UINT32_MAX)};
}

static struct kvc_set_assoc_params set_assoc_params(const struct kvc_memcached_config *config)
{
    uint64_t ways = config->options->ways;
    return (struct kvc_set_assoc_params){.sets = (uint32_t)((config->options->entries + ways - 1) / ways),
                                         .ways = (uint32_t)ways,
                                         .key_bytes_max = config->key_bytes_max};
}

double kvc_memcached_shard_bytes(const struct kvc_memcached_config *config)
{
    const struct kvc_memcached_options *options = config->options;
    if (config->kind == KVC_MEMCACHED_MICA) {
        return config->threads * (options->log_bytes + (double)options->buckets * BUCKET_BYTES);
    }
    double entry = kvc_chained_entry_bytes(config->key_bytes_max);
    return (double)options->entries * entry + config->buckets * (double)sizeof(uint32_t);
}

double kvc_memcached_shard_memory_bytes(const struct kvc_memcached_config *config, double items,
                                        double key_bytes, double value_bytes)
{
    const struct kvc_memcached_options *options = config->options;
    if (config->kind == KVC_MEMCACHED_MICA) {
        double own = items / config->threads, item_bytes = kvc_mica_item_bytes(key_bytes, value_bytes);
        return config->threads *
               (double)(kvc_pages_random_bytes(options->buckets * BUCKET_BYTES, (uint64_t)own) +
                        kvc_pages_front_bytes((uint64_t)options->log_bytes, (uint64_t)(own * item_bytes)));
    }
    if (config->kind == KVC_MEMCACHED_FPGA) {
        const struct kvc_set_assoc_params params = set_assoc_params(config);
        struct kvc_set_assoc_table table = {0};
        kvc_set_assoc_geometry(&params, &table);
        return (double)kvc_pages_random_bytes((uint64_t)table.set_count * table.set_bytes, (uint64_t)items);
    }
    uint64_t entry_bytes = kvc_chained_entry_bytes(config->key_bytes_max);
    return (double)(kvc_pages_random_bytes(config->buckets * sizeof(uint32_t), (uint64_t)items) +
                    kvc_pages_front_bytes(options->entries * entry_bytes, (uint64_t)items * entry_bytes));
}

static void open_shard(struct kvc_memcached_shard *shard, const struct kvc_memcached_config *config,
                       uint32_t value_bytes_max, uint64_t seed)
{
    *shard = (struct kvc_memcached_shard){.config = config, .value_room = value_bytes_max + 1};
    shard->value = kvc_array_of(shard->value_room, 1);
    shard->slabs = kvc_array_of(config->threads, sizeof(*shard->slabs));
    if (config->kind == KVC_MEMCACHED_MICA) {
        const struct kvc_mica_params mica = {.partitions = config->threads,
                                             .buckets = (uint32_t)config->options->buckets,
                                             .log_bytes = (uint64_t)config->options->log_bytes,
                                             .seed = seed};
        shard->mica = kvc_mica_create(&mica);
    } else if (config->kind == KVC_MEMCACHED_FPGA) {
        const struct kvc_set_assoc_params set_assoc = set_assoc_params(config);
        shard->table = (struct kvc_table *)kvc_set_assoc_create(&set_assoc); /* its first member */
    } else {
        const struct kvc_chained_params chained = chained_params(config);
        shard->table = (struct kvc_table *)kvc_chained_create(&chained); /* its first member */
    }
    if (shard->mica == NULL && shard->table == NULL) {
        kvc_out_of_memory("a table of %.3g GiB: %s", kvc_memcached_shard_bytes(config) / 0x1p30,
                          strerror(errno));
    }
}

static void close_shard(struct kvc_memcached_shard *shard)
{
    kvc_mica_free(shard->mica);
    if (shard->table != NULL) {
        kvc_index_free(&shard->table->index);
    }
    free(shard->value);
    free(shard->slabs);
}

static bool run_mica(struct kvc_memcached_shard *shard, const struct kvc_memcached_access *access)
{
    const uint32_t offset = 0;
    const uint8_t bytes = (uint8_t)access->key_bytes;
    const struct kvc_mica_keys keys = {access->key, &offset, &bytes, NULL};
    struct kvc_mica_buffer buffer = {shard->value, shard->value_room, 0};
    const struct kvc_mica_value value = {shard->value, access->value_bytes};
    uint8_t outcome = 0;
    bool erased = false;
    switch (access->op) {
    case KVC_OP_SET:
        kvc_mica_set(shard->mica, &keys, &value, 1, &outcome, &shard->stats);
        return outcome == KVC_MICA_IN_PLACE || outcome == KVC_MICA_APPENDED;
    case KVC_OP_DELETE:
        kvc_mica_delete(shard->mica, &keys, 1, &erased, &shard->stats);
        return erased;
    default:
        kvc_mica_get(shard->mica, &keys, 1, &buffer, &shard->stats);
        return buffer.bytes != KVC_MICA_NONE;
    }
}

/* Returns the pages of the whole SSD. */
static struct kvc_memcached_pages pages_of(const struct kvc_memcached_config *config, uint32_t instance,
                                           struct kvc_memcached_pages pages)
{
    pages.first += (uint64_t)instance * config->slabs.disk_slabs * kvc_memcached_slab_pages(&config->slabs);
    return pages;
}

/* Finds a place for a new item. The table stores the slab's number in the field for the length of the value.
 */
static struct kvc_set_assoc_item place(struct kvc_memcached_shard *shard,
                                       const struct kvc_memcached_access *access,
                                       struct kvc_memcached_blocks *blocks)
{
    const struct kvc_memcached_config *config = shard->config;
    if (config->kind != KVC_MEMCACHED_FATCACHE) {
        return (struct kvc_set_assoc_item){.location = 0, .value_bytes = access->value_bytes};
    }
    uint32_t instance = kvc_memcached_shard_owner(shard, access->key, access->key_bytes);
    uint32_t bytes = kvc_memcached_slab_item_bytes(access->key_bytes, access->value_bytes);
    struct kvc_memcached_drain drain;
    struct kvc_memcached_place place =
        kvc_memcached_slabs_add(&shard->slabs[instance], &config->slabs, bytes, &drain);
    blocks->written = pages_of(config, instance, drain.written);
    if (drain.evicts) {
        blocks->read = blocks->written;
    }
    return (struct kvc_set_assoc_item){.location = place.offset, .value_bytes = place.slab};
}

/* Returns whether an item that a GET found in the table is still in a slab. */
static bool find(struct kvc_memcached_shard *shard, const struct kvc_memcached_access *access,
                 const struct kvc_set_assoc_item *item, struct kvc_memcached_blocks *blocks)
{
    const struct kvc_memcached_config *config = shard->config;
    if (config->kind != KVC_MEMCACHED_FATCACHE) {
        return true;
    }
    uint32_t instance = kvc_memcached_shard_owner(shard, access->key, access->key_bytes);
    uint32_t bytes = kvc_memcached_slab_item_bytes(access->key_bytes, access->value_bytes);
    const struct kvc_memcached_place place = {.slab = item->value_bytes, .offset = item->location};
    struct kvc_memcached_pages pages;
    bool found = kvc_memcached_slabs_find(&shard->slabs[instance], &config->slabs, &place, bytes, &pages);
    blocks->read = pages_of(config, instance, pages);
    return found;
}

/* The two tables of memcached's kind have the same operations. */
static bool run_table(struct kvc_memcached_shard *shard, const struct kvc_memcached_access *access,
                      struct kvc_memcached_blocks *blocks)
{
    const uint32_t offset = 0;
    const uint8_t bytes = (uint8_t)access->key_bytes;
    const struct kvc_set_assoc_keys keys = {access->key, &offset, &bytes};
    struct kvc_set_assoc_item out = {.location = KVC_LOCATION_NONE};
    struct kvc_index_stats *stats = &shard->stats;
    uint32_t now =
        shard->config->kind == KVC_MEMCACHED_FPGA ? shard->clock++ : (uint32_t)(access->now_ns / tick_ns);
    uint64_t replaced = stats->replaced;
    if (access->op == KVC_OP_SET) {
        const struct kvc_set_assoc_item item = place(shard, access, blocks);
        kvc_table_insert(shard->table, &keys, &item, 1, now, &out, stats);
        return stats->replaced > replaced;
    }
    if (access->op == KVC_OP_DELETE) {
        kvc_table_erase(shard->table, &keys, NULL, 1, &out, stats);
    } else {
        kvc_table_search(shard->table, &keys, 1, now, &out, stats);
    }
    return out.location != KVC_LOCATION_NONE &&
           (access->op != KVC_OP_GET || find(shard, access, &out, blocks));
}

struct kvc_memcached_found kvc_memcached_shard_run(struct kvc_memcached_shard *shard,
                                                   const struct kvc_memcached_access *access)
{
    const struct kvc_index_stats *stats = &shard->stats;
    uint64_t before = stats->search_lines + stats->insert_lines + stats->erase_lines;
    struct kvc_memcached_found found = {0};
    found.hit = shard->mica != NULL ? run_mica(shard, access) : run_table(shard, access, &found.blocks);
    uint64_t after = stats->search_lines + stats->insert_lines + stats->erase_lines;
    found.lines = (uint32_t)(after - before);
    return found;
}

uint32_t kvc_memcached_shard_owner(const struct kvc_memcached_shard *shard, const uint8_t *key,
                                   uint32_t key_bytes)
{
    if (shard->config->kind == KVC_MEMCACHED_FATCACHE) {
        return (uint32_t)(kvc_hash(key, key_bytes, 0) % shard->config->threads);
    }
    if (shard->mica == NULL) {
        return 0;
    }
    return kvc_mica_partition(shard->mica, kvc_mica_hash(shard->mica, key, key_bytes));
}

double kvc_memcached_shard_load_frac(const struct kvc_memcached_shard *shard)
{
    if (shard->mica != NULL) {
        struct kvc_mica_usage usage;
        kvc_mica_usage(shard->mica, &usage);
        return (double)usage.live /
               ((double)shard->config->threads * (double)shard->config->options->buckets * KVC_MICA_ENTRIES);
    }
    const struct kvc_index *index = &shard->table->index;
    return (double)kvc_index_used(index) / (double)kvc_index_capacity(index);
}

/* ---- store ---- */

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
        close_shard(&store->shard[i]);
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
    /* Fatcache evicts by age, regardless of popularity; the others keep popular items. */
    bool by_age = kvc_memcached_config_of(scenario)->kind == KVC_MEMCACHED_FATCACHE;
    kvc_preload_walk(walker, by_age ? KVC_PRELOAD_SPREAD : KVC_PRELOAD_POPULAR_LAST, progress, "preload",
                     set_keys, store);
    kvc_preload_free(walker);
    for (uint32_t i = 0; i < store->shards; i++) {
        store->shard[i].stats = (struct kvc_index_stats){0};
    }
    return KVC_OK;
}

static void open_shards(const struct kvc_scenario *scenario, uint64_t seed, struct kvc_memcached_store *store)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    uint32_t value_bytes = kvc_workload_value_bytes_max(&scenario->workload);
    store->shard = kvc_array_of(store->shards, sizeof(*store->shard));
    for (uint32_t i = 0; i < store->shards; i++) {
        open_shard(&store->shard[i], config, value_bytes, kvc_seed_of_hash(seed));
    }
}

enum kvc_status kvc_memcached_store_create(const struct kvc_scenario *scenario, uint64_t seed, void **state,
                                           const struct kvc_progress *progress, struct kvc_diag *diag)
{
    double started_s = kvc_clock_wall_s();
    struct kvc_memcached_store *store = kvc_array_of(1, sizeof(*store));
    store->shards = kvc_scenario_shards(scenario);
    open_shards(scenario, seed, store);
    enum kvc_status status = preload(scenario, seed, progress, store, diag);
    if (status != KVC_OK) {
        kvc_memcached_store_free(store);
        return status;
    }
    store->preload_wall_s = kvc_clock_wall_s() - started_s;
    *state = store;
    return KVC_OK;
}
