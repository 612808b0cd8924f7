#include "models/megakv/real/measure.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "models/megakv/options.h"
#include "sim/base/clock.h"
#include "sim/devices/cpu.h"
#include "sim/metrics/bottleneck.h"
#include "validate/probes/cores.h"
#include "validate/probes/noise.h"
#include "validate/probes/pin.h"
#include "models/megakv/real/pipeline.h"

static const double warmup_least_ns = 50e6;

/* Of all processors' time, that others may have. */
static const double noisy_frac = 0.01;

/* A thread with nothing to do that does not get to ask for as long was kept from running. Short ones count,
 * too: they tell of the long ones that threads with something to do do not notice. */
static const double stall_least_s = 20e-6;

const double kvc_megakv_measure_stalled_frac = 0.003;

#define FEED_BYTES_MAX (UINT64_C(512) << 20)
#define FEEDS_BYTES_MAX (UINT64_C(1) << 30)

static uint32_t cores_needed(const struct kvc_scenario *scenario)
{
    struct kvc_megakv_options system = kvc_megakv_resolve(scenario);
    return system.threads == KVC_MEGAKV_SHARED_THREADS ? (uint32_t)kvc_cpu_of(&scenario->node)->cores
                                                       : 1 + 2 * (uint32_t)system.streams;
}

enum kvc_status kvc_megakv_measure_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_megakv_options *system = scenario->system;
    if (kvc_scenario_shards(scenario) != 1) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "found %u sockets in all, measured is one: node.sockets = 1, cluster.nodes = 1",
                             kvc_scenario_shards(scenario));
    }
    if (system->feed != KVC_MEGAKV_MEMORY) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.feed: measured is \"memory\", requests that lie in packets in memory");
    }
    if (system->admission != KVC_MEGAKV_ADMIT_ALL) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.admission: measured is \"all\", real receivers take what they can");
    }
    if (kvc_megakv_sample_rate(scenario) != 1) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "run.functional: measured is \"full\"");
    }
    if (kvc_megakv_resolve(scenario).streams > KVC_MEGAKV_REAL_PIPELINES_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "system.streams: found %llu, measured are at most %d",
                             (unsigned long long)kvc_megakv_resolve(scenario).streams,
                             KVC_MEGAKV_REAL_PIPELINES_MAX);
    }
    uint32_t needed = cores_needed(scenario), cores = kvc_pin_cores();
    if (needed > cores) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "the scenario's threads need %u cores, this machine has %u: fewer system.streams, or "
            "system.threads = \"shared\" with node.cpu.cores = %u",
            needed, cores, cores);
    }
    return KVC_OK;
}

/* ---- threads ---- */

/* A core and the tasks that it has; they take turns, one piece of work each. */
struct core {
    struct kvc_megakv_real_node *node;
    uint32_t number, tasks;
    double stalled_ns; /* within the measured time */
    struct {
        kvc_megakv_real_task_fn *step;
        void *data;
    } task[1 + 2 * KVC_MEGAKV_REAL_PIPELINES_MAX];
};

static void give(struct core *core, kvc_megakv_real_task_fn *step, void *data)
{
    core->task[core->tasks].step = step;
    core->task[core->tasks++].data = data;
}

/* Own threads: scheduler, then sender and receiver of each pipeline. Shared: the first core has the scheduler
 * and all receivers, the others the senders, in turns. Returns how many cores work. */
static uint32_t deal_tasks(struct kvc_megakv_real_node *node, const struct kvc_scenario *scenario,
                           struct core *cores)
{
    bool shared = ((const struct kvc_megakv_options *)scenario->system)->threads == KVC_MEGAKV_SHARED_THREADS;
    uint32_t senders = shared ? (uint32_t)kvc_cpu_of(&scenario->node)->cores - 1 : node->count, count = 1;
    node->shared = shared;
    node->receive_cores = shared ? 1 : node->count;
    node->send_cores = senders < node->count ? senders : node->count;
    give(&cores[0], kvc_megakv_real_scheduler_step, node);
    for (uint32_t i = 0; i < node->count; i++) {
        uint32_t sender = shared ? 1 + i % senders : 1 + 2 * i, receiver = shared ? 0 : sender + 1;
        give(&cores[sender], kvc_megakv_real_sender_step, node->pipeline[i]);
        give(&cores[receiver], kvc_megakv_real_receiver_step, node->pipeline[i]);
    }
    while (count <= 2 * KVC_MEGAKV_REAL_PIPELINES_MAX && cores[count].tasks > 0) {
        count++;
    }
    return count;
}

