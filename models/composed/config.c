#include "models/composed/config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/megakv/slab.h"
#include "models/composed/index.h"
#include "models/shards/launch.h"
#include "sim/workload/line_cache.h"
#include "sim/workload/phases.h"
#include "sim/devices/network.h"
#include "sim/workload/keys/hottest_shard.h"
#include "sim/workload/keys/popularity_blocks.h"
#include "sim/workload/keys/reuse.h"
#include "sim/workload/source/fill.h"

enum { LINE_BYTES = 64, DEFAULT_FRAME = 32, OPEN_BATCH = 16384, FRAMES_IN_FLIGHT = 64, FRAMES_LEAST = 8 };

/* Two chunks of BlueCache's log (Xu et al., VLDB 10(4), 2016, sec. 3.4). */
enum { BUFFER_PAGES = 256 };

static const char *const place_devices[KVC_COMPOSED_PLACES] = {
    [KVC_COMPOSED_CARD_CPU] = "card_cpu", [KVC_COMPOSED_CPU] = "cpu",
    [KVC_COMPOSED_GPU] = "gpu",           [KVC_COMPOSED_FPGA] = "fpga",
    [KVC_COMPOSED_NIC_RX] = "nic",        [KVC_COMPOSED_NIC_TX] = "nic",
    [KVC_COMPOSED_PCIE_DOWN] = "pcie",    [KVC_COMPOSED_PCIE_UP] = "pcie",
    [KVC_COMPOSED_DATABASE] = "database", [KVC_COMPOSED_FLASH] = "flash",
    [KVC_COMPOSED_NODE] = "nic",
};

const char *kvc_composed_device(enum kvc_composed_place place)
{
    return place_devices[place];
}

/* ---- stages and pools ---- */

static void add_work(struct kvc_composed_stage *stage, const struct kvc_composed_work *work)
{
    struct kvc_composed_work *sum = &stage->per[work->per];
    sum->cycles += work->cycles;
    sum->ns += work->ns;
    sum->instructions += work->instructions;
    sum->lines += work->lines;
    sum->bytes += work->bytes;
    bool works = sum->cycles + sum->ns + sum->instructions + sum->lines + sum->bytes > 0;
    stage->works |= (uint32_t)works << work->per;
}

static bool is_link(enum kvc_composed_place place)
{
    return !kvc_composed_has_cores(place) && place != KVC_COMPOSED_GPU;
}

static uint32_t servers_of(const struct kvc_composed_config *config,
                           const struct kvc_composed_stage_options *options)
{
    switch ((enum kvc_composed_place)options->on) {
    case KVC_COMPOSED_CPU:
    case KVC_COMPOSED_CARD_CPU:
        return options->split ? 1 : (uint32_t)options->cores;
    case KVC_COMPOSED_GPU:
        return (uint32_t)options->streams;
    case KVC_COMPOSED_NIC_RX:
    case KVC_COMPOSED_NIC_TX:
        return options->ports > 0 ? (uint32_t)options->ports : 1;
    case KVC_COMPOSED_DATABASE:
        return config->database != NULL ? (uint32_t)config->database->queries : 1;
    default:
        return 1;
    }
}

/* Returns an earlier stage that shares the pool of a stage; `stage` if there is none. */
static uint32_t partner_of(const struct kvc_composed_options *options, uint32_t stage)
{
    const struct kvc_composed_stage_options *mine = &options->stage[stage];
    for (uint32_t i = 0; i < stage; i++) {
        const struct kvc_composed_stage_options *other = &options->stage[i];
        bool named = mine->pool[0] != '\0' && strcmp(mine->pool, other->pool) == 0;
        bool link = is_link((enum kvc_composed_place)mine->on) && mine->on == other->on;
        if (named || link) {
            return i;
        }
    }
    return stage;
}

uint64_t kvc_composed_threads(const struct kvc_composed_config *config, enum kvc_composed_place place)
{
    uint64_t threads = 0;
    for (uint32_t i = 0; i < config->pools; i++) {
        const struct kvc_composed_pool *pool = &config->pool[i];
        threads += pool->place == place ? (uint64_t)pool->servers * pool->cores * config->pipelines : 0;
    }
    return threads;
}

