/* Measures launches of Mega-KV's index alone: searches, inserts and deletes, by their jobs, the size and the
 * load factor of the index, and the number of streams. */
#ifndef KVC_MODELS_MEGAKV_REAL_INDEX_MEASUREMENT_H
#define KVC_MODELS_MEGAKV_REAL_INDEX_MEASUREMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "models/megakv/real/measurement.h"
#include "sim/base/progress.h"
#include "sim/probes/steadiness.h"

enum { KVC_MEGAKV_INDEX_LIST_MAX = 8 };

struct kvc_megakv_index_options {
    double bytes[KVC_MEGAKV_INDEX_LIST_MAX]; /* Sizes of the index, powers of two; 0 ends the list [bytes]. */
    double load_frac[KVC_MEGAKV_INDEX_LIST_MAX]; /* In ascending order; 0 ends the list. */
    uint32_t jobs[KVC_MEGAKV_INDEX_LIST_MAX];    /* Jobs of each stream; 0 ends the list. */
    /* Streams of searches; 0 ends the list. On a thread, there is only one. */
    uint32_t streams[KVC_MEGAKV_INDEX_LIST_MAX];
    bool on_gpu; /* Whether the index is on the GPU. */
};

/* Adds the curves of searches, inserts and deletes to the measurement. Returns KVC_ERR_RUNTIME
 * if memory is short. */
enum kvc_status kvc_megakv_measure_index(const struct kvc_megakv_index_options *params,
                                         struct kvc_steadiness *steadiness,
                                         const struct kvc_progress *progress,
                                         struct kvc_megakv_measurement *measurement, struct kvc_diag *diag);

#endif
