/* The memory of a process that simulates before it has simulated anything: the program with its libraries,
 * and SimGrid with the platform. No formula gives it, so it is measured: a child opens the engine, and ends.
 */
#ifndef KVC_SCENARIOS_RUN_LIMITS_H
#define KVC_SCENARIOS_RUN_LIMITS_H

#include <stdint.h>

#include "scenarios/load/load.h"
#include "sim/base/diag.h"
#include "sim/scenario.h"

/* Makes the memory of this process follow from its allocations: from 128 KiB on, each is a mapping of its
 * own, of which only pages that are touched count, and which goes back when it is freed. Without this, the C
 * library moves its limit up to 32 MiB, and clears parts of reserved arrays that nobody uses. */
void kvc_memory_begin(void);

/* Returns the most memory that this process has taken so far [bytes]. */
double kvc_memory_taken_bytes(void);

/* The memory plan of a run: how many replicas fit into the memory of this machine at the same time. */

/* Returns the memory that a process can allocate without swapping: MemAvailable in /proc/meminfo or what the
 * control group leaves, whichever is less. 0 when unknown. */
double kvc_memory_available_bytes(void);

/* Returns the memory of each process that simulates the scenario [bytes]. */
double kvc_memory_needed_bytes(const struct kvc_scenario *scenario);

/* Plans how many of `replicas` replicas run at the same time, each with a store of its own of `needed` bytes,
 * in `available` bytes; if `available` is 0, which means unknown, everything fits. If `jobs` is 0, as many
 * run as fit, but at most one per processor. If the given number of jobs does not fit, the error names one
 * that does; if not even one fits, the error says so. */
enum kvc_status kvc_memory_plan(double needed, double available, uint32_t replicas, uint32_t jobs,
                                uint32_t processors, uint32_t *planned, struct kvc_diag *diag);

/* The time plan of a run: whether it would need more than a day of wall-clock time.
 *
 * Two estimates refuse it. Before the start, no processor simulates more than 10^8 requests per second,
 * whatever the store: each is drawn, hashed and looked up, which takes an access to memory or more. After two
 * seconds, the run's own speed tells how long the rest will take (sim/run/monitor.h). */

/* Returns the wall-clock time that a run may need [s]: a day, unless it has been set. Processes forked later
 * inherit it. */
double kvc_time_limit_s(void);

/* Sets it; +infinity: there is none. */
void kvc_time_limit_set(double limit_s);

/* Returns the least wall-clock time of one replica [s]. */
double kvc_time_least_s(const struct kvc_scenario *scenario);

/* Returns KVC_ERR_SCENARIO, with the place of run.duration or run.warmup, if `least_s` exceeds the limit.
 * `what` needs it: "the run". */
enum kvc_status kvc_time_plan(const struct kvc_scenario *scenario, double least_s, const char *what,
                              struct kvc_diag *diag);

/* A run that refuses its duration or warm-up names the option, but does not know where it was written. Adds
 * that place, unless the failure has one or is another, and returns `status`. `diag` may be NULL. */
enum kvc_status kvc_time_name_place(const struct kvc_scenario *scenario, enum kvc_status status,
                                    struct kvc_diag *diag);

/* Says which option causes most of the memory that a scenario needs, where it was written, and how large it
 * may be.
 *
 * Each number of the scenario is halved in turn, and the one that saves most is the cause. So no store has to
 * say what its options cost. */

/* Returns KVC_OK if a process that simulates the scenario fits into `available` bytes, or if that is 0, which
 * means unknown. Otherwise fills `diag` with the option, its place, what is needed, what there is and what
 * would fit. `path` and `set` are what the scenario was loaded from. */
enum kvc_status kvc_memory_check(const struct kvc_loaded *loaded, const char *path,
                                 const struct kvc_overrides *set, double available, struct kvc_diag *diag);

#endif
