/* Measures the costs of the stages of Mega-KV's pipeline on this machine.
 *
 * The real tasks work on real, full stores, one stage after the other, for different sizes of their work,
 * footprints of the store and numbers of threads at once. The result is the store's cost profile
 * (models/megakv/cost_profile.h). */
#ifndef KVC_MODELS_MEGAKV_REAL_STAGE_MEASUREMENT_H
#define KVC_MODELS_MEGAKV_REAL_STAGE_MEASUREMENT_H

#include <stddef.h>
#include <stdint.h>

#include "models/megakv/real/measured_curve.h"
#include "sim/base/progress.h"
#include "validate/probes/steadiness.h"

/* The curves of struct kvc_megakv_cost_profile, measured. Only receive, write, read, search and insert have
 * fits. */
struct kvc_megakv_measurement {
    struct kvc_megakv_measured_curve receive, write, pass, read, read_checked, read_half_marked, read_marked,
        read_half_missed, read_slowest, compare, search, search_miss, search_high_load, insert,
        insert_high_load, drain;
};

/* The curves by their names in a machine file, in the order of that file. */
enum { KVC_MEGAKV_MEASURED_CURVES = 16 };
struct kvc_megakv_named_curve {
    const char *name;
    size_t offset; /* In struct kvc_megakv_measurement. */
};
extern const struct kvc_megakv_named_curve kvc_megakv_named_curves[KVC_MEGAKV_MEASURED_CURVES];
const struct kvc_megakv_measured_curve *kvc_megakv_curve_of(const struct kvc_megakv_measurement *measurement,
                                                            const struct kvc_megakv_named_curve *named);

enum { KVC_MEGAKV_FOOTPRINTS_MAX = 8 };

struct kvc_megakv_measurement_options {
    double slab_bytes[KVC_MEGAKV_FOOTPRINTS_MAX]; /* Sizes of the stores' slabs, rising [bytes]. */
    uint32_t footprints;                          /* How many sizes there are. */
    uint32_t passes;                              /* How often everything is measured. */
    bool on_gpu;                                  /* Whether the index is on the GPU. */
    uint32_t cores;                               /* Hardware threads of this machine that may be used. */
};

/* Fills in the measurement, and checks the machine's steadiness from time to time. Returns KVC_ERR_RUNTIME
 * if memory is short, threads cannot be started, or no line fits the times. */
enum kvc_status kvc_megakv_measure_stages(const struct kvc_megakv_measurement_options *params,
                                          struct kvc_steadiness *steadiness,
                                          const struct kvc_progress *progress,
                                          struct kvc_megakv_measurement *measurement, struct kvc_diag *diag);

#endif
