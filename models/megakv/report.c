/* Fills the result of a simulated Mega-KV. */
#include <math.h>
#include <string.h>

#include "models/megakv/closed_form.h"
#include "models/megakv/predict.h"
#include "models/megakv/resources.h"
#include "models/megakv/simulation.h"

enum { RATIOS_MAX = 8 /* Quotients of the store's counters. */ };

static const double lost_keys_frac = 0.001;

/* Returns the means by batch of a value that the result has. */
static struct kvc_batch_means *batch_means_of(struct kvc_result *result, const char *name)
{
    return &result->batch_means[kvc_result_batch_means(result, name) - result->batch_means];
}

/* Sets the means of two stages by batch to their sums. */
static void add_batches(struct kvc_batch_means *a, struct kvc_batch_means *b)
{
    for (uint32_t i = 0; i < a->count; i++) {
        a->mean[i] = b->mean[i] += a->mean[i];
    }
}

/* Returns the CUDA streams of all GPUs, or the cores that take their place. */
static double streams_of(const struct kvc_megakv_simulation *simulation)
{
    struct kvc_model_stage stage[KVC_MODEL_STAGES_MAX];
    kvc_megakv_stages(simulation->scenario, stage);
    return stage[KVC_MEGAKV_SEARCH].servers;
}

/* Reports the times of requests in the stages, and gives stages that share a core one utilization. */
static void report_stages(const struct kvc_megakv_simulation *simulation, struct kvc_result *result)
{
    const struct kvc_recorder *recorder = &simulation->replica.recorder;
    const double *busy_ns = recorder->busy_ns;
    double measured_ns = recorder->until_ns - recorder->from_ns, batched = (double)simulation->batched;
    double streams = streams_of(simulation);
    struct kvc_stage_result *receive = kvc_stages_find(result, "receive"),
                            *index = kvc_stages_find(result, "index");
    receive->mean_us = simulation->receive_sum_ns / (double)simulation->received * 1e-3;
    index->mean_us = simulation->gpu_sum_ns / batched * 1e-3;
    kvc_stages_find(result, "send")->mean_us = simulation->send_sum_ns / batched * 1e-3;
    if (simulation->shared) { /* Shared senders take turns on one core. */
        receive->utilization_frac = index->utilization_frac += receive->utilization_frac;
        add_batches(batch_means_of(result, "stages.receive.utilization_frac"),
                    batch_means_of(result, "stages.index.utilization_frac"));
    }
    kvc_metrics_set(&result->model, "batching_mean_us", simulation->batch_sum_ns / batched / 1e3);
    kvc_metrics_set(&result->model, "stream_search_utilization_frac",
                    busy_ns[KVC_MEGAKV_SEARCH] / streams / measured_ns);
    kvc_metrics_set(&result->model, "stream_insert_utilization_frac",
                    busy_ns[KVC_MEGAKV_INSERT] / streams / measured_ns);
}

static void report_launches(const struct kvc_megakv_launches *launches, const char *time_name,
                            const char *jobs_name, const char *job_name, struct kvc_result *result)
{
    if (launches->count == 0) {
        return;
    }
    kvc_metrics_set(&result->model, time_name, launches->ns / (double)launches->count / 1e3);
    kvc_metrics_set(&result->model, jobs_name, launches->jobs / (double)launches->count);
    kvc_metrics_set(&result->model, job_name, launches->ns / launches->jobs);
}

