#include "sim/probes/watched_threads.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/probes/pin.h"

struct crew {
    const struct kvc_watched_tasks *tasks;
    atomic_bool stop; /* Tells the threads to end. */
};

/* A core and its tasks, one piece of work each in turn. */
struct core {
    struct crew *crew;
    struct kvc_core_watch *watch;
    pthread_t thread;
    uint32_t number, tasks;
    struct kvc_watched_task *task;
};

/* Gives the core its tasks. */
static void deal(const struct kvc_watched_tasks *all, struct core *core)
{
    core->task = kvc_array_of(all->count, sizeof(*core->task));
    for (uint32_t i = 0; i < all->count; i++) {
        if (all->task[i].core == core->number) {
            core->task[core->tasks++] = all->task[i];
        }
    }
}

/* Copies the counts of the core's tasks at the end of the windows first .. last. */
static void copy_counts(const struct core *core, uint32_t first, uint32_t last)
{
    const struct kvc_watched_tasks *all = core->crew->tasks;
    double at_ns = (kvc_clock_wall_s() - all->started_s) * 1e9;
    for (uint32_t i = 0; i < core->tasks; i++) {
        const struct kvc_watched_task *task = &core->task[i];
        task->copy(all->copies, task->data, task->number, first, last, at_ns);
    }
}

static void *work(void *data)
{
    struct core *core = data;
    double started_s = core->crew->tasks->started_s;
    uint32_t passed = 0;
    kvc_pin_core(core->number);
    kvc_core_watch_begin(core->watch);
    while (!atomic_load_explicit(&core->crew->stop, memory_order_relaxed)) {
        double worked_ns = 0;
        for (uint32_t i = 0; i < core->tasks; i++) {
            worked_ns = fmax(core->task[i].step(core->task[i].data), worked_ns);
        }
        bool idle = worked_ns <= 0;
        double now_s = idle ? kvc_clock_wall_s() : started_s + worked_ns * 1e-9;
        uint32_t now_passed = kvc_core_watch_tick(core->watch, now_s, idle);
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

static void sleep_until_enough(const struct kvc_watched *watched, const struct kvc_watched_tasks *tasks,
                               const struct kvc_progress *progress)
{
    const struct timespec step = {0, 30000000};
    double least_ns = tasks->from_ns + watched->least * kvc_quiet_window_ns;
    while (!kvc_watched_suffices(watched) && !atomic_load(tasks->failed)) {
        double now_ns = (kvc_clock_wall_s() - tasks->started_s) * 1e9;
        kvc_progress_report(progress, "measure", fmin(now_ns / least_ns, 1));
        nanosleep(&step, NULL);
    }
}

/* Starts the thread of each core. Sets `started` to the number of those that run. */
static enum kvc_status start(struct core *cores, uint32_t count, uint32_t *started, struct kvc_diag *diag)
{
    for (*started = 0; *started < count; (*started)++) {
        if (pthread_create(&cores[*started].thread, NULL, work, &cores[*started]) != 0) {
            return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "thread %u of %u cannot be started", *started + 1,
                                 count);
        }
    }
    return KVC_OK;
}

enum kvc_status kvc_watched_threads_run(struct kvc_watched *watched, const struct kvc_watched_tasks *tasks,
                                        const struct kvc_progress *progress, struct kvc_diag *diag)
{
    uint32_t count = tasks->cores, started = 0;
    double from_s = tasks->started_s + tasks->from_ns * 1e-9;
    enum kvc_status status = kvc_watched_open(watched, count, from_s, diag);
    if (status != KVC_OK) {
        return status;
    }
    struct crew crew = {.tasks = tasks};
    struct core *cores = kvc_array_of(count, sizeof(*cores));
    for (uint32_t i = 0; i < count; i++) {
        cores[i] = (struct core){.crew = &crew, .watch = &watched->watch[i], .number = i};
        deal(tasks, &cores[i]);
    }
    status = start(cores, count, &started, diag);
    if (status == KVC_OK) {
        sleep_until_enough(watched, tasks, progress);
    }
    atomic_store(&crew.stop, true);
    for (uint32_t i = 0; i < started; i++) {
        pthread_join(cores[i].thread, NULL);
    }
    for (uint32_t i = 0; i < count; i++) {
        free(cores[i].task);
    }
    free(cores);
    return status;
}
