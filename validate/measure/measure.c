#include "validate/measure/measure.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "models/megakv/costs.h"
#include "models/megakv/options.h"
#include "sim/base/clock.h"
#include "sim/metrics/bottleneck.h"
#include "validate/measure/pipeline.h"
#include "validate/measure/receive.h"

enum { FEED_BYTES = 32 << 20, ROWS_MAX = 65536 };

static const double warmup_least_ns = 50e6;

enum kvc_status kvc_measure_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_megakv *system = scenario->system;
    if (kvc_scenario_shards(scenario) != 1)
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "found %u sockets in all, measured is one: node.sockets = 1, cluster.nodes = 1",
                             kvc_scenario_shards(scenario));
    if (system->feed != KVC_MEGAKV_MEMORY)
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.feed: measured is \"memory\", requests that lie in packets in memory");
    if (system->admission != KVC_MEGAKV_ADMIT_ALL)
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.admission: measured is \"all\", real receivers take what they can");
    if (kvc_megakv_sample_rate(scenario) != 1)
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "run.functional: measured is \"full\"");
    return KVC_OK;
}

/* ---- opening and closing ---- */

static uint32_t frame_requests(const struct kvc_scenario *scenario)
{
    uint64_t requests = scenario->workload.frame_requests;
    if (requests == 0)
        requests =
            kvc_nic_messages_per_frame(&scenario->node.nic, kvc_megakv_means_of(scenario).request_bytes);
    return requests < KVC_FRAME_REQUESTS_MAX ? (uint32_t)requests : KVC_FRAME_REQUESTS_MAX;
}

static void close_node(struct kvc_node_threads *node)
{
    for (uint32_t i = 0; i < node->count; i++) {
        struct kvc_real_pipeline *pipeline = node->pipeline[i];
        if (pipeline == NULL)
            continue;
        for (int b = 0; b < KVC_PIPELINE_BUFFERS_MAX; b++)
            kvc_buffer_close(&pipeline->buffers[b]);
        kvc_feed_free(&pipeline->feed);
        free(pipeline->latency);
        free(pipeline);
    }
    kvc_device_queues_free(node->queues);
    kvc_device_array_free(node->on_gpu, node->insert_hash);
    kvc_device_array_free(node->on_gpu, node->insert_location);
    kvc_device_array_free(node->on_gpu, node->erase_hash);
    kvc_device_array_free(node->on_gpu, node->erase_location);
    kvc_device_array_free(node->on_gpu, node->scratch_hash);
    free(node->scratch_row);
    kvc_device_array_free(node->on_gpu, node->scratch_location);
}

static bool open_pipeline(struct kvc_node_threads *node, uint32_t number, uint32_t buffers,
                          uint32_t key_stride)
{
    struct kvc_real_pipeline *pipeline = aligned_alloc(_Alignof(struct kvc_real_pipeline), sizeof *pipeline);
    node->pipeline[number] = pipeline;
    if (pipeline == NULL)
        return false;
    memset(pipeline, 0, sizeof *pipeline);
    pipeline->node = node;
    pipeline->latency = calloc(1, sizeof *pipeline->latency);
    if (pipeline->latency == NULL)
        return false;
    kvc_histogram_reset(pipeline->latency);
    for (uint32_t b = 0; b < buffers; b++) {
        if (!kvc_buffer_open(&pipeline->buffers[b], ROWS_MAX, key_stride, node->on_gpu))
            return false;
        kvc_ring_push(&pipeline->free, &pipeline->buffers[b]);
    }
    return true;
}

static bool open_jobs(struct kvc_node_threads *node)
{
    size_t room = 2 * (size_t)ROWS_MAX * node->count * node->delay;
    node->writes_room = (uint32_t)room;
    node->insert_hash = kvc_device_array(node->on_gpu, room * sizeof(uint64_t));
    node->insert_location = kvc_device_array(node->on_gpu, room * sizeof(uint32_t));
    node->erase_hash = kvc_device_array(node->on_gpu, room * sizeof(uint64_t));
    node->erase_location = kvc_device_array(node->on_gpu, room * sizeof(uint32_t));
    node->scratch_hash = kvc_device_array(node->on_gpu, room * sizeof(uint64_t));
    node->scratch_row = malloc(room * sizeof(uint32_t));
    node->scratch_location = kvc_device_array(node->on_gpu, room * sizeof(uint32_t));
    return node->insert_hash != NULL && node->insert_location != NULL && node->erase_hash != NULL &&
           node->erase_location != NULL && node->scratch_hash != NULL && node->scratch_row != NULL &&
           node->scratch_location != NULL;
}

