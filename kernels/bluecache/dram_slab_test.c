#include "kernels/bluecache/dram_slab.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/bluecache/index.h"
#include "kernels/random_fixture.h"

static struct kvc_dram_slab *create(uint64_t slabs)
{
    struct kvc_dram_slab *slab = kvc_dram_slab_create(
        &(struct kvc_dram_slab_params){.bytes = slabs * KVC_DRAM_SLAB_BYTES, .seed = 42});
    cr_assert_not_null(slab);
    return slab;
}

static uint64_t reserve(struct kvc_dram_slab *slab, uint32_t key_bytes, uint32_t value_bytes, uint32_t now,
                        bool *fresh)
{
    struct kvc_dram_slab_stats stats = {0};
    uint64_t pointer;
    uint32_t fresh_count;
    if (kvc_dram_slab_reserve(slab, key_bytes, value_bytes, now, 1, &pointer, &fresh_count, &stats) != 1) {
        return UINT64_MAX;
    }
    *fresh = fresh_count == 1;
    return pointer;
}

Test(dram_slab, rejects_bad_params)
{
    errno = 0;
    cr_assert_null(kvc_dram_slab_create(&(struct kvc_dram_slab_params){.bytes = (UINT64_C(512) << 30) + 1}));
    cr_assert_eq(errno, EINVAL);
    kvc_dram_slab_free(NULL);
}

/* Every class is large enough, classes above the smallest waste at most a fifth, and larger items never get
 * smaller classes. */
Test(dram_slab, classes_fit_their_items)
{
    uint32_t before = 0;
    for (uint32_t value = 0; value <= KVC_BLUECACHE_VALUE_MAX; value += 1 + value / 64) {
        uint32_t need = KVC_DRAM_SLAB_HEADER_BYTES + 20 + value;
        uint32_t bytes = kvc_dram_slab_item_bytes(20, value);
        cr_assert_geq(bytes, need);
        cr_assert_geq(bytes, before);
        cr_assert_eq(bytes % 16, 0);
        if (need > 64) {
            cr_assert_leq(bytes - need, bytes / 5);
        }
        before = bytes;
    }
    cr_assert_eq(kvc_dram_slab_item_bytes(0, 0), 64);
    cr_assert_eq(kvc_dram_slab_item_bytes(255, KVC_BLUECACHE_VALUE_MAX), 5 << 18);
    cr_assert_eq(kvc_dram_slab_item_bytes(256, 0), 0);
    cr_assert_eq(kvc_dram_slab_item_bytes(0, KVC_BLUECACHE_VALUE_MAX + 1), 0);
    cr_assert_eq(kvc_dram_slab_item_bytes(UINT32_MAX, UINT32_MAX), 0);
}

