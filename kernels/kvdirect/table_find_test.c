#include "kernels/kvdirect/table.h"

#include <criterion/criterion.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/random_fixture.h"
#include "kernels/kvdirect/table_fixture.h"

Test(kvdirect_table, keys_that_begin_alike)
{
    struct kvc_kvdirect_table *table = create(1 << 15, 0.1, 50);
    struct kvc_kvdirect_table_stats stats = {0};
    uint8_t key[40], value[4];
    memset(key, 'x', sizeof(key));
    for (uint32_t bytes = 9; bytes <= 40; bytes++) {
        for (uint8_t last = 0; last < 10; last++) {
            key[bytes - 1] = last;
            cr_assert_eq(put(table, key, bytes, &(uint32_t){bytes * 256 + last}, 4, &stats),
                         KVC_KVDIRECT_TABLE_OK);
        }
        key[bytes - 1] = 'x';
    }
    cr_assert_eq(kvc_kvdirect_table_pairs(table), 32 * 10);
    for (uint32_t bytes = 9; bytes <= 40; bytes++) {
        for (uint8_t last = 0; last < 10; last++) {
            key[bytes - 1] = last;
            cr_assert_eq(get(table, key, bytes, value, &stats), 4);
            cr_assert_eq(memcmp(value, &(uint32_t){bytes * 256 + last}, 4), 0);
        }
        key[bytes - 1] = 'x';
    }
    kvc_kvdirect_table_free(table);
}

/* A key equals another key followed by the first byte of its value, and both have the same bucket and
 * secondary hash. */
Test(kvdirect_table, a_key_that_runs_into_the_value)
{
    struct kvc_kvdirect_table *table = create(1024, 0.5, 0);
    struct kvc_kvdirect_table_stats stats = {0};
    uint8_t key[9] = {0};
    for (uint64_t i = 0;; i++) {
        memcpy(key, &i, 8);
        key[8] = (uint8_t)(i * 31);
        uint64_t shorter = kvc_hash(key, 8, TABLE_SEED), longer = kvc_hash(key, 9, TABLE_SEED);
        if (shorter >> 55 == longer >> 55 && (shorter & 0xffffffff) >> 29 == (longer & 0xffffffff) >> 29) {
            break;
        }
    }
    cr_assert_eq(kvc_kvdirect_table_index_buckets(table), 8);
    cr_assert_eq(put(table, key, 8, key + 8, 1, &stats), KVC_KVDIRECT_TABLE_OK);
    uint8_t value[512];
    cr_assert_eq(get(table, key, 9, value, &stats), -1);
    cr_assert_eq(stats.false_matches, 1);
    kvc_kvdirect_table_free(table);
}

Test(kvdirect_table, all_keys_in_one_bucket)
{
    struct kvc_kvdirect_table *table = create(1 << 17, 0.125, 25);
    struct kvc_kvdirect_table_stats stats = {0};
    enum { KEYS = 300 };
    uint64_t key[KEYS], slabs = kvc_kvdirect_table_free_slab_bytes(table);
    uint32_t bytes[KEYS] = {0};
    keys_of_bucket(table, key, KEYS);
    for (int i = 0; i < 20000; i++) {
        uint64_t which = random_word() % KEYS;
        if (random_word() % 3 == 0) {
            cr_assert_eq(erase(table, &key[which], 8, &stats),
                         bytes[which] != 0 ? KVC_KVDIRECT_TABLE_OK : KVC_KVDIRECT_TABLE_ABSENT);
            bytes[which] = 0;
        } else {
            uint32_t pair_bytes = 8 + (uint32_t)(random_word() % 60);
            cr_assert_eq(put_pair(table, key[which], pair_bytes, &stats), KVC_KVDIRECT_TABLE_OK);
            bytes[which] = pair_bytes;
        }
        uint64_t other = random_word() % KEYS;
        cr_assert_eq(has_pair(table, key[other], bytes[other] != 0 ? bytes[other] : 8, &stats),
                     bytes[other] != 0);
    }
    cr_assert_gt(stats.false_matches, 0);
    for (int i = 0; i < KEYS; i++) {
        erase(table, &key[i], 8, &stats);
    }
    cr_assert_eq(kvc_kvdirect_table_pairs(table), 0);
    cr_assert_eq(kvc_kvdirect_table_free_slab_bytes(table), slabs, "all chained buckets are released");
    kvc_kvdirect_table_free(table);
}