static enum kvc_status open_node(struct kvc_node_threads *node, const struct kvc_scenario *scenario,
                                 struct kvc_diag *diag)
{
    struct kvc_megakv system = kvc_megakv_resolve(scenario);
    struct kvc_feed *feeds = calloc(KVC_PIPELINES_MAX, sizeof *feeds);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t value_bytes = kvc_workload_value_bytes_max(&scenario->workload);
    uint64_t rows = KVC_ANSWER_BYTES / (value_bytes > 0 ? value_bytes : 1);
    enum kvc_status status = KVC_OK;
    node->cycle_ns = system.cycle_ns;
    node->delay = system.delay;
    node->count = (uint32_t)(system.streams < KVC_PIPELINES_MAX ? system.streams : KVC_PIPELINES_MAX);
    node->saturating = scenario->workload.arrival == KVC_ARRIVAL_SATURATE;
    node->share_cores = cores < 1 + 2 * (long)node->count;
    node->answer_rows = rows < KVC_ANSWER_ROWS_MAX ? (uint32_t)rows : KVC_ANSWER_ROWS_MAX;
    node->queues = kvc_device_queues_create(node->on_gpu, node->count);
    bool opened = feeds != NULL && node->queues != NULL && open_jobs(node);
    for (uint32_t i = 0; opened && i < node->count; i++)
        opened =
            open_pipeline(node, i, (uint32_t)system.buffers, kvc_workload_key_stride(&scenario->workload));
    if (!opened)
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for %u pipelines", node->count);
    if (status == KVC_OK)
        status = kvc_feeds_create(scenario, KVC_MEGAKV_HASH_SEED, frame_requests(scenario), FEED_BYTES,
                                  node->count, feeds, diag);
    for (uint32_t i = 0; status == KVC_OK && i < node->count; i++)
        node->pipeline[i]->feed = feeds[i];
    free(feeds);
    return status;
}

/* ---- threads ---- */

/* Starts a thread on a core of its own, as long as there are any. false: the system refused. */
static bool start(pthread_t *thread, void *(*body)(void *), void *data, uint32_t number)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((int)(number % (uint32_t)(cores > 0 ? cores : 1)), &set);
    if (pthread_create(thread, NULL, body, data) != 0)
        return false;
    (void)pthread_setaffinity_np(*thread, sizeof set,
                                 &set); /* where that is not allowed, times are noisier */
    return true;
}

static void sleep_until_ns(const struct kvc_node_threads *node, double until_ns,
                           const struct kvc_progress *progress)
{
    const struct timespec step = {0, 20000000};
    for (;;) {
        double now_ns = (kvc_clock_wall_s() - node->started_s) * 1e9;
        if (now_ns >= until_ns)
            return;
        if (progress != NULL)
            progress->report(progress->data, "measure", now_ns / until_ns);
        nanosleep(&step, NULL);
    }
}

static enum kvc_status run_threads(struct kvc_node_threads *node, const struct kvc_progress *progress,
                                   struct kvc_diag *diag)
{
    pthread_t threads[1 + 2 * KVC_PIPELINES_MAX];
    uint32_t started = 0;
    bool all = start(&threads[0], kvc_scheduler_thread, node, 0);
    started += all;
    for (uint32_t i = 0; all && i < node->count; i++) {
        all = start(&threads[started], kvc_sender_thread, node->pipeline[i], started);
        started += all;
        all = all && start(&threads[started], kvc_receiver_thread, node->pipeline[i], started);
        started += all;
    }
    if (all)
        sleep_until_ns(node, node->until_ns, progress);
    atomic_store(&node->stop, true);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return all ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "thread %u of %u cannot be started", started + 1,
                               1 + 2 * node->count);
}

/* ---- the answer ---- */

static void add_stage(struct kvc_result *result, const char *name, const char *device,
                      const struct kvc_thread_time *time, double threads, double measured_ns)
{
    struct kvc_stage *stage = &result->stage[result->stage_count++];
    snprintf(stage->name, sizeof stage->name, "%s", name);
    snprintf(stage->device, sizeof stage->device, "%s", device);
    stage->busy_s = time->busy_ns / 1e9;
    stage->utilization_frac = fmin(time->busy_ns / threads / measured_ns, 1);
    stage->served = time->served;
    stage->mean_us = NAN;
}

static void add_time(struct kvc_thread_time *sum, const struct kvc_thread_time *time)
{
    sum->busy_ns += time->busy_ns;
    sum->served += time->served;
}

static void report_kernel(const struct kvc_node_threads *node, const struct kvc_slab_stats *slab,
                          double rejected, struct kvc_result *result)
{
    const struct kvc_megakv_shard *shard = node->shard;
    const struct kvc_index_stats *index = &shard->index_stats;
    double cells = (double)kvc_index_capacity(shard->index);
    kvc_figures_set(&result->kernel, "load_factor_frac", (double)kvc_index_used(shard->index) / cells);
    if (index->searches > 0)
        kvc_figures_set(&result->kernel, "lines_per_search",
                        (double)index->search_lines / (double)index->searches);
    if (index->inserts > 0)
        kvc_figures_set(&result->kernel, "lines_per_insert",
                        (double)index->insert_lines / (double)index->inserts);
    if (slab->reads > 0)
        kvc_figures_set(&result->kernel, "lines_per_read", (double)slab->read_lines / (double)slab->reads);
    kvc_figures_set(&result->kernel, "dropped", (double)index->dropped);
    kvc_figures_set(&result->kernel, "evictions", (double)slab->evicted);
    kvc_figures_set(&result->kernel, "rejected", rejected);
}

