/* Named random streams.
 *
 * Every component owns a stream named after it, derived from (seed, name, index): adding a component or a
 * replica changes no other stream, so results do not depend on the number of jobs. The generator is
 * xoshiro256++ (Blackman and Vigna, ACM TOMS 47(4), 2021), seeded through splitmix64. Lua's math.random
 * never reaches a result. */
#ifndef KVC_SIM_BASE_RNG_H
#define KVC_SIM_BASE_RNG_H

#include <stdint.h>

struct kvc_rng {
    uint64_t state[4];
};

/* Streams with different (seed, name, index) are independent. */
void kvc_rng_init(struct kvc_rng *rng, uint64_t seed, const char *name, uint64_t index);

static inline uint64_t kvc_rng_rotl(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static inline uint64_t kvc_rng_u64(struct kvc_rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = kvc_rng_rotl(s[0] + s[3], 23) + s[0];
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = kvc_rng_rotl(s[3], 45);
    return result;
}

/* Uniform in [0, 1), 53 bits. */
static inline double kvc_rng_unit(struct kvc_rng *rng)
{
    return (double)(kvc_rng_u64(rng) >> 11) * 0x1.0p-53;
}

/* Uniform in [0, n), n <= 2^32, without modulo (multiply-shift; bias below n / 2^64). */
static inline uint64_t kvc_rng_below(struct kvc_rng *rng, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)kvc_rng_u64(rng) * n) >> 64);
}

/* Exponential with the given mean. */
double kvc_rng_exponential(struct kvc_rng *rng, double mean);

/* Bijective 64-bit mixer (the finaliser of splitmix64). */
static inline uint64_t kvc_mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

#endif
