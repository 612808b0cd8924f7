/* What the load writes to flash, and how long the chips last.
 *
 * The log never copies live data, so what it programs are the records of SETs and of pairs that DRAM evicts,
 * with their headers and the ends of pages that stay empty; pairs that are replaced in DRAM are never
 * written. Its rows are erased in turn: in the long run, each block is erased once for as many programs as it
 * has pages. A log that is smaller than the card wears only its own blocks. Not modelled: chips that last
 * longer or shorter than others, and blocks that are bad. */
#ifndef KVC_MODELS_BLUECACHE_WEAR_H
#define KVC_MODELS_BLUECACHE_WEAR_H

#include "sim/metrics/result.h"
#include "sim/scenario.h"

/* What all stores wrote in some time. */
struct kvc_bluecache_writes {
    double set_bytes; /* Keys and values of SETs. */
    double pages;     /* Pages that were programmed for the log. */
    double time_ns;
};

/* Adds write_amplification_ratio, the bytes of the pages over those of the SETs; erases_per_block_per_day;
 * and rated_life_years, if the card states its endurance. */
void kvc_bluecache_add_wear(const struct kvc_scenario *scenario, const struct kvc_bluecache_writes *writes,
                            struct kvc_result *result);

#endif
