/* Threads that stay on their cores and start pieces of work at the same time, as a store's threads do. */
#ifndef KVC_VALIDATE_PROBES_THREAD_POOL_H
#define KVC_VALIDATE_PROBES_THREAD_POOL_H

#include <stdint.h>

struct kvc_thread_pool;

enum { KVC_THREAD_POOL_CORES_MAX = 256 };

/* A thread for each of `cores` cores; the caller becomes the one of core 0. NULL: no memory or threads. */
struct kvc_thread_pool *kvc_thread_pool_create(uint32_t cores);
void kvc_thread_pool_free(struct kvc_thread_pool *pool); /* NULL is allowed */

typedef void kvc_thread_pool_fn(void *data);

/* How many cores are awake, from now on: the others sleep, as those do that a store leaves alone. At first
 * all. */
void kvc_thread_pool_wake(struct kvc_thread_pool *pool, uint32_t cores);

/* A piece of work, and how long it took. */
struct kvc_thread_pool_task {
    kvc_thread_pool_fn *fn;
    void *data;
    uint32_t core;
    double seconds; /* set by kvc_thread_pool_run */
};

/* Runs all tasks at the same time; those of one core one after the other. All cores must be awake. */
void kvc_thread_pool_run(struct kvc_thread_pool *pool, struct kvc_thread_pool_task *tasks, uint32_t count);

#endif
