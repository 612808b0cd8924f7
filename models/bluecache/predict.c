#include "models/bluecache/predict.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/bluecache/store.h"
#include "models/bluecache/costs.h"
#include "models/bluecache/flushes.h"
#include "models/bluecache/places.h"
#include "models/bluecache/resources.h"
#include "models/bluecache/wear.h"
#include "sim/base/array.h"
#include "sim/devices/flash/flash_turns_rate.h"
#include "sim/metrics/bottleneck.h"
#include "sim/run/cache_aside.h"
#include "sim/workload/keys/hottest_shard.h"

/* What a request takes on average. */
struct loads {
    double in_ns, out_ns, dram_ns; /* Of a host, and of a store. */
    struct kvc_flash_load pages;   /* Reads, and what the log does for it. */
    struct kvc_flash_busy flash;
    double read_ns;      /* Of one read that waits nowhere. */
    double flash_ns;     /* Of that a request, on average. */
    double record_pages; /* Reads of a GET from flash. */
    double request_bytes, response_bytes;
    double card_ns;     /* From the card of its host and back to it, without waiting. */
    double latency_ns;  /* Of the cache, without waiting. */
    double edge_ns;     /* Of the busiest link. */
    double database_ns; /* For which a request keeps the database busy. */
    double away_ns;     /* For which a request waits for the database. */
};

/* The highest rates of all requests [per ns]. */
struct limits {
    double in, out, dram, controller, channels, chips, interface, tags, table, fabric, call, wake, database;
    double lowest, cache; /* Of all, and of all but the database. */
};

/* Returns the time that the busiest link spends on a request, on average [ns], with all pairs of host and
 * store alike; *hops becomes the mean number of hops. */
static double busiest_edge_ns(const struct kvc_bluecache_config *config, double request_bytes,
                              double response_bytes, double *hops)
{
    uint32_t nodes = config->nodes;
    uint32_t *route = kvc_array_of((size_t)nodes * nodes, sizeof(*route));
    double *bytes = kvc_array_of((size_t)nodes * nodes, sizeof(*bytes)), most = 0;
    double share = 1 / ((double)config->apps * config->stores);
    kvc_fabric_routes(config->fabric, nodes, route);
    *hops = 0;
    for (uint32_t app = 0; app < config->apps; app++) {
        for (uint32_t store = 0; store < config->stores; store++) {
            for (uint32_t at = app; at != store; at = route[at * nodes + store]) {
                bytes[at * nodes + route[at * nodes + store]] += share * request_bytes;
                *hops += share;
            }
            for (uint32_t at = store; at != app; at = route[at * nodes + app]) {
                bytes[at * nodes + route[at * nodes + app]] += share * response_bytes;
            }
        }
    }
    for (size_t i = 0; i < (size_t)nodes * nodes; i++) {
        most = fmax(most, bytes[i]);
    }
    free(route);
    free(bytes);
    return kvc_bluecache_edge_ns(config, most);
}

/* Sets what a request takes of flash. */
static void set_flash(const struct kvc_scenario *scenario, const struct kvc_bluecache_places *places,
                      double get, struct loads *loads)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    const struct kvc_flash *flash = config->flash;
    uint32_t key = (uint32_t)lround(kvc_workload_key_bytes_mean(&scenario->workload));
    uint32_t value = (uint32_t)lround(kvc_workload_value_bytes_mean(&scenario->workload));
    double programs = places->written * kvc_bluecache_record_pages(config, key, value);
    loads->record_pages = kvc_bluecache_pages(config, key, value);
    loads->pages = (struct kvc_flash_load){
        .reads = get * places->flash * loads->record_pages,
        .read_bytes = kvc_bluecache_fetched_bytes(config, key, value),
        .programs = programs,
        .erases = programs / (double)flash->pages_per_block,
    };
    loads->flash = kvc_flash_busy_of(flash, &loads->pages);
    loads->read_ns = kvc_flash_read_ns(flash, loads->pages.read_bytes);
    loads->flash_ns = get * places->flash * loads->read_ns;
}

