#include "models/megakv/predict.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

#include "models/megakv/cache.h"
#include "models/megakv/costs.h"
#include "models/megakv/launch_costs.h"
#include "models/megakv/range.h"
#include "models/megakv/store.h"
#include "sim/devices/network.h"
#include "sim/metrics/bottleneck.h"
#include "sim/workload/fill.h"
#include "sim/workload/hottest_shard.h"

static const double lost_hits_frac = 0.005; /* A loss that matters. */

enum {
    BATCH_ROUNDS = 4,     /* Rounds after which speed and batches agree. */
    POSITIONS = 64,       /* Requests of a batch whose latency is computed. */
    SETTLING_CYCLES = 64, /* Cycles per delay until the waits at GPU and sender repeat. */
    /* Jobs of the two launches that define the line of a device without a fit. A calibrated device was
     * measured with smaller launches, like those of its pipelines. */
    FEW = 10000,
    MANY = 1000000,
    MEASURED_FEW = 1000,
    MEASURED_MANY = 32000,
};

struct kvc_megakv_load kvc_megakv_load_of(const struct kvc_scenario *scenario)
{
    return (struct kvc_megakv_load){scenario->workload.get_frac, kvc_megakv_config_of(scenario)->delay};
}

struct kvc_megakv_fit kvc_megakv_fit_of(const struct kvc_megakv_costs *costs, uint32_t clock)
{
    const struct kvc_gpu_clock *pair = &costs->config->gpu->clocks[clock];
    struct kvc_megakv_costs at_clock = *costs;
    double low = costs->measured ? MEASURED_FEW : FEW, high = costs->measured ? MEASURED_MANY : MANY,
           ns[2][2];
    if (pair->search.ns_per_op > 0 && !costs->measured) {
        return (struct kvc_megakv_fit){pair->search.ns_per_op, pair->search.base_ns, pair->insert.ns_per_op,
                                       pair->insert.base_ns};
    }
    at_clock.clock = clock;
    for (int kernel = KVC_MEGAKV_KERNEL_SEARCH; kernel <= KVC_MEGAKV_KERNEL_INSERT; kernel++) {
        bool search = kernel == KVC_MEGAKV_KERNEL_SEARCH;
        struct kvc_megakv_launch_work few = search ? kvc_megakv_search_work(costs, low, 0)
                                                   : kvc_megakv_insert_work(costs, low),
                                      many = search ? kvc_megakv_search_work(costs, high, 0)
                                                    : kvc_megakv_insert_work(costs, high);
        double few_ns = kvc_megakv_launch_ns(&at_clock, &few);
        double many_ns = kvc_megakv_launch_ns(&at_clock, &many);
        ns[kernel][0] = (many_ns - few_ns) / (high - low);
        ns[kernel][1] = few_ns - ns[kernel][0] * low;
    }
    return (struct kvc_megakv_fit){ns[0][0], ns[0][1], ns[1][0], ns[1][1]};
}

/* Returns the speed of a pipeline's receiver or sender [requests/ns]. With two threads per core, the compute
 * of both must fit into the pipeline's share of the cores, which are all but the scheduler's, while the
 * stalls of one thread overlap with the compute of the others. */
static double thread_rate(const struct kvc_megakv_config *config, struct kvc_cpu_cost own,
                          struct kvc_cpu_cost other)
{
    double alone_ns = own.compute_ns + own.stall_ns, cores = (double)config->cpu->cores - 1;
    double together_ns =
        config->cpu->threads_per_core > 1 ? (own.compute_ns + other.compute_ns) * config->streams / cores : 0;
    return 1 / fmax(alone_ns, together_ns); /* Infinite if nothing costs anything. */
}

static double wire_rate(const struct kvc_nic *nic, double message_bytes)
{
    double messages = kvc_nic_messages_per_frame(nic, message_bytes);
    return messages / kvc_nic_wire_ns(nic, messages * message_bytes, 1);
}

/* Sets the limits for threads = "shared". The first core launches, then receives until the cycle is over; if
 * the launch of what it received in a cycle takes longer than a cycle, it still receives for a full cycle.
 * The senders share the other cores. */
