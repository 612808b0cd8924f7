/* Tests which changes of devices a run may state. */
#include "sim/run/changes.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/engine_fixture.h"

static struct kvc_change change_of(double at_ns, const char *device, double clock_hz, double off_ns)
{
    struct kvc_change change = {.at_ns = at_ns, .clock_hz = clock_hz, .off_ns = off_ns};
    snprintf(change.device, sizeof(change.device), "%s", device);
    return change;
}

/* A GPU with two clocks, memory that cannot fail, an FPGA without clocks, and a link. */
static struct kvc_platform *machine(void)
{
    struct kvc_platform *platform = kvc_test_platform();
    struct kvc_platform_host gpu = kvc_test_host("node0.gpu", 1, 0, 0, 0);
    struct kvc_platform_host fpga = kvc_test_host("node0.fpga", 1, 0, 0, 0);
    gpu.can_fail = fpga.can_fail = true;
    gpu.pstates = 2;
    gpu.pstate[0].clock_hz = 875e6;
    gpu.pstate[1] = (struct kvc_pstate){.speed = 0.5, .clock_hz = 562e6};
    kvc_platform_add_host(platform, 0, &gpu);
    kvc_platform_add_host(platform, 0, &fpga);
    uint32_t memory = kvc_test_add_host(platform, "node0.memory", 1);
    uint32_t link = kvc_test_add_link(platform, "node0.pcie", 1);
    kvc_platform_add_route(platform, memory, 0, &link, 1);
    return platform;
}

static enum kvc_status check(const struct kvc_change *changes, uint32_t count, struct kvc_diag *diag)
{
    struct kvc_run run = {.duration_ns = 20e6, .change_count = count};
    struct kvc_platform *platform = machine();
    memcpy(run.changes, changes, count * sizeof(*changes));
    enum kvc_status status = kvc_changes_check(&run, platform, diag);
    kvc_platform_free(platform);
    return status;
}

static void expect_refused(struct kvc_change change, const char *message)
{
    struct kvc_diag diag = {0};
    cr_expect_eq(check(&change, 1, &diag), KVC_ERR_SCENARIO, "%s", message);
    cr_expect_str_eq(diag.message, message);
}

Test(changes, clocks_and_outages_that_do_not_meet_pass)
{
    const struct kvc_change changes[] = {
        change_of(0, "node0.gpu", 562e6, NAN),  change_of(5e6, "node0.gpu", NAN, 2e6),
        change_of(5e6, "node0.fpga", NAN, 1e6), change_of(6e6, "node0.gpu", 875e6, NAN),
        change_of(8e6, "node0.gpu", NAN, 1e6),  change_of(19e6, "node0.pcie", NAN, 100e6),
    };
    struct kvc_diag diag = {0};
    cr_expect_eq(check(changes, sizeof(changes) / sizeof(*changes), &diag), KVC_OK, "%s", diag.message);
}

Test(changes, a_device_must_exist)
{
    expect_refused(
        change_of(0, "node0.gup", NAN, 1e6),
        "run.changes.1.device: found \"node0.gup\"; did you mean \"node0.gpu\"? allowed: node0.gpu, "
        "node0.fpga, node0.pcie");
}

Test(changes, a_clock_must_be_one_of_the_hosts)
{
    expect_refused(change_of(0, "node0.gpu", 745e6, NAN),
                   "run.changes.1.clock: found 745MHz, allowed for node0.gpu: 875MHz, 562MHz");
    expect_refused(change_of(0, "node0.fpga", 745e6, NAN),
                   "run.changes.1.clock: found 745MHz, and node0.fpga has no clocks to choose from");
    expect_refused(change_of(0, "node0.pcie", 745e6, NAN),
                   "run.changes.1.clock: node0.pcie is a link, which has no clocks; allowed: off");
}

Test(changes, end_points_of_transfers_do_not_fail)
{
    expect_refused(change_of(0, "node0.memory", NAN, 1e6),
                   "run.changes.1.off: node0.memory cannot fail, allowed: node0.gpu, node0.fpga, node0.pcie");
}

Test(changes, they_happen_within_the_measured_time)
{
    expect_refused(change_of(20e6, "node0.gpu", NAN, 1e6),
                   "run.changes.1.at: found 20ms, allowed: less than run.duration, 20ms");
}

Test(changes, one_thing_changes_at_a_time)
{
    expect_refused(change_of(0, "node0.gpu", 562e6, 1e6),
                   "run.changes.1: found both clock and off, allowed: one of them");
    expect_refused(change_of(0, "node0.gpu", NAN, NAN),
                   "run.changes.1: found neither clock nor off, allowed: one of them");
}

Test(changes, those_that_contradict_each_other_are_refused)
{
    struct kvc_diag diag = {0};
    const char *message =
        "run.changes.2.at: found a change of node0.gpu that meets element 1, allowed: outages "
        "that do not overlap or touch, and one clock at a time";
    const struct kvc_change outages[] = {change_of(5e6, "node0.gpu", NAN, 2e6),
                                         change_of(7e6, "node0.gpu", NAN, 2e6)};
    cr_expect_eq(check(outages, 2, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message, message);
    const struct kvc_change clocks[] = {change_of(5e6, "node0.gpu", 875e6, NAN),
                                        change_of(5e6, "node0.gpu", 562e6, NAN)};
    diag = (struct kvc_diag){0};
    cr_expect_eq(check(clocks, 2, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message, message);
}

/* Every change happens, at its time after the start of the measured time. */
static void watch_main(void *data)
{
    uint32_t *states = data;
    for (uint32_t i = 0; i < 4; i++) {
        kvc_engine_sleep_until_ns(1500 + 1000 * i);
        states[i] = kvc_engine_pstate(0);
    }
}

static void start_main(void *data)
{
    kvc_changes_start(data, 1000);
    kvc_changes_start(data, 5000); /* The changes have started already. */
}

Test(changes, they_happen_in_time)
{
    struct kvc_run run = {.duration_ns = 20e6,
                          .change_count = 3,
                          .changes = {change_of(1000, "node0.gpu", 562e6, NAN),
                                      change_of(3000, "node0.gpu", 875e6, NAN),
                                      change_of(0, "node0.fpga", NAN, 2000)}};
    struct kvc_platform *platform = machine();
    static struct kvc_changes changes;
    uint32_t states[4];
    struct kvc_test_job job = kvc_test_work(1100, 1, 100, 100);
    kvc_test_open(platform);
    kvc_changes_open(&changes, &run, platform);
    kvc_test_spawn(&job, 1);
    kvc_engine_spawn("watch", watch_main, states);
    kvc_engine_spawn("start", start_main, &changes);
    kvc_engine_run();
    cr_expect(states[0] == 0 && states[1] == 1 && states[2] == 1 && states[3] == 0);
    cr_expect_float_eq(job.end_ns, 3100, 1e-3);
    kvc_platform_free(platform);
}
