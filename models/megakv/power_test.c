/* Power of a simulated Mega-KV: laws of energies, and its manager at work. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/megakv/config.h"
#include "models/megakv/megakv.h"
#include "models/megakv/run_fixture.h"
#include "models/megakv/simulation.h"

struct setup {
    struct kvc_scenario scenario;
    struct kvc_megakv_options options;
    struct kvc_megakv_config config;
    struct kvc_test_devices devices;
};

/* One socket whose CPU serves 30 Mops at 2 GHz, and whose GPU serves 44 or 16 Mops at its two pairs. All
 * devices have watts. */
static struct setup small(void)
{
    return (struct setup){
        .options = {.cycle_ns = 100e3,
                    .delay = 2,
                    .api = KVC_MEGAKV_GETK,
                    .buffers = 3,
                    .streams = 3,
                    .index_bytes = 8 << 20,
                    .slab_bytes = 64 << 20,
                    .max_displacements = 100},
        .devices = {.cpu = {.cores = 4,
                            .threads_per_core = 2,
                            .clock_hz = 2e9,
                            .packet_ns = 50,
                            .pstate_count = 2,
                            .pstates = {{2e9, 10, 20, 50}, {1e9, 8, 12, 24}}},
                    .dram = {.random_line_ns = 20,
                             .next_line_ns = 0,
                             .line_bytes = 64,
                             .bytes_per_s = 1e12,
                             .idle_watts = 3,
                             .busy_watts = 9},
                    .gpu = {.memory_bytes = 1e10,
                            .clock_count = 2,
                            .clocks = {{.core_hz = 1e9,
                                        .search = {.ns_per_op = 10, .base_ns = 10e3},
                                        .insert = {.ns_per_op = 10, .base_ns = 20e3},
                                        .idle_watts = 20,
                                        .busy_watts = 100},
                                       {.core_hz = 5e8,
                                        .search = {.ns_per_op = 20, .base_ns = 20e3},
                                        .insert = {.ns_per_op = 20, .base_ns = 40e3},
                                        .idle_watts = 10,
                                        .busy_watts = 40}}},
                    .nic = {.ports = 1,
                            .queues = 64,
                            .rss_entries = 128,
                            .bytes_per_s = 1e12,
                            .mtu_bytes = 160,
                            .ring_frames = 4096,
                            .idle_watts = 2,
                            .busy_watts = 6},
                    .pcie = {.h2d_bytes_per_s = 1e11, .d2h_bytes_per_s = 1e11}},
        .scenario =
            {
                .node = {.sockets = 1, .rest_watts = 40},
                .cluster = {.nodes = 1},
                .workload = {.keys = 100000,
                             .key_bytes = 8,
                             .value_bytes = 8,
                             .get_frac = 0.95,
                             .set_frac = 0.05,
                             .preload_frac = 1,
                             .connections = 65536,
                             .arrival = KVC_ARRIVAL_POISSON,
                             .rate_mops = 5,
                             .fill = KVC_FILL_AT_ONCE},
                .run = {.warmup_ns = 2e6, .duration_ns = 20e6, .seed = 1, .replicas = 1},
                .power = {.period_ns = 2e6,
                          .settle_ns = 2e6,
                          .change_frac = 0.05,
                          .mu = 0.1,
                          .cpu_step_hz = 100e6},
            },
    };
}

static struct kvc_result *simulate(struct setup *setup)
{
    setup->scenario.options = &setup->options;
    kvc_test_connect(&setup->scenario.node, &setup->devices);
    kvc_test_resolve(&setup->scenario, &setup->config);
    return kvc_test_simulate(&setup->scenario, NULL);
}

static const struct kvc_device_result *device_of(const struct kvc_result *result, const char *kind)
{
    for (uint32_t i = 0; i < result->device_count; i++) {
        if (strcmp(result->device[i].device, kind) == 0) {
            return &result->device[i];
        }
    }
    cr_assert_fail("no %s", kind);
    return NULL;
}

