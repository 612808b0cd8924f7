#include "models/composed/composed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/composed/check_structures.h"
#include "models/composed/config.h"
#include "models/composed/machine.h"
#include "models/composed/closed_form/batches.h"
#include "models/composed/closed_form/mix.h"
#include "models/composed/pipeline.h"
#include "models/composed/flow/outages.h"
#include "models/composed/flow/phases.h"
#include "models/composed/flow/policy.h"
#include "models/composed/flow/prices.h"
#include "models/composed/flow/stalls.h"
#include "models/composed/predict.h"
#include "models/composed/resources.h"
#include "models/composed/server.h"
#include "models/latency.h"
#include "models/simulate.h"
#include "sim/base/array.h"
#include "sim/devices/database.h"
#include "sim/devices/flash/flash_translation.h"
#include "sim/devices/fpga.h"
#include "sim/devices/network.h"
#include "sim/devices/socket.h"
#include "sim/run/replica_memory.h"
#include "sim/run/slices/slice_mover.h"
#include "sim/run/slices/slice_outages.h"
#include "sim/workload/phases.h"

/* ---- simulation ---- */

/* Slices are short while clocks, outages or phases may change what the server is capable of. */
static const double slice_most_ns = 100e3, slice_of_clients_ns = 20e3, slice_of_changes_ns = 5e3,
                    slice_least_ns = 1e3;

/* A server and its use of a socket. Its links are its own unless they meet in a root complex. */
struct user {
    struct kvc_composed_server server;
    struct kvc_socket device;
    int32_t on_part[KVC_COMPOSED_PARTS]; /* Hosts of its card. */
    struct kvc_slice_mover cpu, dram, cxl, gpu, rx, tx, down, up, database, flash, part[KVC_COMPOSED_PARTS];
    /* What is already posted to the engine [ns]. */
    double cpu_ns, channel_ns, cxl_ns, rx_ns, tx_ns, down_ns, up_ns, database_ns, flash_ns;
    double part_ns[KVC_COMPOSED_PARTS];
    double gpu_ns; /* Time of the whole card that kernels have taken [ns]. */
    struct kvc_slice_outages outages;
    double ended_ns; /* End of the latest slice. */
    bool off;        /* Whether the server was stopped when the latest slice ended. */
};

/* Counters of all servers since they were opened. */
struct sums {
    struct kvc_index_stats index, hot_index;
    struct kvc_megakv_slab_stats slab, hot_slab;
    double stage_requests[KVC_COMPOSED_STAGES_MAX], stage_wait_ns[KVC_COMPOSED_STAGES_MAX];
    double flash_reads, flash_programs, gpu_ns, stalled_ns;
    uint32_t cores; /* That meet stalls. */
};

struct simulation {
    struct kvc_replica replica;
    const struct kvc_scenario *scenario;
    const struct kvc_composed_stores *stores; /* NULL: there are none. */
    const struct kvc_platform *platform;
    struct kvc_composed_devices *devices;
    struct user *users;
    uint32_t count;
    struct kvc_slice_server *servers;
    struct kvc_slices slices;
    struct sums first, last;
};

static void set_busy(const void *data, double *busy_ns)
{
    const struct kvc_composed_server *server = &((const struct user *)data)->server;
    for (uint32_t i = 0; i < server->config->stages; i++) {
        bool storage = kvc_composed_is_storage(server->config->stage[i].place);
        busy_ns[i] = storage ? server->storage.busy_ns[i] : server->busy_ns[i];
    }
}

/* Follows the clocks of the socket, where they may change. */
static void set_pace(struct user *user)
{
    struct kvc_composed_pace *pace = &user->server.pace;
    const struct kvc_composed_pace before = *pace;
    if (!user->cpu.alone) {
        pace->core_speed =
            kvc_cpu_pstate_speed(user->server.config->cpu, kvc_engine_pstate((uint32_t)user->device.cpu));
    }
    if (user->server.gpu != NULL && !user->gpu.alone) {
        pace->gpu_clock = kvc_engine_pstate((uint32_t)user->device.gpu);
    }
    if (pace->core_speed != before.core_speed || pace->gpu_clock != before.gpu_clock) {
        kvc_composed_forget_prices(&user->server);
    }
}

