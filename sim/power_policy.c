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
        "who chooses the clocks while the store runs; fixed: nobody, and threads poll; race_to_idle: "
        "nobody, and threads sleep when they have nothing to do; manager: the store's own energy manager; "
        "or a Lua function of what was observed, which returns { cpu = CLOCK, gpu = CLOCK }"),
    KVC_REAL_ROW(kvc_power_policy, "period", period_ns, KVC_UNIT_NS, 1e3, 1e13, "10s",
                 "time between two looks at the store, in simulated time; a longer one averages over more "
                 "requests and follows the load later"),
    KVC_REAL_ROW(
        kvc_power_policy, "settle", settle_ns, KVC_UNIT_NS, 1e3, 1e13, "1s",
        "manager: the same after a step, while it tries clocks; a longer one measures more precisely and "
        "needs longer to find clocks"),
    KVC_REAL_ROW(
        kvc_power_policy, "change", change_frac, KVC_UNIT_NONE, 0.001, 10, "0.05",
        "manager: change of the CPU's throughput that lets it begin again at the highest clocks; a larger "
        "one leaves clocks alone for longer"),
    KVC_REAL_ROW(kvc_power_policy, "mu", mu, KVC_UNIT_NONE, 0, 10, "0.1",
                 "manager: the CPU is slowed while it leads the GPU by more than this share of the GPU's "
                 "throughput; a larger one keeps it faster"),
    KVC_REAL_ROW(
        kvc_power_policy, "cpu_step", cpu_step_hz, KVC_UNIT_HZ, 1e6, 1e10, "100MHz",
        "manager: how much slower the CPU gets at once; a larger step finds its clock sooner and less "
        "precisely"),
    KVC_CHOICE_ROW(
        kvc_power_policy, "throughput", throughput, throughputs, "capacity",
        "manager: what counts as throughput of the CPU; capacity: what it could serve, by the time in "
        "which it was busy; served: what it did serve, so that clocks follow the load"),
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
