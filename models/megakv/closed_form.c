#include "models/megakv/closed_form.h"

#include <math.h>

#include "models/megakv/costs.h"
#include "sim/devices/network.h"
#include "sim/workload/keys/hottest_shard.h"
#include "sim/workload/keys/popularity_blocks.h"
#include "sim/workload/rates.h"

/* ---- the periodic schedule ---- */

enum {
    SETTLING_CYCLES = 64, /* Cycles per delay after which growing waits are taken. */
};

struct kvc_megakv_latencies kvc_megakv_latencies_of(const struct kvc_megakv_cycle_times *times,
                                                    uint32_t delay)
{
    struct kvc_megakv_latencies latencies;
    double gpu_free_ns = 0, sender_free_ns = 0; /* Counted from the launch of a cycle. */
    double search_ns = times->search_ns, cycle_ns = times->cycle_ns;
    double middle_ns = (times->batch_send_ns + cycle_ns) / 2 + times->fixed_ns;
    latencies.batches = delay;
    latencies.spread_ns = times->batch_send_ns - cycle_ns;
    for (uint32_t round = 0; round < SETTLING_CYCLES; round++) {
        double gpu_before_ns = gpu_free_ns, sender_before_ns = sender_free_ns;
        for (uint32_t k = 0; k < delay; k++) {
            double searched_ns = gpu_free_ns + search_ns;
            double sent_from_ns = fmax(searched_ns, sender_free_ns);
            double inserted_ns = searched_ns + (k + 1 == delay && !times->overlap ? times->insert_ns : 0);
            latencies.middle_ns[k] = sent_from_ns + middle_ns;
            gpu_free_ns = fmax(inserted_ns - cycle_ns, 0);
            /* A search takes search_ns at least, so a sender that is free earlier waits for it. */
            sender_free_ns = fmax(sent_from_ns + times->batch_send_ns - cycle_ns, search_ns);
        }
        if (gpu_free_ns == gpu_before_ns && sender_free_ns == sender_before_ns) {
            break; /* The next round would be the same. */
        }
    }
    return latencies;
}

double kvc_megakv_latency_mean_ns(const struct kvc_megakv_latencies *latencies)
{
    double sum_ns = 0;
    for (uint32_t k = 0; k < latencies->batches; k++) {
        sum_ns += latencies->middle_ns[k];
    }
    return sum_ns / latencies->batches;
}

/* ---- the paper's equations ---- */

/* Work of the GPU within a span of cycles: 2 with delayed inserts, otherwise 1. Every inequality of the paper
 * is base_ns + per_op_ns * V * C <= cycles * C. */
struct span {
    double cycles, base_ns, per_op_ns;
};

/* A kernel without work is not launched, so its base time counts only if it has a share of the load. */
static struct span span_of(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load)
{
    double p_search = load->search_frac, p_insert = 1 - load->search_frac;
    double cycles = load->delay >= 2 ? 2 : 1;
    double inserts_over = load->delay >= 2 ? load->delay : 1;
    return (struct span){
        .cycles = cycles,
        .base_ns =
            (p_search > 0 ? cycles * fit->search_base_ns : 0) + (p_insert > 0 ? fit->insert_base_ns : 0),
        .per_op_ns =
            cycles * fit->search_ns_per_op * p_search + inserts_over * fit->insert_ns_per_op * p_insert,
    };
}

double kvc_megakv_search_ns(const struct kvc_megakv_fit *fit, double searches)
{
    return searches > 0 ? fit->search_ns_per_op * searches + fit->search_base_ns : 0;
}

double kvc_megakv_insert_ns(const struct kvc_megakv_fit *fit, double inserts)
{
    return inserts > 0 ? fit->insert_ns_per_op * inserts + fit->insert_base_ns : 0;
}

double kvc_megakv_busiest_ns(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load,
                             double cycle_ns, double ops_per_ns)
{
    double ops = ops_per_ns * cycle_ns;
    return kvc_megakv_search_ns(fit, load->search_frac * ops) +
           kvc_megakv_insert_ns(fit, (1 - load->search_frac) * ops * load->delay);
}

bool kvc_megakv_feasible(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load,
                         double cycle_ns, double ops_per_ns)
{
    struct span span = span_of(fit, load);
    return span.base_ns + span.per_op_ns * ops_per_ns * cycle_ns <= span.cycles * cycle_ns;
}

double kvc_megakv_cycle_min_ns(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load,
                               double ops_per_ns)
{
    struct span span = span_of(fit, load);
    double room = span.cycles - span.per_op_ns * ops_per_ns;
    return room > 0 ? span.base_ns / room : INFINITY;
}

