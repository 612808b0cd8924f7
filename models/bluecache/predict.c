#include "models/bluecache/predict.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/bluecache/dram_slab.h"
#include "kernels/bluecache/index.h"
#include "kernels/bluecache/store.h"
#include "models/bluecache/config.h"
#include "models/bluecache/costs.h"
#include "models/bluecache/resources.h"
#include "models/bluecache/room.h"
#include "models/latency.h"
#include "sim/base/array.h"
#include "sim/base/memo.h"
#include "sim/devices/flash/flash.h"
#include "sim/metrics/bottleneck.h"
#include "sim/run/cache_aside.h"
#include "sim/scenario.h"
#include "sim/workload/keys/hottest_shard.h"
#include "sim/workload/keys/hashed_sets.h"
#include "sim/workload/keys/set_cache.h"

/* ---- places ---- */

/* The places in which GETs find their keys, in closed form.
 *
 * Without SETs, the preload decides: it stores the popular keys last, which leaves them in DRAM and the ones
 * before them on flash. With SETs, the long-run state counts, independently of the preload.
 *
 * DRAM is a cache that only SETs fill, and whose victim is the oldest of four random items
 * (sim/workload/keys/set_cache.h). A key that it evicts is written to the log, where it stays until the next
 * SET or DELETE for it, or until its row is reclaimed: the log is a FIFO, whose rows hold all records that
 * were written, dead ones, too. Half of a row is free on average, and half of a chunk waits in the write
 * buffer.
 *
 * With a database, GETs that miss fill the cache. A pair stays until DRAM and log have taken as many new
 * pairs as they have room for, unless an update or a DELETE of its key comes first. DRAM counts as a FIFO,
 * too. All pairs that enter it count as written to the log later, although pairs that are updated before are
 * not.
 *
 * Not modelled: GETs of a pair in the write buffer read no flash; pairs of several sizes use different slab
 * classes; the index forgets the least recently used key of a bucket (here all keys are forgotten equally
 * often). */

/* Places of keys. */
struct places {
    double dram, flash, none; /* Shares of the GETs. */
    double written;           /* Records that a request brings to the log. */
};

/* Sets the shares without SETs and returns the number of keys that are stored. */
static double place_preloaded(const struct kvc_workload *workload, const struct kvc_bluecache_capacity *room,
                              struct places *places)
{
    double stored = floor(workload->preload_frac * (double)workload->keys);
    if (workload->trace.profile != NULL) {
        places->dram = kvc_workload_trace_hit_frac(workload, room->dram);
        places->flash = kvc_workload_trace_hit_frac(workload, room->dram + room->log) - places->dram;
        return fmin((double)workload->keys, room->dram + room->log);
    }
    places->dram = kvc_popularity_mass(workload, fmin(stored, room->dram));
    places->flash = kvc_popularity_mass(workload, fmin(stored, room->dram + room->flash)) - places->dram;
    return fmin(stored, room->dram + room->flash);
}

/* Returns how often DRAM evicts a key per request for it. A key that a SET brings to DRAM leaves it for
 * flash, unless a DELETE comes first. */
static double evicted_of(const struct kvc_workload *workload, double present)
{
    return fmax(workload->set_frac * (1 - present) - workload->delete_frac * present, 0);
}

/* Sets the shares in the long run with SETs and returns the number of keys that are stored. */
static double find_places_in_long_run(const struct kvc_workload *workload,
                                      const struct kvc_bluecache_capacity *room, struct places *places)
{
    struct kvc_set_cache dram = {0};
    double stored = 0, changed = workload->set_frac + workload->delete_frac;
    kvc_set_cache_open(&dram, workload, fmax(room->dram, 1), KVC_DRAM_SLAB_SAMPLES);
    for (uint32_t i = 0; i < dram.blocks; i++) {
        dram.block[i].present = room->dram > 0 ? dram.block[i].present : 0;
        places->written += dram.block[i].keys.mass * evicted_of(workload, dram.block[i].present);
    }
    double stay = room->log / fmax(places->written, 1e-300);
    for (uint32_t i = 0; i < dram.blocks; i++) {
        const struct kvc_set_cache_block *block = &dram.block[i];
        double rate = block->keys.mass / block->keys.keys;
        double on_flash = evicted_of(workload, block->present) * -expm1(-changed * rate * stay) / changed;
        places->dram += block->keys.mass * block->present;
        places->flash += block->keys.mass * on_flash;
        stored += block->keys.keys * (block->present + on_flash);
    }
    kvc_set_cache_close(&dram);
    return stored;
}

