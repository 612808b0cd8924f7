/* What the stages of Mega-KV's pipeline cost on this machine: the real tasks on real, full stores, one kind
 * of task after the other, by the size of their work, the store's footprint and the threads at once. */
#ifndef KVC_MODELS_MEGAKV_REAL_STAGE_MEASUREMENT_H
#define KVC_MODELS_MEGAKV_REAL_STAGE_MEASUREMENT_H

#include <stdint.h>

#include "models/model.h"
#include "models/megakv/cost_profile.h"
#include "validate/probes/fit.h"
#include "validate/probes/probe.h"

/* Measured points of a law with their quartiles, and the line through those of the largest footprint and the
 * most threads. */
struct kvc_megakv_measured_curve {
    struct kvc_megakv_cost_curve curve;
    double low_ns[KVC_MEGAKV_COST_POINTS_MAX], high_ns[KVC_MEGAKV_COST_POINTS_MAX];
    struct kvc_fit fit;   /* of time over size; only of receive, write, read, search and insert */
    uint32_t disagreeing; /* points for which two passes were far apart; the faster one counts */
};

struct kvc_megakv_measurement {
    uint32_t points, disagreeing; /* of all laws */
    /* as in struct kvc_megakv_cost_profile */
    struct kvc_megakv_measured_curve receive, write, pass, read, read_checked, read_half_marked, read_marked,
        read_half_missed, read_slowest, search, search_miss, search_high_load, insert, insert_high_load,
        drain;
};

enum { KVC_MEGAKV_FOOTPRINTS_MAX = 8, KVC_MEGAKV_REPETITIONS = 25 };

struct kvc_megakv_measurement_options {
    double slab_bytes[KVC_MEGAKV_FOOTPRINTS_MAX]; /* rising */
    uint32_t footprints;
    uint32_t passes; /* of everything, one behind the other */
    bool on_gpu;     /* the index */
    uint32_t cores;  /* of this machine, hardware threads */
};

/* KVC_ERR_RUNTIME without memory or where times are none. `progress` may be NULL. */
enum kvc_status kvc_megakv_measure_stages(const struct kvc_megakv_measurement_options *params,
                                          struct kvc_steadiness *steadiness,
                                          const struct kvc_progress *progress,
                                          struct kvc_megakv_measurement *costs, struct kvc_diag *diag);

#endif
