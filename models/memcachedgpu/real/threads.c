#include "models/memcachedgpu/real/threads.h"

#include <math.h>
#include <stdlib.h>

#include "sim/metrics/bottleneck.h"

/* ---- tasks ---- */

enum { PRE, POST, STAGES };

/* Counts that only GNoM-post has. */
enum { KERNELS, IN_FLIGHT_NS, KERNEL_NS };

static void count_begun(const void *data, struct kvc_measured_counts *counts)
{
    const struct kvc_memcachedgpu_real_node *node = data;
    *counts = (struct kvc_measured_counts){
        .busy_ns = node->pre.busy_ns, .served = (double)(node->pre.batches * (uint64_t)node->params.batch)};
}

static void count_ended(const void *data, struct kvc_measured_counts *counts)
{
    const struct kvc_memcachedgpu_real_post *post = data;
    const struct kvc_memcachedgpu_real_answerer *answerer = &post->answerer;
    *counts = (struct kvc_measured_counts){
        .busy_ns = post->time.busy_ns,
        .served = (double)(post->time.batches * (uint64_t)post->node->params.batch),
        .hits = (double)answerer->hits,
        .misses = (double)(answerer->answered - answerer->hits),
        .own = {[KERNELS] = (double)post->kernels,
                [IN_FLIGHT_NS] = post->in_flight_ns,
                [KERNEL_NS] = post->kernel_ns},
    };
}

static void deal_tasks(struct kvc_memcachedgpu_real_node *node, struct kvc_measured *measured)
{
    kvc_measured_add(measured, &(struct kvc_measured_task){.core = 0,
                                                           .stage = PRE,
                                                           .step = kvc_memcachedgpu_real_pre_step,
                                                           .count = count_begun,
                                                           .data = node});
    for (uint32_t p = 0; p < node->params.post_threads; p++) {
        struct kvc_memcachedgpu_real_post *post = &node->post[p];
        kvc_measured_add(measured, &(struct kvc_measured_task){.core = 1 + p,
                                                               .stage = POST,
                                                               .step = kvc_memcachedgpu_real_post_step,
                                                               .count = count_ended,
                                                               .data = post,
                                                               .oldest_sent_ns = &post->oldest_begun_ns,
                                                               .latency = post->latency});
    }
}

/* ---- the result ---- */

/* Returns the time of a GET kernel, or NaN if there was none [ns]. */
static double kernel_ns(const struct kvc_measured_sum *sum)
{
    const double *own = sum->stage[POST].own;
    return own[KERNELS] > 0 ? own[KERNEL_NS] / own[KERNELS] : NAN;
}

/* Sets the time of a search and the utilizations of the two kinds of threads. The GPU's utilization is not
 * known, because kernels of several streams overlap. */
static void find_part(const void *data, const struct kvc_measured_sum *sum, struct kvc_watched_part *part)
{
    const struct kvc_memcachedgpu_real_node *node = data;
    part->value[0] = kernel_ns(sum) / node->params.batch;
    part->utilization_frac[PRE] = sum->stage[PRE].busy_ns / sum->window_ns;
    part->utilization_frac[POST] = sum->stage[POST].busy_ns / node->params.post_threads / sum->window_ns;
}

static void report_stages(const struct kvc_memcachedgpu_real_node *node, const struct kvc_measured_sum *sum,
                          struct kvc_result *result)
{
    static const char *const names[STAGES] = {"launch", "answer"};
    struct kvc_watched_part part;
    find_part(node, sum, &part);
    for (int s = 0; s < STAGES; s++) {
        struct kvc_stage_result *stage =
            kvc_result_add_stage(result, names[s], "cpu", fmin(part.utilization_frac[s], 1));
        stage->busy_s = sum->stage[s].busy_ns / 1e9;
        stage->served = (uint64_t)sum->stage[s].served;
    }
    kvc_bottleneck_find(result);
}

static void report(const void *data, const struct kvc_measured_sum *sum, struct kvc_result *result)
{
    const struct kvc_memcachedgpu_real_node *node = data;
    const double *own = sum->stage[POST].own;
    report_stages(node, sum, result);
    if (own[KERNELS] > 0) {
        kvc_metrics_set(&result->model, "t_search_us", kernel_ns(sum) / 1e3);
        kvc_metrics_set(&result->model, "jobs_per_search", node->params.batch);
        kvc_metrics_set(&result->model, "search_ns_per_job", kernel_ns(sum) / node->params.batch);
    }
    kvc_metrics_set(&result->model, "streams_mean", own[IN_FLIGHT_NS] / sum->window_ns);
    if (!isnan(node->background_ended_ns)) {
        kvc_metrics_set(&result->model, "background_ms",
                        (node->background_ended_ns - node->background_begun_ns) / 1e6);
    }
    for (uint32_t p = 0; p < node->params.post_threads; p++) {
        result->requests_simulated += node->post[p].answerer.answered;
    }
    kvc_metrics_set(&result->kernel, "load_factor_frac",
                    (double)kvc_index_used(node->index) / (double)kvc_index_capacity(node->index));
}

/* ---- the run ---- */

/* Checks the frames that are still in the ring of a thread: each is a valid response whose value belongs to
 * its key. Returns the number of wrong ones. */
static uint64_t count_wrong(const struct kvc_memcachedgpu_real_post *post)
{
    const struct kvc_memcachedgpu_real_answerer *answerer = &post->answerer;
    uint32_t frames = answerer->next < answerer->frame_count ? answerer->next : answerer->frame_count;
    uint64_t wrong = 0;
    for (uint32_t f = 0; f < frames; f++) {
        wrong += !kvc_memcachedgpu_real_frame_is_right(
            answerer->frames + (uint64_t)f * KVC_MEMCACHEDGPU_REAL_FRAME_BYTES, answerer->frame_bytes[f]);
    }
    return wrong;
}

/* The counts begin with the warm-up: the first window is left out, so that the difference of two copies
 * covers one window. */
void kvc_memcachedgpu_real_threads_join(void *opened, struct kvc_measured *measured,
                                        struct kvc_measured_store *reports)
{
    static const char *const value_names[] = {"search_job_half_frac"};
    struct kvc_memcachedgpu_real_node *node = opened;
    deal_tasks(node, measured);
    kvc_memcachedgpu_real_node_start(node, measured->from_ns);
    *reports = (struct kvc_measured_store){.data = node,
                                           .failed = &node->failed,
                                           .preload_wall_s = node->preload_wall_s,
                                           .values = 1,
                                           .value_name = value_names,
                                           .part = find_part,
                                           .report = report};
}

enum kvc_status kvc_memcachedgpu_real_threads_finish(void *opened, struct kvc_diag *diag)
{
    struct kvc_memcachedgpu_real_node *node = opened;
    uint64_t wrong = 0, unanswered = 0;
    if (!kvc_memcachedgpu_real_node_drain(node) || atomic_load(&node->failed)) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the GPU failed during the measurement");
    }
    for (uint32_t p = 0; p < node->params.post_threads; p++) {
        wrong += count_wrong(&node->post[p]);
        unanswered += node->post[p].answerer.unanswered;
    }
    return wrong + unanswered == 0 ? KVC_OK
                                   : kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                                                   "%llu of the last frames are wrong, %llu GETs have none",
                                                   (unsigned long long)wrong, (unsigned long long)unanswered);
}
