/* A policy at work on a small machine: energies are integrals of powers, whatever the clocks do. */
#include "sim/run/policy.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/engine_fixture.h"

enum { FAST, SLOW };

/* A CPU of two cores that draws 10 W idle and 30 or 50 W busy at its clock of 2 GHz, and 10, 14 or 18 W at 1
 * GHz. One request takes a core a microsecond at 2 GHz. */
struct machine {
    struct kvc_platform *platform;
    struct kvc_policy policy;
    struct kvc_power_policy power;
    uint32_t cpu;
    double served;
    double end_ns;
    double every_ns; /* Time between two requests [ns]; 0: the cores are always busy. */
    int calls;
};

static enum kvc_status alternate(void *data, const struct kvc_power_view *view,
                                 struct kvc_power_choice *choice, struct kvc_diag *diag)
{
    struct machine *machine = data;
    (void)diag;
    machine->calls++;
    choice->cpu_pstate = view->cpu_pstate == FAST ? SLOW : FAST;
    return KVC_OK;
}

static enum kvc_status refuse(void *data, const struct kvc_power_view *view, struct kvc_power_choice *choice,
                              struct kvc_diag *diag)
{
    (void)data;
    (void)choice;
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "no clock for %s", view->name);
}

static void count(void *data, uint32_t unit, struct kvc_policy_counters *counters)
{
    const struct machine *machine = data;
    cr_assert_eq(unit, 0);
    *counters = (struct kvc_policy_counters){
        .offered = machine->served,
        .served = machine->served,
        .busy_ns = {kvc_engine_work_done_ns(machine->cpu)},
        .possible_ns = {kvc_engine_capacity_ns(machine->cpu)},
    };
}

static void serve_main(void *data)
{
    struct machine *machine = data;
    for (double due_ns = 0;; due_ns += machine->every_ns) {
        kvc_engine_sleep_until_ns(due_ns);
        double sent_ns = kvc_engine_now_ns();
        kvc_engine_work(&(struct kvc_draw){machine->cpu, 1000, 1000}, 1);
        double done_ns = kvc_engine_now_ns();
        machine->served++;
        kvc_policy_latencies(&machine->policy, 0, &sent_ns, &done_ns, 1);
    }
}

static void stop_main(void *data)
{
    const struct machine *machine = data;
    kvc_engine_sleep_until_ns(machine->end_ns);
    kvc_engine_stop();
}

static struct machine *open_machine(double period_ns)
{
    struct machine *machine = kvc_array_of(1, sizeof(*machine));
    struct kvc_platform_host cpu = kvc_test_host("node0.cpu", 2, 10, 30, 50);
    machine->platform = kvc_test_platform();
    cpu.pstates = 2;
    cpu.pstate[FAST].clock_hz = 2e9;
    cpu.pstate[SLOW] = (struct kvc_pstate){.speed = 0.5, .watts = {10, 14, 18}, .clock_hz = 1e9};
    machine->cpu = kvc_platform_add_host(machine->platform, 0, &cpu);
    machine->power = (struct kvc_power_policy){
        .policy = KVC_POWER_FUNCTION, .period_ns = period_ns, .function = {alternate, machine}};
    machine->end_ns = 1e6;
    return machine;
}

/* Runs two servers under the policy. */
static void run(struct machine *machine)
{
    const struct kvc_policy_unit unit = {
        .name = "node0", .cpu = (int32_t)machine->cpu, .gpu = KVC_POLICY_NONE};
    const struct kvc_policy_store store = {.count = count, .data = machine};
    kvc_test_open(machine->platform);
    kvc_policy_open(&machine->policy, &machine->power, machine->platform, NULL, &unit, 1, &store);
    kvc_policy_start(&machine->policy, 0);
    kvc_engine_spawn("server", serve_main, machine);
    kvc_engine_spawn("server", serve_main, machine);
    kvc_engine_spawn("stop", stop_main, machine);
    kvc_engine_run();
}

static void close_machine(struct machine *machine)
{
    kvc_policy_close(&machine->policy);
    kvc_platform_free(machine->platform);
    free(machine);
}

static struct kvc_result *report(const struct machine *machine)
{
    struct kvc_result *result = kvc_array_of(1, sizeof(*result));
    kvc_policy_report(&machine->policy, machine->end_ns, result);
    return result;
}