static void follow_outages(struct user *user)
{
    struct kvc_composed_server *server = &user->server;
    const int32_t hosts[KVC_COMPOSED_PLACES] = {
        [KVC_COMPOSED_CPU] = user->device.cpu,
        [KVC_COMPOSED_GPU] = server->gpu != NULL ? user->device.gpu : KVC_SOCKET_NONE,
        [KVC_COMPOSED_CARD_CPU] = user->on_part[KVC_COMPOSED_PART_CORES],
        [KVC_COMPOSED_FPGA] = user->on_part[KVC_COMPOSED_PART_FPGA]};
    static const enum kvc_composed_place places[] = {KVC_COMPOSED_CPU, KVC_COMPOSED_GPU,
                                                     KVC_COMPOSED_CARD_CPU, KVC_COMPOSED_FPGA};
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        if (hosts[places[i]] != KVC_SOCKET_NONE) {
            kvc_composed_outages_follow(server, places[i],
                                        kvc_engine_host_outage((uint32_t)hosts[places[i]]));
        }
    }
}

static uint64_t advance(void *data, double until_ns)
{
    struct user *user = data;
    struct kvc_composed_server *server = &user->server;
    uint64_t served = server->served;
    struct kvc_slice_stop stop =
        kvc_slice_outages_split(&user->outages, until_ns - user->ended_ns, &user->off);
    kvc_composed_phases_follow(server, user->ended_ns);
    user->ended_ns = until_ns;
    set_pace(user);
    if (stop.before_ns > 0) {
        kvc_composed_server_stop(server, stop.before_ns);
    }
    follow_outages(user);
    kvc_composed_server_advance(server, until_ns - stop.after_ns, until_ns);
    if (stop.after_ns > 0) {
        kvc_composed_server_stop(server, stop.after_ns);
    }
    return server->served - served;
}

/* Posts the use of the parts of a card; its cores, and the stages of an FPGA, work side by side. */
static void share_card(struct user *user)
{
    const struct kvc_composed_server *server = &user->server;
    const struct kvc_composed_config *config = server->config;
    double stages = 0;
    for (uint32_t i = 0; i < config->stages; i++) {
        stages += config->stage[i].place == KVC_COMPOSED_FPGA;
    }
    const double busy_ns[KVC_COMPOSED_PARTS] = {
        [KVC_COMPOSED_PART_CORES] = config->card_cores.cpu != NULL ? server->place_ns[KVC_COMPOSED_CARD_CPU] /
                                                                         (double)config->card_cores.cpu->cores
                                                                   : 0,
        [KVC_COMPOSED_PART_FPGA] = server->place_ns[KVC_COMPOSED_FPGA] / fmax(stages * config->pipelines, 1),
        [KVC_COMPOSED_PART_MEMORY] = server->shared_ns[KVC_COMPOSED_CARD_MEMORY],
        [KVC_COMPOSED_PART_DMA] = server->shared_ns[KVC_COMPOSED_DMA]};
    for (uint32_t i = 0; i < KVC_COMPOSED_PARTS; i++) {
        if (user->on_part[i] != KVC_SOCKET_NONE) {
            kvc_slice_mover_post_busy(&user->part[i], &user->part_ns[i], busy_ns[i], 1);
        }
    }
}

/* Posts the use of the socket since the last call. */
static void share(void *data)
{
    struct user *user = data;
    struct kvc_composed_server *server = &user->server;
    const struct kvc_composed_config *config = server->config;
    const double *place_ns = server->place_ns;
    double channel_ns = server->channel_ns - user->channel_ns;
    /* The cores work side by side. */
    double cpu_ns = config->thread_cores * (place_ns[KVC_COMPOSED_CPU] - user->cpu_ns);
    kvc_slice_mover_post(&user->cpu, cpu_ns * server->pace.core_speed, cpu_ns / (double)config->cpu->cores);
    user->cpu_ns = place_ns[KVC_COMPOSED_CPU];
    kvc_slice_mover_post(&user->dram, channel_ns, channel_ns / config->host_cores.channels);
    user->channel_ns = server->channel_ns;
    share_card(user);
    if (config->cxl.dram != NULL) {
        kvc_slice_mover_post_busy(&user->cxl, &user->cxl_ns, server->shared_ns[KVC_COMPOSED_CXL_MEMORY], 1);
    }
    if (server->gpu != NULL) {
        double work_ns = kvc_gpu_streams_take_work_ns(server->gpu);
        kvc_slice_mover_post(&user->gpu, work_ns, work_ns);
        user->gpu_ns += work_ns;
    }
    if (config->on_network) {
        double bytes_per_ns = (double)config->nic->ports * config->nic->bytes_per_s * 1e-9;
        kvc_slice_mover_post_busy(&user->rx, &user->rx_ns, place_ns[KVC_COMPOSED_NIC_RX],
                                  bytes_per_ns / config->rx_parts);
        kvc_slice_mover_post_busy(&user->tx, &user->tx_ns, place_ns[KVC_COMPOSED_NIC_TX],
                                  bytes_per_ns / config->tx_parts);
    }
    if (user->device.copy != KVC_SOCKET_NONE) {
        kvc_slice_mover_post_busy(&user->down, &user->down_ns, place_ns[KVC_COMPOSED_PCIE_DOWN],
                                  config->pcie->h2d_bytes_per_s * 1e-9);
        kvc_slice_mover_post_busy(&user->up, &user->up_ns, place_ns[KVC_COMPOSED_PCIE_UP],
                                  config->pcie->d2h_bytes_per_s * 1e-9);
    }
    if (config->flash != NULL) {
        const struct kvc_flash_busy busy = kvc_flash_engine_busy(&server->storage.flash.engine);
        kvc_slice_mover_post_busy(&user->flash, &user->flash_ns, kvc_flash_shared_ns(&busy), 1);
    }
    if (config->database != NULL) {
        kvc_slice_mover_post_busy(&user->database, &user->database_ns,
                                  kvc_database_engine_busy_ns(&server->storage.database), 1);
    }
    server->replica->kernel_ticks += server->structures.ticks;
    server->structures.ticks = 0;
}

