#include "models/kvdirect/store.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/pages.h"
#include "models/kvdirect/config.h"
#include "models/kvdirect/dispatch.h"
#include "models/kvdirect/equations.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/seeds.h"
#include "sim/run/preload.h"
#include "sim/run/replica_memory.h"
#include "sim/workload/keys/tenant_keys.h"
#include "sim/workload/source/source.h"

enum {
    BLOCK_BYTES = 512,
    HOT_STRATA = 256,  /* Many, because chance decides which other lines share a key's place. */
    HOT_BYTES = 17,    /* Two representatives and a flag per hot key. */
    ALIKE_SHARE = 256, /* Ranks that differ by less than 1/256 count as equally popular. */
};

struct kvc_source_params kvc_kvdirect_source_of(const struct kvc_scenario *scenario, uint64_t seed)
{
    return kvc_scenario_source(scenario, kvc_kvdirect_config_of(scenario)->nics, seed);
}

/* Pairs of a kind take the same slots or a slab of the same size. */
static uint32_t kind_of(uint32_t key_bytes, uint32_t value_bytes)
{
    enum { SLOT_BYTES = 5, INLINE_MAX = 50, HEADER_BYTES = 2 };
    uint32_t bytes = key_bytes + value_bytes;
    return bytes <= INLINE_MAX ? (bytes + SLOT_BYTES - 1) / SLOT_BYTES
                               : INLINE_MAX + 32 - (uint32_t)__builtin_clz(bytes + HEADER_BYTES - 1);
}

static struct kvc_sampling sampling_of(const struct kvc_scenario *scenario)
{
    return kvc_sampling_of(&scenario->workload, kvc_kvdirect_config_of(scenario)->sample_rate, HOT_STRATA);
}

/* Scales a NIC's memory down to the sample. */
static double scaled_bytes(double bytes, uint64_t rate)
{
    return fmax(ceil(bytes / (double)rate / BLOCK_BYTES), 2) * BLOCK_BYTES;
}

/* Returns the memory of a NIC's table with its share of the keys [bytes]. */
static double table_memory_bytes(const struct kvc_scenario *scenario, double bytes, double keys)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    uint32_t pair_bytes =
        (uint32_t)(kvc_workload_key_bytes_mean(workload) + kvc_workload_value_bytes_mean(workload));
    double needed =
        kvc_kvdirect_needed_frac(keys, bytes, config->index_frac, config->inline_bytes, pair_bytes);
    double index_bytes = config->index_frac * bytes, slabs_bytes = fmin(needed, 1) * bytes - index_bytes;
    return fmin((double)kvc_pages_random_bytes((uint64_t)index_bytes, (uint64_t)keys) +
                    (double)kvc_pages_front_bytes((uint64_t)bytes, (uint64_t)slabs_bytes),
                (double)kvc_pages_front_bytes((uint64_t)bytes, (uint64_t)bytes));
}

/* Returns the lines of hot keys that a NIC's cache may hold. */
static double hot_lines_of(const struct kvc_kvdirect_config *config, double hot_keys)
{
    return hot_keys / config->shards * config->dispatch_frac * kvc_kvdirect_reads(&config->mean.accesses);
}

/* Sizes of a store that its memory follows from. */
struct extent {
    double nic_bytes; /* Memory of a NIC, scaled to the sample. */
    double lines;     /* Lines of it. */
    double places;    /* Places of a cache; 0: it has none. */
    double hot_keys;
};

static struct extent extent_of(const struct kvc_scenario *scenario)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    const struct kvc_sampling sampling = sampling_of(scenario);
    double bytes = scaled_bytes(config->nic_bytes, sampling.rate);
    double cache_bytes = scaled_bytes(config->card.fpga->dram_bytes, sampling.rate);
    bool caches = config->dispatch_frac > 0 && config->card.fpga->dram_bytes > 0;
    return (struct extent){.nic_bytes = bytes,
                           .lines = bytes / KVC_KVDIRECT_LINE_BYTES,
                           .places = caches ? fmin(cache_bytes, bytes) / KVC_KVDIRECT_LINE_BYTES : 0,
                           .hot_keys = (double)sampling.hot_keys};
}