/* Does the same, and keeps what it finds, since it depends on little of the scenario. */
static double place_in_long_run(const struct kvc_workload *workload,
                                const struct kvc_bluecache_capacity *room, struct places *places)
{
    enum { STORED, WRITTEN, DRAM, FLASH, VALUES };
    static _Thread_local struct kvc_memo memo;
    double value[VALUES];
    double argument[] = {(double)workload->keys, workload->popularity, workload->zipf_s, workload->set_frac,
                         workload->delete_frac,  room->dram,           room->log,        0};
    const uint32_t arguments = sizeof(argument) / sizeof(*argument);
    if (workload->action_count > 0) {
        return find_places_in_long_run(workload, room, places);
    }
    if (kvc_memo_find_all(&memo, argument, arguments, value, VALUES)) {
        places->written = value[WRITTEN];
        places->dram = value[DRAM];
        places->flash = value[FLASH];
        return value[STORED];
    }
    *places = (struct places){0};
    value[STORED] = find_places_in_long_run(workload, room, places);
    value[WRITTEN] = places->written;
    value[DRAM] = places->dram;
    value[FLASH] = places->flash;
    kvc_memo_keep_all(&memo, argument, arguments, value, VALUES);
    return value[STORED];
}

/* Returns for how many requests a pair is valid if it may stay for `stay` requests and updates and DELETEs
 * of its key come at update_rate. */
static double valid_for(double stay, double update_rate)
{
    return update_rate > 0 ? -expm1(-update_rate * stay) / update_rate : stay;
}

/* Sets the shares if a pair stays for dram_stay requests in DRAM and for `stay` in DRAM and log together.
 * Returns the number of keys that are stored. */
static double place_for(const struct kvc_workload *workload, double dram_stay, double stay,
                        struct places *places)
{
    struct kvc_popularity_blocks blocks;
    struct kvc_popularity_block block;
    double hits = 0, hits_dram = 0, stored = 0;
    kvc_popularity_blocks_open(&blocks, workload);
    while (kvc_popularity_blocks_next(&blocks, &block)) {
        double rate = block.mass / block.keys, updates = block.updates / block.keys;
        double valid = valid_for(stay, updates), cycle = valid + 1 / (workload->get_frac * rate);
        hits += block.mass * valid / cycle;
        hits_dram += block.mass * valid_for(dram_stay, updates) / cycle;
        stored += block.keys * valid / cycle;
    }
    kvc_popularity_blocks_close(&blocks);
    *places = (struct places){
        .dram = hits_dram, .flash = hits - hits_dram, .written = workload->get_frac * (1 - hits)};
    return stored;
}

/* Sets the shares if a database fills misses, and returns the number of keys that are stored. The stay
 * depends on the number of writes and the writes on the stay, so a bisection finds both. */
static double place_before_database(const struct kvc_workload *workload,
                                    const struct kvc_bluecache_capacity *room, struct places *places)
{
    double room_pairs = room->dram + room->log, low = 1, high = 1e18, stored = 0;
    for (int i = 0; i < 100; i++) {
        double stay = sqrt(low * high);
        stored = place_for(workload, stay * room->dram / room_pairs, stay, places);
        *(places->written * stay < room_pairs ? &low : &high) = stay;
    }
    return stored;
}

/* Returns the places in which the GETs of a resolved scenario find their keys. */
static struct places places_of(const struct kvc_scenario *scenario)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    const struct kvc_bluecache_capacity room = kvc_bluecache_capacity_of(scenario);
    struct places places = {0};
    double stored = config->database != NULL ? place_before_database(workload, &room, &places)
                    : workload->set_frac > 0 ? place_in_long_run(workload, &room, &places)
                                             : place_preloaded(workload, &room, &places);
    double sets = config->stores * config->options->index_bytes / KVC_BLUECACHE_BUCKET_BYTES;
    double keeps = stored > 0 ? kvc_hashed_sets_held(stored, sets, KVC_BLUECACHE_WAYS) / stored : 1;
    if (config->database == NULL && config->options->dram_bytes > 0 && stored > 0) {
        /* Popular keys are stored last, and stay. */
        keeps = kvc_hashed_sets_hit_frac(workload, stored, sets, KVC_BLUECACHE_WAYS) /
                kvc_popularity_mass(workload, stored);
    }
    places.dram *= keeps;
    places.flash *= keeps;
    places.none = fmax(1 - places.dram - places.flash, 0);
    return places;
}

