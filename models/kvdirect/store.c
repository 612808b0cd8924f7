#include "models/kvdirect/store.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/kvdirect/config.h"
#include "sim/base/clock.h"
#include "sim/workload/source.h"

enum {
    BLOCK_KEYS = 4096,
    BLOCK_BYTES = 512,
    /* Under Zipf's law the key that stands for the next stratum has 1/64 of the most popular key's share. */
    HOT_STRATA = 64,
    ALIKE_SHARE = 256, /* ranks closer than this share count as equally popular */
};

static uint64_t hot_keys(const struct kvc_scenario *scenario, uint64_t rate)
{
    const struct kvc_workload *workload = &scenario->workload;
    if (rate == 1 || workload->popularity != KVC_POPULARITY_ZIPF) {
        return 0;
    }
    uint64_t hot = HOT_STRATA * rate, most = workload->keys / 2 / rate * rate;
    return hot < most ? hot : most;
}

/* Of a NIC, scaled down; hot keys have memory of their own, as much for each as an average key has. */
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
    /* of a cache's line its tag, and while it is filled a time */
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

static enum kvc_status create_shards(const struct kvc_scenario *scenario, struct kvc_kvdirect_store *store,
                                     struct kvc_diag *diag)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    struct kvc_kvdirect_table_params params = {
        .bytes = (uint64_t)scaled_bytes(scenario, config->nic_bytes, store->sample_rate),
        .hash_index_frac = config->index_frac,
        .inline_bytes = config->inline_bytes,
        .seed = KVC_KVDIRECT_HASH_SEED,
    };
    double dram_bytes = config->card.fpga->dram_bytes;
    if (dram_bytes > 0) {
        dram_bytes = scaled_bytes(scenario, dram_bytes, store->sample_rate);
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

/* What goes through all keys that the store keeps, a block at a time. */
struct walk {
    const struct kvc_scenario *scenario;
    struct kvc_kvdirect_store *store;
    struct kvc_source *source;
    struct kvc_batch *batch;
    uint32_t shard_of[BLOCK_KEYS], row[BLOCK_KEYS];
    struct kvc_kvdirect_table_op op[BLOCK_KEYS];
    uint8_t value[BLOCK_KEYS][KVC_KVDIRECT_TABLE_PAIR_MAX];
    /* to fill the caches */
    struct kvc_kvdirect_table_trace trace;
    struct kvc_rng rng;
    uint64_t popular_id; /* whose popularity was worked out */
    double popularity;
    float **since; /* per shard and place: how long ago its line was used; 0: never */
};

/* Keys that the store keeps, all most popular ones and one of each further stratum, are numbered: places. */
static uint64_t places_of(const struct walk *walk, uint64_t keys)
{
    const struct kvc_kvdirect_store *store = walk->store;
    uint64_t hot = store->hot_keys < keys ? store->hot_keys : keys;
    return hot + (keys - hot) / store->sample_rate;
}

/* Keys of the places [first, end), at most a block. */
static void gather(struct walk *walk, uint64_t first, uint64_t end)
{
    const struct kvc_kvdirect_store *store = walk->store;
    uint64_t rate = store->sample_rate, hot = store->hot_keys;
    walk->batch->count = 0;
    if (rate == 1) {
        kvc_source_keys(walk->source, first, (uint32_t)(end - first), walk->batch);
    } else {
        for (uint64_t place = first; place < end; place++) {
            uint64_t key_id = place < hot ? place : kvc_sampling_key(hot / rate + place - hot, rate);
            kvc_source_keys(walk->source, key_id, 1, walk->batch);
        }
    }
    for (uint32_t i = 0; i < walk->batch->count; i++) {
        walk->shard_of[i] = kvc_source_shard(walk->source, walk->batch->hash[i]);
    }
}

typedef void walk_fn(struct walk *walk, uint32_t shard);

static bool coprime(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a == 1;
}

/* Blocks in an order that has nothing to do with popularity: where a key lies in its chain depends on when it
 * came. */
static void walk_keys(struct walk *walk, const struct kvc_progress *progress, const char *step,
                      walk_fn *visit)
{
    const struct kvc_workload *workload = &walk->scenario->workload;
    uint64_t places = places_of(walk, (uint64_t)(workload->preload_frac * (double)workload->keys));
    uint64_t blocks = (places + BLOCK_KEYS - 1) / BLOCK_KEYS;
    uint64_t stride = (uint64_t)(0.618 * (double)blocks) + 1; /* the golden section spreads them */
    while (!coprime(stride, blocks)) {
        stride++;
    }
    for (uint64_t i = 0; i < blocks; i++) {
        uint64_t first = (i + blocks / 2) * stride % blocks * BLOCK_KEYS;
        gather(walk, first, first + BLOCK_KEYS < places ? first + BLOCK_KEYS : places);
        for (uint32_t shard = 0; shard < walk->store->shard_count; shard++) {
            visit(walk, shard);
        }
        kvc_progress_report(progress, step, (double)(i + 1) / (double)blocks);
    }
}

/* The block's operations on one shard; their number. row[i]: of operation i. */
static uint32_t gather_operations(struct walk *walk, uint32_t number, uint8_t verb)
{
    const struct kvc_batch *batch = walk->batch;
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        if (walk->shard_of[i] != number) {
            continue;
        }
        if (verb == KVC_KVDIRECT_TABLE_PUT) {
            kvc_kvdirect_first_value(batch->hash[i], walk->value[count], batch->value_bytes[i]);
        }
        walk->op[count] = (struct kvc_kvdirect_table_op){.verb = verb,
                                                         .key = batch->keys + (size_t)i * batch->key_stride,
                                                         .key_bytes = batch->key_bytes[i],
                                                         .value = walk->value[count],
                                                         .value_bytes = (uint16_t)batch->value_bytes[i]};
        walk->row[count++] = i;
    }
    return count;
}

