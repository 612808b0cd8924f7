#include "models/dido/recovery.h"

#include <criterion/criterion.h>
#include <math.h>

/* Two phases of ten windows of 0.3 ms, measured from `first_window` on. */
static struct kvc_result measured(const float *mops, uint32_t windows)
{
    static struct kvc_result result;
    result = (struct kvc_result){.window_us = 300, .window_count = windows};
    for (uint32_t i = 0; i < windows; i++) {
        result.window_mops[i] = mops[i];
    }
    return result;
}

static struct kvc_workload alternating(void)
{
    struct kvc_workload workload = {.keys = 2, .phase_count = 2};
    workload.phases[0].length_ns = 3e6;
    return workload;
}

Test(dido_recovery, lasts_until_the_throughput_stays_up)
{
    static const float mops[] = {30, 10, 10, 20, 20, 20, 20, 20, 20, 20,  /* 0.9 ms */
                                 20, 20, 20, 20, 30, 30, 30, 30, 30, 30}; /* 1.2 ms */
    struct kvc_result result = measured(mops, 20);
    struct kvc_workload workload = alternating();
    cr_expect_float_eq(kvc_dido_recovery_us(&workload, 6e6, &result), 1050, 1e-6);
}

Test(dido_recovery, counts_whole_phases_only)
{
    static const float mops[] = {1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,   /* the rest of a phase */
                                 10, 20, 20, 20, 20, 20, 20, 20, 20, 20, 10}; /* 0.3 ms, and a part */
    struct kvc_result result = measured(mops + 1, 21);
    struct kvc_workload workload = alternating();
    workload.phases[1].length_ns = 9e6;
    workload.phases[0].length_ns = 3e6;
    cr_expect_float_eq(kvc_dido_recovery_us(&workload, 9e6, &result), 300, 1e-6);
    result = measured(mops, 9);
    double none_us = kvc_dido_recovery_us(&workload, 9e6, &result);
    cr_expect(isnan(none_us), "no phase is whole");
}

Test(dido_recovery, needs_the_windows_of_the_run)
{
    static const float mops[] = {10, 20, 20, 20, 20};
    struct kvc_result result = measured(mops, 5);
    struct kvc_workload workload = alternating();
    result.window_us = 600;
    double joined_us = kvc_dido_recovery_us(&workload, 0, &result);
    cr_expect(isnan(joined_us), "windows were joined");
}