/* Reports whether the cycle was kept, and its actual length. */
static void report_cycle(const struct kvc_megakv_simulation *simulation, struct kvc_result *result)
{
    const struct kvc_scenario *scenario = simulation->behind.scenario;
    struct kvc_megakv_fit fit = kvc_megakv_fit_of(&simulation->costs, simulation->config->clock);
    struct kvc_megakv_load load = kvc_megakv_load_of(scenario);
    double launches = (double)simulation->launches, sockets = simulation->socket_count;
    double span_ns = simulation->last_launch_ns - simulation->first_launch_ns;
    double effective_ns = launches > sockets ? span_ns / (launches / sockets - 1) : NAN;
    double late_frac = launches > 0 ? (double)simulation->late_launches / launches : 0;
    double speed = result->throughput_mops * simulation->behind.messages / 1e3 / sockets;
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
            "%.4g us (at this speed T_S + T_max needs %.4g us); the latencies hold for the stretched cycle",
            simulation->config->cycle_ns / 1e3, late_frac * 100, effective_ns / 1e3, needed_ns / 1e3);
    }
}

/* Reports the load of the fullest socket relative to the mean of all sockets, over the whole run. */
static void report_imbalance(const struct kvc_megakv_simulation *simulation, struct kvc_result *result)
{
    uint64_t all = 0, most = 0;
    for (uint32_t i = 0; i < simulation->socket_count; i++) {
        uint64_t sent = simulation->sockets[i].sent_here;
        all += sent;
        most = sent > most ? sent : most;
    }
    if (simulation->socket_count > 1 && all > 0) {
        kvc_metrics_set(&result->model, "fullest_socket_over_mean",
                        (double)most * simulation->socket_count / (double)all);
    }
}

/* Returns the sum of the shards' counters since preloading. */
static struct kvc_megakv_counters counters_of(const struct kvc_shards *store)
{
    struct kvc_megakv_counters sum = {0};
    for (uint32_t i = 0; i < store->shard_count && store->shards != NULL; i++) {
        const struct kvc_shard *shard = &store->shards[i];
        sum.searches += shard->index_stats.searches;
        sum.search_lines += shard->index_stats.search_lines;
        sum.inserts += shard->index_stats.inserts;
        sum.insert_lines += shard->index_stats.insert_lines;
        sum.displacements += shard->index_stats.displacements;
        sum.dropped += shard->index_stats.dropped;
        sum.replaced += shard->index_stats.replaced;
        sum.evicted += shard->slab_stats.evicted;
        sum.reads += shard->read;
        sum.read_lines += shard->slab_stats.read_lines;
        sum.marked += shard->slab_stats.marked;
        sum.rejected += shard->rejected;
    }
    return sum;
}

/* Returns the items of all shards. This reads a bit of every place in the slabs. */
static uint64_t items_of(const struct kvc_shards *store)
{
    uint64_t items = 0;
    for (uint32_t i = 0; i < store->shard_count && store->shards != NULL; i++) {
        items += kvc_megakv_slab_used_items(store->shards[i].slab);
    }
    return items;
}

/* Lists the metrics that are quotients of counters. Returns their number. */
static uint32_t ratios_of(const struct kvc_megakv_counters *counters, struct kvc_ratio ratio[RATIOS_MAX])
{
    double inserts = (double)counters->inserts, reads = (double)counters->reads;
    const struct kvc_ratio all[] = {
        {"kernel", NULL, "lines_per_search", (double)counters->search_lines, (double)counters->searches,
         KVC_RATIO_OF_COUNTS},
        {"kernel", NULL, "lines_per_insert", (double)counters->insert_lines, inserts, KVC_RATIO_OF_COUNTS},
        {"kernel", NULL, "displacements_per_insert", (double)counters->displacements, inserts,
         KVC_RATIO_OF_COUNTS},
        {"kernel", NULL, "lines_per_read", (double)counters->read_lines, reads, KVC_RATIO_OF_COUNTS},
        {"kernel", NULL, "marks_per_read", (double)counters->marked, reads, KVC_RATIO_OF_COUNTS},
    };
    memcpy(ratio, all, sizeof(all));
    return sizeof(all) / sizeof(*all);
}

