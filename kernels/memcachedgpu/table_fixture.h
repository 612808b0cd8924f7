/* Keys and items that the tests of the three tables are made of. */
#ifndef KVC_KERNELS_MEMCACHEDGPU_TABLE_FIXTURE_H
#define KVC_KERNELS_MEMCACHEDGPU_TABLE_FIXTURE_H

#include "kernels/memcachedgpu/set_assoc.h"

static uint64_t random_state = 1;

static inline uint64_t random_word(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Key number `id`: its length and its bytes depend on it alone. */
struct key {
    uint8_t bytes[KVC_SET_ASSOC_KEY_MAX];
    uint8_t length;
};

static inline struct key key_of(uint32_t id, uint32_t longest)
{
    struct key key;
    uint32_t shortest = longest < 4 ? longest : 4;
    key.length = (uint8_t)(shortest + id % (longest - shortest + 1));
    for (uint32_t i = 0; i < key.length; i++) {
        key.bytes[i] = (uint8_t)(i < 4 ? id >> 8 * i : id * 7 + i);
    }
    return key;
}

static inline bool equal(struct kvc_set_assoc_item a, struct kvc_set_assoc_item b)
{
    return a.location == b.location &&
           (a.location == KVC_LOCATION_NONE ||
            (a.value_bytes == b.value_bytes && a.flags == b.flags && a.stamp == b.stamp));
}

static const struct kvc_set_assoc_item nothing = {.location = KVC_LOCATION_NONE};

#endif
