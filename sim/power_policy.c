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
    {.name = "policy",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_power_policy, policy),
     .by_default = "fixed",
     .choices = policies,
     .help =
         "who chooses the clocks while the store runs; fixed: nobody, and threads poll; race_to_idle: "
         "nobody, and threads sleep when they have nothing to do; manager: the store's own energy manager; "
         "or a Lua function of what was observed, which returns { cpu = CLOCK, gpu = CLOCK }"},
    {.name = "period",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_power_policy, period_ns),
     .unit = KVC_UNIT_NS,
     .min = 1e3,
     .max = 1e13,
     .by_default = "10s",
     .help = "time between two looks at the store, in simulated time; a longer one averages over more "
             "requests and follows the load later"},
    {.name = "settle",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_power_policy, settle_ns),
     .unit = KVC_UNIT_NS,
     .min = 1e3,
     .max = 1e13,
     .by_default = "1s",
     .help =
         "manager: the same after a step, while it tries clocks; a longer one measures more precisely and "
         "needs longer to find clocks"},
    {.name = "change",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_power_policy, change_frac),
     .min = 0.001,
     .max = 10,
     .by_default = "0.05",
     .help =
         "manager: change of the CPU's throughput that lets it begin again at the highest clocks; a larger "
         "one leaves clocks alone for longer"},
    {.name = "mu",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_power_policy, mu),
     .min = 0,
     .max = 10,
     .by_default = "0.1",
     .help = "manager: the CPU is slowed while it leads the GPU by more than this share of the GPU's "
             "throughput; a larger one keeps it faster"},
    {.name = "cpu_step",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_power_policy, cpu_step_hz),
     .unit = KVC_UNIT_HZ,
     .min = 1e6,
     .max = 1e10,
     .by_default = "100MHz",
     .help = "manager: how much slower the CPU gets at once; a larger step finds its clock sooner and less "
             "precisely"},
    {.name = "throughput",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_power_policy, throughput),
     .by_default = "capacity",
     .choices = throughputs,
     .help = "manager: what counts as throughput of the CPU; capacity: what it could serve, by the time in "
             "which it was busy; served: what it did serve, so that clocks follow the load"},
};

const struct kvc_option_table kvc_power_policy_option_table = {.name = "power",
                                                               .rows = rows,
                                                               .count = sizeof(rows) / sizeof(*rows),
                                                               .size = sizeof(struct kvc_power_policy)};

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
