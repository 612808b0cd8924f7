#include "kernels/bluecache/key_hash.h"

#include "kernels/lookup3.h"

enum { CHUNK = 64 };

bool kvc_bluecache_hash(struct kvc_sha1 *sha1, const uint8_t *keys, size_t stride, const uint8_t *bytes,
                        size_t count, uint64_t *hash)
{
    for (size_t start = 0; start < count; start += CHUNK) {
        size_t part = count - start < CHUNK ? count - start : CHUNK;
        const uint8_t *from = keys + start * stride;
        uint32_t digest[CHUNK];
        if (!kvc_sha1_batch(sha1, from, stride, bytes + start, part, digest)) {
            return false;
        }
        for (size_t i = 0; i < part; i++) {
            uint32_t bucket = (uint32_t)kvc_lookup3_inline(from + i * stride, bytes[start + i], 0, 0);
            hash[start + i] = (uint64_t)digest[i] << 32 | bucket;
        }
    }
    return true;
}
