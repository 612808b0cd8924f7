/* Reports a run of a store whose throughput, latency and utilization in every window are known. */
#include <criterion/criterion.h>
#include <math.h>
#include <sched.h>
#include <string.h>

#include "sim/base/clock.h"
#include "sim/probes/pin.h"
#include "sim/probes/watched.h"

enum { LEAST = 10, CORES = 2 };

/* A run of LEAST windows whose cores have seen nothing. */
static struct kvc_watched watched;

static void open_watched(void)
{
    kvc_watched_plan(&watched, LEAST * kvc_quiet_window_ns, 0);
    cr_assert_eq(kvc_watched_open(&watched, CORES, 0, NULL), KVC_OK);
}

static void close_watched(void)
{
    kvc_watched_close(&watched);
}

TestSuite(watched, .init = open_watched, .fini = close_watched);

/* Lets windows pass on both cores. */
static void pass(uint32_t windows)
{
    for (uint32_t core = 0; core < CORES; core++) {
        atomic_store(&watched.watch[core].done, windows);
    }
}

/* Disturbs a window of the second core. */
static void disturb(uint32_t window)
{
    watched.watch[1].window[window].lost_ns = (float)kvc_quiet_window_ns / 2;
}

Test(watched, a_run_has_room_for_more_windows_than_were_asked_for)
{
    cr_expect_eq(watched.least, LEAST);
    cr_expect_geq(watched.room, 2 * LEAST);
    cr_expect_eq(kvc_watched_room_ns(&watched), watched.room * kvc_quiet_window_ns);
    struct kvc_watched shortest;
    kvc_watched_plan(&shortest, 1, 0);
    cr_expect_eq(shortest.least, 1, "a window is the least that can be measured");
}

Test(watched, a_quiet_run_ends_with_the_slowest_core)
{
    pass(LEAST);
    cr_expect(kvc_watched_suffices(&watched));
    atomic_store(&watched.watch[0].done, LEAST - 1);
    cr_expect_not(kvc_watched_suffices(&watched));
    kvc_watched_stop(&watched);
    cr_expect_eq(watched.count, LEAST - 1);
}

/* With every second window disturbed, no window is left after the recovery. */
Test(watched, a_disturbed_run_goes_on_while_there_is_room)
{
    for (uint32_t i = 0; i < watched.room; i += 2) {
        disturb(i);
    }
    for (uint32_t passed = LEAST; passed < watched.room; passed++) {
        pass(passed);
        cr_expect_not(kvc_watched_suffices(&watched), "%u windows", passed);
    }
    pass(watched.room);
    cr_expect(kvc_watched_suffices(&watched));
}

Test(watched, quiet_windows_after_a_disturbance_make_up_for_it)
{
    for (uint32_t i = 0; i < LEAST; i++) {
        disturb(i);
    }
    pass(LEAST);
    cr_expect_not(kvc_watched_suffices(&watched));
    pass(LEAST + LEAST / 2);
    cr_expect(kvc_watched_suffices(&watched), "half of the duration was quiet");
}

/* Requests are answered one window after they were sent. */
static struct kvc_quiet_flow slow_flow(const void *store, uint32_t window)
{
    cr_assert_eq(store, &watched);
    return (struct kvc_quiet_flow){.caught_up = true, .oldest_sent_ns = (window - 1.0) * kvc_quiet_window_ns};
}

Test(watched, a_disturbance_drops_the_windows_that_answer_older_requests)
{
    bool quiet[LEAST];
    disturb(3);
    pass(LEAST);
    kvc_watched_stop(&watched);
    kvc_watched_judge(&watched, slow_flow, &watched, 0, false, quiet);
    for (uint32_t i = 0; i < LEAST; i++) {
        cr_expect_eq(quiet[i], i != 3 && i != 4, "window %u", i);
    }
}

Test(watched, stalls_are_summed_and_speeds_averaged_over_the_cores)
{
    disturb(0);
    disturb(1);
    pass(LEAST);
    kvc_watched_stop(&watched);
    cr_expect_float_eq(kvc_watched_stalled_frac(&watched), 1.0 / LEAST, 1e-6);
    for (uint32_t i = 0; i < LEAST; i++) {
        watched.watch[0].window[i].speed = 1;
        watched.watch[1].window[i].speed = 2;
    }
    cr_expect_float_eq(kvc_watched_core_speed(&watched), 1.5, 1e-6);
}

