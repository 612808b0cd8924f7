/** @file
 * The hash of a key for BlueCache's index: the Jenkins hash in the low half and the start of SHA-1 in the
 * high half (BlueCache, VLDB 10(4) 2016, sec. 3.3). */
#ifndef KVC_KERNELS_BLUECACHE_KEY_HASH_H
#define KVC_KERNELS_BLUECACHE_KEY_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/bluecache/sha1_hash.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Hashes `count` keys. Key i starts at keys + i * stride and has bytes[i] bytes. Returns false with errno
 * EIO if SHA-1 fails. */
bool kvc_bluecache_hash(struct kvc_sha1 *sha1, const uint8_t *keys, size_t stride, const uint8_t *bytes,
                        size_t count, uint64_t *hash);

#ifdef __cplusplus
}
#endif

#endif
