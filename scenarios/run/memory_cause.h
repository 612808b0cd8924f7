/* Says which option causes most of the memory that a scenario needs, where it was written, and how large it
 * may be.
 *
 * Each number of the scenario is halved in turn, and the one that saves most is the cause. So no store has to
 * say what its options cost. */
#ifndef KVC_SCENARIOS_RUN_MEMORY_CAUSE_H
#define KVC_SCENARIOS_RUN_MEMORY_CAUSE_H

#include "scenarios/load/load.h"
#include "sim/base/diag.h"

/* Returns KVC_OK if a process that simulates the scenario fits into `available` bytes, or if that is 0, which
 * means unknown. Otherwise fills `diag` with the option, its place, what is needed, what there is and what
 * would fit. `path` and `set` are what the scenario was loaded from. */
enum kvc_status kvc_memory_check(const struct kvc_loaded *loaded, const char *path,
                                 const struct kvc_overrides *set, double available, struct kvc_diag *diag);

#endif