static enum kvc_status add_stage(struct kvc_composed_config *config, uint32_t number, struct kvc_diag *diag)
{
    const struct kvc_composed_options *options = config->options;
    const struct kvc_composed_stage_options *mine = &options->stage[number];
    struct kvc_composed_stage *stage = &config->stage[number];
    uint32_t partner = partner_of(options, number);
    *stage = (struct kvc_composed_stage){
        .options = mine, .place = (enum kvc_composed_place)mine->on, .does = mine->does};
    stage->first = stage->last = stage->after = number;
    for (uint32_t i = 0; i < number && mine->after[0] != '\0'; i++) {
        stage->after = strcmp(mine->after, options->stage[i].name) == 0 ? i : stage->after;
    }
    stage->when = mine->when;
    if (mine->beside[0] != '\0' && number > 0) {
        uint32_t first = config->stage[number - 1].first;
        if (strcmp(mine->beside, options->stage[first].name) == 0) {
            stage->first = first;
            stage->when = config->stage[first].when;
            for (uint32_t i = first; i <= number; i++) {
                config->stage[i].last = number;
            }
        }
    }
    add_work(stage, &mine->own);
    for (uint32_t i = 0; i < mine->work_count; i++) {
        add_work(stage, &mine->work[i]);
    }
    if (partner == number) {
        stage->pool = config->pools++;
        const struct kvc_composed_pool *before = &config->pool[stage->pool == 0 ? 0 : stage->pool - 1];
        uint32_t first = stage->pool == 0 ? 0 : before->first + (before->of_node ? 1 : config->pipelines);
        config->pool[stage->pool] =
            (struct kvc_composed_pool){.first = first,
                                       .place = stage->place,
                                       .servers = servers_of(config, mine),
                                       .cores = mine->split ? (uint32_t)mine->cores : 1,
                                       .of_node = is_link(stage->place),
                                       .takes_all = kvc_composed_is_away(stage->place)};
    } else {
        stage->pool = config->stage[partner].pool;
        const struct kvc_composed_pool *pool = &config->pool[stage->pool];
        bool same = is_link(pool->place) || (pool->servers == servers_of(config, mine) &&
                                             pool->cores == (mine->split ? mine->cores : 1));
        if (pool->place != stage->place || !same) {
            const struct kvc_composed_stage_options *other = &options->stage[partner];
            bool streams = stage->place == KVC_COMPOSED_GPU, others = pool->place == KVC_COMPOSED_GPU;
            return kvc_diag_fail(
                diag, KVC_ERR_SCENARIO,
                "system.stages.%u.pool: found \"%s\" of stage \"%s\", which has %" PRIu64
                " on %s, and this one has %" PRIu64
                " on %s; allowed: the same device, with as many cores or streams, and the same split",
                number + 1, mine->pool, other->name, others ? other->streams : other->cores,
                kvc_composed_device(pool->place), streams ? mine->streams : mine->cores,
                kvc_composed_device(stage->place));
        }
    }
    config->pool[stage->pool].stages |= 1u << number;
    bool steals = kvc_composed_steals(mine), is_common = steals || mine->shared;
    struct kvc_composed_pool *joined = &config->pool[stage->pool];
    joined->steals = joined->steals || steals;
    joined->is_common = partner == number ? is_common : joined->is_common && is_common;
    return KVC_OK;
}

double kvc_composed_set_rest(const struct kvc_composed_config *config, double *route_frac)
{
    double sum = 0;
    uint32_t rest = config->routes;
    for (uint32_t i = 0; i < config->routes; i++) {
        bool stated = config->route_stage[i] < config->stages;
        rest = stated ? rest : i;
        sum += stated ? route_frac[i] : 0;
    }
    if (rest < config->routes) {
        route_frac[rest] = fmax(1 - sum, 0);
        sum += route_frac[rest];
    }
    return sum;
}

/* Numbers the routes as the stages name them, and sets the shares that are stated. */
static enum kvc_status number_routes(struct kvc_composed_config *config, struct kvc_diag *diag)
{
    const char *name[KVC_COMPOSED_ROUTES_MAX];
    for (uint32_t i = 0; i < config->stages; i++) {
        const struct kvc_composed_stage_options *mine = config->stage[i].options;
        bool states = !isnan(mine->share), named = mine->route[0] != '\0';
        uint32_t route = 0;
        while (named && route < config->routes && strcmp(name[route], mine->route) != 0) {
            route++;
        }
        if (route + 1 == KVC_COMPOSED_ROUTES_MAX) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "system.stages.%u.route: found \"%.40s\", allowed: up to %d routes", i + 1,
                                 mine->route, KVC_COMPOSED_ROUTES_MAX - 1);
        }
        if (named && route == config->routes) {
            name[route] = mine->route;
            config->route_stage[config->routes++] = config->stages;
        }
        config->stage[i].when |= named ? (uint32_t)KVC_COMPOSED_WHEN_ROUTED << route : 0;
        if (config->stage[i].first != i) { /* It takes what the first of the stages beside each other does. */
            config->stage[i].when = config->stage[config->stage[i].first].when;
        }
        if (states && (!named || config->route_stage[route] < config->stages)) {
            return kvc_diag_fail(
                diag, KVC_ERR_SCENARIO,
                "system.stages.%u.share: found %s, allowed: one in one of the stages of each route", i + 1,
                named ? "another one of its route" : "one of a stage without a route");
        }
        if (states) {
            config->route_stage[route] = i;
            config->route_frac[route] = mine->share;
        }
    }
    return KVC_OK;
}

/* Each request takes one route. With a single one, the others are on a route without stages. */
static enum kvc_status set_routes(struct kvc_composed_config *config, struct kvc_diag *diag)
{
    enum kvc_status status = number_routes(config, diag);
    uint32_t open = 0, stage = 0;
    if (status != KVC_OK) {
        return status;
    }
    if (config->routes <= 1) {
        config->route_stage[config->routes] = config->stages;
        config->routes++;
    }
    for (uint32_t i = 0; i < config->routes; i++) {
        open += config->route_stage[i] == config->stages;
    }
    while (stage + 1 < config->stages && config->stage[stage].options->route[0] == '\0') {
        stage++;
    }
    double sum = kvc_composed_set_rest(config, config->route_frac);
    if (open > 1) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.stages.%u.share: found none in the stages of several routes, allowed: shares of all "
            "routes but one, which gets what the others leave",
            stage + 1);
    }
    if (fabs(sum - 1) > KVC_COMPOSED_SHARES_ERROR) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.stages.%u.share: found shares of all routes that add up to %.6g, so that requests "
            "are %s; allowed: 1, or one route without a share, which gets what the others leave",
            stage + 1, sum, sum < 1 ? "lost" : "served twice");
    }
    return KVC_OK;
}

