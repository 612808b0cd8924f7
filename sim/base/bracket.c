#include "sim/base/bracket.h"

#include <float.h>
#include <math.h>

enum { LOOK_BACK = 6 }; /* Steps in which the secant must do as well as bisection. */

static const double narrow = 4 * DBL_EPSILON; /* Relative width of a bracket that needs no narrowing. */

static void take(struct kvc_bracket *bracket, double x, double value)
{
    if (value < 0) {
        bracket->low = x;
        bracket->f_low = value;
    } else {
        bracket->high = x;
        bracket->f_high = value;
    }
}

void kvc_bracket_narrow(struct kvc_bracket *bracket, kvc_rising_fn *f, void *data)
{
    double weight_low = bracket->f_low, weight_high = bracket->f_high, width_before = INFINITY;
    int side = 0; /* The end that moved last: -1 low, 1 high. */
    for (int step = 0; bracket->high - bracket->low > narrow * fabs(bracket->high); step++) {
        double width = bracket->high - bracket->low, nudge = narrow / 4 * fabs(bracket->high);
        if (step % LOOK_BACK == 0) {
            if (width > width_before / (1 << LOOK_BACK)) {
                return;
            }
            width_before = width;
        }
        double x = bracket->high - weight_high * width / (weight_high - weight_low);
        /* A little away from the ends, so that the bracket closes around the root. */
        x = fmin(fmax(x, bracket->low + nudge), bracket->high - nudge);
        double value = f(data, x);
        take(bracket, x, value);
        if (value < 0) {
            weight_low = value;
            weight_high = side == -1 ? weight_high / 2 : weight_high;
            side = -1;
        } else {
            weight_high = value;
            weight_low = side == 1 ? weight_low / 2 : weight_low;
            side = 1;
        }
    }
}

bool kvc_bracket_is_below(struct kvc_bracket *bracket, kvc_rising_fn *f, void *data, double x)
{
    if (x > bracket->low && x < bracket->high) {
        take(bracket, x, f(data, x));
    }
    return x <= bracket->low;
}

double kvc_bisect_rising(kvc_rising_fn *f, void *data, double from, double to, uint32_t steps,
                         struct kvc_bracket bracket)
{
    double low = from, high = to, middle = from;
    if (isfinite(bracket.high)) {
        kvc_bracket_narrow(&bracket, f, data);
    }
    for (uint32_t i = 0; i < steps; i++) {
        middle = (low + high) / 2;
        *(kvc_bracket_is_below(&bracket, f, data, middle) ? &low : &high) = middle;
    }
    return middle;
}
