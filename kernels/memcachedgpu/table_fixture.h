/* Random keys and items for the tests of the three tables, and the counts of the model they are compared
 * with. */
#ifndef KVC_KERNELS_MEMCACHEDGPU_TABLE_FIXTURE_H
#define KVC_KERNELS_MEMCACHEDGPU_TABLE_FIXTURE_H

#include "kernels/memcachedgpu/set_assoc.h"
#include "kernels/random_fixture.h"

struct key {
    uint8_t bytes[KVC_SET_ASSOC_KEY_MAX];
    uint8_t length;
};

/* Returns key number `id`, whose length (up to `longest`) and bytes depend on nothing else. */
struct key key_of(uint32_t id, uint32_t longest);

/* Returns a random item with this timestamp. */
struct kvc_set_assoc_item random_item(uint32_t now);

/* Returns a location to erase: any, the one of this item, or a random one. */
uint32_t random_wanted(const struct kvc_set_assoc_item *item);

/* Two items without a location are equal, whatever else they contain. */
bool equal(struct kvc_set_assoc_item a, struct kvc_set_assoc_item b);

extern const struct kvc_set_assoc_item nothing; /* an item without a location */

/* Expects a table to have counted what its model counted, except lines, and that no item was dropped. */
void expect_counts(const struct kvc_index_stats *stats, const struct kvc_index_stats *expected);

#endif
