#include "models/megakv/real/threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "models/megakv/config.h"
#include "models/megakv/real/pipeline.h"
#include "sim/base/clock.h"
#include "validate/probes/pin.h"

enum { CORES_MAX = 1 + 2 * KVC_MEGAKV_REAL_PIPELINES_MAX };

/* An idle thread asks for work all the time. A longer pause between two questions means that it was kept from
 * running. Short pauses count too, because they stand for those that working threads do not notice. */
static const double stall_least_s = 20e-6;

/* A core and its tasks, which take turns: one piece of work each. */
struct core {
    struct kvc_megakv_real_node *node;
    uint32_t number, tasks;
    double stalled_ns; /* Within the measured time [ns]. */
    struct {
        kvc_megakv_real_task_fn *step;
        void *data;
    } task[CORES_MAX];
};

uint32_t kvc_megakv_real_threads_cores(const struct kvc_scenario *scenario)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    return config->threads == KVC_MEGAKV_SHARED_THREADS ? (uint32_t)config->cpu->cores
                                                        : 1 + 2 * config->streams;
}

static void give(struct core *core, kvc_megakv_real_task_fn *step, void *data)
{
    core->task[core->tasks].step = step;
    core->task[core->tasks++].data = data;
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
    give(&cores[0], kvc_megakv_real_scheduler_step, node);
    for (uint32_t i = 0; i < node->count; i++) {
        uint32_t sender = shared ? 1 + i % senders : 1 + 2 * i, receiver = shared ? 0 : sender + 1;
        give(&cores[sender], kvc_megakv_real_sender_step, node->pipeline[i]);
        give(&cores[receiver], kvc_megakv_real_receiver_step, node->pipeline[i]);
    }
    while (count < CORES_MAX && cores[count].tasks > 0) {
        count++;
    }
    return count;
}

/* Counts the time between two moments at which the core found nothing to do, if it is long enough for a
 * stall. */
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

enum kvc_status kvc_megakv_real_threads_run(struct kvc_megakv_real_node *node,
                                            const struct kvc_scenario *scenario,
                                            const struct kvc_progress *progress, double *stalled_ns,
                                            struct kvc_diag *diag)
{
    pthread_t threads[CORES_MAX];
    struct core *cores = calloc(CORES_MAX, sizeof(*cores));
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
    *stalled_ns = 0;
    for (uint32_t i = 0; i < started; i++) {
        *stalled_ns += cores[i].stalled_ns;
    }
    free(cores);
    return count > 0 && started == count
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "thread %u of %u cannot be started", started + 1,
                               count);
}
