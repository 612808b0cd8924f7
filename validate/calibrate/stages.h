/* What the stages of Mega-KV's pipeline cost on this machine: its real kernels, in batches, on tables far
 * larger than the caches. */
#ifndef KVC_VALIDATE_CALIBRATE_STAGES_H
#define KVC_VALIDATE_CALIBRATE_STAGES_H

#include <stdint.h>

#include "models/model.h"
#include "validate/calibrate/fit.h"
#include "validate/calibrate/probe.h"

enum { KVC_STAGE_POINTS_MAX = 16 };

/* Measured points of a law, and the line through them. */
struct kvc_law {
    uint32_t count;
    double x[KVC_STAGE_POINTS_MAX], ns[KVC_STAGE_POINTS_MAX];
    struct kvc_fit fit; /* of ns over x */
};

struct kvc_stage_costs {
    double receive_ns; /* one request: parsed, hashed and appended to the batch as an index job */
    /* One item by x = its lines but the first, and the lines that are streamed beside it (for a read,
     * location and response; for a write, key and value from the packet), as kvc_megakv_send_cost and
     * kvc_megakv_receive_cost charge them: the base is a random line, the slope a following one. */
    struct kvc_law read;
    struct kvc_law write; /* into a full store, as one at work is: CLOCK evicts an item for each */
    /* One launch by its jobs, on one CPU thread. */
    struct kvc_law search, insert;
};

struct kvc_stage_params {
    uint64_t index_bytes; /* a power of two; 0.7 of its cells are filled */
    uint64_t slab_bytes;
};

/* KVC_ERR_RUNTIME without memory or where times are none. `progress` may be NULL. */
enum kvc_status kvc_stages_measure(const struct kvc_stage_params *params, struct kvc_steadiness *steadiness,
                                   const struct kvc_progress *progress, struct kvc_stage_costs *costs,
                                   struct kvc_diag *diag);

#endif