double kvc_kvdirect_store_memory_bytes(const struct kvc_scenario *scenario)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    const struct extent extent = extent_of(scenario);
    double keys = kvc_replica_stored_keys(scenario, sampling_of(scenario).rate) / config->shards;
    /* Each used place of a cache has a tag, and another one with hot keys. Hot keys have a tag for each line
     * of the table, and several words each. */
    double tags = extent.places * (extent.hot_keys > 0 ? 2 : 1), hot_bytes = 0;
    if (extent.hot_keys > 0) {
        hot_bytes = config->shards * (extent.lines * sizeof(uint32_t) +
                                      kvc_kvdirect_hot_memory_bytes(hot_lines_of(config, extent.hot_keys))) +
                    extent.hot_keys * HOT_BYTES;
    }
    return config->shards * (table_memory_bytes(scenario, extent.nic_bytes, keys) + tags * sizeof(uint32_t)) +
           hot_bytes;
}

double kvc_kvdirect_store_fill_bytes(const struct kvc_scenario *scenario)
{
    const struct extent extent = extent_of(scenario);
    double times = extent.hot_keys > 0 ? 2 * extent.places + extent.lines : extent.places;
    return kvc_kvdirect_config_of(scenario)->shards * times * sizeof(float);
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
    kvc_alike_close(&store->alike);
    free(store);
}

void kvc_kvdirect_first_value(uint64_t hash, uint8_t *value, uint32_t bytes)
{
    uint64_t word = kvc_mix64(hash);
    for (uint32_t i = 0; i < bytes; i += sizeof(word)) {
        memcpy(value + i, &word, bytes - i < sizeof(word) ? bytes - i : sizeof(word));
    }
}

/* Returns the buckets of a NIC's hash index if nothing were sampled. */
static uint64_t whole_buckets(const struct kvc_kvdirect_config *config,
                              const struct kvc_kvdirect_table_params *params)
{
    struct kvc_kvdirect_table_params whole = *params;
    whole.bytes = (uint64_t)config->nic_bytes;
    return kvc_kvdirect_table_index_buckets_of(&whole);
}

/* Opens the places of hot keys in the whole cache of a NIC. */
static void open_hot(const struct kvc_scenario *scenario, const struct kvc_kvdirect_table_params *params,
                     struct kvc_kvdirect_shard *shard)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    const struct kvc_kvdirect_extent extents[] = {
        {shard->whole_buckets, (uint64_t)config->nic_bytes / KVC_KVDIRECT_LINE_BYTES,
         (uint64_t)(config->card.fpga->dram_bytes / KVC_KVDIRECT_LINE_BYTES)},
        {kvc_kvdirect_table_index_buckets(shard->table), params->bytes / KVC_KVDIRECT_LINE_BYTES,
         shard->dispatch.places}};
    if (shard->dispatch.cacheable_frac > 0) {
        double hot_keys = (double)sampling_of(scenario).hot_keys;
        kvc_kvdirect_hot_open(&shard->dispatch.hot, &extents[0], &extents[1]);
        kvc_kvdirect_hot_expect(&shard->dispatch.hot, hot_lines_of(config, hot_keys));
    }
}

