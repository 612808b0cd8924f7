/* Launches of the index alone, T = k jobs + b, by operation, layout of the table and load factor: what a
 * design would gain by another one. The pipeline's own launches are stages (stages.h). */
#ifndef KVC_MODELS_MEGAKV_REAL_LAUNCHES_H
#define KVC_MODELS_MEGAKV_REAL_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "validate/probes/fit.h"

enum { KVC_MEGAKV_LAUNCH_FITS = 2 * 3 * 3 };

struct kvc_megakv_launch_fit {
    const char *layout, *operation;
    double load_frac; /* of the table's cells, in use */
    struct kvc_fit fit;
};

struct kvc_megakv_launch_fits {
    uint64_t table_bytes;
    struct kvc_megakv_launch_fit fit[KVC_MEGAKV_LAUNCH_FITS];
};

/* KVC_ERR_RUNTIME: no memory. */
enum kvc_status kvc_megakv_measure_launches(bool on_gpu, struct kvc_megakv_launch_fits *fits,
                                            struct kvc_diag *diag);

#endif
