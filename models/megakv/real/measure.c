#include "models/megakv/real/measure.h"

#include <math.h>
#include <stdlib.h>

#include "models/megakv/config.h"
#include "models/megakv/real/pipeline.h"
#include "sim/base/array.h"
#include "sim/base/seeds.h"
#include "sim/metrics/bottleneck.h"
#include "sim/probes/pin.h"

#define FEED_BYTES_MAX (UINT64_C(512) << 20)
#define FEEDS_BYTES_MAX (UINT64_C(1) << 30)

/* Returns the number of cores that the scenario's threads need. */
static uint32_t needed_cores(const struct kvc_megakv_config *config)
{
    return config->threads == KVC_MEGAKV_SHARED_THREADS ? (uint32_t)config->cpu->cores
                                                        : 1 + 2 * config->streams;
}

static enum kvc_status check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    if (config->shards != 1) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "found %u sockets in the cluster; a measurement allows one: node.sockets = 1, cluster.nodes = 1",
            config->shards);
    }
    if (config->database != NULL) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "node.database: found a database; a measurement allows none");
    }
    if (config->feed != KVC_MEGAKV_MEMORY) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.feed: found \"network\"; a measurement allows \"memory\", packets that lie in memory");
    }
    if (scenario->run.functional != KVC_FUNCTIONAL_FULL) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "run.functional: found a store without all keys and values; a measurement allows "
            "\"full\"");
    }
    if (config->streams > KVC_MEGAKV_REAL_PIPELINES_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.streams: found %u; a measurement allows at most %d", config->streams,
                             KVC_MEGAKV_REAL_PIPELINES_MAX);
    }
    uint32_t needed = needed_cores(config), cores = kvc_pin_cores();
    if (needed > cores) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "the scenario's threads need %u cores, this machine has %u: reduce system.streams, or use "
            "system.threads = \"shared\" with node.cpu.cores = %u",
            needed, cores, cores);
    }
    return KVC_OK;
}

/* Returns the bytes of packets for each pipeline. They are enough that caches and CLOCK do not favour keys
 * that return soon. */
static uint64_t feed_bytes(const struct kvc_scenario *scenario)
{
    uint64_t share = FEEDS_BYTES_MAX / kvc_megakv_config_of(scenario)->streams;
    return share < FEED_BYTES_MAX ? share : FEED_BYTES_MAX;
}

/* A store and the node that works on it. */
struct measuring {
    const struct kvc_megakv_config *config;
    struct kvc_shards *store;
    struct kvc_megakv_real_node node;
};

/* Opens the node of the scenario over a new, preloaded store. All memory of the store is resident before the
 * run, as in real servers; otherwise, every first write to a new slab would wait for the system to clear a
 * page. */
static enum kvc_status open_store(const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                                  void **opened, struct kvc_diag *diag)
{
    struct measuring *measuring = *opened = kvc_array_of(1, sizeof(*measuring));
    const struct kvc_megakv_config *config = measuring->config = kvc_megakv_config_of(scenario);
    bool on_gpu = config->index_on == KVC_MEGAKV_INDEX_ON_GPU;
    enum kvc_status status = kvc_megakv_store_create(scenario, kvc_seed_of_replica(scenario->run.seed, 0),
                                                     progress, &measuring->store, diag);
    if (status != KVC_OK) {
        return status;
    }
    struct kvc_shard *shard = &measuring->store->shards[0];
    kvc_megakv_slab_touch(shard->slab);
    if (on_gpu) {
        status = kvc_megakv_real_device_move_index(scenario, shard, diag);
    }
    if (status == KVC_OK) {
        status =
            kvc_megakv_real_node_open(&measuring->node, scenario, shard, on_gpu, feed_bytes(scenario), diag);
    }
    return status;
}

static void close_store(void *opened)
{
    struct measuring *measuring = opened;
    if (measuring != NULL) {
        kvc_megakv_real_node_close(&measuring->node);
        kvc_shards_free(measuring->store);
        free(measuring);
    }
}

/* ---- tasks ---- */

enum { RECEIVE, INDEX, SEND }; /* The stages. */

/* The index's own counts. */
enum { SEARCH_NS, SEARCH_JOBS, SEARCHES, INSERT_NS, INSERT_JOBS, INSERTS, LATE };

static void count_received(const void *data, struct kvc_measured_counts *counts)
{
    const struct kvc_megakv_real_pipeline *pipeline = data;
    *counts = (struct kvc_measured_counts){.busy_ns = pipeline->receive.busy_ns,
                                           .served = (double)pipeline->receive.served};
}

static void count_launched(const void *data, struct kvc_measured_counts *counts)
{
    const struct kvc_megakv_real_node *node = data;
    const struct kvc_megakv_real_task_time *search = &node->search, *insert = &node->insert;
    *counts = (struct kvc_measured_counts){.busy_ns = search->busy_ns + insert->busy_ns,
                                           .served = (double)(search->served + insert->served),
                                           .own = {[SEARCH_NS] = search->busy_ns,
                                                   [SEARCH_JOBS] = (double)search->served,
                                                   [SEARCHES] = (double)node->search_launches,
                                                   [INSERT_NS] = insert->busy_ns,
                                                   [INSERT_JOBS] = (double)insert->served,
                                                   [INSERTS] = (double)node->insert_launches,
                                                   [LATE] = (double)node->late_launches}};
}

