#include "kernels/hash.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEQUENTIAL = 1 << 20 };

static void fill_bytes(uint8_t *bytes, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (uint8_t)(seed >> 56);
    }
}

static uint64_t *sequential_hashes(uint64_t first, uint64_t step, uint64_t seed)
{
    uint64_t *keys = malloc(SEQUENTIAL * sizeof(*keys));
    uint64_t *hash = malloc(SEQUENTIAL * sizeof(*hash));
    uint8_t *bytes = malloc(SEQUENTIAL);
    memset(bytes, 8, SEQUENTIAL);
    for (uint64_t i = 0; i < SEQUENTIAL; i++) {
        keys[i] = first + i * step;
    }
    kvc_hash_batch((const uint8_t *)keys, 8, bytes, SEQUENTIAL, seed, hash);
    free(keys);
    free(bytes);
    return hash;
}

/* Deviation of the occupancy of 2^16 buckets, selected by 16 bits of the hash, from a uniform draw [standard
 * deviations]. */
static double occupancy_deviation(const uint64_t *hash, unsigned shift)
{
    enum { BUCKETS = 1 << 16 };
    static uint32_t occupancy[BUCKETS];
    memset(occupancy, 0, sizeof(occupancy));
    for (uint32_t i = 0; i < SEQUENTIAL; i++) {
        occupancy[hash[i] >> shift & (BUCKETS - 1)]++;
    }
    double expected = (double)SEQUENTIAL / BUCKETS, chi_square = 0;
    for (uint32_t i = 0; i < BUCKETS; i++) {
        chi_square += (occupancy[i] - expected) * (occupancy[i] - expected) / expected;
    }
    return (chi_square - (BUCKETS - 1)) / sqrt(2.0 * (BUCKETS - 1));
}