enum { WINDOWS = 60, REPORT_LEAST = 10, SLOW = 4 /* Mops of a disturbed window. */ };

static struct kvc_watched watched;
static struct kvc_result result;

/* Throughput by window [Mops]. The latency of a window's only request has the same number of microseconds. */
static double mops[WINDOWS];

static struct kvc_quiet_flow flow_of(const void *data, uint32_t window)
{
    (void)data;
    return (struct kvc_quiet_flow){.caught_up = true, .oldest_sent_ns = (window + 0.5) * kvc_quiet_window_ns};
}

static void add_up(const void *data, const bool *wanted, struct kvc_histogram *latency,
                   struct kvc_watched_part *part)
{
    const double *by_window = data, sent_ns = 0;
    double sum = 0;
    uint32_t count = 0;
    kvc_histogram_reset(latency);
    for (uint32_t i = 0; i < watched.count; i++) {
        if (wanted[i]) {
            double done_ns = by_window[i] * 1e3;
            kvc_histogram_record(latency, &sent_ns, &done_ns, 1);
            sum += by_window[i];
            count++;
        }
    }
    *part = (struct kvc_watched_part){
        .mops = sum / count, .value = {sum / count, NAN}, .utilization_frac = {0.95, 0.2}};
}

static void report(const void *data, const bool *wanted, struct kvc_result *filled)
{
    struct kvc_watched_part part;
    add_up(data, wanted, &filled->latency, &part);
    filled->throughput_mops = part.mops;
    kvc_result_add_stage(filled, "busy", "cpu", part.utilization_frac[0]);
    kvc_result_add_stage(filled, "idle", "cpu", part.utilization_frac[1]);
}

static void open_run(void)
{
    kvc_watched_plan(&watched, REPORT_LEAST * kvc_quiet_window_ns, 0);
    cr_assert_geq(watched.room, WINDOWS);
    cr_assert_eq(kvc_watched_open(&watched, 1, 0, NULL), KVC_OK);
    atomic_store(&watched.watch[0].done, WINDOWS);
    memset(&result, 0, sizeof(result));
    for (uint32_t i = 0; i < WINDOWS; i++) {
        mops[i] = 8 + i % 3;
    }
}

static void close_run(void)
{
    kvc_watched_close(&watched);
}

TestSuite(watched_report, .init = open_run, .fini = close_run);

static void disturb_window(uint32_t window)
{
    watched.watch[0].window[window].lost_ns = (float)kvc_quiet_window_ns;
    mops[window] = SLOW;
}

static void report_all(void)
{
    static const char *const names[] = {"own_half_frac", "unknown_half_frac"};
    const struct kvc_watched_store store = {.data = mops,
                                            .flow_of = flow_of,
                                            .add_up = add_up,
                                            .report = report,
                                            .values = 2,
                                            .half_widths = names};
    kvc_watched_report(&watched, &store, &result);
}

static double metric(const char *name)
{
    return kvc_metrics_get(&result.model, name);
}

Test(watched_report, disturbed_windows_count_in_the_raw_metrics_only)
{
    for (uint32_t i = 0; i < WINDOWS; i += 6) {
        disturb_window(i);
    }
    report_all();
    double quiet = (2 * 9 + 2 * 10 + 8) / 5.0;
    cr_expect_float_eq(result.throughput_mops, quiet, 1e-9);
    cr_expect_float_eq(metric("raw_throughput_mops"), (5 * quiet + SLOW) / 6, 1e-9);
    cr_expect_eq(result.latency.count, WINDOWS - WINDOWS / 6, "the latencies are those of quiet windows");
    cr_expect_float_eq(metric("quiet_frac"), 5.0 / 6, 1e-9);
    cr_expect_eq(metric("windows"), WINDOWS);
    cr_expect_eq(result.note_count, 0);
}