static void count(void *data, bool begins)
{
    struct simulation *simulation = data;
    struct sums *sums = begins ? &simulation->first : &simulation->last;
    *sums = (struct sums){0};
    for (uint32_t i = 0; i < simulation->count; i++) {
        const struct kvc_composed_server *server = &simulation->users[i].server;
        const struct kvc_shard *shard = server->structures.shard;
        for (uint32_t j = 0; j < server->config->stages; j++) {
            sums->stage_requests[j] += server->stage_requests[j];
            sums->stage_wait_ns[j] += server->traffic[j].wait_ns;
        }
        sums->gpu_ns += simulation->users[i].gpu_ns;
        uint32_t cores;
        sums->stalled_ns += kvc_composed_stalls_sum_ns(server, &cores);
        sums->cores += cores;
        sums->flash_reads += (double)server->storage.flash.engine.reads;
        sums->flash_programs += (double)server->storage.flash.engine.programs;
        if (shard != NULL) {
            kvc_index_stats_add(&sums->index, &shard->index_stats);
            sums->slab.evicted += shard->slab_stats.evicted;
            sums->slab.reads += shard->slab_stats.reads;
            sums->slab.read_lines += shard->slab_stats.read_lines;
        }
        shard = simulation->users[i].server.structures.hot.shard;
        if (shard != NULL) {
            kvc_index_stats_add(&sums->hot_index, &shard->index_stats);
            sums->hot_slab.evicted += shard->slab_stats.evicted;
        }
    }
    kvc_stalls_sample(&simulation->scenario->node, sums->stalled_ns, &simulation->replica.recorder);
    const struct kvc_composed_config *config = kvc_composed_config_of(simulation->scenario);
    struct kvc_ratio ratio[2 * KVC_COMPOSED_STAGES_MAX];
    for (uint32_t i = 0; i < config->stages; i++) {
        const char *name = config->stage[i].options->name;
        double wait_us = sums->stage_wait_ns[i] * 1e-3;
        ratio[2 * i] = (struct kvc_ratio){
            "stages", name, "wait_us", wait_us, sums->stage_requests[i], KVC_RATIO_OF_ENGINE};
        ratio[2 * i + 1] = (struct kvc_ratio){
            "stages", name, "waiting_requests", wait_us, kvc_engine_now_ns() * 1e-3, KVC_RATIO_OF_ENGINE};
    }
    kvc_recorder_sample(&simulation->replica.recorder, ratio, 2 * config->stages);
}

static void open_machines(void *state, const struct kvc_run_context *context, struct kvc_platform *platform)
{
    struct simulation *simulation = state;
    simulation->scenario = context->scenario;
    simulation->stores = context->state;
    simulation->platform = platform;
    simulation->count = kvc_scenario_shards(context->scenario);
    simulation->devices = kvc_array_of(simulation->count, sizeof(*simulation->devices));
    kvc_composed_machine(context->scenario, platform, simulation->devices);
}

static void set_source(void *state, struct kvc_replica_options *options)
{
    const struct simulation *simulation = state;
    const struct kvc_composed_config *config = kvc_composed_config_of(simulation->scenario);
    options->source.sockets = (uint32_t)simulation->scenario->node.sockets;
    options->source.frame_requests = config->frame_requests;
    options->source.phase_frame_requests = config->phase_frame_requests;
    options->window_ns = kvc_composed_window_ns(simulation->scenario);
}

