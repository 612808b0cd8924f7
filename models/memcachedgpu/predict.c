#include "models/memcachedgpu/predict.h"

#include <math.h>

#include "models/latency.h"
#include "models/memcachedgpu/costs.h"
#include "models/memcachedgpu/resources.h"
#include "sim/devices/network.h"
#include "sim/metrics/bottleneck.h"
#include "sim/workload/source/fill.h"
#include "sim/workload/keys/hashed_sets.h"
#include "sim/workload/keys/popularity_blocks.h"

/* ---- hits ---- */

double kvc_memcachedgpu_hit_frac(const struct kvc_scenario *scenario)
{
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    double ways = (double)config->options->ways, servers = config->shards;
    double entries = (double)config->options->entries * servers;
    if (workload->trace.profile != NULL) {
        return kvc_workload_trace_hit_frac(workload, entries);
    }
    double preloaded = workload->preload_frac * (double)workload->keys;
    double stored = config->index == KVC_MEMCACHEDGPU_SETS
                        ? kvc_hashed_sets_held(preloaded, entries / ways, ways)
                        : fmin(preloaded, entries);
    return kvc_popularity_mass(workload, preloaded) * (preloaded > 0 ? stored / preloaded : 0);
}

/* ---- limits and latency ---- */

/* The highest rates of the stages [packets per ns]; `lowest` is the smallest. */
struct limits {
    double rx, receive, launch, copy_in, kernel, copy_out, streams, answer, tx, lowest;
};

/* Times of a mean batch at some rate [ns]. */
struct times {
    double packets;  /* Packets in it. */
    double batching; /* Mean wait of a packet until its batch is full. */
    double launch, copy_in, kernel, copy_out, latencies;
    double receive_each;         /* Time of the thread that receives packets for one. */
    double fill_each, send_each; /* Time of a post thread for one response. */
};

static double answer_each(const struct times *times)
{
    return times->fill_each + times->send_each;
}

struct mean {
    double key_bytes, value_bytes, hit_frac;
    uint32_t request_bytes, response_bytes, head_bytes;
};

static struct mean mean_of(const struct kvc_scenario *scenario)
{
    const struct kvc_workload *workload = &scenario->workload;
    struct mean mean = {.key_bytes = kvc_workload_key_bytes_mean(workload),
                        .value_bytes = kvc_workload_value_bytes_requested(workload),
                        .hit_frac = kvc_memcachedgpu_hit_frac(scenario)};
    uint32_t key_bytes = (uint32_t)ceil(mean.key_bytes), value_bytes = (uint32_t)ceil(mean.value_bytes);
    bool found = mean.hit_frac >= 0.5;
    mean.request_bytes = kvc_memcachedgpu_request_bytes(key_bytes);
    mean.head_bytes = kvc_memcachedgpu_head_bytes(found, key_bytes, value_bytes);
    mean.response_bytes = kvc_memcachedgpu_response_bytes(found, mean.head_bytes, value_bytes);
    return mean;
}

static double fill_ns(const struct kvc_memcachedgpu_config *config, const struct mean *mean)
{
    double ns = 0;
    for (int found = 0; found < 2; found++) {
        uint32_t key_bytes = (uint32_t)ceil(mean->key_bytes), value_bytes = (uint32_t)ceil(mean->value_bytes);
        uint32_t head_bytes = kvc_memcachedgpu_head_bytes(found, key_bytes, value_bytes);
        struct kvc_cpu_cost cost =
            kvc_memcachedgpu_answer_cost(config, found, head_bytes, key_bytes, value_bytes);
        ns += (found ? mean->hit_frac : 1 - mean->hit_frac) * (cost.compute_ns + cost.stall_ns);
    }
    return ns;
}

