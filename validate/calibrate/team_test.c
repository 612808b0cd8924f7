#include "validate/calibrate/team.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "sim/base/clock.h"
#include "validate/measure/pin.h"

enum { TASKS = 5, ROUNDS = 200 };

struct task {
    uint32_t calls;
    int core; /* of the last call */
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

static struct kvc_team *open_team(uint32_t *cores)
{
    uint32_t all = kvc_pin_cores();
    *cores = all < 3 ? all : 3;
    struct kvc_team *team = kvc_team_create(*cores);
    cr_assert_not_null(team);
    return team;
}

Test(team, every_task_runs_once_a_round_on_its_core)
{
    uint32_t cores, core[TASKS];
    struct task task[TASKS] = {0};
    void *data[TASKS];
    struct kvc_team *team = open_team(&cores);
    for (uint32_t i = 0; i < TASKS; i++) {
        core[i] = (TASKS - i) % cores;
        data[i] = &task[i];
    }
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        cr_assert_gt(kvc_team_run(team, count, core, data, TASKS), 0);
        for (uint32_t i = 0; i < TASKS; i++) {
            cr_assert_eq(task[i].calls, round);
            cr_assert_eq(task[i].core, (int)core[i]);
        }
    }
    cr_expect_gt(kvc_team_run(team, count, core, data, 1), 0);
    cr_expect_eq(task[0].calls, ROUNDS + 1);
    cr_expect_eq(task[1].calls, ROUNDS);
    kvc_team_free(team);
    kvc_team_free(NULL);
}

/* Two calls on one core are two calls of a nap each, not one of two. */
Test(team, mean_time_of_a_call)
{
    uint32_t cores, core[2] = {0, 0};
    void *data[2] = {NULL, NULL};
    struct kvc_team *team = open_team(&cores);
    for (core[1] = 0; core[1] < 2 && core[1] < cores; core[1]++) {
        double started_s = kvc_clock_wall_s(), mean_s = kvc_team_run(team, nap, core, data, 2);
        double all_s = kvc_clock_wall_s() - started_s;
        cr_expect_geq(mean_s, 0.003);
        cr_expect_leq(mean_s, core[1] == 0 ? all_s / 2 : all_s);
    }
    kvc_team_free(team);
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
    while (atomic_load(&meeting->arrived) < 2)
        if (kvc_clock_wall_s() > until_s) {
            atomic_store(&meeting->missed, true);
            return;
        }
}

Test(team, cores_work_at_the_same_time)
{
    uint32_t cores;
    struct meeting meeting = {0};
    const uint32_t core[2] = {1, 0};
    void *data[2] = {&meeting, &meeting};
    struct kvc_team *team = open_team(&cores);
    if (cores > 1)
        kvc_team_run(team, meet, core, data, 2);
    cr_expect(!atomic_load(&meeting.missed));
    kvc_team_free(team);
}
