#include "sim/probes/watched_threads.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sched.h>

#include "sim/base/clock.h"
#include "sim/probes/pin.h"

enum { LEAST = 3, ROOM = 60 };

/* A task that works for two microseconds in every step. */
struct worker {
    double started_s;
    uint64_t steps, steps_at_end[ROOM];
    double at_ns[ROOM]; /* When the count was copied, by window [ns]; 0: never. */
    int processor;      /* It has run on; -1: several. */
    atomic_bool *failed;
};

static struct kvc_watched watched;
static struct worker worker[2];
static struct kvc_watched_task task[2];
static struct kvc_watched_tasks tasks;
static atomic_bool failed;

static double step(void *data)
{
    struct worker *self = data;
    double begun_s = kvc_clock_wall_s(), now_s = begun_s;
    int processor = sched_getcpu();
    self->processor = self->steps == 0 || self->processor == processor ? processor : -1;
    self->steps++;
    while (now_s < begun_s + 2e-6) {
        now_s = kvc_clock_wall_s();
    }
    if (self->failed != NULL) {
        atomic_store(self->failed, true);
    }
    return (now_s - self->started_s) * 1e9;
}

static void copy(void *copies, void *data, uint32_t number, uint32_t first, uint32_t last, double at_ns)
{
    const struct worker *self = data;
    struct worker *all = copies;
    cr_expect_eq(self, &all[number]);
    for (uint32_t i = first; i <= last; i++) {
        cr_expect_eq(all[number].at_ns[i], 0, "window %u is copied once", i);
        all[number].at_ns[i] = at_ns;
        all[number].steps_at_end[i] = self->steps;
    }
}

/* Plans a run of two tasks whose measured time begins after 5 ms. */
static void plan(uint32_t second_core)
{
    double now_s = kvc_clock_wall_s();
    kvc_watched_plan(&watched, LEAST * kvc_quiet_window_ns);
    cr_assert_leq(watched.room, ROOM);
    for (uint32_t i = 0; i < 2; i++) {
        worker[i] = (struct worker){.started_s = now_s};
        task[i] = (struct kvc_watched_task){i * second_core, step, copy, &worker[i], i};
    }
    tasks = (struct kvc_watched_tasks){.task = task,
                                       .count = 2,
                                       .cores = 1 + second_core,
                                       .started_s = now_s,
                                       .from_ns = 5e6,
                                       .failed = &failed,
                                       .copies = worker};
}

static void run(void)
{
    cr_assert_eq(kvc_watched_threads_run(&watched, &tasks, NULL, NULL), KVC_OK);
    kvc_watched_stop(&watched);
}

static void close_run(void)
{
    kvc_watched_close(&watched);
}

TestSuite(watched_threads, .fini = close_run);

static void expect_copies(const struct worker *self)
{
    for (uint32_t i = 0; i < watched.count; i++) {
        double end_ns = tasks.from_ns + (i + 1) * kvc_quiet_window_ns;
        cr_expect_geq(self->at_ns[i], end_ns, "window %u is copied after its end", i);
        cr_expect(i == 0 || self->steps_at_end[i] >= self->steps_at_end[i - 1], "window %u", i);
    }
    cr_expect_gt(self->steps_at_end[watched.count - 1], 0);
}

Test(watched_threads, every_task_is_copied_at_the_end_of_every_window)
{
    plan(0);
    run();
    cr_assert_geq(watched.count, LEAST);
    expect_copies(&worker[0]);
    expect_copies(&worker[1]);
}

Test(watched_threads, tasks_of_a_core_take_turns_on_one_processor)
{
    plan(0);
    run();
    cr_expect_eq(worker[0].steps, worker[1].steps);
    cr_expect_geq(worker[0].processor, 0);
    cr_expect_eq(worker[0].processor, worker[1].processor);
}

Test(watched_threads, cores_have_threads_of_their_own)
{
    if (kvc_pin_cores() < 2) {
        cr_skip_test("needs two cores");
    }
    plan(1);
    run();
    cr_expect_geq(worker[0].processor, 0);
    cr_expect_geq(worker[1].processor, 0);
    cr_expect_neq(worker[0].processor, worker[1].processor);
    expect_copies(&worker[1]);
}

Test(watched_threads, a_failure_ends_the_run)
{
    plan(0);
    tasks.from_ns = 1e15; /* no window begins in this test's time */
    worker[1].failed = &failed;
    run();
    cr_expect_eq(watched.count, 0);
    cr_expect_gt(worker[0].steps, 0);
}