static void create_shards(const struct kvc_scenario *scenario, uint64_t seed,
                          struct kvc_kvdirect_store *store)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    struct kvc_kvdirect_table_params params = {
        .bytes = (uint64_t)scaled_bytes(config->nic_bytes, store->sampling.rate),
        .hash_index_frac = config->index_frac,
        .inline_bytes = config->inline_bytes,
        .seed = kvc_seed_of_hash(seed),
    };
    double dram_bytes = config->card.fpga->dram_bytes;
    if (dram_bytes > 0) {
        dram_bytes = scaled_bytes(dram_bytes, store->sampling.rate);
    }
    store->shards = kvc_array_of(store->shard_count, sizeof(*store->shards));
    for (uint32_t i = 0; i < store->shard_count; i++) {
        struct kvc_kvdirect_shard *shard = &store->shards[i];
        shard->table = kvc_kvdirect_table_create(&params);
        if (shard->table == NULL) {
            kvc_out_of_memory("a NIC's %.3g GiB: %s", (double)params.bytes / 0x1p30, strerror(errno));
        }
        kvc_kvdirect_dispatch_open(&shard->dispatch, config->dispatch_frac, dram_bytes,
                                   (uint32_t)config->card.pcie->endpoints);
        shard->whole_buckets = whole_buckets(config, &params);
        if (store->sampling.hot_keys > 0 && dram_bytes > 0) {
            open_hot(scenario, &params, shard);
        }
    }
}

/* Time since lines were last used; 0: never. */
struct since {
    float *place; /* Line that each place holds. */
    float *cold;  /* Line that each place would hold without hot keys; NULL if no key is hot. */
    float *index; /* Use of each index line by keys that are not hot. */
};

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
    const struct kvc_tenant_keys *tenants; /* Keys of several tenants, or NULL. */
    uint64_t popular_id;                   /* Key that `popularity` belongs to. */
    double popularity;
    struct since *since; /* Counts of each shard. */
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
    if (workload->popularity == KVC_POPULARITY_UNIFORM) {
        return 1;
    }
    if (filler->tenants != NULL) {
        return kvc_tenant_keys_popularity(filler->tenants, key_id);
    }
    uint64_t apart = key_id > filler->popular_id ? key_id - filler->popular_id : filler->popular_id - key_id;
    if (apart > key_id / ALIKE_SHARE) {
        filler->popular_id = key_id;
        filler->popularity = pow((double)key_id + 1, -workload->zipf_s);
    }
    return filler->popularity;
}

/* Keeps the shorter time and returns whether it is `since`. */
static bool keep_latest(float *latest, float since)
{
    bool later = *latest == 0 || *latest > since;
    *latest = later ? since : *latest;
    return later;
}

/* Notes that a line was used `since` ago. Its place holds it unless another line of the place was used later.
 */
static void use_line(struct filler *filler, uint32_t number, uint64_t line, float since, bool changed,
                     bool hot)
{
    struct kvc_kvdirect_dispatch *dispatch = &filler->store->shards[number].dispatch;
    const struct since *times = &filler->since[number];
    if (!kvc_kvdirect_dispatch_cacheable(dispatch, line)) {
        return;
    }
    uint64_t place = kvc_kvdirect_dispatch_place_of(dispatch, line);
    if (keep_latest(&times->place[place], since)) {
        kvc_kvdirect_dispatch_place(dispatch, line, changed);
    }
    if (hot || times->cold == NULL) {
        return;
    }
    if (keep_latest(&times->cold[place], since)) {
        kvc_kvdirect_hot_begin(&dispatch->hot, place, changed);
    }
    if (line < dispatch->hot.sample.index_lines) {
        keep_latest(&times->index[line], since);
    }
}

/* Traces the reads of the keys of a visit. */
static void trace_reads(struct filler *filler, const struct kvc_preload_visit *visit)
{
    struct kvc_kvdirect_shard *shard = &filler->store->shards[visit->shard];
    set_operations(filler, visit, KVC_KVDIRECT_TABLE_GET);
    filler->trace.count = 0;
    kvc_kvdirect_table_set_trace(shard->table, &filler->trace);
    kvc_kvdirect_table_run(shard->table, filler->op, visit->count, &shard->stats);
    kvc_kvdirect_table_set_trace(shard->table, NULL);
    if (filler->trace.short_of_memory) {
        kvc_out_of_memory("the accesses of %u operations", visit->count);
    }
}

