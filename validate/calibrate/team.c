#include "validate/calibrate/team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sim/base/clock.h"
#include "validate/measure/pin.h"

struct worker {
    struct kvc_team *team;
    uint32_t core;
};

struct kvc_team {
    _Alignas(64) atomic_uint round; /* what is set before it is raised belongs to it */
    _Alignas(64) atomic_uint working;
    _Alignas(64) struct kvc_team_task *tasks;
    uint32_t count, cores;
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

static void *work(void *data)
{
    struct worker *worker = data;
    struct kvc_team *team = worker->team;
    kvc_pin_core(worker->core);
    for (unsigned round = 1;; round++) {
        while (atomic_load_explicit(&team->round, memory_order_acquire) != round)
            ;
        if (team->stop)
            return NULL;
        do_round(worker);
        atomic_fetch_sub_explicit(&team->working, 1, memory_order_release);
    }
}

static void begin_round(struct kvc_team *team)
{
    atomic_store(&team->working, team->cores - 1);
    atomic_fetch_add_explicit(&team->round, 1, memory_order_release);
}

struct kvc_team *kvc_team_create(uint32_t cores)
{
    struct kvc_team *team = aligned_alloc(64, sizeof *team);
    if (team == NULL)
        return NULL;
    *team = (struct kvc_team){.cores = 1};
    team->worker[0] = (struct worker){.team = team};
    for (uint32_t i = 1; i < cores && i < KVC_TEAM_CORES_MAX; i++) {
        team->worker[i] = (struct worker){.team = team, .core = i};
        if (pthread_create(&team->thread[i], NULL, work, &team->worker[i]) != 0) {
            kvc_team_free(team);
            return NULL;
        }
        team->cores++;
    }
    kvc_pin_core(0);
    return team;
}

void kvc_team_free(struct kvc_team *team)
{
    if (team == NULL)
        return;
    team->stop = true;
    begin_round(team);
    for (uint32_t i = 1; i < team->cores; i++)
        pthread_join(team->thread[i], NULL);
    free(team);
}

void kvc_team_run(struct kvc_team *team, struct kvc_team_task *tasks, uint32_t count)
{
    team->tasks = tasks;
    team->count = count;
    begin_round(team);
    do_round(&team->worker[0]);
    while (atomic_load_explicit(&team->working, memory_order_acquire) > 0)
        ;
}
