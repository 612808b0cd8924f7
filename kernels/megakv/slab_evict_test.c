#include "kernels/megakv/slab.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "kernels/hash.h"
#include "kernels/index.h"
#include "kernels/random_fixture.h"
#include "kernels/megakv/slab_fixture.h"

Test(slab, full_store_evicts_and_reports)
{
    enum { ITEMS = 2 * 65534, BATCH = 1000, KEYS = ITEMS * 3 };
    struct kvc_megakv_slab *slab = create_slab(4 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t *location_of_key = malloc(KEYS * sizeof(uint32_t));
    struct kvc_megakv_slab_evicted evicted[BATCH];
    uint32_t *owner = malloc(2 * 65536 * sizeof(*owner));
    uint64_t reported = 0, value;
    for (uint32_t first = 0; first + BATCH <= KEYS; first += BATCH) {
        uint32_t count;
        uint32_t *location = location_of_key + first;
        cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, 8, BATCH, location, evicted, &count, &stats), BATCH);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t key = owner[evicted[i].location];
            cr_assert_eq(evicted[i].hash, kvc_hash(&key, 8, hash_seed));
            cr_assert_eq(location_of_key[key], evicted[i].location);
            cr_assert_eq(read_word(slab, evicted[i].location, key, &value, &stats), KVC_MEGAKV_SLAB_CHANGED);
            location_of_key[key] = KVC_LOCATION_NONE;
        }
        for (uint32_t i = 0; i < BATCH; i++) {
            uint64_t key = first + i;
            value = ~key;
            owner[location[i]] = first + i;
            kvc_megakv_slab_write(slab, location[i], &key, 8, &value, 8, &stats);
        }
        reported += count;
        cr_assert_eq(kvc_megakv_slab_used_items(slab), first + BATCH - reported);
    }
    cr_assert_eq(stats.evicted, reported);
    cr_assert_eq(kvc_megakv_slab_used_items(slab), ITEMS);
    for (uint32_t key = 0; key < KEYS / BATCH * BATCH; key += 7) {
        if (location_of_key[key] != KVC_LOCATION_NONE) {
            cr_assert_eq(read_word(slab, location_of_key[key], key, &value, &stats), KVC_MEGAKV_SLAB_HIT);
            cr_assert_eq(value, ~(uint64_t)key);
        }
    }
    free(location_of_key);
    free(owner);
    kvc_megakv_slab_free(slab);
}

/* CLOCK as in textbooks, one item at a time, on a class of 16 items. */
struct clock {
    bool used[16], referenced[16];
    uint32_t hand;
    uint64_t steps;
};

static uint32_t clock_evict(struct clock *clock)
{
    for (;; clock->hand = (clock->hand + 1) % 16) {
        uint32_t i = clock->hand;
        if (!clock->used[i]) {
            continue;
        }
        clock->steps++;
        if (!clock->referenced[i]) {
            clock->used[i] = false;
            clock->hand = (i + 1) % 16;
            return i;
        }
        clock->referenced[i] = false;
    }
}

Test(slab, eviction_follows_clock)
{
    enum { VALUE = 120000 }; /* class of 128 KiB: 16 items in the only slab */
    struct kvc_megakv_slab *slab = create_slab(2 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    struct clock clock = {.hand = 0};
    uint8_t *value = calloc(1, VALUE), *out = malloc(KVC_MEGAKV_SLAB_VALUE_MAX);
    uint64_t key[16];
    cr_assert_eq(kvc_megakv_slab_item_bytes(8, VALUE), 128 << 10);
    for (uint64_t round = 0; round < 3000; round++) {
        uint32_t location[16], count, evicted_count, bytes;
        struct kvc_megakv_slab_evicted evicted[16];
        for (uint32_t i = 0; i < 16; i++) {
            if (clock.used[i] && random_word() % 3 == 0) {
                clock.referenced[i] = true;
                cr_assert_eq(read_single(slab, i, &key[i], 8, true, out, &bytes, &stats),
                             KVC_MEGAKV_SLAB_HIT);
            }
        }
        if (round > 20 && random_word() % 4 == 0) {
            uint32_t i = (uint32_t)(random_word() % 16);
            cr_assert_eq(kvc_megakv_slab_release(slab, i), clock.used[i]);
            clock.used[i] = false;
        }
        count = (uint32_t)(random_word() % 5);
        cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, VALUE, count, location, evicted, &evicted_count, &stats),
                     count);
        for (uint32_t i = 0; i < count - evicted_count; i++) {
            cr_assert_not(clock.used[location[i]], "an item in use was allocated");
        }
        for (uint32_t i = 0; i < evicted_count; i++) {
            uint32_t expected = clock_evict(&clock);
            cr_assert_eq(evicted[i].location, expected);
            cr_assert_eq(location[count - evicted_count + i], expected);
            cr_assert_eq(evicted[i].hash, kvc_hash(&key[expected], 8, hash_seed));
        }
        for (uint32_t i = 0; i < count; i++) {
            key[location[i]] = round << 8 | i;
            clock.used[location[i]] = clock.referenced[location[i]] = true;
            kvc_megakv_slab_write(slab, location[i], &key[location[i]], 8, value, VALUE, &stats);
        }
    }
    cr_assert_eq(stats.clock_steps, clock.steps);
    cr_assert_gt(stats.evicted, 1000);
    free(value);
    free(out);
    kvc_megakv_slab_free(slab);
}

