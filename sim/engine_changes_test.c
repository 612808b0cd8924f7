/* Devices that change while they work: performance states and outages; and the energy that they take. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "sim/engine_fixture.h"

#define EXPECT_NS(found, expected)                                                                           \
    cr_expect_float_eq((found), (expected), 1e-3 + 1e-9 * (expected), "%.9g", (found))
#define EXPECT_JOULES(found, expected)                                                                       \
    do {                                                                                                     \
        double joules = (found);                                                                             \
        cr_expect_float_eq(joules / (expected), 1, 1e-6, "%.9g J", joules);                                  \
    } while (0)

/* A change of a device and its time. */
struct change {
    double at_ns;
    void (*apply)(void *data);
    double until_ns;
    uint32_t device;
    uint32_t pstate;
};

static void change_main(void *data)
{
    struct change *change = data;
    kvc_engine_sleep_until_ns(change->at_ns);
    change->apply(change);
}

static void set_pstate(void *data)
{
    const struct change *change = data;
    kvc_engine_set_pstate(change->device, change->pstate);
}

static void break_host(void *data)
{
    const struct change *change = data;
    kvc_engine_outage_of_host(change->device, change->until_ns);
}

static void break_link(void *data)
{
    const struct change *change = data;
    kvc_engine_outage_of_link(change->device, change->until_ns);
}

/* A host with the states 1, 0.5 and 0.25, which takes 100, 60 and 35 W if all cores work, 10 W if none. */
static uint32_t add_scaling(struct kvc_platform *platform, uint32_t cores, uint32_t first)
{
    struct kvc_platform_host host = kvc_test_host("gpu", cores, 10, 100, 100);
    host.pstates = 3;
    host.first_pstate = first;
    host.pstate[1] = (struct kvc_pstate){.speed = 0.5, .watts = {10, 60, 60}};
    host.pstate[2] = (struct kvc_pstate){.speed = 0.25, .watts = {10, 35, 35}};
    return kvc_platform_add_host(platform, 0, &host);
}

/* Runs the jobs while the changes happen. */
static void run(const struct kvc_platform *platform, struct kvc_test_job *jobs, uint32_t count,
                struct change *changes, uint32_t change_count)
{
    kvc_test_open(platform);
    kvc_test_spawn(jobs, count);
    for (uint32_t i = 0; i < change_count; i++) {
        kvc_engine_spawn("change", change_main, &changes[i]);
    }
    kvc_engine_run();
}

/* ---- performance states ---- */

Test(engine_changes, a_slower_state_slows_work_under_way)
{
    struct kvc_platform *platform = kvc_test_platform();
    uint32_t gpu = add_scaling(platform, 1, 0);
    struct kvc_test_job jobs[] = {kvc_test_work(0, gpu, 1000, 1000)};
    struct change changes[] = {{.at_ns = 400, .apply = set_pstate, .device = gpu, .pstate = 1},
                               {.at_ns = 800, .apply = set_pstate, .device = gpu, .pstate = 0}};
    run(platform, jobs, 1, changes, 2);
    EXPECT_NS(jobs[0].end_ns, 1200); /* 400 at 1, 200 in 400 ns, 400 at 1. */
    EXPECT_NS(kvc_engine_work_done_ns(gpu), 1000);
    EXPECT_JOULES(kvc_engine_host_joules(gpu), (800 * 100 + 400 * 60) * 1e-9);
    kvc_platform_free(platform);
}

Test(engine_changes, work_begins_in_the_first_state)
{
    struct kvc_platform *platform = kvc_test_platform();
    uint32_t gpu = add_scaling(platform, 1, 2);
    struct kvc_test_job jobs[] = {kvc_test_work(0, gpu, 1000, 1000)};
    run(platform, jobs, 1, NULL, 0);
    EXPECT_NS(jobs[0].end_ns, 4000);
    EXPECT_NS(kvc_engine_capacity_ns(gpu), 1000);
    EXPECT_JOULES(kvc_engine_host_joules(gpu), 4000 * 35e-9);
    kvc_platform_free(platform);
}

/* A draw that could use a quarter of the device still does after the device changes its state. */
Test(engine_changes, a_bound_outlives_a_change_of_state)
{
    struct kvc_platform *platform = kvc_test_platform();
    uint32_t gpu = add_scaling(platform, 1, 0);
    struct kvc_test_job jobs[] = {kvc_test_work(0, gpu, 1000, 4000),
                                  kvc_test_work(0, gpu, 300, 300),
                                  {.draws = 2, .draw = {{gpu, 200, 200}, {gpu, 400, 4000}}}};
    struct change changes[] = {{.at_ns = 1000, .apply = set_pstate, .device = gpu, .pstate = 1},
                               {.at_ns = 2000, .apply = set_pstate, .device = gpu, .pstate = 0}};
    run(platform, jobs, 3, changes, 2);
    EXPECT_NS(jobs[0].end_ns, 4000);
    EXPECT_NS(jobs[2].end_ns, 4000);
    EXPECT_NS(kvc_engine_work_done_ns(gpu), 1900);
    kvc_platform_free(platform);
}

