#include "models/memcachedgpu/real/report.h"

#include <math.h>

#include "sim/metrics/bottleneck.h"

/* Counts begin with the warm-up: the first window is left out, so that the difference of two copies is that
 * of a window. */
enum { FIRST = 1 };

/* A measured run. */
struct run {
    const struct kvc_memcachedgpu_real_node *node;
    const struct kvc_memcachedgpu_real_windows *windows;
};

/* What the node did in some of its windows. */
struct sums {
    uint32_t windows;
    struct kvc_memcachedgpu_real_time pre, post;
    uint64_t answered, hits, kernels;
    double in_flight_ns, kernel_ns, mops;
    struct kvc_histogram *latency;
};

static void add_time(struct kvc_memcachedgpu_real_time *sum, const struct kvc_memcachedgpu_real_time *now,
                     const struct kvc_memcachedgpu_real_time *before)
{
    sum->busy_ns += now->busy_ns - before->busy_ns;
    sum->batches += now->batches - before->batches;
}

static void add_pre(const struct kvc_memcachedgpu_real_begun *begun, const bool *wanted, uint32_t count,
                    struct sums *sums)
{
    for (uint32_t i = FIRST; i < count; i++) {
        if (wanted[i]) {
            add_time(&sums->pre, &begun[i].pre, &begun[i - 1].pre);
        }
    }
}

static void add_post(const struct kvc_memcachedgpu_real_ended *ended, const bool *wanted, uint32_t count,
                     struct sums *sums)
{
    uint64_t answered = 0;
    double ns = 0;
    for (uint32_t i = FIRST; i < count; i++) {
        const struct kvc_memcachedgpu_real_ended *now = &ended[i], *before = &ended[i - 1];
        if (!wanted[i]) {
            continue;
        }
        add_time(&sums->post, &now->post, &before->post);
        answered += now->answered - before->answered;
        sums->hits += now->hits - before->hits;
        sums->kernels += now->kernels - before->kernels;
        sums->in_flight_ns += now->in_flight_ns - before->in_flight_ns;
        sums->kernel_ns += now->kernel_ns - before->kernel_ns;
        ns += now->at_ns - before->at_ns;
        kvc_histogram_add_pack(sums->latency, &now->latency);
    }
    sums->answered += answered;
    sums->mops += ns > 0 ? (double)answered / ns * 1e3 : 0;
}

/* Adds up the wanted windows. Their latencies replace those in `latency`. */
static struct sums sum_up(const struct run *run, const bool *wanted, struct kvc_histogram *latency)
{
    const struct kvc_memcachedgpu_real_windows *windows = run->windows;
    uint32_t count = windows->watched.count;
    struct sums sums = {.windows = kvc_quiet_count(wanted, count), .latency = latency};
    kvc_histogram_reset(latency);
    add_pre(windows->begun, wanted, count, &sums);
    for (uint32_t p = 0; p < windows->posts; p++) {
        add_post(windows->ended[p], wanted, count, &sums);
    }
    return sums;
}

static double kernel_us(const struct sums *sums)
{
    return sums->kernels > 0 ? sums->kernel_ns / (double)sums->kernels / 1e3 : NAN;
}

/* ---- stages ---- */

enum { PRE, POST, STAGES };

/* Utilizations of the two kinds of threads. That of the GPU is not known: kernels of several streams overlap.
 */
static void find_utilizations(const struct kvc_memcachedgpu_real_node *node, const struct sums *sums,
                              double utilization[STAGES])
{
    double measured_ns = sums->windows * kvc_quiet_window_ns;
    utilization[PRE] = sums->pre.busy_ns / measured_ns;
    utilization[POST] = sums->post.busy_ns / node->params.post_threads / measured_ns;
}

static void add_stage(struct kvc_result *result, const char *name,
                      const struct kvc_memcachedgpu_real_time *time, uint32_t batch, double utilization_frac)
{
    struct kvc_stage_result *stage = kvc_result_add_stage(result, name, "cpu", fmin(utilization_frac, 1));
    stage->busy_s = time->busy_ns / 1e9;
    stage->served = time->batches * batch;
}

