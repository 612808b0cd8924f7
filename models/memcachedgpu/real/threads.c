#include "models/memcachedgpu/real/threads.h"

#include "sim/probes/watched.h"

enum kvc_status kvc_memcachedgpu_real_threads_run(struct kvc_memcachedgpu_real_node *node,
                                                  const struct kvc_progress *progress,
                                                  struct kvc_memcachedgpu_real_windows *windows,
                                                  struct kvc_diag *diag)
{
    struct kvc_watched_task task[1 + KVC_MEMCACHEDGPU_REAL_POSTS_MAX];
    uint32_t posts = node->params.post_threads;
    task[0] = (struct kvc_watched_task){0, kvc_memcachedgpu_real_pre_step, kvc_memcachedgpu_real_copy_begun,
                                        node, 0};
    for (uint32_t p = 0; p < posts; p++) {
        task[1 + p] = (struct kvc_watched_task){1 + p, kvc_memcachedgpu_real_post_step,
                                                kvc_memcachedgpu_real_copy_ended, &node->post[p], p};
    }
    const struct kvc_watched_tasks tasks = {.task = task,
                                            .count = 1 + posts,
                                            .cores = 1 + posts,
                                            .started_s = node->started_s,
                                            .from_ns = node->from_ns,
                                            .failed = &node->failed,
                                            .copies = windows};
    return kvc_watched_threads_run(&windows->watched, &tasks, progress, diag);
}
