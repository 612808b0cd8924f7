#include "models/shards/store.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/pages.h"
#include "models/shards/cache.h"
#include "models/shards/sizes.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/base/seeds.h"
#include "sim/run/preload.h"
#include "sim/run/replica_memory.h"
#include "sim/workload/sizes.h"

enum {
    HOT_STRATA = 64,
    SIZES_MAX = 1 << 22, /* Keys whose sizes are looked up; each may stand for several. */
    ITEM_STEP = 16,      /* Item sizes are multiples of this [bytes]. */
    ITEM_SIZES = (1 << 20) / ITEM_STEP + 1,
};

static struct kvc_megakv_slab_params slab_params_of(const struct kvc_shards_params *params,
                                                    uint64_t hash_seed)
{
    return (struct kvc_megakv_slab_params){.bytes = (uint64_t)params->slab_bytes,
                                           .rate = params->sample_rate,
                                           .hash_seed = hash_seed,
                                           .compact = !params->keeps_values};
}

static struct kvc_item_log_params log_params_of(const struct kvc_shards_params *params)
{
    double rate = fmax((double)params->sample_rate, 1);
    return (struct kvc_item_log_params){.bytes = (uint64_t)fmax(params->slab_bytes / rate, 1),
                                        .page_bytes = (uint32_t)params->page_bytes,
                                        .compact = !params->keeps_values};
}

static bool has_many_sizes(const struct kvc_workload *workload)
{
    struct kvc_sizes *sizes = kvc_workload_sizes(workload);
    bool many = !kvc_sizes_fixed(sizes);
    kvc_sizes_free(sizes);
    return many;
}

/* Returns the mean size of what is written, if sizes depend on the tenant or on the popularity; otherwise
 * that of the stored items [bytes]. */
static double written_item_bytes(const struct kvc_workload *workload, double item_bytes)
{
    struct kvc_shards_size_sample sample[KVC_SHARDS_SIZE_SAMPLES_MAX];
    double sum_bytes = 0, sets = 0;
    if (workload->tenant_count + workload->value_count == 0) {
        return item_bytes;
    }
    for (uint32_t i = 0, count = kvc_shards_sample_sizes(workload, sample); i < count; i++) {
        sets += sample[i].requests[KVC_OP_SET];
        sum_bytes += sample[i].requests[KVC_OP_SET] *
                     kvc_megakv_slab_item_bytes(sample[i].key_bytes, sample[i].value_bytes);
    }
    return sets > 0 ? sum_bytes / sets : item_bytes;
}

double kvc_shards_memory_bytes(const struct kvc_scenario *scenario, const struct kvc_shards_params *params,
                               double item_bytes, double writes)
{
    uint64_t rate = params->sample_rate;
    double shards = (double)scenario->cluster.nodes * params->sockets;
    if (rate == 0) {
        return 0;
    }
    bool trace = scenario->workload.arrival == KVC_ARRIVAL_TRACE;
    if (trace) { /* The rows of a trace state the sizes of the items. */
        item_bytes = kvc_megakv_slab_item_bytes((uint32_t)kvc_workload_key_bytes_mean(&scenario->workload),
                                                (uint32_t)kvc_workload_value_bytes_mean(&scenario->workload));
    }
    double stored = kvc_replica_stored_keys(scenario, rate) / shards,
           written = writes / (double)rate / shards;
    double items = stored + written;
    if (written > 0) {
        item_bytes += written / items * (written_item_bytes(&scenario->workload, item_bytes) - item_bytes);
    }
    const struct kvc_megakv_slab_params slab = slab_params_of(params, 0);
    double index_bytes =
        (double)kvc_pages_random_bytes((uint64_t)(params->index_bytes / (double)rate), (uint64_t)items);
    if (params->slab_bytes == 0) {
        return shards * index_bytes;
    }
    if (params->logs) {
        const struct kvc_item_log_params log = log_params_of(params);
        double most = floor((double)log.bytes / kvc_item_log_item_bytes(1, 0));
        return shards * (index_bytes + (double)kvc_item_log_memory_bytes(&log, fmin(items, most)));
    }
    double slab_bytes = (double)kvc_megakv_slab_memory_bytes(&slab, items, item_bytes,
                                                             trace || has_many_sizes(&scenario->workload));
    return shards * (index_bytes + slab_bytes);
}

