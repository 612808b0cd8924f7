#include "models/memcachedgpu/real/windows.h"

#include <math.h>
#include <stdlib.h>

/* A measurement goes on until quiet windows make up this fraction of the duration that was asked for, but at
 * most for so many times this duration. */
static const double quiet_enough_frac = 0.5;
enum { EXTENSION_MAX = 6 };

enum kvc_status kvc_memcachedgpu_real_windows_open(struct kvc_memcachedgpu_real_windows *windows,
                                                   uint32_t posts, double duration_ns, struct kvc_diag *diag)
{
    double least = fmax(ceil(duration_ns / kvc_quiet_window_ns - 1e-9), 1);
    *windows = (struct kvc_memcachedgpu_real_windows){
        .room = (uint32_t)least * EXTENSION_MAX, .least = (uint32_t)least, .posts = posts};
    windows->begun = calloc(windows->room, sizeof(*windows->begun));
    bool opened = windows->begun != NULL;
    for (uint32_t p = 0; opened && p < posts; p++) {
        windows->ended[p] = calloc(windows->room, sizeof(*windows->ended[p]));
        opened = windows->ended[p] != NULL;
    }
    return opened ? KVC_OK : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for %u windows", windows->room);
}

void kvc_memcachedgpu_real_windows_close(struct kvc_memcachedgpu_real_windows *windows)
{
    for (uint32_t p = 0; p < windows->posts; p++) {
        for (uint32_t w = 0; windows->ended[p] != NULL && w < windows->room; w++) {
            free(windows->ended[p][w].latency.slot);
        }
        free(windows->ended[p]);
    }
    for (uint32_t i = 0; i < windows->cores; i++) {
        kvc_core_watch_close(&windows->watch[i]);
    }
    free(windows->begun);
}

void kvc_memcachedgpu_real_copy_begun(struct kvc_memcachedgpu_real_windows *windows,
                                      const struct kvc_memcachedgpu_real_node *node, uint32_t first,
                                      uint32_t last)
{
    for (uint32_t i = first; i <= last; i++) {
        windows->begun[i].pre = node->pre;
    }
}

void kvc_memcachedgpu_real_copy_ended(struct kvc_memcachedgpu_real_windows *windows,
                                      struct kvc_memcachedgpu_real_post *post, uint32_t number,
                                      uint32_t first, uint32_t last, double at_ns)
{
    for (uint32_t i = first; i <= last; i++) {
        struct kvc_memcachedgpu_real_ended *ended = &windows->ended[number][i];
        *ended = (struct kvc_memcachedgpu_real_ended){.at_ns = at_ns,
                                                      .post = post->time,
                                                      .answered = post->answerer.answered,
                                                      .hits = post->answerer.hits,
                                                      .kernels = post->kernels,
                                                      .in_flight_ns = post->in_flight_ns,
                                                      .kernel_ns = post->kernel_ns,
                                                      .oldest_begun_ns = post->oldest_begun_ns};
        if (!kvc_histogram_take(post->latency, &ended->latency)) {
            kvc_out_of_memory("the latencies of a window");
        }
        post->oldest_begun_ns = INFINITY;
    }
}

/* Windows that have passed on all cores. */
static uint32_t passed(const struct kvc_memcachedgpu_real_windows *windows)
{
    uint32_t least = windows->room;
    for (uint32_t i = 0; i < windows->cores; i++) {
        uint32_t done = atomic_load_explicit(&windows->watch[i].done, memory_order_acquire);
        least = done < least ? done : least;
    }
    return least;
}

static void find_undisturbed(const struct kvc_memcachedgpu_real_windows *windows, uint32_t count, bool *quiet)
{
    const struct kvc_core_window *cores[KVC_MEMCACHEDGPU_REAL_CORES_MAX];
    for (uint32_t i = 0; i < windows->cores; i++) {
        cores[i] = windows->watch[i].window;
    }
    kvc_quiet_find(cores, windows->cores, count, quiet);
}

bool kvc_memcachedgpu_real_windows_suffice(const struct kvc_memcachedgpu_real_windows *windows)
{
    uint32_t count = passed(windows), enough = 0;
    if (count < windows->least || count == windows->room) {
        return count == windows->room;
    }
    bool *quiet = malloc(count * sizeof(*quiet));
    if (quiet == NULL) {
        kvc_out_of_memory("%u windows", count);
    }
    find_undisturbed(windows, count, quiet);
    for (uint32_t i = 1; i < count; i++) {
        enough += quiet[i - 1] && quiet[i]; /* The window after a disturbed one is lost to recovery. */
    }
    free(quiet);
    return enough + 1 >= quiet_enough_frac * windows->least;
}

void kvc_memcachedgpu_real_windows_stop(struct kvc_memcachedgpu_real_windows *windows)
{
    windows->count = passed(windows);
}

void kvc_memcachedgpu_real_windows_judge(const struct kvc_memcachedgpu_real_windows *windows, double from_ns,
                                         bool *quiet)
{
    struct kvc_quiet_flow *flow = calloc(windows->count + 1, sizeof(*flow));
    if (flow == NULL) {
        kvc_out_of_memory("%u windows", windows->count);
    }
    for (uint32_t i = 0; i < windows->count; i++) {
        flow[i] = (struct kvc_quiet_flow){.caught_up = true, .oldest_sent_ns = INFINITY};
        for (uint32_t p = 0; p < windows->posts; p++) {
            flow[i].oldest_sent_ns = fmin(flow[i].oldest_sent_ns, windows->ended[p][i].oldest_begun_ns);
        }
    }
    find_undisturbed(windows, windows->count, quiet);
    kvc_quiet_drop_recovery(flow, windows->count, from_ns, false, quiet);
    free(flow);
}
