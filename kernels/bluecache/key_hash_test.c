#include "kernels/bluecache/key_hash.h"

#include <criterion/criterion.h>
#include <string.h>

#include "kernels/lookup3.h"

/* Digests of FIPS 180. */
Test(bluecache_hash, sha1_known_values)
{
    uint8_t keys[3][255] = {{0}};
    uint8_t bytes[3] = {0, 3, 56};
    uint32_t digest[3];
    memcpy(keys[1], "abc", 3);
    memcpy(keys[2], "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56);
    struct kvc_sha1 *sha1 = kvc_sha1_create();
    cr_assert_not_null(sha1);
    for (int again = 0; again < 2; again++) {
        cr_assert(kvc_sha1_batch(sha1, keys[0], 255, bytes, 3, digest));
        cr_assert_eq(digest[0], 0xda39a3ee);
        cr_assert_eq(digest[1], 0xa9993e36);
        cr_assert_eq(digest[2], 0x84983e44);
    }
    kvc_sha1_free(sha1);
    kvc_sha1_free(NULL);
}

Test(bluecache_hash, halves_are_the_two_hashes)
{
    enum { KEYS = 130 }; /* more than an internal batch */
    uint8_t keys[KEYS][16] = {{0}}, bytes[KEYS];
    uint64_t hash[KEYS];
    uint32_t digest[KEYS];
    for (int i = 0; i < KEYS; i++) {
        keys[i][0] = (uint8_t)i;
        bytes[i] = (uint8_t)(i % 17);
    }
    struct kvc_sha1 *sha1 = kvc_sha1_create();
    cr_assert(kvc_bluecache_hash(sha1, keys[0], 16, bytes, KEYS, hash));
    cr_assert(kvc_sha1_batch(sha1, keys[0], 16, bytes, KEYS, digest));
    for (int i = 0; i < KEYS; i++) {
        cr_assert_eq((uint32_t)hash[i], (uint32_t)kvc_lookup3_inline(keys[i], bytes[i], 0, 0));
        cr_assert_eq(hash[i] >> 32, digest[i]);
    }
    kvc_sha1_free(sha1);
}