uint32_t kvc_shards_sizes(const struct kvc_shards_params *params, double *size)
{
    uint32_t count = 0;
    size[count++] = params->sockets;
    size[count++] = params->index_bytes;
    size[count++] = params->slab_bytes;
    size[count++] = params->logs ? 1 + params->page_bytes : 0;
    size[count++] = params->max_displacements;
    size[count++] = params->pairs.inline_bytes * 1024.0 + params->pairs.pair_bytes;
    size[count++] = params->kind != NULL ? (double)kvc_name_hash(params->kind->name) : 0;
    size[count++] = (double)params->sample_rate;
    return count;
}

void kvc_shards_free(struct kvc_shards *store)
{
    if (store == NULL) {
        return;
    }
    for (uint32_t i = 0; i < store->shard_count && store->shards != NULL; i++) {
        kvc_index_free(store->shards[i].index);
        kvc_megakv_slab_free(store->shards[i].slab);
        kvc_item_log_free(store->shards[i].log);
    }
    free(store->shards);
    free(store->representative);
    kvc_batch_free(store->stand_in);
    free(store->value);
    free(store);
}

double kvc_shards_load_frac(const struct kvc_shards *store)
{
    double used = 0, room = 0;
    for (uint32_t i = 0; i < store->shard_count && store->shards != NULL; i++) {
        used += (double)kvc_index_used(store->shards[i].index);
        room += (double)kvc_index_capacity(store->shards[i].index);
    }
    return room > 0 ? used / room : NAN;
}

void kvc_shards_report_lines(const struct kvc_index_stats *first, const struct kvc_index_stats *last,
                             struct kvc_metrics *kernel)
{
    kvc_metrics_set_ratio(kernel, "lines_per_search", (double)(last->search_lines - first->search_lines),
                          (double)(last->searches - first->searches));
    kvc_metrics_set_ratio(kernel, "lines_per_insert", (double)(last->insert_lines - first->insert_lines),
                          (double)(last->inserts - first->inserts));
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

uint32_t kvc_shards_write(const struct kvc_shards *store, struct kvc_shard *shard,
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
        if (store->value == NULL) {
            kvc_megakv_slab_write_hash(shard->slab, location[i], batch->hash[row], batch->key_bytes[row],
                                       batch->value_bytes[row], &shard->slab_stats);
            continue;
        }
        memcpy(store->value, &batch->hash[row], sizeof(batch->hash[row]));
        kvc_megakv_slab_write(shard->slab, location[i], batch->keys + (size_t)row * batch->key_stride,
                              batch->key_bytes[row], store->value, batch->value_bytes[row],
                              &shard->slab_stats);
    }
    return evicted_total;
}

uint32_t kvc_shards_append(const struct kvc_shards *store, struct kvc_shard *shard,
                           const struct kvc_batch *batch, uint32_t row)
{
    const struct kvc_item_log_item item = {.hash = batch->hash[row],
                                           .key_bytes = batch->key_bytes[row],
                                           .value_bytes = batch->value_bytes[row],
                                           .key = batch->keys + (size_t)row * batch->key_stride,
                                           .value = store->value};
    if (store->value != NULL) {
        memcpy(store->value, &batch->hash[row], sizeof(batch->hash[row]));
    }
    errno = 0;
    uint32_t location = kvc_item_log_append(shard->log, &item);
    if (location == KVC_LOCATION_NONE && errno == ENOMEM) {
        kvc_out_of_memory("a log of items");
    }
    shard->rejected += location == KVC_LOCATION_NONE;
    shard->slab_stats.writes += location != KVC_LOCATION_NONE;
    return location;
}

/* Preloads the store; the arrays are scratch for one visit. */
struct loader {
    struct kvc_shards *store;
    bool is_cuckoo;            /* The index is the cuckoo table, not one of another kind. */
    bool thins;                /* The index has fewer slots than there are keys. */
    struct kvc_set_cache keys; /* If it thins: the keys that are present in the long run. */
    double *end;               /* For each block of these keys, the number of the key behind it. */
    struct kvc_rng rng;
    uint32_t row[KVC_PRELOAD_KEYS_MAX];
    uint32_t location[KVC_PRELOAD_KEYS_MAX], erase_location[KVC_PRELOAD_KEYS_MAX];
    uint64_t hash[KVC_PRELOAD_KEYS_MAX];
    struct kvc_megakv_slab_evicted evicted[KVC_PRELOAD_KEYS_MAX];
};

/* An index without a slot for each key would refuse the others one by one, each after many displacements. The
 * preload therefore stores only the keys that it holds in the long run. */
