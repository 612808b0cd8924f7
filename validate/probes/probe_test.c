#include "validate/probes/probe.h"

#include <criterion/criterion.h>
#include <time.h>

struct calls {
    uint32_t prepared, worked;
    uint32_t last_repetition;
    long sleep_ns; /* of turn 1; later ones sleep a third of it */
};

static void prepare(void *data, uint32_t repetition)
{
    struct calls *calls = data;
    cr_assert_eq(calls->prepared, calls->worked);
    cr_assert_eq(repetition, calls->prepared);
    calls->prepared++;
}

static void work(void *data, uint32_t repetition)
{
    struct calls *calls = data;
    struct timespec pause = {0, repetition == 1 ? calls->sleep_ns : calls->sleep_ns / 3};
    cr_assert_eq(calls->prepared, calls->worked + 1);
    calls->worked++;
    calls->last_repetition = repetition;
    nanosleep(&pause, NULL);
}

/* One call to warm up, every one prepared; a single slow turn does not move the median. */
Test(probe, medians_of_prepared_turns)
{
    struct calls calls = {.sleep_ns = 6000000};
    struct kvc_probe_time time = kvc_probe(prepare, work, &calls);
    cr_expect_geq(time.repetitions, 5);
    cr_expect_leq(time.repetitions, 15);
    cr_expect_eq(calls.worked, time.repetitions + 1);
    cr_expect_eq(calls.last_repetition, time.repetitions);
    cr_expect_geq(time.median_s, 0.002);
    cr_expect_lt(time.median_s, 0.006);
    cr_expect_leq(time.low_s, time.median_s);
    cr_expect_geq(time.high_s, time.median_s);
}

Test(probe, spread_of_the_reference)
{
    struct kvc_steadiness steadiness = {0};
    cr_expect_eq(kvc_steadiness_spread_frac(&steadiness), 0);
    kvc_steadiness_check(&steadiness);
    cr_expect_eq(kvc_steadiness_spread_frac(&steadiness), 0);
    kvc_steadiness_check(&steadiness);
    cr_expect_geq(kvc_steadiness_spread_frac(&steadiness), 0);
    steadiness.slowest_s = 1.5 * steadiness.fastest_s;
    cr_expect_float_eq(kvc_steadiness_spread_frac(&steadiness), 0.5, 1e-12);
}