static bool forms_batches(const struct kvc_composed_batch_options *batch)
{
    return batch->count > 0 || batch->bytes > 0 || batch->timeout_ns > 0 || batch->every_ns > 0 ||
           batch->while_busy;
}

static enum kvc_status find_batched(struct kvc_composed_config *config, struct kvc_diag *diag)
{
    const struct kvc_composed_batch_options *batch = &config->options->batch;
    bool named = batch->before[0] != '\0', forms = forms_batches(batch);
    config->batched = 0;
    while (config->batched < config->stages) {
        const struct kvc_composed_stage *stage = &config->stage[config->batched];
        bool is_it = named ? strcmp(stage->options->name, batch->before) == 0
                           : !kvc_composed_has_cores(stage->place) && stage->place != KVC_COMPOSED_NIC_RX &&
                                 stage->place != KVC_COMPOSED_NIC_TX && !kvc_composed_is_away(stage->place);
        if (is_it) {
            break;
        }
        config->batched++;
    }
    if (named && config->stages > 0 && config->batched == config->stages) {
        char names[KVC_TEXT_MAX] = "";
        for (uint32_t i = 0; i < config->stages; i++) {
            size_t used = strlen(names);
            snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "",
                     config->options->stage[i].name);
        }
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.batch.before: found \"%.60s\", allowed: the name of a stage, in front of which "
            "batches form: %s",
            batch->before, names);
    }
    if (forms && config->stages > 0 && config->batched == config->stages) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.batch.before: found none, allowed: the name of a stage, in front of which batches form; no "
            "stage is on a GPU, FPGA or PCIe link, where they form by default");
    }
    if (named && !forms) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.batch: found before without count, bytes, timeout, every or while_busy, allowed: at least "
            "one of them, with which a batch closes");
    }
    config->batched = forms ? config->batched : config->stages;
    config->apart = config->stages;
    for (uint32_t i = config->batched + 1; i < config->stages && batch->apart[0] != '\0'; i++) {
        bool is_it = strcmp(config->stage[i].options->name, batch->apart) == 0;
        config->apart = is_it && config->stage[i].options->beside[0] == '\0' ? i : config->apart;
    }
    if (batch->apart[0] != '\0' && config->apart == config->stages) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.batch.apart: found \"%.60s\", allowed: the name of a stage behind the one in "
            "front of which batches form, not beside another one",
            batch->apart);
    }
    return KVC_OK;
}

/* ---- devices ---- */

static enum kvc_status check_device(const struct kvc_composed_config *config, uint32_t number,
                                    const struct kvc_node *node, struct kvc_diag *diag)
{
    enum kvc_composed_place place = config->stage[number].place;
    const char *device = place_devices[place];
    for (const struct kvc_device *has = node->device; has->kind != NULL; has++) {
        if (strcmp(has->kind->name, device) == 0) {
            return KVC_OK;
        }
    }
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                         "system.stages.%u.on: found a stage on a device that the node lacks, allowed: with "
                         "node.%s, such as node = { %s = \"...\" }",
                         number + 1, device, device);
}

static void set_channels(struct kvc_composed_cores *cores)
{
    cores->channels = kvc_dram_channels(cores->dram);
    cores->channel_line_ns = kvc_dram_channel_ns(cores->dram, &(struct kvc_dram_load){.random_reads = 1});
    cores->channel_byte_ns = kvc_dram_channel_ns(cores->dram, &(struct kvc_dram_load){.streamed_bytes = 1});
}

/* Sets what a core waits for a line, of which the caches hold a share. */
static void set_line(struct kvc_composed_cores *cores)
{
    double ahead_ns = cores->cpu->lookahead_ns;
    cores->line_ns = cores->llc_frac * fmax(kvc_cpu_llc_hit_ns(cores->cpu) - ahead_ns, 0) +
                     (1 - cores->llc_frac) * fmax(kvc_dram_object_ns(cores->dram, 1) - ahead_ns, 0);
}

/* Sets the share of lines that the caches of cores hold, and what a core waits for a line. Other users of the
 * node's memory are those of the host's. */
