/* The memory of a process that simulates before it has simulated anything: the program with its libraries,
 * and SimGrid with the platform. No formula gives it, so it is measured: a child opens the engine, and ends.
 */
#ifndef KVC_SCENARIOS_RUN_MEMORY_BASE_H
#define KVC_SCENARIOS_RUN_MEMORY_BASE_H

#include "sim/scenario.h"

/* Returns the memory of such a process [bytes]. Measures it once, on the platform of the first scenario it is
 * asked about; processes forked later inherit the answer. If that fails, the program ends (kvc_give_up). */
double kvc_memory_base_bytes(const struct kvc_scenario *scenario);

/* Makes the memory of this process follow from its allocations: from 128 KiB on, each is a mapping of its
 * own, of which only pages that are touched count, and which goes back when it is freed. Without this, the C
 * library moves its limit up to 32 MiB, and clears parts of reserved arrays that nobody uses. */
void kvc_memory_begin(void);

/* Returns the most memory that this process has taken so far [bytes]. */
double kvc_memory_taken_bytes(void);

#endif
