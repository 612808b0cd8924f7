/* A measured cost curve: its points with their quartiles, and the straight line that fits them. */
#ifndef KVC_MODELS_MEGAKV_REAL_MEASURED_CURVE_H
#define KVC_MODELS_MEGAKV_REAL_MEASURED_CURVE_H

#include <stdbool.h>

#include "models/megakv/cost_profile.h"
#include "sim/probes/fit.h"

/* Repetitions of the measurement of a point. */
enum { KVC_MEGAKV_REPETITIONS = 25 };

struct kvc_megakv_measured_curve {
    struct kvc_megakv_cost_curve curve;
    double low_ns[KVC_MEGAKV_COST_POINTS_MAX], high_ns[KVC_MEGAKV_COST_POINTS_MAX]; /* Quartiles [ns]. */
    struct kvc_fit fit; /* Time over size; see kvc_megakv_measured_curve_fit. */
};

/* Does some work and returns how long one piece of it took [ns]. `repetition` is -1 while the caches settle,
 * then 0 to KVC_MEGAKV_REPETITIONS - 1. */
typedef double kvc_megakv_repetition_fn(void *data, int repetition);

/* Calls `fn` a few times to settle, `settling` times beyond that, and then KVC_MEGAKV_REPETITIONS times,
 * whose results it writes to `ns`. All measurements of stages repeat here. */
void kvc_megakv_repeat(kvc_megakv_repetition_fn *fn, void *data, int settling,
                       double ns[KVC_MEGAKV_REPETITIONS]);

/* Adds the median of the times `ns` at the coordinates of `where`, with their quartiles, and sorts them. */
void kvc_megakv_measured_curve_add(struct kvc_megakv_measured_curve *measured,
                                   const struct kvc_megakv_cost_point *where,
                                   double ns[KVC_MEGAKV_REPETITIONS]);

/* Fits a line to the points with the shortest keys, a load factor near one half, the largest footprint and
 * the most threads. With `in_streams`, the points'
 * sizes are those of one stream, and the line is fitted over the size of all streams together. Returns the
 * errors of kvc_fit_line. */
enum kvc_status kvc_megakv_measured_curve_fit(struct kvc_megakv_measured_curve *measured, bool in_streams,
                                              struct kvc_diag *diag);

#endif
