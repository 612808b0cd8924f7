/** @file
 * Estimates how soon a workload returns to the same memory: the share of accesses whose cache line is among
 * the most recently touched bytes.
 *
 * This is Che's approximation of an LRU cache (Che, Tung, Wang, IEEE JSAC 20(7), 2002): a key that is
 * requested with probability p is among the keys of the last t requests with probability 1 - exp(-p t). */
#ifndef KVC_SIM_WORKLOAD_KEYS_REUSE_H
#define KVC_SIM_WORKLOAD_KEYS_REUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/workload/workload.h"

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

/** The memory that requests touch. */
struct kvc_reuse {
    double bytes_per_key;   /**< Touched by a request for a key [bytes]: the item, or the bucket's line. */
    double footprint_bytes; /**< Memory of all keys [bytes]; less than the sum if keys share lines. */
    double stream_bytes;    /**< Touched per request and not reused soon, such as its packet [bytes]. */
};

/** Computes, for each of `count` ascending sizes, the share of accesses (0 to 1) whose line is among the last
 * size[i] bytes touched. If memory for the popularity of the keys is short, they count as uniform. */
void kvc_reuse_shares(const struct kvc_workload *workload, const struct kvc_reuse *reuse, const double *size,
                      uint32_t count, double *share);

#endif
