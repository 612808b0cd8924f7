/* Straight lines through measured times, T = slope * x + base, robust against outliers.
 *
 * Relative residuals are minimised (every point is divided by its time), since times span orders of
 * magnitude; points far off get little weight (Tukey's bisquare, GSL's gsl_multifit_robust). */
#ifndef KVC_VALIDATE_PROBES_FIT_H
#define KVC_VALIDATE_PROBES_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/diag.h"

enum { KVC_FIT_POINTS_MIN = 4, KVC_FIT_POINTS_MAX = 256 };

struct kvc_fit {
    size_t points;
    double slope, slope_half; /* and half the width of its 95 % confidence interval */
    double base, base_half;
    double rms_frac, worst_frac; /* residuals over the measured times */
    bool linear;                 /* at most one point is further than a tenth from the line */
};

/* Fits y over x; all y must be above 0. KVC_ERR_RUNTIME: fewer than KVC_FIT_POINTS_MIN points, a y that is no
 * time, or all x equal. */
enum kvc_status kvc_fit_line(const double *x, const double *y, size_t count, struct kvc_fit *fit,
                             struct kvc_diag *diag);

#endif
