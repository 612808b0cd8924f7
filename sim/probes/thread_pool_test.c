#include "sim/probes/thread_pool.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "sim/base/clock.h"
#include "sim/probes/pin.h"

enum { TASKS = 5, ROUNDS = 200, CORES = 3 };

struct task {
    uint32_t calls;
    int core; /* Core of the last call. */
};

static void count(void *data)
{
    struct task *task = data;
    task->calls++;
    task->core = sched_getcpu();
}

static void nap(void *data)
{
    struct timespec pause = {0, 3000000};
    (void)data;
    nanosleep(&pause, NULL);
}

/* A pool of at most CORES cores; `number` gets the system's numbers of these cores. */
static struct kvc_thread_pool *open_pool(uint32_t *cores, int number[CORES])
{
    cpu_set_t allowed;
    uint32_t all = kvc_pin_cores(), found = 0;
    *cores = all < CORES ? all : CORES;
    cr_assert_eq(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
    for (int i = 0; i < CPU_SETSIZE && found < *cores; i++) {
        if (CPU_ISSET(i, &allowed)) {
            number[found++] = i;
        }
    }
    struct kvc_thread_pool *pool = kvc_thread_pool_create(*cores);
    cr_assert_not_null(pool);
    return pool;
}

Test(pool, every_task_runs_once_a_round_on_its_core)
{
    uint32_t cores;
    int number[CORES];
    struct task task[TASKS] = {0};
    struct kvc_thread_pool_task tasks[TASKS];
    struct kvc_thread_pool *pool = open_pool(&cores, number);
    for (uint32_t i = 0; i < TASKS; i++) {
        tasks[i] = (struct kvc_thread_pool_task){.fn = count, .data = &task[i], .core = (TASKS - i) % cores};
    }
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        kvc_thread_pool_run(pool, tasks, TASKS);
        for (uint32_t i = 0; i < TASKS; i++) {
            cr_assert_eq(task[i].calls, round);
            cr_assert_eq(task[i].core, number[tasks[i].core]);
            cr_assert_gt(tasks[i].seconds, 0);
        }
    }
    kvc_thread_pool_run(pool, tasks, 1);
    cr_expect_eq(task[0].calls, ROUNDS + 1);
    cr_expect_eq(task[1].calls, ROUNDS);
    kvc_thread_pool_run(pool, tasks, 0);
    cr_expect_eq(task[0].calls, ROUNDS + 1);
    kvc_thread_pool_free(pool);
    kvc_thread_pool_free(NULL);
}

/* Two naps on the same core run one after the other, and each has its own time. */
Test(pool, times_of_tasks)
{
    uint32_t cores;
    int number[CORES];
    struct kvc_thread_pool *pool = open_pool(&cores, number);
    for (uint32_t other = 0; other < 2 && other < cores; other++) {
        struct kvc_thread_pool_task tasks[2] = {{.fn = nap}, {.fn = nap, .core = other}};
        double started_s = kvc_clock_wall_s();
        kvc_thread_pool_run(pool, tasks, 2);
        double all_s = kvc_clock_wall_s() - started_s;
        cr_expect(tasks[0].seconds >= 0.003 && tasks[1].seconds >= 0.003);
        if (other == 0) {
            cr_expect_leq(tasks[0].seconds + tasks[1].seconds, all_s);
        }
        cr_expect(tasks[0].seconds <= all_s && tasks[1].seconds <= all_s);
    }
    kvc_thread_pool_free(pool);
}

struct meeting {
    atomic_uint arrived;
    atomic_bool missed;
};

static void meet(void *data)
{
    struct meeting *meeting = data;
    double until_s = kvc_clock_wall_s() + 10;
    atomic_fetch_add(&meeting->arrived, 1);
    while (atomic_load(&meeting->arrived) < 2) {
        if (kvc_clock_wall_s() > until_s) {
            atomic_store(&meeting->missed, true);
            return;
        }
    }
}

Test(pool, cores_work_at_the_same_time)
{
    uint32_t cores;
    int number[CORES];
    struct meeting meeting = {0};
    struct kvc_thread_pool_task tasks[2] = {{.fn = meet, .data = &meeting, .core = 1},
                                            {.fn = meet, .data = &meeting, .core = 0}};
    struct kvc_thread_pool *pool = open_pool(&cores, number);
    if (cores > 1) {
        kvc_thread_pool_run(pool, tasks, 2);
    }
    cr_expect(!atomic_load(&meeting.missed));
    kvc_thread_pool_free(pool);
}

/* If a sleeping core took part in a round, or a core that has just been woken missed one, the counts would be
 * wrong or the round would never end. */
Test(pool, cores_sleep_and_wake_again)
{
    uint32_t cores;
    int number[CORES];
    struct task task[CORES] = {0};
    struct kvc_thread_pool_task tasks[CORES];
    struct kvc_thread_pool *pool = open_pool(&cores, number);
    for (uint32_t i = 0; i < cores; i++) {
        tasks[i] = (struct kvc_thread_pool_task){.fn = count, .data = &task[i], .core = i};
    }
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        for (uint32_t awake = 1; awake <= cores; awake++) {
            kvc_thread_pool_wake(pool, awake);
            for (uint32_t i = 0; i < round % 4; i++) {
                kvc_thread_pool_run(pool, tasks, awake);
            }
        }
        kvc_thread_pool_wake(pool, cores + 7); /* Wakes all threads that exist. */
        kvc_thread_pool_run(pool, tasks, cores);
        for (uint32_t i = 0; i < cores; i++) {
            cr_assert_eq(task[i].core, number[i]);
            cr_assert_eq(task[i].calls, 1 + (round % 4) * (cores - i), "round %u, core %u: %u calls", round,
                         i, task[i].calls);
            task[i].calls = 0;
        }
    }
    kvc_thread_pool_wake(pool, 1);
    kvc_thread_pool_free(pool); /* while its threads sleep */
}

/* Processor time of all threads together. */
static double processor_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

Test(pool, cores_that_sleep_take_no_time)
{
    const struct timespec pause = {0, 50000000};
    uint32_t cores;
    int number[CORES];
    struct kvc_thread_pool *pool = open_pool(&cores, number);
    kvc_thread_pool_wake(pool, 1);
    double before_s = processor_s(), started_s = kvc_clock_wall_s();
    nanosleep(&pause, NULL); /* It takes longer on a busy machine. */
    double awake_frac = (processor_s() - before_s) / (kvc_clock_wall_s() - started_s);
    cr_expect_lt(awake_frac, 0.4, "%g of a core", awake_frac);
    kvc_thread_pool_free(pool);
}
