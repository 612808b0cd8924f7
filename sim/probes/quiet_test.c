#include "sim/probes/quiet.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { WINDOWS = 40 };

static struct kvc_core_window first[WINDOWS], second[WINDOWS];
static const struct kvc_core_window *const cores[] = {first, second};
static struct kvc_quiet_flow flow[WINDOWS];
static bool quiet[WINDOWS];

/* Two steady cores, whose speeds differ, and a store that answers everything within 2 ms. */
static void make_steady(void)
{
    for (int i = 0; i < WINDOWS; i++) {
        first[i] = (struct kvc_core_window){.lost_ns = 20e3F, .speed = 2 + 0.02F * (float)(i % 3)};
        second[i] = (struct kvc_core_window){.gaps_ns = 50e3F, .speed = 1};
        flow[i] = (struct kvc_quiet_flow){.caught_up = true, .oldest_sent_ns = i * kvc_quiet_window_ns - 2e6};
    }
}

static void expect_dropped(const char *expected)
{
    char found[WINDOWS + 1] = {0};
    for (int i = 0; i < WINDOWS; i++) {
        found[i] = quiet[i] ? '.' : 'x';
    }
    cr_expect_eq(strncmp(found, expected, strlen(expected)), 0, "%s instead of %s", found, expected);
    cr_expect_null(strchr(found + strlen(expected), 'x'), "%s", found);
}

TestSuite(quiet, .init = make_steady);

Test(quiet, a_steady_machine_is_quiet_all_the_time)
{
    kvc_quiet_find(cores, 2, WINDOWS, quiet);
    cr_expect_eq(kvc_quiet_count(quiet, WINDOWS), WINDOWS);
    kvc_quiet_drop_recovery(flow, WINDOWS, 0, true, quiet);
    expect_dropped(".");
}

Test(quiet, a_core_that_stalls_or_slows_down_disturbs_the_window)
{
    first[3].lost_ns = 101e3F;
    second[5].gaps_ns = 101e3F;
    second[7].speed = 0.75F; /* The mean is what counts. */
    second[9].speed = 0.85F;
    first[11].speed = 0;    /* not measured */
    first[13].speed = 1.9F; /* a fast speed of the other core does not matter */
    kvc_quiet_find(cores, 2, WINDOWS, quiet);
    expect_dropped("...x.x.x");
}

/* Two thirds of the time at half the speed: the fast third is the measure. */
Test(quiet, the_fast_speed_is_the_measure_even_if_it_is_rare)
{
    for (int i = 0; i < WINDOWS; i++) {
        first[i].speed = i % 3 == 0 ? 2 : 1;
    }
    kvc_quiet_find(cores, 1, WINDOWS, quiet);
    expect_dropped(".xx.xx.xx.xx.xx.xx.xx.xx.xx.xx.xx.xx.xx.");
}

Test(quiet, windows_are_dropped_until_no_request_is_older_than_the_disturbance)
{
    memset(quiet, true, sizeof(quiet));
    quiet[4] = false;
    flow[6].oldest_sent_ns = 45e6; /* sent before the end of window 4 */
    kvc_quiet_drop_recovery(flow, WINDOWS, 0, false, quiet);
    /* Window 5 answers what was sent up to 2 ms before it began. */
    expect_dropped("....xxx");
}

Test(quiet, an_open_loop_must_have_caught_up_first)
{
    memset(quiet, true, sizeof(quiet));
    quiet[4] = false;
    for (int i = 5; i < 9; i++) {
        flow[i].caught_up = false;
    }
    kvc_quiet_drop_recovery(flow, WINDOWS, 0, true, quiet);
    /* It catches up in window 9, and window 10 still answers requests that were sent before that. */
    expect_dropped("....xxxxxxx");
}

Test(quiet, a_load_above_the_capacity_never_recovers)
{
    memset(quiet, true, sizeof(quiet));
    quiet[0] = false;
    for (int i = 0; i < WINDOWS; i++) {
        flow[i].caught_up = false;
    }
    kvc_quiet_drop_recovery(flow, WINDOWS, 0, true, quiet);
    cr_expect_eq(kvc_quiet_count(quiet, WINDOWS), 0);
}

Test(quiet, the_windows_begin_with_the_measurement)
{
    memset(quiet, true, sizeof(quiet));
    quiet[0] = false;
    for (int i = 0; i < WINDOWS; i++) {
        flow[i].oldest_sent_ns += 70e6;
    }
    kvc_quiet_drop_recovery(flow, WINDOWS, 70e6, false, quiet);
    expect_dropped("xx");
}

Test(quiet, batches_are_equal_and_in_order)
{
    uint32_t size[KVC_QUIET_BATCHES] = {0}, last = 0;
    for (uint32_t i = 0; i < 70; i++) {
        uint32_t batch = kvc_quiet_batch(i, 70);
        cr_assert(batch >= last && batch < KVC_QUIET_BATCHES);
        size[batch]++;
        last = batch;
    }
    for (int i = 0; i < KVC_QUIET_BATCHES; i++) {
        cr_expect_eq(size[i], 7);
    }
    cr_expect_eq(kvc_quiet_batch(3, 4), 3, "fewer windows than batches");
}

Test(quiet, half_widths_of_known_values)
{
    const double values[] = {9, 10, 11, NAN}, alike[] = {5, 5, 5};
    cr_expect_float_eq(kvc_quiet_half_width(values, 4), 4.302653 / sqrt(3), 1e-5);
    cr_expect_eq(kvc_quiet_half_width(alike, 3), 0);
    cr_expect(isnan(kvc_quiet_half_width(values, 2)));
}
