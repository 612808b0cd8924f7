/** @file
 * Applies a power policy to a running store and records its choices.
 *
 * Every unit of the store has an actor, which begins with the measured time. It sleeps, reads the unit's
 * counters, asks the policy and sets the performance states of the unit's hosts, until the run ends. A policy
 * decides only from its observations, so results do not depend on the machine that simulates. Not modelled:
 * the time and energy that a change of clocks takes. */
#ifndef KVC_SIM_RUN_POLICY_H
#define KVC_SIM_RUN_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/metrics/histogram.h"
#include "sim/metrics/result.h"
#include "sim/metrics/timeline.h"
#include "sim/power_policy.h"

enum {
    KVC_POLICY_THREADS = 3, /**< Most kinds of CPU work of a unit. */
    KVC_POLICY_NONE = -1,   /**< Number of the GPU of a unit that has none. */
};

/** Counters of a unit since the run began. */
struct kvc_policy_counters {
    double offered;                         /**< Requests that reached the unit. */
    double served;                          /**< Requests that it answered. */
    double busy_ns[KVC_POLICY_THREADS];     /**< By kind of CPU work: time in which it was busy [ns]. */
    double possible_ns[KVC_POLICY_THREADS]; /**< Time in which it could have been busy [ns]; 0: there is no
                                               such kind. */
};

/** A unit of the store. */
struct kvc_policy_unit {
    char name[KVC_PLATFORM_NAME_MAX]; /**< "node0.socket1". */
    int32_t cpu;                      /**< Number of its CPU's host. */
    int32_t gpu;                      /**< Number of its GPU's host, or KVC_POLICY_NONE. */
    uint32_t timeline_row; /**< Row of the timeline that shows its clocks; the process is the unit. */
};

/** Functions of the store for its policy. */
struct kvc_policy_store {
    /** Reads the counters of a unit. */
    void (*count)(void *data, uint32_t unit, struct kvc_policy_counters *counters);
    /** KVC_POWER_MANAGER: chooses states, and the time until the next look [ns]. NULL: the store has none. */
    void (*manage)(void *data, uint32_t unit, const struct kvc_power_view *view,
                   struct kvc_power_choice *choice, double *next_ns);
    void *data; /**< Handed to both functions. */
};

struct kvc_policy_state;

/** A policy at work. A zeroed struct has nothing to do and can be closed. */
struct kvc_policy {
    const struct kvc_power_policy *power; /**< Policy of the scenario. */
    const struct kvc_platform *platform;  /**< The machine whose states it sets. */
    struct kvc_timeline *timeline;        /**< May be NULL. */
    struct kvc_policy_store store;        /**< Functions of the store. */
    uint32_t units;                       /**< Number of units; 0: the policy does not look. */
    struct kvc_policy_state *unit;        /**< The units. */
    double from_ns;                       /**< Start of the measured time [ns]. */
    bool started;                         /**< Whether the actors exist. */
    struct kvc_diag diag;                 /**< The error of the policy; status KVC_OK: none. */
    uint32_t looks;                       /**< Used entries of `look`. */
    uint32_t looks_lost;                  /**< Looks that found no room in it. */
    struct kvc_look *look;                /**< Observations and choices. */
};

/** Prepares a policy for the units of a store. It does nothing unless kvc_power_policy_looks(). Everything
 * that it is given must outlive it. If memory is short, the program ends (kvc_out_of_memory). */
void kvc_policy_open(struct kvc_policy *policy, const struct kvc_power_policy *power,
                     const struct kvc_platform *platform, struct kvc_timeline *timeline,
                     const struct kvc_policy_unit *units, uint32_t count,
                     const struct kvc_policy_store *store);

/** Frees the contents of a policy, not the struct. */
void kvc_policy_close(struct kvc_policy *policy);

/** Starts the actors, once the start of the measured time is known. Later calls do nothing. */
void kvc_policy_start(struct kvc_policy *policy, double from_ns);

/** Notes the latencies done_ns[i] - sent_ns[i] of requests that a unit has answered. */
void kvc_policy_latencies(struct kvc_policy *policy, uint32_t unit, const double *sent_ns,
                          const double *done_ns, uint32_t count);

/** Returns the error that ended the run, KVC_OK if there was none. */
enum kvc_status kvc_policy_error(const struct kvc_policy *policy, struct kvc_diag *diag);

/** Adds the looks and the mean and last clocks of the units to a result, after the run. The measured time
 * ended at until_ns. */
void kvc_policy_report(const struct kvc_policy *policy, double until_ns, struct kvc_result *result);

#endif