/* Opens the mover of a host that may change, or stays as it is. */
static void open_host(struct kvc_slice_mover *mover, const struct kvc_platform *platform, int32_t host)
{
    const struct kvc_platform_host *device = kvc_platform_host(platform, (uint32_t)host);
    if (device->pstates == 1 && !device->can_fail) {
        kvc_slice_mover_own_host(mover, (uint32_t)host);
    } else {
        kvc_slice_mover_open_work(mover, (uint32_t)host);
    }
}

/* Opens the mover of a route, whose links have no other users: the server itself lets transfers wait for each
 * other in the root complex. */
static void open_route(struct user *user, struct kvc_slice_mover *mover, int32_t from, int32_t to)
{
    kvc_slice_outages_add_route(&user->outages, (uint32_t)from, (uint32_t)to);
    kvc_slice_mover_own_link(mover, (uint32_t)from, (uint32_t)to);
}

static void open_user(struct simulation *simulation, uint32_t number)
{
    struct user *user = &simulation->users[number];
    struct kvc_replica *replica = &simulation->replica;
    const struct kvc_composed_config *config = kvc_composed_config_of(simulation->scenario);
    const struct kvc_socket device = simulation->devices[number].socket;
    char name[KVC_NAME_MAX];
    user->device = device;
    const struct kvc_composed_expected expected =
        kvc_composed_expect(simulation->scenario, kvc_composed_sent_per_ns(simulation->scenario), NULL);
    kvc_composed_server_open(&user->server, simulation->scenario, simulation->stores, replica, number,
                             &expected);
    user->outages.platform = simulation->platform;
    open_host(&user->cpu, simulation->platform, device.cpu);
    kvc_slice_mover_own_host(&user->dram, (uint32_t)device.dram);
    if (user->server.gpu != NULL) {
        open_host(&user->gpu, simulation->platform, device.gpu);
    }
    for (uint32_t i = 0; i < KVC_COMPOSED_PARTS; i++) {
        user->on_part[i] = simulation->devices[number].part[i];
        if (user->on_part[i] != KVC_SOCKET_NONE) {
            open_host(&user->part[i], simulation->platform, user->on_part[i]);
        }
    }
    if (config->cxl.dram != NULL) {
        kvc_slice_mover_own_host(&user->cxl, (uint32_t)device.cxl);
    }
    if (config->flash != NULL) {
        kvc_slice_mover_own_host(&user->flash, (uint32_t)device.flash);
    }
    if (config->database != NULL) {
        kvc_slice_mover_own_host(&user->database, (uint32_t)device.database);
    }
    if (config->on_network) {
        bool past_host = config->stage[0].options->memory == KVC_COMPOSED_IN_GPU;
        open_route(user, &user->rx, device.clients, past_host ? device.copy : device.dram);
        open_route(user, &user->tx, device.dram, device.clients);
    }
    if (device.copy != KVC_SOCKET_NONE) {
        open_route(user, &user->down, device.dram, device.copy);
        open_route(user, &user->up, device.copy, device.dram);
    }
    bool last = number + 1 == simulation->count;
    simulation->servers[number] =
        (struct kvc_slice_server){.slices = &simulation->slices,
                                  .next = last ? NULL : &simulation->servers[number + 1],
                                  .number = number,
                                  .answers = &user->server.answers,
                                  .advance = advance,
                                  .share = share,
                                  .busy = set_busy,
                                  .data = user};
    snprintf(name, sizeof(name), "server%u", number);
    kvc_timeline_row(replica->context->timeline, number, 0, name, "requests");
}

/* Reads what a power policy sees of a server. Pools of cores beyond the kinds that it knows count as the last
 * one. */
static void count_work(void *data, uint32_t unit, struct kvc_policy_counters *counters)
{
    const struct simulation *simulation = data;
    const struct kvc_composed_server *server = &simulation->users[unit].server;
    const struct kvc_composed_config *config = server->config;
    uint32_t kind = 0;
    *counters = (struct kvc_policy_counters){
        .offered = (double)(server->served + server->in_flight + server->dropped),
        .served = (double)server->served};
    for (uint32_t i = 0; i < config->pools; i++) {
        const struct kvc_composed_pool *pool = &config->pool[i];
        if (pool->place != KVC_COMPOSED_CPU) {
            continue;
        }
        for (uint32_t stages = pool->stages; stages != 0; stages &= stages - 1) {
            counters->busy_ns[kind] += server->busy_ns[__builtin_ctz(stages)];
        }
        counters->possible_ns[kind] += (double)pool->servers * config->pipelines * kvc_engine_now_ns();
        kind += kind + 1 < KVC_POLICY_THREADS;
    }
}