/* Samples how long requests stayed in each stage. */
static void sample_stays(struct kvc_megakv_simulation *simulation)
{
    double batched = (double)simulation->batched;
    const struct kvc_ratio ratio[] = {
        {"stages", "receive", "mean_us", simulation->receive_sum_ns * 1e-3, (double)simulation->received,
         KVC_RATIO_OF_ENGINE},
        {"stages", "index", "mean_us", simulation->gpu_sum_ns * 1e-3, batched, KVC_RATIO_OF_ENGINE},
        {"stages", "send", "mean_us", simulation->send_sum_ns * 1e-3, batched, KVC_RATIO_OF_ENGINE},
        {"model", NULL, "batching_mean_us", simulation->batch_sum_ns * 1e-3, batched, KVC_RATIO_OF_ENGINE},
        {"model", NULL, "write_latency_mean_us", simulation->write_latency_sum_ns * 1e-3,
         (double)simulation->written, KVC_RATIO_OF_ENGINE},
    };
    kvc_recorder_sample(&simulation->replica.recorder, ratio, sizeof(ratio) / sizeof(*ratio));
}

/* Samples the launches and the cycle. */
static void sample_launches(struct kvc_megakv_simulation *simulation, double now_ns)
{
    const struct kvc_megakv_launches *search = &simulation->searched, *insert = &simulation->inserted;
    const double *busy_ns = simulation->replica.recorder.busy_ns;
    double searches = (double)search->count, inserts = (double)insert->count,
           late = (double)simulation->late_launches, streams = streams_of(simulation),
           launches = (double)simulation->launches, cycles = fmax(launches / simulation->socket_count - 1, 0);
    const struct kvc_ratio ratio[] = {
        {"model", NULL, "stream_search_utilization_frac", busy_ns[KVC_MEGAKV_SEARCH] / streams, now_ns,
         KVC_RATIO_OF_ENGINE},
        {"model", NULL, "stream_insert_utilization_frac", busy_ns[KVC_MEGAKV_INSERT] / streams, now_ns,
         KVC_RATIO_OF_ENGINE},
        {"model", NULL, "t_search_us", search->ns * 1e-3, searches, KVC_RATIO_OF_ENGINE},
        {"model", NULL, "jobs_per_search", search->jobs, searches, KVC_RATIO_OF_ENGINE},
        {"model", NULL, "search_ns_per_job", search->ns, search->jobs, KVC_RATIO_OF_ENGINE},
        {"model", NULL, "t_insert_us", insert->ns * 1e-3, inserts, KVC_RATIO_OF_ENGINE},
        {"model", NULL, "jobs_per_insert", insert->jobs, inserts, KVC_RATIO_OF_ENGINE},
        {"model", NULL, "insert_ns_per_job", insert->ns, insert->jobs, KVC_RATIO_OF_ENGINE},
        {"model", NULL, "cycle_effective_us",
         (simulation->last_launch_ns - simulation->first_launch_ns) * 1e-3, cycles, KVC_RATIO_OF_ENGINE},
        {"model", NULL, "launches_late_frac", late, launches, KVC_RATIO_OF_COUNTS},
        {"model", NULL, "overrun_mean_us", simulation->late_ns * 1e-3, late, KVC_RATIO_OF_ENGINE},
    };
    kvc_recorder_sample(&simulation->replica.recorder, ratio, sizeof(ratio) / sizeof(*ratio));
}

/* Samples the events in the real structures, which are reported as numbers. */
static void sample_events(struct kvc_megakv_simulation *simulation,
                          const struct kvc_megakv_counters *counters, double now_ns)
{
    double rate = (double)simulation->store->sampling.rate;
    const struct kvc_ratio ratio[] = {
        {"kernel", NULL, "replaced", rate * (double)counters->replaced, now_ns, KVC_RATIO_OF_TIME},
        {"kernel", NULL, "index_dropped", rate * (double)counters->dropped, now_ns, KVC_RATIO_OF_TIME},
        {"kernel", NULL, "evictions", rate * (double)counters->evicted, now_ns, KVC_RATIO_OF_TIME},
        {"kernel", NULL, "rejected", rate * (double)counters->rejected, now_ns, KVC_RATIO_OF_TIME},
    };
    kvc_recorder_sample(&simulation->replica.recorder, ratio, sizeof(ratio) / sizeof(*ratio));
}

