/* A measured cost curve: its points with their quartiles, and the straight line that fits them. */
#ifndef KVC_MODELS_MEGAKV_REAL_MEASURED_CURVE_H
#define KVC_MODELS_MEGAKV_REAL_MEASURED_CURVE_H

#include <stdbool.h>

#include "models/megakv/cost_profile.h"
#include "validate/probes/fit.h"

/* Repetitions of the measurement of a point in every pass. */
enum { KVC_MEGAKV_REPETITIONS = 25 };

struct kvc_megakv_measured_curve {
    struct kvc_megakv_cost_curve curve;
    double low_ns[KVC_MEGAKV_COST_POINTS_MAX], high_ns[KVC_MEGAKV_COST_POINTS_MAX]; /* Quartiles [ns]. */
    struct kvc_fit fit;   /* Time over size, for the largest footprint and the most threads. */
    uint32_t disagreeing; /* Points for which two passes differ by more than a tenth. */
};

/* Adds the median of the times `ns` and sorts them. If the curve has the point from an earlier pass, the
 * point becomes the mean of both medians, with the outer quartiles. */
void kvc_megakv_measured_curve_add(struct kvc_megakv_measured_curve *measured, double size,
                                   double footprint_bytes, uint32_t threads,
                                   double ns[KVC_MEGAKV_REPETITIONS]);

/* Fits a line to the points with the largest footprint and the most threads. With `in_streams`, the points'
 * sizes are those of one stream, and the line is fitted over the size of all streams together. Returns the
 * errors of kvc_fit_line. */
enum kvc_status kvc_megakv_measured_curve_fit(struct kvc_megakv_measured_curve *measured, bool in_streams,
                                              struct kvc_diag *diag);

#endif