static void open_policy(struct simulation *simulation)
{
    const struct kvc_policy_store store = {.count = count_work, .data = simulation};
    struct kvc_policy_unit *units = kvc_array_of(simulation->count, sizeof(*units));
    uint32_t sockets = (uint32_t)simulation->scenario->node.sockets;
    for (uint32_t i = 0; i < simulation->count; i++) {
        const struct user *user = &simulation->users[i];
        snprintf(units[i].name, sizeof(units[i].name), "node%u.socket%u", i / sockets, i % sockets);
        units[i].cpu = user->device.cpu;
        units[i].gpu = user->server.gpu != NULL ? user->device.gpu : KVC_POLICY_NONE;
        units[i].timeline_row = 1;
    }
    kvc_policy_open(&simulation->replica.policy, &simulation->scenario->power, simulation->platform,
                    simulation->replica.context->timeline, units, simulation->count, &store);
    free(units);
}

/* Returns the length of a slice at most. A client whose next key is on another socket must not send before
 * that socket's slice, so that a slice is no longer than the way from an answer to the next request.
 * Saturating clients send in bursts after each slice in which another socket held them back. */
static double slice_ns_of(const struct kvc_scenario *scenario)
{
    bool changes = scenario->run.change_count > 0 || kvc_power_policy_looks(&scenario->power) ||
                   scenario->workload.phase_count > 0;
    double most_ns = changes ? slice_of_changes_ns : slice_most_ns;
    if (!kvc_workload_clients_wait(&scenario->workload) || kvc_scenario_shards(scenario) == 1) {
        return most_ns;
    }
    if (scenario->workload.arrival == KVC_ARRIVAL_SATURATE) {
        return fmin(slice_of_clients_ns, most_ns);
    }
    double turn_ns = 2 * kvc_composed_config_of(scenario)->path_ns + scenario->workload.think_ns;
    return fmin(fmax(turn_ns, slice_least_ns), most_ns);
}

static void open_users(void *state)
{
    struct simulation *simulation = state;
    const struct kvc_scenario *scenario = simulation->scenario;
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    double window_ns = kvc_composed_window_ns(scenario), slice_ns = slice_ns_of(scenario);
    simulation->slices = (struct kvc_slices){.replica = &simulation->replica,
                                             .slice_ns = window_ns / ceil(window_ns / slice_ns),
                                             .stages = config->stages,
                                             .looks = true,
                                             .completes = true};
    simulation->users = kvc_array_of(simulation->count, sizeof(*simulation->users));
    simulation->servers = kvc_array_of(simulation->count, sizeof(*simulation->servers));
    for (uint32_t i = 0; i < simulation->count; i++) {
        open_user(simulation, i);
    }
    open_policy(simulation);
    kvc_engine_spawn("servers", kvc_slice_server_main, simulation->servers);
}

static bool drained(const void *state)
{
    const struct simulation *simulation = state;
    for (uint32_t i = 0; i < simulation->count; i++) {
        if (simulation->users[i].server.in_flight > 0) {
            return false;
        }
    }
    return true;
}

static void set_totals(const void *state, struct kvc_result *result)
{
    const struct simulation *simulation = state;
    for (uint32_t i = 0; i < simulation->count; i++) {
        const struct kvc_composed_server *server = &simulation->users[i].server;
        result->completed += server->completed;
        result->hits += server->outcome[KVC_COMPOSED_HIT];
        result->misses += server->outcome[KVC_COMPOSED_MISS] + server->outcome[KVC_COMPOSED_FETCHED];
        result->sets += server->sets;
        result->deletes += server->deletes;
    }
    const struct kvc_composed_stores *stores = simulation->stores;
    result->preload_wall_s = stores != NULL ? stores->store->preload_wall_s : 0;
    result->preload_wall_s += stores != NULL && stores->hot != NULL ? stores->hot->preload_wall_s : 0;
}

