#include "kernels/bluecache/key_hash.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>

#include "kernels/lookup3.h"

struct kvc_sha1 {
    EVP_MD *digest;
    EVP_MD_CTX *context; /* created once, because looking up the algorithm takes longer than hashing a key */
};

void kvc_sha1_free(struct kvc_sha1 *sha1)
{
    if (sha1 != NULL) {
        EVP_MD_CTX_free(sha1->context);
        EVP_MD_free(sha1->digest);
        free(sha1);
    }
}

struct kvc_sha1 *kvc_sha1_create(void)
{
    struct kvc_sha1 *sha1 = malloc(sizeof(*sha1));
    if (sha1 == NULL) {
        return NULL;
    }
    *sha1 = (struct kvc_sha1){EVP_MD_fetch(NULL, "SHA1", NULL), EVP_MD_CTX_new()};
    if (sha1->digest == NULL || sha1->context == NULL ||
        EVP_DigestInit_ex(sha1->context, sha1->digest, NULL) != 1) {
        errno = sha1->context == NULL ? ENOMEM : ENOSYS;
        int error = errno;
        kvc_sha1_free(sha1);
        errno = error;
        return NULL;
    }
    return sha1;
}

bool kvc_sha1_batch(struct kvc_sha1 *sha1, const uint8_t *keys, size_t stride, const uint8_t *bytes,
                    size_t count, uint32_t *digest)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char whole[EVP_MAX_MD_SIZE];
        if (EVP_DigestInit_ex(sha1->context, NULL, NULL) != 1 ||
            EVP_DigestUpdate(sha1->context, keys + i * stride, bytes[i]) != 1 ||
            EVP_DigestFinal_ex(sha1->context, whole, NULL) != 1) {
            errno = EIO;
            return false;
        }
        digest[i] = (uint32_t)whole[0] << 24 | (uint32_t)whole[1] << 16 | (uint32_t)whole[2] << 8 | whole[3];
    }
    return true;
}

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
