#include "models/megakv/closed_form.h"

#include <math.h>

#include "models/megakv/launch_costs.h"
#include "sim/devices/network.h"
#include "sim/workload/source/fill.h"
#include "sim/workload/keys/hottest_shard.h"

enum {
    BATCH_ROUNDS = 4,   /* Rounds after which speed and batches agree. */
    LITTLE_ROUNDS = 32, /* Rounds after which speed and latency agree. */
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
    double low = costs->measured ? MEASURED_FEW : FEW, high = costs->measured ? MEASURED_MANY : MANY,
           ns[2][2];
    if (pair->search.ns_per_op > 0 && !costs->measured) {
        return (struct kvc_megakv_fit){pair->search.ns_per_op, pair->search.base_ns, pair->insert.ns_per_op,
                                       pair->insert.base_ns};
    }
    for (int kernel = KVC_MEGAKV_KERNEL_SEARCH; kernel <= KVC_MEGAKV_KERNEL_INSERT; kernel++) {
        bool search = kernel == KVC_MEGAKV_KERNEL_SEARCH;
        struct kvc_megakv_launch_work few = search ? kvc_megakv_search_work(costs, low, 0)
                                                   : kvc_megakv_insert_work(costs, low),
                                      many = search ? kvc_megakv_search_work(costs, high, 0)
                                                    : kvc_megakv_insert_work(costs, high);
        double few_ns = kvc_megakv_launch_at_ns(costs, clock, &few);
        double many_ns = kvc_megakv_launch_at_ns(costs, clock, &many);
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

static struct kvc_megakv_limits limits_of(const struct kvc_megakv_costs *costs,
                                          const struct kvc_megakv_closed_form *form)
{
    const struct kvc_megakv_config *config = costs->config;
    const struct kvc_megakv_fit *fit = &form->fit;
    const struct kvc_megakv_load *load = &form->load;
    const struct kvc_cuckoo_means *means = &config->means;
    const struct kvc_megakv_mean_costs *mean = &form->mean;
    bool network = config->feed == KVC_MEGAKV_NETWORK;
    struct kvc_megakv_limits limits = {
        /* A cycle that is too short stretches until it is feasible. */
        .gpu = kvc_megakv_speed_limit(fit, load),
        .receivers = config->streams * thread_rate(config, mean->receive, mean->send),
        .senders = config->streams * thread_rate(config, mean->send, mean->receive),
        .rx = network ? wire_rate(config->nic, means->request_bytes) : INFINITY,
        .tx = network ? wire_rate(config->nic, means->response_bytes) : INFINITY,
        .buffers = (double)KVC_MEGAKV_ROWS_MAX * config->streams / config->cycle_ns,
    };
    if (config->threads == KVC_MEGAKV_OWN_THREADS &&
        config->streams > 1) { /* The scheduler waits for the slowest. */
        limits.senders /= costs->slowest_sender;
    }
    if (config->threads == KVC_MEGAKV_SHARED_THREADS) {
        share_cores(config, mean, fit, load, &limits);
    }
    limits.lowest = fmin(fmin(limits.gpu, fmin(limits.receivers, limits.senders)),
                         fmin(fmin(limits.rx, limits.tx), limits.buffers));
    return limits;
}

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

/* Returns the times at a cycle in which the socket serves `speed` requests/ns. */
static struct kvc_megakv_cycle_times times_of(const struct kvc_scenario *scenario,
                                              const struct kvc_megakv_costs *costs,
                                              const struct kvc_megakv_closed_form *form, double speed,
                                              double cycle_ns)
{
    const struct kvc_megakv_config *config = costs->config;
    const struct kvc_nic *nic = config->nic;
    struct kvc_megakv_load load = form->load;
    const struct kvc_cuckoo_means *means = &config->means;
    struct kvc_megakv_mean_costs mean = form->mean;
    double stream_speed = speed / config->senders;
    double send_ns = mean.send.compute_ns + mean.send.stall_ns;
    struct kvc_megakv_launch_work insert =
        kvc_megakv_insert_work(costs, (1 - load.search_frac) * speed * cycle_ns * load.delay);
    struct kvc_megakv_launch_work search =
        kvc_megakv_search_work(costs, load.search_frac * speed * cycle_ns, insert.jobs / load.delay);
    /* Calibrated senders answer a group of rows together. */
    double together = costs->measured ? KVC_MEGAKV_SEND_ROWS / 2.0 : 0;
    struct kvc_megakv_cycle_times times = {
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

/* Returns the speed at which clients send to the hottest socket [requests/ns]. */
static double offered_speed(const struct kvc_scenario *scenario, const struct kvc_megakv_costs *costs,
                            const struct kvc_megakv_closed_form *form)
{
    const struct kvc_megakv_config *config = costs->config;
    const struct kvc_workload *workload = &scenario->workload;
    double lowest = form->limits.lowest, speed = lowest, before = NAN;
    if (workload->arrival != KVC_ARRIVAL_CLOSED) {
        return fmin(lowest, kvc_workload_rate_max_mops(workload) * 1e-3 * form->share);
    }
    /* Little's law. The latency hardly depends on the speed, so a few iterations suffice. */
    for (int i = 0; i < LITTLE_ROUNDS && speed != before; i++) {
        struct kvc_megakv_cycle_times times = times_of(scenario, costs, form, speed, config->cycle_ns);
        struct kvc_megakv_latencies latencies = kvc_megakv_latencies_of(&times, config->delay);
        double mean_ns = kvc_megakv_latency_mean_ns(&latencies);
        before = speed;
        speed = fmin(lowest, (double)workload->clients * form->share / (mean_ns + workload->think_ns));
    }
    return speed;
}

/* Returns whether the preloaded items and the SETs of the run fill the slabs, if SETs arrive as fast as the
 * store serves them. */
static bool slabs_fill(const struct kvc_scenario *scenario, double speed)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    const struct kvc_run *run = &scenario->run;
    double items = workload->preload_frac * (double)workload->keys / config->shards;
    if (config->database != NULL) { /* Only what is missing is stored. */
        return (double)workload->keys / config->shards > kvc_megakv_mean_items(config);
    }
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
                            const struct kvc_megakv_closed_form *form)
{
    const struct kvc_megakv_config *config = costs->config;
    double rows = form->speed * fmax(kept_cycle_ns(config, &form->fit, &form->load, form->speed),
                                     full_buffers_cycle_ns(scenario, &form->limits));
    if (config->threads == KVC_MEGAKV_SHARED_THREADS && scenario->workload.arrival == KVC_ARRIVAL_SATURATE &&
        form->limits.receivers == form->limits.lowest) {
        rows = fmax(config->cycle_ns / (form->mean.receive.compute_ns + form->mean.receive.stall_ns),
                    form->speed * config->cycle_ns);
    }
    return fmin(rows / config->streams, KVC_MEGAKV_ROWS_MAX);
}

/* Computes what the hottest socket serves. The cost of receiving depends on the batches, and they on the
 * speed; the speed hardly changes after a few rounds. */
static void find_speed_of_batches(const struct kvc_scenario *scenario, struct kvc_megakv_costs *costs,
                                  struct kvc_megakv_closed_form *form)
{
    form->mean = kvc_megakv_mean_costs_of(scenario, costs);
    for (int round = 0; round < BATCH_ROUNDS; round++) {
        form->fit = kvc_megakv_fit_of(costs, costs->config->clock);
        form->limits = limits_of(costs, form);
        form->speed = offered_speed(scenario, costs, form);
        if (!costs->measured) {
            return;
        }
        kvc_megakv_costs_use_batches(costs, batch_rows_of(scenario, costs, form));
        form->mean = kvc_megakv_mean_costs_of(scenario, costs);
    }
}

/* Computes what the hottest socket serves, first without evictions, and again with them if that many SETs
 * fill the slabs. What evictions cost is known only where costs were measured. */
static void find_speed(const struct kvc_scenario *scenario, struct kvc_megakv_costs *costs,
                       struct kvc_megakv_closed_form *form)
{
    bool fills = false;
    do {
        costs->evicting = fills;
        find_speed_of_batches(scenario, costs, form);
        fills = slabs_fill(scenario, form->speed);
    } while (fills && !costs->evicting && costs->measured);
}

struct kvc_megakv_closed_form kvc_megakv_closed_form_of(const struct kvc_scenario *scenario,
                                                        struct kvc_megakv_costs *costs)
{
    const struct kvc_megakv_config *config = costs->config;
    struct kvc_megakv_closed_form form = {
        .load = kvc_megakv_load_of(scenario),
        .share = kvc_hottest_shard_frac(&scenario->workload, (uint32_t)scenario->cluster.nodes,
                                        (uint32_t)scenario->node.sockets,
                                        (uint32_t)scenario->cluster.virtual_nodes),
    };
    find_speed(scenario, costs, &form);
    if (config->insert_stream == KVC_MEGAKV_INSERT_OWN_STREAM) {
        form.fit.insert_base_ns = 0; /* Searches run while an insert waits for its own latency. */
    }
    double cycle_ns = fmax(kept_cycle_ns(config, &form.fit, &form.load, form.speed),
                           full_buffers_cycle_ns(scenario, &form.limits));
    form.times = times_of(scenario, costs, &form, form.speed, cycle_ns);
    form.fill_ns = config->feed == KVC_MEGAKV_NETWORK ? fill_of(scenario, form.speed).wait_ns : 0;
    return form;
}

const struct kvc_megakv_closed_name kvc_megakv_closed_names[KVC_MEGAKV_CLOSED_STAGES] = {
    [KVC_MEGAKV_CLOSED_RX] = {"rx", "nic"},       [KVC_MEGAKV_CLOSED_RECEIVE] = {"receive", "cpu"},
    [KVC_MEGAKV_CLOSED_INDEX] = {"index", "gpu"}, [KVC_MEGAKV_CLOSED_SEND] = {"send", "cpu"},
    [KVC_MEGAKV_CLOSED_TX] = {"tx", "nic"},
};

double kvc_megakv_closed_utilization(const struct kvc_megakv_closed_form *form, uint32_t delay,
                                     enum kvc_megakv_closed_stage stage)
{
    const struct kvc_megakv_limits *limits = &form->limits;
    const struct kvc_megakv_cycle_times *times = &form->times;
    double inserting_ns = times->insert_ns / (double)delay, index_ns, utilization = 0;
    switch (stage) {
    case KVC_MEGAKV_CLOSED_RX:
        utilization = form->speed / limits->rx;
        break;
    case KVC_MEGAKV_CLOSED_RECEIVE:
        utilization = form->speed / limits->receivers;
        break;
    case KVC_MEGAKV_CLOSED_INDEX:
        index_ns = times->overlap ? fmax(times->search_ns, inserting_ns) : times->search_ns + inserting_ns;
        utilization = index_ns / times->cycle_ns;
        break;
    case KVC_MEGAKV_CLOSED_SEND:
        utilization = form->speed / limits->senders;
        break;
    default:
        utilization = form->speed / limits->tx;
        break;
    }
    return isfinite(utilization) ? fmin(utilization, 1) : 0;
}
