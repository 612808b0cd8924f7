/** @file
 * Named streams of random numbers.
 *
 * Every component owns a stream that is derived from (seed, name, index). Adding a component or a replica
 * therefore changes no other stream, and results do not depend on the number of jobs. The generator is
 * xoshiro256++ (Blackman and Vigna, ACM TOMS 47(4), 2021), seeded through splitmix64. Lua's math.random never
 * affects a result. */
#ifndef KVC_SIM_BASE_RNG_H
#define KVC_SIM_BASE_RNG_H

#include <stdint.h>
#include <string.h>

/** A stream. */
struct kvc_rng {
    uint64_t state[4]; /**< State of xoshiro256++; never all zero. */
};

/** Returns the 64-bit FNV-1a hash of a name. */
uint64_t kvc_name_hash(const char *name);

/** Starts a stream. Streams with different (seed, name, index) are independent. */
void kvc_rng_init(struct kvc_rng *rng, uint64_t seed, const char *name, uint64_t index);

/** Returns the first number of a stream, as a seed for a component with a generator of its own. */
uint64_t kvc_rng_seed(uint64_t seed, const char *name, uint64_t index);

/** Rotates x to the left by k bits, 0 < k < 64. */
static inline uint64_t kvc_rng_rotl(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

/** Draws 64 random bits. */
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

/** Draws a number uniformly from [0, 1), with 53 random bits. */
static inline double kvc_rng_unit(struct kvc_rng *rng)
{
    return (double)(kvc_rng_u64(rng) >> 11) * 0x1.0p-53;
}

/** Draws a whole number uniformly from [0, n), n at most 2^32, by multiplication and shift. The bias is below
 * n / 2^64. */
static inline uint64_t kvc_rng_below(struct kvc_rng *rng, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)kvc_rng_u64(rng) * n) >> 64);
}

/** Draws from the exponential distribution with the given mean. */
double kvc_rng_exponential(struct kvc_rng *rng, double mean);

/** Mixes 64 bits bijectively, with the finalizer of splitmix64. */
static inline uint64_t kvc_mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/** Returns a number from [0, 1) that looks random and belongs to a time: the same time has the same number.
 */
static inline double kvc_unit_of_time(double time_ns)
{
    uint64_t bits;
    memcpy(&bits, &time_ns, sizeof(bits));
    return (double)(kvc_mix64(bits) >> 11) * 0x1.0p-53;
}

#endif
