#include "kernels/bluecache/key_hash.h"

/* Only this interface hashes a block without the preparations of EVP, which take as long as the block. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <string.h>

#include "kernels/lookup3.h"

enum { BLOCK_BYTES = SHA_CBLOCK, LENGTH_BYTES = 8 /* The length in bits that ends a message. */ };

/* Returns the first 32 bits of the SHA-1 of a key (FIPS 180-4, sec. 5.1.1 and 6.1). */
static uint32_t sha1_of(const uint8_t *key, uint8_t bytes)
{
    SHA_CTX state;
    uint8_t end[2 * BLOCK_BYTES] = {0};
    uint32_t whole = bytes / BLOCK_BYTES * BLOCK_BYTES, rest = bytes - whole;
    uint32_t end_bytes = rest + 1 + LENGTH_BYTES <= BLOCK_BYTES ? BLOCK_BYTES : 2 * BLOCK_BYTES;
    memcpy(end, key + whole, rest);
    end[rest] = 0x80;
    end[end_bytes - 2] = (uint8_t)(bytes >> 5);
    end[end_bytes - 1] = (uint8_t)(bytes << 3);
    SHA1_Init(&state);
    for (uint32_t at = 0; at < whole; at += BLOCK_BYTES) {
        SHA1_Transform(&state, key + at);
    }
    for (uint32_t at = 0; at < end_bytes; at += BLOCK_BYTES) {
        SHA1_Transform(&state, end + at);
    }
    return state.h0;
}

void kvc_sha1_batch(const uint8_t *keys, size_t stride, const uint8_t *bytes, size_t count, uint32_t *digest)
{
    for (size_t i = 0; i < count; i++) {
        digest[i] = sha1_of(keys + i * stride, bytes[i]);
    }
}

void kvc_bluecache_hash(const uint8_t *keys, size_t stride, const uint8_t *bytes, size_t count,
                        uint64_t *hash)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *key = keys + i * stride;
        uint32_t bucket = (uint32_t)kvc_lookup3_inline(key, bytes[i], 0, 0);
        hash[i] = (uint64_t)sha1_of(key, bytes[i]) << 32 | bucket;
    }
}
