/* The closed form of BlueCache: the lowest of the rates of its devices, the time of a request that waits
 * nowhere, and what flushes make of both (flushes.h). */
#ifndef KVC_MODELS_BLUECACHE_PREDICT_H
#define KVC_MODELS_BLUECACHE_PREDICT_H

#include "sim/base/diag.h"
#include "sim/metrics/result.h"
#include "sim/scenario.h"

/* What the load writes to flash, and how long the chips last.
 *
 * The log never copies live data, so what it programs are the records of SETs and of pairs that DRAM evicts,
 * with their headers and the ends of pages that stay empty; pairs that are replaced in DRAM are never
 * written. Its rows are erased in turn: in the long run, each block is erased once for as many programs as it
 * has pages. A log that is smaller than the card wears only its own blocks. Not modelled: chips that last
 * longer or shorter than others, and blocks that are bad. */

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

/* Adds the capacity of the flash of all cards for their power, if both are known [GB/W], and the price of
 * flash and, as far as it is known, of the card's DRAM for that capacity [USD/GB]. */
void kvc_bluecache_add_capacity(const struct kvc_scenario *scenario, struct kvc_result *result);

enum kvc_status kvc_bluecache_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                      struct kvc_diag *diag);

#endif
