#include <criterion/criterion.h>
#include <string.h>

#include "scenarios/run/memory_plan.h"

static const double gib = 1024.0 * 1024.0 * 1024.0;

Test(memory, available_is_known_here)
{
    cr_assert_gt(kvc_memory_available_bytes(), 1e6);
}

Test(memory, one_replica_needs_its_store_once)
{
    struct kvc_memory_plan plan;
    cr_assert_eq(kvc_memory_plan(10 * gib, 10.5 * gib, 1, 0, 8, &plan, NULL), KVC_OK);
    cr_assert_eq(plan.jobs, 1);
    cr_assert_not(plan.shared);
}

Test(memory, too_large_a_store_is_the_scenarios_fault)
{
    struct kvc_memory_plan plan;
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_memory_plan(18.2 * gib, 12.1 * gib, 1, 0, 2, &plan, &diag), KVC_ERR_SCENARIO);
    cr_assert_str_eq(
        diag.message,
        "the run needs 18.2 GiB, but this machine has 12.1 GiB available; use functional = \"sampled\" "
        "(run.functional)");
}

Test(memory, a_shared_store_counts_once_more_per_job)
{
    struct kvc_memory_plan plan;
    cr_assert_eq(kvc_memory_plan(2 * gib, 8 * gib, 10, 0, 16, &plan, NULL), KVC_OK);
    cr_assert(plan.shared);
    cr_assert_eq(plan.jobs, 3); /* 2 + 3 * 2 = 8 GiB */
}

Test(memory, jobs_that_do_not_fit_name_some_that_do)
{
    struct kvc_memory_plan plan;
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_memory_plan(2 * gib, 5 * gib, 10, 4, 16, &plan, &diag), KVC_ERR_SCENARIO);
    cr_assert_not_null(strstr(diag.message, "4 jobs need 8.0 GiB"), "%s", diag.message);
    cr_assert_not_null(strstr(diag.message, "--jobs 2"), "%s", diag.message);
}

Test(memory, without_room_to_share_each_child_prepares_its_own)
{
    struct kvc_memory_plan plan;
    cr_assert_eq(kvc_memory_plan(6 * gib, 8 * gib, 5, 0, 4, &plan, NULL), KVC_OK);
    cr_assert_not(plan.shared);
    cr_assert_eq(plan.jobs, 1);
    cr_assert_eq(kvc_memory_plan(2 * gib, 5 * gib, 5, 2, 4, &plan, NULL), KVC_OK);
    cr_assert_not(plan.shared);
    cr_assert_eq(plan.jobs, 2);
}

Test(memory, there_are_never_more_jobs_than_replicas_or_processors)
{
    struct kvc_memory_plan plan;
    cr_assert_eq(kvc_memory_plan(1, 8 * gib, 3, 0, 64, &plan, NULL), KVC_OK);
    cr_assert_eq(plan.jobs, 3);
    cr_assert_eq(kvc_memory_plan(1, 8 * gib, 64, 0, 2, &plan, NULL), KVC_OK);
    cr_assert_eq(plan.jobs, 2);
    cr_assert_eq(kvc_memory_plan(gib, 0, 5, 3, 2, &plan, NULL), KVC_OK, "unknown memory stops nothing");
    cr_assert_eq(plan.jobs, 3);
}