static void set_cores(struct kvc_composed_config *config, const struct kvc_scenario *scenario,
                      enum kvc_composed_memory memory, struct kvc_composed_cores *cores)
{
    const struct kvc_workload *workload = &scenario->workload;
    const struct kvc_node *node = &scenario->node;
    double keys = (double)workload->keys / config->shards;
    enum kvc_composed_place place = memory == KVC_COMPOSED_IN_HOST ? KVC_COMPOSED_CPU : KVC_COMPOSED_CARD_CPU;
    const uint32_t on_hot =
        KVC_COMPOSED_HOT_SEARCH | KVC_COMPOSED_HOT_READ | KVC_COMPOSED_HOT_FILL | KVC_COMPOSED_HOT_ERASE;
    bool index_here = false, values_here = false, hot_here = false;
    for (uint32_t i = 0; i < config->stages; i++) {
        bool core = config->stage[i].place == place;
        index_here |= core && (config->stage[i].does & KVC_COMPOSED_ON_INDEX) != 0;
        values_here |= core && (config->stage[i].does & KVC_COMPOSED_ON_VALUES) != 0;
        hot_here |= core && (config->stage[i].does & on_hot) != 0;
    }
    double item_lines_bytes = ceil(config->means.touched_bytes / LINE_BYTES) * LINE_BYTES;
    struct kvc_reuse reuse = {0};
    if (cores->cpu == NULL || cores->dram == NULL) {
        return;
    }
    set_channels(cores);
    if (values_here) {
        reuse.bytes_per_key += item_lines_bytes;
        reuse.footprint_bytes += config->means.item_bytes * keys;
    }
    if (index_here) {
        double pair_bytes = config->pairs.pair_bytes;
        bool apart = pair_bytes > config->pairs.inline_bytes; /* Its index has an entry for it as well. */
        reuse.bytes_per_key += LINE_BYTES + (apart ? ceil(pair_bytes / LINE_BYTES) * LINE_BYTES : 0);
        reuse.footprint_bytes += config->index_bytes;
    }
    if (hot_here) { /* Its keys are the popular ones, which are the first that a cache holds. */
        reuse.bytes_per_key += values_here ? 0 : item_lines_bytes;
        reuse.footprint_bytes += config->hot_bytes;
        if (config->hot_index != NULL) {
            reuse.bytes_per_key += index_here ? 0 : LINE_BYTES;
            reuse.footprint_bytes += config->hot_index_bytes;
        }
    }
    reuse.stream_bytes = config->means.request_bytes + config->means.response_bytes;
    bool steady = workload->arrival != KVC_ARRIVAL_TRACE;
    if (steady && reuse.bytes_per_key > 0) {
        cores->llc_frac = kvc_reuse_share(workload, &reuse, cores->cpu->llc_bytes);
    }
    set_line(cores);
    if (reuse.footprint_bytes > 0 && memory == KVC_COMPOSED_IN_HOST) {
        /* The walk through the page table, and the wait behind a co-runner. */
        double small_ns = kvc_dram_small_page_ns(cores->dram, reuse.footprint_bytes);
        double walk_ns = node->huge_pages ? 0 : small_ns;
        cores->line_ns +=
            walk_ns + kvc_dram_contention_ns(cores->dram, node->co_runner_bytes_per_s, reuse.footprint_bytes);
        if (config->cxl.dram != NULL) { /* The caches are those of all memories. */
            config->cxl.llc_frac = cores->llc_frac;
            set_channels(&config->cxl);
            set_line(&config->cxl);
            config->cxl.line_ns += walk_ns;
        }
    }
}

/* Sets the share of the accesses that find their line of host memory in the card's. */
static void set_cached(struct kvc_composed_config *config, const struct kvc_workload *workload)
{
    const struct kvc_composed_options *options = config->options;
    bool index_here = config->index != NULL && options->index.memory == KVC_COMPOSED_IN_HOST;
    if (options->cached_frac <= 0 || config->fpga == NULL || !index_here) {
        return;
    }
    double shards = config->shards, buckets = shards * config->index_bytes / LINE_BYTES;
    const struct kvc_card_lines lines = {.buckets = buckets,
                                         .pairs_per_bucket = (double)workload->keys / buckets,
                                         .places = shards * config->fpga->dram_bytes / LINE_BYTES};
    config->cached_hit_frac = kvc_card_hit_frac(kvc_card_reuse_of(workload, &lines), options->cached_frac);
}

static void set_caches(struct kvc_composed_config *config, const struct kvc_scenario *scenario)
{
    const struct kvc_workload *workload = &scenario->workload;
    bool steady = workload->arrival != KVC_ARRIVAL_TRACE;
    config->put_frac = workload->set_frac + workload->delete_frac;
    set_cores(config, scenario, KVC_COMPOSED_IN_HOST, &config->host_cores);
    set_cores(config, scenario, KVC_COMPOSED_IN_CARD, &config->card_cores);
    if (steady) {
        set_cached(config, workload);
    }
    bool on_gpu =
        config->index != NULL && config->options->index.memory == KVC_COMPOSED_IN_GPU && config->gpu != NULL;
    if (steady && on_gpu && kvc_gpu_l2_reach_bytes(config->gpu) > 0) {
        const struct kvc_reuse lines = {.bytes_per_key = LINE_BYTES,
                                        .footprint_bytes = config->index_bytes,
                                        .stream_bytes = KVC_SHARDS_JOB_BYTES};
        config->l2_frac = kvc_reuse_share(workload, &lines, kvc_gpu_l2_reach_bytes(config->gpu));
        config->hot_frac = kvc_popularity_mass(workload, 1);
    }
}

void kvc_composed_set_phase(struct kvc_composed_config *config, const struct kvc_scenario *scenario,
                            uint32_t phase)
{
    struct kvc_scenario one = *scenario;
    one.workload = kvc_phases_workload(&scenario->workload, phase);
    config->means = kvc_shards_means_of(&one.workload, config->dram, config->nic, false);
    config->frame_requests = config->phase_frame_requests[phase];
    set_caches(config, &one);
}