static void share_cores(const struct kvc_megakv_config *config, const struct kvc_megakv_mean_costs *mean,
                        const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load,
                        struct kvc_megakv_limits *limits)
{
    double cycle_ns = config->cycle_ns;
    double p_insert = 1 - load->search_frac;
    double base_ns = (load->search_frac > 0 ? fit->search_base_ns : 0) +
                     (p_insert > 0 ? fit->insert_base_ns / load->delay : 0);
    double receive_ns = mean->receive.compute_ns + mean->receive.stall_ns;
    double index_ns = fit->search_ns_per_op * load->search_frac + fit->insert_ns_per_op * p_insert;
    bool kept = base_ns + cycle_ns / receive_ns * index_ns < cycle_ns;
    limits->receivers = limits->gpu = kept ? (1 - base_ns / cycle_ns) / (receive_ns + index_ns)
                                           : 1 / (receive_ns * (1 + base_ns / cycle_ns) + index_ns);
    limits->senders *= config->senders / config->streams;
}

struct kvc_megakv_limits kvc_megakv_limits_of(const struct kvc_scenario *scenario,
                                              const struct kvc_megakv_costs *costs)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    struct kvc_megakv_fit fit = kvc_megakv_fit_of(costs, config->clock);
    struct kvc_megakv_load load = kvc_megakv_load_of(scenario);
    const struct kvc_megakv_means *means = &config->means;
    struct kvc_megakv_mean_costs mean = kvc_megakv_mean_costs_of(scenario, costs);
    bool network = config->feed == KVC_MEGAKV_NETWORK;
    struct kvc_megakv_limits limits = {
        /* A cycle that is too short stretches until it is feasible. */
        .gpu = kvc_megakv_speed_limit(&fit, &load),
        .receivers = config->streams * thread_rate(config, mean.receive, mean.send),
        .senders = config->streams * thread_rate(config, mean.send, mean.receive),
        .rx = network ? wire_rate(config->nic, means->request_bytes) : INFINITY,
        .tx = network ? wire_rate(config->nic, means->response_bytes) : INFINITY,
        .buffers = (double)KVC_MEGAKV_ROWS_MAX * config->streams / config->cycle_ns,
    };
    if (config->threads == KVC_MEGAKV_OWN_THREADS &&
        config->streams > 1) { /* The scheduler waits for the slowest. */
        limits.senders /= costs->slowest_sender;
    }
    if (config->threads == KVC_MEGAKV_SHARED_THREADS) {
        share_cores(config, &mean, &fit, &load, &limits);
    }
    limits.lowest = fmin(fmin(limits.gpu, fmin(limits.receivers, limits.senders)),
                         fmin(fmin(limits.rx, limits.tx), limits.buffers));
    return limits;
}

/* Times of a socket in one cycle [ns]. */
struct cycle_times {
    double cycle_ns, search_ns, insert_ns, batch_send_ns;
    double searches, inserts; /* Jobs of a launch. */
    double fixed_ns;          /* Receiving, half a frame each way, and the wire. */
    bool overlap;             /* Inserts have a stream of their own, so that searches do not wait for them. */
};

/* Returns how clients fill their frames for a socket that serves `speed` requests/ns. */
static struct kvc_fill fill_of(const struct kvc_scenario *scenario, double speed)
{
    const struct kvc_workload *workload = &scenario->workload;
    uint32_t requests = kvc_megakv_config_of(scenario)->frame_requests;
    bool gradually = workload->fill == KVC_FILL_GRADUALLY &&
                     (workload->arrival == KVC_ARRIVAL_POISSON || workload->arrival == KVC_ARRIVAL_FIXED ||
                      workload->arrival == KVC_ARRIVAL_CURVE);
    if (!gradually || speed <= 0) {
        return (struct kvc_fill){.requests = requests};
    }
    return kvc_fill_of(speed / kvc_workload_flows(workload), requests, workload->fill_timeout_ns);
}

/* Follows the GPU and a sender through the periodic schedule. Returns the mean and the 95th percentile of the
 * latencies of requests spread over the last n batches [ns]. */
