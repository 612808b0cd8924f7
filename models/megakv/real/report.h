/* The result of a measured run of Mega-KV, with the metrics of a simulated one. */
#ifndef KVC_MODELS_MEGAKV_REAL_REPORT_H
#define KVC_MODELS_MEGAKV_REAL_REPORT_H

#include "models/megakv/real/node.h"
#include "sim/metrics/result.h"
#include "validate/probes/cores.h"

/* How much the machine disturbed the run. */
struct kvc_megakv_real_noise {
    double others_frac;  /* Fraction of all processors' time that other processes used; NaN: unknown. */
    double stalled_frac; /* Time for which threads were kept from running, relative to the measured time. */
    struct kvc_cores cores; /* Speeds of the cores, measured right before the run. */
};

/* Fills in the counts of the node's tasks within the measured time. The histogram in `result` must be
 * empty.
 */
void kvc_megakv_real_report(const struct kvc_megakv_real_node *node, struct kvc_result *result);

/* Adds the metrics others_frac, stalled_frac and slowest_core_frac, and a note for each that is bad. */
void kvc_megakv_real_report_noise(const struct kvc_megakv_real_noise *noise, struct kvc_result *result);

#endif
