#include "models/memcached/config.h"

#include <math.h>

#include "kernels/memcachedgpu/chained.h"
#include "kernels/mica/mica.h"
#include "models/memcached/costs.h"
#include "models/model.h"
#include "sim/devices/flash/flash_translation.h"
#include "sim/devices/network.h"
#include "sim/workload/keys/reuse.h"

enum {
    LINE_BYTES = 64,
    SLICE_MOST_NS = 25000,
    SLICE_LEAST_NS = 100, /* Below, most of a run would be the engine's work between slices. */
};

/* Bytes that a request for a key touches: the line of its bucket and those of its item. */
static struct kvc_reuse reuse_of(const struct kvc_scenario *scenario, enum kvc_memcached_kind kind)
{
    const struct kvc_workload *workload = &scenario->workload;
    double item = kvc_workload_key_bytes_mean(workload) + sizeof(struct kvc_chained_entry);
    double bucket = LINE_BYTES;
    if (kind == KVC_MEMCACHED_MICA) {
        item = kvc_workload_key_bytes_mean(workload) + kvc_workload_value_bytes_mean(workload) +
               KVC_MICA_HEADER_BYTES;
        bucket = 2 * LINE_BYTES;
    }
    double bytes = bucket + ceil(item / LINE_BYTES) * LINE_BYTES;
    double keys = (double)workload->keys / (double)kvc_scenario_shards(scenario);
    return (struct kvc_reuse){.bytes_per_key = bytes, .footprint_bytes = bytes * keys};
}

/* Sets what a line of the table costs a thread. */
static void set_memory(const struct kvc_scenario *scenario, struct kvc_memcached_config *config)
{
    if (config->kind == KVC_MEMCACHED_FPGA) { /* Its stalls are part of the pipeline's depth. */
        config->memory_ns = kvc_fpga_dram_ns(config->fpga, LINE_BYTES);
        return;
    }
    const struct kvc_reuse reuse = reuse_of(scenario, config->kind);
    const struct kvc_dram_load line = {.random_reads = 1};
    if (scenario->workload.arrival != KVC_ARRIVAL_TRACE && config->cpu->llc_bytes > 0) {
        kvc_reuse_shares(&scenario->workload, &reuse, &config->cpu->llc_bytes, 1, &config->llc_frac);
    }
    config->llc_ns = kvc_cpu_llc_hit_ns(config->cpu);
    config->line_ns =
        config->llc_frac * config->llc_ns + (1 - config->llc_frac) * config->dram->random_line_ns;
    config->memory_ns =
        (1 - config->llc_frac) * kvc_dram_channel_ns(config->dram, &line) / kvc_dram_channels(config->dram);
}

/* Fills in what the four servers have in common. */
static void set_common(const struct kvc_scenario *scenario, struct kvc_memcached_config *config,
                       enum kvc_memcached_kind kind)
{
    const struct kvc_memcached_options *options = scenario->options;
    const struct kvc_workload *workload = &scenario->workload;
    double shards = kvc_scenario_shards(scenario);
    *config = (struct kvc_memcached_config){.kind = kind,
                                            .options = options,
                                            .nic = kvc_nic_of(&scenario->node),
                                            .cpu = kvc_cpu_of(&scenario->node),
                                            .dram = kvc_dram_of(&scenario->node),
                                            .fpga = kvc_fpga_of(&scenario->node),
                                            .database = kvc_database_of(&scenario->node),
                                            .threads = 1,
                                            .rings = 1,
                                            .burst = 1,
                                            .outstanding = (uint32_t)options->outstanding,
                                            .overlap = 1};
    double bytes = (double)config->nic->request_header_bytes + kvc_workload_key_bytes_mean(workload);
    config->path_ns = kvc_network_path_ns(&scenario->node, kvc_nic_wire_bytes(config->nic, bytes));
    config->room = (uint32_t)config->nic->ring_frames;
    config->key_bytes_max = kvc_workload_key_bytes_max(workload);
    if (kind == KVC_MEMCACHED_FPGA) {
        config->cycle_ns = kvc_fpga_cycle_ns(config->fpga);
        config->price_usd = shards * options->price_usd;
    } else {
        config->cycle_ns = 1e9 / config->cpu->clock_hz;
        config->price_usd = shards * config->cpu->price_usd;
    }
    set_memory(scenario, config);
}