/* Returns the mean bytes that an item takes of a log, with its share of the ends of pages. */
static double log_item_bytes(const struct kvc_composed_config *config, const struct kvc_workload *workload)
{
    struct kvc_shards_size_sample sample[KVC_SHARDS_SIZE_SAMPLES_MAX];
    double bytes = 0, page_bytes = config->on_flash ? config->flash->page_bytes : 0;
    for (uint32_t i = 0, count = kvc_shards_sample_sizes(workload, sample); i < count; i++) {
        bytes += sample[i].weight * kvc_item_log_item_bytes(sample[i].key_bytes, sample[i].value_bytes);
    }
    if (page_bytes > 0) {
        bytes = bytes <= page_bytes ? page_bytes / floor(page_bytes / bytes)
                                    : page_bytes * ceil(bytes / page_bytes);
    }
    return bytes;
}

/* Sets the hot tier, whose items are those of slabs whatever holds the others. */
static void set_hot(struct kvc_composed_config *config)
{
    const struct kvc_composed_options *options = config->options;
    config->has_hot = options->hot.bytes > 0;
    if (config->has_hot) { /* What the store's index knows takes no memory of its own. */
        config->hot_index = kvc_composed_index_kind(options->hot.kernel);
        config->hot_bytes = options->hot.bytes;
        config->hot_items = floor(config->hot_bytes / config->means.item_bytes);
        config->hot_index_bytes = config->hot_index != NULL
                                      ? kvc_composed_index_bytes(config->hot_index, NULL, config->hot_items)
                                      : kvc_shards_index_bytes(config->hot_items);
    }
}

/* Returns the pages of flash that are erased together: a block of each chip, or one page of a drive that
 * erases by itself. */
static double row_pages(const struct kvc_flash *flash)
{
    return kvc_flash_translates(flash) ? 1 : (double)(kvc_flash_chips(flash) * flash->pages_per_block);
}

/* Returns the memory that the values of all keys need [bytes]. On flash, a row is free for what comes. */
static double needed_bytes(const struct kvc_composed_config *config)
{
    double bytes = fmax(ceil(1.1 * config->keys * config->means.item_bytes), 16.0 * KVC_MEGAKV_SLAB_BYTES);
    if (!config->on_flash) {
        return bytes;
    }
    double row_bytes = row_pages(config->flash) * config->flash->page_bytes;
    return (ceil(bytes / row_bytes) + 1) * row_bytes;
}

/* Sets what the popularity of keys does to reads of the flash. A SET moves the item of a popular key from
 * chip to chip. Without SETs, the chip with the most popular keys has more reads than the others. */
static void set_popularity(struct kvc_composed_config *config, const struct kvc_workload *workload)
{
    uint32_t chips = kvc_flash_chips(config->flash);
    bool moves = workload->arrival == KVC_ARRIVAL_TRACE || workload->set_frac > 0;
    bool even = moves || config->has_hot; /* A hot tier takes those reads. */
    config->hottest_chip = even ? 1 : fmax(chips * kvc_hottest_shard_frac(workload, 1, chips, 0), 1);
}

static void set_values(struct kvc_composed_config *config, double stated_bytes)
{
    config->value_bytes = stated_bytes > 0 ? stated_bytes : needed_bytes(config);
    if (config->on_flash) {
        double row = row_pages(config->flash), page_bytes = config->flash->page_bytes;
        double rows = floor(config->value_bytes / (row * page_bytes));
        double buffer_bytes = config->options->values.buffer_bytes;
        config->buffer_bytes = buffer_bytes > 0 ? buffer_bytes : BUFFER_PAGES * page_bytes;
        config->flash_pages = (uint64_t)(rows * row);
        config->value_bytes = fmax(rows - 1, 0) * row * page_bytes;
    }
}

/* Sets the pairs of an index that holds values. A check refuses those that the kernel cannot hold. */
static void set_pairs(struct kvc_composed_config *config, const struct kvc_workload *workload)
{
    const struct kvc_composed_values_options *values = &config->options->values;
    config->inlines =
        values->kernel == KVC_COMPOSED_INLINE && config->index != NULL && config->index->pairs != NULL;
    if (config->inlines) {
        const struct kvc_index_pair_kind *kind = config->index->pairs;
        double bytes = kvc_workload_key_bytes_mean(workload) + kvc_workload_value_bytes_mean(workload),
               inline_bytes = values->inline_bytes > 0 ? values->inline_bytes : kind->inline_usual_bytes;
        bytes = fmin(fmax(bytes, kind->least_bytes), kind->most_bytes);
        config->pairs =
            (struct kvc_index_pairs){.inline_bytes = (uint32_t)fmin(inline_bytes, kind->inline_most_bytes),
                                     .pair_bytes = (uint32_t)lround(bytes)};
    }
}

static void set_structures(struct kvc_composed_config *config, const struct kvc_scenario *scenario)
{
    const struct kvc_composed_options *options = config->options;
    double keys = (double)scenario->workload.keys / config->shards;
    config->index = kvc_composed_index_kind(options->index.kernel);
    config->has_values = kvc_composed_has_values(options);
    set_pairs(config, &scenario->workload);
    const struct kvc_index_pairs *pairs = kvc_composed_pairs_of(config);
    config->logs = options->values.kernel == KVC_COMPOSED_LOG;
    if (config->logs) {
        config->on_flash = options->values.memory == KVC_COMPOSED_IN_FLASH && config->flash != NULL;
        config->means.item_bytes = log_item_bytes(config, &scenario->workload);
    }
    if (config->index != NULL) {
        config->index_bytes = options->index.bytes > 0 ? options->index.bytes
                                                       : kvc_composed_index_bytes(config->index, pairs, keys);
        config->slots = kvc_composed_index_slots(config->index, pairs, config->index_bytes);
    }
    if (config->has_values) {
        set_values(config, options->values.bytes);
    }
    if (config->on_flash) {
        set_popularity(config, &scenario->workload);
    }
    config->full_bytes = config->shards * (config->index_bytes + config->value_bytes);
    config->sample_rate = config->index != NULL ? kvc_run_sample_rate(&scenario->run, config->full_bytes) : 0;
}

