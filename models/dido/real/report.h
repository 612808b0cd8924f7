/* The result of a measured run of DIDO. */
#ifndef KVC_MODELS_DIDO_REAL_REPORT_H
#define KVC_MODELS_DIDO_REAL_REPORT_H

#include "models/dido/real/windows.h"
#include "sim/metrics/result.h"

/* Fills in the result of a run whose threads have ended, measured from from_ns on. Beside what a simulated
 * run reports, it has the time of each task per query: PP_ns, search_ns and so on. The time of a task is that
 * of its thread, for what it does for all queries of a set, over all queries of the set. A stage on the GPU
 * has gpu_ns instead, from the launch of its kernels until their end is known. On a machine that is never
 * quiet for a whole window, undisturbed_mops is the throughput of the batches during which no thread was kept
 * from running for 100 us, over undisturbed_ms of the whole run. */
void kvc_dido_real_report(const struct kvc_dido_real_node *node, struct kvc_dido_real_windows *windows,
                          double from_ns, struct kvc_result *result);

#endif