static enum kvc_status check_key(const struct kvc_scenario *scenario, uint64_t room, struct kvc_diag *diag)
{
    uint32_t longest = kvc_workload_key_bytes_max(&scenario->workload);
    if (longest > room) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.key: found keys of up to %u bytes, allowed are %llu", longest,
                             (unsigned long long)room);
    }
    return KVC_OK;
}

/* Returns the power of two of buckets that memcached's table has once it holds all keys that fit: it grows
 * beyond 1.5 items in a bucket. */
static uint32_t buckets_for(const struct kvc_scenario *scenario, uint64_t entries)
{
    double keys = (double)scenario->workload.keys / (double)kvc_scenario_shards(scenario);
    double items = fmin(keys, (double)entries);
    uint32_t buckets = 1;
    while (buckets < UINT32_C(1) << 31 && 1.5 * buckets < items) {
        buckets *= 2;
    }
    return buckets;
}

/* Sets what holds for connections. Clients on other machines have the same cores. Packets for an instance of
 * Fatcache interrupt its own core, also while it waits for its SSD. */
static void set_tcp(struct kvc_memcached_config *config)
{
    const struct kvc_memcached_options *options = config->options;
    config->tcp = true;
    config->loopback = options->loopback;
    config->owned = config->loopback || config->kind == KVC_MEMCACHED_FATCACHE;
    config->staged = !config->owned;
    config->rings = (uint32_t)fmin(config->threads, (double)config->nic->queues);
    config->wake_ns = config->cycle_ns * options->wake_cycles;
    double client_ns = config->cycle_ns * kvc_memcached_tcp_cycles(config) + config->wake_ns;
    config->path_ns = (config->loopback ? 0 : config->path_ns) + client_ns / 2;
}

enum kvc_status kvc_memcached_resolve(const struct kvc_scenario *scenario, void *into, struct kvc_diag *diag)
{
    struct kvc_memcached_config *config = into;
    const struct kvc_memcached_options *options = scenario->options;
    set_common(scenario, config, KVC_MEMCACHED_VANILLA);
    config->threads = config->rings = (uint32_t)options->threads;
    config->buckets = buckets_for(scenario, options->entries);
    config->cycle_ns *= options->cycles_ratio;
    config->staged = config->shared = options->network == KVC_MEMCACHED_KERNEL;
    config->polls = options->network == KVC_MEMCACHED_PF_RING;
    config->locks_gets = options->lock == KVC_MEMCACHED_LOCK_GLOBAL;
    config->locks_sets = true;
    if (config->staged) {
        config->room = (uint32_t)options->backlog;
    }
    if (options->network == KVC_MEMCACHED_TCP) {
        set_tcp(config);
    } else if (options->loopback) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.loopback: found true, allowed is false with system.network = \"%s\"",
                             options->network == KVC_MEMCACHED_KERNEL ? "kernel" : "pf_ring");
    }
    if (options->threads > config->cpu->cores) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.threads: found %llu, allowed are 1 to %llu, the cores of a socket",
                             (unsigned long long)options->threads, (unsigned long long)config->cpu->cores);
    }
    return check_key(scenario, options->key_room, diag);
}

enum kvc_status kvc_memcached_mica_resolve(const struct kvc_scenario *scenario, void *into,
                                           struct kvc_diag *diag)
{
    struct kvc_memcached_config *config = into;
    const struct kvc_memcached_options *options = scenario->options;
    double log_bytes = options->log_bytes, pair = kvc_workload_key_bytes_max(&scenario->workload);
    pair += kvc_workload_value_bytes_max(&scenario->workload) + KVC_MICA_HEADER_BYTES + 16;
    set_common(scenario, config, KVC_MEMCACHED_MICA);
    config->threads = config->rings = (uint32_t)config->cpu->cores;
    config->burst = (uint32_t)options->burst;
    config->owned = options->client_assisted;
    config->staged = !config->owned;
    double sockets = (double)scenario->node.sockets;
    config->move_ns = config->llc_ns / sockets + (1 - 1 / sockets) * options->remote_line_ns;
    config->offline = options->feed == KVC_MEMCACHED_FROM_MEMORY;
    config->path_ns = config->offline ? 0 : config->path_ns;
    config->polls = true;
    config->overlap = (double)options->fill_buffers;
    if (config->offline && !config->owned) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.client_assisted: found false, allowed is true with system.feed = \"memory\"");
    }
    if (config->threads > KVC_MICA_PARTITIONS_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "node.cpu: found %u cores, allowed are 1 to %d partitions", config->threads,
                             KVC_MICA_PARTITIONS_MAX);
    }
    if (log2(log_bytes) != floor(log2(log_bytes))) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.log: found %.0f bytes, allowed is a power of two", log_bytes);
    }
    if (pair > fmin(KVC_MICA_ITEM_MAX, log_bytes)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload: found pairs of up to %.0f bytes, allowed are %.0f", pair,
                             fmin(KVC_MICA_ITEM_MAX, log_bytes));
    }
    return KVC_OK;
}