/* ---- flushes ---- */

/* The closed form of a host that collects requests in DMA segments and flushes them (nodes.h).
 *
 * The requests of a flush are answered before the next one begins. A flush of n requests takes the time of
 * a single request, and then the time that the busiest of the units that limit the store needs for its
 * further requests. If n requests go to U units at random, the busiest unit gets n/U + sqrt(2 n/U ln U)
 * (Raab and Steger, "Balls into Bins", RANDOM 1998, for n much larger than U). Hosts flush at different
 * times, and each is assumed to have the whole store meanwhile: with many threads on several hosts, the
 * simulation is slower. A saturating host flushes only if it may not keep more requests in flight than
 * segments and bursts hold. */

/* The service of a card for a host, without waiting times. */
struct service {
    double alone_ns;      /* Time of a single request with its flush [ns]. */
    double away_ns;       /* Time for which a request waits outside the cards [ns]. */
    double lowest_per_ns; /* Rate of the slowest stage of the cache for all hosts [per ns]. */
    double most_per_ns;   /* The same, or the rate of the database if that is lower [per ns]. */
    double units;         /* Servers of that stage among which requests are spread at random. */
    double request_bytes, response_bytes; /* Mean sizes. */
};

struct flow {
    double per_ns; /* Rate of all hosts [per ns]. */
    double
        flush_ns; /* Time of a flush, or of a lone request where requests are flushed when they come [ns]. */
    double waits_frac; /* Share of the requests that first wait for a flush. */
    double latency_ns; /* Mean by Little's law for clients that wait [ns]; 0: they do not. */
    double together;   /* Requests that a host flushes together; INFINITY: it flushes only full segments. */
};

/* Returns the time that a flush takes [ns]. */
static double flush_ns(const struct service *service, double requests)
{
    double mean = requests / service->units, busiest = mean + sqrt(2 * mean * log(service->units));
    return service->alone_ns + fmax(busiest - 1, 0) * service->units / service->lowest_per_ns;
}

/* Returns the rate at which the segments of all hosts can take requests to the cards and responses back [per
 * ns]; a segment is free again after a round trip. */
static double segments_per_ns_of(const struct kvc_scenario *scenario, const struct service *service)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    double segments = (double)config->options->segments, bytes = config->options->segment_bytes;
    double requests = bytes / service->request_bytes, responses = bytes / service->response_bytes;
    double host_per_ns = service->lowest_per_ns / config->apps, round_ns = 2 * config->pcie->latency_ns;
    /* A segment is read when the table has room for its last request. What is served while the table holds it
     * fills a burst at once. */
    double read_ns = kvc_bluecache_in_ns(config, bytes) + fmax(requests - config->table, 0) / host_per_ns;
    double filled_ns = kvc_bluecache_out_ns(config, bytes) + fmax(responses - config->table, 0) / host_per_ns;
    return config->apps * segments *
           fmin(requests / (read_ns + round_ns), responses / (filled_ns + round_ns));
}

/* Returns the number of requests that arrive at a host during a flush, at least one. */
static double added_requests(const struct service *service, double host_per_ns)
{
    double requests = 1;
    for (int i = 0; i < 100; i++) {
        requests = fmax(host_per_ns * flush_ns(service, requests), 1);
    }
    return requests;
}

static struct flow saturated(const struct kvc_bluecache_config *config, const struct service *service)
{
    double outstanding = (double)config->options->outstanding, apps = config->apps;
    double kept = config->options->segment_bytes * (1 / service->request_bytes + 1 / service->response_bytes);
    double flushed_per_ns = apps * outstanding / (flush_ns(service, outstanding) + service->away_ns);
    double full_per_ns = apps * (outstanding - kept) / (service->alone_ns + service->away_ns);
    double per_ns = fmin(fmax(flushed_per_ns, full_per_ns), service->most_per_ns);
    return (struct flow){.per_ns = per_ns,
                         .flush_ns = service->alone_ns,
                         .latency_ns = apps * outstanding / per_ns,
                         .together = flushed_per_ns > full_per_ns ? outstanding : INFINITY};
}

