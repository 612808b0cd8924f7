#include "kernels/item_log/item_log.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/index.h"

static struct kvc_item_log *create(uint64_t bytes, uint32_t page_bytes, bool compact)
{
    struct kvc_item_log *log = kvc_item_log_create(
        &(struct kvc_item_log_params){.bytes = bytes, .page_bytes = page_bytes, .compact = compact});
    cr_assert_not_null(log);
    return log;
}

/* Appends item `number`, whose value is its number, and counts what it evicts. */
static uint32_t append(struct kvc_item_log *log, uint64_t number, uint32_t value_bytes, uint32_t *evicted)
{
    uint8_t value[256] = {0};
    struct kvc_item_log_evicted gone;
    memcpy(value, &number, sizeof(number));
    while (kvc_item_log_evict(log, sizeof(number), value_bytes, &gone)) {
        ++*evicted;
        cr_assert_eq(kvc_item_log_position(log, gone.location), UINT64_MAX);
    }
    return kvc_item_log_append(log, &(struct kvc_item_log_item){.hash = number * 3,
                                                                .key_bytes = sizeof(number),
                                                                .value_bytes = value_bytes,
                                                                .key = &number,
                                                                .value = value});
}

static bool holds(const struct kvc_item_log *log, uint32_t location, uint64_t number, uint8_t value[256])
{
    return kvc_item_log_read(log, location, number * 3, &number, sizeof(number), value);
}

Test(item_log, needs_a_capacity)
{
    errno = 0;
    cr_expect_null(kvc_item_log_create(&(struct kvc_item_log_params){.bytes = 0}));
    cr_expect_eq(errno, EINVAL);
}

/* 1,000 items of 48 bytes in a log with room for 100 of them, which wraps within an item. */
Test(item_log, keeps_the_newest_items)
{
    enum { ITEMS = 5000, ROOM = 100, VALUE = 32 };
    static uint32_t location[ITEMS];
    for (int compact = 0; compact < 2; compact++) {
        struct kvc_item_log *log = create(ROOM * 48 + 8, 0, compact != 0);
        uint32_t evicted = 0;
        for (uint64_t i = 0; i < ITEMS; i++) {
            location[i] = append(log, i, VALUE, &evicted);
        }
        cr_expect_eq(evicted, ITEMS - ROOM);
        cr_expect_eq(kvc_item_log_used(log), ROOM);
        cr_expect_eq(kvc_item_log_end(log), ITEMS * 48);
        for (uint64_t i = 0; i < ITEMS; i++) {
            uint8_t value[256];
            uint64_t stored = i;
            bool hit = holds(log, location[i], i, value);
            cr_assert_eq(hit, i >= ITEMS - ROOM, "item %d", (int)i);
            if (hit && compact == 0) {
                memcpy(&stored, value, sizeof(stored));
            }
            cr_assert_eq(stored, i);
            cr_assert_not(holds(log, location[i], i + 1, value));
        }
        kvc_item_log_free(log);
    }
}

Test(item_log, keeps_items_within_pages)
{
    struct kvc_item_log *log = create(4096, 512, true);
    uint32_t evicted = 0;
    for (uint64_t i = 0; i < 40; i++) { /* Four items of 112 bytes fit into a page. */
        uint32_t at = append(log, i, 96, &evicted);
        cr_assert_eq(kvc_item_log_position(log, at), i / 4 * 512 + i % 4 * 112);
    }
    cr_expect_eq(evicted, 8);
    kvc_item_log_free(log);
    cr_expect_eq(kvc_item_log_begin(520, 600, 512), 1024, "A long item begins at a page.");
    cr_expect_eq(kvc_item_log_begin(1024, 600, 512), 1024);
}

Test(item_log, refuses_an_item_that_is_too_large)
{
    struct kvc_item_log *log = create(64, 0, true);
    uint32_t evicted = 0;
    cr_expect_eq(append(log, 1, 100, &evicted), KVC_LOCATION_NONE);
    cr_expect_neq(append(log, 2, 40, &evicted), KVC_LOCATION_NONE);
    kvc_item_log_free(log);
}
