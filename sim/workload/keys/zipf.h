/** @file
 * Zipf popularity: rank k = 1 to n has a probability proportional to k^-s, for any s > 0 and n up to 2^32.
 *
 * Draws are exact and take constant time, without a table of size n. The ranks are cut into at most 1300
 * blocks whose width is 1/64 of their first rank, with single ranks at the head. An alias table selects a
 * block by the area under the probability of its first rank, a uniform draw selects a rank in the block, and
 * the rank is accepted with probability (first / rank)^s; otherwise everything is drawn again. This is
 * rejection from a hat as in rejection-inversion (Hoermann and Derflinger, ACM TOMACS 6(3), 1996), but the
 * hat consists of steps instead of an integral: fewer than s/64 of the draws need pow, and inversion is a
 * table look-up. */
#ifndef KVC_SIM_WORKLOAD_KEYS_ZIPF_H
#define KVC_SIM_WORKLOAD_KEYS_ZIPF_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/rng.h"

/** A Zipf distribution. */
struct kvc_zipf;

/** Frees a distribution. NULL is allowed. */
void kvc_zipf_free(struct kvc_zipf *zipf);

/** Sets up the distribution of `n` ranks with exponent `s`. Returns NULL if memory is short. */
struct kvc_zipf *kvc_zipf_create(uint64_t n, double s);

/** Draws `count` ranks. They are counted from 0, the most popular one. */
void kvc_zipf_fill(const struct kvc_zipf *zipf, struct kvc_rng *rng, uint64_t *rank, size_t count);

/** Returns the probability that a draw from `n` ranks with exponent `s` is one of the k most popular ranks,
 * with a relative error below 1e-9. A k above n counts as n. */
double kvc_zipf_mass(uint64_t n, double s, uint64_t k);

#endif
