/* Measured costs of Mega-KV with the memory in another state than that of the calibration.
 *
 * Without huge pages, a random line misses the TLB. The walk through the page table is added to the cost of a
 * task for each line at a random place that the task reads, at the memory's measured time for the footprint
 * (kvc_dram_small_page_ns): a core that looks ahead hides the wait for a line behind other lines and
 * instructions, but has few walkers. A search reads one bucket of the index if it finds its key and two if it
 * does not, a sender one place for each small page of an item. Receivers walk through their batches and, with
 * the CLOCK hand, through the slabs in order; there the lines of a page share a walk, which is left out.
 *
 * Beside a co-runner, the same lines take longer, by the memory's measured time for the taken bandwidth
 * (kvc_dram_contention_ns). Not modelled: what lines in order lose. */
#ifndef KVC_MODELS_MEGAKV_MEMORY_STATE_H
#define KVC_MODELS_MEGAKV_MEMORY_STATE_H

#include "models/megakv/cost_profile.h"
#include "sim/scenario.h"

/* Returns the measured costs of a resolved scenario with the memory in the state that its node states. The
 * caller frees them. NULL: it is the state of the calibration. */
struct kvc_megakv_cost_profile *kvc_megakv_costs_in_memory(const struct kvc_scenario *scenario);

#endif