Test(watched_report, without_a_quiet_window_all_count_but_have_no_intervals)
{
    for (uint32_t i = 0; i < WINDOWS; i++) {
        disturb_window(i);
    }
    report_all();
    cr_expect_eq(result.throughput_mops, SLOW);
    cr_expect_eq(metric("quiet_frac"), 0);
    cr_expect(isnan(metric("throughput_half_frac")));
    cr_assert_eq(result.note_count, 1);
    cr_expect_not_null(strstr(result.note[0], "none of the 60 windows"));
}

Test(watched_report, quiet_windows_without_answers_decide_nothing)
{
    for (uint32_t i = 0; i < WINDOWS; i++) {
        disturb_window(i);
    }
    watched.watch[0].window[5].lost_ns = 0;
    mops[5] = 0;
    report_all();
    cr_expect_float_eq(result.throughput_mops, SLOW * (WINDOWS - 1.0) / WINDOWS, 1e-9);
    cr_expect_eq(metric("quiet_frac"), 0);
}

Test(watched_report, few_quiet_windows_are_noted)
{
    for (uint32_t i = 3; i < WINDOWS; i++) {
        disturb_window(i);
    }
    report_all();
    cr_expect_float_eq(result.throughput_mops, 9, 1e-9);
    cr_assert_eq(result.note_count, 1);
    cr_expect_not_null(strstr(result.note[0], "only 3 of the 60 windows"));
}

Test(watched_report, intervals_come_from_batches_of_neighbours)
{
    double batch[KVC_QUIET_BATCHES] = {0};
    for (uint32_t i = 0; i < WINDOWS; i++) {
        mops[i] = 8 + (i * i) % 7;
        batch[i / (WINDOWS / KVC_QUIET_BATCHES)] += mops[i] / (WINDOWS / KVC_QUIET_BATCHES);
    }
    report_all();
    double half_frac = kvc_quiet_half_width(batch, KVC_QUIET_BATCHES) / result.throughput_mops;
    cr_assert_gt(half_frac, 0);
    cr_expect_float_eq(metric("throughput_half_frac"), half_frac, 1e-9);
    cr_expect_float_eq(metric("own_half_frac"), half_frac, 1e-9);
    cr_expect_float_eq(metric("latency_mean_half_frac"), half_frac, 1e-9);
    cr_expect(isnan(metric("unknown_half_frac")), "an unknown value has no interval");
    cr_expect_str_eq(result.bottleneck_stage, "busy");
}

/* The first window of a turn counts neither as quiet nor in the raw metrics. */
Test(watched_report, the_first_window_of_a_turn_does_not_count)
{
    enum { TURN = 3 };
    watched.turn = TURN;
    for (uint32_t i = 0; i < WINDOWS; i += TURN) {
        mops[i] = 1000;
    }
    report_all();
    cr_expect_lt(result.throughput_mops, 11);
    cr_expect_lt(metric("raw_throughput_mops"), 11);
    cr_expect_eq(metric("windows"), WINDOWS - WINDOWS / TURN);
    cr_expect_eq(metric("quiet_frac"), 1);
}

Test(watched_report, a_slow_core_is_noted)
{
    struct kvc_watched_noise noise = {.others_frac = 0.25,
                                      .cores = {.count = 2, .speed_frac = {1, kvc_cores_shared_frac}}};
    report_all();
    kvc_watched_report_noise(&watched, &noise, &result);
    cr_expect_eq(metric("others_frac"), 0.25);
    cr_expect_eq(metric("slowest_core_frac"), kvc_cores_shared_frac);
    cr_expect_eq(metric("stalled_frac"), 0);
    cr_expect_eq(result.note_count, 0);
    noise.cores.speed_frac[1] = kvc_cores_shared_frac / 2;
    kvc_watched_report_noise(&watched, &noise, &result);
    cr_expect_eq(result.note_count, 1);
}

Test(watched_report, stalls_are_told_as_options)
{
    const struct kvc_watched_noise noise = {.cores = {.count = 2, .speed_frac = {1, 1}}};
    report_all();
    watched.watch[0].stalls = (struct kvc_stall_counts){.count = {4, [6] = 2}, .sum_ns = {164e3, [6] = 40e6}};
    kvc_watched_report_noise(&watched, &noise, &result);
    cr_expect_str_eq(result.note[0], "stalls = { { length = \"41us\", every = \"150ms\" }, "
                                     "{ length = \"20ms\", every = \"300ms\" } }");
    cr_expect_str_eq(result.stalls, "node.stalls.1.length=41us;node.stalls.1.every=150ms;"
                                    "node.stalls.2.length=20ms;node.stalls.2.every=300ms");
}