static uint32_t frame_requests(const struct kvc_composed_config *config, const struct kvc_workload *workload,
                               const struct kvc_shards_means *means)
{
    uint32_t fits =
        config->nic != NULL ? kvc_nic_messages_per_frame(config->nic, means->request_bytes) : DEFAULT_FRAME;
    return kvc_fill_most(workload, workload->frame_requests > 0 ? (uint32_t)workload->frame_requests : fits);
}

static void set_frames(struct kvc_composed_config *config, const struct kvc_scenario *scenario)
{
    const struct kvc_workload *workload = &scenario->workload;
    config->frame_requests = frame_requests(config, workload, &config->means);
    for (uint32_t i = 0; i < workload->phase_count; i++) {
        const struct kvc_workload one = kvc_phases_workload(workload, i);
        const struct kvc_shards_means means = kvc_shards_means_of(&one, config->dram, config->nic, false);
        uint32_t most = config->phase_frame_requests[i] = frame_requests(config, &one, &means);
        config->frame_requests = most > config->frame_requests ? most : config->frame_requests;
    }
    /* A client gets what it has sent in a frame together. */
    config->frame_answers = workload->frame_requests > 0 ? config->frame_requests : UINT32_MAX;
    config->frame_mean = kvc_fill_mean(workload, config->frame_requests);
    config->frame_most = config->frame_requests;
    for (uint32_t i = 0; i < config->stages; i++) {
        uint32_t together = (uint32_t)config->stage[i].options->burst * config->frame_requests;
        config->frame_most = together > config->frame_most ? together : config->frame_most;
    }
    if (config->nic != NULL) { /* Frames pass the cards of both nodes. */
        config->hop_ns =
            kvc_network_path_ns(&scenario->node, (double)config->nic->mtu_bytes) + config->nic->latency_ns;
    }
    if (config->on_network) {
        config->path_ns = kvc_network_path_ns(&scenario->node, (double)config->nic->mtu_bytes);
    }
}

/* Returns the requests that a batch can have: those that fill it, and no more than clients have in flight.
 * The frame with which its bytes are enough may bring further ones. */
static uint32_t batch_room(const struct kvc_composed_config *config, const struct kvc_workload *workload)
{
    double filled_bytes = config->options->batch.bytes, room = config->batch_most;
    if (filled_bytes > 0) {
        double least = config->nic != NULL ? kvc_shards_request_bytes(config->nic, KVC_OP_GET, 1, 0) : 1;
        room = fmin(room, ceil(filled_bytes / least) + config->frame_most);
    }
    if (kvc_workload_clients_wait(workload)) {
        bool saturates = workload->arrival == KVC_ARRIVAL_SATURATE;
        room = fmin(room, saturates ? (double)config->outstanding : (double)workload->clients);
    }
    return (uint32_t)fmax(room, config->frame_most);
}

static void set_batches(struct kvc_composed_config *config, const struct kvc_workload *workload)
{
    const struct kvc_composed_options *options = config->options;
    const struct kvc_composed_batch_options *batch = &options->batch;
    bool batches = config->batched < config->stages;
    double filled = batch->count > 0 ? (double)batch->count
                    : batch->bytes > 0
                        ? ceil(batch->bytes / fmax(config->means.request_bytes, 1)) + config->frame_requests
                        : OPEN_BATCH / 2.0;
    double usual =
        batches ? 2 * filled * (double)batch->buffers : (double)FRAMES_IN_FLIGHT * config->frame_requests;
    usual = fmax(usual, (double)FRAMES_LEAST * config->frame_requests);
    config->batch_most = !batches           ? config->frame_most
                         : batch->count > 0 ? (uint32_t)batch->count
                                            : (uint32_t)KVC_COMPOSED_BATCH_MAX;
    config->outstanding =
        options->outstanding > 0 ? options->outstanding : (uint64_t)ceil(usual * config->pipelines);
    config->outstanding =
        config->outstanding < config->frame_requests ? config->frame_requests : config->outstanding;
    config->batch_room = batch_room(config, workload);
}

/* Lets the first stage that does `with` do an operation, if no stage states it. */
static void imply(struct kvc_composed_config *config, uint32_t operation, uint32_t with)
{
    if ((kvc_composed_does(config) & operation) != 0) {
        return;
    }
    for (uint32_t i = 0; i < config->stages; i++) {
        bool can = operation != KVC_COMPOSED_WRITE || config->stage[i].place == KVC_COMPOSED_CPU;
        if (can && (config->stage[i].does & with) != 0) {
            config->stage[i].does |= operation;
            return;
        }
    }
}

/* Whether a stage behind that of the database stores what GETs have missed. */
static bool fills(const struct kvc_composed_config *config, bool has_values)
{
    bool asked = false;
    for (uint32_t i = 0; i < config->stages; i++) {
        uint32_t stores = has_values ? KVC_COMPOSED_WRITE : KVC_COMPOSED_INSERT;
        asked = asked || config->stage[i].place == KVC_COMPOSED_DATABASE;
        if (asked && (config->stage[i].does & stores) != 0) {
            return true;
        }
    }
    return false;
}