static void report_kernel(const struct simulation *simulation, struct kvc_metrics *kernel)
{
    const struct sums *first = &simulation->first, *last = &simulation->last;
    const struct kvc_composed_config *config = kvc_composed_config_of(simulation->scenario);
    double rate = (double)config->sample_rate; /* Only one in `rate` is counted. */
    if (simulation->users->server.structures.shard == NULL) {
        return;
    }
    kvc_metrics_set(kernel, "load_factor_frac", kvc_shards_load_frac(simulation->stores->store));
    kvc_shards_report_lines(&first->index, &last->index, kernel);
    kvc_metrics_set_ratio(kernel, "displacements_per_insert",
                          (double)(last->index.displacements - first->index.displacements),
                          (double)(last->index.inserts - first->index.inserts));
    kvc_metrics_set(kernel, "index_drops", rate * (double)(last->index.dropped - first->index.dropped));
    kvc_metrics_set(kernel, "index_evicted", rate * (double)(last->index.evicted - first->index.evicted));
    kvc_metrics_set(kernel, "evictions", rate * (double)(last->slab.evicted - first->slab.evicted));
    kvc_metrics_set_ratio(kernel, "lines_per_read", (double)(last->slab.read_lines - first->slab.read_lines),
                          (double)(last->slab.reads - first->slab.reads));
    if (config->has_hot) {
        kvc_metrics_set(kernel, "hot_inserts",
                        rate * (double)(last->hot_index.inserts - first->hot_index.inserts));
        kvc_metrics_set(kernel, "hot_index_evicted",
                        rate * (double)(last->hot_index.evicted - first->hot_index.evicted));
        kvc_metrics_set(kernel, "hot_evictions",
                        rate * (double)(last->hot_slab.evicted - first->hot_slab.evicted));
    }
}

static void report_metrics(void *state, struct kvc_result *result)
{
    const struct simulation *simulation = state;
    const struct kvc_composed_config *config = kvc_composed_config_of(simulation->scenario);
    double wait_ns = 0, cores_ns = 0, dropped = 0, refused = 0, hots = 0;
    for (uint32_t i = 0; i < simulation->count; i++) {
        wait_ns += simulation->users[i].server.memory_wait_ns;
        cores_ns += simulation->users[i].server.place_ns[KVC_COMPOSED_CPU] +
                    simulation->users[i].server.place_ns[KVC_COMPOSED_CARD_CPU];
        dropped += (double)simulation->users[i].server.dropped;
        refused += (double)simulation->users[i].server.refused;
        hots += (double)simulation->users[i].server.hots;
    }
    report_kernel(simulation, &result->kernel);
    kvc_stalls_report(simulation->scenario, &simulation->replica.recorder,
                      simulation->last.stalled_ns - simulation->first.stalled_ns, simulation->last.cores,
                      result);
    if (config->on_flash) {
        kvc_metrics_set(&result->model, "flash_reads",
                        simulation->last.flash_reads - simulation->first.flash_reads);
        kvc_metrics_set(&result->model, "flash_programs",
                        simulation->last.flash_programs - simulation->first.flash_programs);
    }
    for (uint32_t i = 0; i < config->stages; i++) { /* Requests may pass a stage by. */
        const struct sums *first = &simulation->first, *last = &simulation->last;
        double served = last->stage_requests[i] - first->stage_requests[i];
        double wait_us = (last->stage_wait_ns[i] - first->stage_wait_ns[i]) * 1e-3;
        result->stage[i].served = (uint64_t)llround(served);
        result->stage[i].waiting_requests = wait_us / (result->simulated_s * 1e6);
        result->stage[i].wait_us = served > 0 ? wait_us / served : NAN;
    }
    if (config->on_network) {
        kvc_result_add_server_latency(result, config->path_ns);
    }
    kvc_metrics_set_ratio(&result->model, "memory_wait_frac", wait_ns, cores_ns);
    if (config->gpu != NULL) {
        kvc_metrics_set(&result->model, "gpu_frac",
                        fmin((simulation->last.gpu_ns - simulation->first.gpu_ns) /
                                 (simulation->count * result->simulated_s * 1e9),
                             1));
    }
    kvc_metrics_set(&result->model, "queue_drops", dropped - refused);
    kvc_metrics_set(&result->model, "queue_refusals", refused);
    if (config->has_hot) {
        kvc_metrics_set_ratio(&result->model, "hot_frac", hots, (double)result->gets);
    }
    kvc_composed_policy_report(&simulation->users->server, simulation->count, sizeof(struct user),
                               &result->model);
    uint32_t part = 0;
    bool batches = config->batched < config->stages;
    for (uint32_t i = 0; i + 1 < config->stages && part + 1 < KVC_PATHS_PARTS_MAX; i++) {
        if (part == 0) {
            kvc_paths_name(&result->paths, part++, batches ? "arrival, batch" : "network");
            i = batches ? config->batched : 0;
            if (i + 1 >= config->stages) {
                break;
            }
        }
        kvc_paths_name(&result->paths, part++, config->stage[i].options->name);
    }
    kvc_paths_name(&result->paths, part, config->stage[config->stages - 1].options->name);
}