enum { THREADS_LEAST = 3, ROOM = 60 };

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
    kvc_watched_plan(&watched, THREADS_LEAST * kvc_quiet_window_ns, 0);
    cr_assert_leq(watched.room, ROOM);
    for (uint32_t i = 0; i < 2; i++) {
        worker[i] = (struct worker){.started_s = now_s};
        task[i] = (struct kvc_watched_task){i * second_core, 0, step, copy, &worker[i], i};
    }
    tasks = (struct kvc_watched_tasks){.task = task,
                                       .count = 2,
                                       .cores = 1 + second_core,
                                       .started_s = now_s,
                                       .from_ns = 5e6,
                                       .failed = {&failed},
                                       .copies = worker};
}

static void run(void)
{
    cr_assert_eq(kvc_watched_threads_run(&watched, &tasks, NULL, NULL), KVC_OK);
    kvc_watched_stop(&watched);
}

static void close_threads(void)
{
    kvc_watched_close(&watched);
}

TestSuite(watched_threads, .fini = close_threads);

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
    cr_assert_geq(watched.count, THREADS_LEAST);
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

/* What the turns of a run did. */
static struct {
    uint32_t begun, side[ROOM];
    double clock_s[ROOM];
    uint64_t steps[ROOM][2]; /* What both workers had done when each turn began. */
    uint32_t paused[2];      /* By core. */
} turned;

static void pause_core(void *data, uint32_t core)
{
    (void)data;
    turned.paused[core]++;
}

static void begin_turn(void *data, uint32_t side, double clock_s)
{
    uint32_t turn = turned.begun++;
    (void)data;
    cr_assert_lt(turn, ROOM);
    turned.side[turn] = side;
    turned.clock_s[turn] = clock_s;
    turned.steps[turn][0] = worker[0].steps;
    turned.steps[turn][1] = worker[1].steps;
    worker[side].started_s = clock_s;
}

/* Two sides take turns A B B A; the one that rests does nothing, and its clock stands. */
Test(watched_threads, sides_take_turns_and_their_clocks_stand_meanwhile)
{
    const struct kvc_watched_turns turns = {.sides = 2, .pause = pause_core, .begin = begin_turn};
    bool two = kvc_pin_cores() >= 2;
    plan(two);
    kvc_watched_plan(&watched, 8 * kvc_quiet_window_ns, 2);
    watched.room = watched.least;
    task[1].side = 1;
    tasks.from_ns = 0;
    tasks.turns = &turns;
    run();
    cr_assert_geq(turned.begun, 5);
    /* The end of the run may find the threads between two turns. */
    cr_expect(turned.paused[0] == turned.begun || turned.paused[0] == turned.begun + 1);
    cr_expect(!two || turned.paused[1] == turned.begun || turned.paused[1] == turned.begun + 1);
    for (uint32_t i = 0; i < turned.begun; i++) {
        cr_expect_eq(turned.side[i], (i + 2) / 2 % 2, "turn %u", i + 1);
        uint32_t rested = i > 0 ? 1 - turned.side[i - 1] : 1;
        uint64_t before = i > 0 ? turned.steps[i - 1][rested] : 0;
        cr_expect_eq(turned.steps[i][rested], before, "turn %u", i);
    }
    cr_expect_gt(turned.steps[turned.begun - 1][0], 0);
    cr_expect_gt(turned.steps[turned.begun - 1][1], 0);
    cr_expect_geq(turned.clock_s[0] - tasks.started_s, 2 * kvc_quiet_window_ns * 1e-9,
                  "side 1 has rested first");
    cr_expect_gt(turned.clock_s[2], tasks.started_s, "side 0 has rested in turns 1 and 2");
    cr_expect_geq(turned.clock_s[3], turned.clock_s[2], "and not since");
}