static void latency(const struct cycle_times *times, uint64_t delay, double *mean_ns, double *p95_ns)
{
    uint64_t cycles = SETTLING_CYCLES * delay;
    double *values = malloc(delay * POSITIONS * sizeof(*values));
    double gpu_free_ns = 0, sender_free_ns = 0, sum_ns = 0;
    size_t count = 0;
    if (values == NULL) {
        kvc_out_of_memory("%d latencies", POSITIONS);
    }
    for (uint64_t k = 1; k <= cycles; k++) {
        double launched_ns = (double)k * times->cycle_ns;
        double searched_ns = fmax(launched_ns, gpu_free_ns) + times->search_ns;
        double sent_from_ns = fmax(searched_ns, sender_free_ns);
        gpu_free_ns = searched_ns + (k % delay == 0 && !times->overlap ? times->insert_ns : 0);
        sender_free_ns = sent_from_ns + times->batch_send_ns;
        for (int i = 0; i < POSITIONS && k > cycles - delay; i++) {
            double position = (i + 0.5) / POSITIONS;
            double arrived_ns = launched_ns - (1 - position) * times->cycle_ns;
            values[count] = sent_from_ns + position * times->batch_send_ns - arrived_ns + times->fixed_ns;
            sum_ns += values[count++];
        }
    }
    gsl_sort(values, 1, count);
    *mean_ns = sum_ns / (double)count;
    *p95_ns = values[(size_t)(0.95 * (double)(count - 1))];
    free(values);
}

static struct cycle_times times_of(const struct kvc_scenario *scenario, const struct kvc_megakv_costs *costs,
                                   double speed, double cycle_ns)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    const struct kvc_nic *nic = config->nic;
    struct kvc_megakv_load load = kvc_megakv_load_of(scenario);
    const struct kvc_megakv_means *means = &config->means;
    struct kvc_megakv_mean_costs mean = kvc_megakv_mean_costs_of(scenario, costs);
    double stream_speed = speed / config->senders;
    double send_ns = mean.send.compute_ns + mean.send.stall_ns;
    struct kvc_megakv_launch_work insert =
        kvc_megakv_insert_work(costs, (1 - load.search_frac) * speed * cycle_ns * load.delay);
    struct kvc_megakv_launch_work search =
        kvc_megakv_search_work(costs, load.search_frac * speed * cycle_ns, insert.jobs / load.delay);
    /* Calibrated senders answer a group of rows together. */
    double together = costs->measured ? KVC_MEGAKV_SEND_ROWS / 2.0 : 0;
    struct cycle_times times = {
        .cycle_ns = cycle_ns,
        .overlap = config->insert_stream == KVC_MEGAKV_INSERT_OWN_STREAM,
        .searches = search.jobs,
        .inserts = insert.jobs,
        .search_ns = kvc_megakv_launch_ns(costs, &search),
        .insert_ns = kvc_megakv_launch_ns(costs, &insert),
        .batch_send_ns = send_ns * stream_speed * cycle_ns,
        .fixed_ns = mean.receive.compute_ns + mean.receive.stall_ns + together * send_ns,
    };
    if (config->feed == KVC_MEGAKV_NETWORK) {
        struct kvc_fill fill = fill_of(scenario, speed);
        double responses = kvc_nic_messages_per_frame(nic, means->response_bytes);
        uint32_t ports = (uint32_t)nic->ports;
        double frame_ns = kvc_nic_wire_ns(nic, responses * means->response_bytes, ports);
        double path_ns =
            kvc_network_path_ns(&scenario->node, kvc_nic_wire_bytes(nic, kvc_nic_payload_bytes(nic)));
        /* A batch is finished when the socket's responses have left. */
        double sent_ns = kvc_nic_wire_ns(nic, responses * means->response_bytes, 1) / responses;
        times.batch_send_ns = fmax(times.batch_send_ns, sent_ns * speed * cycle_ns);
        times.fixed_ns += fill.wait_ns + 2 * path_ns +
                          kvc_nic_wire_ns(nic, fill.requests * means->request_bytes, ports) + frame_ns +
                          fill.requests / 2 * (mean.receive.compute_ns + mean.receive.stall_ns) +
                          responses / 2 * send_ns;
    }
    return times;
}

/* Returns the speed at which clients send to the hottest socket, which receives `share` of all requests
 * [requests/ns]. */
static double offered_speed(const struct kvc_scenario *scenario, const struct kvc_megakv_costs *costs,
                            double lowest, double share)
{
    const struct kvc_megakv_config *config = costs->config;
    const struct kvc_workload *workload = &scenario->workload;
    double speed = lowest;
    if (workload->arrival != KVC_ARRIVAL_CLOSED) {
        return fmin(lowest, kvc_workload_rate_max_mops(workload) * 1e-3 * share);
    }
    /* Little's law. The latency hardly depends on the speed, so a few iterations suffice. */
    for (int i = 0; i < 32; i++) {
        double mean_ns, p95_ns;
        struct cycle_times times = times_of(scenario, costs, speed, config->cycle_ns);
        latency(&times, config->delay, &mean_ns, &p95_ns);
        speed = fmin(lowest, (double)workload->clients * share / (mean_ns + workload->think_ns));
    }
    return speed;
}

