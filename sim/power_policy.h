/** @file
 * The power policy of a scenario, which chooses the clocks of a running store.
 *
 * A policy looks at each unit of the store from time to time. A unit is a CPU and, if the store has one, its
 * GPU, which serve one part of the keys. At each look the policy sees the unit's work since the previous one,
 * and chooses performance states for the time until the next one (sim/run/policy.h). */
#ifndef KVC_SIM_POWER_POLICY_H
#define KVC_SIM_POWER_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/base/text/option.h"
#include "sim/platform.h"

/** The chooser of the clocks. */
enum kvc_power_policy_kind {
    KVC_POWER_FIXED,        /**< Nobody: clocks stay as the scenario states them, and threads poll. */
    KVC_POWER_RACE_TO_IDLE, /**< Nobody; threads sleep when they have nothing to do. */
    KVC_POWER_MANAGER,      /**< The store's own energy manager. */
    KVC_POWER_FUNCTION,     /**< A function of the scenario. */
};

/** A manager's measure of the CPU's throughput. */
enum kvc_power_throughput {
    KVC_POWER_CAPACITY, /**< Rate that the CPU could serve: requests over its busy time. */
    KVC_POWER_SERVED,   /**< Rate that the CPU did serve: requests over time. */
};

/** Observations of a unit by a policy, since the previous look, and the clocks during this time. Rates are
 * NaN if there was nothing to measure. */
struct kvc_power_view {
    const char *name;       /**< Name of the unit: "node0.socket1". */
    double at_s;            /**< Time since the start of the measured time [s]. */
    double span_s;          /**< Time since the previous look [s]. */
    double offered_mops;    /**< Requests that reached the unit [million/s]. */
    double served_mops;     /**< Requests that it answered [million/s]. */
    double capacity_mops;   /**< Requests that its CPU could have answered: those that it did over the
                                 share of the time in which the busiest kind of thread was busy. */
    double cpu_busy_frac;   /**< Share of the time in which the busiest kind of thread was busy, 0 to 1. */
    double gpu_busy_frac;   /**< Share of the time in which the GPU worked; NaN: there is none. */
    double latency_mean_us; /**< Mean latency of the requests answered [us]. */
    double latency_p99_us;  /**< 99th percentile of their latency [us]. */
    double watts;           /**< Mean power of CPU and GPU [W]; NaN: unknown. */
    const struct kvc_platform_host *cpu; /**< The CPU, with its performance states. */
    const struct kvc_platform_host *gpu; /**< The GPU, with its performance states; NULL: there is none. */
    uint32_t cpu_pstate;                 /**< The CPU's current state. */
    uint32_t gpu_pstate;                 /**< The GPU's current state. */
};

/** Choice of a policy. It is initialised with the current states. */
struct kvc_power_choice {
    uint32_t cpu_pstate; /**< State of the CPU. */
    uint32_t gpu_pstate; /**< State of the GPU. */
};

/** A policy that the scenario brings along. */
struct kvc_power_function {
    /** Chooses the states for the next period. An error ends the run. */
    enum kvc_status (*choose)(void *data, const struct kvc_power_view *view, struct kvc_power_choice *choice,
                              struct kvc_diag *diag);
    void *data; /**< Handed to choose(); lives as long as the loaded scenario. */
};

/** The power policy. All zero is KVC_POWER_FIXED. */
struct kvc_power_policy {
    int policy;         /**< enum kvc_power_policy_kind. */
    int throughput;     /**< enum kvc_power_throughput. */
    double period_ns;   /**< Time between two looks [ns]. */
    double settle_ns;   /**< Time between two looks while the manager tries clocks [ns]. */
    double change_frac; /**< Change of the CPU's throughput that lets the manager tune again. */
    double mu; /**< Lead of the CPU over the GPU that the manager tolerates, over the GPU's throughput. */
    double cpu_step_hz;                 /**< Step by which the manager slows the CPU [Hz]. */
    struct kvc_power_function function; /**< KVC_POWER_FUNCTION. */
};

/** The options of struct kvc_power_policy. A scenario may give a Lua function as its policy. */
extern const struct kvc_option_table kvc_power_policy_option_table;

/** Returns whether the policy looks at the store while it runs. */
static inline bool kvc_power_policy_looks(const struct kvc_power_policy *power)
{
    return power->policy == KVC_POWER_MANAGER || power->policy == KVC_POWER_FUNCTION;
}

/** Checks what the ranges of single options cannot express. Messages begin with the option's path. */
enum kvc_status kvc_power_policy_check(const struct kvc_power_policy *power, double duration_ns,
                                       struct kvc_diag *diag);

#endif
