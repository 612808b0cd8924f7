/** @file
 * Hash function and signature of keys, computed with AES instructions, and a scrambler of words.
 *
 * One 64-bit hash of the key serves the whole store. Its low half selects the bucket, and its high half is
 * the 32-bit signature; Mega-KV computes both with the AES instruction (VLDB J. 26(5), sec. 4.1). The version
 * for hardware and its portable twin return the same values on every machine. The processor decides at run
 * time which one is used. */
#ifndef KVC_KERNELS_HASH_H
#define KVC_KERNELS_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the hash of `bytes` bytes of `key`; 0 bytes are allowed. */
uint64_t kvc_hash(const void *key, size_t bytes, uint64_t seed);

/** The portable twin of kvc_hash, for tests. It uses no AES instructions. */
uint64_t kvc_hash_portable(const void *key, size_t bytes, uint64_t seed);

/** Hashes `count` keys. Key i starts at keys + i * stride and has bytes[i] bytes. The memory after each key
 * up to the next multiple of 8 bytes must be readable; it does not affect the result. */
void kvc_hash_batch(const uint8_t *keys, size_t stride, const uint8_t *bytes, size_t count, uint64_t seed,
                    uint64_t *hash);

/** Scrambles a word: the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), which is a bijection.
 *
 * SplitMix64 itself is a sequence of pseudo-random words: kvc_mix_64(state += 0x9e3779b97f4a7c15). */
static inline KVC_HOST_DEVICE uint64_t kvc_mix_64(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/** Returns the signature of a hash. It is never 0, because 0 marks an empty slot. */
static inline KVC_HOST_DEVICE uint32_t kvc_signature(uint64_t hash)
{
    uint32_t signature = (uint32_t)(hash >> 32);
    return signature != 0 ? signature : 1;
}

#ifdef __cplusplus
}
#endif

#endif
