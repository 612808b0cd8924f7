/* Fills the result of a simulated Mega-KV. */
#include <math.h>

#include "models/megakv/predict.h"
#include "models/megakv/range.h"
#include "models/megakv/simulation.h"
#include "sim/metrics/bottleneck.h"

static struct kvc_stage_result *add_stage(const struct kvc_megakv_simulation *simulation, const char *name,
                                          const char *device, double busy_ns, double servers, double mean_ns,
                                          struct kvc_result *result)
{
    struct kvc_stage_result *stage =
        kvc_recorder_report_stage(&simulation->replica.recorder, name, device, busy_ns, servers, result);
    stage->mean_us = mean_ns * 1e-3;
    return stage;
}

static void report_stages(const struct kvc_megakv_simulation *simulation, struct kvc_result *result)
{
    const struct kvc_recorder *recorder = &simulation->replica.recorder;
    const double *busy_ns = recorder->busy_ns;
    double measured_ns = recorder->until_ns - recorder->from_ns, batched = (double)simulation->batched;
    double gpus = simulation->socket_count, threads = gpus * simulation->streams;
    double streams = simulation->on_thread ? gpus : threads;
    if (simulation->config->insert_stream == KVC_MEGAKV_INSERT_OWN_STREAM) {
        streams += gpus;
    }
    bool network = simulation->config->feed == KVC_MEGAKV_NETWORK, shared = simulation->shared;
    double index_ns = busy_ns[KVC_MEGAKV_SEARCH] + busy_ns[KVC_MEGAKV_INSERT];
    double send_cores =
        simulation->shared ? fmin((double)simulation->config->cpu->cores - 1, threads) : threads;
    if (network) {
        add_stage(simulation, "rx", "nic", busy_ns[KVC_MEGAKV_RX],
                  gpus * (double)simulation->config->nic->ports, NAN, result);
    }
    struct kvc_stage_result *receive =
        add_stage(simulation, "receive", "cpu", busy_ns[KVC_MEGAKV_RECEIVE], shared ? gpus : threads,
                  simulation->receive_sum_ns / (double)simulation->received, result);
    struct kvc_stage_result *index = add_stage(simulation, "index", simulation->on_thread ? "cpu" : "gpu",
                                               index_ns, streams, simulation->gpu_sum_ns / batched, result);
    if (shared) {
        receive->utilization_frac = index->utilization_frac += receive->utilization_frac;
    }
    add_stage(simulation, "send", "cpu", busy_ns[KVC_MEGAKV_SEND], send_cores,
              simulation->send_sum_ns / batched, result);
    if (network) {
        add_stage(simulation, "tx", "nic", busy_ns[KVC_MEGAKV_TX], gpus, NAN, result);
    }
    kvc_metrics_set(&result->model, "batching_mean_us", simulation->batch_sum_ns / batched / 1e3);
    kvc_metrics_set(&result->model, "stream_search_utilization_frac",
                    busy_ns[KVC_MEGAKV_SEARCH] / streams / measured_ns);
    kvc_metrics_set(&result->model, "stream_insert_utilization_frac",
                    busy_ns[KVC_MEGAKV_INSERT] / streams / measured_ns);
}

static void report_launches(const struct kvc_megakv_launches *launches, const char *time_name,
                            const char *jobs_name, struct kvc_result *result)
{
    if (launches->count == 0) {
        return;
    }
    kvc_metrics_set(&result->model, time_name, launches->ns / (double)launches->count / 1e3);
    kvc_metrics_set(&result->model, jobs_name, launches->jobs / (double)launches->count);
}

/* Reports whether the cycle was kept, and how long it really was. */
static void report_cycle(const struct kvc_megakv_simulation *simulation, struct kvc_result *result)
{
    const struct kvc_scenario *scenario = simulation->scenario;
    struct kvc_megakv_fit fit = kvc_megakv_fit_of(&simulation->costs, simulation->config->clock);
    struct kvc_megakv_load load = kvc_megakv_load_of(scenario);
    double launches = (double)simulation->launches, sockets = simulation->socket_count;
    double span_ns = simulation->last_launch_ns - simulation->first_launch_ns;
    double effective_ns = launches > sockets ? span_ns / (launches / sockets - 1) : NAN;
    double late_frac = launches > 0 ? (double)simulation->late_launches / launches : 0;
    double speed = result->throughput_mops / 1e3 / sockets;
    double needed_ns = kvc_megakv_cycle_min_ns(&fit, &load, speed);
    kvc_metrics_set(&result->model, "cycle_us", simulation->config->cycle_ns / 1e3);
    kvc_metrics_set(&result->model, "cycle_effective_us", effective_ns / 1e3);
    kvc_metrics_set(&result->model, "cycle_needed_us", needed_ns / 1e3);
    kvc_metrics_set(&result->model, "launches_late_frac", late_frac);
    kvc_metrics_set(
        &result->model, "overrun_mean_us",
        simulation->late_launches > 0 ? simulation->late_ns / (double)simulation->late_launches / 1e3 : 0);
    kvc_metrics_set(&result->model, "overrun_max_us", simulation->late_ns_max / 1e3);
    if (late_frac > 0.01 && effective_ns > simulation->config->cycle_ns * 1.001) {
        kvc_result_note(
            result,
            "the cycle of %.4g us was not kept: %.3g %% of the launches were late, the mean cycle was "
            "%.4g us (at this speed T_S + T_max needs %.4g us); latencies are those of the stretched cycle",
            simulation->config->cycle_ns / 1e3, late_frac * 100, effective_ns / 1e3, needed_ns / 1e3);
    }
}

