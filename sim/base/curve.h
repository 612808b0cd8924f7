/** @file
 * A measured cost curve: points joined by straight lines. */
#ifndef KVC_SIM_BASE_CURVE_H
#define KVC_SIM_BASE_CURVE_H

#include <stdint.h>

enum { KVC_CURVE_POINTS_MAX = 32 /**< Points of a cost curve. */ };

/** A cost curve. */
struct kvc_curve {
    uint32_t count;                 /**< Number of points; 0 if the curve was not measured. */
    double x[KVC_CURVE_POINTS_MAX]; /**< Abscissas in ascending order. */
    double y[KVC_CURVE_POINTS_MAX]; /**< The value at each abscissa. */
};

/** Returns the value at x. Beyond the ends, the first or last line continues, but never below 0. A single
 * point is a constant. The curve must have at least one point. */
double kvc_curve_at(const struct kvc_curve *curve, double x);

#endif
