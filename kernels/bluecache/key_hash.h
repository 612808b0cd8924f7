/** @file
 * The hash of a key for BlueCache's index: the Jenkins hash in the low half and the start of SHA-1 in the
 * high half, which serves as an abbreviated key (BlueCache, VLDB 10(4) 2016, sec. 2.3 and 3.3). */
#ifndef KVC_KERNELS_BLUECACHE_KEY_HASH_H
#define KVC_KERNELS_BLUECACHE_KEY_HASH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Hashes `count` keys. Key i starts at keys + i * stride and has bytes[i] bytes; 0 is allowed. digest[i]
 * becomes the first 32 bits of its SHA-1 with the first byte on top, so that a shorter digest consists of its
 * upper bits. */
void kvc_sha1_batch(const uint8_t *keys, size_t stride, const uint8_t *bytes, size_t count, uint32_t *digest);

/** Hashes `count` keys. Key i starts at keys + i * stride and has bytes[i] bytes. */
void kvc_bluecache_hash(const uint8_t *keys, size_t stride, const uint8_t *bytes, size_t count,
                        uint64_t *hash);

#ifdef __cplusplus
}
#endif

#endif
