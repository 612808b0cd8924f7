#include "models/megakv/real/threads.h"

#include "models/megakv/config.h"
#include "models/megakv/real/pipeline.h"
#include "sim/probes/watched.h"

enum { TASKS_MAX = 1 + 2 * KVC_MEGAKV_REAL_PIPELINES_MAX };

uint32_t kvc_megakv_real_threads_cores(const struct kvc_scenario *scenario)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    return config->threads == KVC_MEGAKV_SHARED_THREADS ? (uint32_t)config->cpu->cores
                                                        : 1 + 2 * config->streams;
}

/* Deals the tasks to cores. With threads of their own, the scheduler has the first core, and the sender and
 * the receiver of each pipeline have the next ones. On shared cores, the scheduler and all receivers have the
 * first core, and the senders share the others. Returns how many cores have tasks. */
static uint32_t deal_tasks(struct kvc_megakv_real_node *node, const struct kvc_scenario *scenario,
                           struct kvc_watched_task task[TASKS_MAX])
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    bool shared = config->threads == KVC_MEGAKV_SHARED_THREADS;
    uint32_t senders = shared ? (uint32_t)config->cpu->cores - 1 : node->count;
    node->shared = shared;
    node->receive_cores = shared ? 1 : node->count;
    node->send_cores = senders < node->count ? senders : node->count;
    task[0] =
        (struct kvc_watched_task){0, kvc_megakv_real_scheduler_step, kvc_megakv_real_copy_launched, node, 0};
    for (uint32_t i = 0; i < node->count; i++) {
        uint32_t sender = shared ? 1 + i % senders : 1 + 2 * i, receiver = shared ? 0 : sender + 1;
        task[1 + 2 * i] = (struct kvc_watched_task){sender, kvc_megakv_real_sender_step,
                                                    kvc_megakv_real_copy_sent, node->pipeline[i], i};
        task[2 + 2 * i] = (struct kvc_watched_task){receiver, kvc_megakv_real_receiver_step,
                                                    kvc_megakv_real_copy_received, node->pipeline[i], i};
    }
    return shared ? 1 + node->send_cores : 1 + 2 * node->count;
}

enum kvc_status kvc_megakv_real_threads_run(struct kvc_megakv_real_node *node,
                                            const struct kvc_scenario *scenario,
                                            const struct kvc_progress *progress,
                                            struct kvc_megakv_real_windows *windows, struct kvc_diag *diag)
{
    struct kvc_watched_task task[TASKS_MAX];
    uint32_t cores = deal_tasks(node, scenario, task);
    const struct kvc_watched_tasks tasks = {.task = task,
                                            .count = 1 + 2 * node->count,
                                            .cores = cores,
                                            .started_s = node->started_s,
                                            .from_ns = node->from_ns,
                                            .failed = &node->failed,
                                            .copies = windows};
    return kvc_watched_threads_run(&windows->watched, &tasks, progress, diag);
}
