/* Runs a Mega-KV scenario for real on this machine and answers with the result of a run. */
#ifndef KVC_MODELS_MEGAKV_REAL_MEASURE_H
#define KVC_MODELS_MEGAKV_REAL_MEASURE_H

#include "models/model.h"

/* What cannot be measured here, of what can be simulated: several sockets or nodes, a network feed,
 * admission "cycle", sampled stores, loads that are not "saturate", poisson_mops or fixed_mops, more threads
 * than there are cores. */
enum kvc_status kvc_megakv_measure_check(const struct kvc_scenario *scenario, struct kvc_diag *diag);

/* Of the measured time, from which a note says that threads were kept from running for so long. */
extern const double kvc_megakv_measure_stalled_frac;

/* Creates and preloads the store, warms up (run.warmup, or a fifth of the duration but at least 50 ms) and
 * measures for run.duration of wall clock. The index is where system.index_on says. Threads are pinned, as
 * system.threads says, to the first cores. The figures others_frac and stalled_frac tell how busy the machine
 * was with other things. KVC_ERR_SCENARIO: kvc_megakv_measure_check. KVC_ERR_RUNTIME: memory, threads, no GPU
 * or one that fails, or a value that is not its key's. */
enum kvc_status kvc_megakv_measure(const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                                   struct kvc_result *result, struct kvc_diag *diag);

#endif