static void count_queries(const struct kvc_megakv_simulation *simulation, uint64_t *queries,
                          uint64_t *updates)
{
    *queries = *updates = 0;
    for (uint32_t i = 0; i < simulation->socket_count && simulation->config->database != NULL; i++) {
        *queries += simulation->sockets[i].aside->database.reads;
        *updates += simulation->sockets[i].aside->database.writes;
    }
}

static void sample_stalls(struct kvc_megakv_simulation *simulation, bool begins)
{
    double sum_ns = 0;
    const struct kvc_megakv_core *core;
    for (uint32_t socket = 0; socket < simulation->socket_count; socket++) {
        for (uint32_t i = 0; (core = kvc_megakv_core_of(&simulation->sockets[socket], i)) != NULL; i++) {
            sum_ns += core->stalls.met_sum_ns;
        }
    }
    *(begins ? &simulation->first_stalled_ns : &simulation->last_stalled_ns) = sum_ns;
    kvc_stalls_sample(&simulation->scenario->node, sum_ns, &simulation->replica.recorder);
}

void kvc_megakv_count(void *data, bool begins)
{
    struct kvc_megakv_simulation *simulation = data;
    struct kvc_megakv_counters *counters = begins ? &simulation->first_counters : &simulation->last_counters;
    struct kvc_ratio ratio[RATIOS_MAX];
    *counters = counters_of(simulation->store);
    count_queries(simulation, begins ? &simulation->first_queries : &simulation->last_queries,
                  begins ? &simulation->first_updates : &simulation->last_updates);
    const struct kvc_recorder *recorder = &simulation->replica.recorder;
    double last_ns =
        recorder->until_ns - recorder->window_ns / 2; /* The engine's clock is off by rounding. */
    if (begins || kvc_engine_now_ns() >= last_ns) {   /* Items are counted only at the start and the end. */
        counters->items = items_of(simulation->store);
    }
    kvc_recorder_sample(&simulation->replica.recorder, ratio, ratios_of(counters, ratio));
    sample_stays(simulation);
    sample_launches(simulation, kvc_engine_now_ns());
    sample_events(simulation, counters, kvc_engine_now_ns());
    sample_stalls(simulation, begins);
}

static void report_kernel(const struct kvc_megakv_simulation *simulation, struct kvc_result *result)
{
    const struct kvc_shards *store = simulation->store;
    const struct kvc_megakv_counters *first = &simulation->first_counters, *last = &simulation->last_counters;
    struct kvc_ratio before[RATIOS_MAX], after[RATIOS_MAX];
    uint32_t ratios = ratios_of(first, before);
    ratios_of(last, after);
    double rate = (double)store->sampling.rate; /* Only one in `rate` is counted. */
    kvc_metrics_set(&result->kernel, "sample_rate", rate);
    kvc_metrics_set(&result->kernel, "load_factor_frac", kvc_shards_load_frac(store));
    for (uint32_t i = 0; i < ratios; i++) {
        double whole = after[i].whole - before[i].whole;
        kvc_metrics_set(&result->kernel, after[i].name,
                        whole > 0 ? (after[i].part - before[i].part) / whole : NAN);
    }
    kvc_metrics_set(&result->kernel, "replaced", rate * (double)(last->replaced - first->replaced));
    kvc_metrics_set(&result->kernel, "index_dropped", rate * (double)(last->dropped - first->dropped));
    kvc_metrics_set(&result->kernel, "evictions", rate * (double)(last->evicted - first->evicted));
    kvc_metrics_set(&result->kernel, "rejected", rate * (double)(last->rejected - first->rejected));
    kvc_metrics_set(&result->kernel, "items", rate * (double)last->items);
}