static struct loads loads_of(const struct kvc_scenario *scenario, const struct kvc_bluecache_places *places,
                             const struct kvc_cache_aside_mix *mix)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    uint32_t key = (uint32_t)lround(kvc_workload_key_bytes_mean(workload));
    uint32_t value = (uint32_t)lround(kvc_workload_value_bytes_mean(workload));
    double get = mix->get, set = mix->set, delete = mix->delete;
    double hit = 1 - places->none, request, response, hops;
    uint8_t put = config->options->dram_bytes > 0 ? KVC_BLUECACHE_IN_DRAM : KVC_BLUECACHE_IN_BUFFER;
    struct loads loads = {0};
    set_flash(scenario, places, get, &loads);
    request = get * kvc_bluecache_request_bytes(KVC_OP_GET, key, value) +
              set * kvc_bluecache_request_bytes(KVC_OP_SET, key, value) +
              delete *kvc_bluecache_request_bytes(KVC_OP_DELETE, key, value);
    response = KVC_BLUECACHE_HEADER_BYTES + get * hit * value;
    loads.dram_ns =
        get * (places->dram * kvc_bluecache_dram_ns(config, KVC_OP_GET, KVC_BLUECACHE_IN_DRAM, key, value) +
               places->flash * kvc_bluecache_dram_ns(config, KVC_OP_GET, KVC_BLUECACHE_IN_FLASH, key, value) +
               places->none * kvc_bluecache_dram_ns(config, KVC_OP_GET, KVC_BLUECACHE_IN_NONE, key, value)) +
        set * kvc_bluecache_dram_ns(config, KVC_OP_SET, put, key, value) +
        delete *kvc_bluecache_dram_ns(config, KVC_OP_DELETE, KVC_BLUECACHE_IN_FLASH, key, value);
    loads.request_bytes = request;
    loads.response_bytes = response;
    loads.in_ns = kvc_bluecache_in_ns(config, request);
    loads.out_ns = kvc_bluecache_out_ns(config, response);
    loads.edge_ns = busiest_edge_ns(config, request, response, &hops);
    double hop_ns = get * (kvc_bluecache_request_hop_ns(config, KVC_OP_GET) +
                           kvc_bluecache_response_hop_ns(config, KVC_OP_GET, hit > 0)) +
                    set * (kvc_bluecache_request_hop_ns(config, KVC_OP_SET) +
                           kvc_bluecache_response_hop_ns(config, KVC_OP_SET, true)) +
                    delete *2 * kvc_bluecache_request_hop_ns(config, KVC_OP_DELETE);
    loads.card_ns = loads.dram_ns + loads.flash_ns + hops * hop_ns;
    loads.latency_ns = loads.in_ns + loads.out_ns + 2 * config->pcie->latency_ns + loads.card_ns +
                       (get + set + delete) * kvc_bluecache_out_ns(config, KVC_BLUECACHE_HEADER_BYTES);
    if (config->threads) { /* The flush takes the lock, too, and an interrupt wakes the response thread. */
        const struct kvc_bluecache_options *options = config->options;
        loads.latency_ns +=
            (get + set + delete) * (2 * options->call_ns + options->wake_ns + 2 * options->switch_ns);
    }
    if (config->database != NULL) {
        struct kvc_database_load load =
            kvc_cache_aside_load_of(mix, config->database, (double)workload->keys);
        loads.database_ns = load.busy_ns;
        loads.away_ns = load.time_ns;
    }
    return loads;
}

/* Returns the time that a request takes of a flash whose controllers visit chips in turn, with so many reads
 * in it at any time [ns]. */
static double turns_ns(const struct kvc_flash *flash, const struct kvc_flash_load *pages, double reads)
{
    const struct kvc_flash_load programs = {.programs = pages->programs};
    return pages->reads / kvc_flash_turns_reads_per_s(flash, pages->read_bytes, reads) * 1e9 +
           kvc_flash_busy_of(flash, &programs).channels_ns;
}

/* Returns the time that a request takes of the tags of a store [ns]. Where controllers visit chips in turn,
 * it depends on the reads in the flash: as many as it has tags, or of those requests that a saturating host
 * keeps in flight the ones that are there. Clients flush theirs together (flushes.h). */