Test(slab, referenced_items_survive_one_turn)
{
    enum { ITEMS = 3 * 65534, HALF = ITEMS / 2 };
    struct kvc_megakv_slab *slab = create_slab(6 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t *location = malloc(ITEMS * sizeof(*location));
    uint32_t *more = malloc(ITEMS * sizeof(*more));
    struct kvc_megakv_slab_evicted *evicted = malloc(ITEMS * sizeof(*evicted));
    uint8_t *kept = calloc(3 * 65536, 1);
    uint32_t evicted_count;
    uint64_t value;
    store_words(slab, 0, ITEMS, location, evicted, &evicted_count, &stats);
    cr_assert_eq(evicted_count, 0);
    /* All items were referenced when they were written. The first turn clears that and takes the first item.
     */
    store_words(slab, ITEMS, 1, more, evicted, &evicted_count, &stats);
    cr_assert_eq(evicted_count, 1);
    cr_assert_eq(evicted[0].location, location[0]);
    cr_assert_eq(stats.clock_steps, ITEMS + 1);
    for (uint32_t i = 1; i < ITEMS; i += 2) {
        cr_assert_eq(read_word(slab, location[i], i, &value, &stats), KVC_MEGAKV_SLAB_HIT);
        kept[location[i]] = 1;
    }
    store_words(slab, ITEMS + 1, HALF - 1, more, evicted, &evicted_count, &stats);
    cr_assert_eq(evicted_count, HALF - 1);
    for (uint32_t i = 0; i < evicted_count; i++) {
        cr_assert_eq(kept[evicted[i].location], 0, "a referenced item was evicted before one that was not");
    }
    free(location);
    free(more);
    free(evicted);
    free(kept);
    kvc_megakv_slab_free(slab);
}

Test(slab, exhausted_memory_gives_fewer)
{
    struct kvc_megakv_slab *slab = create_slab(2 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t location[8], evicted_count;
    struct kvc_megakv_slab_evicted evicted[8];
    uint32_t large = KVC_MEGAKV_SLAB_VALUE_MAX;
    /* Two items of 1 MiB are allocated and unwritten, so there is nothing to evict. */
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, large, 8, location, evicted, &evicted_count, &stats), 2);
    cr_assert_eq(evicted_count, 0);
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, large, 1, location + 2, evicted, &evicted_count, &stats), 0);
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, 8, 1, location + 2, evicted, &evicted_count, &stats), 0,
                 "no slab left");
    uint8_t *value = calloc(1, large);
    uint64_t key = 1;
    kvc_megakv_slab_write(slab, location[1], &key, 8, value, large, &stats);
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, large, 8, location + 2, evicted, &evicted_count, &stats), 1);
    cr_assert_eq(evicted_count, 1);
    cr_assert_eq(location[2], location[1]);
    cr_assert_eq(kvc_megakv_slab_used_items(slab), 0);
    cr_assert_eq(stats.allocated, 3);
    free(value);
    kvc_megakv_slab_free(slab);
}

/* If all items of a class are allocated and some are not yet written, the class evicts only the others; the
 * hand stays behind the last one that it took. */
Test(slab, hand_stays_where_a_class_ran_out)
{
    enum { VALUE = 16000, ITEMS = 128 };
    struct kvc_megakv_slab *slab = create_slab(2 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t location[ITEMS], more[ITEMS], evicted_count;
    struct kvc_megakv_slab_evicted evicted[ITEMS];
    uint8_t *value = calloc(1, VALUE);
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, VALUE, ITEMS, location, evicted, &evicted_count, &stats),
                 ITEMS);
    for (uint64_t key = 2; key < 6; key++) {
        cr_assert(kvc_megakv_slab_write(slab, location[key], &key, 8, value, VALUE, &stats));
    }
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, VALUE, 9, more, evicted, &evicted_count, &stats), 4);
    cr_assert_eq(evicted_count, 4);
    cr_assert_eq(stats.clock_steps, 8, "each once to clear, once to take");
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, VALUE, 1, more, evicted, &evicted_count, &stats), 0);
    cr_assert_eq(stats.clock_steps, 8);
    for (uint64_t key = 0; key < ITEMS; key++) {
        cr_assert(kvc_megakv_slab_write(slab, location[key], &key, 8, value, VALUE, &stats));
    }
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, VALUE, 3, more, evicted, &evicted_count, &stats), 3);
    for (uint32_t i = 0; i < 3; i++) {
        cr_assert_eq(more[i], location[64 + i]);
    }
    free(value);
    kvc_megakv_slab_free(slab);
}
