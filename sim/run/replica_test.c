#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/run/replica.h"
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

Test(replica, that_could_not_be_opened_says_why_and_can_be_closed)
{
    struct kvc_result *result = calloc(1, sizeof(*result));
    struct kvc_scenario scenario = {.workload = kvc_test_workload(KVC_ARRIVAL_TRACE),
                                    .run = {.warmup_ns = 10000, .duration_ns = 20000}};
    strcpy(scenario.workload.trace.path, "/nowhere/trace.csv");
    struct kvc_run_context context = {.scenario = &scenario, .result = result};
    struct kvc_platform *platform = kvc_platform_create();
    scenario.cluster.nodes = 1;
    const struct kvc_replica_options options = {.platform = platform,
                                                .source = kvc_scenario_source(&scenario, 1, KVC_TEST_SEED),
                                                .window_ns = KVC_TEST_WINDOW_NS};
    struct kvc_replica replica;
    struct kvc_diag diag = {0};
    cr_expect_eq(kvc_replica_open(&replica, &context, &options, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "trace.csv"), "%s", diag.message);
    cr_expect_null(replica.source);
    kvc_replica_close(&replica);
    kvc_platform_free(platform);
    free(result);
}

/* The progress reports that a listener received. */
struct heard {
    int warm_up, measure;
    double latest;
};

static void hear(void *data, const char *step, double fraction)
{
    struct heard *heard = data;
    heard->warm_up += strcmp(step, "warm up") == 0;
    heard->measure += strcmp(step, "measure") == 0;
    heard->latest = fraction;
}

Test(monitor, reports_progress_once_per_window)
{
    const struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_SATURATE);
    struct kvc_test_run *run = kvc_test_run_open(&workload);
    struct heard heard = {0};
    const struct kvc_progress progress = {hear, &heard};
    run->replica.monitor.progress = &progress;
    cr_expect_eq(kvc_replica_run(&run->replica, true, NULL), KVC_OK);
    cr_expect_eq(heard.warm_up, 0); /* The end of the warm-up is known. */
    cr_expect_eq(heard.measure, 30);
    cr_expect_float_eq(heard.latest, 0.95, 1e-9);
    kvc_test_run_free(run);
}

/* Drains a source. */
static void drain(void *data)
{
    struct kvc_source *source = data;
    struct kvc_batch *batch = kvc_batch_create(16, KVC_KEY_BYTES_MAX + 1);
    while (kvc_source_drain(source, 0, 1e9, batch) > 0) {
        ;
    }
    kvc_batch_free(batch);
    kvc_engine_sleep_until_ns(1e9);
}

static bool drained_later(const void *data)
{
    (void)data;
    return kvc_engine_now_ns() >= 15000;
}

/* Replays a trace with this text, which is drained at 15 us. Returns the status of the run, and in *until_ns
 * the end of the measured time. */
static enum kvc_status replay(const char *text, double *until_ns)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_TRACE);
    strcpy(workload.trace.path, "/tmp/kvc-monitor-XXXXXX");
    FILE *file = fdopen(mkstemp(workload.trace.path), "w");
    cr_assert(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    struct kvc_test_run *run = kvc_test_run_open(&workload);
    run->replica.monitor.drained = drained_later;
    kvc_engine_spawn("drain", drain, run->replica.source);
    enum kvc_status status = kvc_replica_run(&run->replica, true, NULL);
    *until_ns = run->replica.recorder.until_ns;
    kvc_test_run_free(run);
    unlink(workload.trace.path);
    return status;
}

Test(monitor, ends_the_run_when_everything_is_drained)
{
    double until_ns;
    cr_expect_eq(replay("1,get,a,8,8\n2,get,b,8,8\n", &until_ns), KVC_OK);
    cr_expect_float_eq(until_ns, 15000, 1);
}

Test(monitor, ends_the_run_at_an_error_of_the_source)
{
    double until_ns;
    cr_expect_eq(replay("1,get,a,8,8\n2,nonsense\n", &until_ns), KVC_ERR_SCENARIO);
    cr_expect_float_eq(until_ns, 30000, 1);
}