static void open_thinning(struct loader *loader, const struct kvc_scenario *scenario,
                          const struct kvc_shards_params *sizes)
{
    const struct kvc_workload *workload = &scenario->workload;
    double shards = loader->store->shard_count, slots = shards * kvc_shards_slots(sizes->index_bytes);
    double item_bytes = kvc_shards_means_of(workload, NULL, NULL, false).item_bytes;
    double keys = floor(workload->preload_frac * (double)workload->keys);
    bool ranked = workload->action_count == 0 && workload->phase_count == 0; /* Key 0 is the most popular. */
    if (sizes->kind != NULL || sizes->slab_bytes == 0) { /* Other kinds evict, or refuse at little cost. */
        return;
    }
    loader->thins = ranked && slots < fmin(keys, shards * floor(sizes->slab_bytes / item_bytes));
    if (!loader->thins) {
        return;
    }
    kvc_shards_full_index_open(&loader->keys, workload, slots);
    loader->end = kvc_array_of(loader->keys.blocks, sizeof(*loader->end));
    for (uint32_t i = 0; i < loader->keys.blocks; i++) {
        loader->end[i] = (i > 0 ? loader->end[i - 1] : 0) + loader->keys.block[i].keys.keys;
    }
}

static double presence_of(const struct loader *loader, uint64_t key_id)
{
    uint32_t low = 0, high = loader->keys.blocks - 1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if ((double)key_id < loader->end[middle]) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return loader->keys.block[low].present;
}

/* Lists the rows of the keys to store and returns their number. */
static uint32_t rows_to_store(struct loader *loader, const struct kvc_preload_visit *visit)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < visit->count; i++) {
        loader->row[count] = visit->row[i];
        count += !loader->thins ||
                 kvc_rng_unit(&loader->rng) < presence_of(loader, visit->batch->key_id[visit->row[i]]);
    }
    return count;
}

/* Inserts the keys of a visit whose locations are known. */
static void insert_keys(struct loader *loader, struct kvc_shard *shard, uint32_t inserts)
{
    if (loader->is_cuckoo) {
        kvc_megakv_cuckoo_insert_new(shard->index, loader->hash, loader->location, inserts,
                                     &shard->index_stats);
    } else {
        kvc_index_insert(shard->index, loader->hash, loader->location, inserts, NULL, &shard->index_stats);
    }
}

/* Appends the items of a visit to the log, and erases those that make room for them. */
static void append_keys(struct loader *loader, struct kvc_shard *shard, const struct kvc_preload_visit *visit,
                        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = loader->row[i];
        struct kvc_item_log_evicted gone;
        while (kvc_item_log_evict(shard->log, visit->batch->key_bytes[row], visit->batch->value_bytes[row],
                                  &gone)) {
            kvc_index_erase(shard->index, &gone.hash, &gone.location, 1, NULL, &shard->index_stats);
        }
        loader->location[i] = kvc_shards_append(loader->store, shard, visit->batch, row);
    }
}

/* Stores the keys of a visit, as a receiver and the GPU would. */
static void load_keys(void *data, const struct kvc_preload_visit *visit)
{
    struct loader *loader = data;
    struct kvc_shard *shard = &loader->store->shards[visit->shard];
    uint32_t inserts = 0, count = rows_to_store(loader, visit);
    if (shard->slab == NULL && shard->log == NULL) {
        for (uint32_t i = 0; i < count; i++) {
            loader->hash[i] = visit->batch->hash[loader->row[i]];
            loader->location[i] = kvc_shards_place(loader->store, visit->batch, loader->row[i]);
        }
        insert_keys(loader, shard, count);
        return;
    }
    uint32_t evicted = 0;
    if (shard->log != NULL) {
        append_keys(loader, shard, visit, count);
    } else {
        evicted = kvc_shards_write(loader->store, shard, visit->batch, loader->row, count, loader->location,
                                   loader->evicted);
    }
    for (uint32_t i = 0; i < evicted; i++) {
        loader->hash[i] = loader->evicted[i].hash;
        loader->erase_location[i] = loader->evicted[i].location;
    }
    kvc_index_erase(shard->index, loader->hash, loader->erase_location, evicted, NULL, &shard->index_stats);
    for (uint32_t i = 0; i < count; i++) {
        if (loader->location[i] == KVC_LOCATION_NONE) {
            continue;
        }
        loader->hash[inserts] = visit->batch->hash[loader->row[i]];
        loader->location[inserts++] = loader->location[i];
    }
    insert_keys(loader, shard, inserts);
}