static void put_block(struct walk *walk, uint32_t number)
{
    struct kvc_kvdirect_shard *shard = &walk->store->shards[number];
    uint32_t count = gather_operations(walk, number, KVC_KVDIRECT_TABLE_PUT);
    kvc_kvdirect_table_run(shard->table, walk->op, count, &shard->stats);
}

/* Relative; of neighbours in rank that hardly differ, that of the first one. */
static double popularity(struct walk *walk, uint64_t key_id)
{
    const struct kvc_workload *workload = &walk->scenario->workload;
    if (workload->popularity != KVC_POPULARITY_ZIPF) {
        return 1;
    }
    if (key_id < walk->popular_id || key_id - walk->popular_id > walk->popular_id / ALIKE_SHARE) {
        walk->popular_id = key_id;
        walk->popularity = pow((double)key_id + 1, -workload->zipf_s);
    }
    return walk->popularity;
}

/* The line is used `since` ago: its place holds it, unless another line that belongs there was used later. */
static void use_line(struct walk *walk, uint32_t number, uint64_t line, float since, bool changed)
{
    struct kvc_kvdirect_dispatch *dispatch = &walk->store->shards[number].dispatch;
    if (!kvc_kvdirect_dispatch_cacheable(dispatch, line)) {
        return;
    }
    float *latest = &walk->since[number][line % dispatch->places];
    if (*latest != 0 && *latest <= since) {
        return;
    }
    *latest = since;
    kvc_kvdirect_dispatch_place(dispatch, line, changed);
}

/* With independent requests a key was last used an exponentially distributed time ago, of a mean inverse to
 * its popularity. Lines are newer than the host's as often as requests write. */
