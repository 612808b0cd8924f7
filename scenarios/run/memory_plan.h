/* Does a run fit into this machine's memory? Asked before anything starts. */
#ifndef KVC_SCENARIOS_RUN_MEMORY_PLAN_H
#define KVC_SCENARIOS_RUN_MEMORY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"

/* What a process can still take without swapping: MemAvailable of /proc/meminfo, or what the control group
 * leaves where that is less. 0 when unknown. */
double kvc_memory_available_bytes(void);

/* How to run so that it fits. */
struct kvc_memory_plan {
    uint32_t jobs;
    bool shared; /* the store is prepared once and forked; else every child prepares its own */
};

/* Plans `replicas` replicas of a store of `needed` bytes in `available` (0: unknown, anything fits).
 *
 * A shared store is paid once, and once more by every running child in the worst case: a child copies each
 * page that it writes to. One replica needs no sharing. Where a shared store does not fit, each child
 * prepares its own. `jobs` 0 takes as many as fit and processors allow; a number that does not fit is an
 * error that names one that does. */
enum kvc_status kvc_memory_plan(double needed, double available, uint32_t replicas, uint32_t jobs,
                                uint32_t processors, struct kvc_memory_plan *plan, struct kvc_diag *diag);

#endif