enum kvc_status kvc_composed_resolve(const struct kvc_scenario *scenario, void *into, struct kvc_diag *diag)
{
    struct kvc_composed_config *config = into;
    const struct kvc_node *node = &scenario->node;
    const struct kvc_composed_options *options = scenario->options;
    uint32_t state = 0;
    enum kvc_status status = KVC_OK;
    *config = (struct kvc_composed_config){.options = options,
                                           .cpu = kvc_cpu_of(node),
                                           .dram = kvc_dram_of(node),
                                           .gpu = kvc_gpu_of(node),
                                           .nic = kvc_nic_of(node),
                                           .pcie = kvc_pcie_of(node),
                                           .fpga = kvc_fpga_of(node),
                                           .host_cores = {kvc_cpu_of(node), kvc_dram_of(node)},
                                           .card_cores = {kvc_card_cpu_of(node), kvc_card_dram_of(node)},
                                           .cxl = {kvc_cpu_of(node), kvc_cxl_of(node)},
                                           .database = kvc_database_of(node),
                                           .flash = kvc_flash_of(node),
                                           .shards = kvc_scenario_shards(scenario),
                                           .pipelines = (uint32_t)options->pipelines,
                                           .rx_parts = 1,
                                           .tx_parts = 1,
                                           .stages = options->stage_count};
    config->keys = (double)scenario->workload.keys / config->shards;
    for (uint32_t i = 0; i < config->stages && status == KVC_OK; i++) {
        status = add_stage(config, i, diag);
        if (status == KVC_OK) {
            status = check_device(config, i, node, diag);
        }
        bool port =
            config->stage[i].place == KVC_COMPOSED_NIC_RX || config->stage[i].place == KVC_COMPOSED_NIC_TX;
        config->on_network = config->on_network || port;
        if (status == KVC_OK && port && options->stage[i].ports > 0) {
            bool in = config->stage[i].place == KVC_COMPOSED_NIC_RX;
            *(in ? &config->rx_parts : &config->tx_parts) = (uint32_t)config->nic->ports;
        }
        config->compares = config->compares || (options->stage[i].does & KVC_COMPOSED_COMPARE) != 0;
    }
    if (status == KVC_OK) {
        status = set_routes(config, diag);
    }
    if (status == KVC_OK) {
        status = find_batched(config, diag);
    }
    config->thread_cores =
        (double)config->cpu->cores /
        fmax((double)kvc_composed_threads(config, KVC_COMPOSED_CPU), (double)config->cpu->cores);
    config->fills = fills(config, kvc_composed_has_values(options));
    if (status != KVC_OK) {
        return status;
    }
    kvc_cpu_pstate_of(node, &state, NULL); /* The loader has checked the clock. */
    config->core_speed = kvc_cpu_pstate_speed(config->cpu, state);
    config->gpu_clock = config->gpu != NULL ? kvc_gpu_clock_of(config->gpu, options->gpu_core_hz) : 0;
    config->means = kvc_shards_means_of(&scenario->workload, config->dram, config->nic, false);
    set_hot(config);
    set_structures(config, scenario);
    bool by_cores =
        options->values.memory == KVC_COMPOSED_IN_HOST || options->values.memory == KVC_COMPOSED_IN_CXL;
    if (config->has_values && by_cores) {
        imply(config, KVC_COMPOSED_WRITE, KVC_COMPOSED_PARSE);
    }
    if (config->index != NULL) {
        imply(config, KVC_COMPOSED_ERASE, KVC_COMPOSED_INSERT);
    }
    set_frames(config, scenario);
    set_batches(config, &scenario->workload);
    set_caches(config, scenario);
    return KVC_OK;
}

uint64_t kvc_composed_room_of(const struct kvc_composed_config *config, uint32_t stage)
{
    uint64_t stated = config->stage[stage].options->queue;
    bool ring = stated == 0 && stage == 1 && config->stage[0].place == KVC_COMPOSED_NIC_RX;
    return ring ? config->nic->ring_frames : stated;
}

struct kvc_composed_card_memory kvc_composed_card_memory_of(const struct kvc_composed_config *config)
{
    const struct kvc_dram *dram = config->card_cores.dram;
    if (dram != NULL) {
        return (struct kvc_composed_card_memory){dram->capacity_bytes, kvc_dram_bytes_per_s(dram),
                                                 kvc_dram_channels(dram)};
    }
    if (config->fpga != NULL) {
        return (struct kvc_composed_card_memory){config->fpga->dram_bytes, config->fpga->dram_bytes_per_s, 1};
    }
    return (struct kvc_composed_card_memory){0};
}

int kvc_composed_memory_of(const struct kvc_composed_config *config, uint32_t stage)
{
    const struct kvc_composed_options *options = config->options;
    const struct {
        uint32_t operations;
        int memory;
    } structures[] = {
        {KVC_COMPOSED_SEARCH | KVC_COMPOSED_INSERT | KVC_COMPOSED_ERASE, options->index.memory},
        {KVC_COMPOSED_WRITE | KVC_COMPOSED_COMPARE | KVC_COMPOSED_READ, options->values.memory},
        {KVC_COMPOSED_HOT_SEARCH | KVC_COMPOSED_HOT_READ | KVC_COMPOSED_HOT_FILL | KVC_COMPOSED_HOT_ERASE,
         options->hot.memory}};
    int memory = -1;
    for (size_t i = 0; i < sizeof(structures) / sizeof(*structures); i++) {
        if ((config->stage[stage].does & structures[i].operations) != 0) {
            memory = memory == -1 || memory == structures[i].memory ? structures[i].memory : -2;
        }
    }
    return memory;
}

