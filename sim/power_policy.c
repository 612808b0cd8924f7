#include "sim/power_policy.h"

#include <stddef.h>

static const char *const policies[] = {
    [KVC_POWER_FIXED] = "fixed",
    [KVC_POWER_RACE_TO_IDLE] = "race_to_idle",
    [KVC_POWER_MANAGER] = "manager",
    [KVC_POWER_FUNCTION] = "function",
    NULL,
};

static const char *const throughputs[] = {
    [KVC_POWER_CAPACITY] = "capacity",
    [KVC_POWER_SERVED] = "served",
    NULL,
};

static const struct kvc_option rows[] = {
    KVC_CHOICE_ROW(
        kvc_power_policy, "policy", policy, policies, "fixed",
        "who chooses the clocks while the store runs; fixed: clocks stay, and threads poll; race_to_idle: "
        "clocks stay, and idle threads sleep; manager: the store's own energy manager; or a Lua function "
        "of the observations that returns { cpu = CLOCK, gpu = CLOCK }"),
    KVC_REAL_ROW(kvc_power_policy, "period", period_ns, KVC_UNIT_NS, 1e3, 1e13, "10s",
                 "simulated time between two observations of the store; a longer time averages over more "
                 "requests and reacts later to the load"),
    KVC_REAL_ROW(kvc_power_policy, "settle", settle_ns, KVC_UNIT_NS, 1e3, 1e13, "1s",
                 "manager: time between a step and the next observation while it tries clocks; a longer time "
                 "measures more precisely and takes longer to find clocks"),
    KVC_REAL_ROW(
        kvc_power_policy, "change", change_frac, KVC_UNIT_NONE, 0.001, 10, "0.05",
        "manager: change of the CPU's throughput that makes it restart from the highest clocks; a larger "
        "one keeps clocks for longer"),
    KVC_REAL_ROW(kvc_power_policy, "mu", mu, KVC_UNIT_NONE, 0, 10, "0.1",
                 "manager: lead of the CPU over the GPU, as a share of the GPU's throughput, above which "
                 "it slows the CPU; a larger one keeps the CPU faster"),
    KVC_REAL_ROW(
        kvc_power_policy, "cpu_step", cpu_step_hz, KVC_UNIT_HZ, 1e6, 1e10, "100MHz",
        "manager: step by which it slows the CPU; a larger step finds the clock sooner and less precisely"),
    KVC_CHOICE_ROW(
        kvc_power_policy, "throughput", throughput, throughputs, "capacity",
        "manager: measure of the CPU's throughput; capacity: the rate that it could serve, computed from "
        "its busy time; served: the rate that it did serve, so that clocks follow the load"),
};

const struct kvc_option_table kvc_power_policy_option_table =
    KVC_OPTION_TABLE(kvc_power_policy, rows, "power");

enum kvc_status kvc_power_policy_check(const struct kvc_power_policy *power, double duration_ns,
                                       struct kvc_diag *diag)
{
    char found[48], limit[48];
    if (!kvc_power_policy_looks(power) || power->period_ns < duration_ns) {
        return KVC_OK;
    }
    kvc_quantity_print(power->period_ns, KVC_UNIT_NS, found, sizeof(found));
    kvc_quantity_print(duration_ns, KVC_UNIT_NS, limit, sizeof(limit));
    return kvc_diag_fail(
        diag, KVC_ERR_SCENARIO,
        "power.period: found %s, allowed: less than run.duration, %s; a scaled day has a scaled "
        "period",
        found, limit);
}