static void per_launch(struct kvc_result *result, const char *time_name, const char *jobs_name,
                       const struct kvc_thread_time *time, uint64_t launches)
{
    if (launches == 0)
        return;
    kvc_figures_set(&result->model, time_name, time->busy_ns / (double)launches / 1e3);
    kvc_figures_set(&result->model, jobs_name, (double)time->served / (double)launches);
}

static void report(const struct kvc_node_threads *node, struct kvc_result *result)
{
    double measured_ns = node->until_ns - node->from_ns, rejected = 0;
    struct kvc_thread_time receive = {0}, send = {0}, index = node->search;
    struct kvc_slab_stats slab = {0};
    uint64_t received = 0, answered = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        const struct kvc_real_pipeline *pipeline = node->pipeline[i];
        add_time(&receive, &pipeline->receive);
        add_time(&send, &pipeline->send);
        result->completed += pipeline->completed;
        result->hits += pipeline->hits;
        result->misses += pipeline->misses;
        result->sets += pipeline->sets;
        result->deletes += pipeline->deletes;
        received += pipeline->received;
        answered += pipeline->answered;
        slab.reads += pipeline->send_stats.reads;
        slab.read_lines += pipeline->send_stats.read_lines;
        slab.evicted += pipeline->receive_stats.evicted;
        rejected += (double)pipeline->rejected;
        kvc_histogram_add(&result->latency, pipeline->latency);
    }
    add_time(&index, &node->insert);
    result->gets = result->hits + result->misses;
    result->offered = received;
    result->requests_simulated = answered;
    result->has_histogram = true;
    result->throughput_mops = (double)result->completed / measured_ns * 1e3;
    result->simulated_s = measured_ns / 1e9;
    result->warmup_s = node->from_ns / 1e9;
    add_stage(result, "receive", "cpu", &receive, node->count, measured_ns);
    add_stage(result, "index", node->on_gpu ? "gpu" : "cpu", &index, 1, measured_ns);
    add_stage(result, "send", "cpu", &send, node->count, measured_ns);
    kvc_bottleneck_find(result);
    report_kernel(node, &slab, rejected, result);
    per_launch(result, "t_search_us", "jobs_per_search", &node->search, node->search_launches);
    per_launch(result, "t_insert_us", "jobs_per_insert", &node->insert, node->insert_launches);
    if (node->search_launches > 0) {
        kvc_figures_set(&result->model, "cycle_effective_us",
                        measured_ns / (double)node->search_launches / 1e3);
        kvc_figures_set(&result->model, "launches_late_frac",
                        (double)node->late_launches / (double)node->search_launches);
    }
    if (node->share_cores)
        kvc_result_note(result, "%u threads share %ld cores: whoever waits gives way, and waits longer",
                        1 + 2 * node->count, sysconf(_SC_NPROCESSORS_ONLN));
}

static enum kvc_status check_values(const struct kvc_node_threads *node, struct kvc_diag *diag)
{
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < node->count; i++)
        wrong += node->pipeline[i]->wrong;
    if (atomic_load(&node->failed))
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the GPU failed while it searched");
    return wrong == 0 ? KVC_OK
                      : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%llu values are not those of their keys",
                                      (unsigned long long)wrong);
}

static void set_times(struct kvc_node_threads *node, const struct kvc_run *run)
{
    node->from_ns = run->warmup_ns >= 0 ? run->warmup_ns : fmax(run->duration_ns / 5, warmup_least_ns);
    node->until_ns = node->from_ns + run->duration_ns;
    node->started_s = kvc_clock_wall_s();
}

enum kvc_status kvc_measure_megakv(const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                                   struct kvc_result *result, struct kvc_diag *diag)
{
    struct kvc_megakv_store *store = NULL;
    struct kvc_node_threads *node = calloc(1, sizeof *node);
    enum kvc_status status = kvc_measure_check(scenario, diag);
    if (status == KVC_OK && node == NULL)
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a node");
    if (status == KVC_OK)
        status = kvc_megakv_store_create(scenario, progress, &store, diag);
    if (status == KVC_OK) {
        node->shard = &store->shards[0];
        node->shard->index_stats = (struct kvc_index_stats){0}; /* of preloading */
        status = kvc_device_take_index(scenario, node->shard, &node->on_gpu, diag);
    }
    if (status == KVC_OK)
        status = open_node(node, scenario, diag);
    if (status == KVC_OK) {
        set_times(node, &scenario->run);
        status = run_threads(node, progress, diag);
    }
    if (status == KVC_OK)
        status = check_values(node, diag);
    if (status == KVC_OK) {
        report(node, result);
        result->preload_wall_s = store->preload_wall_s;
    }
    if (node != NULL)
        close_node(node);
    free(node);
    kvc_megakv_store_free(store);
    return status;
}