static struct flow closed(const struct kvc_scenario *scenario, const struct service *service)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    double clients = (double)scenario->workload.clients, think_ns = scenario->workload.think_ns;
    double together = fmax(clients / config->apps, 1);
    double cycle_ns =
        fmax(flush_ns(service, together) + service->away_ns + think_ns, config->options->flush_pause_ns);
    double per_ns = fmin(clients / cycle_ns, service->most_per_ns);
    return (struct flow){.per_ns = per_ns,
                         .flush_ns = service->alone_ns,
                         .latency_ns = clients / per_ns - think_ns,
                         .together = together};
}

/* A request of an open load waits for half of the flush during which it comes, if there is one. */
static struct flow opened(const struct kvc_scenario *scenario, const struct service *service)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    double offered_per_ns = kvc_workload_rate_max_mops(&scenario->workload) * 1e-3;
    struct flow flow = {.per_ns = fmin(service->most_per_ns, offered_per_ns), .together = INFINITY};
    if (offered_per_ns < service->most_per_ns) {
        double host_per_ns = offered_per_ns / config->apps;
        struct service left = *service; /* Capacity that the other hosts leave. */
        left.lowest_per_ns -= offered_per_ns - host_per_ns;
        double during = host_per_ns * service->alone_ns;
        flow.waits_frac = scenario->workload.arrival == KVC_ARRIVAL_FIXED ? during >= 1 : 1 - exp(-during);
        flow.together = added_requests(&left, host_per_ns);
        flow.flush_ns = flush_ns(&left, flow.together);
    }
    return flow;
}

static struct flow flow_of_service(const struct kvc_scenario *scenario, const struct service *service)
{
    switch (scenario->workload.arrival) {
    case KVC_ARRIVAL_SATURATE:
        return saturated(kvc_bluecache_config_of(scenario), service);
    case KVC_ARRIVAL_CLOSED:
        return closed(scenario, service);
    default:
        return opened(scenario, service);
    }
}

/* Returns the segments or bursts that `together` messages of some bytes and an end mark fill on average. */
static double messages_per_segment(const struct kvc_scenario *scenario, double together, double bytes)
{
    double segment_bytes = kvc_bluecache_config_of(scenario)->options->segment_bytes;
    return isinf(together) ? segment_bytes / bytes
                           : together / ceil((together * bytes + KVC_BLUECACHE_HEADER_BYTES) / segment_bytes);
}

/* ---- wear ---- */

static const double day_ns = 86400e9, year_days = 365.25;

void kvc_bluecache_add_wear(const struct kvc_scenario *scenario, const struct kvc_bluecache_writes *writes,
                            struct kvc_result *result)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    const struct kvc_flash_geometry *geometry = &config->geometry;
    double pages = config->stores * kvc_bluecache_log_pages(geometry);
    double erases = writes->pages / pages / writes->time_ns * day_ns;
    struct kvc_metrics *model = &result->model;
    kvc_metrics_set_ratio(model, "write_amplification_ratio", writes->pages * geometry->page_bytes,
                          writes->set_bytes);
    kvc_metrics_set(model, "erases_per_block_per_day", erases);
    if (config->flash->endurance > 0) {
        kvc_metrics_set_ratio(model, "rated_life_years", config->flash->endurance / year_days, erases);
    }
}

/* Mean costs of a request. */
struct loads {
    double in_ns, out_ns, dram_ns; /* Times on PCIe of a host, and in the DRAM of a store [ns]. */
    struct kvc_flash_load pages;   /* Reads, and operations of the log for it. */
    struct kvc_flash_busy flash;
    double read_ns;      /* Time of one read that waits nowhere [ns]. */
    double flash_ns;     /* Time of reads per request [ns]. */
    double stream_ns;    /* Time of all pages of a request on the shared parts of the flash [ns]. */
    double record_pages; /* Reads of a GET from flash. */
    double request_bytes, response_bytes;
    double card_ns;     /* Time from the host's card to the store and back, without waiting [ns]. */
    double latency_ns;  /* Latency of the cache, without waiting [ns]. */
    double edge_ns;     /* Time on the busiest link [ns]. */
    double database_ns; /* Time for which a request keeps the database busy [ns]. */
    double away_ns;     /* Time for which a request waits for the database [ns]. */
};