/* The forecast for the hottest socket. */
struct forecast {
    struct kvc_megakv_fit fit;
    struct kvc_megakv_load load;
    struct kvc_megakv_limits limits;
    struct cycle_times times;
    double speed; /* Requests that it serves [requests/ns]. */
    double share; /* Its share of all requests. */
};

/* Returns whether the preloaded items and the SETs of the run fill the slabs, if SETs arrive as fast as the
 * store serves them. */
static bool slabs_fill(const struct kvc_scenario *scenario, double speed)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    const struct kvc_run *run = &scenario->run;
    double items = workload->preload_frac * (double)workload->keys / config->shards;
    double sets = workload->set_frac * speed * (fmax(run->warmup_ns, 0) + run->duration_ns);
    return items + sets > kvc_megakv_mean_items(config);
}

/* Returns the cycle that results from full buffers [ns], or 0. If receivers are faster than senders, they
 * fill their buffers while the scheduler waits for a free one. A launch then contains full buffers, whatever
 * the cycle. */
static double full_buffers_cycle_ns(const struct kvc_scenario *scenario,
                                    const struct kvc_megakv_limits *limits)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    bool full = scenario->workload.arrival == KVC_ARRIVAL_SATURATE &&
                config->threads == KVC_MEGAKV_OWN_THREADS && limits->senders == limits->lowest &&
                limits->receivers > limits->senders;
    return full ? KVC_MEGAKV_ROWS_MAX * config->streams / limits->senders : 0;
}

/* Returns the cycle that the scheduler achieves [ns]. An infeasible cycle stretches to the time that the GPU
 * needs for the rows that arrive meanwhile. */
static double kept_cycle_ns(const struct kvc_megakv_config *config, const struct kvc_megakv_fit *fit,
                            const struct kvc_megakv_load *load, double speed)
{
    if (kvc_megakv_feasible(fit, load, config->cycle_ns, speed * (1 - 1e-9))) {
        return config->cycle_ns;
    }
    return kvc_megakv_cycle_min_ns(fit, load, fmin(speed, 0.999 * kvc_megakv_speed_limit(fit, load)));
}

/* Returns the requests of a batch. If the first core is shared and the launch of what it received in a cycle
 * takes longer than a cycle, it still receives for a full one. */
static double batch_rows_of(const struct kvc_scenario *scenario, const struct kvc_megakv_costs *costs,
                            const struct forecast *forecast)
{
    const struct kvc_megakv_config *config = costs->config;
    double rows =
        forecast->speed * fmax(kept_cycle_ns(config, &forecast->fit, &forecast->load, forecast->speed),
                               full_buffers_cycle_ns(scenario, &forecast->limits));
    if (config->threads == KVC_MEGAKV_SHARED_THREADS && scenario->workload.arrival == KVC_ARRIVAL_SATURATE &&
        forecast->limits.receivers == forecast->limits.lowest) {
        struct kvc_megakv_mean_costs mean = kvc_megakv_mean_costs_of(scenario, costs);
        rows = fmax(config->cycle_ns / (mean.receive.compute_ns + mean.receive.stall_ns),
                    forecast->speed * config->cycle_ns);
    }
    return fmin(rows / config->streams, KVC_MEGAKV_ROWS_MAX);
}

/* Computes what the hottest socket serves. The cost of receiving depends on the batches, and they on the
 * speed; the speed hardly changes after a few rounds. */
static void find_speed_of_batches(const struct kvc_scenario *scenario, struct kvc_megakv_costs *costs,
                                  struct forecast *forecast)
{
    for (int round = 0; round < BATCH_ROUNDS; round++) {
        forecast->fit = kvc_megakv_fit_of(costs, costs->config->clock);
        forecast->limits = kvc_megakv_limits_of(scenario, costs);
        forecast->speed = offered_speed(scenario, costs, forecast->limits.lowest, forecast->share);
        if (!costs->measured) {
            return;
        }
        kvc_megakv_costs_use_batches(costs, batch_rows_of(scenario, costs, forecast));
    }
}

/* Computes what the hottest socket serves, first without evictions, and again with them if that many SETs
 * fill the slabs. */
static void find_speed(const struct kvc_scenario *scenario, struct kvc_megakv_costs *costs,
                       struct forecast *forecast)
{
    bool fills = false;
    do {
        costs->evicting = fills;
        find_speed_of_batches(scenario, costs, forecast);
        fills = slabs_fill(scenario, forecast->speed);
    } while (fills && !costs->evicting);
}

