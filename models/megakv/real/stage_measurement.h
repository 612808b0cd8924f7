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
struct kvc_measured_law {
    struct kvc_stage_law law;
    double low_ns[KVC_STAGE_POINTS_MAX], high_ns[KVC_STAGE_POINTS_MAX];
    struct kvc_fit fit;   /* of time over size; only of receive, write, read, search and insert */
    uint32_t disagreeing; /* points for which two passes were far apart; the faster one counts */
};

struct kvc_stage_costs {
    uint32_t points, disagreeing; /* of all laws */
    /* as in struct kvc_stages */
    struct kvc_measured_law receive, write, pass, read, read_checked, read_half_marked, read_marked,
        read_half_missed, read_slowest, search, search_miss, search_fuller, insert, insert_fuller, take;
};

enum { KVC_FOOTPRINTS_MAX = 8, KVC_STAGE_TURNS = 25 };

struct kvc_stage_params {
    double slab_bytes[KVC_FOOTPRINTS_MAX]; /* rising */
    uint32_t footprints;
    uint32_t passes; /* of everything, one behind the other */
    bool on_gpu;     /* the index */
    uint32_t cores;  /* of this machine, hardware threads */
};

/* KVC_ERR_RUNTIME without memory or where times are none. `progress` may be NULL. */
enum kvc_status kvc_stages_measure(const struct kvc_stage_params *params, struct kvc_steadiness *steadiness,
                                   const struct kvc_progress *progress, struct kvc_stage_costs *costs,
                                   struct kvc_diag *diag);

#endif
