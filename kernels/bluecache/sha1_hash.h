/* SHA-1 of keys, cut short: the abbreviated keys of an index (BlueCache sec. 2.3 and 3.3). */
#ifndef KVC_KERNELS_BLUECACHE_SHA1_HASH_H
#define KVC_KERNELS_BLUECACHE_SHA1_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kvc_sha1; /* for one thread at a time */

void kvc_sha1_free(struct kvc_sha1 *sha1); /* NULL is allowed */

/* NULL with errno ENOMEM, or ENOSYS where the cryptographic library offers no SHA-1. */
struct kvc_sha1 *kvc_sha1_create(void);

/* digest[i]: the first 32 bits of key i's SHA-1, the digest's first byte on top, so that fewer bits are its
 * upper ones. Key i starts at keys + i * stride and has bytes[i] bytes (0 is allowed). False with errno EIO
 * if the library fails. */
bool kvc_sha1_batch(struct kvc_sha1 *sha1, const uint8_t *keys, size_t stride, const uint8_t *bytes,
                    size_t count, uint32_t *digest);

#endif