static void add_stage(struct kvc_result *result, const char *name, const char *device, double utilization)
{
    kvc_result_add_stage(result, name, device, isfinite(utilization) ? fmin(utilization, 1) : 0);
}

/* Adds the results of the equations for every clock pair of the GPU. */
static void add_clock_metrics(const struct kvc_scenario *scenario, const struct kvc_megakv_costs *costs,
                              struct kvc_result *result, double speed)
{
    const struct kvc_gpu *gpu = costs->config->gpu;
    double cycle_ns = costs->config->cycle_ns;
    struct kvc_megakv_load delayed = kvc_megakv_load_of(scenario), together = {delayed.search_frac, 1};
    if (delayed.delay < 2) {
        delayed.delay = 2;
    }
    for (uint32_t i = 0; i < gpu->clock_count; i++) {
        const struct kvc_gpu_clock *clock = &gpu->clocks[i];
        struct kvc_megakv_fit fit = kvc_megakv_fit_of(costs, i);
        const struct {
            const char *name;
            double value;
        } metrics[] = {
            {"cycle_floor_delayed_us", kvc_megakv_cycle_min_ns(&fit, &delayed, 0) / 1e3},
            {"cycle_floor_us", kvc_megakv_cycle_min_ns(&fit, &together, 0) / 1e3},
            {"cycle_min_delayed_us", kvc_megakv_cycle_min_ns(&fit, &delayed, speed) / 1e3},
            {"cycle_min_us", kvc_megakv_cycle_min_ns(&fit, &together, speed) / 1e3},
            {"speed_max_delayed_mops", kvc_megakv_speed_max(&fit, &delayed, cycle_ns) * 1e3},
            {"speed_max_mops", kvc_megakv_speed_max(&fit, &together, cycle_ns) * 1e3},
        };
        for (size_t j = 0; j < sizeof(metrics) / sizeof(*metrics); j++) {
            char name[KVC_NAME_MAX];
            snprintf(name, sizeof(name), "gpu%.0f_%s", clock->core_hz / 1e6, metrics[j].name);
            kvc_metrics_set(&result->model, name, metrics[j].value);
        }
    }
}

static void add_stages(const struct kvc_megakv_config *config, const struct forecast *forecast,
                       struct kvc_result *result)
{
    const struct kvc_megakv_limits *limits = &forecast->limits;
    const struct cycle_times *times = &forecast->times;
    double inserting_ns = times->insert_ns / (double)config->delay;
    double index_ns = times->overlap ? fmax(times->search_ns, inserting_ns) : times->search_ns + inserting_ns;
    add_stage(result, "rx", "nic", forecast->speed / limits->rx);
    add_stage(result, "receive", "cpu", forecast->speed / limits->receivers);
    add_stage(result, "index", "gpu", index_ns / times->cycle_ns);
    add_stage(result, "send", "cpu", forecast->speed / limits->senders);
    add_stage(result, "tx", "nic", forecast->speed / limits->tx);
    kvc_bottleneck_find(result);
}

/* Says when the slabs will be full, after which replaced items and evictions lower the hit ratio. */
static void add_filling(const struct kvc_megakv_costs *costs, const struct forecast *forecast,
                        const struct kvc_workload *workload, struct kvc_result *result)
{
    const struct kvc_megakv_config *config = costs->config;
    double sets_per_ns = workload->set_frac * forecast->speed / forecast->share;
    double items = config->shards * kvc_megakv_mean_items(config);
    double free_items = items - workload->preload_frac * (double)workload->keys;
    if (sets_per_ns <= 0 || free_items <= 0 || workload->arrival == KVC_ARRIVAL_TRACE) {
        return;
    }
    double full_s = free_items / sets_per_ns * 1e-9;
    double long_run_frac = 1 - kvc_megakv_cache_lookup_mix(workload, items).missed_frac;
    kvc_metrics_set(&result->model, "slabs_full_after_s", full_s);
    kvc_metrics_set(&result->model, "hit_long_run_frac", long_run_frac);
    if (costs->hit_frac - long_run_frac > lost_hits_frac) {
        kvc_result_note(
            result,
            "the slabs are full after %.3g s of this load; then SETs evict items, and the hit ratio "
            "falls from %.2f to %.2f %% in the long run",
            full_s, 100 * costs->hit_frac, 100 * long_run_frac);
    }
}