/* Between two times that the core found nothing to do, and did nothing else. */
static void count_stall(struct core *core, double before_s, double now_s)
{
    const struct kvc_megakv_real_node *node = core->node;
    double at_ns = (now_s - node->started_s) * 1e9;
    if (now_s - before_s >= stall_least_s && at_ns >= node->from_ns && at_ns < node->until_ns) {
        core->stalled_ns += (now_s - before_s) * 1e9;
    }
}

static void *work(void *data)
{
    struct core *core = data;
    double idle_s = 0;
    kvc_pin_core(core->number);
    while (!atomic_load_explicit(&core->node->stop, memory_order_relaxed)) {
        bool worked = false;
        for (uint32_t i = 0; i < core->tasks; i++) {
            worked = core->task[i].step(core->task[i].data) || worked;
        }
        double now_s = worked ? 0 : kvc_clock_wall_s();
        if (!worked && idle_s > 0) {
            count_stall(core, idle_s, now_s);
        }
        idle_s = now_s;
#if defined(__x86_64__)
        if (!worked) {
            __builtin_ia32_pause();
        }
#endif
    }
    return NULL;
}

static void sleep_until_ns(const struct kvc_megakv_real_node *node, double until_ns,
                           const struct kvc_progress *progress)
{
    const struct timespec step = {0, 20000000};
    for (;;) {
        double now_ns = (kvc_clock_wall_s() - node->started_s) * 1e9;
        if (now_ns >= until_ns) {
            return;
        }
        kvc_progress_report(progress, "measure", now_ns / until_ns);
        nanosleep(&step, NULL);
    }
}

static enum kvc_status run_cores(struct kvc_megakv_real_node *node, const struct kvc_scenario *scenario,
                                 const struct kvc_progress *progress, struct kvc_diag *diag)
{
    pthread_t threads[1 + 2 * KVC_MEGAKV_REAL_PIPELINES_MAX];
    struct core *cores = calloc(1 + 2 * KVC_MEGAKV_REAL_PIPELINES_MAX, sizeof(*cores));
    uint32_t count = cores != NULL ? deal_tasks(node, scenario, cores) : 0, started = 0;
    while (started < count) {
        cores[started].node = node;
        cores[started].number = started;
        if (pthread_create(&threads[started], NULL, work, &cores[started]) != 0) {
            break;
        }
        started++;
    }
    if (count > 0 && started == count) {
        sleep_until_ns(node, node->until_ns, progress);
    }
    atomic_store(&node->stop, true);
    for (uint32_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    for (uint32_t i = 0; i < started; i++) {
        node->stalled_ns += cores[i].stalled_ns;
    }
    free(cores);
    return count > 0 && started == count
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "thread %u of %u cannot be started", started + 1,
                               count);
}

/* ---- the answer ---- */

static void add_stage(struct kvc_result *result, const char *name, const char *device,
                      const struct kvc_megakv_real_task_time *time, double threads, double measured_ns)
{
    struct kvc_stage_result *stage =
        kvc_result_add_stage(result, name, device, fmin(time->busy_ns / threads / measured_ns, 1));
    stage->busy_s = time->busy_ns / 1e9;
    stage->served = time->served;
}

static void add_time(struct kvc_megakv_real_task_time *sum, const struct kvc_megakv_real_task_time *time)
{
    sum->busy_ns += time->busy_ns;
    sum->served += time->served;
}

