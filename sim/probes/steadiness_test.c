#include "sim/probes/steadiness.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "sim/base/clock.h"
#include "sim/probes/core_watch.h"
#include "sim/probes/pin.h"

Test(steadiness, spread_of_the_checks)
{
    struct kvc_steadiness steadiness = {0};
    cr_expect_eq(kvc_steadiness_spread_frac(&steadiness), 0);
    kvc_steadiness_check(&steadiness);
    cr_expect_eq(kvc_steadiness_spread_frac(&steadiness), 0);
    kvc_steadiness_check(&steadiness);
    cr_expect_geq(kvc_steadiness_spread_frac(&steadiness), 0);
    steadiness.slowest_s = 1.5 * steadiness.fastest_s;
    cr_expect_float_eq(kvc_steadiness_spread_frac(&steadiness), 0.5, 1e-12);
    kvc_steadiness_free(&steadiness);
}

static const double known_speed[][2] = {{2, 1}, {1.8, 1.2}, {0, 1.1}, {1.9, 1.3}};

Test(steadiness, the_speed_is_the_mean_of_the_fast_speeds_of_the_cores)
{
    struct kvc_steadiness steadiness = {0};
    cr_expect(isnan(kvc_steadiness_core_speed(&steadiness)));
    kvc_steadiness_add_speeds(&steadiness, (double[2]){0}, 2);
    cr_expect(isnan(kvc_steadiness_core_speed(&steadiness)), "a window without a speed");
    for (int i = 0; i < 4; i++) {
        kvc_steadiness_add_speeds(&steadiness, known_speed[i], 2);
    }
    /* The first core has the speeds 1.8, 1.9 and 2, the second one 1, 1.1, 1.2 and 1.3. */
    cr_expect_float_eq(kvc_steadiness_core_speed(&steadiness), (1.9 + 1.2) / 2, 1e-6);
    kvc_steadiness_free(&steadiness);
}

Test(steadiness, every_check_measures_the_speed)
{
    struct kvc_steadiness steadiness = {0};
    struct kvc_core_watch watch;
    kvc_pin_core(0);
    kvc_steadiness_check(&steadiness);
    kvc_steadiness_check(&steadiness);
    cr_expect_eq(steadiness.windows, 2);
    cr_expect_eq(steadiness.cores, kvc_pin_cores());
    /* Measures the same arithmetic during a run. Other programs may run meanwhile, but they do not slow it
     * tenfold.
     */
    cr_assert_eq(kvc_core_watch_open(&watch, kvc_clock_wall_s(), 1, NULL), KVC_OK);
    kvc_core_watch_begin(&watch);
    while (kvc_core_watch_tick(&watch, kvc_clock_wall_s(), true) == 0) {
        ;
    }
    double ratio = kvc_steadiness_core_speed(&steadiness) / watch.window[0].speed;
    cr_expect(ratio > 0.1 && ratio < 10, "%g", ratio);
    kvc_core_watch_close(&watch);
    kvc_steadiness_free(&steadiness);
}

enum { CORES = 2, READINGS = 4 };

/* Readings: quiet, quiet, a slower state, and a disturbance. */
static struct kvc_memory_rates rates[CORES * READINGS] = {
    {40, 250, 20e9, 30, 1.8}, {41, 250, 20e9, 30, 1.8}, {80, 250, 20e9, 30, 1.8}, {600, 250, 20e9, 30, 1.8},
    {40, 250, 20e9, 30, 1.8}, {41, 250, 20e9, 30, 1.8}, {80, 250, 20e9, 30, 1.8}, {90, 250, 20e9, 30, 1.8}};
static uint32_t counts[CORES] = {READINGS, READINGS};

Test(steadiness, disturbances_are_waited_for)
{
    struct kvc_steadiness steadiness = {
        .memory = {.cores = CORES, .room = READINGS, .count = counts, .rates = rates},
        .reference = rates[0],
        .endurance_s = 10};
    const int64_t changed[] = {0, 2}, disturbed[] = {0, 3};
    cr_expect_not(kvc_steadiness_disturbed(&steadiness, changed, 1));
    cr_expect(kvc_steadiness_disturbed(&steadiness, disturbed, 9));
    cr_expect(kvc_steadiness_disturbed(&steadiness, disturbed, 9));
    cr_expect_not(kvc_steadiness_disturbed(&steadiness, disturbed, 9), "the endurance is used up");
    cr_expect_leq(steadiness.endurance_s, 0);
}

/* Two of four readings are quiet, and the others differ from them and from each other. */
Test(steadiness, the_commonest_state_is_the_reference)
{
    struct kvc_steadiness steadiness = {
        .memory = {.cores = CORES, .room = READINGS, .count = counts, .rates = rates}, .reference = rates[2]};
    const int64_t quiet[] = {0, 1}, changed[] = {0, 2}, unknown[] = {-1, -1};
    kvc_steadiness_settle(&steadiness);
    cr_expect_float_eq(steadiness.reference.line_ns, 40.5, 1e-9);
    cr_expect_lt(kvc_steadiness_distance(&steadiness, quiet), log(1.02));
    cr_expect_float_eq(kvc_steadiness_distance(&steadiness, changed), log(2) / 2, 1e-9);
    cr_expect_eq(kvc_steadiness_distance(&steadiness, unknown), 0);
}

/* Beside a busy sibling thread, arithmetic takes longer, and lines may not. */
Test(steadiness, a_busy_sibling_is_another_state)
{
    struct kvc_memory_rates beside[CORES * READINGS];
    memcpy(beside, rates, sizeof(beside));
    beside[1].step_ns *= 1.8;
    const struct kvc_steadiness steadiness = {
        .memory = {.cores = CORES, .room = READINGS, .count = counts, .rates = beside},
        .reference = rates[0]};
    const int64_t reading[] = {1, 1};
    cr_expect_gt(kvc_steadiness_distance(&steadiness, reading), log(1.3));
}
