/* Measures the costs of the stages that Mega-KV's threads run on this machine.
 *
 * The real tasks work on real stores, each stage alone, for different lengths of keys and values, footprints
 * of the store and numbers of threads at once. The result is the part of the store's cost profile
 * (models/megakv/cost_profile.h) that does not belong to the index. */
#ifndef KVC_MODELS_MEGAKV_REAL_STAGE_MEASUREMENT_H
#define KVC_MODELS_MEGAKV_REAL_STAGE_MEASUREMENT_H

#include <stdint.h>

#include "models/megakv/real/measurement.h"
#include "sim/base/progress.h"
#include "sim/probes/steadiness.h"

/* A list of lengths of values for keys of one length. */
enum { KVC_MEGAKV_VALUES_MAX = 8, KVC_MEGAKV_FRAMES_MAX = 8 };
struct kvc_megakv_shapes {
    uint32_t key_bytes;                          /* 0 ends the list of shapes. */
    uint32_t value_bytes[KVC_MEGAKV_VALUES_MAX]; /* Rising; 0 ends the list. */
};

enum { KVC_MEGAKV_FOOTPRINTS_MAX = 8 };

/* Returns how many pipelines have a core for each of their threads on a machine of `cores`, at least 1. */
uint32_t kvc_megakv_pipelines_of(uint32_t cores);

struct kvc_megakv_measurement_options {
    double nearby_bytes; /* Size of all items in the store that stands for popular ones [bytes]. */
    double items_bytes[KVC_MEGAKV_FOOTPRINTS_MAX]; /* Larger sizes, rising; 0 ends the list [bytes]. */
    struct kvc_megakv_shapes shapes[KVC_MEGAKV_COST_KEYS_MAX];
    uint32_t usual_value_bytes; /* Values where neither their length nor that of the keys is varied. */
    uint32_t frames[KVC_MEGAKV_FRAMES_MAX]; /* Requests of the measured frames; 0 ends the list. */
    uint32_t cores;                         /* Hardware threads of this machine that may be used. */
};

/* Adds all curves to the measurement but those of launches, and checks the machine's steadiness from time to
 * time. Returns KVC_ERR_RUNTIME if memory is short or threads cannot be started. */
enum kvc_status kvc_megakv_measure_stages(const struct kvc_megakv_measurement_options *params,
                                          struct kvc_steadiness *steadiness,
                                          const struct kvc_progress *progress,
                                          struct kvc_megakv_measurement *measurement, struct kvc_diag *diag);

#endif
