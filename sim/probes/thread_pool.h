/* A pool of pinned threads that start their tasks at the same time, as the threads of a store do. */
#ifndef KVC_SIM_PROBES_THREAD_POOL_H
#define KVC_SIM_PROBES_THREAD_POOL_H

#include <stdint.h>

struct kvc_thread_pool;

enum { KVC_THREAD_POOL_CORES_MAX = 256 };

/* Starts a thread on each of the first `cores` cores except the first, which the calling thread itself is
 * pinned to. All cores are awake. NULL: there is no memory, or a thread cannot be started. */
struct kvc_thread_pool *kvc_thread_pool_create(uint32_t cores);
void kvc_thread_pool_free(struct kvc_thread_pool *pool); /* NULL is allowed */

typedef void kvc_thread_pool_fn(void *data);

/* Keeps the first `cores` cores awake and lets the others sleep, as in a store that does not use them.
 * Returns once they sleep. */
void kvc_thread_pool_wake(struct kvc_thread_pool *pool, uint32_t cores);

/* Returns how many cores are awake. */
uint32_t kvc_thread_pool_awake(const struct kvc_thread_pool *pool);

/* A piece of work for one core. */
struct kvc_thread_pool_task {
    kvc_thread_pool_fn *fn;
    void *data;
    uint32_t core;  /* Core that runs it, from 0. */
    double seconds; /* Time of the task; set by kvc_thread_pool_run [s]. */
    double lost_s;  /* Time for which other work kept it from running; set by kvc_thread_pool_run [s]. */
};

/* Starts all tasks at the same time and waits for them. Tasks of the same core run one after the other. Every
 * core that has a task must be awake. */
void kvc_thread_pool_run(struct kvc_thread_pool *pool, struct kvc_thread_pool_task *tasks, uint32_t count);

#endif