Test(power, energies_add_up)
{
    struct setup setup = small();
    struct kvc_result *result = simulate(&setup);
    double joules = 0;
    for (uint32_t i = 0; i < result->device_count; i++) {
        double part = result->device[i].joules;
        joules += isnan(part) ? 0 : part;
    }
    cr_expect_float_eq(result->joules, joules, 1e-9);
    cr_expect_float_eq(result->watts_mean, joules / result->simulated_s, 1e-6);
    const struct kvc_device_result *gpu = device_of(result, "gpu"), *dram = device_of(result, "dram");
    cr_expect_float_eq(gpu->watts_mean, 20 + 80 * gpu->utilization_frac, 0.01);
    cr_expect_float_eq(dram->watts_mean, 3 + 6 * dram->utilization_frac, 0.01);
    cr_expect_float_eq(device_of(result, "rest")->watts_mean, 40, 1e-6);
    cr_expect_float_eq(device_of(result, "cpu")->watts_mean, 50, 1e-6, "all threads poll");
    free(result);
}

Test(power, threads_that_sleep_save_what_they_do_not_use)
{
    struct setup setup = small();
    struct kvc_result *fixed = simulate(&setup);
    setup.scenario.power.policy = KVC_POWER_RACE_TO_IDLE;
    struct kvc_result *race = simulate(&setup);
    const struct kvc_device_result *cpu = device_of(race, "cpu");
    cr_expect_float_eq(race->throughput_mops, fixed->throughput_mops, 1e-3 * fixed->throughput_mops);
    cr_expect_lt(race->watts_mean, fixed->watts_mean);
    /* 10 W idle and at most 10 W more for the first busy core, or for each of four. */
    cr_expect_geq(cpu->watts_mean, 10 + 40 * cpu->utilization_frac - 0.01);
    cr_expect_leq(cpu->watts_mean, 10 + 40 * cpu->utilization_frac + 10);
    free(fixed);
    free(race);
}

Test(power, a_serving_gpu_draws_its_busy_watts)
{
    struct setup setup = small();
    setup.options.gpu_power = KVC_MEGAKV_GPU_POWER_SERVING;
    struct kvc_result *result = simulate(&setup);
    cr_expect_float_eq(device_of(result, "gpu")->watts_mean, 100, 1e-6);
    free(result);
}

/* 5 Mops are served at both clocks, so the manager that measures the served rate takes the slower one. */
Test(power, the_manager_slows_the_gpu_and_serves_as_much)
{
    struct setup setup = small();
    struct kvc_result *fixed = simulate(&setup);
    setup.scenario.power.policy = KVC_POWER_MANAGER;
    setup.scenario.power.throughput = KVC_POWER_SERVED;
    setup.scenario.power.change_frac = 0.5; /* Few requests in a period. */
    struct kvc_result *managed = simulate(&setup);
    cr_expect_eq(kvc_test_metric(managed, "gpu_core_last_mhz"), 500);
    cr_expect_eq(kvc_test_metric(managed, "cpu_clock_last_ghz"), 2);
    cr_expect_eq(kvc_test_metric(managed, "clock_changes"), 1);
    cr_expect_float_eq(managed->throughput_mops, fixed->throughput_mops, 0.02 * fixed->throughput_mops);
    cr_expect_lt(device_of(managed, "gpu")->watts_mean, device_of(fixed, "gpu")->watts_mean);
    cr_expect_gt(kvc_histogram_mean_ns(&managed->latency), kvc_histogram_mean_ns(&fixed->latency),
                 "slower launches");
    free(fixed);
    free(managed);
}

Test(power, a_managed_run_is_reproducible)
{
    struct setup setup = small();
    setup.scenario.power.policy = KVC_POWER_MANAGER;
    struct kvc_result *first = simulate(&setup), *second = simulate(&setup);
    kvc_test_forget_wall(first);
    kvc_test_forget_wall(second);
    cr_expect_gt(first->look_count, 5);
    cr_expect_eq(first->look_count, second->look_count);
    cr_expect_eq(memcmp(first->look, second->look, first->look_count * sizeof(*first->look)), 0);
    cr_expect_eq(first->completed, second->completed);
    cr_expect_eq(first->joules, second->joules);
    free(first);
    free(second);
}

/* ---- manager test ---- */

static const struct kvc_megakv_load load = {0.95, 2};

