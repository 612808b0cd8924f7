/* Zipf popularity: P(rank k) proportional to k^-s, k = 1 .. n, any s > 0, n up to 2^32.
 *
 * Draws are exact and take constant time; no table of size n exists. The ranks are cut into blocks whose
 * width is about 1/64 of their first rank (single ranks at the head), some 1.5 thousand in all. An alias
 * table picks a block by the area under its first rank's probability, a uniform draw picks a rank inside, and
 * the rank is accepted with probability (first / rank)^s, else all is drawn again. This is rejection from a
 * hat as in rejection-inversion (Hoermann and Derflinger, ACM TOMACS 6(3), 1996), with steps for the hat
 * instead of an integral: the test needs pow in under s/64 of the draws and inversion is a table look-up. */
#ifndef KVC_SIM_WORKLOAD_ZIPF_H
#define KVC_SIM_WORKLOAD_ZIPF_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/rng.h"

struct kvc_zipf;

void kvc_zipf_free(struct kvc_zipf *zipf); /* NULL is allowed */

/* NULL when memory is short. */
struct kvc_zipf *kvc_zipf_create(uint64_t n, double s);

/* Draws `count` ranks, counted from 0 (the most popular). */
void kvc_zipf_fill(const struct kvc_zipf *zipf, struct kvc_rng *rng, uint64_t *rank, size_t count);

/* Probability that a draw is one of the k most popular; relative error below 1e-9. k above n counts as n. */
double kvc_zipf_mass(const struct kvc_zipf *zipf, uint64_t k);

#endif