static void close_simulation(void *state)
{
    struct simulation *simulation = state;
    for (uint32_t i = 0; simulation->users != NULL && i < simulation->count; i++) {
        struct user *user = &simulation->users[i];
        kvc_slice_mover_close(&user->cpu); /* The others keep meters only, and were not opened. */
        kvc_slice_mover_close(&user->gpu);
        for (uint32_t j = 0; j < KVC_COMPOSED_PARTS; j++) {
            kvc_slice_mover_close(&user->part[j]);
        }
        kvc_composed_policy_close(user->server.policy);
        kvc_composed_state_close(&user->server);
    }
    free(simulation->users);
    free(simulation->servers);
    free(simulation->devices);
}

static const struct kvc_simulator simulator = {
    .state_bytes = sizeof(struct simulation),
    .machine = open_machines,
    .source = set_source,
    .open = open_users,
    .looks = true,
    .count = count,
    .drained = drained,
    .totals = set_totals,
    .stages = kvc_composed_stages,
    .sliced = true,
    .report = report_metrics,
    .close = close_simulation,
};

static enum kvc_status run(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    return kvc_simulate_replica(&simulator, context, diag);
}

/* ---- registry ---- */

static void platform(const struct kvc_scenario *scenario, struct kvc_platform *platform)
{
    kvc_composed_machine(scenario, platform, NULL);
}

static enum kvc_status prepare(const struct kvc_scenario *scenario, uint64_t seed, void **state,
                               const struct kvc_progress *progress, struct kvc_diag *diag)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    if (config->index == NULL) {
        return KVC_OK;
    }
    struct kvc_composed_stores *stores = kvc_array_of(1, sizeof(*stores));
    const struct kvc_shards_params params = kvc_composed_store_params_of(scenario);
    enum kvc_status status = kvc_shards_create(scenario, &params, seed, progress, &stores->store, diag);
    if (status == KVC_OK && config->has_hot) {
        const struct kvc_shards_params hot = kvc_composed_hot_params_of(scenario);
        status = kvc_shards_create(scenario, &hot, seed, progress, &stores->hot, diag);
    }
    *state = stores;
    return status;
}

static uint32_t sizes(const struct kvc_scenario *scenario, double *size)
{
    const struct kvc_shards_params params = kvc_composed_store_params_of(scenario);
    const struct kvc_shards_params hot = kvc_composed_hot_params_of(scenario);
    uint32_t count = kvc_shards_sizes(&params, size);
    return count + kvc_shards_sizes(&hot, size + count);
}

/* Returns the most requests of a socket at a time: those that clients keep in flight, or, of an open load,
 * twice the mean by Little's law. */
static double requests_at_once(const struct kvc_scenario *scenario, const struct kvc_result *predicted)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    double in_flight = predicted->throughput_mops * kvc_result_latency_mean_us(predicted) / config->shards;
    return kvc_workload_has_rate(&scenario->workload) ? fmin(2 * in_flight, (double)config->outstanding)
                                                      : (double)config->outstanding;
}

/* Returns the frames that have these requests. */
static double frames_at_once(const struct kvc_scenario *scenario, const struct kvc_result *predicted)
{
    static const double least = 64;
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    double of_frame = config->apart < config->stages ? 1 : config->frame_requests;
    if (kvc_workload_has_rate(&scenario->workload) && config->batched == config->stages) {
        of_frame = kvc_metrics_get(&predicted->model, "requests_per_batch");
    }
    return fmax(requests_at_once(scenario, predicted) / of_frame, least);
}

/* The jobs of a server whose buffers are all in use. */
static double run_memory_bytes(const struct kvc_scenario *scenario, const struct kvc_result *predicted)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    const struct kvc_composed_batch_options *batch = &config->options->batch;
    uint32_t stride = kvc_workload_key_stride(&scenario->workload);
    double bytes = frames_at_once(scenario, predicted) *
                   kvc_composed_job_memory_bytes(config->frame_requests, config->frame_requests, stride);
    if (config->batched < config->stages) {
        double per_ns = predicted->throughput_mops * 1e-3 / config->shards / config->pipelines,
               rows = config->batch_room;
        double waits_ns = fmax(batch->timeout_ns, batch->every_ns);
        rows = batch->count > 0 || waits_ns == 0 ? rows : fmin(rows, 2 * per_ns * waits_ns);
        rows = batch->while_busy ? fmin(rows, requests_at_once(scenario, predicted)) : rows;
        bytes += config->pipelines * (double)batch->buffers *
                 kvc_composed_job_memory_bytes(config->batch_room, rows, stride);
    }
    return config->shards * bytes;
}

/* Returns the prediction, of a load with phases for the one with the most requests, which the caller frees.
 */