void kvc_composed_find_far(const struct kvc_composed_config *config, const struct kvc_composed_stage *stage,
                           bool *index, bool *values)
{
    const uint32_t on_hot =
        KVC_COMPOSED_HOT_SEARCH | KVC_COMPOSED_HOT_READ | KVC_COMPOSED_HOT_FILL | KVC_COMPOSED_HOT_ERASE;
    const struct kvc_composed_options *options = config->options;
    bool hot = (stage->does & on_hot) != 0 && options->hot.memory == KVC_COMPOSED_IN_CXL;
    *index =
        hot || ((stage->does & KVC_COMPOSED_ON_INDEX) != 0 && options->index.memory == KVC_COMPOSED_IN_CXL);
    *values =
        hot || ((stage->does & KVC_COMPOSED_ON_VALUES) != 0 && options->values.memory == KVC_COMPOSED_IN_CXL);
}

static bool is_on_card(enum kvc_composed_place place)
{
    return place == KVC_COMPOSED_FPGA || place == KVC_COMPOSED_CARD_CPU;
}

bool kvc_composed_on_card(const struct kvc_composed_config *config)
{
    bool on_card = false;
    for (uint32_t i = 0; i < config->stages; i++) {
        on_card = on_card || is_on_card(config->stage[i].place);
    }
    return on_card;
}

bool kvc_composed_port_on_card(const struct kvc_composed_config *config, uint32_t stage)
{
    bool first = config->stage[stage].place == KVC_COMPOSED_NIC_RX;
    uint32_t next = first ? stage + 1 : stage - 1; /* UINT32_MAX: there is none. */
    return next < config->stages && is_on_card(config->stage[next].place);
}

uint32_t kvc_composed_does(const struct kvc_composed_config *config)
{
    uint32_t does = 0;
    for (uint32_t i = 0; i < config->stages; i++) {
        does |= config->stage[i].does;
    }
    return does;
}

double kvc_composed_items(const struct kvc_composed_config *config)
{
    double items = config->has_values ? floor(config->value_bytes / config->means.item_bytes) : INFINITY;
    return fmin(items, config->index != NULL ? config->slots : INFINITY);
}

uint32_t kvc_composed_rooms(const struct kvc_scenario *scenario, struct kvc_model_room *room)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    double shards = config->shards, keys = (double)scenario->workload.keys / shards;
    uint32_t count = 0;
    if (config->index != NULL) {
        room[count++] = (struct kvc_model_room){
            .option = "system.index.size",
            .unit = KVC_UNIT_BYTES,
            .size = config->index_bytes,
            .needed = kvc_composed_index_bytes(config->index, kvc_composed_pairs_of(config), keys),
            .keys = shards * config->slots};
    }
    if (config->has_values) {
        room[count++] = (struct kvc_model_room){
            .option = "system.values.size",
            .unit = KVC_UNIT_BYTES,
            .size = config->on_flash ? (double)config->flash_pages * config->flash->page_bytes
                                     : config->value_bytes,
            .needed = needed_bytes(config),
            .keys = shards * floor(config->value_bytes / config->means.item_bytes)};
    }
    return count;
}

/* Whether flash holds all keys. The popular ones would otherwise lie on the same pages, so that few chips
 * have most of the reads. A log that evicts keeps them if they come last. */
static bool spreads_keys(const struct kvc_composed_config *config, const struct kvc_workload *workload)
{
    double stored = workload->preload_frac * (double)workload->keys / config->shards;
    return config->on_flash && stored <= floor(config->value_bytes / config->means.item_bytes);
}

struct kvc_shards_params kvc_composed_store_params_of(const struct kvc_scenario *scenario)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    return (struct kvc_shards_params){
        .sockets = (uint32_t)scenario->node.sockets,
        .kind = config->index,
        .pairs = config->pairs,
        .index_bytes = config->index_bytes,
        .slab_bytes = config->value_bytes,
        .logs = config->logs,
        .page_bytes = config->on_flash ? config->flash->page_bytes : 0,
        .spreads = spreads_keys(config, &scenario->workload),
        .max_displacements = (uint32_t)config->options->index.max_displacements,
        .sample_rate = config->sample_rate,
        .keeps_values = scenario->run.functional == KVC_FUNCTIONAL_FULL && config->has_values,
    };
}

struct kvc_shards_params kvc_composed_hot_params_of(const struct kvc_scenario *scenario)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    struct kvc_shards_params params = kvc_composed_store_params_of(scenario);
    params.kind = config->hot_index;
    params.pairs = (struct kvc_index_pairs){0};
    params.index_bytes = config->hot_index_bytes;
    params.slab_bytes = config->hot_bytes;
    params.logs = false;
    params.page_bytes = 0;
    params.spreads = false;
    params.keeps_values = scenario->run.functional == KVC_FUNCTIONAL_FULL;
    return params;
}
