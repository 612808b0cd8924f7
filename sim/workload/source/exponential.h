/** @file
 * Exponentially distributed random numbers by the ziggurat method (Marsaglia and Tsang, Journal of
 * Statistical Software 5(8), 2000): one random word, one table look-up and one multiplication for 98.9 % of
 * the numbers, and no logarithm.
 *
 * A number has 32 random bits, so it is a multiple of at most 2e-9 of the mean. */
#ifndef KVC_SIM_WORKLOAD_SOURCE_EXPONENTIAL_H
#define KVC_SIM_WORKLOAD_SOURCE_EXPONENTIAL_H

#include <stdint.h>

#include "sim/base/rng.h"

enum { KVC_EXPONENTIAL_LAYERS = 256 /**< Layers of the ziggurat. */ };

/** The ziggurat's tables. */
struct kvc_exponential {
    uint32_t inside[KVC_EXPONENTIAL_LAYERS]; /**< A smaller random number lies inside the layer below. */
    double scale[KVC_EXPONENTIAL_LAYERS];    /**< Width of the layer over 2^32. */
    double height[KVC_EXPONENTIAL_LAYERS];   /**< The density at the layer's right end. */
};

/** Fills the tables. */
void kvc_exponential_init(struct kvc_exponential *tables);

/** Draws from the distribution with mean 1 after the fast path has rejected `bits`. Used by
 * kvc_exponential_draw(). */
double kvc_exponential_redraw(const struct kvc_exponential *tables, struct kvc_rng *rng, uint64_t bits);

/** Draws from the distribution with mean 1. Sets *rest to 24 random bits that are independent of the number.
 */
static inline double kvc_exponential_draw(const struct kvc_exponential *tables, struct kvc_rng *rng,
                                          uint32_t *rest)
{
    uint64_t bits = kvc_rng_u64(rng);
    uint32_t layer = (uint32_t)bits & (KVC_EXPONENTIAL_LAYERS - 1), x = (uint32_t)(bits >> 32);
    *rest = (uint32_t)bits >> 8;
    if (__builtin_expect(x < tables->inside[layer], 1)) {
        return x * tables->scale[layer];
    }
    return kvc_exponential_redraw(tables, rng, bits);
}

#endif