Test(dram_slab, zero_and_maximum_sizes_come_back)
{
    struct kvc_dram_slab *slab = create(2);
    struct kvc_dram_slab_stats stats = {0};
    uint8_t *bytes = malloc(KVC_BLUECACHE_VALUE_MAX);
    uint8_t key[KVC_BLUECACHE_KEY_MAX];
    bool fresh;
    memset(key, 3, sizeof(key));
    memset(bytes, 5, KVC_BLUECACHE_VALUE_MAX);
    bytes[KVC_BLUECACHE_VALUE_MAX - 1] = 6;
    struct kvc_dram_item out, empty = {.back = (UINT64_C(1) << 40) - 1, .timestamp = UINT32_MAX},
                              full = {.back = 1,
                                      .key = key,
                                      .key_bytes = sizeof(key),
                                      .value = bytes,
                                      .value_bytes = KVC_BLUECACHE_VALUE_MAX};
    uint64_t first = reserve(slab, 0, 0, 0, &fresh);
    uint64_t second = reserve(slab, 255, KVC_BLUECACHE_VALUE_MAX, 0, &fresh);
    cr_assert_not(kvc_dram_slab_item(slab, 64, &out), "never reserved");
    cr_assert_not(kvc_dram_slab_item(slab, first + 1, &out), "not the start of an item");
    cr_assert_not(kvc_dram_slab_item(slab, second + (5 << 18), &out), "an item would not fit there");
    cr_assert_not(kvc_dram_slab_item(slab, kvc_dram_slab_capacity_bytes(slab), &out));
    cr_assert_not(kvc_dram_slab_item(slab, UINT64_MAX, &out));
    kvc_dram_slab_write(slab, first, &empty, &stats);
    kvc_dram_slab_write(slab, second, &full, &stats);
    cr_assert(kvc_dram_slab_item(slab, first, &out));
    cr_assert_eq(out.back, empty.back);
    cr_assert_eq(out.timestamp, UINT32_MAX);
    cr_assert_eq(out.key_bytes + out.value_bytes, 0);
    cr_assert(kvc_dram_slab_item(slab, second, &out));
    cr_assert_eq(out.value_bytes, KVC_BLUECACHE_VALUE_MAX);
    cr_assert_arr_eq(out.key, key, sizeof(key));
    cr_assert_arr_eq(out.value, bytes, KVC_BLUECACHE_VALUE_MAX);
    cr_assert_eq(stats.write_lines, 1 + (16 + 255 + KVC_BLUECACHE_VALUE_MAX + 63) / 64);
    cr_assert_eq(reserve(slab, 0, 100, 0, &fresh), UINT64_MAX, "no slab left for a third class");
    free(bytes);
    kvc_dram_slab_free(slab);
}

/* Every item of a class is reserved once before the first eviction, and reserved items are never victims. */
Test(dram_slab, every_item_once_then_none_while_reserved)
{
    enum { ITEMS = 2 * KVC_DRAM_SLAB_BYTES / 1024 };
    struct kvc_dram_slab *slab = create(2);
    struct kvc_dram_slab_stats stats = {0};
    uint64_t pointer[ITEMS + 10];
    uint8_t seen[ITEMS] = {0};
    uint32_t fresh;
    cr_assert_eq(kvc_dram_slab_reserve(slab, 8, 1000, 0, ITEMS + 10, pointer, &fresh, &stats), ITEMS);
    cr_assert_eq(fresh, ITEMS);
    for (int i = 0; i < ITEMS; i++) {
        cr_assert_eq(pointer[i] % 1024, 0);
        cr_assert_eq(seen[pointer[i] / 1024]++, 0);
    }
    for (int i = 0; i < 7; i++) {
        kvc_dram_slab_write(slab, pointer[i * 100], &(struct kvc_dram_item){.back = 9}, &stats);
    }
    uint64_t again[10];
    cr_assert_eq(kvc_dram_slab_reserve(slab, 8, 1000, 0, 10, again, &fresh, &stats), 7,
                 "the seven written ones");
    cr_assert_eq(fresh, 0);
    for (int i = 0; i < 7; i++) {
        cr_assert_eq(again[i] / 1024 % 100, 0);
        cr_assert_eq(seen[again[i] / 1024]++, 1);
    }
    cr_assert_eq(stats.evicted, 7);
    kvc_dram_slab_free(slab);
}

/* A victim is the oldest of four random items. Ranked by age among n items, with rank 0 for the oldest, its
 * mean rank is n / 5, and it is among the oldest tenth with a probability of 1 - 0.9^4 = 0.344. A random
 * victim would have a mean rank of n / 2. */
