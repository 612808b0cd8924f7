#include "models/kvdirect/store.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/kvdirect/config.h"
#include "sim/base/clock.h"
#include "sim/base/seeds.h"
#include "sim/run/preload.h"
#include "sim/workload/source.h"

enum {
    BLOCK_BYTES = 512,
    ALIKE_SHARE = 256, /* Ranks that differ by less than 1/256 count as equally popular. */
};

struct kvc_source_params kvc_kvdirect_source_of(const struct kvc_scenario *scenario, uint64_t seed)
{
    return kvc_scenario_source(scenario, kvc_kvdirect_config_of(scenario)->nics, seed);
}

/* Single keys matter to the caches' hit ratio only if the popularity is Zipf. */
static uint64_t hot_keys(const struct kvc_scenario *scenario, uint64_t rate)
{
    const struct kvc_workload *workload = &scenario->workload;
    return workload->popularity == KVC_POPULARITY_ZIPF ? kvc_sampling_hot_keys(workload->keys, rate) : 0;
}

/* Scales a NIC's memory down to the sample. Each hot key adds the memory of an average key. */
static double scaled_bytes(const struct kvc_scenario *scenario, double bytes, uint64_t rate)
{
    double share = 1 / (double)rate + (double)hot_keys(scenario, rate) / (double)scenario->workload.keys;
    return fmax(ceil(bytes * fmin(share, 1) / BLOCK_BYTES), 2) * BLOCK_BYTES;
}

double kvc_kvdirect_store_bytes(const struct kvc_scenario *scenario)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    uint64_t rate = config->sample_rate;
    double table_bytes = scaled_bytes(scenario, config->nic_bytes, rate);
    double cache_bytes = scaled_bytes(scenario, config->card.fpga->dram_bytes, rate);
    /* Each line of a cache has a tag and, while the cache is filled, a time. */
    return config->shards *
           (table_bytes + cache_bytes / KVC_KVDIRECT_LINE_BYTES * (sizeof(uint32_t) + sizeof(float)));
}

void kvc_kvdirect_store_free(struct kvc_kvdirect_store *store)
{
    if (store == NULL) {
        return;
    }
    for (uint32_t i = 0; i < store->shard_count && store->shards != NULL; i++) {
        kvc_kvdirect_table_free(store->shards[i].table);
        kvc_kvdirect_dispatch_close(&store->shards[i].dispatch);
    }
    free(store->shards);
    free(store);
}

void kvc_kvdirect_first_value(uint64_t hash, uint8_t *value, uint32_t bytes)
{
    uint64_t word = kvc_mix64(hash);
    for (uint32_t i = 0; i < bytes; i += sizeof(word)) {
        memcpy(value + i, &word, bytes - i < sizeof(word) ? bytes - i : sizeof(word));
    }
}

static enum kvc_status create_shards(const struct kvc_scenario *scenario, uint64_t seed,
                                     struct kvc_kvdirect_store *store, struct kvc_diag *diag)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    struct kvc_kvdirect_table_params params = {
        .bytes = (uint64_t)scaled_bytes(scenario, config->nic_bytes, store->sampling.rate),
        .hash_index_frac = config->index_frac,
        .inline_bytes = config->inline_bytes,
        .seed = kvc_seed_of_hash(seed),
    };
    double dram_bytes = config->card.fpga->dram_bytes;
    if (dram_bytes > 0) {
        dram_bytes = scaled_bytes(scenario, dram_bytes, store->sampling.rate);
    }
    store->shards = calloc(store->shard_count, sizeof(*store->shards));
    if (store->shards == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for %u shards", store->shard_count);
    }
    for (uint32_t i = 0; i < store->shard_count; i++) {
        struct kvc_kvdirect_shard *shard = &store->shards[i];
        shard->table = kvc_kvdirect_table_create(&params);
        if (shard->table == NULL ||
            !kvc_kvdirect_dispatch_open(&shard->dispatch, config->dispatch_frac, dram_bytes,
                                        (uint32_t)config->card.pcie->endpoints)) {
            return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a NIC's %.3g GiB: %s",
                                 ((double)params.bytes + dram_bytes / KVC_KVDIRECT_LINE_BYTES * 4) / 0x1p30,
                                 strerror(errno));
        }
    }
    return KVC_OK;
}