/* ---- outages ---- */

Test(engine_changes, work_on_a_host_that_fails_is_repeated_in_full)
{
    struct kvc_platform *platform = kvc_test_platform();
    uint32_t gpu = kvc_test_add_host(platform, "gpu", 1), cpu = kvc_test_add_host(platform, "cpu", 1);
    struct kvc_test_job jobs[] = {kvc_test_work(0, gpu, 1000, 1000),
                                  kvc_test_work(700, gpu, 100, 100),
                                  {.draws = 2, .draw = {{cpu, 3000, 3000}, {gpu, 10, 4000}}},
                                  kvc_test_work(2000, gpu, 100, 100)};
    struct change changes[] = {
        {.at_ns = 600, .apply = break_host, .device = gpu, .until_ns = 2000},
    };
    run(platform, jobs, 4, changes, 1);
    EXPECT_NS(jobs[1].end_ns, 2000 + 300);
    EXPECT_NS(jobs[3].end_ns, 2000 + 300);
    EXPECT_NS(jobs[0].end_ns, 3000 + 200 / (1 - 10.0 / 4000)); /* The other job draws again from 3000. */
    EXPECT_NS(jobs[2].end_ns, 3000 + 4000);                    /* The first draw ends at 3000. */
    kvc_platform_free(platform);
}

Test(engine_changes, a_host_that_is_off_takes_no_power)
{
    struct kvc_platform *platform = kvc_test_platform();
    uint32_t gpu = add_scaling(platform, 1, 0);
    struct kvc_test_job jobs[] = {kvc_test_work(0, gpu, 1000, 1000)};
    struct change changes[] = {{.at_ns = 600, .apply = break_host, .device = gpu, .until_ns = 2000}};
    run(platform, jobs, 1, changes, 1);
    EXPECT_NS(jobs[0].end_ns, 3000);
    EXPECT_JOULES(kvc_engine_host_joules(gpu), 1600 * 100e-9);
    EXPECT_NS(kvc_engine_work_done_ns(gpu), 1600);
    EXPECT_NS(kvc_engine_capacity_ns(gpu), 1600);
    kvc_platform_free(platform);
}

/* A thread that polls and pauses once, and how long it should poll and does. */
struct pause {
    double from_ns, until_ns, polls_ns;
    uint32_t host;
    double polled_ns;
};

static void pause_main(void *data)
{
    struct pause *pause = data;
    struct kvc_poller *poller = kvc_poller_create(pause->host);
    kvc_engine_sleep_until_ns(pause->from_ns);
    kvc_poller_pause(poller);
    kvc_engine_sleep_until_ns(pause->until_ns);
    kvc_poller_resume(poller);
    kvc_engine_sleep_until_ns(500);
    pause->polled_ns = kvc_engine_work_done_ns(pause->host);
    kvc_engine_sleep_until_ns(600);
    kvc_engine_stop();
}

/* The threads' hosts are off from 200 to 400 ns. */
Test(engine_changes, a_paused_thread_outlives_an_outage)
{
    enum { PAUSES = 5 };
    struct pause pauses[PAUSES] = {
        {20, 120, 20 + 80 + 100}, {100, 450, 100 + 50},  {100, 300, 100 + 100},
        {250, 450, 200 + 50},     {250, 300, 200 + 100},
    };
    struct change outages[PAUSES];
    struct kvc_platform *platform = kvc_test_platform();
    for (uint32_t i = 0; i < PAUSES; i++) {
        char name[8];
        snprintf(name, sizeof(name), "cpu%u", i);
        pauses[i].host = kvc_test_add_host(platform, name, 2);
        outages[i] =
            (struct change){.at_ns = 200, .apply = break_host, .device = pauses[i].host, .until_ns = 400};
    }
    kvc_test_open(platform);
    for (uint32_t i = 0; i < PAUSES; i++) {
        kvc_engine_spawn("pause", pause_main, &pauses[i]);
        kvc_engine_spawn("change", change_main, &outages[i]);
    }
    kvc_engine_run();
    for (uint32_t i = 0; i < PAUSES; i++) {
        EXPECT_NS(pauses[i].polled_ns, pauses[i].polls_ns);
    }
    kvc_platform_free(platform);
}

static uint32_t add_pcie(struct kvc_platform *platform, uint32_t hosts[2])
{
    struct kvc_platform_link link = {
        .name = "pcie", .device = "pcie", .bytes_per_s = 10e9, .idle_w = 2, .busy_w = 12};
    hosts[0] = kvc_test_add_host(platform, "cpu", 1);
    hosts[1] = kvc_test_add_host(platform, "gpu", 1);
    uint32_t added = kvc_platform_add_link(platform, 0, &link);
    kvc_platform_add_route(platform, hosts[0], hosts[1], &added, 1);
    return added;
}