static void report_kernel(const struct kvc_megakv_real_node *node, const struct kvc_megakv_slab_stats *slab,
                          double rejected, struct kvc_result *result)
{
    const struct kvc_megakv_shard *shard = node->shard;
    const struct kvc_index_stats *index = &shard->index_stats;
    double slots = (double)kvc_index_capacity(shard->index);
    kvc_metrics_set(&result->kernel, "load_factor_frac", (double)kvc_index_used(shard->index) / slots);
    if (index->searches > 0) {
        kvc_metrics_set(&result->kernel, "lines_per_search",
                        (double)index->search_lines / (double)index->searches);
    }
    if (index->inserts > 0) {
        kvc_metrics_set(&result->kernel, "lines_per_insert",
                        (double)index->insert_lines / (double)index->inserts);
    }
    if (slab->reads > 0) {
        kvc_metrics_set(&result->kernel, "lines_per_read", (double)slab->read_lines / (double)slab->reads);
        kvc_metrics_set(&result->kernel, "marks_per_read", (double)slab->marked / (double)slab->reads);
    }
    kvc_metrics_set(&result->kernel, "dropped", (double)index->dropped);
    kvc_metrics_set(&result->kernel, "evictions", (double)slab->evicted);
    kvc_metrics_set(&result->kernel, "rejected", rejected);
}

static void per_launch(struct kvc_result *result, const char *time_name, const char *jobs_name,
                       const struct kvc_megakv_real_task_time *time, uint64_t launches)
{
    if (launches == 0) {
        return;
    }
    kvc_metrics_set(&result->model, time_name, time->busy_ns / (double)launches / 1e3);
    kvc_metrics_set(&result->model, jobs_name, (double)time->served / (double)launches);
}

static void report(const struct kvc_megakv_real_node *node, struct kvc_result *result)
{
    double measured_ns = node->until_ns - node->from_ns, rejected = 0;
    struct kvc_megakv_real_task_time receive = {0}, send = {0}, index = node->search;
    struct kvc_megakv_slab_stats slab = {0};
    uint64_t received = 0, answered = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        const struct kvc_megakv_real_pipeline *pipeline = node->pipeline[i];
        add_time(&receive, &pipeline->receive);
        add_time(&send, &pipeline->send);
        const struct kvc_megakv_real_answerer *answerer = &pipeline->answerer;
        result->completed += answerer->completed;
        result->hits += answerer->hits;
        result->misses += answerer->misses;
        result->sets += answerer->sets;
        result->deletes += answerer->deletes;
        received += pipeline->received;
        answered += answerer->answered;
        slab.reads += answerer->stats.reads;
        slab.read_lines += answerer->stats.read_lines;
        slab.marked += answerer->stats.marked;
        slab.evicted += pipeline->receive_stats.evicted;
        rejected += (double)pipeline->rejected;
        kvc_histogram_add(&result->latency, answerer->latency);
    }
    add_time(&index, &node->insert);
    result->gets = result->hits + result->misses;
    result->offered = received;
    result->requests_simulated = answered;
    result->has_histogram = true;
    result->throughput_mops = (double)result->completed / measured_ns * 1e3;
    result->simulated_s = measured_ns / 1e9;
    result->warmup_s = node->from_ns / 1e9;
    add_stage(result, "receive", "cpu", &receive, node->receive_cores, measured_ns);
    add_stage(result, "index", node->on_gpu ? "gpu" : "cpu", &index, 1, measured_ns);
    add_stage(result, "send", "cpu", &send, node->send_cores, measured_ns);
    if (node->shared) {
        double both_frac = result->stage[0].utilization_frac + result->stage[1].utilization_frac;
        result->stage[0].utilization_frac = result->stage[1].utilization_frac = fmin(both_frac, 1);
    }
    kvc_bottleneck_find(result);
    report_kernel(node, &slab, rejected, result);
    per_launch(result, "t_search_us", "jobs_per_search", &node->search, node->search_launches);
    per_launch(result, "t_insert_us", "jobs_per_insert", &node->insert, node->insert_launches);
    if (node->search_launches > 0) {
        kvc_metrics_set(&result->model, "cycle_effective_us",
                        measured_ns / (double)node->search_launches / 1e3);
        kvc_metrics_set(&result->model, "launches_late_frac",
                        (double)node->late_launches / (double)node->search_launches);
    }
}

