/* The probes that start threads, for ThreadSanitizer: the pool of pinned threads, handoffs between cores, and
 * the speed of cores. A whole calibration would take a quarter of an hour. */
#include <stdbool.h>
#include <stdio.h>

#include "sim/probes/cores.h"
#include "sim/probes/machine.h"
#include "sim/probes/pin.h"
#include "sim/probes/thread_pool.h"

enum { ROUNDS = 200, CORES_MOST = 4 };

static void count(void *data)
{
    (*(uint32_t *)data)++;
}

static bool pool_works(uint32_t cores)
{
    uint32_t calls[CORES_MOST] = {0};
    struct kvc_thread_pool_task tasks[CORES_MOST];
    struct kvc_thread_pool *pool = kvc_thread_pool_create(cores);
    bool right = pool != NULL;
    for (uint32_t i = 0; i < cores; i++) {
        tasks[i] = (struct kvc_thread_pool_task){.fn = count, .data = &calls[i], .core = i};
    }
    for (uint32_t round = 1; right && round <= ROUNDS; round++) {
        kvc_thread_pool_run(pool, tasks, cores);
        for (uint32_t i = 0; i < cores; i++) {
            right = right && calls[i] == round;
        }
    }
    kvc_thread_pool_free(pool);
    return right;
}

static bool handoffs_work(uint32_t cores)
{
    struct kvc_diag diag = {0};
    struct kvc_handoffs handoffs;
    bool right = kvc_handoffs_measure(cores, &handoffs, &diag) == KVC_OK;
    for (uint32_t i = 1; right && i < cores; i++) {
        right = handoffs.ns[i] > 0;
    }
    return right;
}

static bool cores_work(void)
{
    struct kvc_diag diag = {0};
    static struct kvc_cores cores;
    return kvc_cores_measure(&cores, &diag) == KVC_OK && kvc_cores_slowest_frac(&cores) > 0;
}

int main(void)
{
    uint32_t all = kvc_pin_cores(), cores = all < CORES_MOST ? all : CORES_MOST;
    bool right = pool_works(cores) && handoffs_work(cores) && cores_work();
    printf("%u cores: %s\n", cores, right ? "ok" : "failed");
    return right ? 0 : 1;
}