static void count_sent(const void *data, struct kvc_measured_counts *counts)
{
    const struct kvc_megakv_real_pipeline *pipeline = data;
    const struct kvc_megakv_real_answerer *answerer = &pipeline->answerer;
    *counts = (struct kvc_measured_counts){.busy_ns = pipeline->send.busy_ns,
                                           .served = (double)pipeline->send.served,
                                           .hits = (double)answerer->hits,
                                           .misses = (double)answerer->misses,
                                           .sets = (double)answerer->sets,
                                           .deletes = (double)answerer->deletes};
}

/* Deals the tasks to cores. If every task has a thread of its own, the scheduler has the first core, and the
 * sender and the receiver of each pipeline have the next ones. On shared cores, the scheduler and all
 * receivers have the first core, and the senders share the others. */
static void deal_tasks(struct kvc_megakv_real_node *node, const struct kvc_megakv_config *config,
                       struct kvc_measured *measured)
{
    bool shared = config->threads == KVC_MEGAKV_SHARED_THREADS;
    uint32_t senders = shared ? (uint32_t)config->cpu->cores - 1 : node->count;
    node->shared = shared;
    node->receive_cores = shared ? 1 : node->count;
    node->send_cores = senders < node->count ? senders : node->count;
    kvc_measured_add(measured, &(struct kvc_measured_task){.core = 0,
                                                           .stage = INDEX,
                                                           .step = kvc_megakv_real_scheduler_step,
                                                           .count = count_launched,
                                                           .data = node});
    for (uint32_t i = 0; i < node->count; i++) {
        struct kvc_megakv_real_pipeline *pipeline = node->pipeline[i];
        uint32_t sender = shared ? 1 + i % senders : 1 + 2 * i;
        kvc_measured_add(measured, &(struct kvc_measured_task){
                                       .core = sender,
                                       .stage = SEND,
                                       .step = kvc_megakv_real_sender_step,
                                       .count = count_sent,
                                       .data = pipeline,
                                       .oldest_sent_ns = &pipeline->answerer.oldest_sent_ns,
                                       .latency = pipeline->answerer.latency,
                                   });
        kvc_measured_add(measured, &(struct kvc_measured_task){.core = shared ? 0 : sender + 1,
                                                               .stage = RECEIVE,
                                                               .step = kvc_megakv_real_receiver_step,
                                                               .count = count_received,
                                                               .data = pipeline,
                                                               .caught_up = &pipeline->caught_up});
    }
}

/* ---- the result ---- */

/* The metrics with intervals. */
enum { SEARCH_JOB_NS, INSERT_JOB_NS, VALUES };
static const char *const value_names[VALUES] = {"search_job_half_frac", "insert_job_half_frac"};

/* Sets the utilizations of receive, index and send, and the times of a search and an insert. Receivers and
 * scheduler that share a core are as busy as the core. */
static void find_part(const void *data, const struct kvc_measured_sum *sum, struct kvc_watched_part *part)
{
    const struct kvc_megakv_real_node *node = data;
    const double *index = sum->stage[INDEX].own;
    double *utilization_frac = part->utilization_frac;
    part->value[SEARCH_JOB_NS] = index[SEARCH_JOBS] > 0 ? index[SEARCH_NS] / index[SEARCH_JOBS] : NAN;
    part->value[INSERT_JOB_NS] = index[INSERT_JOBS] > 0 ? index[INSERT_NS] / index[INSERT_JOBS] : NAN;
    utilization_frac[RECEIVE] = sum->stage[RECEIVE].busy_ns / node->receive_cores / sum->window_ns;
    utilization_frac[INDEX] = sum->stage[INDEX].busy_ns / sum->window_ns;
    utilization_frac[SEND] = sum->stage[SEND].busy_ns / node->send_cores / sum->window_ns;
    if (node->shared) {
        utilization_frac[RECEIVE] = utilization_frac[INDEX] =
            utilization_frac[RECEIVE] + utilization_frac[INDEX];
    }
}

static void report_stages(const struct kvc_megakv_real_node *node, const struct kvc_measured_sum *sum,
                          const struct kvc_watched_part *part, struct kvc_result *result)
{
    static const char *const names[] = {[RECEIVE] = "receive", [INDEX] = "index", [SEND] = "send"};
    for (int s = RECEIVE; s <= SEND; s++) {
        const char *device = s == INDEX && node->on_gpu ? "gpu" : "cpu";
        struct kvc_stage_result *stage =
            kvc_result_add_stage(result, names[s], device, fmin(part->utilization_frac[s], 1));
        stage->busy_s = sum->stage[s].busy_ns / 1e9;
        stage->served = (uint64_t)sum->stage[s].served;
    }
    kvc_bottleneck_find(result);
}

