/* A straight line through measured times, T = slope * x + base, robust against outliers.
 *
 * The fit minimises relative residuals, because times span orders of magnitude. Points far from the line get
 * little weight (Tukey's bisquare weights, GSL's gsl_multifit_robust). */
#ifndef KVC_SIM_PROBES_FIT_H
#define KVC_SIM_PROBES_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/diag.h"

enum { KVC_FIT_POINTS_MIN = 4, KVC_FIT_POINTS_MAX = 256 };

struct kvc_fit {
    size_t points;               /* Points that were fitted. */
    double slope, slope_half;    /* Slope, and half the width of its 95 % confidence interval. */
    double base, base_half;      /* Value at x = 0, and half the width of its 95 % confidence interval. */
    double rms_frac, worst_frac; /* Root mean square and largest residual, relative to the measured times. */
    bool linear;                 /* At most one point is off the line by more than a tenth. */
};

/* Fits y over x. KVC_ERR_RUNTIME: fewer than KVC_FIT_POINTS_MIN or more than KVC_FIT_POINTS_MAX points, a y
 * that is not a positive finite number, or only one distinct x. */
enum kvc_status kvc_fit_line(const double *x, const double *y, size_t count, struct kvc_fit *fit,
                             struct kvc_diag *diag);

/* Writes the confidence interval middle - half .. middle + half of a quantity of the fit, and how good the
 * fit is: "1.2 .. 1.4 (95 %), 9 points, worst 3.1 % off". */
void kvc_fit_describe(const struct kvc_fit *fit, double middle, double half, char *text, size_t size);

#endif
