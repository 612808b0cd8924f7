#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "scenarios/run/laws_fixture.h"
#include "scenarios/run/limits.h"
#include "sim/base/cleanup.h"

static const double gib = 1024.0 * 1024.0 * 1024.0;

Test(memory, one_replica_needs_its_store_once)
{
    uint32_t jobs;
    cr_assert_eq(kvc_memory_plan(10 * gib, 10.5 * gib, 1, 0, 8, &jobs, NULL), KVC_OK);
    cr_assert_eq(jobs, 1);
}

Test(memory, too_large_a_store_is_the_scenarios_fault)
{
    uint32_t jobs;
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_memory_plan(18.2 * gib, 12.1 * gib, 1, 0, 2, &jobs, &diag), KVC_ERR_SCENARIO);
    cr_assert_str_eq(
        diag.message,
        "the run needs 18.2 GiB, but this machine has 12.1 GiB available; use functional = \"sampled\" "
        "(run.functional)");
}

Test(memory, every_job_needs_a_store_of_its_own)
{
    uint32_t jobs;
    cr_assert_eq(kvc_memory_plan(2 * gib, 9 * gib, 10, 0, 16, &jobs, NULL), KVC_OK);
    cr_assert_eq(jobs, 4);
    cr_assert_eq(kvc_memory_plan(2 * gib, 9 * gib, 10, 4, 16, &jobs, NULL), KVC_OK);
    cr_assert_eq(jobs, 4);
    cr_assert_eq(kvc_memory_plan(6 * gib, 8 * gib, 5, 0, 4, &jobs, NULL), KVC_OK);
    cr_assert_eq(jobs, 1);
}

Test(memory, jobs_that_do_not_fit_name_some_that_do)
{
    uint32_t jobs;
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_memory_plan(2 * gib, 5 * gib, 10, 4, 16, &jobs, &diag), KVC_ERR_SCENARIO);
    cr_assert_not_null(strstr(diag.message, "4 jobs need 8.0 GiB"), "%s", diag.message);
    cr_assert_not_null(strstr(diag.message, "--jobs 2"), "%s", diag.message);
}

Test(memory, there_are_never_more_jobs_than_replicas_or_processors)
{
    uint32_t jobs;
    cr_assert_eq(kvc_memory_plan(1, 8 * gib, 3, 0, 64, &jobs, NULL), KVC_OK);
    cr_assert_eq(jobs, 3);
    cr_assert_eq(kvc_memory_plan(1, 8 * gib, 64, 0, 2, &jobs, NULL), KVC_OK);
    cr_assert_eq(jobs, 2);
    cr_assert_eq(kvc_memory_plan(gib, 0, 5, 3, 2, &jobs, NULL), KVC_OK, "unknown memory stops nothing");
    cr_assert_eq(jobs, 3);
}

/* A signal ends the process in which the memory is measured. The caller, who is told so, ends its work. */
Test(memory, an_interrupted_measurement_does_not_give_up)
{
    struct kvc_loaded *loaded = kvc_laws_load("return { system = { kind = 'rdma' }, "
                                              "workload = { keys = 1000, get = 1, "
                                              "arrival = { poisson_mops = 0.1 } } }");
    kvc_cleanup_defer(true);
    raise(SIGTERM);
    kvc_memory_needed_bytes(&loaded->scenario);
    cr_expect(kvc_cleanup_is_interrupted());
    kvc_loaded_free(loaded);
}