Test(dram_slab, victims_are_the_oldest_of_four)
{
    enum { ITEMS = KVC_DRAM_SLAB_BYTES / 64, ROUNDS = 20000 };
    struct kvc_dram_slab *slab = create(1);
    struct kvc_dram_slab_stats stats = {0};
    uint64_t *pointer = malloc(ITEMS * sizeof(*pointer));
    uint32_t fresh, start = UINT32_MAX - ITEMS / 2; /* ages span the clock's wrap-around */
    kvc_dram_slab_reserve(slab, 8, 8, 0, ITEMS, pointer, &fresh, &stats);
    for (uint32_t i = 0; i < ITEMS; i++) {
        kvc_dram_slab_write(slab, pointer[i], &(struct kvc_dram_item){.timestamp = start + i}, &stats);
    }
    double rank_sum = 0, in_oldest_tenth = 0;
    for (int round = 0; round < ROUNDS; round += 10) {
        uint64_t victim[10];
        cr_assert_eq(kvc_dram_slab_reserve(slab, 8, 8, start + ITEMS, 10, victim, &fresh, &stats), 10);
        cr_assert_eq(fresh, 0);
        for (int v = 0; v < 10; v++) {
            struct kvc_dram_item item;
            cr_assert(kvc_dram_slab_item(slab, victim[v], &item), "whole until it is written");
            uint32_t rank = item.timestamp - start;
            rank_sum += rank;
            in_oldest_tenth += rank < ITEMS / 10;
            kvc_dram_slab_write(slab, victim[v], &item, &stats);
        }
    }
    cr_assert_float_eq(rank_sum / ROUNDS / ITEMS, 0.2, 0.01);
    cr_assert_float_eq(in_oldest_tenth / ROUNDS, 0.344, 0.015);
    cr_assert_eq(stats.evicted, ROUNDS);
    cr_assert_eq(stats.sampled_lines, ROUNDS * KVC_DRAM_SLAB_SAMPLES);
    free(pointer);
    kvc_dram_slab_free(slab);
}

Test(dram_slab, hits_become_young)
{
    struct kvc_dram_slab *slab = create(1);
    struct kvc_dram_slab_stats stats = {0};
    uint64_t pointer[2];
    uint32_t fresh;
    uint8_t keys[2][8] = {"aaaaaaa", "bbbbbbb"}, bytes[2] = {8, 8};
    kvc_dram_slab_reserve(slab, 8, 1, 0, 2, pointer, &fresh, &stats);
    kvc_dram_slab_write(
        slab, pointer[0],
        &(struct kvc_dram_item){.key = keys[0], .key_bytes = 8, .value = keys[1], .value_bytes = 1}, &stats);
    const uint8_t *value[2];
    uint32_t value_bytes[2];
    uint64_t asked[2] = {pointer[0], pointer[0]};
    struct kvc_dram_slab_gets gets = {.count = 2,
                                      .pointer = asked,
                                      .keys = keys[0],
                                      .stride = 8,
                                      .key_bytes = bytes,
                                      .now = 77,
                                      .value = value,
                                      .value_bytes = value_bytes};
    kvc_dram_slab_get(slab, &gets, &stats);
    cr_assert_eq(value_bytes[0], 1);
    cr_assert_eq(*value[0], 'b');
    cr_assert_null(value[1], "another key");
    struct kvc_dram_item item;
    cr_assert(kvc_dram_slab_item(slab, pointer[0], &item));
    cr_assert_eq(item.timestamp, 77);
    asked[0] = pointer[1];
    asked[1] = UINT64_MAX;
    kvc_dram_slab_get(slab, &gets, &stats);
    cr_assert_null(value[0], "reserved but not written");
    cr_assert_null(value[1]);
    bytes[0] = 7;
    asked[0] = pointer[0];
    kvc_dram_slab_get(slab, &gets, &stats);
    cr_assert_null(value[0], "a shorter key");
    cr_assert_eq(stats.get_hits, 1);
    cr_assert_eq(stats.gets, 6);
    kvc_dram_slab_free(slab);
}