static void report_stages(const struct kvc_memcachedgpu_real_node *node, const struct sums *sums,
                          struct kvc_result *result)
{
    double utilization[STAGES];
    find_utilizations(node, sums, utilization);
    add_stage(result, "launch", &sums->pre, node->params.batch, utilization[PRE]);
    add_stage(result, "answer", &sums->post, node->params.batch, utilization[POST]);
    kvc_bottleneck_find(result);
}

/* Adds the metrics of the windows that count. */
static void report_sums(const struct kvc_memcachedgpu_real_node *node, const struct sums *sums,
                        struct kvc_result *result)
{
    double measured_ns = sums->windows * kvc_quiet_window_ns, batch = node->params.batch;
    result->offered = sums->pre.batches * node->params.batch;
    result->completed = sums->answered;
    result->gets = sums->answered;
    result->hits = sums->hits;
    result->misses = sums->answered - sums->hits;
    result->has_histogram = true;
    result->throughput_mops = sums->mops;
    result->simulated_s = measured_ns / 1e9;
    result->warmup_s = node->from_ns / 1e9;
    report_stages(node, sums, result);
    if (sums->kernels > 0) {
        kvc_metrics_set(&result->model, "t_search_us", kernel_us(sums));
        kvc_metrics_set(&result->model, "jobs_per_search", batch);
        kvc_metrics_set(&result->model, "search_ns_per_job", kernel_us(sums) * 1e3 / batch);
    }
    kvc_metrics_set(&result->model, "streams_mean", sums->in_flight_ns / measured_ns);
    if (!isnan(node->background_ended_ns)) {
        kvc_metrics_set(&result->model, "background_ms",
                        (node->background_ended_ns - node->background_begun_ns) / 1e6);
    }
    for (uint32_t p = 0; p < node->params.post_threads; p++) {
        result->requests_simulated += node->post[p].answerer.answered;
    }
}

static struct kvc_quiet_flow flow_of(const void *data, uint32_t window)
{
    const struct run *run = data;
    struct kvc_quiet_flow flow = {.caught_up = true, .oldest_sent_ns = INFINITY};
    for (uint32_t p = 0; p < run->windows->posts; p++) {
        flow.oldest_sent_ns = fmin(flow.oldest_sent_ns, run->windows->ended[p][window].oldest_begun_ns);
    }
    return flow;
}

static void add_up(const void *data, const bool *wanted, struct kvc_histogram *latency,
                   struct kvc_watched_part *part)
{
    const struct run *run = data;
    struct sums sums = sum_up(run, wanted, latency);
    part->mops = sums.mops;
    part->value[0] = kernel_us(&sums) * 1e3 / run->node->params.batch;
    find_utilizations(run->node, &sums, part->utilization_frac);
}

static void report(const void *data, const bool *wanted, struct kvc_result *result)
{
    const struct run *run = data;
    struct sums sums = sum_up(run, wanted, &result->latency);
    report_sums(run->node, &sums, result);
}

void kvc_memcachedgpu_real_report(const struct kvc_memcachedgpu_real_node *node,
                                  struct kvc_memcachedgpu_real_windows *windows, struct kvc_result *result)
{
    static const char *const half_widths[] = {"search_job_half_frac"};
    const struct run run = {node, windows};
    const struct kvc_watched_store store = {.data = &run,
                                            .flow_of = flow_of,
                                            .from_ns = node->from_ns,
                                            .first = FIRST,
                                            .add_up = add_up,
                                            .report = report,
                                            .values = 1,
                                            .half_widths = half_widths};
    kvc_watched_report(&windows->watched, &store, result);
    kvc_metrics_set(&result->kernel, "load_factor_frac",
                    (double)kvc_index_used(node->index) / (double)kvc_index_capacity(node->index));
}
