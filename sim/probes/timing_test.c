#include "sim/probes/timing.h"

#include <criterion/criterion.h>
#include <time.h>

struct calls {
    uint32_t prepared, worked;
    uint32_t last_repetition;
    long sleep_ns; /* In repetition 1; later ones sleep a third as long. */
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

/* One call warms up, every call is prepared, and a single slow repetition does not move the median. */
Test(timing, medians_of_prepared_repetitions)
{
    struct calls calls = {.sleep_ns = 6000000};
    struct kvc_timing timing = kvc_timing_measure(prepare, work, &calls);
    cr_expect_geq(timing.repetitions, 5);
    cr_expect_leq(timing.repetitions, 15);
    cr_expect_eq(calls.worked, timing.repetitions + 1);
    cr_expect_eq(calls.last_repetition, timing.repetitions);
    cr_expect_geq(timing.median_s, 0.002);
    cr_expect_lt(timing.median_s, 0.006);
    cr_expect_leq(timing.low_s, timing.median_s);
    cr_expect_geq(timing.high_s, timing.median_s);
}
