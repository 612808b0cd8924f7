#include "models/memcachedgpu/real/windows.h"

#include <math.h>
#include <stdlib.h>

enum kvc_status kvc_memcachedgpu_real_windows_open(struct kvc_memcachedgpu_real_windows *windows,
                                                   uint32_t posts, double duration_ns, struct kvc_diag *diag)
{
    *windows = (struct kvc_memcachedgpu_real_windows){.posts = posts};
    kvc_watched_plan(&windows->watched, duration_ns);
    uint32_t room = windows->watched.room;
    windows->begun = calloc(room, sizeof(*windows->begun));
    bool opened = windows->begun != NULL;
    for (uint32_t p = 0; opened && p < posts; p++) {
        windows->ended[p] = calloc(room, sizeof(*windows->ended[p]));
        opened = windows->ended[p] != NULL;
    }
    return opened ? KVC_OK : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for %u windows", room);
}

void kvc_memcachedgpu_real_windows_close(struct kvc_memcachedgpu_real_windows *windows)
{
    for (uint32_t p = 0; p < windows->posts; p++) {
        for (uint32_t w = 0; windows->ended[p] != NULL && w < windows->watched.room; w++) {
            free(windows->ended[p][w].latency.slot);
        }
        free(windows->ended[p]);
    }
    free(windows->begun);
    kvc_watched_close(&windows->watched);
}

void kvc_memcachedgpu_real_copy_begun(void *copies, void *data, uint32_t number, uint32_t first,
                                      uint32_t last, double at_ns)
{
    struct kvc_memcachedgpu_real_windows *windows = copies;
    const struct kvc_memcachedgpu_real_node *node = data;
    (void)number, (void)at_ns;
    for (uint32_t i = first; i <= last; i++) {
        windows->begun[i].pre = node->pre;
    }
}

void kvc_memcachedgpu_real_copy_ended(void *copies, void *data, uint32_t number, uint32_t first,
                                      uint32_t last, double at_ns)
{
    struct kvc_memcachedgpu_real_windows *windows = copies;
    struct kvc_memcachedgpu_real_post *post = data;
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