uint64_t kvc_memcached_disk_pages(const struct kvc_memcached_config *config)
{
    return (uint64_t)config->slabs.disk_slabs * config->threads * kvc_memcached_slab_pages(&config->slabs);
}

/* A socket has one SSD, of which each instance has an equal part. */
static enum kvc_status set_slabs(const struct kvc_scenario *scenario, struct kvc_memcached_config *config,
                                 struct kvc_diag *diag)
{
    const struct kvc_memcached_options *options = config->options;
    double pair = kvc_workload_key_bytes_max(&scenario->workload);
    pair += kvc_workload_value_bytes_max(&scenario->workload) + KVC_MEMCACHED_SLAB_ITEM_BYTES;
    config->slabs = (struct kvc_memcached_slab_sizes){
        .memory_slabs = (uint32_t)(options->slab_memory_bytes / KVC_MEMCACHED_SLAB_BYTES),
        .disk_slabs = (uint32_t)(options->disk_bytes / KVC_MEMCACHED_SLAB_BYTES / config->threads),
        .page_bytes = (uint32_t)config->flash->page_bytes};
    /* A slab takes whole pages. */
    double slab_bytes = (double)kvc_memcached_slab_pages(&config->slabs) * config->flash->page_bytes;
    double most = floor(kvc_flash_bytes(config->flash) / (slab_bytes * config->threads));
    if (config->slabs.disk_slabs < 1 || config->slabs.disk_slabs > most) {
        double each = config->threads * (double)KVC_MEMCACHED_SLAB_BYTES / 0x1p30;
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.disk: found %.4g GiB, allowed are %.4g to %.4g GiB: a slab of 1 MiB for each "
            "instance, and no more than the SSD has",
            options->disk_bytes / 0x1p30, each, most * each);
    }
    if (pair > KVC_MEMCACHED_SLAB_BYTES) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload: found items of up to %.0f bytes, allowed are %d, a slab", pair,
                             KVC_MEMCACHED_SLAB_BYTES);
    }
    return kvc_flash_translation_check(config->flash, kvc_memcached_disk_pages(config), diag);
}

enum kvc_status kvc_memcached_fatcache_resolve(const struct kvc_scenario *scenario, void *into,
                                               struct kvc_diag *diag)
{
    struct kvc_memcached_config *config = into;
    const struct kvc_memcached_options *options = scenario->options;
    set_common(scenario, config, KVC_MEMCACHED_FATCACHE);
    config->flash = kvc_flash_of(&scenario->node);
    config->threads = (uint32_t)options->threads;
    config->buckets = buckets_for(scenario, options->entries);
    config->cycle_ns *= options->cycles_ratio;
    set_tcp(config);
    config->io_ns = config->cycle_ns * options->crossing_cycles + config->wake_ns;
    enum kvc_status status = check_key(scenario, options->key_room, diag);
    return status == KVC_OK ? set_slabs(scenario, config, diag) : status;
}

enum kvc_status kvc_memcached_fpga_resolve(const struct kvc_scenario *scenario, void *into,
                                           struct kvc_diag *diag)
{
    struct kvc_memcached_config *config = into;
    const struct kvc_memcached_options *options = scenario->options;
    uint64_t ways = options->ways;
    set_common(scenario, config, KVC_MEMCACHED_FPGA);
    config->depth_ns = options->depth_cycles * config->cycle_ns;
    config->polls = true;
    if ((ways & (ways - 1)) != 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "system.ways: found %llu, allowed are 1, 2, 4, 8 and 16",
                             (unsigned long long)ways);
    }
    return check_key(scenario, options->key_room, diag);
}