double kvc_megakv_speed_max(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load,
                            double cycle_ns)
{
    struct span span = span_of(fit, load);
    return fmax((span.cycles * cycle_ns - span.base_ns) / (span.per_op_ns * cycle_ns), 0);
}

double kvc_megakv_speed_limit(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load)
{
    struct span span = span_of(fit, load);
    return span.cycles / span.per_op_ns;
}

enum {
    BATCH_ROUNDS = 4,   /* Rounds after which speed and batches agree. */
    LITTLE_ROUNDS = 32, /* Rounds after which speed and latency agree. */
    /* Jobs of the two launches that define the line of a device without a fit. A calibrated device was
     * measured with smaller launches, as its pipelines make them. */
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
    for (int kernel = KVC_SHARDS_SEARCH; kernel <= KVC_SHARDS_INSERT; kernel++) {
        bool search = kernel == KVC_SHARDS_SEARCH;
        struct kvc_megakv_launch_work few = search ? kvc_megakv_search_work(costs, low, 0)
                                                   : kvc_megakv_insert_work(costs, low),
                                      many = search ? kvc_megakv_search_work(costs, high, 0)
                                                    : kvc_megakv_insert_work(costs, high);
        double few_ns = kvc_megakv_launch_at_ns(costs, clock, &few);
        double many_ns = kvc_megakv_launch_at_ns(costs, clock, &many);
        /* More jobs never take less time; on a fast card, short launches differ by noise alone. */
        ns[kernel][0] = fmax(many_ns - few_ns, 0) / (high - low);
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
    return 1 / fmax(alone_ns, together_ns); /* The limit is infinite if nothing takes time. */
}

static double wire_rate(const struct kvc_nic *nic, double message_bytes)
{
    double messages = kvc_nic_messages_per_frame(nic, message_bytes);
    return messages / kvc_nic_wire_ns(nic, messages * message_bytes, 1);
}

/* Sets the limits for threads = "shared". The first core launches, then receives until the cycle is over; if
 * the launch of a cycle's requests takes longer than a cycle, it still receives for a full cycle. The senders
 * share the other cores. */
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
    const struct kvc_shards_means *means = &config->means;
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
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    bool gradually = !kvc_workload_sends_together(workload) && kvc_workload_has_rate(workload);
    if (!gradually || speed <= 0) {
        return (struct kvc_fill){.requests = config->frame_mean};
    }
    return kvc_fill_of(speed / kvc_workload_flows(workload), config->frame_requests,
                       workload->fill_timeout_ns);
}

