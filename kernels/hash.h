/* Key hash and signature.
 *
 * One 64-bit hash of the key's bytes serves the whole store: the low half picks the bucket, the high half is
 * the 32-bit signature (Mega-KV, VLDB J. 26(5), sec. 4.1, computes both with the AES instruction). The
 * hardware version and the portable twin give the same value on every machine; the choice is made once at run
 * time. */
#ifndef KVC_KERNELS_HASH_H
#define KVC_KERNELS_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/device.h"

/* Hashes `bytes` bytes (0 is allowed) of `key`. */
uint64_t kvc_hash(const void *key, size_t bytes, uint64_t seed);

/* The portable twin of kvc_hash, whatever this machine can do; for tests. */
uint64_t kvc_hash_portable(const void *key, size_t bytes, uint64_t seed);

/* Hashes `count` keys; key i starts at keys + i * stride and has bytes[i] bytes. The memory behind each key
 * up to the next multiple of 8 bytes must be readable (it does not change the result). */
void kvc_hash_batch(const uint8_t *keys, size_t stride, const uint8_t *bytes, size_t count, uint64_t seed,
                    uint64_t *hash);

/* Signature of a hash; never 0, which marks an empty cell. */
static inline KVC_HOST_DEVICE uint32_t kvc_signature(uint64_t hash)
{
    uint32_t signature = (uint32_t)(hash >> 32);
    return signature != 0 ? signature : 1;
}

#endif