/* Fills the caches. With independent requests, the time since a key was last used is exponentially
 * distributed, with a mean inverse to its popularity. The share of lines that are newer than the host's
 * copy is the share of requests that write. */
static void fill_caches(void *data, const struct kvc_preload_visit *visit)
{
    struct filler *filler = data;
    uint32_t number = visit->shard, count = visit->count, at = 0;
    struct kvc_kvdirect_shard *shard = &filler->store->shards[number];
    const double put_frac = kvc_kvdirect_config_of(filler->scenario)->mean.put_frac;
    if (shard->dispatch.cacheable_frac == 0) {
        return;
    }
    trace_reads(filler, visit);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t key_id = visit->batch->key_id[visit->row[i]];
        double mean = 1 / popularity(filler, key_id);
        float since = (float)kvc_rng_exponential(&filler->rng, mean);
        bool changed = kvc_rng_unit(&filler->rng) < put_frac;
        for (; at < filler->trace.count && filler->trace.access[at].operation == i; at++) {
            const struct kvc_kvdirect_table_access *access = &filler->trace.access[at];
            uint32_t lines = (access->bytes + KVC_KVDIRECT_LINE_BYTES - 1u) / KVC_KVDIRECT_LINE_BYTES;
            for (uint32_t l = 0; l < lines; l++) {
                use_line(filler, number, access->line + l, since, changed,
                         key_id < filler->store->sampling.hot_keys);
            }
        }
    }
}

static void open_times(struct filler *filler)
{
    struct kvc_kvdirect_store *store = filler->store;
    filler->since = kvc_array_of(store->shard_count, sizeof(*filler->since));
    for (uint32_t i = 0; i < store->shard_count; i++) {
        const struct kvc_kvdirect_dispatch *dispatch = &store->shards[i].dispatch;
        struct since *since = &filler->since[i];
        since->place = kvc_array_of(dispatch->places + 1, sizeof(*since->place));
        if (dispatch->hot.clock > 0) {
            since->cold = kvc_array_of(dispatch->places, sizeof(*since->cold));
            since->index = kvc_array_of(dispatch->hot.sample.index_lines, sizeof(*since->index));
        }
    }
}

static void free_filler(struct filler *filler)
{
    for (uint32_t i = 0; i < filler->store->shard_count && filler->since != NULL; i++) {
        free(filler->since[i].place);
        free(filler->since[i].cold);
        free(filler->since[i].index);
    }
    free(filler->since);
    free(filler->trace.access);
    kvc_preload_free(filler->preload);
    free(filler);
}

/* Puts a line of a hot key that was used `since` ago into its place in the whole cache, unless another
 * line was used there later. Lines of the most popular hot keys come first. */
static void use_hot_line(struct filler *filler, uint32_t number, uint32_t line, float since, bool changed)
{
    struct kvc_kvdirect_dispatch *dispatch = &filler->store->shards[number].dispatch;
    const struct since *times = &filler->since[number];
    uint64_t mate = kvc_kvdirect_dispatch_mate(dispatch, line);
    float cold = times->cold[kvc_kvdirect_dispatch_like(dispatch, line)];
    if (!kvc_kvdirect_dispatch_cacheable(dispatch, line)) {
        return;
    }
    if (mate != KVC_KVDIRECT_NO_LINE && times->index[mate] != 0) {
        since = fminf(since, times->index[mate]);
    }
    if (cold == 0 || since < cold) {
        kvc_kvdirect_hot_fill(&dispatch->hot, line, since, changed);
    }
}

