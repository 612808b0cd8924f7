#include "sim/probes/thread_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "sim/base/clock.h"
#include "sim/base/diag.h"
#include "sim/probes/timing.h"
#include "sim/probes/pin.h"

struct worker {
    struct kvc_thread_pool *pool;
    uint32_t core;
    atomic_bool awake;
};

struct kvc_thread_pool {
    _Alignas(64) atomic_uint round; /* Published last: it makes the fields of a round visible. */
    _Alignas(64) atomic_uint working;
    _Alignas(64) struct kvc_thread_pool_task *tasks;
    uint32_t count, cores;
    atomic_uint awake; /* Cores that should be awake. */
    bool stop;
    struct worker worker[KVC_THREAD_POOL_CORES_MAX];
    pthread_t thread[KVC_THREAD_POOL_CORES_MAX];
};

static void do_round(const struct worker *worker)
{
    const struct kvc_thread_pool *pool = worker->pool;
    for (uint32_t i = 0; i < pool->count; i++) {
        struct kvc_thread_pool_task *task = &pool->tasks[i];
        if (task->core != worker->core) {
            continue;
        }
        struct kvc_lost lost;
        kvc_lost_begin(&lost);
        double started_s = kvc_clock_wall_s();
        task->fn(task->data);
        task->seconds = kvc_clock_wall_s() - started_s;
        task->lost_s = kvc_lost_s(&lost);
    }
}

static bool should_be_awake(const struct worker *worker)
{
    return worker->core < atomic_load_explicit(&worker->pool->awake, memory_order_relaxed);
}

/* Returns the latest round at the time of waking up, in which this worker has nothing to do. */
static unsigned sleep_while_told(struct worker *worker)
{
    const struct timespec nap = {0, 100000};
    atomic_store(&worker->awake, false);
    while (!should_be_awake(worker)) {
        nanosleep(&nap, NULL);
    }
    unsigned round = atomic_load(&worker->pool->round);
    atomic_store(&worker->awake, true);
    return round;
}

static void *work(void *data)
{
    struct worker *worker = data;
    struct kvc_thread_pool *pool = worker->pool;
    unsigned round = 0; /* The latest round that is done. */
    kvc_pin_core(worker->core);
    atomic_store(&worker->awake, true);
    for (;;) {
        if (!should_be_awake(worker)) {
            round = sleep_while_told(worker);
        }
        if (atomic_load_explicit(&pool->round, memory_order_acquire) == round) {
            continue;
        }
        if (pool->stop) {
            return NULL;
        }
        do_round(worker);
        round++;
        atomic_fetch_sub_explicit(&pool->working, 1, memory_order_release);
    }
}

void kvc_thread_pool_wake(struct kvc_thread_pool *pool, uint32_t cores)
{
    uint32_t awake = cores < pool->cores ? cores : pool->cores;
    atomic_store(&pool->awake, awake);
    for (uint32_t i = 1; i < pool->cores; i++) {
        while (atomic_load(&pool->worker[i].awake) != (i < awake)) {
            ;
        }
    }
}

uint32_t kvc_thread_pool_awake(const struct kvc_thread_pool *pool)
{
    return atomic_load(&pool->awake);
}

static void begin_round(struct kvc_thread_pool *pool)
{
    atomic_store(&pool->working, atomic_load(&pool->awake) - 1);
    atomic_fetch_add_explicit(&pool->round, 1, memory_order_release);
}

struct kvc_thread_pool *kvc_thread_pool_create(uint32_t cores)
{
    struct kvc_thread_pool *pool = aligned_alloc(64, sizeof(*pool));
    if (pool == NULL) {
        return NULL;
    }
    *pool = (struct kvc_thread_pool){.cores = 1, .awake = cores};
    pool->worker[0].pool = pool;
    for (uint32_t i = 1; i < cores && i < KVC_THREAD_POOL_CORES_MAX; i++) {
        pool->worker[i].pool = pool;
        pool->worker[i].core = i;
        if (pthread_create(&pool->thread[i], NULL, work, &pool->worker[i]) != 0) {
            kvc_thread_pool_free(pool);
            return NULL;
        }
        pool->cores++;
    }
    kvc_pin_core(0);
    kvc_thread_pool_wake(pool, pool->cores);
    return pool;
}

void kvc_thread_pool_free(struct kvc_thread_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    kvc_thread_pool_wake(pool, pool->cores);
    pool->stop = true;
    begin_round(pool);
    for (uint32_t i = 1; i < pool->cores; i++) {
        pthread_join(pool->thread[i], NULL);
    }
    free(pool);
}

void kvc_thread_pool_run(struct kvc_thread_pool *pool, struct kvc_thread_pool_task *tasks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (tasks[i].core >= atomic_load(&pool->awake)) {
            KVC_BUG("a task for core %u, which sleeps", tasks[i].core);
        }
    }
    pool->tasks = tasks;
    pool->count = count;
    begin_round(pool);
    do_round(&pool->worker[0]);
    while (atomic_load_explicit(&pool->working, memory_order_acquire) > 0) {
        ;
    }
}