static double tags_ns(const struct kvc_scenario *scenario, const struct loads *loads)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    const struct kvc_flash *flash = config->flash;
    double low = 0, high = (double)kvc_flash_tags(flash);
    if (flash->poll_ns <= 0 || loads->pages.reads <= 0) {
        return loads->pages.reads * loads->read_ns / high;
    }
    if (scenario->workload.arrival == KVC_ARRIVAL_SATURATE) {
        double in_flight = (double)config->options->outstanding * config->apps;
        double elsewhere_ns = loads->latency_ns - loads->flash_ns + loads->away_ns;
        for (int i = 0; i < 60; i++) {
            double reads = (low + high) / 2;
            double requests =
                reads / loads->record_pages + elsewhere_ns / turns_ns(flash, &loads->pages, reads);
            *(requests * config->stores < in_flight ? &low : &high) = reads;
        }
    }
    return turns_ns(flash, &loads->pages, high);
}

static struct limits limits_of(const struct kvc_scenario *scenario, const struct loads *loads,
                               const struct kvc_cache_aside_mix *mix)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    double asked = mix->get + mix->set + mix->delete;
    /* The store that is asked most is the limit of all. */
    double hottest = kvc_hottest_shard_frac(&scenario->workload, config->stores, 1,
                                            (uint32_t)scenario->cluster.virtual_nodes);
    struct limits limits = {
        .in = config->apps / loads->in_ns,
        .out = config->apps / loads->out_ns,
        .dram = config->dram_channels / (hottest * loads->dram_ns),
        .controller = 1 / (hottest * loads->flash.controller_ns),
        .channels = 1 / (hottest * loads->flash.channels_ns),
        .chips = 1 / (hottest * loads->flash.chips_ns),
        .interface = 1 / (hottest * loads->flash.interface_ns),
        .tags = 1 / (hottest * tags_ns(scenario, loads)),
        .table = (double)config->apps * config->table / loads->card_ns,
        .fabric = 1 / loads->edge_ns,
        .call = config->threads ? config->apps / (asked * config->options->call_ns) : INFINITY,
        .wake = config->threads ? config->apps / (asked * config->options->wake_ns) : INFINITY,
        .database = loads->database_ns > 0 ? 1 / loads->database_ns : INFINITY,
        .cache = INFINITY};
    const double all[] = {limits.in,       limits.out,    limits.dram,      limits.controller,
                          limits.channels, limits.chips,  limits.interface, limits.tags,
                          limits.table,    limits.fabric, limits.call,      limits.wake};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        limits.cache = fmin(limits.cache, all[i]);
    }
    limits.lowest = fmin(limits.cache, limits.database);
    return limits;
}

void kvc_bluecache_add_capacity(const struct kvc_scenario *scenario, struct kvc_result *result)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    const struct kvc_flash *flash = config->flash;
    double cards = (double)flash->cards, gb = kvc_flash_bytes(flash) / 1e9;
    if (config->fpga->power_w > 0 && flash->busy_watts > 0) {
        kvc_metrics_set(&result->model, "gb_per_w", gb / (config->fpga->power_w + cards * flash->busy_watts));
    }
    if (flash->price_usd > 0) {
        double dram_usd = config->fpga->dram_bytes / 1e9 * fmax(config->dram->gb_price_usd, 0);
        kvc_metrics_set(&result->model, "usd_per_gb", (cards * flash->price_usd + dram_usd) / gb);
    }
}

/* Returns the power of all nodes [W], as far as profiles state it; 0: unknown. */
static double watts_of(const struct kvc_bluecache_config *config, const struct limits *limits, double per_ns)
{
    const struct kvc_watts flash = kvc_flash_watts(config->flash);
    double limit = fmin(fmin(limits->channels, limits->controller), limits->interface);
    double flash_w = flash.idle_w + fmin(per_ns / limit, 1) * (flash.all_w - flash.idle_w);
    return config->nodes * (config->fpga->power_w + flash_w);
}