static void add_metrics(const struct kvc_megakv_costs *costs, const struct forecast *forecast,
                        const struct kvc_workload *workload, struct kvc_result *result)
{
    struct kvc_metrics *model = &result->model;
    const struct kvc_megakv_limits *limits = &forecast->limits;
    const struct cycle_times *times = &forecast->times;
    kvc_metrics_set(model, "t_search_us", times->search_ns / 1e3);
    kvc_metrics_set(model, "t_insert_us", times->insert_ns / 1e3);
    kvc_metrics_set(model, "search_ns_per_job", times->search_ns / times->searches);
    kvc_metrics_set(model, "insert_ns_per_job", times->insert_ns / times->inserts);
    kvc_metrics_set(model, "t_max_us", (times->search_ns + times->insert_ns) / 1e3);
    kvc_metrics_set(model, "cycle_us", times->cycle_ns / 1e3);
    kvc_metrics_set(model, "hit_frac", costs->hit_frac);
    add_filling(costs, forecast, workload, result);
    kvc_metrics_set(model, "hottest_socket_share_frac", forecast->share);
    kvc_metrics_set(model, "gpu_limit_mops", limits->gpu * 1e3);
    kvc_metrics_set(model, "receivers_limit_mops", limits->receivers * 1e3);
    kvc_metrics_set(model, "senders_limit_mops", limits->senders * 1e3);
    kvc_metrics_set(model, "rx_limit_mops", limits->rx * 1e3);
    kvc_metrics_set(model, "tx_limit_mops", limits->tx * 1e3);
    kvc_metrics_set(model, "buffers_limit_mops", limits->buffers * 1e3);
}

static void add_notes(const struct kvc_scenario *scenario, double cycle_ns, struct kvc_result *result)
{
    double asked_ns = kvc_megakv_config_of(scenario)->cycle_ns;
    if (cycle_ns > asked_ns * (1 + 1e-9)) {
        kvc_result_note(
            result, "the cycle of %.4g us is infeasible at this load: T_S + T_max needs a cycle of %.4g us",
            asked_ns / 1e3, cycle_ns / 1e3);
    }
    if (scenario->workload.arrival == KVC_ARRIVAL_TRACE) {
        kvc_result_note(result,
                        "a trace has no rate beforehand: this is the largest load that the store sustains");
    }
    if (scenario->workload.arrival == KVC_ARRIVAL_CURVE) {
        kvc_result_note(result, "predicted for the highest rate of the curve");
    }
}

enum kvc_status kvc_megakv_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                   struct kvc_diag *diag)
{
    (void)diag; /* The scenario was checked when it was loaded. */
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    struct kvc_megakv_costs costs = kvc_megakv_costs_of(scenario);
    struct forecast forecast = {.load = kvc_megakv_load_of(scenario),
                                .share = kvc_hottest_shard_frac(&scenario->workload,
                                                                (uint32_t)scenario->cluster.nodes,
                                                                (uint32_t)scenario->node.sockets)};
    find_speed(scenario, &costs, &forecast);
    if (config->insert_stream == KVC_MEGAKV_INSERT_OWN_STREAM) {
        forecast.fit.insert_base_ns = 0; /* Searches run while an insert waits for its own latency. */
    }
    double cycle_ns = fmax(kept_cycle_ns(config, &forecast.fit, &forecast.load, forecast.speed),
                           full_buffers_cycle_ns(scenario, &forecast.limits));
    double mean_ns, p95_ns;
    forecast.times = times_of(scenario, &costs, forecast.speed, cycle_ns);
    latency(&forecast.times, config->delay, &mean_ns, &p95_ns);

    result->throughput_mops = forecast.speed / forecast.share * 1e3;
    result->latency_mean_us = mean_ns / 1e3;
    result->latency_p95_us = p95_ns / 1e3;
    add_stages(config, &forecast, result);
    add_metrics(&costs, &forecast, &scenario->workload, result);
    add_clock_metrics(scenario, &costs, result, forecast.speed);
    kvc_metrics_set(
        &result->model, "feasible",
        kvc_megakv_feasible(&forecast.fit, &forecast.load, config->cycle_ns, forecast.speed * (1 - 1e-9)));
    kvc_megakv_note_range(scenario, forecast.load.search_frac * forecast.speed * cycle_ns, result);
    add_notes(scenario, cycle_ns, result);
    return KVC_OK;
}
