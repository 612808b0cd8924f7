/* Measures launches of the index alone, T = k jobs + b, by operation, layout of the table and load factor.
 * They show what the design would gain from another layout. The launches of the pipeline itself are in
 * stage_measurement.h. */
#ifndef KVC_MODELS_MEGAKV_REAL_LAUNCHES_H
#define KVC_MODELS_MEGAKV_REAL_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/probes/fit.h"

enum { KVC_MEGAKV_LAUNCH_FITS = 2 * 3 * 3 };

struct kvc_megakv_launch_fit {
    const char *layout, *operation;
    double load_frac;   /* Fraction of the table's slots that are in use. */
    struct kvc_fit fit; /* Time of a launch over its jobs [ns]. */
};

struct kvc_megakv_launch_fits {
    uint64_t table_bytes; /* Size of the table [bytes]. */
    struct kvc_megakv_launch_fit fit[KVC_MEGAKV_LAUNCH_FITS];
};

/* Measures the launches. `on_gpu` says whether the index is on the GPU. Returns KVC_ERR_RUNTIME if memory
 * is short. */
enum kvc_status kvc_megakv_measure_launches(bool on_gpu, struct kvc_megakv_launch_fits *fits,
                                            struct kvc_diag *diag);

#endif
