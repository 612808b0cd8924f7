/* The memory plan of a run: how many replicas fit into the memory of this machine at the same time. */
#ifndef KVC_SCENARIOS_RUN_MEMORY_PLAN_H
#define KVC_SCENARIOS_RUN_MEMORY_PLAN_H

#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/scenario.h"

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

#endif