static struct times times_of(const struct kvc_scenario *scenario, const struct mean *mean, double per_ns)
{
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    bool copies = config->receive == KVC_MEMCACHEDGPU_RECEIVE_HOST;
    struct times times = {.packets = config->batch};
    if (config->feed == KVC_MEMCACHEDGPU_NETWORK || !isinf(kvc_workload_rate_max_mops(&scenario->workload))) {
        struct kvc_fill fill = kvc_fill_of(per_ns, config->batch, config->options->batch_timeout_ns);
        times.packets = fill.requests;
        times.batching = fill.wait_ns;
    }
    uint32_t packets = (uint32_t)ceil(times.packets);
    double sectors = packets * kvc_memcachedgpu_packet_sectors(config, mean->key_bytes, NAN);
    struct kvc_gpu_grid grid =
        kvc_memcachedgpu_get_grid(config, 0, packets, (uint32_t)ceil(mean->key_bytes), sectors);
    double copied_bytes = packets * kvc_memcachedgpu_copied_bytes(config, mean->request_bytes);
    times.launch = kvc_memcachedgpu_launch_cpu_ns(config, true, copied_bytes);
    times.copy_in = copies ? kvc_pcie_h2d_ns(config->pcie, copied_bytes) : 0;
    times.copy_out =
        kvc_pcie_d2h_ns(config->pcie, packets * kvc_memcachedgpu_returned_bytes(mean->head_bytes));
    times.kernel = kvc_gpu_grid_kernel(config->gpu, &grid).alone_ns;
    times.latencies =
        fmax(config->gpu->launch_ns + kvc_memcachedgpu_latencies(config) * config->pcie->latency_ns -
                 times.launch - times.copy_in,
             0);
    const struct kvc_cpu_cost receive = kvc_memcachedgpu_receive_cost(config, mean->request_bytes);
    times.receive_each = receive.compute_ns + receive.stall_ns;
    times.fill_each = fill_ns(config, mean);
    times.send_each = config->feed == KVC_MEMCACHEDGPU_NETWORK ? config->cpu->packet_ns : 0;
    return times;
}

static struct limits limits_of(const struct kvc_scenario *scenario, const struct mean *mean)
{
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    const struct times full = times_of(scenario, mean, 1);
    double batch = config->batch;
    uint32_t packets = config->batch;
    struct kvc_gpu_grid grid =
        kvc_memcachedgpu_get_grid(config, 0, packets, (uint32_t)ceil(mean->key_bytes),
                                  packets * kvc_memcachedgpu_packet_sectors(config, mean->key_bytes, NAN));
    bool fills = kvc_memcachedgpu_pre_fills(config);
    double stream_ns =
        full.copy_in + full.latencies + full.kernel + full.copy_out + batch * answer_each(&full);
    struct limits limits = {
        .rx = (double)config->options->receive_ports / kvc_memcachedgpu_wire_ns(config, mean->request_bytes),
        .receive = fills ? INFINITY : 1 / full.receive_each,
        .launch = batch / (full.launch + (fills ? batch * full.receive_each : 0)),
        .kernel = batch / kvc_gpu_grid_kernel(config->gpu, &grid).amount_ns,
        .streams = config->streams * batch / stream_ns,
        .copy_in = batch / full.copy_in,
        .copy_out = batch / full.copy_out,
        .answer = config->post_threads / answer_each(&full),
        .tx = (double)config->nic->ports / kvc_memcachedgpu_wire_ns(config, mean->response_bytes)};
    if (config->feed == KVC_MEMCACHEDGPU_MEMORY) {
        limits.rx = limits.receive = limits.tx = INFINITY;
    }
    limits.lowest = INFINITY;
    const double all[] = {limits.rx,       limits.receive, limits.launch, limits.copy_in, limits.kernel,
                          limits.copy_out, limits.streams, limits.answer, limits.tx};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        limits.lowest = fmin(limits.lowest, all[i]);
    }
    return limits;
}

/* Returns the time that packets wait because the store cannot keep up [ns]. Saturating clients keep all
 * streams busy, and an open loop also fills the receive buffers. */
static double overload_ns(const struct kvc_scenario *scenario, const struct limits *limits, double offered,
                          double fixed_ns)
{
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    bool saturates = scenario->workload.arrival == KVC_ARRIVAL_SATURATE;
    double streams = (double)config->streams * config->batch;
    /* A client that saturates from memory fills a batch when the pre thread is free for it. */
    bool paced = saturates && config->feed == KVC_MEMCACHEDGPU_MEMORY;
    if (offered < limits->lowest || limits->rx <= limits->lowest ||
        (paced && limits->launch <= limits->lowest)) {
        return 0;
    }
    double inside = paced ? streams : (double)config->buffers;
    return fmax(inside / limits->lowest - fixed_ns, 0);
}