/* The highest rates of all requests [per ns]. */
struct limits {
    double in, out, dram, controller, channels, chips, interface, tags, table, fabric, call, wake, database;
    double lowest, cache; /* The lowest of all, and the lowest without the database. */
};

/* Returns the mean time that the busiest link spends on a request [ns], with the same traffic between all
 * pairs of host and store; *hops becomes the mean number of hops. */
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

/* Sets the costs of a request on flash. */
static void set_flash(const struct kvc_scenario *scenario, const struct places *places, double get,
                      struct loads *loads)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    const struct kvc_flash *flash = config->flash;
    uint32_t key = (uint32_t)lround(kvc_workload_key_bytes_requested(&scenario->workload));
    uint32_t value = (uint32_t)lround(kvc_workload_value_bytes_requested(&scenario->workload));
    double programs = places->written * kvc_bluecache_record_pages(config, key, value);
    loads->record_pages = kvc_bluecache_pages(config, key, value);
    loads->pages = (struct kvc_flash_load){
        .reads = get * places->flash * loads->record_pages,
        .read_bytes = kvc_bluecache_fetched_bytes(config, key, value),
        .programs = programs,
        .erases = programs / (double)flash->pages_per_block,
    };
    loads->flash = kvc_flash_busy_of(flash, &loads->pages);
    const struct kvc_flash_load reads = {.reads = loads->pages.reads, .read_bytes = loads->pages.read_bytes};
    const struct kvc_flash_busy streams = kvc_flash_busy_of(flash, &reads);
    loads->stream_ns = kvc_flash_shared_ns(&streams);
    loads->read_ns = kvc_flash_read_ns(flash, loads->pages.read_bytes);
    loads->flash_ns = get * places->flash * loads->read_ns;
}

static struct loads loads_of(const struct kvc_scenario *scenario, const struct places *places,
                             const struct kvc_cache_aside_mix *mix)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    uint32_t key = (uint32_t)lround(kvc_workload_key_bytes_requested(workload));
    uint32_t value = (uint32_t)lround(kvc_workload_value_bytes_requested(workload));
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
    /* Pages of a pair cross PCIe as they come. */
    loads.latency_ns += (1 - 1 / loads.record_pages) * fmax(loads.stream_ns - loads.out_ns, 0);
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

/* Returns the time for which a request occupies a flash whose controllers visit chips in turn, with
 * `reads` reads in it at any time [ns]. */
static double turns_ns(const struct kvc_flash *flash, const struct kvc_flash_load *pages, double reads)
{
    const struct kvc_flash_load programs = {.programs = pages->programs};
    return pages->reads / kvc_flash_turns_reads_per_s(flash, pages->read_bytes, reads) * 1e9 +
           kvc_flash_busy_of(flash, &programs).channels_ns;
}

/* Returns the time for which a request occupies the tags of a store [ns]. If controllers visit chips in turn,
 * it depends on the number of reads in the flash. With a saturating host, this is the number of requests in
 * flight that are in the flash; otherwise it is the number of tags, because clients flush their requests
 * together. */
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
    /* The store with the most requests limits all. */
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

/* Returns the power of all nodes that profiles state [W]; 0: unknown. */
static double watts_of(const struct kvc_bluecache_config *config, const struct limits *limits, double per_ns)
{
    const struct kvc_watts flash = kvc_flash_watts(config->flash);
    double limit = fmin(fmin(limits->channels, limits->controller), limits->interface);
    double flash_w = flash.idle_w + fmin(per_ns / limit, 1) * (flash.all_w - flash.idle_w);
    return config->nodes * (config->fpga->power_w + flash_w);
}

static void add_result(const struct kvc_scenario *scenario, const struct limits *limits,
                       const struct places *places, double per_ns, struct kvc_result *result)
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

