#include "sim/probes/memory/co_runner.h"

#include <criterion/criterion.h>
#include <math.h>
#include <time.h>

#include "sim/base/clock.h"

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){0, ms * 1000000}, NULL);
}

/* A machine with other work may keep the co-runner from reading, but never lets it read more than it should.
 */
Test(co_runner, reads_no_more_than_its_rate)
{
    const double bytes_per_s = 200e6, slack_bytes = 1 << 20;
    struct kvc_co_runner *runner = NULL;
    cr_assert_eq(kvc_co_runner_start(0, 1, &runner, NULL), KVC_OK);
    sleep_ms(20);
    cr_expect_eq(kvc_co_runner_bytes(runner), 0, "it rests at first");
    cr_expect_eq(kvc_co_runner_reached_frac(runner), 1);
    double started_s = kvc_clock_wall_s();
    kvc_co_runner_set(runner, bytes_per_s);
    sleep_ms(200);
    kvc_co_runner_set(runner, 0);
    sleep_ms(20);
    double bytes = kvc_co_runner_bytes(runner);
    cr_expect_gt(bytes, 0);
    cr_expect_leq(bytes, bytes_per_s * (kvc_clock_wall_s() - started_s) + slack_bytes);
    cr_expect_leq(kvc_co_runner_reached_frac(runner), 1);
    sleep_ms(20);
    cr_expect_eq(kvc_co_runner_bytes(runner), bytes, "it rests again");
    kvc_co_runner_stop(runner);
}

Test(co_runner, knows_that_a_rate_is_too_high)
{
    struct kvc_co_runner *runner = NULL;
    cr_assert_eq(kvc_co_runner_start(0, 1, &runner, NULL), KVC_OK);
    kvc_co_runner_set(runner, 1e13);
    sleep_ms(200);
    cr_expect_lt(kvc_co_runner_reached_frac(runner), 0.5);
    kvc_co_runner_stop(runner);
}