static void set_latencies(const struct kvc_scenario *scenario, const struct mean *mean,
                          const struct times *times, const struct limits *limits, double offered,
                          struct kvc_result *result)
{
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    bool network = config->feed == KVC_MEMCACHEDGPU_NETWORK;
    double both_ways_ns = 0;
    if (network) {
        both_ways_ns = 2 * kvc_network_path_ns(&scenario->node, (double)config->nic->mtu_bytes) +
                       kvc_memcachedgpu_wire_ns(config, mean->request_bytes) + times->receive_each;
    }
    double fixed_ns =
        both_ways_ns + times->launch + times->copy_in + times->latencies + times->kernel + times->copy_out;
    double filled_ns = times->packets * times->fill_each, each_ns = times->send_each;
    if (network) {
        /* No response leaves before all are filled; from then on the port is the limit. */
        fixed_ns += filled_ns;
        each_ns = fmax(each_ns, kvc_memcachedgpu_wire_ns(config, mean->response_bytes));
    } else {
        fixed_ns += times->packets * times->receive_each;
        each_ns = times->fill_each;
    }
    /* The first packet waits for the batch to fill, the last one for the responses before its own. */
    double first_ns = fixed_ns + 2 * times->batching + each_ns;
    double last_ns = fixed_ns + times->packets * each_ns;
    double waits_ns = overload_ns(scenario, limits, offered, (first_ns + last_ns) / 2);
    first_ns += waits_ns;
    last_ns += waits_ns;
    struct kvc_latency_law law = {
        .assumes = "only GETs count; the requests of a batch are as far apart as its "
                   "first and its last one, and a batch waits for no other one",
        .unknown = scenario->workload.get_frac > 0 ? NULL : "only GETs have one, and there are none"};
    kvc_latency_add(&law, 1, fmin(first_ns, last_ns), fabs(first_ns - last_ns));
    kvc_result_set_latencies(result, &law, &scenario->workload);
}

/* Returns the time of a write on the card and in its driver [ns], with `in_hand` batches of GETs there. */
static double write_ns(const struct kvc_memcachedgpu_config *config, double in_hand)
{
    double host_ns =
        fmax(kvc_memcachedgpu_set_calls_ns(config, true), kvc_memcachedgpu_set_latency_ns(config));
    return host_ns + in_hand * config->options->set_wait_ns + kvc_memcachedgpu_set_grid(config, 0).alone_ns;
}

/* Returns the writes that a server does at most [per ns]: the table takes one at a time. */
static double writes_limit(const struct kvc_memcachedgpu_config *config, double in_hand)
{
    double serial_ns = write_ns(config, in_hand);
    double threads_ns =
        (kvc_memcachedgpu_set_cpu_ns(config) + serial_ns) / (double)config->options->set_threads;
    return 1 / fmax(serial_ns, threads_ns);
}

static void add_metrics(const struct kvc_memcachedgpu_config *config, const struct mean *mean,
                        const struct limits *limits, const struct times *times, double offered_per_ns,
                        double in_hand, struct kvc_result *result)
{
    const struct {
        const char *name;
        double per_ns;
    } rates[] = {{"rx_limit_mops", limits->rx},
                 {"receive_limit_mops", limits->receive},
                 {"launch_limit_mops", limits->launch},
                 {"kernel_limit_mops", limits->kernel},
                 {"streams_limit_mops", limits->streams},
                 {"copies_limit_mops", fmin(limits->copy_in, limits->copy_out)},
                 {"answer_limit_mops", limits->answer},
                 {"tx_limit_mops", limits->tx}};
    struct kvc_metrics *model = &result->model;
    for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
        if (isfinite(rates[i].per_ns)) {
            kvc_metrics_set(model, rates[i].name, rates[i].per_ns * 1e3);
        }
    }
    kvc_metrics_set(model, "hit_frac", mean->hit_frac);
    kvc_metrics_set(model, "drop_frac",
                    isfinite(offered_per_ns) ? fmax(1 - limits->lowest / offered_per_ns, 0) : 0);
    kvc_metrics_set(model, "batching_mean_us", times->batching / 1e3);
    kvc_metrics_set(model, "jobs_per_search", times->packets);
    kvc_metrics_set(model, "t_search_us", times->kernel / 1e3);
    kvc_metrics_set(model, "search_ns_per_job", times->kernel / times->packets);
    kvc_metrics_set(model, "launch_us", times->launch / 1e3);
    kvc_metrics_set(model, "answer_ns", answer_each(times));
    kvc_metrics_set(model, "set_limit_kops", writes_limit(config, in_hand) * 1e6);
}

/* Returns the batches of GETs that have been launched and whose kernels have not ended, at a rate. */
static double in_hand_of(const struct times *times, double per_ns)
{
    double stream_ns = times->copy_in + times->latencies + times->kernel + times->copy_out;
    return per_ns * stream_ns / times->packets;
}

/* Returns the utilization of a stage at a rate, or NaN if nothing limits the stage. */
static double used_frac(double per_ns, double limit_per_ns)
{
    return isinf(limit_per_ns) ? NAN : per_ns / limit_per_ns;
}