/* Returns the times at a cycle in which the socket serves `speed` requests/ns. */
static struct kvc_megakv_cycle_times times_of(const struct kvc_scenario *scenario,
                                              const struct kvc_megakv_costs *costs,
                                              const struct kvc_megakv_closed_form *form,
                                              const struct kvc_fill *fill, double speed, double cycle_ns)
{
    const struct kvc_megakv_config *config = costs->config;
    const struct kvc_nic *nic = config->nic;
    struct kvc_megakv_load load = form->load;
    const struct kvc_shards_means *means = &config->means;
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
        double responses = kvc_nic_messages_per_frame(nic, means->response_bytes);
        uint32_t ports = (uint32_t)nic->ports;
        double frame_ns = kvc_nic_wire_ns(nic, responses * means->response_bytes, ports);
        double path_ns =
            kvc_network_path_ns(&scenario->node, kvc_nic_wire_bytes(nic, kvc_nic_payload_bytes(nic)));
        /* A batch is finished when the socket's responses have left. */
        double sent_ns = kvc_nic_wire_ns(nic, responses * means->response_bytes, 1) / responses;
        times.batch_send_ns = fmax(times.batch_send_ns, sent_ns * speed * cycle_ns);
        times.fixed_ns += fill->wait_ns + 2 * path_ns +
                          kvc_nic_wire_ns(nic, fill->requests * means->request_bytes, ports) + frame_ns +
                          fill->requests / 2 * (mean.receive.compute_ns + mean.receive.stall_ns) +
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
        struct kvc_fill fill = fill_of(scenario, speed);
        struct kvc_megakv_cycle_times times = times_of(scenario, costs, form, &fill, speed, config->cycle_ns);
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
    if (config->database != NULL) { /* Only missing keys are stored. */
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

/* Returns the requests of a batch. If the first core is shared and the launch of a cycle's requests takes
 * longer than a cycle, it still receives for a full one. */
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

/* Computes the speed of the hottest socket. The cost of receiving depends on the batches, which depend on the
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

/* Computes the speed of the hottest socket, first without evictions, and again with them if that many SETs
 * fill the slabs. The cost of evictions is known only if it was measured. */
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
    form.fill = fill_of(scenario, form.speed);
    form.times = times_of(scenario, costs, &form, &form.fill, form.speed, cycle_ns);
    form.fill_ns = config->feed == KVC_MEGAKV_NETWORK ? form.fill.wait_ns : 0;
    return form;
}

/* ---- utilization ---- */

/* Returns the mean time for which a stream is busy with its part of a launch that takes launch_ns [ns]. All
 * streams start together, take turns on the copy engine, and share the card from then on, so that the last
 * one ends with the launch and a stream with fewer jobs ends earlier. `random_jobs` is the number of jobs
 * that go to a random stream together, 0 if all streams get the same: the mean difference of two streams is
 * 2/sqrt(pi) of their standard deviation, which is that of a Poisson distribution. */
static double stream_ns(const struct kvc_megakv_costs *costs, const struct kvc_megakv_launch_work *launch,
                        double launch_ns, double random_jobs)
{
    const struct kvc_megakv_config *config = costs->config;
    double streams = config->streams, jobs = launch->jobs / streams;
    if (config->index_on != KVC_MEGAKV_INDEX_ON_GPU || jobs <= 0) {
        return launch_ns;
    }
    struct kvc_gpu_work work = kvc_shards_gpu_work(launch->kernel, launch->jobs, config->streams, NULL);
    double copy_ns = kvc_pcie_h2d_ns(config->pcie, work.in_bytes) / streams;
    double apart_ns =
        2 / sqrt(acos(-1)) * sqrt(random_jobs / jobs) * kvc_megakv_kernel_of(costs, launch, jobs).amount_ns;
    return launch_ns - (streams - 1) / 2 * (copy_ns + apart_ns);
}

/* Returns the share of the time for which the streams are busy, or the core that takes their place. */
static double index_frac(const struct kvc_scenario *scenario, const struct kvc_megakv_costs *costs,
                         const struct kvc_megakv_closed_form *form)
{
    const struct kvc_megakv_config *config = costs->config;
    const struct kvc_megakv_cycle_times *times = &form->times;
    enum kvc_arrival arrival = scenario->workload.arrival;
    bool steady = arrival == KVC_ARRIVAL_SATURATE || arrival == KVC_ARRIVAL_CLOSED;
    double frame = fmax(form->fill.requests * form->load.search_frac, 1);
    struct kvc_megakv_launch_work insert = kvc_megakv_insert_work(costs, times->inserts),
                                  search = kvc_megakv_search_work(costs, times->searches,
                                                                  times->inserts / config->delay);
    double search_ns = stream_ns(costs, &search, times->search_ns, steady ? 0 : frame);
    if (times->overlap) { /* The stream of the inserts is one more. */
        return (config->streams * search_ns + times->insert_ns / config->delay) / (config->streams + 1) /
               times->cycle_ns;
    }
    return (search_ns + stream_ns(costs, &insert, times->insert_ns, 0) / config->delay) / times->cycle_ns;
}

/* Returns whether a limit holds the store up, whatever the rounding. */
static bool is_at(const struct kvc_megakv_closed_form *form, double limit)
{
    static const double rounding_frac = 1e-9;
    return form->speed >= limit * (1 - rounding_frac);
}

/* Returns the share of the time for which threads are busy that take `cost` for a request. Threads that share
 * their cores with others do not reach their limit by their own cost; at it, they always have a request. */
static double threads_frac(const struct kvc_megakv_closed_form *form, struct kvc_cpu_cost cost,
                           double threads, double limit)
{
    return is_at(form, limit) ? 1 : form->speed * (cost.compute_ns + cost.stall_ns) / threads;
}

double kvc_megakv_closed_utilization(const struct kvc_scenario *scenario,
                                     const struct kvc_megakv_costs *costs,
                                     const struct kvc_megakv_closed_form *form, enum kvc_megakv_stage stage)
{
    const struct kvc_megakv_limits *limits = &form->limits;
    const struct kvc_megakv_config *config = costs->config;
    bool shared = config->threads == KVC_MEGAKV_SHARED_THREADS;
    double receive = threads_frac(form, form->mean.receive, shared ? 1 : config->streams, limits->receivers);
    double utilization = 0;
    switch (stage) {
    case KVC_MEGAKV_RX:
        utilization = form->speed / limits->rx;
        break;
    case KVC_MEGAKV_RECEIVE:
        utilization = receive + (shared ? index_frac(scenario, costs, form) : 0);
        break;
    case KVC_MEGAKV_SEARCH:
        utilization =
            is_at(form, limits->gpu) ? 1 : index_frac(scenario, costs, form) + (shared ? receive : 0);
        break;
    case KVC_MEGAKV_SEND:
        utilization = threads_frac(form, form->mean.send, config->senders, limits->senders);
        break;
    default:
        utilization = form->speed / limits->tx;
        break;
    }
    return isfinite(utilization) ? fmin(utilization, 1) : 0;
}

/* ---- the database behind a socket ---- */

/* Returns the share of the GETs that hit in the long run. */
static double hit_frac(const struct kvc_scenario *scenario)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    double room = config->shards * kvc_megakv_items_max(config);
    if (workload->trace.profile != NULL) {
        return kvc_workload_trace_hit_frac(workload, room);
    }
    double held = room < (double)workload->keys ? kvc_popularity_mass(workload, room) : 1;
    return held * kvc_cache_aside_valid_frac(workload);
}

