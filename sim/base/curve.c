#include "sim/base/curve.h"

#include <math.h>

double kvc_curve_at(const struct kvc_curve *curve, double x)
{
    uint32_t right = 1;
    if (curve->count == 1) {
        return curve->y[0];
    }
    while (right + 1 < curve->count && curve->x[right] < x) {
        right++;
    }
    double slope = (curve->y[right] - curve->y[right - 1]) / (curve->x[right] - curve->x[right - 1]);
    return fmax(curve->y[right] + slope * (x - curve->x[right]), 0);
}