static void report_noise(const struct kvc_megakv_real_node *node, double others_frac,
                         const struct kvc_cores *cores, struct kvc_result *result)
{
    double slowest_frac = kvc_cores_slowest_frac(cores);
    double stalled_frac = node->stalled_ns / (node->until_ns - node->from_ns);
    kvc_metrics_set(&result->model, "others_frac", others_frac);
    kvc_metrics_set(&result->model, "stalled_frac", stalled_frac);
    kvc_metrics_set(&result->model, "slowest_core_frac", slowest_frac);
    if (slowest_frac < kvc_cores_shared_frac) {
        kvc_result_note(
            result,
            "a core ran at %.0f %% while all worked: it shares its units with another core of this "
            "machine or with a neighbour, and pipelines wait for the slowest",
            100 * slowest_frac);
    }
    if (stalled_frac > kvc_megakv_measure_stalled_frac) {
        kvc_result_note(result,
                        "threads were kept from running for %.1f %% of the time: the highest latencies are "
                        "the machine's, measure again",
                        100 * stalled_frac);
    }
    if (others_frac > noisy_frac) {
        kvc_result_note(result,
                        "the machine was busy: %.1f %% of its processors' time went to others, measure again",
                        100 * others_frac);
    }
}

static enum kvc_status check_values(const struct kvc_megakv_real_node *node, struct kvc_diag *diag)
{
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        wrong += node->pipeline[i]->answerer.wrong;
    }
    if (atomic_load(&node->failed)) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the GPU failed while it searched");
    }
    return wrong == 0 ? KVC_OK
                      : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%llu values are not those of their keys",
                                      (unsigned long long)wrong);
}

static void set_times(struct kvc_megakv_real_node *node, const struct kvc_run *run)
{
    node->from_ns = run->warmup_ns >= 0 ? run->warmup_ns : fmax(run->duration_ns / 5, warmup_least_ns);
    node->until_ns = node->from_ns + run->duration_ns;
    node->started_s = kvc_clock_wall_s();
    for (uint32_t i = 0; i < node->count; i++) {
        struct kvc_megakv_real_answerer *answerer = &node->pipeline[i]->answerer;
        answerer->started_s = node->started_s;
        answerer->from_ns = node->from_ns;
        answerer->until_ns = node->until_ns;
    }
}

/* Long, so that the same keys do not come back so soon that caches and CLOCK would notice. */
static uint64_t feed_bytes(const struct kvc_scenario *scenario)
{
    uint64_t share = FEEDS_BYTES_MAX / kvc_megakv_resolve(scenario).streams;
    return share < FEED_BYTES_MAX ? share : FEED_BYTES_MAX;
}

enum kvc_status kvc_megakv_measure(const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                                   struct kvc_result *result, struct kvc_diag *diag)
{
    double others_frac = NAN;
    struct kvc_noise noise;
    struct kvc_cores cores;
    struct kvc_megakv_store *store = NULL;
    struct kvc_megakv_real_node *node = calloc(1, sizeof(*node));
    enum kvc_status status = kvc_megakv_measure_check(scenario, diag);
    if (status == KVC_OK && node == NULL) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a node");
    }
    if (status == KVC_OK) {
        status = kvc_megakv_store_create(scenario, progress, &store, diag);
    }
    bool on_gpu = ((const struct kvc_megakv_options *)scenario->system)->index_on == KVC_MEGAKV_INDEX_ON_GPU;
    if (status == KVC_OK && on_gpu) {
        status = kvc_megakv_real_device_move_index(scenario, &store->shards[0], diag);
    }
    if (status == KVC_OK) {
        status =
            kvc_megakv_real_node_open(node, scenario, &store->shards[0], on_gpu, feed_bytes(scenario), diag);
    }
    if (status == KVC_OK) {
        status = kvc_cores_measure(&cores, diag);
    }
    if (status == KVC_OK) {
        set_times(node, &scenario->run);
        kvc_noise_begin(&noise);
        status = run_cores(node, scenario, progress, diag);
        others_frac = kvc_noise_frac(&noise);
    }
    if (status == KVC_OK) {
        status = check_values(node, diag);
    }
    if (status == KVC_OK) {
        report(node, result);
        report_noise(node, others_frac, &cores, result);
        result->preload_wall_s = store->preload_wall_s;
    }
    if (node != NULL) {
        kvc_megakv_real_node_close(node);
    }
    free(node);
    kvc_megakv_store_free(store);
    return status;
}
