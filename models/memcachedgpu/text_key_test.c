#include "models/memcachedgpu/text_key.h"

#include <criterion/criterion.h>
#include <string.h>

#include "kernels/memcachedgpu/packet.h"
#include "sim/base/rng.h"

enum { ROOM = KVC_MEMCACHEDGPU_PACKET_KEY_MAX + 8 };

Test(memcachedgpu_text_key, is_what_the_protocol_allows)
{
    uint8_t key[ROOM];
    struct kvc_rng rng;
    kvc_rng_init(&rng, 1, "test", 0);
    for (uint32_t round = 0; round < 1000; round++) {
        kvc_memcachedgpu_text_key(key, kvc_rng_u64(&rng), KVC_MEMCACHEDGPU_PACKET_KEY_MAX);
        for (uint32_t i = 0; i < KVC_MEMCACHEDGPU_PACKET_KEY_MAX; i++) {
            cr_assert(key[i] > ' ' && key[i] < 0x7f, "byte %u is %u", i, key[i]);
        }
    }
}

Test(memcachedgpu_text_key, differs_for_all_ids_that_fit)
{
    enum { KEYS = 64 * 64 * 64 };
    static uint8_t seen[1 << 24];
    for (uint32_t id = 0; id < KEYS; id++) {
        uint8_t key[8];
        kvc_memcachedgpu_text_key(key, id, 3);
        uint32_t number = key[0] | (uint32_t)key[1] << 8 | (uint32_t)key[2] << 16;
        cr_assert(!seen[number], "id %u has the key of another", id);
        seen[number] = 1;
    }
}

/* Ids that only differ in their upper bits, as hashes of a trace do, have different keys too. */
Test(memcachedgpu_text_key, mixes_long_ids)
{
    uint8_t a[16], b[16];
    for (uint32_t bit = 48; bit < 64; bit++) {
        kvc_memcachedgpu_text_key(a, 7, 16);
        kvc_memcachedgpu_text_key(b, 7 | UINT64_C(1) << bit, 16);
        cr_assert_neq(memcmp(a, b, 16), 0, "bit %u", bit);
    }
}
