#include "kernels/lookup3.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct answer {
    const char *key;
    uint32_t seed, seed_2, hash, hash_2;
};

/* The values that the author of the algorithm publishes. */
Test(lookup3, known_answers)
{
    static const struct answer answers[] = {
        {"", 0, 0, 0xdeadbeef, 0xdeadbeef},
        {"", 0, 0xdeadbeef, 0xbd5b7dde, 0xdeadbeef},
        {"", 0xdeadbeef, 0xdeadbeef, 0x9c093ccd, 0xbd5b7dde},
        {"Four score and seven years ago", 0, 0, 0x17770551, 0xce7226e6},
        {"Four score and seven years ago", 0, 1, 0xe3607cae, 0xbd371de4},
        {"Four score and seven years ago", 1, 0, 0xcd628161, 0x6cbea4b3},
    };
    for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
        const struct answer *answer = &answers[i];
        uint64_t hash = kvc_lookup3_inline((const uint8_t *)answer->key, (uint32_t)strlen(answer->key),
                                           answer->seed, answer->seed_2);
        cr_expect_eq((uint32_t)hash, answer->hash, "case %zu: %08x", i, (uint32_t)hash);
        cr_expect_eq((uint32_t)(hash >> 32), answer->hash_2, "case %zu: %08x", i, (uint32_t)(hash >> 32));
    }
}

/* The hash depends on every byte of the key, but not on its address or the bytes around it. */
Test(lookup3, same_at_any_address_and_every_byte_counts)
{
    uint8_t key[300];
    for (uint32_t i = 0; i < sizeof(key); i++) {
        key[i] = (uint8_t)(i * 37 + 11);
    }
    for (uint32_t bytes = 1; bytes <= 250; bytes++) {
        uint64_t hash = kvc_lookup3_inline(key, bytes, 0, 0);
        for (uint32_t shift = 0; shift < 8; shift++) {
            /* The copy ends with the key, so that a sanitizer sees any read beyond it. */
            uint8_t *copy = malloc(bytes + shift);
            memcpy(copy + shift, key, bytes);
            cr_assert_eq(kvc_lookup3_inline(copy + shift, bytes, 0, 0), hash, "%u bytes at %u", bytes, shift);
            free(copy);
        }
        for (uint32_t i = 0; i < bytes; i++) {
            key[i] ^= 1;
            cr_assert_neq(kvc_lookup3_inline(key, bytes, 0, 0), hash, "byte %u of %u", i, bytes);
            key[i] ^= 1;
        }
    }
}