static enum kvc_status preload(const struct kvc_scenario *scenario, const struct kvc_shards_params *sizes,
                               uint64_t seed, const struct kvc_progress *progress, struct kvc_shards *store,
                               struct kvc_diag *diag)
{
    const struct kvc_source_params params = kvc_scenario_source(scenario, sizes->sockets, seed);
    struct loader *loader = kvc_array_of(1, sizeof(*loader));
    loader->store = store;
    loader->is_cuckoo = sizes->kind == NULL;
    kvc_rng_init(&loader->rng, seed, "megakv.preload", 0);
    open_thinning(loader, scenario, sizes);
    struct kvc_preload *walker = kvc_preload_create(&params, &store->sampling, diag);
    enum kvc_status status = walker != NULL ? KVC_OK : diag->status;
    if (status == KVC_OK) {
        kvc_preload_walk(walker, sizes->spreads ? KVC_PRELOAD_SPREAD : KVC_PRELOAD_POPULAR_LAST, progress,
                         "preload", load_keys, loader);
    }
    kvc_preload_free(walker);
    kvc_set_cache_close(&loader->keys);
    free(loader->end);
    free(loader);
    return status;
}

/* The representative of a hot key has a similar popularity, and its items lie in the same size class, so that
 * every class sees its share of the SETs. */
static enum kvc_status find_representatives(const struct kvc_scenario *scenario,
                                            const struct kvc_shards_params *sizes, uint64_t seed,
                                            struct kvc_shards *store, struct kvc_diag *diag)
{
    const struct kvc_source_params params = kvc_scenario_source(scenario, sizes->sockets, seed);
    const struct kvc_sampling_kinds kinds = {.choice = KVC_SAMPLING_ALIKE,
                                             .keys = scenario->workload.keys,
                                             .key_stride = kvc_workload_key_stride(&scenario->workload),
                                             .kind = kvc_megakv_slab_item_bytes};
    struct kvc_source *source = kvc_source_create(&params, diag);
    if (source == NULL) {
        return diag->status;
    }
    store->representative = kvc_sampling_representatives(&store->sampling, source, &kinds);
    store->stand_in = kvc_batch_create(1, kinds.key_stride);
    kvc_source_free(source);
    return KVC_OK;
}

/* ---- creation ---- */

/* A size class while the store is filled. */
struct demand {
    double items, room;
};

/* Records that `weight` items with the sizes of a key are stored. Returns false if no slab is left for them.
 */
static bool store_items(struct kvc_megakv_slab *slab, struct demand *demand, uint32_t key_bytes,
                        uint32_t value_bytes, double weight)
{
    struct demand *class = &demand[kvc_megakv_slab_item_bytes(key_bytes, value_bytes) / ITEM_STEP];
    class->items += weight;
    while (class->items > class->room) {
        if (!kvc_megakv_slab_assign(slab, key_bytes, value_bytes)) {
            return false;
        }
        class->room += kvc_megakv_slab_items(key_bytes, value_bytes);
    }
    return true;
}

/* Gives the classes of a sample the slabs that they take in one of `shards` whole stores while this is
 * filled, the least popular keys first. A class takes whole slabs even if it fills only a part of them, and a
 * sample contains too few items of large classes to tell their number. Workloads with one size need no such
 * assignment. */
static void assign_slabs(struct kvc_megakv_slab *slab, const struct kvc_workload *workload, uint32_t shards)
{
    struct kvc_sizes *sizes = kvc_workload_sizes(workload);
    if (!kvc_sizes_fixed(sizes)) {
        uint64_t keys = (uint64_t)(workload->preload_frac * (double)workload->keys);
        uint64_t step = (keys + SIZES_MAX - 1) / SIZES_MAX;
        struct demand *demand = kvc_array_of(ITEM_SIZES, sizeof(*demand));
        bool room = true;
        for (uint64_t left = step > 0 ? keys / step : 0; left > 0 && room; left--) {
            uint64_t key_id = (left - 1) * step;
            uint8_t key_bytes;
            uint32_t value_bytes;
            kvc_sizes_fill(sizes, &key_id, 1, &key_bytes, &value_bytes);
            room = store_items(slab, demand, key_bytes, value_bytes, (double)step / shards);
        }
        free(demand);
    }
    kvc_sizes_free(sizes);
}

static struct kvc_index *create_index(const struct kvc_shards_params *sizes, uint64_t rate, uint64_t seed)
{
    uint64_t bytes = (uint64_t)fmax(sizes->index_bytes / (double)rate, 64);
    if (sizes->pairs.pair_bytes > 0) {
        return sizes->kind->pairs->create(bytes, &sizes->pairs, seed);
    }
    bool interleaved = sizes->kind == &kvc_megakv_cuckoo_interleaved_kind;
    if (sizes->kind != NULL && sizes->kind != &kvc_megakv_cuckoo_kind && !interleaved) {
        return sizes->kind->create(bytes, seed);
    }
    return kvc_megakv_cuckoo_create(&(struct kvc_megakv_cuckoo_params){
        .bytes = bytes,
        .layout = interleaved ? KVC_MEGAKV_CUCKOO_INTERLEAVED : KVC_MEGAKV_CUCKOO_APART,
        .slots = interleaved ? 4 : 0,
        .max_displacements = sizes->max_displacements,
        .seed = seed});
}