static void fill_block(struct walk *walk, uint32_t number)
{
    struct kvc_kvdirect_shard *shard = &walk->store->shards[number];
    const double put_frac = kvc_kvdirect_config_of(walk->scenario)->mean.put_frac;
    if (shard->dispatch.cacheable_frac == 0) {
        return;
    }
    uint32_t count = gather_operations(walk, number, KVC_KVDIRECT_TABLE_GET), at = 0;
    walk->trace.count = 0;
    kvc_kvdirect_table_set_trace(shard->table, &walk->trace);
    kvc_kvdirect_table_run(shard->table, walk->op, count, &shard->stats);
    kvc_kvdirect_table_set_trace(shard->table, NULL);
    if (walk->trace.short_of_memory) {
        kvc_out_of_memory("the accesses of %u operations", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        double mean = 1 / popularity(walk, walk->batch->key_id[walk->row[i]]);
        float since = (float)kvc_rng_exponential(&walk->rng, mean);
        bool changed = kvc_rng_unit(&walk->rng) < put_frac;
        for (; at < walk->trace.count && walk->trace.access[at].operation == i; at++) {
            const struct kvc_kvdirect_table_access *access = &walk->trace.access[at];
            uint32_t lines = (access->bytes + KVC_KVDIRECT_LINE_BYTES - 1u) / KVC_KVDIRECT_LINE_BYTES;
            for (uint32_t l = 0; l < lines; l++) {
                use_line(walk, number, access->line + l, since, changed);
            }
        }
    }
}

static bool open_times(struct walk *walk)
{
    struct kvc_kvdirect_store *store = walk->store;
    walk->since = calloc(store->shard_count, sizeof(*walk->since));
    bool ok = walk->since != NULL;
    for (uint32_t i = 0; i < store->shard_count && ok; i++) {
        walk->since[i] = calloc(store->shards[i].dispatch.places + 1, sizeof(**walk->since));
        ok = walk->since[i] != NULL;
    }
    return ok;
}

static void close_walk(struct walk *walk)
{
    for (uint32_t i = 0; i < walk->store->shard_count && walk->since != NULL; i++) {
        free(walk->since[i]);
    }
    free(walk->since);
    free(walk->trace.access);
    kvc_source_free(walk->source);
    kvc_batch_free(walk->batch);
    free(walk);
}

static enum kvc_status preload(const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                               struct kvc_kvdirect_store *store, struct kvc_diag *diag)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    struct walk *walk = calloc(1, sizeof(*walk));
    struct kvc_source_params params = {
        .workload = &scenario->workload,
        .nodes = (uint32_t)scenario->cluster.nodes,
        .sockets = config->nics,
        .hash_seed = KVC_KVDIRECT_HASH_SEED,
        .frame_requests = 1,
    };
    if (walk == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory to preload");
    }
    walk->scenario = scenario;
    walk->store = store;
    walk->source = kvc_source_create(&params, diag);
    walk->batch = kvc_batch_create(BLOCK_KEYS, kvc_workload_key_stride(&scenario->workload));
    kvc_rng_init(&walk->rng, scenario->run.seed, "kvdirect.fill", 0);
    walk->popular_id = UINT64_MAX;
    enum kvc_status status = walk->source != NULL ? KVC_OK : diag->status;
    if (status == KVC_OK && (walk->batch == NULL || !open_times(walk))) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory to preload");
    }
    if (status == KVC_OK) {
        walk_keys(walk, progress, "preload", put_block);
        if (config->card.fpga->dram_bytes > 0) {
            walk_keys(walk, progress, "fill the caches", fill_block);
        }
    }
    close_walk(walk);
    return status;
}

/* What preloading did is told; from here on the run counts. */
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

enum kvc_status kvc_kvdirect_store_create(const struct kvc_scenario *scenario,
                                          const struct kvc_progress *progress,
                                          struct kvc_kvdirect_store **store, struct kvc_diag *diag)
{
    double started_s = kvc_clock_wall_s();
    struct kvc_kvdirect_store *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the store");
    }
    made->shard_count = kvc_kvdirect_config_of(scenario)->shards;
    made->sample_rate = kvc_kvdirect_config_of(scenario)->sample_rate;
    made->hot_keys = hot_keys(scenario, made->sample_rate);
    enum kvc_status status = create_shards(scenario, made, diag);
    if (status == KVC_OK) {
        status = preload(scenario, progress, made, diag);
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
