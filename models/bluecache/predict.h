/* The closed form of BlueCache: the lowest of the rates of its devices, the time of a request that waits
 * nowhere, and the effect of flushes on both. */
#ifndef KVC_MODELS_BLUECACHE_PREDICT_H
#define KVC_MODELS_BLUECACHE_PREDICT_H

#include "sim/base/diag.h"
#include "sim/metrics/result.h"
#include "sim/scenario.h"

/* Writes to flash, and the lifetime of the chips.
 *
 * The log never copies live data. It programs the records of SETs and of pairs that DRAM evicts, with
 * their headers and the unused ends of pages; pairs that are replaced in DRAM are never written. Its rows
 * are erased in turn, so in the long run the log erases a block once for every pages_per_block programs. A
 * log that is smaller than the card wears only its own blocks. Not modelled: chips with different
 * lifetimes, and bad blocks. */

/* The writes of all stores during a time. */
struct kvc_bluecache_writes {
    double set_bytes; /* Keys and values of SETs. */
    double pages;     /* Pages that were programmed for the log. */
    double time_ns;
};

/* Adds write_amplification_ratio, the bytes of the written pages over the bytes of the SETs;
 * erases_per_block_per_day; and rated_life_years, if the card states its endurance. */
void kvc_bluecache_add_wear(const struct kvc_scenario *scenario, const struct kvc_bluecache_writes *writes,
                            struct kvc_result *result);

/* Adds the flash capacity per power of the cards [GB/W] and the price of flash and DRAM per flash capacity
 * [USD/GB], each if the profiles state what it needs. A DRAM without a price counts as free. */
void kvc_bluecache_add_capacity(const struct kvc_scenario *scenario, struct kvc_result *result);

enum kvc_status kvc_bluecache_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                      struct kvc_diag *diag);

#endif
