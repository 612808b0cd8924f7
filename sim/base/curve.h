/* Measured points of a law, joined by straight lines. */
#ifndef KVC_SIM_BASE_CURVE_H
#define KVC_SIM_BASE_CURVE_H

#include <stdint.h>

enum { KVC_CURVE_POINTS_MAX = 32 };

struct kvc_curve {
    uint32_t count;                 /* 0: there is no law */
    double x[KVC_CURVE_POINTS_MAX]; /* rising */
    double y[KVC_CURVE_POINTS_MAX];
};

/* The value at x; beyond the ends the outermost pieces go on, but never below 0. One point is a constant. The
 * curve must have points. */
double kvc_curve_at(const struct kvc_curve *curve, double x);

#endif