static int compare_words(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

Test(hash, hardware_equals_portable_at_every_length)
{
    uint8_t key[256 + 8];
    fill_bytes(key, sizeof(key), 1);
    for (size_t bytes = 0; bytes <= 255; bytes++) {
        for (uint64_t seed = 0; seed < 3; seed++) {
            uint64_t wide = seed * 0x9e3779b97f4a7c15;
            cr_assert_eq(kvc_hash(key, bytes, wide), kvc_hash_portable(key, bytes, wide), "%zu bytes", bytes);
        }
    }
}

Test(hash, never_reads_outside_the_key)
{
    for (size_t bytes = 1; bytes <= 255; bytes++) {
        uint8_t *key = malloc(bytes);
        fill_bytes(key, bytes, bytes);
        uint64_t hash = kvc_hash(key, bytes, 7);
        uint8_t framed[255 + 16];
        memset(framed, 0xff, sizeof(framed));
        memcpy(framed + 8, key, bytes);
        cr_assert_eq(hash, kvc_hash(framed + 8, bytes, 7));
        free(key);
    }
}

Test(hash, batch_equals_single_keys)
{
    enum { COUNT = 1000, STRIDE = 256 };
    uint8_t *keys = malloc(COUNT * STRIDE);
    uint8_t bytes[COUNT];
    uint64_t hash[COUNT];
    fill_bytes(keys, COUNT * STRIDE, 2);
    for (int pattern = 0; pattern < 3; pattern++) {
        fill_bytes(bytes, COUNT, 3);
        if (pattern > 0) {
            memset(bytes, pattern == 1 ? 8 : 16, COUNT);
            bytes[501] = 200;
        }
        for (size_t count = 0; count <= COUNT; count = count < 20 ? count + 1 : count + 245) {
            kvc_hash_batch(keys, STRIDE, bytes, count, 99, hash);
            for (size_t i = 0; i < count; i++) {
                cr_assert_eq(hash[i], kvc_hash_portable(keys + i * STRIDE, bytes[i], 99));
            }
        }
    }
    free(keys);
}

Test(hash, padding_length_and_seed_matter)
{
    uint8_t zeros[64] = {0};
    uint64_t seen[64];
    for (size_t bytes = 0; bytes < 64; bytes++) {
        seen[bytes] = kvc_hash(zeros, bytes, 0);
        for (size_t other = 0; other < bytes; other++) {
            cr_assert_neq(seen[bytes], seen[other]);
        }
        cr_assert_neq(seen[bytes], kvc_hash(zeros, bytes, 1));
    }
}

Test(hash, sequential_keys_spread_evenly)
{
    char name[][32] = {"by one", "by 4096", "high half"};
    uint64_t step[] = {1, 4096, UINT64_C(1) << 32};
    for (size_t i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
        uint64_t *hash = sequential_hashes(0, step[i], i);
        for (unsigned shift = 0; shift <= 48; shift += 8) {
            double deviation = occupancy_deviation(hash, shift);
            cr_assert_lt(fabs(deviation), 5.0, "%s: bits from %u are %.1f deviations off", name[i], shift,
                         deviation);
        }
        free(hash);
    }
}

Test(hash, buckets_and_signatures_are_independent)
{
    uint64_t *hash = sequential_hashes(1000, 1, 5);
    /* If bucket and signature were related, their difference or sum would not be uniform. */
    for (uint32_t i = 0; i < SEQUENTIAL; i++) {
        uint32_t low = (uint32_t)hash[i], high = (uint32_t)(hash[i] >> 32);
        hash[i] = (uint64_t)(low ^ high) << 32 | (low + high);
    }
    for (unsigned shift = 0; shift <= 48; shift += 16) {
        cr_assert_lt(fabs(occupancy_deviation(hash, shift)), 5.0, "bits from %u", shift);
    }
    free(hash);
}

Test(hash, signatures_repeat_as_often_as_random_words)
{
    uint64_t *hash = sequential_hashes(0, 1, 11);
    for (int half = 0; half < 2; half++) {
        uint32_t *word = malloc(SEQUENTIAL * sizeof(*word));
        for (uint32_t i = 0; i < SEQUENTIAL; i++) {
            word[i] = half == 0 ? (uint32_t)hash[i] : kvc_signature(hash[i]);
        }
        qsort(word, SEQUENTIAL, sizeof(*word), compare_words);
        double repeats = 0;
        for (uint32_t i = 1; i < SEQUENTIAL; i++) {
            repeats += word[i] == word[i - 1];
        }
        /* Each of n (n - 1) / 2 pairs is equal with a probability of 2^-32: 128 are expected, Poisson
         * distributed. */
        cr_assert_lt(fabs(repeats - 128), 5 * sqrt(128), "half %d: %.0f repeats", half, repeats);
        free(word);
    }
    free(hash);
}

Test(hash, one_flipped_bit_flips_half_of_the_hash)
{
    enum { KEYS = 200 };
    for (size_t bytes = 1; bytes <= 40; bytes += 13) {
        uint8_t key[48];
        uint32_t flips[64] = {0};
        uint32_t trials = 0;
        for (uint64_t k = 0; k < KEYS; k++) {
            fill_bytes(key, sizeof(key), k);
            uint64_t hash = kvc_hash(key, bytes, 0);
            for (size_t bit = 0; bit < bytes * 8; bit++, trials++) {
                key[bit / 8] ^= (uint8_t)(1u << bit % 8);
                uint64_t change = hash ^ kvc_hash(key, bytes, 0);
                key[bit / 8] ^= (uint8_t)(1u << bit % 8);
                for (unsigned i = 0; i < 64; i++) {
                    flips[i] += change >> i & 1;
                }
            }
        }
        for (unsigned i = 0; i < 64; i++) {
            double deviation = (flips[i] - trials / 2.0) / sqrt(trials / 4.0);
            cr_assert_lt(fabs(deviation), 6.0, "%zu bytes, output bit %u", bytes, i);
        }
    }
}

Test(hash, signature_is_never_zero)
{
    cr_assert_eq(kvc_signature(0), 1);
    cr_assert_eq(kvc_signature(0xffffffff), 1);
    cr_assert_eq(kvc_signature(UINT64_C(0xabcd0123) << 32), 0xabcd0123);
}