/* Returns rate and latency with flushes, and adds how many messages share a segment. */
static struct flow flow_of(const struct kvc_scenario *scenario, const struct loads *loads,
                           const struct limits *limits, struct kvc_result *result)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    double units = 1; /* One server, or servers that share the load evenly. */
    if (limits->cache >= limits->dram) {
        units = config->stores * config->dram_channels;
    } else if (limits->cache >= limits->channels ||
               (config->flash->poll_ns > 0 && limits->cache >= limits->tags)) {
        units = config->stores * kvc_flash_channels(config->flash);
    } else if (limits->cache >= limits->chips) {
        units = config->stores * kvc_flash_chips(config->flash);
    }
    struct service service = {.alone_ns = loads->latency_ns,
                              .away_ns = loads->away_ns,
                              .lowest_per_ns = limits->cache,
                              .units = units,
                              .request_bytes = loads->request_bytes,
                              .response_bytes = loads->response_bytes};
    double segments_per_ns = segments_per_ns_of(scenario, &service);
    service.lowest_per_ns = fmin(limits->cache, segments_per_ns);
    service.most_per_ns = fmin(limits->lowest, segments_per_ns);
    struct flow flow = flow_of_service(scenario, &service);
    kvc_metrics_set(&result->model, "segments_limit_mops", segments_per_ns * 1e3);
    kvc_metrics_set(&result->model, "requests_per_segment",
                    messages_per_segment(scenario, flow.together, loads->request_bytes));
    kvc_metrics_set(&result->model, "responses_per_interrupt",
                    messages_per_segment(scenario, flow.together, loads->response_bytes));
    return flow;
}

/* Sets the latencies: GETs from flash also wait for their reads, and requests that ask the database for it.
 */
static void set_latencies(const struct kvc_scenario *scenario, const struct loads *loads,
                          const struct kvc_cache_aside_mix *mix, const struct flow *flow,
                          struct kvc_result *result)
{
    struct kvc_latency_law law = {.assumes =
                                      "they come evenly during the flush that they wait for, and a flush "
                                      "meets those of other hosts by chance only"};
    double asks = loads->away_ns > 0 ? mix->queries + mix->updates : 0;
    double reads = loads->flash_ns > 0 ? loads->flash_ns / loads->read_ns : 0;
    double least_ns = flow->flush_ns - loads->flash_ns;
    const struct {
        double share, more_ns;
    } kinds[] = {{1 - asks - reads, 0}, {reads, loads->read_ns}, {asks, loads->away_ns / fmax(asks, 1e-300)}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        double ns = least_ns + kinds[i].more_ns;
        kvc_latency_add(&law, kinds[i].share * (1 - flow->waits_frac), ns, 0);
        kvc_latency_add(&law, kinds[i].share * flow->waits_frac, ns, flow->flush_ns);
    }
    kvc_latency_closed(&law, flow->latency_ns);
    kvc_result_set_latencies(result, &law, &scenario->workload);
}

enum kvc_status kvc_bluecache_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                      struct kvc_diag *diag)
{
    (void)diag; /* The scenario was checked when it was loaded. */
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    struct places places = places_of(scenario);
    struct kvc_cache_aside_mix mix =
        kvc_cache_aside_mix_of(workload, config->database != NULL, 1 - places.none);
    struct loads loads = loads_of(scenario, &places, &mix);
    struct limits limits = limits_of(scenario, &loads, &mix);
    struct flow flow = flow_of(scenario, &loads, &limits, result);
    result->throughput_mops = flow.per_ns * 1e3;
    set_latencies(scenario, &loads, &mix, &flow, result);
    add_result(scenario, &limits, &places, flow.per_ns, result);
    const struct kvc_bluecache_writes writes = {
        .set_bytes = mix.set * (kvc_workload_key_bytes_requested(workload) +
                                kvc_workload_value_bytes_requested(workload)),
        .pages = loads.pages.programs,
        .time_ns = 1 / flow.per_ns,
    };
    kvc_bluecache_add_wear(scenario, &writes, result);
    kvc_bluecache_add_capacity(scenario, result);
    result->watts_mean = watts_of(config, &limits, flow.per_ns);
    kvc_missing_add(result->watts_missing, config->fpga->power_w > 0 ? "" : "fpga");
    kvc_missing_add(result->watts_missing, isnan(config->flash->busy_watts) ? "flash" : "");
    return KVC_OK;
}
