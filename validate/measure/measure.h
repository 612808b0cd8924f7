/* Runs a Mega-KV scenario for real on this machine and answers with the result of a run. */
#ifndef KVC_VALIDATE_MEASURE_MEASURE_H
#define KVC_VALIDATE_MEASURE_MEASURE_H

#include "models/model.h"

/* What cannot be measured here, of what can be simulated: several sockets or nodes, a network feed,
 * admission "cycle", sampled stores, loads that are not "saturate", poisson_mops or fixed_mops. */
enum kvc_status kvc_measure_check(const struct kvc_scenario *scenario, struct kvc_diag *diag);

/* Creates and preloads the store, warms up (run.warmup, or a fifth of the duration but at least 50 ms) and
 * measures for run.duration of wall clock. The index is the GPU's where there is one, else
 * it runs on the scheduler's thread. Threads are pinned, the
 * scheduler to the first core and the others behind it, in turns where there are fewer cores; a note says so.
 * KVC_ERR_SCENARIO: kvc_measure_check. KVC_ERR_RUNTIME: memory, threads, or a value that is not its key's. */
enum kvc_status kvc_measure_megakv(const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                                   struct kvc_result *result, struct kvc_diag *diag);

#endif
