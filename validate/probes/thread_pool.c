#include "validate/probes/thread_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "sim/base/clock.h"
#include "sim/base/diag.h"
#include "validate/probes/pin.h"

struct worker {
    struct kvc_team *team;
    uint32_t core;
    atomic_bool awake;
};

struct kvc_team {
    _Alignas(64) atomic_uint round; /* what is set before it is raised belongs to it */
    _Alignas(64) atomic_uint working;
    _Alignas(64) struct kvc_team_task *tasks;
    uint32_t count, cores;
    atomic_uint awake; /* how many should be */
    bool stop;
    struct worker worker[KVC_TEAM_CORES_MAX];
    pthread_t thread[KVC_TEAM_CORES_MAX];
};

static void do_round(const struct worker *worker)
{
    const struct kvc_team *team = worker->team;
    for (uint32_t i = 0; i < team->count; i++) {
        struct kvc_team_task *task = &team->tasks[i];
        if (task->core != worker->core)
            continue;
        double started_s = kvc_clock_wall_s();
        task->fn(task->data);
        task->seconds = kvc_clock_wall_s() - started_s;
    }
}

static bool should_be_awake(const struct worker *worker)
{
    return worker->core < atomic_load_explicit(&worker->team->awake, memory_order_relaxed);
}

/* Returns the round that is over when it is awake again. */
static unsigned sleep_while_told(struct worker *worker)
{
    const struct timespec nap = {0, 100000};
    atomic_store(&worker->awake, false);
    while (!should_be_awake(worker))
        nanosleep(&nap, NULL);
    unsigned round = atomic_load(&worker->team->round);
    atomic_store(&worker->awake, true);
    return round;
}

static void *work(void *data)
{
    struct worker *worker = data;
    struct kvc_team *team = worker->team;
    unsigned round = 0; /* that was done last */
    kvc_pin_core(worker->core);
    atomic_store(&worker->awake, true);
    for (;;) {
        if (!should_be_awake(worker))
            round = sleep_while_told(worker);
        if (atomic_load_explicit(&team->round, memory_order_acquire) == round)
            continue;
        if (team->stop)
            return NULL;
        do_round(worker);
        round++;
        atomic_fetch_sub_explicit(&team->working, 1, memory_order_release);
    }
}

void kvc_team_wake(struct kvc_team *team, uint32_t cores)
{
    uint32_t awake = cores < team->cores ? cores : team->cores;
    atomic_store(&team->awake, awake);
    for (uint32_t i = 1; i < team->cores; i++)
        while (atomic_load(&team->worker[i].awake) != (i < awake))
            ;
}

static void begin_round(struct kvc_team *team)
{
    atomic_store(&team->working, atomic_load(&team->awake) - 1);
    atomic_fetch_add_explicit(&team->round, 1, memory_order_release);
}

struct kvc_team *kvc_team_create(uint32_t cores)
{
    struct kvc_team *team = aligned_alloc(64, sizeof *team);
    if (team == NULL)
        return NULL;
    *team = (struct kvc_team){.cores = 1, .awake = cores};
    team->worker[0].team = team;
    for (uint32_t i = 1; i < cores && i < KVC_TEAM_CORES_MAX; i++) {
        team->worker[i].team = team;
        team->worker[i].core = i;
        if (pthread_create(&team->thread[i], NULL, work, &team->worker[i]) != 0) {
            kvc_team_free(team);
            return NULL;
        }
        team->cores++;
    }
    kvc_pin_core(0);
    kvc_team_wake(team, team->cores);
    return team;
}

void kvc_team_free(struct kvc_team *team)
{
    if (team == NULL)
        return;
    kvc_team_wake(team, team->cores);
    team->stop = true;
    begin_round(team);
    for (uint32_t i = 1; i < team->cores; i++)
        pthread_join(team->thread[i], NULL);
    free(team);
}

void kvc_team_run(struct kvc_team *team, struct kvc_team_task *tasks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (tasks[i].core >= atomic_load(&team->awake))
            KVC_BUG("core %u sleeps", tasks[i].core);
    team->tasks = tasks;
    team->count = count;
    begin_round(team);
    do_round(&team->worker[0]);
    while (atomic_load_explicit(&team->working, memory_order_acquire) > 0)
        ;
}
