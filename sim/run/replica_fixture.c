#include "sim/run/replica_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "sim/workload/source/source_fixture.h"

struct kvc_test_run *kvc_test_run_open(const struct kvc_workload *workload)
{
    struct kvc_diag diag = {0};
    struct kvc_test_run *run = calloc(1, sizeof(*run));
    cr_assert_not_null(run);
    run->scenario.workload = *workload;
    run->scenario.cluster.nodes = 1;
    run->scenario.run = (struct kvc_run){.warmup_ns = 10000, .duration_ns = 20000, .seed = KVC_TEST_SEED};
    run->context =
        (struct kvc_run_context){.scenario = &run->scenario, .seed = KVC_TEST_SEED, .result = &run->result};
    run->platform = kvc_platform_create();
    const struct kvc_replica_options options = {.platform = run->platform,
                                                .source =
                                                    kvc_scenario_source(&run->scenario, 1, KVC_TEST_SEED),
                                                .window_ns = KVC_TEST_WINDOW_NS};
    cr_assert_eq(kvc_replica_open(&run->replica, &run->context, &options, &diag), KVC_OK, "%s", diag.message);
    return run;
}

void kvc_test_run_free(struct kvc_test_run *run)
{
    kvc_replica_close(&run->replica);
    kvc_platform_free(run->platform);
    free(run);
}