/* The five pairs of Table 2. */
static const struct kvc_gpu card = {
    .clock_count = 5,
    .clocks = {{.core_hz = 875e6, .search = {5.9, 22.1e3}, .insert = {6.2, 144.5e3}},
               {.core_hz = 810e6, .search = {6.4, 18.0e3}, .insert = {6.9, 147.5e3}},
               {.core_hz = 745e6, .search = {6.9, 23.2e3}, .insert = {7.6, 152.3e3}},
               {.core_hz = 666e6, .search = {7.8, 25.3e3}, .insert = {9.2, 154.0e3}},
               {.core_hz = 324e6, .search = {15.0, 176.9e3}, .insert = {36.0, 282.5e3}}}};
enum { CPU_STATES = 15, AT_666 = 3, AT_324 = 4 };

static const struct kvc_power_policy power = {.policy = KVC_POWER_MANAGER,
                                              .period_ns = 10e9,
                                              .settle_ns = 1e9,
                                              .change_frac = 0.05,
                                              .mu = 0.1,
                                              .cpu_step_hz = 100e6};

/* A socket and its manager. */
struct socket {
    struct kvc_megakv_config config;
    struct kvc_megakv_costs costs;
    struct kvc_platform_host cpu;
    struct kvc_megakv_manager manager;
    struct kvc_power_policy power;
    uint32_t cpu_pstate, gpu_pstate;
    double next_ns;
};

static void open_socket(struct socket *socket, double cycle_us)
{
    *socket = (struct socket){.config = {.gpu = &card, .cycle_ns = cycle_us * 1e3}, .power = power};
    socket->costs.config = &socket->config;
    socket->cpu.pstates = CPU_STATES; /* 2.6 to 1.2 GHz. */
    for (uint32_t i = 0; i < CPU_STATES; i++) {
        socket->cpu.pstate[i].clock_hz = 2.6e9 - i * 100e6;
    }
}

/* Lets the manager look at a socket whose CPU could serve `mops` at its highest clock. */
static void look(struct socket *socket, double mops)
{
    double speed = socket->cpu.pstate[socket->cpu_pstate].clock_hz / 2.6e9;
    const struct kvc_power_view view = {.served_mops = 1,
                                        .capacity_mops = mops * speed,
                                        .cpu = &socket->cpu,
                                        .cpu_pstate = socket->cpu_pstate,
                                        .gpu_pstate = socket->gpu_pstate};
    struct kvc_power_choice choice = {socket->cpu_pstate, socket->gpu_pstate};
    socket->next_ns =
        kvc_megakv_manage(&socket->manager, &socket->power, &socket->costs, &load, &view, &choice);
    socket->cpu_pstate = choice.cpu_pstate;
    socket->gpu_pstate = choice.gpu_pstate;
}

Test(manager, slows_the_cpu_by_equation_3)
{
    cr_expect(kvc_megakv_cpu_leads(111, 100, 0.1));
    cr_expect_not(kvc_megakv_cpu_leads(109, 100, 0.1));
    cr_expect_not(kvc_megakv_cpu_leads(90, 100, 0.1));
}

Test(manager, chooses_the_slowest_pair_that_is_above_the_cpu)
{
    const double gpu_mops[] = {69.4, 66.4, 54.7, 45.8, 0};
    cr_expect_eq(kvc_megakv_slowest_pair(gpu_mops, 5, 60), 1);
    cr_expect_eq(kvc_megakv_slowest_pair(gpu_mops, 5, 30), 3);
    cr_expect_eq(kvc_megakv_slowest_pair(gpu_mops, 5, 54.7), 1, "T > T_C, not T >= T_C");
    cr_expect_eq(kvc_megakv_slowest_pair(gpu_mops, 5, 80), 0);
}

/* Sec. 8.8.1 says that the GPU serves 22 Mops at 324 MHz, which eq. (4) allows at a cycle of 492 us only.
 * With this cycle, 666 MHz follow for the CPU with data sets a to c, and 324 MHz with data set d. */