static void report_kernel(const struct kvc_megakv_simulation *simulation, struct kvc_result *result)
{
    const struct kvc_megakv_store *store = simulation->store;
    struct kvc_index_stats index = {0};
    struct kvc_megakv_slab_stats slab = {0};
    double used = 0, slots = 0, items = 0, rejected = 0;
    for (uint32_t i = 0; i < store->shard_count && store->shards != NULL; i++) {
        const struct kvc_megakv_shard *shard = &store->shards[i];
        index.searches += shard->index_stats.searches;
        index.search_lines += shard->index_stats.search_lines;
        index.inserts += shard->index_stats.inserts;
        index.insert_lines += shard->index_stats.insert_lines;
        index.displacements += shard->index_stats.displacements;
        index.dropped += shard->index_stats.dropped;
        index.replaced += shard->index_stats.replaced;
        slab.evicted += shard->slab_stats.evicted;
        slab.reads += shard->slab_stats.reads;
        slab.read_lines += shard->slab_stats.read_lines;
        slab.marked += shard->slab_stats.marked;
        used += (double)kvc_index_used(shard->index);
        slots += (double)kvc_index_capacity(shard->index);
        items += (double)kvc_megakv_slab_used_items(shard->slab);
        rejected += (double)shard->rejected;
    }
    double searches = (double)index.searches, inserts = (double)index.inserts, reads = (double)slab.reads;
    kvc_metrics_set(&result->kernel, "sample_rate", (double)store->sampling.rate);
    kvc_metrics_set(&result->kernel, "load_factor_frac", slots > 0 ? used / slots : NAN);
    kvc_metrics_set(&result->kernel, "lines_per_search",
                    searches > 0 ? (double)index.search_lines / searches : NAN);
    kvc_metrics_set(&result->kernel, "lines_per_insert",
                    inserts > 0 ? (double)index.insert_lines / inserts : NAN);
    kvc_metrics_set(&result->kernel, "displacements_per_insert",
                    inserts > 0 ? (double)index.displacements / inserts : NAN);
    kvc_metrics_set(&result->kernel, "lines_per_read", reads > 0 ? (double)slab.read_lines / reads : NAN);
    kvc_metrics_set(&result->kernel, "marks_per_read", reads > 0 ? (double)slab.marked / reads : NAN);
    kvc_metrics_set(&result->kernel, "replaced", (double)index.replaced);
    kvc_metrics_set(&result->kernel, "dropped", (double)index.dropped);
    kvc_metrics_set(&result->kernel, "evictions", (double)slab.evicted);
    kvc_metrics_set(&result->kernel, "rejected", rejected);
    kvc_metrics_set(&result->kernel, "items", items);
}

void kvc_megakv_report(struct kvc_megakv_simulation *simulation, struct kvc_result *result)
{
    const struct kvc_scenario *scenario = simulation->scenario;
    const struct kvc_recorder *recorder = &simulation->replica.recorder;
    result->offered = recorder->offered;
    result->dropped = recorder->dropped;
    result->completed = simulation->completed;
    result->hits = simulation->hits;
    result->misses = simulation->misses;
    result->gets = simulation->hits + simulation->misses;
    result->sets = simulation->sets;
    result->deletes = simulation->writes - simulation->sets;
    kvc_recorder_report(&simulation->replica.recorder, result);
    report_stages(simulation, result);
    report_launches(&simulation->searched, "t_search_us", "jobs_per_search", result);
    report_launches(&simulation->inserted, "t_insert_us", "jobs_per_insert", result);
    kvc_megakv_note_range(scenario, kvc_metrics_get(&result->model, "jobs_per_search"), result);
    report_cycle(simulation, result);
    report_kernel(simulation, result);
    kvc_bottleneck_find(result);
    if (simulation->written > 0) {
        kvc_metrics_set(&result->model, "write_latency_mean_us",
                        simulation->write_latency_sum_ns / (double)simulation->written / 1e3);
    }

    if (result->dropped > 0) {
        kvc_result_note(result,
                        "%.3g %% of the requests were dropped at full receive rings: the load is too high",
                        100.0 * (double)result->dropped / (double)result->offered);
    }
}
