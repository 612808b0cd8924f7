#include "sim/run/replica.h"

#include <criterion/criterion.h>

#include "sim/run/replica_fixture.h"
#include "sim/workload/source/source_fixture.h"

static void wait_forever(void *data)
{
    double *latest_ns = data;
    for (int i = 1;; i++) {
        kvc_engine_sleep_until_ns(250.0 * i);
        *latest_ns = kvc_engine_now_ns();
    }
}

Test(replica, runs_until_the_measured_time_has_passed)
{
    const struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_SATURATE);
    struct kvc_test_run *run = kvc_test_run_open(&workload);
    double latest_ns = 0;
    kvc_engine_spawn("waiter", wait_forever, &latest_ns);
    cr_expect_eq(kvc_replica_run(&run->replica, true, NULL), KVC_OK);
    cr_expect_float_eq(latest_ns, 30000, 251);
    run->replica.source_ticks = 1;
    kvc_replica_report(&run->replica);
    cr_expect_gt(run->result.activities, 30000 / 250);
    cr_expect_gt(run->result.engine_wall_s, 0);
    cr_expect_geq(run->result.wall_s, run->result.engine_wall_s);
    cr_expect(run->result.source_wall_s > 0 && run->result.source_wall_s < run->result.wall_s);
    cr_expect_eq(run->result.kernel_wall_s, 0);
    kvc_test_run_free(run);
}

Test(replica, that_was_not_opened_can_be_closed)
{
    struct kvc_replica replica = {0};
    kvc_replica_close(&replica);
}
