#include "models/memcachedgpu/real/threads.h"

#include <math.h>
#include <pthread.h>
#include <time.h>

#include "sim/base/clock.h"
#include "validate/probes/pin.h"

enum { CORES_MAX = 1 + KVC_MEMCACHEDGPU_REAL_POSTS_MAX };

/* A thread with a core of its own; number 0 is GNoM-pre. */
struct core {
    struct kvc_memcachedgpu_real_node *node;
    struct kvc_memcachedgpu_real_windows *windows;
    uint32_t number;
};

static void copy_counts(const struct core *core, uint32_t first, uint32_t last)
{
    struct kvc_memcachedgpu_real_node *node = core->node;
    if (core->number == 0) {
        kvc_memcachedgpu_real_copy_begun(core->windows, node, first, last);
    } else {
        uint32_t post = core->number - 1;
        kvc_memcachedgpu_real_copy_ended(core->windows, &node->post[post], post, first, last,
                                         kvc_memcachedgpu_real_node_ns(node));
    }
}

static void *work(void *data)
{
    const struct core *core = data;
    struct kvc_memcachedgpu_real_node *node = core->node;
    struct kvc_core_watch *watch = &core->windows->watched.watch[core->number];
    kvc_memcachedgpu_real_step_fn *step =
        core->number == 0 ? kvc_memcachedgpu_real_pre_step : kvc_memcachedgpu_real_post_step;
    void *task = core->number == 0 ? (void *)node : (void *)&node->post[core->number - 1];
    uint32_t passed = 0;
    kvc_pin_core(core->number);
    kvc_core_watch_begin(watch);
    while (!atomic_load_explicit(&node->stop, memory_order_relaxed)) {
        double worked_ns = step(task);
        bool idle = worked_ns <= 0;
        double now_s = idle ? kvc_clock_wall_s() : node->started_s + worked_ns * 1e-9;
        uint32_t now_passed = kvc_core_watch_tick(watch, now_s, idle);
        if (now_passed > passed) {
            copy_counts(core, passed, now_passed - 1);
            passed = now_passed;
        }
#if defined(__x86_64__)
        if (idle) {
            __builtin_ia32_pause();
        }
#endif
    }
    return NULL;
}

static void sleep_until_enough(struct kvc_memcachedgpu_real_node *node,
                               const struct kvc_memcachedgpu_real_windows *windows,
                               const struct kvc_progress *progress)
{
    const struct timespec step = {0, 30000000};
    double least_ns = node->from_ns + windows->watched.least * kvc_quiet_window_ns;
    while (!kvc_watched_suffices(&windows->watched) && !atomic_load(&node->failed)) {
        kvc_progress_report(progress, "measure", fmin(kvc_memcachedgpu_real_node_ns(node) / least_ns, 1));
        nanosleep(&step, NULL);
    }
}

enum kvc_status kvc_memcachedgpu_real_threads_run(struct kvc_memcachedgpu_real_node *node,
                                                  const struct kvc_progress *progress,
                                                  struct kvc_memcachedgpu_real_windows *windows,
                                                  struct kvc_diag *diag)
{
    pthread_t threads[CORES_MAX];
    struct core cores[CORES_MAX];
    uint32_t count = 1 + node->params.post_threads, started = 0;
    enum kvc_status status =
        kvc_watched_open(&windows->watched, count, node->started_s + node->from_ns * 1e-9, diag);
    while (status == KVC_OK && started < count) {
        cores[started] = (struct core){node, windows, started};
        if (pthread_create(&threads[started], NULL, work, &cores[started]) != 0) {
            status =
                kvc_diag_fail(diag, KVC_ERR_RUNTIME, "thread %u of %u cannot be started", started + 1, count);
            break;
        }
        started++;
    }
    if (status == KVC_OK) {
        sleep_until_enough(node, windows, progress);
    }
    atomic_store(&node->stop, true);
    for (uint32_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    return status;
}