/* Notes that the slabs will be full later, and then evict items. */
static void note_filling(const struct kvc_megakv_simulation *simulation, struct kvc_result *result)
{
    const struct kvc_megakv_counters *first = &simulation->first_counters, *last = &simulation->last_counters;
    const struct kvc_megakv_config *config = simulation->config;
    double added = (double)last->items - (double)first->items,
           rate = (double)simulation->store->sampling.rate;
    double room = config->shards * kvc_megakv_mean_items(config);
    double free_items = room - (double)last->items * rate;
    if (config->database != NULL && (double)simulation->scenario->workload.keys <= room) {
        return; /* Only missing keys are stored. */
    }
    if (config->shards * kvc_shards_slots(config->index_bytes) <
        (double)simulation->scenario->workload.keys) {
        return; /* The index loses keys first. */
    }
    if (last->evicted > first->evicted || added <= 0 || free_items <= 0) {
        return;
    }
    kvc_result_note(
        result,
        "the slabs still fill: after another %.3g s of this load, SETs evict items, and the hit ratio "
        "falls (hit_long_run_frac of `kvcast predict`)",
        free_items / (added * rate) * result->simulated_s);
}

/* Notes that the index loses keys. */
static void note_lost_keys(const struct kvc_megakv_simulation *simulation, struct kvc_result *result)
{
    const struct kvc_megakv_counters *first = &simulation->first_counters, *last = &simulation->last_counters;
    double inserts = (double)(last->inserts - first->inserts);
    double lost = (double)(last->dropped - first->dropped);
    if (lost > lost_keys_frac * inserts) {
        kvc_result_note(
            result,
            "the index of %.0f bytes a socket is too small: %.3g %% of the inserts drove another key "
            "out, whose GETs miss",
            simulation->config->index_bytes, 100 * lost / inserts);
    }
}

static void report_stalls(const struct kvc_megakv_simulation *simulation, struct kvc_result *result)
{
    double sum_ns = simulation->last_stalled_ns - simulation->first_stalled_ns;
    uint32_t cores = 0;
    while (kvc_megakv_core_of(simulation->sockets, cores) != NULL) {
        cores++;
    }
    kvc_stalls_report(simulation->scenario, &simulation->replica.recorder, sum_ns,
                      (double)simulation->socket_count * cores, result);
}

void kvc_megakv_report(void *data, struct kvc_result *result)
{
    const struct kvc_megakv_simulation *simulation = data;
    const struct kvc_scenario *scenario = simulation->scenario;
    report_stages(simulation, result);
    report_launches(&simulation->searched, "t_search_us", "jobs_per_search", "search_ns_per_job", result);
    report_launches(&simulation->inserted, "t_insert_us", "jobs_per_insert", "insert_ns_per_job", result);
    kvc_megakv_note_range(scenario, kvc_metrics_get(&result->model, "jobs_per_search"), result);
    report_cycle(simulation, result);
    report_imbalance(simulation, result);
    kvc_megakv_set_polling(scenario, result);
    report_kernel(simulation, result);
    if (simulation->written > 0) {
        kvc_metrics_set(&result->model, "write_latency_mean_us",
                        simulation->write_latency_sum_ns / (double)simulation->written / 1e3);
    }
    if (simulation->config->database != NULL) {
        kvc_metrics_set(&result->model, "database_queries",
                        (double)(simulation->last_queries - simulation->first_queries));
        kvc_metrics_set(&result->model, "database_updates",
                        (double)(simulation->last_updates - simulation->first_updates));
    }
    report_stalls(simulation, result);
    note_filling(simulation, result);
    note_lost_keys(simulation, result);
    if (result->dropped > 0) {
        kvc_result_note(result,
                        "%.3g %% of the requests were dropped at full receive rings: the load is too high",
                        100.0 * (double)result->dropped / (double)result->offered);
    }
}
