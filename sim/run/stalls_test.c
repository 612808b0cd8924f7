#include "sim/run/stalls.h"

#include <criterion/criterion.h>
#include <math.h>

static const struct kvc_node node = {.stall_count = 1, .stalls = {{.length_ns = 100, .every_ns = 1e4}}};

/* Opens the stalls of a core and returns when the first one begins [ns]. */
static double open_core(struct kvc_stalls *stalls)
{
    kvc_stalls_open(stalls, &node, 1, 0);
    cr_assert_gt(stalls->begin_ns, 50);
    return stalls->begin_ns;
}

Test(stalls, work_lasts_longer_by_what_it_meets)
{
    struct kvc_stalls stalls;
    double begin_ns = open_core(&stalls);
    cr_expect_eq(kvc_stalls_ns(&stalls, 0, begin_ns - 1), 0, "it ends before");
    cr_expect_float_eq(kvc_stalls_ns(&stalls, begin_ns - 50, begin_ns + 10), 100, 1e-6);
    cr_expect_eq(kvc_stalls_ns(&stalls, begin_ns + 100, begin_ns + 101), 0, "it begins after");
    cr_expect_eq(stalls.met_sum_ns, 100);
}

Test(stalls, work_after_an_idle_time_waits_for_the_rest)
{
    struct kvc_stalls stalls;
    double begin_ns = open_core(&stalls);
    cr_expect_float_eq(kvc_stalls_ns(&stalls, begin_ns + 70, begin_ns + 80), 30, 1e-6);
}

Test(stalls, all_threads_of_a_core_meet_them)
{
    struct kvc_stalls stalls;
    double begin_ns = open_core(&stalls);
    for (int thread = 0; thread < 3; thread++) {
        cr_expect_float_eq(kvc_stalls_ns(&stalls, begin_ns - 10 * thread, begin_ns + 10), 100, 1e-6);
    }
    cr_expect_eq(stalls.met_sum_ns, 100, "they share one stall");
}

Test(stalls, take_their_share_of_the_time)
{
    static const double step_ns = 10, until_ns = 1e8;
    struct kvc_stalls stalls;
    double late_ns = 0, now_ns = 0;
    open_core(&stalls);
    while (now_ns < until_ns) {
        double stalled_ns = kvc_stalls_ns(&stalls, now_ns, now_ns + step_ns);
        late_ns += stalled_ns;
        now_ns += step_ns + stalled_ns;
    }
    cr_expect_float_eq(late_ns, stalls.met_sum_ns, 1e-3);
    cr_expect_float_eq(late_ns / now_ns, 0.01, 0.0005, "%g", late_ns / now_ns);
}

Test(stalls, a_machine_may_have_none)
{
    struct kvc_stalls stalls;
    const struct kvc_node steady = {.stall_count = 0};
    kvc_stalls_open(&stalls, &steady, 1, 0);
    cr_expect_eq(kvc_stalls_ns(&stalls, 0, 1e18), 0);
}
