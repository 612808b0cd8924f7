/* The result of a measured run of Mega-KV, with the metrics of a simulated one. */
#ifndef KVC_MODELS_MEGAKV_REAL_REPORT_H
#define KVC_MODELS_MEGAKV_REAL_REPORT_H

#include "models/megakv/real/windows.h"
#include "sim/metrics/result.h"
#include "validate/probes/cores.h"

/* How much the machine disturbed the run. */
struct kvc_megakv_real_noise {
    double others_frac;     /* Fraction of all processors' time that other processes used; NaN: unknown. */
    struct kvc_cores cores; /* Speeds of the cores, measured right before the run. */
};

/* Fills in what the node's tasks did in the quiet windows, with intervals, and the raw metrics of all
 * windows. Without a quiet window all windows count and a note says so. Evictions, drops and lines per
 * operation cover the whole run with its warm-up. The histogram in `result` must be empty. */
void kvc_megakv_real_report(const struct kvc_megakv_real_node *node, struct kvc_megakv_real_windows *windows,
                            struct kvc_result *result);

/* Adds the metrics others_frac, stalled_frac, slowest_core_frac and core_speed_steps_per_ns, and a note
 * if a core is slow. */
void kvc_megakv_real_report_noise(const struct kvc_megakv_real_noise *noise,
                                  const struct kvc_megakv_real_windows *windows, struct kvc_result *result);

#endif