static struct kvc_result *predict_most(const struct kvc_scenario *scenario)
{
    struct kvc_result *most = kvc_array_of(1, sizeof(*most));
    for (uint32_t i = 0; i < kvc_phases_count(&scenario->workload); i++) {
        struct kvc_composed_config config = *kvc_composed_config_of(scenario);
        struct kvc_scenario one = *scenario;
        struct kvc_result *predicted = kvc_array_of(1, sizeof(*predicted));
        if (scenario->workload.phase_count > 0) {
            kvc_composed_set_phase(&config, scenario, i);
            one.workload = kvc_phases_workload(&scenario->workload, i);
            one.config = &config;
        }
        kvc_composed_predict(&one, predicted, NULL);
        bool more = predicted->throughput_mops >= most->throughput_mops;
        free(more ? most : predicted);
        most = more ? predicted : most;
    }
    return most;
}

static double memory_bytes(const struct kvc_scenario *scenario)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    struct kvc_result *predicted = predict_most(scenario);
    double mops = predicted->throughput_mops, window_ns = kvc_composed_window_ns(scenario), store_bytes = 0;
    if (config->index != NULL) {
        const struct kvc_shards_params params = kvc_composed_store_params_of(scenario),
                                       hot = kvc_composed_hot_params_of(scenario);
        double requests = kvc_replica_requests(scenario, window_ns, mops),
               writes = requests * kvc_phases_mean(&scenario->workload).set_frac;
        store_bytes = kvc_shards_memory_bytes(scenario, &params, config->means.item_bytes, writes);
        if (config->has_hot) { /* A GET takes what a SET has changed. */
            store_bytes += kvc_shards_memory_bytes(scenario, &hot, config->means.item_bytes, requests);
        }
    }
    if (config->on_flash) {
        store_bytes += config->shards * kvc_flash_translation_bytes(config->flash, config->flash_pages);
    }
    if (config->database != NULL) {
        store_bytes += config->shards * kvc_database_memory_bytes(config->database);
    }
    double bytes = store_bytes + run_memory_bytes(scenario, predicted) +
                   kvc_replica_memory_bytes(scenario, window_ns, kvc_scenario_shards(scenario));
    free(predicted);
    return bytes;
}

static const struct kvc_model_device devices[] = {
    {&kvc_cpu_kind, "xeon-8480plus"},
    {&kvc_dram_kind, "ddr5-4800"},
    {&kvc_gpu_kind, NULL},
    {&kvc_pcie_kind, "pcie5-x16"},
    {&kvc_fpga_kind, NULL},
    {&kvc_nic_kind, "connectx-7-400g"},
    {&kvc_network_kind, "direct-cable"},
    {&kvc_database_kind, NULL},
    {&kvc_flash_kind, NULL},
    {&kvc_card_cpu_kind, NULL},
    {&kvc_card_dram_kind, NULL},
    {&kvc_cxl_kind, NULL},
    {NULL, NULL},
};

/* A store of one stage on a few cores, between the ports. */
static const char *const first[][2] = {
    {"system.index.kernel", "cuckoo"},
    {"system.values.kernel", "slab"},
    {"system.stages.1.name", "receive"},
    {"system.stages.1.on", "nic.rx"},
    {"system.stages.2.name", "serve"},
    {"system.stages.2.on", "cpu"},
    {"system.stages.2.cores", "4"},
    {"system.stages.2.cycles", "300"},
    {"system.stages.2.does", "parse, write, search, insert, erase, compare, read"},
    {"system.stages.3.name", "send"},
    {"system.stages.3.on", "nic.tx"},
    {NULL, NULL},
};

const struct kvc_model kvc_composed_model = {
    .first = first,
    .name = "composed",
    .help = "a store of your own: stages on the devices of the machine, with the real indexes and values",
    .paper = "described by the scenario",
    .options = &kvc_composed_option_table,
    .has_sockets = true,
    .has_rest_power = true,
    .takes_power = true,
    .takes_policy = true,
    .takes_memory_state = true,
    .takes_phases = true,
    .takes_stalls = true,
    .takes_tenants = true,
    .key_bytes_most = KVC_MEGAKV_SLAB_KEY_MAX,
    .devices = devices,
    .config_bytes = sizeof(struct kvc_composed_config),
    .resolve = kvc_composed_resolve,
    .check = kvc_composed_check,
    .warning = kvc_composed_warning,
    .rooms = kvc_composed_rooms,
    .memory_bytes = memory_bytes,
    .platform = platform,
    .stages = kvc_composed_stages,
    .pipeline = kvc_composed_pipeline,
    .resources = kvc_composed_resources,
    .predict = kvc_composed_predict,
    .prepare = prepare,
    .sizes = sizes,
    .run = run,
};
