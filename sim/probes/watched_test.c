#include "sim/probes/watched.h"

#include <criterion/criterion.h>
#include <math.h>

enum { LEAST = 10, CORES = 2 };

/* A run of LEAST windows whose cores have seen nothing. */
static struct kvc_watched watched;

static void open_watched(void)
{
    kvc_watched_plan(&watched, LEAST * kvc_quiet_window_ns);
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
    kvc_watched_plan(&shortest, 1);
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