/* Returns the least time from the moment when a thread is done with a request until its client sends the next
 * one [ns]. */
static double turn_ns(const struct kvc_scenario *scenario)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    return config->depth_ns + config->path_ns + scenario->workload.think_ns;
}

bool kvc_memcached_goes_on(const struct kvc_scenario *scenario)
{
    return scenario->workload.arrival == KVC_ARRIVAL_CLOSED && kvc_scenario_shards(scenario) == 1;
}

double kvc_memcached_slice_ns(const struct kvc_scenario *scenario)
{
    if (kvc_memcached_goes_on(scenario)) {
        return KVC_MEMCACHED_WINDOW_NS;
    }
    if (scenario->workload.arrival != KVC_ARRIVAL_CLOSED) {
        return SLICE_MOST_NS;
    }
    return KVC_MEMCACHED_WINDOW_NS / ceil(KVC_MEMCACHED_WINDOW_NS / fmin(turn_ns(scenario), SLICE_MOST_NS));
}

static enum kvc_status check_arrival(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    int arrival = scenario->workload.arrival;
    if (arrival == KVC_ARRIVAL_TRACE) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.arrival: found a trace, allowed with %s: saturate, clients, "
                             "poisson_mops, fixed_mops or curve",
                             scenario->model->name);
    }
    if (kvc_memcached_config_of(scenario)->offline && arrival != KVC_ARRIVAL_SATURATE) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.arrival: found %s, allowed with system.feed = \"memory\": saturate",
                             arrival == KVC_ARRIVAL_CLOSED ? "clients" : "an open load");
    }
    if (kvc_memcached_config_of(scenario)->tcp && arrival != KVC_ARRIVAL_SATURATE &&
        arrival != KVC_ARRIVAL_CLOSED) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.arrival: found an open load, allowed over TCP: saturate or clients, "
                             "because a connection makes its client wait");
    }
    if (arrival == KVC_ARRIVAL_CLOSED && !kvc_memcached_goes_on(scenario) &&
        turn_ns(scenario) < SLICE_LEAST_NS) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.arrival: found clients that send again %g ns after the server is done, allowed are at "
            "least %d ns: state the latency of node.nic or node.network, or workload.arrival.think",
            turn_ns(scenario), SLICE_LEAST_NS);
    }
    return KVC_OK;
}

/* The servers simulate themselves, so that they cannot share a database. An update of the application may
 * delete keys of other servers, too, if it has actions. */
static enum kvc_status check_database(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    uint32_t servers = kvc_scenario_shards(scenario);
    bool own = scenario->cluster.database == KVC_CLUSTER_PER_NODE && scenario->node.sockets == 1;
    if (kvc_memcached_config_of(scenario)->database == NULL) {
        return KVC_OK;
    }
    if (servers > 1 && !own) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "node.database: found one behind %u servers, allowed with %s: 1 node with 1 socket, or nodes with "
            "1 socket and cluster.database = \"per_node\"",
            servers, scenario->model->name);
    }
    if (servers > 1 && scenario->workload.action_count > 0) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.actions: found actions with %u servers, allowed with %s: 1 node with 1 socket, because "
            "an update deletes keys of other nodes, too",
            servers, scenario->model->name);
    }
    if (scenario->run.change_count > 0) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "run.changes: found changes with node.database, allowed: one of the two, because "
            "an outage stops the server with its clients");
    }
    return KVC_OK;
}

enum kvc_status kvc_memcached_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    enum kvc_status status = check_arrival(scenario, diag);
    status = status == KVC_OK ? check_database(scenario, diag) : status;
    if (status != KVC_OK) {
        return status;
    }
    if (workload->frame_requests > 1) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.per_frame: found %llu, allowed is 1, because a packet has one request",
                             (unsigned long long)workload->frame_requests);
    }
    if (scenario->run.functional != KVC_FUNCTIONAL_FULL) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "run.functional: found %s, allowed with %s: full, because every request takes the real "
            "table",
            scenario->run.functional == KVC_FUNCTIONAL_OFF ? "off" : "sampled", scenario->model->name);
    }
    return kvc_nic_check_queues(config->nic, config->rings, diag);
}
