#include "kernels/memcachedgpu/table_fixture.h"

#include <criterion/criterion.h>

const struct kvc_set_assoc_item nothing = {.location = KVC_LOCATION_NONE};

struct key key_of(uint32_t id, uint32_t longest)
{
    struct key key;
    uint32_t shortest = longest < 4 ? longest : 4;
    key.length = (uint8_t)(shortest + id % (longest - shortest + 1));
    for (uint32_t i = 0; i < key.length; i++) {
        key.bytes[i] = (uint8_t)(i < 4 ? id >> 8 * i : id * 7 + i);
    }
    return key;
}

struct kvc_set_assoc_item random_item(uint32_t now)
{
    return (struct kvc_set_assoc_item){.location = (uint32_t)(random_word() % 1000),
                                       .value_bytes = (uint32_t)random_word(),
                                       .stamp = now,
                                       .flags = (uint16_t)random_word()};
}

uint32_t random_wanted(const struct kvc_set_assoc_item *item)
{
    return random_word() % 2 == 0   ? KVC_LOCATION_ANY
           : random_word() % 2 == 0 ? item->location
                                    : (uint32_t)(random_word() % 1000);
}

bool equal(struct kvc_set_assoc_item a, struct kvc_set_assoc_item b)
{
    return a.location == b.location &&
           (a.location == KVC_LOCATION_NONE ||
            (a.value_bytes == b.value_bytes && a.flags == b.flags && a.stamp == b.stamp));
}

void expect_counts(const struct kvc_index_stats *stats, const struct kvc_index_stats *expected)
{
    cr_expect_eq(stats->replaced, expected->replaced);
    cr_expect_eq(stats->evicted, expected->evicted);
    cr_expect_eq(stats->erased, expected->erased);
    cr_expect_eq(stats->search_hits, expected->search_hits);
    cr_expect_eq(stats->searches, expected->searches);
    cr_expect_eq(stats->inserts, expected->inserts);
    cr_expect_eq(stats->erases, expected->erases);
    cr_expect_eq(stats->dropped, 0);
    cr_expect_gt(expected->evicted, 0);
    cr_expect_gt(expected->search_hits, 0);
}
