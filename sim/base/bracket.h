/** @file
 * Finds where a function that does not fall crosses 0. */
#ifndef KVC_SIM_BASE_BRACKET_H
#define KVC_SIM_BASE_BRACKET_H

#include <stdbool.h>
#include <stdint.h>

/** A function that does not fall as x rises. */
typedef double kvc_rising_fn(void *data, double x);

/** Bracket of a rising function's crossing. */
struct kvc_bracket {
    double low;    /**< An x at which it is below 0. */
    double f_low;  /**< Value of the function there. */
    double high;   /**< An x at which it is 0 or more; infinite: none is known. */
    double f_high; /**< Value of the function there. */
};

/** Narrows a finite bracket around the crossing until its ends are neighbours, or until bisection would be
 * faster, by the secant (Illinois variant of regula falsi: Dowell and Jarratt, BIT 11, 1971). */
void kvc_bracket_narrow(struct kvc_bracket *bracket, kvc_rising_fn *f, void *data);

/** Returns whether f is below 0 at x. Evaluates f only within the bracket, which then becomes narrower. */
bool kvc_bracket_is_below(struct kvc_bracket *bracket, kvc_rising_fn *f, void *data, double x);

/** Returns the middle of the interval that `steps` bisections of [from, to] look at last, bit for bit.
 *
 * Bisection goes to the lower half where f is 0 or more in the middle, and to the upper half where it is
 * below 0. What `bracket` says need not be evaluated, so this function narrows it first, and usually takes a
 * fifth of the evaluations. */
double kvc_bisect_rising(kvc_rising_fn *f, void *data, double from, double to, uint32_t steps,
                         struct kvc_bracket bracket);

#endif
