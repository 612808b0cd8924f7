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
    kvc_sha1_batch(keys[0], 255, bytes, 3, digest);
    cr_assert_eq(digest[0], 0xda39a3ee);
    cr_assert_eq(digest[1], 0xa9993e36);
    cr_assert_eq(digest[2], 0x84983e44);
}

/* Digests of zeros by sha1sum, of lengths around the ends of blocks. */
Test(bluecache_hash, sha1_of_all_blocks)
{
    static const uint8_t zeros[255], bytes[] = {55, 56, 63, 64, 119, 120, 128, 255};
    static const uint32_t expected[] = {0x8e8832c6, 0x9438e360, 0x0b8bf9fc, 0xc8d7d0ef,
                                        0x85634f17, 0xb110a88a, 0x0ae4f711, 0x6d7aaa7d};
    uint32_t digest[8];
    kvc_sha1_batch(zeros, 0, bytes, 8, digest);
    for (int i = 0; i < 8; i++) {
        cr_assert_eq(digest[i], expected[i], "%u bytes", bytes[i]);
    }
}

Test(bluecache_hash, halves_are_the_two_hashes)
{
    enum { KEYS = 130 };
    uint8_t keys[KEYS][16] = {{0}}, bytes[KEYS];
    uint64_t hash[KEYS];
    uint32_t digest[KEYS];
    for (int i = 0; i < KEYS; i++) {
        keys[i][0] = (uint8_t)i;
        bytes[i] = (uint8_t)(i % 17);
    }
    kvc_bluecache_hash(keys[0], 16, bytes, KEYS, hash);
    kvc_sha1_batch(keys[0], 16, bytes, KEYS, digest);
    for (int i = 0; i < KEYS; i++) {
        cr_assert_eq((uint32_t)hash[i], (uint32_t)kvc_lookup3_inline(keys[i], bytes[i], 0, 0));
        cr_assert_eq(hash[i] >> 32, digest[i]);
    }
}