/* Fills the places of the hot keys. */
static void fill_hot(struct filler *filler, const struct kvc_source_params *params)
{
    struct kvc_kvdirect_store *store = filler->store;
    struct kvc_alike *alike = &store->alike;
    const double put_frac = kvc_kvdirect_config_of(filler->scenario)->mean.put_frac;
    struct kvc_source *source = kvc_source_create(params, NULL);
    struct kvc_batch *batch = kvc_batch_create(1, kvc_workload_key_stride(params->workload));
    if (source == NULL) {
        kvc_out_of_memory("the cached lines of hot keys");
    }
    for (uint64_t key_id = 0; key_id < store->sampling.hot_keys; key_id++) {
        batch->count = 0;
        kvc_source_keys(source, key_id, 1, batch);
        uint32_t number = kvc_source_shard(source, batch->hash[0]), row = 0;
        struct kvc_kvdirect_shard *shard = &store->shards[number];
        bool kept = kvc_sampling_keeps_key(&store->sampling, key_id);
        if (shard->dispatch.hot.clock == 0 || !alike->present[key_id]) {
            continue;
        }
        kvc_alike_find(alike, source, number, key_id);
        trace_reads(filler, &(struct kvc_preload_visit){number, kept ? batch : alike->stand_in, &row, 1});
        float since = (float)kvc_rng_exponential(&filler->rng, 1 / popularity(filler, key_id));
        bool changed = kvc_rng_unit(&filler->rng) < put_frac;
        for (uint32_t at = 0; at < filler->trace.count; at++) {
            const struct kvc_kvdirect_table_access *access = &filler->trace.access[at];
            uint32_t lines = (access->bytes + KVC_KVDIRECT_LINE_BYTES - 1u) / KVC_KVDIRECT_LINE_BYTES;
            uint32_t first = kvc_kvdirect_hot_line(&shard->dispatch.hot, batch->hash[0], access->line);
            for (uint32_t l = 0; l < lines; l++) {
                use_hot_line(filler, number, first + l, since, changed);
            }
        }
    }
    kvc_source_free(source);
    kvc_batch_free(batch);
}

/* Inserts the blocks in an order unrelated to popularity, because the position of a key in its chain depends
 * on when it was inserted. */
static enum kvc_status preload(const struct kvc_scenario *scenario, uint64_t seed,
                               const struct kvc_progress *progress, struct kvc_kvdirect_store *store,
                               struct kvc_diag *diag)
{
    struct filler *filler = kvc_array_of(1, sizeof(*filler));
    const struct kvc_source_params params = kvc_kvdirect_source_of(scenario, seed);
    filler->scenario = scenario;
    filler->store = store;
    filler->preload = kvc_preload_create(&params, &store->sampling, diag);
    kvc_rng_init(&filler->rng, seed, "kvdirect.fill", 0);
    filler->popular_id = UINT64_MAX;
    if (scenario->workload.popularity == KVC_POPULARITY_TENANTS) {
        filler->tenants = kvc_tenant_keys_of(scenario->workload.tenants, scenario->workload.tenant_count);
    }
    enum kvc_status status = filler->preload != NULL ? KVC_OK : diag->status;
    if (status == KVC_OK) {
        open_times(filler);
        kvc_preload_walk(filler->preload, KVC_PRELOAD_SPREAD, progress, "preload", put_keys, filler);
        if (kvc_kvdirect_config_of(scenario)->card.fpga->dram_bytes > 0) {
            kvc_preload_walk(filler->preload, KVC_PRELOAD_SPREAD, progress, "fill the caches", fill_caches,
                             filler);
            fill_hot(filler, &params);
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
    struct kvc_kvdirect_store *made = kvc_array_of(1, sizeof(*made));
    made->shard_count = kvc_kvdirect_config_of(scenario)->shards;
    made->sampling = sampling_of(scenario);
    enum kvc_status status = KVC_OK;
    create_shards(scenario, seed, made);
    if (made->sampling.rate > 1) {
        const struct kvc_source_params params = kvc_kvdirect_source_of(scenario, seed);
        status = kvc_alike_open(&made->alike, &made->sampling, &params, KVC_SAMPLING_SPREAD, kind_of, diag);
    }
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
