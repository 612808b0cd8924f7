/** @file
 * Loads that alternate: phases that follow each other and begin anew after the last one.
 *
 * Every phase has a length, a mix of operations, sizes and a popularity of its own, and an equal part of the
 * keys: phase i of n has the keys from i/n to (i + 1)/n of all, so that the store holds items of all phases.
 * Time counts from the start of the run, warm-up included.
 *
 * A phase counts its own time, in which the other phases do not happen. An open load has the same rate in all
 * phases. */
#ifndef KVC_SIM_WORKLOAD_PHASES_H
#define KVC_SIM_WORKLOAD_PHASES_H

#include <stdint.h>

#include "sim/workload/workload.h"

/** Returns the time after which the phases begin anew [ns]; 0: there are none. */
double kvc_phases_cycle_ns(const struct kvc_workload *workload);

/** Returns the number of the phase at a time; 0 without phases. */
uint32_t kvc_phases_at(const struct kvc_workload *workload, double time_ns);

/** Returns when the phase of a time has begun [ns]; 0 without phases. */
double kvc_phases_begin_ns(const struct kvc_workload *workload, double time_ns);

/** Returns how long a phase has lasted by a time, in all cycles together [ns]. */
double kvc_phases_own_ns(const struct kvc_workload *workload, uint32_t phase, double time_ns);

/** Returns the time at which a phase has lasted for own_ns, the inverse of kvc_phases_own_ns() [ns]. */
double kvc_phases_time_ns(const struct kvc_workload *workload, uint32_t phase, double own_ns);

/** Returns the first key of a phase; for the phase after the last one, the number of all keys. */
uint64_t kvc_phases_first_key(const struct kvc_workload *workload, uint32_t phase);

/** Returns a workload without phases that is like one of them, with its part of the keys; without phases, the
 * workload itself. */
struct kvc_workload kvc_phases_workload(const struct kvc_workload *workload, uint32_t phase);

/** Windows of the shortest phase: 0.3 of 3 ms in DIDO's figure 20 (dido.dyn.profile). */
enum { KVC_PHASES_WINDOWS = 10 };

/** Returns the length of windows that show each phase of a load [ns]; infinity: it has none. */
double kvc_phases_window_ns(const struct kvc_workload *workload);

/** Returns a workload whose mix of operations is the mean of all phases over time; without phases, the
 * workload itself. */
struct kvc_workload kvc_phases_mean(const struct kvc_workload *workload);

/** Returns the number of phases, 1 if the load does not alternate. */
uint32_t kvc_phases_count(const struct kvc_workload *workload);

#endif