/* Turns the load of the application into the load of the store. */
static void set_load(struct kvc_workload *workload, const struct kvc_megakv_behind *behind)
{
    double most_mops = kvc_workload_rate_max_mops(workload);
    double factor = behind->messages * fmin(behind->limit_mops / most_mops, 1);
    kvc_workload_scale_rates(workload, factor);
    workload->get_frac = behind->mix.get / behind->messages;
    workload->set_frac = behind->mix.set / behind->messages;
    workload->delete_frac = behind->mix.delete / behind->messages;
}

/* Sets the mean sizes. A GET that misses has an empty response. */
static void set_means(struct kvc_megakv_behind *behind)
{
    struct kvc_megakv_config *config = &behind->config;
    struct kvc_workload gets = behind->scenario->workload;
    config->means = kvc_shards_means_of(&gets, config->dram, config->nic, config->api == KVC_MEGAKV_GETK);
    double missed = gets.get_frac * (1 - behind->mix.hit);
    gets.get_frac = 1;
    gets.set_frac = gets.delete_frac = 0;
    double hit_bytes =
        kvc_shards_means_of(&gets, config->dram, config->nic, config->api == KVC_MEGAKV_GETK).response_bytes;
    config->means.response_bytes -= missed * (hit_bytes - (double)config->nic->response_header_bytes);
}

void kvc_megakv_behind_open(struct kvc_megakv_behind *behind, const struct kvc_scenario *scenario)
{
    const struct kvc_database *database = kvc_megakv_config_of(scenario)->database;
    const struct kvc_workload *workload = &scenario->workload;
    behind->scenario = scenario;
    behind->config = *kvc_megakv_config_of(scenario);
    behind->mix = (struct kvc_cache_aside_mix){.get = 0};
    behind->load = (struct kvc_database_load){.busy_ns = 0};
    behind->messages = 1;
    behind->limit_mops = INFINITY;
    if (database == NULL) {
        return;
    }
    behind->scenario = &behind->limited;
    behind->limited = *scenario;
    behind->limited.config = &behind->config;
    double nodes = (double)scenario->cluster.nodes;
    double share =
        kvc_hottest_shard_frac(workload, (uint32_t)nodes, 1, (uint32_t)scenario->cluster.virtual_nodes);
    behind->mix = kvc_cache_aside_mix_of(workload, true, hit_frac(scenario));
    behind->messages = behind->mix.get + behind->mix.set + behind->mix.delete;
    behind->load = kvc_cache_aside_load_of(&behind->mix, database, (double)workload->keys / nodes);
    behind->limit_mops = behind->load.busy_ns > 0 ? 1e3 / behind->load.busy_ns / share : INFINITY;
    set_load(&behind->limited.workload, behind);
    set_means(behind);
}

void kvc_megakv_behind_costs(const struct kvc_megakv_behind *behind, struct kvc_megakv_costs *costs)
{
    kvc_megakv_costs_open(costs, behind->scenario);
    if (behind->config.database != NULL) {
        costs->hit_frac = behind->mix.hit;
        costs->lookup_mix.missed_frac = costs->measured ? 1 - behind->mix.hit : 0;
    }
}

double kvc_megakv_behind_latency_ns(const struct kvc_megakv_behind *behind, double latency_ns, double fill_ns)
{
    const struct kvc_database *database = behind->config.database;
    const struct kvc_cache_aside_mix *mix = &behind->mix;
    if (database == NULL) {
        return latency_ns;
    }
    double keys = (double)behind->scenario->workload.keys / (double)behind->scenario->cluster.nodes;
    if (mix->get > 0) {
        double query_ns = kvc_database_load_of(database, false, keys).time_ns + database->latency_ns;
        return latency_ns + (1 - mix->hit) * (query_ns + latency_ns - fill_ns);
    }
    double deletes = 1 - mix->updates; /* DELETEs of the application. */
    return mix->delete *latency_ns - (mix->delete - deletes) * fill_ns + behind->load.time_ns;
}
