#include "models/memcachedgpu/real/measure_node.h"

#ifndef KVC_HAVE_CUDA

enum kvc_status kvc_memcachedgpu_real_measure_node(const struct kvc_scenario *scenario,
                                                   const struct kvc_memcachedgpu_real_params *params,
                                                   const struct kvc_progress *progress,
                                                   struct kvc_result *result, struct kvc_diag *diag)
{
    (void)scenario, (void)params, (void)progress, (void)result;
    return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                         "this program was built without CUDA; MemcachedGPU is measured on a GPU");
}

#else

#include <stdlib.h>

#include "models/memcachedgpu/real/report.h"
#include "models/memcachedgpu/real/threads.h"
#include "sim/probes/noise.h"

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

static enum kvc_status check_frames(const struct kvc_memcachedgpu_real_node *node, struct kvc_diag *diag)
{
    uint64_t wrong = 0, unanswered = 0;
    for (uint32_t p = 0; p < node->params.post_threads; p++) {
        wrong += count_wrong(&node->post[p]);
        unanswered += node->post[p].answerer.unanswered;
    }
    if (atomic_load(&node->failed)) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the GPU failed during the measurement");
    }
    return wrong + unanswered == 0 ? KVC_OK
                                   : kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                                                   "%llu of the last frames are wrong, %llu GETs have none",
                                                   (unsigned long long)wrong, (unsigned long long)unanswered);
}

/* What is watched beside the node. */
struct watched {
    struct kvc_memcachedgpu_real_windows windows;
    struct kvc_watched_noise noise;
};

static enum kvc_status run_node(struct kvc_memcachedgpu_real_node *node, const struct kvc_scenario *scenario,
                                const struct kvc_progress *progress, struct watched *watched,
                                struct kvc_diag *diag)
{
    struct kvc_noise noise;
    enum kvc_status status = kvc_cores_measure(&watched->noise.cores, diag);
    if (status == KVC_OK) {
        status = kvc_memcachedgpu_real_windows_open(&watched->windows, node->params.post_threads,
                                                    scenario->run.duration_ns, diag);
    }
    if (status != KVC_OK) {
        return status;
    }
    kvc_memcachedgpu_real_node_start(node, kvc_run_real_warmup_ns(&scenario->run));
    kvc_noise_begin(&noise);
    status = kvc_memcachedgpu_real_threads_run(node, progress, &watched->windows, diag);
    watched->noise.others_frac = kvc_noise_frac(&noise);
    if (!kvc_memcachedgpu_real_node_drain(node)) {
        atomic_store(&node->failed, true);
    }
    return status == KVC_OK ? check_frames(node, diag) : status;
}

enum kvc_status kvc_memcachedgpu_real_measure_node(const struct kvc_scenario *scenario,
                                                   const struct kvc_memcachedgpu_real_params *params,
                                                   const struct kvc_progress *progress,
                                                   struct kvc_result *result, struct kvc_diag *diag)
{
    struct kvc_memcachedgpu_real_node *node = aligned_alloc(64, sizeof(*node));
    struct watched *watched = calloc(1, sizeof(*watched));
    if (node == NULL || watched == NULL) {
        kvc_out_of_memory("a node");
    }
    enum kvc_status status = kvc_memcachedgpu_real_node_open(node, scenario, params, progress, diag);
    if (status == KVC_OK) {
        status = run_node(node, scenario, progress, watched, diag);
    }
    if (status == KVC_OK) {
        kvc_memcachedgpu_real_report(node, &watched->windows, result);
        kvc_watched_report_noise(&watched->windows.watched, &watched->noise, result);
        result->preload_wall_s = node->preload_wall_s;
    }
    kvc_memcachedgpu_real_windows_close(&watched->windows);
    free(watched);
    kvc_memcachedgpu_real_node_close(node);
    free(node);
    return status;
}

#endif