/* Adds the stages. The streams are busy while they have a batch, and always have one if the card is. */
static void add_stages(const struct kvc_scenario *scenario, const struct limits *limits,
                       const struct times *times, double per_ns, double writes_per_ns,
                       struct kvc_result *result)
{
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    double in_hand = in_hand_of(times, per_ns);
    double write_frac = writes_per_ns * (kvc_memcachedgpu_set_cpu_ns(config) + write_ns(config, in_hand)) /
                        config->options->set_threads;
    double streams = in_hand / config->streams;
    const double utilization_frac[KVC_MEMCACHEDGPU_STAGES] = {
        [KVC_MEMCACHEDGPU_RX] = used_frac(per_ns, limits->rx),
        [KVC_MEMCACHEDGPU_RECEIVE] = used_frac(per_ns, limits->receive),
        [KVC_MEMCACHEDGPU_LAUNCH] = used_frac(per_ns, limits->launch),
        [KVC_MEMCACHEDGPU_COPY_IN] = used_frac(per_ns, limits->copy_in),
        [KVC_MEMCACHEDGPU_GPU] = per_ns < limits->kernel ? streams : 1,
        [KVC_MEMCACHEDGPU_COPY_OUT] = used_frac(per_ns, limits->copy_out),
        [KVC_MEMCACHEDGPU_ANSWER] = used_frac(per_ns, limits->answer),
        [KVC_MEMCACHEDGPU_TX] = used_frac(per_ns, limits->tx),
        [KVC_MEMCACHEDGPU_SET] = writes_per_ns < writes_limit(config, in_hand) ? write_frac : 1,
    };
    kvc_stages_predict(kvc_memcachedgpu_stages, scenario, utilization_frac, result);
    kvc_bottleneck_find(result);
}

void kvc_memcachedgpu_add_price(const struct kvc_scenario *scenario, struct kvc_result *result)
{
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    if (config->cpu->price_usd > 0 && config->gpu->price_usd > 0) {
        double price_usd = config->shards * (config->cpu->price_usd + config->gpu->price_usd);
        kvc_metrics_set(&result->model, "kops_per_usd", result->throughput_mops * 1e3 / price_usd);
    }
}

enum kvc_status kvc_memcachedgpu_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                         struct kvc_diag *diag)
{
    (void)diag; /* The scenario was checked when it was loaded. */
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    struct mean mean = mean_of(scenario);
    struct limits limits = limits_of(scenario, &mean);
    double get_frac = fmax(scenario->workload.get_frac, 1e-9);
    double offered = kvc_workload_rate_max_mops(&scenario->workload) * 1e-3 * get_frac / config->shards;
    double per_ns = fmin(limits.lowest, offered);
    struct times times = times_of(scenario, &mean, per_ns);
    result->throughput_mops = per_ns * 1e3 * config->shards / get_frac;
    set_latencies(scenario, &mean, &times, &limits, offered, result); /* Those of GETs. */
    /* Writes take another way, and wait there without holding up GETs; a rate has as many as it states. */
    double writes = (isfinite(offered) ? offered : per_ns) * (1 - scenario->workload.get_frac) / get_frac;
    double in_hand = in_hand_of(&times, per_ns);
    writes = fmin(writes, writes_limit(config, in_hand));
    result->throughput_mops =
        (per_ns * fmin(scenario->workload.get_frac / get_frac, 1) + writes) * 1e3 * config->shards;
    add_stages(scenario, &limits, &times, per_ns, writes, result);
    add_metrics(config, &mean, &limits, &times, offered, in_hand, result);
    kvc_memcachedgpu_add_price(scenario, result);
    if (scenario->workload.arrival == KVC_ARRIVAL_TRACE && scenario->workload.trace.steady_mops <= 0) {
        kvc_result_note(result,
                        "a trace has no rate beforehand: this is the largest load that the store sustains");
    }
    return KVC_OK;
}

/* The length is independent of the speed of all devices, so that a run with a faster device has the same
 * windows. */
double kvc_memcachedgpu_window_ns(const struct kvc_scenario *scenario)
{
    static const double shortest_ns = 200e3, batches = 8, saturated_mops = 5;
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    double rate_mops = kvc_workload_rate_max_mops(&scenario->workload) / config->shards;
    double batch_ns = config->batch / (isfinite(rate_mops) ? rate_mops : saturated_mops) * 1e3;
    if (config->options->batch_timeout_ns > 0) {
        batch_ns = fmin(batch_ns, config->options->batch_timeout_ns);
    }
    return fmax(batches * batch_ns, shortest_ns);
}
