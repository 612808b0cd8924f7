#include "kernels/kvdirect/table.h"

#include <criterion/criterion.h>

#include "kernels/kvdirect/table_fixture.h"

Test(kvdirect_table, a_full_table_loses_nothing)
{
    static const struct {
        uint32_t pair_bytes, inline_bytes;
        double hash_index_frac;
        uint64_t reached_percent; /* At least this share of the capacity is reached. */
    } shapes[] = {
        {10, 50, 0.5, 75}, /* chaining leaves gaps in inline buckets */
        {60, 50, 0.5, 97}, /* slabs are handed out to the last */
        {254, 50, 0.05, 97},
        {40, 0, 0.02, 95}, /* most slots are in chained buckets */
    };
    for (size_t shape = 0; shape < sizeof(shapes) / sizeof(shapes[0]); shape++) {
        const uint32_t pair_bytes = shapes[shape].pair_bytes;
        struct kvc_kvdirect_table *table =
            create(1 << 18, shapes[shape].hash_index_frac, shapes[shape].inline_bytes);
        struct kvc_kvdirect_table_stats stats = {0};
        enum { TRIES = 40000 };
        static bool in[TRIES];
        uint64_t held = 0;
        for (uint64_t key = 0; key < TRIES; key++) {
            enum kvc_kvdirect_table_result result = put_pair(table, key, pair_bytes, &stats);
            cr_assert(result == KVC_KVDIRECT_TABLE_OK || result == KVC_KVDIRECT_TABLE_FULL);
            in[key] = result == KVC_KVDIRECT_TABLE_OK;
            held += in[key];
        }
        cr_assert_eq(stats.full, TRIES - held);
        cr_assert_gt(stats.full, 0);
        cr_assert_eq(kvc_kvdirect_table_pairs(table), held);
        cr_assert_leq(held, kvc_kvdirect_table_capacity(table, pair_bytes));
        cr_assert_geq(held,
                      kvc_kvdirect_table_capacity(table, pair_bytes) * shapes[shape].reached_percent / 100,
                      "%u bytes: %lu", pair_bytes, (unsigned long)held);
        for (uint64_t key = 0; key < TRIES; key++) {
            cr_assert_eq(has_pair(table, key, pair_bytes, &stats), in[key]);
        }
        /* A pair can still be overwritten in place, but not by one that needs more memory. */
        uint64_t there = 0;
        while (!in[there]) {
            there++;
        }
        cr_assert_eq(put_pair(table, there, pair_bytes, &stats), KVC_KVDIRECT_TABLE_OK);
        cr_assert_eq(put_pair(table, there, 510, &stats), KVC_KVDIRECT_TABLE_FULL);
        uint64_t asked = stats.slab.failed;
        cr_assert_eq(put_pair(table, there, 510, &stats), KVC_KVDIRECT_TABLE_FULL);
        cr_assert_eq(stats.slab.failed, asked, "no slab was released, so the allocator is not asked again");
        cr_assert(has_pair(table, there, pair_bytes, &stats));
        cr_assert_eq(kvc_kvdirect_table_pairs(table), held);
        /* The room of deleted pairs is used again. */
        uint64_t deleted = 0, again = 0;
        for (uint64_t key = 0; key < TRIES; key += 2) {
            deleted += erase(table, &key, 8, &stats) == KVC_KVDIRECT_TABLE_OK;
        }
        for (uint64_t key = TRIES; key < 2 * TRIES; key++) {
            again += put_pair(table, key, pair_bytes, &stats) == KVC_KVDIRECT_TABLE_OK;
        }
        cr_assert_gt(again, deleted * 95 / 100);
        kvc_kvdirect_table_free(table);
    }
}

Test(kvdirect_table, capacity)
{
    struct kvc_kvdirect_table *table = create(1 << 16, 0.5, 20);
    cr_assert_eq(kvc_kvdirect_table_index_buckets(table), 512);
    cr_assert_eq(kvc_kvdirect_table_free_slab_bytes(table), 1 << 15);
    cr_assert_eq(kvc_kvdirect_table_capacity(table, 0), 0);
    cr_assert_eq(kvc_kvdirect_table_capacity(table, 5), 1024 * 10);
    cr_assert_eq(kvc_kvdirect_table_capacity(table, 6), 1024 * 5);
    cr_assert_eq(kvc_kvdirect_table_capacity(table, 12), 1024 * 3);
    cr_assert_eq(kvc_kvdirect_table_capacity(table, 21), 32768 / 32);
    cr_assert_eq(kvc_kvdirect_table_capacity(table, 254), 32768 / 256);
    cr_assert_eq(kvc_kvdirect_table_capacity(table, 255), 32768 / 512);
    cr_assert_eq(kvc_kvdirect_table_capacity(table, 510), 32768 / 512);
    cr_assert_eq(kvc_kvdirect_table_capacity(table, 511), 0);
    kvc_kvdirect_table_free(table);
    table = create(1 << 16, 0.001, 0); /* 8 buckets, 65024 bytes of slabs */
    cr_assert_eq(kvc_kvdirect_table_index_buckets(table), 8);
    /* 80 slabs of 32 bytes use the index's slots; after that every ten pairs need 384 bytes. */
    cr_assert_eq(kvc_kvdirect_table_capacity(table, 30), 80 + (65024 - 80 * 32) * 10 / 384);
    kvc_kvdirect_table_free(table);
    table = create(1024, 1, 50);
    cr_assert_eq(kvc_kvdirect_table_free_slab_bytes(table), 0);
    cr_assert_eq(kvc_kvdirect_table_capacity(table, 50), 16);
    cr_assert_eq(kvc_kvdirect_table_capacity(table, 51), 0);
    struct kvc_kvdirect_table_stats stats = {0};
    cr_assert_eq(put_pair(table, 1, 51, &stats), KVC_KVDIRECT_TABLE_FULL);
    cr_assert(kvc_kvdirect_table_daemon(table, &stats));
    kvc_kvdirect_table_free(table);
}
