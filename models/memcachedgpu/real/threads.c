#include "models/memcachedgpu/real/threads.h"

#include <math.h>
#include <pthread.h>
#include <time.h>

#include "sim/base/clock.h"
#include "validate/probes/pin.h"

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
    struct kvc_core_watch *watch = &core->windows->watch[core->number];
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
    double least_ns = node->from_ns + windows->least * kvc_quiet_window_ns;
    while (!kvc_memcachedgpu_real_windows_suffice(windows) && !atomic_load(&node->failed)) {
        kvc_progress_report(progress, "measure", fmin(kvc_memcachedgpu_real_node_ns(node) / least_ns, 1));
        nanosleep(&step, NULL);
    }
}

static enum kvc_status open_watches(const struct kvc_memcachedgpu_real_node *node, uint32_t cores,
                                    struct kvc_memcachedgpu_real_windows *windows, struct kvc_diag *diag)
{
    double from_s = node->started_s + node->from_ns * 1e-9;
    enum kvc_status status = KVC_OK;
    for (; windows->cores < cores && status == KVC_OK; windows->cores++) {
        status = kvc_core_watch_open(&windows->watch[windows->cores], from_s, windows->room, diag);
    }
    return status;
}

enum kvc_status kvc_memcachedgpu_real_threads_run(struct kvc_memcachedgpu_real_node *node,
                                                  const struct kvc_progress *progress,
                                                  struct kvc_memcachedgpu_real_windows *windows,
                                                  struct kvc_diag *diag)
{
    pthread_t threads[KVC_MEMCACHEDGPU_REAL_CORES_MAX];
    struct core cores[KVC_MEMCACHEDGPU_REAL_CORES_MAX];
    uint32_t count = 1 + node->params.post_threads, started = 0;
    enum kvc_status status = open_watches(node, count, windows, diag);
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