Test(policy, energy_is_the_integral_of_the_power)
{
    struct machine *machine = open_machine(100e3);
    run(machine);
    struct kvc_result *result = report(machine);
    double joules = 0;
    cr_expect_geq(result->look_count, 9);
    for (uint32_t i = 0; i < result->look_count; i++) {
        const struct kvc_look *look = &result->look[i];
        double clock_hz = i % 2 == 0 ? 2e9 : 1e9; /* Until the look. */
        cr_expect_float_eq(look->watts, clock_hz > 1.5e9 ? 50 : 18, 1e-6, "look %u: %g W", i, look->watts);
        cr_expect_eq(look->cpu_hz, clock_hz > 1.5e9 ? 1e9 : 2e9);
        cr_expect(look->changed);
        cr_expect_float_eq(look->cpu_busy_frac, 1, 1e-6);
        cr_expect_float_eq(look->served_mops, clock_hz > 1.5e9 ? 2 : 1, 0.021);
        joules += look->watts * look->span_s;
    }
    double looked_ns = result->look[result->look_count - 1].at_s * 1e9,
           rest_w = result->look_count % 2 ? 18 : 50;
    double all_joules = joules + rest_w * (machine->end_ns - looked_ns) * 1e-9;
    cr_expect_float_eq(kvc_engine_host_joules(machine->cpu), all_joules, 1e-9);
    cr_expect_eq(kvc_metrics_get(&result->model, "clock_changes"), result->look_count);
    double mean_ghz = kvc_metrics_get(&result->model, "cpu_clock_mean_ghz");
    cr_expect_float_eq(mean_ghz, 1.5, 0.06, "%g GHz", mean_ghz);
    free(result);
    close_machine(machine);
}

Test(policy, shows_what_the_cpu_could_serve)
{
    struct machine *machine = open_machine(100e3);
    machine->every_ns = 4e3; /* Two servers, each busy for a quarter of the time at 2 GHz. */
    run(machine);
    struct kvc_result *result = report(machine);
    cr_expect_float_eq(result->look[0].served_mops, 0.5, 0.021);
    cr_expect_float_eq(result->look[0].capacity_mops, 2, 0.05);
    cr_expect_float_eq(result->look[0].latency_p99_us, 1, 0.01);
    cr_expect_float_eq(result->look[1].cpu_busy_frac, 0.5, 0.02);
    cr_expect_float_eq(result->look[1].capacity_mops, 1, 0.05);
    cr_expect_float_eq(result->look[1].latency_p99_us, 2, 0.02);
    free(result);
    close_machine(machine);
}

/* The same requests keep both cores busy for a quarter of the time at 2 GHz and for half of it at 1 GHz. */
Test(policy, racing_to_idle_takes_what_arithmetic_says)
{
    struct machine *machine = open_machine(100e3);
    machine->every_ns = 4e3;
    machine->end_ns = 200e3 + 1;
    run(machine);
    struct kvc_result *result = report(machine);
    /* Both servers work at the same times, so both cores or none are busy. */
    cr_expect_float_eq(result->look[0].watts, 0.75 * 10 + 0.25 * 50, 0.05, "%g W", result->look[0].watts);
    cr_expect_float_eq(result->look[1].watts, 0.5 * 10 + 0.5 * 18, 0.05, "%g W", result->look[1].watts);
    free(result);
    close_machine(machine);
}

Test(policy, an_error_ends_the_run)
{
    struct machine *machine = open_machine(100e3);
    struct kvc_diag diag = {0};
    machine->power.function.choose = refuse;
    run(machine);
    cr_expect_eq(kvc_policy_error(&machine->policy, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message, "no clock for node0");
    cr_expect_float_eq(kvc_engine_now_ns(), 100e3, 1);
    close_machine(machine);
}

Test(policy, fixed_clocks_have_no_looks)
{
    struct machine *machine = open_machine(100e3);
    machine->power.policy = KVC_POWER_FIXED;
    run(machine);
    struct kvc_result *result = report(machine);
    cr_expect_eq(machine->calls, 0);
    cr_expect_eq(result->look_count, 0);
    cr_expect_eq(result->model.count, 0);
    free(result);
    close_machine(machine);
}