static void report_launches(const struct kvc_measured_sum *sum, const struct kvc_watched_part *part,
                            struct kvc_metrics *model)
{
    const double *index = sum->stage[INDEX].own;
    if (index[SEARCHES] > 0) {
        kvc_metrics_set(model, "t_search_us", index[SEARCH_NS] / index[SEARCHES] / 1e3);
        kvc_metrics_set(model, "jobs_per_search", index[SEARCH_JOBS] / index[SEARCHES]);
        kvc_metrics_set(model, "search_ns_per_job", part->value[SEARCH_JOB_NS]);
    }
    if (index[INSERTS] > 0) {
        kvc_metrics_set(model, "t_insert_us", index[INSERT_NS] / index[INSERTS] / 1e3);
        kvc_metrics_set(model, "jobs_per_insert", index[INSERT_JOBS] / index[INSERTS]);
        kvc_metrics_set(model, "insert_ns_per_job", part->value[INSERT_JOB_NS]);
    }
    if (index[SEARCHES] > 0) {
        kvc_metrics_set(model, "cycle_effective_us", sum->stage_ns[INDEX] / index[SEARCHES] / 1e3);
        kvc_metrics_set(model, "launches_late_frac", index[LATE] / index[SEARCHES]);
    }
}

/* Adds the counts of the pipelines' data structures over the whole run. */
static void report_kernel(const struct kvc_megakv_real_node *node, struct kvc_result *result)
{
    const struct kvc_shard *shard = node->shard;
    const struct kvc_index_stats *index = &shard->index_stats;
    struct kvc_megakv_slab_stats slab = {0};
    uint64_t rejected = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        const struct kvc_megakv_real_pipeline *pipeline = node->pipeline[i];
        slab.reads += pipeline->answerer.stats.reads;
        slab.read_lines += pipeline->answerer.stats.read_lines;
        slab.marked += pipeline->answerer.stats.marked;
        slab.evicted += pipeline->receive_stats.evicted;
        rejected += pipeline->rejected;
        result->requests_simulated += pipeline->answerer.answered;
    }
    struct kvc_metrics *kernel = &result->kernel;
    kvc_metrics_set(kernel, "load_factor_frac",
                    (double)kvc_index_used(shard->index) / (double)kvc_index_capacity(shard->index));
    kvc_shards_report_lines(&(struct kvc_index_stats){0}, index, kernel);
    kvc_metrics_set_ratio(kernel, "lines_per_read", (double)slab.read_lines, (double)slab.reads);
    kvc_metrics_set_ratio(kernel, "marks_per_read", (double)slab.marked, (double)slab.reads);
    kvc_metrics_set(kernel, "index_dropped", (double)index->dropped);
    kvc_metrics_set(kernel, "evictions", (double)slab.evicted);
    kvc_metrics_set(kernel, "rejected", (double)rejected);
}

/* Evictions, drops and lines per operation cover the whole run with its warm-up. */
static void report(const void *data, const struct kvc_measured_sum *sum, struct kvc_result *result)
{
    const struct kvc_megakv_real_node *node = data;
    struct kvc_watched_part part;
    find_part(node, sum, &part);
    report_stages(node, sum, &part, result);
    report_launches(sum, &part, &result->model);
    report_kernel(node, result);
}

/* ---- the run ---- */

static void join(void *opened, struct kvc_measured *measured, struct kvc_measured_store *reports)
{
    struct measuring *measuring = opened;
    struct kvc_megakv_real_node *node = &measuring->node;
    deal_tasks(node, measuring->config, measured);
    kvc_megakv_real_node_start(node, 0, kvc_measured_until_ns(measured)); /* The first window never counts. */
    *reports = (struct kvc_measured_store){.data = node,
                                           .failed = &node->failed,
                                           .preload_wall_s = measuring->store->preload_wall_s,
                                           .open_loop = !node->saturating,
                                           .values = VALUES,
                                           .value_name = value_names,
                                           .part = find_part,
                                           .report = report};
}

static void set_clock(void *opened, double started_s)
{
    struct measuring *measuring = opened;
    kvc_megakv_real_node_set_clock(&measuring->node, started_s);
}

/* Checks that all values that were read belong to their keys. */
static enum kvc_status finish(void *opened, struct kvc_diag *diag)
{
    const struct measuring *measuring = opened;
    const struct kvc_megakv_real_node *node = &measuring->node;
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        wrong += node->pipeline[i]->answerer.wrong;
    }
    if (atomic_load(&node->failed)) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the GPU failed while it searched");
    }
    return wrong == 0 ? KVC_OK
                      : kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                                      "%llu values that were read do not belong to their keys",
                                      (unsigned long long)wrong);
}

const struct kvc_measurable kvc_megakv_measurable = {.check = check,
                                                     .open = open_store,
                                                     .close = close_store,
                                                     .join = join,
                                                     .set_clock = set_clock,
                                                     .finish = finish};
