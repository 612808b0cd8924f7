/* The result of a measured run of Mega-KV, with the metrics of a simulated one. */
#ifndef KVC_MODELS_MEGAKV_REAL_REPORT_H
#define KVC_MODELS_MEGAKV_REAL_REPORT_H

#include "models/megakv/real/windows.h"
#include "sim/probes/watched.h"

/* Fills in what the node's tasks did in the quiet windows, with intervals, and the raw metrics of all
 * windows. Without a quiet window all windows count and a note says so. Evictions, drops and lines per
 * operation cover the whole run with its warm-up. The histogram in `result` must be empty. */
void kvc_megakv_real_report(const struct kvc_megakv_real_node *node, struct kvc_megakv_real_windows *windows,
                            struct kvc_result *result);

#endif