/* Scratch for the keys of a block. */
struct filler {
    const struct kvc_scenario *scenario;
    struct kvc_kvdirect_store *store;
    struct kvc_preload *preload;
    struct kvc_kvdirect_table_op op[KVC_PRELOAD_KEYS_MAX];
    uint8_t value[KVC_PRELOAD_KEYS_MAX][KVC_KVDIRECT_TABLE_PAIR_MAX];
    /* Used to fill the caches. */
    struct kvc_kvdirect_table_trace trace;
    struct kvc_rng rng;
    uint64_t popular_id; /* Key that `popularity` belongs to. */
    double popularity;
    float **since; /* For each shard and place: how long ago its line was used; 0: never. */
};

/* Fills in one operation for each key of the visit. */
static void set_operations(struct filler *filler, const struct kvc_preload_visit *visit, uint8_t verb)
{
    const struct kvc_batch *batch = visit->batch;
    for (uint32_t i = 0; i < visit->count; i++) {
        uint32_t row = visit->row[i];
        if (verb == KVC_KVDIRECT_TABLE_PUT) {
            kvc_kvdirect_first_value(batch->hash[row], filler->value[i], batch->value_bytes[row]);
        }
        filler->op[i] = (struct kvc_kvdirect_table_op){.verb = verb,
                                                       .key = batch->keys + (size_t)row * batch->key_stride,
                                                       .key_bytes = batch->key_bytes[row],
                                                       .value = filler->value[i],
                                                       .value_bytes = (uint16_t)batch->value_bytes[row]};
    }
}

static void put_keys(void *data, const struct kvc_preload_visit *visit)
{
    struct filler *filler = data;
    struct kvc_kvdirect_shard *shard = &filler->store->shards[visit->shard];
    set_operations(filler, visit, KVC_KVDIRECT_TABLE_PUT);
    kvc_kvdirect_table_run(shard->table, filler->op, visit->count, &shard->stats);
}

/* Returns the relative popularity of a key. Ranks that hardly differ share a value. */
static double popularity(struct filler *filler, uint64_t key_id)
{
    const struct kvc_workload *workload = &filler->scenario->workload;
    if (workload->popularity != KVC_POPULARITY_ZIPF) {
        return 1;
    }
    uint64_t apart = key_id > filler->popular_id ? key_id - filler->popular_id : filler->popular_id - key_id;
    if (apart > key_id / ALIKE_SHARE) {
        filler->popular_id = key_id;
        filler->popularity = pow((double)key_id + 1, -workload->zipf_s);
    }
    return filler->popularity;
}

/* Notes that a line was used `since` ago. Its place holds it unless another line of the place was used later.
 */
static void use_line(struct filler *filler, uint32_t number, uint64_t line, float since, bool changed)
{
    struct kvc_kvdirect_dispatch *dispatch = &filler->store->shards[number].dispatch;
    if (!kvc_kvdirect_dispatch_cacheable(dispatch, line)) {
        return;
    }
    float *latest = &filler->since[number][line % dispatch->places];
    if (*latest != 0 && *latest <= since) {
        return;
    }
    *latest = since;
    kvc_kvdirect_dispatch_place(dispatch, line, changed);
}

/* Fills the caches. With independent requests, the time since a key was last used is exponentially
 * distributed, with a mean inverse to its popularity. Lines are newer than the host's as often as requests
 * write. */
