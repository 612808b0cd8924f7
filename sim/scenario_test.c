#include "sim/scenario.h"

#include <criterion/criterion.h>

#include "sim/base/seeds.h"

Test(scenario, sample_rate_follows_the_functional_mode)
{
    struct kvc_run run = {.functional = KVC_FUNCTIONAL_FULL, .sample_rate = 8};
    cr_expect_eq(kvc_run_sample_rate(&run, 1e12), 1);
    run.functional = KVC_FUNCTIONAL_OFF;
    cr_expect_eq(kvc_run_sample_rate(&run, 1e12), 0);
    run.functional = KVC_FUNCTIONAL_SAMPLED;
    cr_expect_eq(kvc_run_sample_rate(&run, 1e12), 8);
}

Test(scenario, automatic_sample_rate_is_the_smallest_that_fits)
{
    struct kvc_run run = {.functional = KVC_FUNCTIONAL_SAMPLED, .sample_bytes = 1000};
    cr_expect_eq(kvc_run_sample_rate(&run, 1000), 1);
    cr_expect_eq(kvc_run_sample_rate(&run, 1001), 2);
    cr_expect_eq(kvc_run_sample_rate(&run, 4000), 4);
    cr_expect_eq(kvc_run_sample_rate(&run, 4001), 8);
}

Test(scenario, source_has_its_workload_and_shards)
{
    const struct kvc_scenario scenario = {.cluster = {.nodes = 3}, .node = {.sockets = 2}};
    const struct kvc_source_params params = kvc_scenario_source(&scenario, 5, 7);
    cr_expect_eq(params.workload, &scenario.workload);
    cr_expect(params.nodes == 3 && params.sockets == 5);
    cr_expect(params.seed == 7 && params.hash_seed == kvc_seed_of_hash(7) && params.frame_requests == 1);
}

Test(scenario, a_changing_load_is_measured_from_its_begin)
{
    struct kvc_workload workload = {.arrival = KVC_ARRIVAL_POISSON};
    struct kvc_run run = {.warmup_ns = -1, .duration_ns = -1};
    kvc_run_settle(&run, &workload);
    cr_expect(run.warmup_ns < 0 && run.duration_ns == 20e6);
    workload.arrival = KVC_ARRIVAL_CURVE;
    kvc_run_settle(&run, &workload);
    cr_expect(run.warmup_ns == 0 && run.duration_ns == 20e6);
    run = (struct kvc_run){.warmup_ns = -1, .duration_ns = -1};
    workload.arrival = KVC_ARRIVAL_TRACE;
    kvc_run_settle(&run, &workload);
    cr_expect(run.warmup_ns == 0 && run.duration_ns >= 1e15);
    run = (struct kvc_run){.warmup_ns = 5, .duration_ns = 7};
    kvc_run_settle(&run, &workload);
    cr_expect(run.warmup_ns == 5 && run.duration_ns == 7, "what the user says stays");
}