/* Items of many sizes are written repeatedly and compared with a copy. */
Test(dram_slab, random_operations_agree_with_a_plain_map)
{
    enum { SLABS = 18, OPERATIONS = 100000, KEY_END = 32, VALUE_END = 1024 };
    struct kvc_dram_slab *slab = create(SLABS);
    struct kvc_dram_slab_stats stats = {0};
    struct {
        uint64_t seed;
        uint32_t key_bytes, value_bytes;
        bool used;
    } *model = calloc(SLABS * KVC_DRAM_SLAB_BYTES / 64,
                      sizeof(*model)); /* no two items start in the same 64 bytes */
    uint8_t pattern[256 + KEY_END + VALUE_END];
    for (size_t i = 0; i < sizeof(pattern); i++) {
        pattern[i] = (uint8_t)(i * 7 + i / 256);
    }
    uint64_t evictions = 0, refused = 0;
    for (uint32_t n = 0; n < OPERATIONS; n++) {
        uint64_t seed = random_word();
        uint32_t key_bytes = (uint32_t)(random_word() % KEY_END);
        uint32_t value_bytes = (uint32_t)(random_word() % (UINT64_C(1) << random_word() % 11));
        bool fresh;
        uint64_t pointer = reserve(slab, key_bytes, value_bytes, n, &fresh);
        if (pointer == UINT64_MAX) {
            refused++; /* all slabs went to other classes */
            continue;
        }
        uint64_t m = pointer / 64;
        struct kvc_dram_item item;
        cr_assert_eq(model[m].used, !fresh);
        if (!fresh) {
            evictions++;
            cr_assert(kvc_dram_slab_item(slab, pointer, &item));
            cr_assert_eq(item.back, model[m].seed >> 24);
            cr_assert_eq(item.key_bytes, model[m].key_bytes);
            cr_assert_eq(item.value_bytes, model[m].value_bytes);
            cr_assert_eq(
                memcmp(item.key, pattern + (uint8_t)model[m].seed, item.key_bytes + item.value_bytes), 0);
        }
        model[m].used = true;
        model[m].seed = seed;
        model[m].key_bytes = key_bytes;
        model[m].value_bytes = value_bytes;
        item = (struct kvc_dram_item){.back = seed >> 24,
                                      .timestamp = n,
                                      .key = pattern + (uint8_t)seed,
                                      .key_bytes = key_bytes,
                                      .value = pattern + (uint8_t)seed + key_bytes,
                                      .value_bytes = value_bytes};
        kvc_dram_slab_write(slab, pointer, &item, &stats);
    }
    cr_assert_gt(evictions, 1000);
    cr_assert_eq(stats.writes + refused, OPERATIONS);
    free(model);
    kvc_dram_slab_free(slab);
}

/* A store with slabs of another size holds that many items, and refuses what no slab has room for. */
Test(dram_slab, slabs_may_be_smaller)
{
    enum { ITEM_BYTES = 1024, IN_SLAB = 5, SLABS = 3 };
    const struct kvc_dram_slab_params params = {
        .bytes = SLABS * IN_SLAB * ITEM_BYTES, .seed = 42, .slab_bytes = IN_SLAB * ITEM_BYTES};
    struct kvc_dram_slab *slab = kvc_dram_slab_create(&params);
    bool fresh = true;
    uint64_t pointer;
    cr_assert_not_null(slab);
    cr_expect_eq(kvc_dram_slab_capacity_bytes(slab), params.bytes);
    for (uint32_t i = 0; i < SLABS * IN_SLAB; i++) {
        pointer = reserve(slab, 24, 900, 0, &fresh);
        cr_assert_eq(pointer, i * ITEM_BYTES);
    }
    pointer = reserve(slab, 24, 900, 0, &fresh);
    cr_expect_eq(pointer, UINT64_MAX, "all items are reserved");
    pointer = reserve(slab, 24, IN_SLAB * ITEM_BYTES, 0, &fresh);
    cr_expect_eq(pointer, UINT64_MAX, "too large for a slab");
    kvc_dram_slab_free(slab);
    errno = 0;
    slab = kvc_dram_slab_create(&(struct kvc_dram_slab_params){.bytes = 4096, .slab_bytes = 1000});
    cr_expect_null(slab);
    cr_expect_eq(errno, EINVAL);
}