static void fill_caches(void *data, const struct kvc_preload_visit *visit)
{
    struct filler *filler = data;
    uint32_t number = visit->shard, count = visit->count, at = 0;
    struct kvc_kvdirect_shard *shard = &filler->store->shards[number];
    const double put_frac = kvc_kvdirect_config_of(filler->scenario)->mean.put_frac;
    if (shard->dispatch.cacheable_frac == 0) {
        return;
    }
    set_operations(filler, visit, KVC_KVDIRECT_TABLE_GET);
    filler->trace.count = 0;
    kvc_kvdirect_table_set_trace(shard->table, &filler->trace);
    kvc_kvdirect_table_run(shard->table, filler->op, count, &shard->stats);
    kvc_kvdirect_table_set_trace(shard->table, NULL);
    if (filler->trace.short_of_memory) {
        kvc_out_of_memory("the accesses of %u operations", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        double mean = 1 / popularity(filler, visit->batch->key_id[visit->row[i]]);
        float since = (float)kvc_rng_exponential(&filler->rng, mean);
        bool changed = kvc_rng_unit(&filler->rng) < put_frac;
        for (; at < filler->trace.count && filler->trace.access[at].operation == i; at++) {
            const struct kvc_kvdirect_table_access *access = &filler->trace.access[at];
            uint32_t lines = (access->bytes + KVC_KVDIRECT_LINE_BYTES - 1u) / KVC_KVDIRECT_LINE_BYTES;
            for (uint32_t l = 0; l < lines; l++) {
                use_line(filler, number, access->line + l, since, changed);
            }
        }
    }
}

static bool open_times(struct filler *filler)
{
    struct kvc_kvdirect_store *store = filler->store;
    filler->since = calloc(store->shard_count, sizeof(*filler->since));
    bool ok = filler->since != NULL;
    for (uint32_t i = 0; i < store->shard_count && ok; i++) {
        filler->since[i] = calloc(store->shards[i].dispatch.places + 1, sizeof(**filler->since));
        ok = filler->since[i] != NULL;
    }
    return ok;
}

static void free_filler(struct filler *filler)
{
    for (uint32_t i = 0; i < filler->store->shard_count && filler->since != NULL; i++) {
        free(filler->since[i]);
    }
    free(filler->since);
    free(filler->trace.access);
    kvc_preload_free(filler->preload);
    free(filler);
}

/* Inserts the blocks in an order unrelated to popularity, because the position of a key in its chain depends
 * on when it was inserted. */
static enum kvc_status preload(const struct kvc_scenario *scenario, uint64_t seed,
                               const struct kvc_progress *progress, struct kvc_kvdirect_store *store,
                               struct kvc_diag *diag)
{
    struct filler *filler = calloc(1, sizeof(*filler));
    const struct kvc_source_params params = kvc_kvdirect_source_of(scenario, seed);
    if (filler == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory to preload the store");
    }
    filler->scenario = scenario;
    filler->store = store;
    filler->preload = kvc_preload_create(&params, &store->sampling, diag);
    kvc_rng_init(&filler->rng, seed, "kvdirect.fill", 0);
    filler->popular_id = UINT64_MAX;
    enum kvc_status status = filler->preload != NULL ? KVC_OK : diag->status;
    if (status == KVC_OK && !open_times(filler)) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory to preload the store");
    }
    if (status == KVC_OK) {
        kvc_preload_walk(filler->preload, KVC_PRELOAD_SPREAD, progress, "preload", put_keys, filler);
        if (kvc_kvdirect_config_of(scenario)->card.fpga->dram_bytes > 0) {
            kvc_preload_walk(filler->preload, KVC_PRELOAD_SPREAD, progress, "fill the caches", fill_caches,
                             filler);
        }
    }
    free_filler(filler);
    return status;
}

/* Saves the results of preloading and resets the counters for the run. */
static void begin_counts(struct kvc_kvdirect_store *store)
{
    double pair_bytes = 0, bytes = 0;
    for (uint32_t i = 0; i < store->shard_count; i++) {
        struct kvc_kvdirect_shard *shard = &store->shards[i];
        store->refused += shard->stats.full;
        pair_bytes += (double)kvc_kvdirect_table_pair_bytes(shard->table);
        bytes += (double)kvc_kvdirect_table_bytes(shard->table);
        shard->stats = (struct kvc_kvdirect_table_stats){0};
        shard->dispatch.stats = (struct kvc_kvdirect_cache_stats){0};
    }
    store->utilization_frac = pair_bytes / bytes;
}

enum kvc_status kvc_kvdirect_store_create(const struct kvc_scenario *scenario, uint64_t seed,
                                          const struct kvc_progress *progress,
                                          struct kvc_kvdirect_store **store, struct kvc_diag *diag)
{
    double started_s = kvc_clock_wall_s();
    struct kvc_kvdirect_store *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the store");
    }
    made->shard_count = kvc_kvdirect_config_of(scenario)->shards;
    made->sampling.rate = kvc_kvdirect_config_of(scenario)->sample_rate;
    made->sampling.hot_keys = hot_keys(scenario, made->sampling.rate);
    enum kvc_status status = create_shards(scenario, seed, made, diag);
    if (status == KVC_OK) {
        status = preload(scenario, seed, progress, made, diag);
    }
    if (status != KVC_OK) {
        kvc_kvdirect_store_free(made);
        return status;
    }
    begin_counts(made);
    made->preload_wall_s = kvc_clock_wall_s() - started_s;
    *store = made;
    return KVC_OK;
}
