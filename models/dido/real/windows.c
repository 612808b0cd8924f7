#include "models/dido/real/windows.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"

void kvc_dido_real_windows_open(struct kvc_dido_real_windows *windows, uint32_t workers, double duration_ns)
{
    *windows = (struct kvc_dido_real_windows){.workers = workers};
    kvc_watched_plan(&windows->watched, duration_ns);
    for (uint32_t i = 0; i < workers; i++) {
        windows->worked[i] = kvc_array_of(windows->watched.room, sizeof(*windows->worked[i]));
    }
}

void kvc_dido_real_windows_close(struct kvc_dido_real_windows *windows)
{
    for (uint32_t i = 0; i < windows->workers; i++) {
        for (uint32_t w = 0; w < windows->watched.room; w++) {
            free(windows->worked[i][w].latency.slot);
        }
        free(windows->worked[i]);
    }
    kvc_watched_close(&windows->watched);
}

static void copy_worked(void *copies, void *data, uint32_t number, uint32_t first, uint32_t last,
                        double at_ns)
{
    struct kvc_dido_real_windows *windows = copies;
    struct kvc_dido_real_worker *worker = data;
    for (uint32_t i = first; i <= last; i++) {
        struct kvc_dido_real_worked *worked = &windows->worked[number][i];
        *worked = (struct kvc_dido_real_worked){.at_ns = at_ns,
                                                .busy_ns = worker->busy_ns,
                                                .period_ns = worker->period_ns,
                                                .served = worker->served,
                                                .batches = worker->batches,
                                                .batch_queries = worker->batch_queries,
                                                .counts = worker->bench.counts,
                                                .caught_up = worker->caught_up,
                                                .oldest_sent_ns = worker->oldest_sent_ns};
        if (!kvc_histogram_take(worker->latency, &worked->latency)) {
            kvc_out_of_memory("the latencies of a window");
        }
        worker->caught_up = false;
        worker->oldest_sent_ns = INFINITY;
    }
}

enum kvc_status kvc_dido_real_windows_run(struct kvc_dido_real_windows *windows,
                                          struct kvc_dido_real_node *node, double from_ns,
                                          const struct kvc_progress *progress, struct kvc_diag *diag)
{
    struct kvc_watched_task task[KVC_DIDO_REAL_WORKERS_MAX];
    for (uint32_t i = 0; i < node->workers; i++) {
        task[i] = (struct kvc_watched_task){i, kvc_dido_real_step, copy_worked, &node->worker[i], i};
    }
    const struct kvc_watched_tasks tasks = {.task = task,
                                            .count = node->workers,
                                            .cores = node->workers,
                                            .started_s = node->started_s,
                                            .from_ns = from_ns,
                                            .failed = &node->failed,
                                            .copies = windows};
    return kvc_watched_threads_run(&windows->watched, &tasks, progress, diag);
}