static void add_result(const struct kvc_scenario *scenario, const struct limits *limits,
                       const struct kvc_bluecache_places *places, double per_ns, struct kvc_result *result)
{
    const double limit[KVC_BLUECACHE_STAGES] = {
        [KVC_BLUECACHE_AT_CALL] = limits->call,
        [KVC_BLUECACHE_AT_IN] = limits->in,
        [KVC_BLUECACHE_AT_FABRIC] = limits->fabric,
        [KVC_BLUECACHE_AT_SEARCH] = limits->dram,
        [KVC_BLUECACHE_AT_CONTROLLER] = limits->controller,
        [KVC_BLUECACHE_AT_CHANNELS] = limits->channels,
        [KVC_BLUECACHE_AT_CHIPS] = limits->chips,
        [KVC_BLUECACHE_AT_INTERFACE] = limits->interface,
        [KVC_BLUECACHE_AT_OUT] = limits->out,
        [KVC_BLUECACHE_AT_WAKE] = limits->wake,
        [KVC_BLUECACHE_AT_DATABASE] = limits->database,
    };
    kvc_stages_limit(kvc_bluecache_stages, scenario, limit, per_ns, result);
    if (!isinf(limits->tags)) {
        kvc_metrics_set(&result->model, "tags_limit_mops", limits->tags * 1e3);
    }
    kvc_metrics_set(&result->model, "table_limit_mops", limits->table * 1e3);
    kvc_metrics_set(&result->model, "hit_frac", 1 - places->none);
    kvc_metrics_set(&result->model, "dram_frac", places->dram);
    kvc_metrics_set(&result->model, "flash_frac", places->flash);
    kvc_bottleneck_find(result);
}

/* Returns the rate and the latency that flushes leave, and adds how many messages share a segment. */
static struct kvc_bluecache_flow flow_of(const struct kvc_scenario *scenario, const struct loads *loads,
                                         const struct limits *limits, struct kvc_result *result)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    double units = 1; /* One after another, or shared evenly. */
    if (limits->cache >= limits->dram) {
        units = config->stores * config->dram_channels;
    } else if (limits->cache >= limits->channels ||
               (config->flash->poll_ns > 0 && limits->cache >= limits->tags)) {
        units = config->stores * kvc_flash_channels(config->flash);
    } else if (limits->cache >= limits->chips) {
        units = config->stores * kvc_flash_chips(config->flash);
    }
    struct kvc_bluecache_service service = {.alone_ns = loads->latency_ns,
                                            .away_ns = loads->away_ns,
                                            .lowest_per_ns = limits->cache,
                                            .units = units,
                                            .request_bytes = loads->request_bytes,
                                            .response_bytes = loads->response_bytes};
    double segments_per_ns = kvc_bluecache_segments_per_ns(scenario, &service);
    service.lowest_per_ns = fmin(limits->cache, segments_per_ns);
    service.most_per_ns = fmin(limits->lowest, segments_per_ns);
    struct kvc_bluecache_flow flow = kvc_bluecache_flow_of(scenario, &service);
    kvc_metrics_set(&result->model, "segments_limit_mops", segments_per_ns * 1e3);
    kvc_metrics_set(&result->model, "requests_per_segment",
                    kvc_bluecache_messages_per_segment(scenario, flow.together, loads->request_bytes));
    kvc_metrics_set(&result->model, "responses_per_interrupt",
                    kvc_bluecache_messages_per_segment(scenario, flow.together, loads->response_bytes));
    return flow;
}

enum kvc_status kvc_bluecache_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                      struct kvc_diag *diag)
{
    (void)diag; /* The scenario was checked when it was loaded. */
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    struct kvc_bluecache_places places = kvc_bluecache_places_of(scenario);
    struct kvc_cache_aside_mix mix =
        kvc_cache_aside_mix_of(workload, config->database != NULL, 1 - places.none);
    struct loads loads = loads_of(scenario, &places, &mix);
    struct limits limits = limits_of(scenario, &loads, &mix);
    struct kvc_bluecache_flow flow = flow_of(scenario, &loads, &limits, result);
    result->throughput_mops = flow.per_ns * 1e3;
    result->latency_mean_us = flow.latency_ns / 1e3;
    result->latency_p95_us = NAN;
    add_result(scenario, &limits, &places, flow.per_ns, result);
    const struct kvc_bluecache_writes writes = {
        .set_bytes =
            mix.set * (kvc_workload_key_bytes_mean(workload) + kvc_workload_value_bytes_mean(workload)),
        .pages = loads.pages.programs,
        .time_ns = 1 / flow.per_ns,
    };
    kvc_bluecache_add_wear(scenario, &writes, result);
    kvc_bluecache_add_capacity(scenario, result);
    result->watts_mean = watts_of(config, &limits, flow.per_ns);
    return KVC_OK;
}
