/* The limits of a run: whether the memory of this machine and a day of wall-clock time suffice.
 *
 * A process that simulates needs memory for its store, for the requests that wait at the end if the load is
 * more than the closed form serves, for the program with its libraries, and for SimGrid with the platform. No
 * formula gives the latter, so a child opens the engine and measures it.
 *
 * If the memory does not suffice, the message names the option that causes most of it, its place, and a value
 * that fits. Each number of the scenario is halved in turn; the one that saves most is the cause. So no store
 * has to state the costs of its options.
 *
 * Two estimates refuse a run that takes too long. Before the start, no processor simulates more than 10^8
 * requests per second, whatever the store: each is drawn, hashed and looked up, which takes an access to
 * memory or more. After two seconds, the run's own speed gives the time of the rest (sim/run/replica.h). */
#ifndef KVC_SCENARIOS_RUN_LIMITS_H
#define KVC_SCENARIOS_RUN_LIMITS_H

#include <stdint.h>

#include "scenarios/load/load.h"
#include "sim/base/diag.h"
#include "sim/scenario.h"

/* Makes the memory of this process follow from its allocations: each from 128 KiB on becomes a mapping of its
 * own, which counts by its touched pages and is returned when it is freed. Without this, the C library moves
 * its limit up to 32 MiB, and clears unused parts of reserved arrays. */
void kvc_memory_begin(void);

/* Returns the most memory that this process has taken so far [bytes]. */
double kvc_memory_taken_bytes(void);

/* Returns the memory that a process can allocate without swapping: MemAvailable in /proc/meminfo or the rest
 * of the control group's limit, whichever is less. 0 when unknown. */
double kvc_memory_available_bytes(void);

/* Returns the memory of each process that simulates the scenario [bytes]. */
double kvc_memory_needed_bytes(const struct kvc_scenario *scenario);

/* Plans how many of `replicas` replicas run at the same time, each with a store of its own of `needed` bytes,
 * in `available` bytes; if `available` is 0, which means unknown, everything fits. If `jobs` is 0, all that
 * fit run, but at most one per processor. If the given number of jobs does not fit, the error names a number
 * that does; if not even one fits, the error says so. */
enum kvc_status kvc_memory_plan(double needed, double available, uint32_t replicas, uint32_t jobs,
                                uint32_t processors, uint32_t *planned, struct kvc_diag *diag);

/* Returns the wall-clock time that a run may need [s]: a day, unless it has been set. Processes forked later
 * inherit it. */
double kvc_time_limit_s(void);

/* Sets that time; +infinity: no limit. */
void kvc_time_limit_set(double limit_s);

/* Returns the least wall-clock time of one replica [s]. */
double kvc_time_least_s(const struct kvc_scenario *scenario);

/* Returns KVC_ERR_SCENARIO, with the place of run.duration or run.warmup, if `least_s` exceeds the limit.
 * `what` needs it: "the run". */
enum kvc_status kvc_time_plan(const struct kvc_scenario *scenario, double least_s, const char *what,
                              struct kvc_diag *diag);

/* Adds the place in the scenario to the failure of a run that refuses its duration or warm-up, unless it has
 * one, and returns `status`. Other failures are not changed. `diag` may be NULL. */
enum kvc_status kvc_time_name_place(const struct kvc_scenario *scenario, enum kvc_status status,
                                    struct kvc_diag *diag);

/* Returns KVC_OK if a process that simulates the scenario fits into `available` bytes, or if that is 0, which
 * means unknown. Otherwise fills `diag` with the option, its place, the memory that is needed and that is
 * available, and a value that fits. The scenario was loaded from `path` with the overrides `set`. */
enum kvc_status kvc_memory_check(const struct kvc_loaded *loaded, const char *path,
                                 const struct kvc_overrides *set, double available, struct kvc_diag *diag);

#endif
