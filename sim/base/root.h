/** @file
 * Bisection of a rising function, with few evaluations. */
#ifndef KVC_SIM_BASE_ROOT_H
#define KVC_SIM_BASE_ROOT_H

#include <stdint.h>

/** A function that does not fall as x rises. */
typedef double kvc_rising_fn(void *data, double x);

/** What is known about a rising function. */
struct kvc_bracket {
    double low;    /**< An x at which it is below 0. */
    double f_low;  /**< Its value there. */
    double high;   /**< An x at which it is 0 or more; infinite: none is known. */
    double f_high; /**< Its value there. */
};

/** Returns the middle of the interval that `steps` bisections of [from, to] look at last, bit for bit.
 *
 * Bisection goes to the lower half where f is 0 or more in the middle, and to the upper half where it is
 * below 0. What `bracket` says need not be evaluated, so this function narrows it first, by the secant
 * (Illinois variant of regula falsi: Dowell and Jarratt, BIT 11, 1971), and usually takes a fifth of the
 * evaluations. */
double kvc_bisect_rising(kvc_rising_fn *f, void *data, double from, double to, uint32_t steps,
                         struct kvc_bracket bracket);

#endif