Test(kvdirect_table, equal_secondary_hashes)
{
    struct kvc_kvdirect_table *table = create(1 << 14, 0.5, 0);
    struct kvc_kvdirect_table_stats stats = {0};
    uint64_t key[3];
    for (int i = 0; i < 3; i++) {
        key[i] = key_of_bucket(table, 5, 77, i == 0 ? 0 : key[i - 1] + 1);
    }
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(put_pair(table, key[i], 40, &stats), KVC_KVDIRECT_TABLE_OK);
    }
    cr_assert_eq(stats.false_matches, 0 + 1 + 2);
    cr_assert_eq(stats.put.slab_reads, 3);
    for (uint64_t i = 0; i < 3; i++) {
        struct kvc_kvdirect_table_stats one = {0};
        cr_assert(has_pair(table, key[i], 40, &one));
        cr_assert_eq(one.false_matches, i);
        cr_assert_eq(one.get.slab_reads, i + 1);
    }
    cr_assert_eq(erase(table, &key[1], 8, &stats), KVC_KVDIRECT_TABLE_OK);
    cr_assert(has_pair(table, key[0], 40, &stats));
    cr_assert_not(has_pair(table, key[1], 40, &stats));
    cr_assert(has_pair(table, key[2], 40, &stats));
    kvc_kvdirect_table_free(table);
}

/* Pairs of every size share buckets with other pairs, which must not change. */
Test(kvdirect_table, every_size)
{
    for (uint32_t threshold = 0; threshold <= KVC_KVDIRECT_TABLE_INLINE_MAX; threshold += 10) {
        struct kvc_kvdirect_table *table = create(1 << 15, 0.25, threshold);
        struct kvc_kvdirect_table_stats stats = {0};
        uint8_t key[255], value[512], got[512];
        memset(key, 'k', sizeof(key));
        for (uint64_t other = 0; other < 150; other++) {
            cr_assert_eq(put_pair(table, other, 8 + other % 9, &stats), KVC_KVDIRECT_TABLE_OK);
        }
        uint64_t slabs = kvc_kvdirect_table_free_slab_bytes(table),
                 pairs = kvc_kvdirect_table_pair_bytes(table);
        for (uint32_t key_bytes = 1; key_bytes <= 255; key_bytes += key_bytes < 60 ? 1 : 13) {
            for (uint32_t i = 0; i < 250; i++) {
                uint32_t value_bytes = i < 60 ? i : (uint32_t)(random_word() % (511 - key_bytes));
                fill_value(value, i, value_bytes);
                cr_assert_eq(put(table, key, key_bytes, value, value_bytes, &stats), KVC_KVDIRECT_TABLE_OK);
                cr_assert_eq(get(table, key, key_bytes, got, &stats), (int)value_bytes);
                cr_assert_eq(memcmp(value, got, value_bytes), 0);
                cr_assert_eq(get(table, key, key_bytes - 1, got, &stats), -1, "a prefix is another key");
                cr_assert_eq(kvc_kvdirect_table_pair_bytes(table), pairs + key_bytes + value_bytes);
            }
            cr_assert_eq(put(table, key, key_bytes, value, 511 - key_bytes, &stats), KVC_KVDIRECT_TABLE_SIZE);
            cr_assert_eq(erase(table, key, key_bytes, &stats), KVC_KVDIRECT_TABLE_OK);
        }
        cr_assert_eq(put(table, key, 0, value, 5, &stats), KVC_KVDIRECT_TABLE_SIZE);
        for (uint64_t other = 0; other < 150; other++) {
            cr_assert(has_pair(table, other, 8 + other % 9, &stats));
        }
        cr_assert_geq(kvc_kvdirect_table_free_slab_bytes(table) + 64, slabs,
                      "a chained bucket may hold other pairs now");
        kvc_kvdirect_table_free(table);
    }
}

Test(kvdirect_table, a_value_that_does_not_fit)
{
    struct kvc_kvdirect_table *table = create(4096, 0.5, 20);
    struct kvc_kvdirect_table_stats stats = {0};
    char room[4] = "abc";
    cr_assert_eq(put(table, "key", 3, "value", 5, &stats), KVC_KVDIRECT_TABLE_OK);
    struct kvc_kvdirect_table_op op = {
        .verb = KVC_KVDIRECT_TABLE_GET, .key = "key", .key_bytes = 3, .value = room, .value_bytes = 4};
    kvc_kvdirect_table_run(table, &op, 1, &stats);
    cr_assert_eq(op.result, KVC_KVDIRECT_TABLE_SIZE);
    cr_assert_eq(op.value_bytes, 5);
    cr_assert_str_eq(room, "abc");
    kvc_kvdirect_table_free(table);
}
