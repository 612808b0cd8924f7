/* Tests of slabs in memory and on the SSD: an item is found at its place until its slab is overwritten. */
#include "models/memcached/store.h"

#include <criterion/criterion.h>

enum { ITEM = 300000, PER_SLAB = 3, PAGE = 8192, SLAB_PAGES = 128 };

static const struct kvc_memcached_slab_sizes sizes = {.memory_slabs = 2, .disk_slabs = 4, .page_bytes = PAGE};

Test(memcached_slabs, slabs_leave_the_memory_as_a_whole_and_in_order)
{
    struct kvc_memcached_slabs slabs = {0};
    struct kvc_memcached_drain drain;
    for (uint32_t i = 0; i < 12 * PER_SLAB; i++) {
        struct kvc_memcached_place place = kvc_memcached_slabs_add(&slabs, &sizes, ITEM, &drain);
        uint32_t slab = i / PER_SLAB;
        bool drains = i % PER_SLAB == 0 && slab >= 2;
        cr_expect_eq(place.slab, slab);
        cr_expect_eq(place.offset, i % PER_SLAB * ITEM);
        cr_expect_eq(drain.written.count, drains ? SLAB_PAGES : 0);
        cr_expect_eq(drain.evicts, drains && slab >= 6, "item %u", i);
        if (drains) {
            cr_expect_eq(drain.written.first, (slab - 2) % 4 * SLAB_PAGES);
        }
    }
}

Test(memcached_slabs, items_are_found_until_their_slab_is_overwritten)
{
    struct kvc_memcached_slabs slabs = {0};
    struct kvc_memcached_drain drain;
    struct kvc_memcached_pages pages;
    struct kvc_memcached_place place[10 * PER_SLAB];
    for (uint32_t i = 0; i < 10 * PER_SLAB; i++) {
        place[i] = kvc_memcached_slabs_add(&slabs, &sizes, ITEM, &drain);
    }
    for (uint32_t i = 0; i < 10 * PER_SLAB; i++) {
        uint32_t age = 9 - i / PER_SLAB;
        bool found = kvc_memcached_slabs_find(&slabs, &sizes, &place[i], ITEM, &pages);
        cr_expect_eq(found, age < 6, "item %u", i);
        bool on_disk = age >= 2 && age < 6;
        uint32_t first = place[i].offset / PAGE, last = (place[i].offset + ITEM - 1) / PAGE;
        cr_expect_eq(pages.count, on_disk ? last - first + 1 : 0, "item %u has %u pages", i, pages.count);
        if (on_disk) {
            cr_expect_eq(pages.first, i / PER_SLAB % 4 * SLAB_PAGES + first);
        }
    }
}
