/* The memory plan of a run: how many replicas fit into the memory of this machine at the same time. */
#ifndef KVC_SCENARIOS_RUN_MEMORY_PLAN_H
#define KVC_SCENARIOS_RUN_MEMORY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"

/* Returns the memory that a process can allocate without swapping: MemAvailable in /proc/meminfo or what the
 * control group leaves, whichever is less. 0 when unknown. */
double kvc_memory_available_bytes(void);

struct kvc_memory_plan {
    uint32_t jobs; /* Replicas that run at the same time. */
    bool shared;   /* The store is prepared once and forked; otherwise each child prepares its own. */
};

/* Plans `replicas` replicas of a store of `needed` bytes in `available` bytes; if `available` is 0, which
 * means unknown, everything fits.
 *
 * A shared store counts once for the parent and, in the worst case, once for every running child, because a
 * child copies each page that it writes to. A single replica is not shared. Where a shared store does not
 * fit, each child prepares its own. If `jobs` is 0, as many replicas run as fit, but at most one per
 * processor. If the given number of jobs does not fit, the error names one that does. */
enum kvc_status kvc_memory_plan(double needed, double available, uint32_t replicas, uint32_t jobs,
                                uint32_t processors, struct kvc_memory_plan *plan, struct kvc_diag *diag);

#endif
