#include "models/megakv/real/threads.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "models/megakv/config.h"
#include "models/megakv/real/pipeline.h"
#include "sim/base/clock.h"
#include "validate/probes/pin.h"

/* A task of a core. */
struct task {
    kvc_megakv_real_task_fn *step;
    kvc_megakv_real_copy_fn *copy;
    void *data;
    uint32_t number; /* Of its pipeline. */
};

enum { CORES_MAX = 1 + 2 * KVC_MEGAKV_REAL_PIPELINES_MAX };

/* A core and its tasks, which take turns: one piece of work each. */
struct core {
    struct kvc_megakv_real_node *node;
    struct kvc_megakv_real_windows *windows;
    uint32_t number, tasks;
    struct task task[CORES_MAX];
};

uint32_t kvc_megakv_real_threads_cores(const struct kvc_scenario *scenario)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    return config->threads == KVC_MEGAKV_SHARED_THREADS ? (uint32_t)config->cpu->cores
                                                        : 1 + 2 * config->streams;
}

static void give(struct core *core, const struct task *task)
{
    core->task[core->tasks++] = *task;
}

/* Deals the tasks to cores and returns how many cores have some. With threads of their own, the scheduler has
 * the first core, and the sender and the receiver of each pipeline have the next ones. On shared cores, the
 * scheduler and all receivers have the first core, and the senders share the others. */
static uint32_t deal_tasks(struct kvc_megakv_real_node *node, const struct kvc_scenario *scenario,
                           struct core *cores)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    bool shared = config->threads == KVC_MEGAKV_SHARED_THREADS;
    uint32_t senders = shared ? (uint32_t)config->cpu->cores - 1 : node->count, count = 1;
    node->shared = shared;
    node->receive_cores = shared ? 1 : node->count;
    node->send_cores = senders < node->count ? senders : node->count;
    give(&cores[0], &(struct task){kvc_megakv_real_scheduler_step, kvc_megakv_real_copy_launched, node, 0});
    for (uint32_t i = 0; i < node->count; i++) {
        uint32_t sender = shared ? 1 + i % senders : 1 + 2 * i, receiver = shared ? 0 : sender + 1;
        give(&cores[sender],
             &(struct task){kvc_megakv_real_sender_step, kvc_megakv_real_copy_sent, node->pipeline[i], i});
        give(&cores[receiver], &(struct task){kvc_megakv_real_receiver_step, kvc_megakv_real_copy_received,
                                              node->pipeline[i], i});
    }
    while (count < CORES_MAX && cores[count].tasks > 0) {
        count++;
    }
    return count;
}

/* Copies the counts of the core's tasks at the end of the windows first .. last. */
static void copy_counts(const struct core *core, uint32_t first, uint32_t last)
{
    double at_ns = (kvc_clock_wall_s() - core->node->started_s) * 1e9;
    for (uint32_t i = 0; i < core->tasks; i++) {
        core->task[i].copy(core->windows, core->task[i].data, core->task[i].number, first, last, at_ns);
    }
}

static void *work(void *data)
{
    struct core *core = data;
    struct kvc_core_watch *watch = &core->windows->watched.watch[core->number];
    uint32_t passed = 0;
    kvc_pin_core(core->number);
    kvc_core_watch_begin(watch);
    while (!atomic_load_explicit(&core->node->stop, memory_order_relaxed)) {
        double worked_ns = 0;
        for (uint32_t i = 0; i < core->tasks; i++) {
            worked_ns = fmax(core->task[i].step(core->task[i].data), worked_ns);
        }
        bool idle = worked_ns <= 0;
        double now_s = idle ? kvc_clock_wall_s() : core->node->started_s + worked_ns * 1e-9;
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

static void sleep_until_enough(const struct kvc_megakv_real_node *node,
                               const struct kvc_megakv_real_windows *windows,
                               const struct kvc_progress *progress)
{
    const struct timespec step = {0, 30000000};
    double least_ns = node->from_ns + windows->watched.least * kvc_quiet_window_ns;
    while (!kvc_watched_suffices(&windows->watched)) {
        double now_ns = (kvc_clock_wall_s() - node->started_s) * 1e9;
        kvc_progress_report(progress, "measure", fmin(now_ns / least_ns, 1));
        nanosleep(&step, NULL);
    }
}

enum kvc_status kvc_megakv_real_threads_run(struct kvc_megakv_real_node *node,
                                            const struct kvc_scenario *scenario,
                                            const struct kvc_progress *progress,
                                            struct kvc_megakv_real_windows *windows, struct kvc_diag *diag)
{
    pthread_t threads[CORES_MAX];
    struct core *cores = calloc(CORES_MAX, sizeof(*cores));
    uint32_t count = cores != NULL ? deal_tasks(node, scenario, cores) : 0, started = 0;
    enum kvc_status status =
        cores != NULL
            ? kvc_watched_open(&windows->watched, count, node->started_s + node->from_ns * 1e-9, diag)
            : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the tasks of the cores");
    while (status == KVC_OK && started < count) {
        cores[started].node = node;
        cores[started].windows = windows;
        cores[started].number = started;
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
    free(cores);
    return status;
}