Test(engine_changes, a_transfer_over_a_link_that_fails_continues)
{
    struct kvc_platform *platform = kvc_test_platform();
    uint32_t hosts[2], link = add_pcie(platform, hosts);
    struct kvc_test_job jobs[] = {kvc_test_transfer(0, hosts[0], hosts[1], 10000),
                                  kvc_test_transfer(1500, hosts[0], hosts[1], 1000)};
    struct change changes[] = {{.at_ns = 400, .apply = break_link, .device = link, .until_ns = 2400}};
    run(platform, jobs, 2, changes, 1);
    EXPECT_NS(jobs[0].end_ns, 3100);
    EXPECT_NS(jobs[1].end_ns, 2600);
    cr_expect_float_eq(kvc_engine_bytes_carried(link), 11000, 1e-3);
    EXPECT_NS(kvc_engine_link_capacity_bytes(link), 11000);
    /* Off, it takes no power. */
    EXPECT_JOULES(kvc_engine_link_joules(link), (400 + 700) * 12e-9);
    kvc_platform_free(platform);
}

/* ---- energy ---- */

/* The power of 8 cores of which `busy` work all the time: 20 W idle, 40 W one, 100 W all. */
static double watts_of(uint32_t busy)
{
    struct kvc_platform *platform = kvc_test_platform();
    struct kvc_platform_host host = kvc_test_host("cpu", 8, 20, 40, 100);
    uint32_t cpu = kvc_platform_add_host(platform, 0, &host), other = kvc_test_add_host(platform, "other", 1);
    struct kvc_test_job jobs[9] = {kvc_test_work(0, other, 1000, 1000)};
    for (uint32_t i = 0; i < busy; i++) {
        jobs[1 + i] = kvc_test_work(0, cpu, 1000, 1000);
    }
    kvc_test_run_jobs(platform, jobs, 1 + busy);
    EXPECT_NS(kvc_engine_now_ns(), 1000);
    double watts = kvc_engine_host_joules(cpu) / 1000e-9;
    cr_expect(isnan(kvc_engine_host_joules(other)));
    kvc_platform_free(platform);
    return watts;
}

Test(engine_changes, an_idle_host_takes_its_idle_power)
{
    double watts = watts_of(0);
    cr_expect_float_eq(watts, 20, 1e-6, "%.9g", watts);
}

Test(engine_changes, one_busy_core_takes_the_power_of_one)
{
    double watts = watts_of(1);
    cr_expect_float_eq(watts, 40, 1e-6, "%.9g", watts);
}

Test(engine_changes, between_one_and_all_cores_power_is_linear)
{
    double watts = watts_of(4);
    cr_expect_float_eq(watts, 40 + 3 * 60.0 / 7, 1e-6, "%.9g", watts);
}

Test(engine_changes, all_busy_cores_take_the_power_of_all)
{
    double watts = watts_of(8);
    cr_expect_float_eq(watts, 100, 1e-6, "%.9g", watts);
}

/* Joules are power times time over phases of different load, one of them bounded. */
Test(engine_changes, joules_are_the_sum_over_phases)
{
    struct kvc_platform *platform = kvc_test_platform();
    struct kvc_platform_host host = kvc_test_host("gpu", 1, 10, 110, 110);
    uint32_t gpu = kvc_platform_add_host(platform, 0, &host);
    struct kvc_test_job jobs[] = {kvc_test_work(1000, gpu, 500, 1000), kvc_test_work(3000, gpu, 250, 1000),
                                  kvc_test_work(3000, gpu, 750, 750)};
    kvc_test_run_jobs(platform, jobs, 3);
    EXPECT_NS(jobs[2].end_ns, 4000);
    EXPECT_JOULES(kvc_engine_host_joules(gpu), (1000 * 10 + 1000 * 60 + 1000 * 10 + 1000 * 110) * 1e-9);
    kvc_platform_free(platform);
}

/* Two links that one transfer crosses, the second one shared, so that its own rate changes without an event
 * of its own. */
Test(engine_changes, joules_of_links_are_idle_power_and_bytes)
{
    struct kvc_platform *platform = kvc_test_platform();
    uint32_t hosts[3], pcie = add_pcie(platform, hosts);
    hosts[2] = kvc_test_add_host(platform, "nic", 1);
    struct kvc_platform_link link = {
        .name = "root", .device = "root", .bytes_per_s = 10e9, .idle_w = 1, .busy_w = 21};
    uint32_t root = kvc_platform_add_link(platform, 0, &link);
    kvc_platform_add_route(platform, hosts[1], hosts[0], (uint32_t[]){pcie, root}, 2);
    kvc_platform_add_route(platform, hosts[2], hosts[0], &root, 1);
    struct kvc_test_job jobs[] = {kvc_test_transfer(0, hosts[1], hosts[0], 30000),
                                  kvc_test_transfer(0, hosts[2], hosts[0], 10000),
                                  kvc_test_transfer(9000, hosts[0], hosts[1], 10000)};
    kvc_test_run_jobs(platform, jobs, 3);
    EXPECT_NS(kvc_engine_now_ns(), 10000);
    EXPECT_JOULES(kvc_engine_link_joules(root), 10000 * 1e-9 + 20 * 40000 / 10e9);
    EXPECT_JOULES(kvc_engine_link_joules(pcie), 10000 * 2e-9 + 10 * 40000 / 10e9);
    kvc_platform_free(platform);
}
