/* The measured costs of Mega-KV's stages on this machine: the curves of struct kvc_megakv_cost_profile. */
#ifndef KVC_MODELS_MEGAKV_REAL_MEASUREMENT_H
#define KVC_MODELS_MEGAKV_REAL_MEASUREMENT_H

#include <stddef.h>

#include "models/megakv/real/measured_curve.h"

/* Only receive, write, read, search, insert and erase have fits. */
struct kvc_megakv_measurement {
    struct kvc_megakv_measured_curve receive, write, evict, evict_half_marked, pass, mix, read, read_checked,
        read_half_marked, read_marked, read_half_missed, read_slowest, read_batch, compare, search,
        search_miss, search_half_missed, insert, replace, insert_half_replaced, erase, erase_miss,
        erase_half_missed, drain;
};

/* The curves by their names in a machine file, in the order of that file. */
enum { KVC_MEGAKV_MEASURED_CURVES = 24 };
struct kvc_megakv_named_curve {
    const char *name;
    size_t offset; /* In struct kvc_megakv_measurement. */
};
extern const struct kvc_megakv_named_curve kvc_megakv_named_curves[KVC_MEGAKV_MEASURED_CURVES];
const struct kvc_megakv_measured_curve *kvc_megakv_curve_of(const struct kvc_megakv_measurement *measurement,
                                                            const struct kvc_megakv_named_curve *named);

/* Fits the curves that the values of cpu, dram and gpu come from, and that the summary shows. Returns
 * KVC_ERR_RUNTIME if no line fits the times. */
enum kvc_status kvc_megakv_measurement_fit(struct kvc_megakv_measurement *measurement, struct kvc_diag *diag);

#endif