static void create_shards(const struct kvc_scenario *scenario, const struct kvc_shards_params *sizes,
                          uint64_t seed, struct kvc_shards *store)
{
    uint64_t rate = store->sampling.rate;
    size_t value_bytes = kvc_workload_value_bytes_max(&scenario->workload) + sizeof(uint64_t);
    const struct kvc_megakv_slab_params slab = slab_params_of(sizes, kvc_seed_of_hash(seed));
    const struct kvc_item_log_params log = log_params_of(sizes);
    store->shards = kvc_array_of(store->shard_count, sizeof(*store->shards));
    if (sizes->keeps_values) {
        store->value = kvc_array_of(value_bytes, 1);
        memset(store->value, 0x5a, value_bytes);
    }
    for (uint32_t i = 0; i < store->shard_count; i++) {
        bool has_log = sizes->logs, has_slab = sizes->slab_bytes > 0 && !has_log;
        store->shards[i].index = create_index(sizes, rate, kvc_rng_seed(seed, "megakv.victims", i));
        store->shards[i].slab = has_slab ? kvc_megakv_slab_create_with(&slab) : NULL;
        store->shards[i].log = has_log ? kvc_item_log_create(&log) : NULL;
        if (store->shards[i].index == NULL || (has_slab && store->shards[i].slab == NULL) ||
            (has_log && store->shards[i].log == NULL)) {
            kvc_out_of_memory("a shard of %.3g GiB: %s",
                              (sizes->index_bytes + sizes->slab_bytes) / (double)rate / 0x1p30,
                              strerror(errno));
        }
        if (rate > 1 && has_slab && scenario->workload.arrival != KVC_ARRIVAL_TRACE) {
            assign_slabs(store->shards[i].slab, &scenario->workload, store->shard_count);
        }
    }
}

static void reset_stats(struct kvc_shards *store)
{
    for (uint32_t i = 0; i < store->shard_count; i++) {
        store->shards[i].index_stats = (struct kvc_index_stats){0};
        store->shards[i].slab_stats = (struct kvc_megakv_slab_stats){0};
        store->shards[i].rejected = store->shards[i].read = 0;
    }
}

enum kvc_status kvc_shards_create(const struct kvc_scenario *scenario, const struct kvc_shards_params *params,
                                  uint64_t seed, const struct kvc_progress *progress,
                                  struct kvc_shards **store, struct kvc_diag *diag)
{
    double started_s = kvc_clock_wall_s();
    struct kvc_shards *made = kvc_array_of(1, sizeof(*made));
    enum kvc_status status = KVC_OK;
    made->shard_count = (uint32_t)scenario->cluster.nodes * params->sockets;
    made->has_pairs = params->pairs.pair_bytes > 0;
    made->sampling = kvc_sampling_of(&scenario->workload, params->sample_rate, HOT_STRATA);
    if (made->sampling.rate > 0) {
        create_shards(scenario, params, seed, made);
        if (scenario->workload.arrival != KVC_ARRIVAL_TRACE) {
            status = preload(scenario, params, seed, progress, made, diag);
        }
        if (status == KVC_OK && made->sampling.hot_keys > 0) {
            status = find_representatives(scenario, params, seed, made, diag);
        }
        if (status == KVC_OK) {
            reset_stats(made);
        }
    }
    made->preload_wall_s = kvc_clock_wall_s() - started_s;
    if (status != KVC_OK) {
        kvc_shards_free(made);
        return status;
    }
    *store = made;
    return KVC_OK;
}

void kvc_shards_represent(const struct kvc_shards *store, const struct kvc_source *source,
                          struct kvc_batch *batch, uint32_t row)
{
    struct kvc_batch *stand_in = store->stand_in;
    stand_in->count = 0;
    kvc_source_keys(source, store->representative[batch->key_id[row]], 1, stand_in);
    memcpy(batch->keys + (size_t)row * batch->key_stride, stand_in->keys, batch->key_stride);
    batch->hash[row] = stand_in->hash[0];
    batch->key_bytes[row] = stand_in->key_bytes[0];
    batch->value_bytes[row] = stand_in->value_bytes[0];
}