Test(manager, finds_the_published_pairs_at_the_cycle_of_the_published_speed)
{
    const struct kvc_megakv_fit at_324 = {15.0, 176.9e3, 36.0, 282.5e3};
    cr_expect_float_eq(kvc_megakv_speed_max(&at_324, &load, 491.8e3) * 1e3, 22, 0.01);
    const struct {
        double cpu_mops;
        uint32_t pair;
    } sets[] = {{70, AT_666}, {29.3, AT_666}, {16.2, AT_324}};
    for (int i = 0; i < 3; i++) {
        struct socket socket;
        open_socket(&socket, 491.8);
        look(&socket, sets[i].cpu_mops);
        cr_expect_eq(socket.gpu_pstate, sets[i].pair, "%g Mops: pair %u", sets[i].cpu_mops,
                     socket.gpu_pstate);
        cr_expect_eq(socket.cpu_pstate, 0);
        cr_expect_eq(socket.next_ns, 10e9);
    }
}

/* At 160 us, no clock serves the rate that the paper states: 666 MHz give 45.8 Mops of the 70 that a CPU
 * could. */
Test(manager, keeps_the_highest_pair_when_no_other_is_fast_enough)
{
    struct socket socket;
    open_socket(&socket, 160);
    look(&socket, 69);
    cr_expect_eq(socket.gpu_pstate, 0);
    cr_expect_eq(socket.cpu_pstate, 0);
}

Test(manager, slows_the_cpu_step_by_step_to_the_gpu)
{
    struct socket socket;
    open_socket(&socket, 120); /* The GPU serves 36.1 Mops. */
    for (uint32_t step = 1; step <= 11; step++) {
        look(&socket, 70);
        cr_expect_eq(socket.cpu_pstate, step);
        cr_expect_eq(socket.next_ns, 1e9, "it measures after every step");
    }
    look(&socket, 70); /* 70 * 1.5 / 2.6 = 40.4 leads by more than a tenth; 1.4 GHz and 37.7 do not. */
    cr_expect_eq(socket.cpu_pstate, 12);
    look(&socket, 70);
    cr_expect_eq(socket.cpu_pstate, 12);
    cr_expect_eq(socket.gpu_pstate, 0, "only the faster of the two is slowed");
    cr_expect_eq(socket.next_ns, 10e9);
}

Test(manager, stops_at_the_lowest_clock)
{
    struct socket socket;
    open_socket(&socket, 100); /* The GPU serves 9.6 Mops. */
    for (int i = 0; i < 20; i++) {
        look(&socket, 70);
    }
    cr_expect_eq(socket.cpu_pstate, CPU_STATES - 1);
    cr_expect_eq(socket.manager.state, KVC_MEGAKV_TUNED);
}

Test(manager, tunes_again_from_the_highest_clocks_after_a_change)
{
    struct socket socket;
    open_socket(&socket, 491.8);
    look(&socket, 16.2);
    look(&socket, 16.9); /* 4.3 % */
    cr_expect_eq(socket.gpu_pstate, AT_324);
    look(&socket, 17.1); /* 5.6 % */
    cr_expect_eq(socket.gpu_pstate, 0);
    cr_expect_eq(socket.next_ns, 1e9);
    look(&socket, 29.3);
    cr_expect_eq(socket.gpu_pstate, AT_666);
    cr_expect_eq(socket.manager.tunings, 2);
}

Test(manager, leaves_an_idle_store_alone)
{
    struct socket socket;
    open_socket(&socket, 491.8);
    look(&socket, 16.2);
    look(&socket, NAN);
    cr_expect_eq(socket.gpu_pstate, AT_324);
    cr_expect_eq(socket.manager.tunings, 1);
}

Test(manager, may_follow_what_is_served)
{
    struct socket socket;
    open_socket(&socket, 491.8);
    socket.power.throughput = KVC_POWER_SERVED; /* 1 Mops of a CPU that could serve 70. */
    look(&socket, 70);
    cr_expect_eq(socket.gpu_pstate, AT_324);
}

Test(manager, begins_at_the_highest_clocks)
{
    struct socket socket;
    open_socket(&socket, 491.8);
    socket.cpu_pstate = 5;
    socket.gpu_pstate = AT_324;
    look(&socket, 29.3);
    cr_expect_eq(socket.cpu_pstate, 0);
    cr_expect_eq(socket.gpu_pstate, 0);
    look(&socket, 29.3);
    cr_expect_eq(socket.gpu_pstate, AT_666);
}
