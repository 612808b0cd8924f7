#include "kernels/kvdirect/table.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/random_fixture.h"

enum { TABLE_SEED = 42 }; /* seed of the tables that create() makes */

/* Creates a table; the test fails if that is impossible. */
static struct kvc_kvdirect_table *create(uint64_t bytes, double hash_index_frac, uint32_t inline_bytes)
{
    struct kvc_kvdirect_table *table =
        kvc_kvdirect_table_create(&(struct kvc_kvdirect_table_params){.bytes = bytes,
                                                                      .hash_index_frac = hash_index_frac,
                                                                      .inline_bytes = inline_bytes,
                                                                      .seed = TABLE_SEED});
    cr_assert_not_null(table);
    return table;
}

/* Fills a value with bytes that depend on a number (its key's, or a serial one) and on its size. */
static void fill_value(uint8_t *value, uint64_t what, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        value[i] =
            (uint8_t)((what * 0x9e3779b97f4a7c15 + bytes * 0xbf58476d1ce4e5b9) >> (i * 7 % 57)) ^ (uint8_t)i;
    }
}

/* Runs one PUT. */
static enum kvc_kvdirect_table_result put(struct kvc_kvdirect_table *table, const void *key,
                                          uint32_t key_bytes, const void *value, uint32_t value_bytes,
                                          struct kvc_kvdirect_table_stats *stats)
{
    struct kvc_kvdirect_table_op op = {.verb = KVC_KVDIRECT_TABLE_PUT,
                                       .key = key,
                                       .key_bytes = (uint8_t)key_bytes,
                                       .value = (void *)value,
                                       .value_bytes = (uint16_t)value_bytes};
    kvc_kvdirect_table_run(table, &op, 1, stats);
    return op.result;
}

/* Runs one DELETE. */
static enum kvc_kvdirect_table_result erase(struct kvc_kvdirect_table *table, const void *key,
                                            uint32_t key_bytes, struct kvc_kvdirect_table_stats *stats)
{
    struct kvc_kvdirect_table_op op = {
        .verb = KVC_KVDIRECT_TABLE_DELETE, .key = key, .key_bytes = (uint8_t)key_bytes};
    kvc_kvdirect_table_run(table, &op, 1, stats);
    return op.result;
}

/* Runs one GET. Returns the size of the value, which is copied to `value`, or -1. */
static int get(struct kvc_kvdirect_table *table, const void *key, uint32_t key_bytes, void *value,
               struct kvc_kvdirect_table_stats *stats)
{
    struct kvc_kvdirect_table_op op = {.verb = KVC_KVDIRECT_TABLE_GET,
                                       .key = key,
                                       .key_bytes = (uint8_t)key_bytes,
                                       .value = value,
                                       .value_bytes = KVC_KVDIRECT_TABLE_PAIR_MAX};
    kvc_kvdirect_table_run(table, &op, 1, stats);
    return op.result == KVC_KVDIRECT_TABLE_OK ? op.value_bytes : -1;
}

/* Puts a pair of this size with an 8-byte key, or with as many bytes as the pair has. */
static enum kvc_kvdirect_table_result put_pair(struct kvc_kvdirect_table *table, uint64_t key,
                                               uint32_t pair_bytes, struct kvc_kvdirect_table_stats *stats)
{
    uint8_t value[KVC_KVDIRECT_TABLE_PAIR_MAX];
    uint32_t key_bytes = pair_bytes < 8 ? pair_bytes : 8;
    fill_value(value, key, pair_bytes - key_bytes);
    return put(table, &key, key_bytes, value, pair_bytes - key_bytes, stats);
}

/* Says whether the table has a pair that put_pair has put. */
static bool has_pair(struct kvc_kvdirect_table *table, uint64_t key, uint32_t pair_bytes,
                     struct kvc_kvdirect_table_stats *stats)
{
    uint8_t value[KVC_KVDIRECT_TABLE_PAIR_MAX], expected[KVC_KVDIRECT_TABLE_PAIR_MAX];
    uint32_t key_bytes = pair_bytes < 8 ? pair_bytes : 8;
    fill_value(expected, key, pair_bytes - key_bytes);
    int bytes = get(table, &key, key_bytes, value, stats);
    return bytes == (int)(pair_bytes - key_bytes) && memcmp(value, expected, (size_t)bytes) == 0;
}

/* Returns the next 8-byte key from `from` on that belongs to this bucket and has this secondary hash; any if
 * that is above 511. */
static uint64_t key_of_bucket(const struct kvc_kvdirect_table *table, uint64_t bucket, uint32_t secondary,
                              uint64_t from)
{
    for (uint64_t key = from;; key++) {
        uint64_t hash = kvc_hash(&key, 8, TABLE_SEED);
        if ((hash & 0xffffffff) * kvc_kvdirect_table_index_buckets(table) >> 32 == bucket &&
            (secondary > 511 || hash >> 55 == secondary)) {
            return key;
        }
    }
}

/* Returns the first keys of bucket 3. */
static void keys_of_bucket(const struct kvc_kvdirect_table *table, uint64_t *key, int count)
{
    for (int i = 0; i < count; i++) {
        key[i] = key_of_bucket(table, 3, 512, i == 0 ? 0 : key[i - 1] + 1);
    }
}

Test(kvdirect_table, rejects_bad_params)
{
    struct kvc_kvdirect_table_params bad[] = {
        {.bytes = 512, .hash_index_frac = 0.5},
        {.bytes = 1025, .hash_index_frac = 0.5},
        {.bytes = UINT64_C(128) << 30, .hash_index_frac = 0.5},
        {.bytes = 4096, .hash_index_frac = 0},
        {.bytes = 4096, .hash_index_frac = -1},
        {.bytes = 4096, .hash_index_frac = 1.01},
        {.bytes = 4096, .hash_index_frac = (double)NAN},
        {.bytes = 4096, .hash_index_frac = 0.5, .inline_bytes = 51},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        errno = 0;
        cr_assert_null(kvc_kvdirect_table_create(&bad[i]));
        cr_assert_eq(errno, EINVAL);
    }
    kvc_kvdirect_table_free(NULL);
}

Test(kvdirect_table, a_batch_takes_effect_in_its_order)
{
    struct kvc_kvdirect_table *table = create(1 << 14, 0.5, 20);
    struct kvc_kvdirect_table_stats stats = {0};
    uint64_t key = 9, value[5] = {1, 2, 0, 0, 0};
    struct kvc_kvdirect_table_op op[] = {
        {.verb = KVC_KVDIRECT_TABLE_PUT, .key = &key, .key_bytes = 8, .value = &value[0], .value_bytes = 8},
        {.verb = KVC_KVDIRECT_TABLE_GET, .key = &key, .key_bytes = 8, .value = &value[2], .value_bytes = 8},
        {.verb = KVC_KVDIRECT_TABLE_PUT, .key = &key, .key_bytes = 8, .value = &value[1], .value_bytes = 8},
        {.verb = KVC_KVDIRECT_TABLE_GET, .key = &key, .key_bytes = 8, .value = &value[3], .value_bytes = 8},
        {.verb = KVC_KVDIRECT_TABLE_DELETE, .key = &key, .key_bytes = 8},
        {.verb = KVC_KVDIRECT_TABLE_GET, .key = &key, .key_bytes = 8, .value = &value[4], .value_bytes = 8},
    };
    kvc_kvdirect_table_run(table, op, 6, &stats);
    cr_assert_eq(value[2], 1);
    cr_assert_eq(value[3], 2);
    cr_assert_eq(op[5].result, KVC_KVDIRECT_TABLE_ABSENT);
    kvc_kvdirect_table_run(table, NULL, 0, &stats);
    cr_assert_eq(stats.get.operations, 3);
    kvc_kvdirect_table_free(table);
}

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

Test(kvdirect_table, updates)
{
    struct kvc_kvdirect_table *table = create(1 << 14, 0.5, 16);
    struct kvc_kvdirect_table_stats stats = {0};
    uint64_t key = 5, zero = 0, one = 1, got;
    struct kvc_kvdirect_table_op op[40];
    op[0] = (struct kvc_kvdirect_table_op){
        .verb = KVC_KVDIRECT_TABLE_ADD, .key = &key, .key_bytes = 8, .operand = 1};
    kvc_kvdirect_table_run(table, op, 1, &stats);
    cr_assert_eq(op[0].result, KVC_KVDIRECT_TABLE_ABSENT);
    cr_assert_eq(put(table, &key, 8, &zero, 8, &stats), KVC_KVDIRECT_TABLE_OK);
    for (uint64_t i = 0; i < 40; i++) { /* all on one key, in one batch */
        op[i] = (struct kvc_kvdirect_table_op){
            .verb = KVC_KVDIRECT_TABLE_ADD, .key = &key, .key_bytes = 8, .operand = i};
    }
    kvc_kvdirect_table_run(table, op, 40, &stats);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 40; i++) {
        cr_assert_eq(op[i].original, sum);
        sum += i;
    }
    cr_assert_eq(get(table, &key, 8, &got, &stats), 8);
    cr_assert_eq(got, sum);
    op[0] = (struct kvc_kvdirect_table_op){
        .verb = KVC_KVDIRECT_TABLE_SWAP, .key = &key, .key_bytes = 8, .expected = sum, .operand = 11};
    op[1] = op[0];
    kvc_kvdirect_table_run(table, op, 2, &stats);
    cr_assert_eq(op[0].result, KVC_KVDIRECT_TABLE_OK);
    cr_assert_eq(op[0].original, sum);
    cr_assert_eq(op[1].result, KVC_KVDIRECT_TABLE_UNEQUAL);
    cr_assert_eq(op[1].original, 11);
    cr_assert_eq(put(table, &one, 8, &zero, 7, &stats), KVC_KVDIRECT_TABLE_OK);
    op[0] = (struct kvc_kvdirect_table_op){
        .verb = KVC_KVDIRECT_TABLE_ADD, .key = &one, .key_bytes = 8, .operand = 1};
    kvc_kvdirect_table_run(table, op, 1, &stats);
    cr_assert_eq(op[0].result, KVC_KVDIRECT_TABLE_UNEQUAL, "not 8 bytes");
    cr_assert_eq(stats.update.operations, 1 + 40 + 2 + 1);
    kvc_kvdirect_table_free(table);
}

/* Adds 1 to every byte if `data` points to true. */
static bool add_one_to_all(void *data, uint8_t *value, uint32_t bytes)
{
    const bool *changes = data;
    for (uint32_t i = 0; i < bytes && *changes; i++) {
        value[i]++;
    }
    return *changes;
}

/* If the function has changed the value, the bucket of an inline pair is written back, or the slab of another
 * pair. */
Test(kvdirect_table, functions_on_values)
{
    struct kvc_kvdirect_table *table = create(1 << 20, 0.5, 20);
    for (uint32_t value_bytes = 8; value_bytes <= 400; value_bytes *= 50) {
        for (int changes = 0; changes <= 1; changes++) {
            struct kvc_kvdirect_table_stats stats = {0};
            bool change = changes;
            uint8_t value[512], expected[512];
            uint64_t key = value_bytes + (uint64_t)changes;
            fill_value(expected, key, value_bytes);
            cr_assert_eq(put(table, &key, 8, expected, value_bytes, &stats), KVC_KVDIRECT_TABLE_OK);
            struct kvc_kvdirect_table_op op = {.verb = KVC_KVDIRECT_TABLE_APPLY,
                                               .key = &key,
                                               .key_bytes = 8,
                                               .apply = add_one_to_all,
                                               .data = &change};
            kvc_kvdirect_table_run(table, &op, 1, &stats);
            cr_assert_eq(op.result, KVC_KVDIRECT_TABLE_OK);
            cr_expect_eq(kvc_kvdirect_table_accesses(&stats.update), 1u + (value_bytes > 12) + change);
            cr_assert_eq(get(table, &key, 8, value, &stats), (int)value_bytes);
            for (uint32_t i = 0; i < value_bytes; i++) {
                cr_assert_eq(value[i], (uint8_t)(expected[i] + changes));
            }
            key = 12345;
            kvc_kvdirect_table_run(table, &op, 1, &stats);
            cr_expect_eq(op.result, KVC_KVDIRECT_TABLE_ABSENT);
        }
    }
    kvc_kvdirect_table_free(table);
}

enum { KEYS = 256, BATCH = 50, BATCHES = 400 };

/* The map: the value of each key, by its serial number. */
struct map {
    uint64_t number[KEYS]; /* Serial number of the value; 0: the key is absent. */
    uint32_t bytes[KEYS];  /* Size of the value [bytes]. */
    uint64_t pairs;
    uint64_t pair_bytes;
};

/* The operations of one call. */
struct batch {
    struct kvc_kvdirect_table_op op[BATCH];
    uint64_t id[BATCH];     /* Number of the operation's key. */
    uint64_t number[BATCH]; /* Serial number of its value. */
    uint8_t key[BATCH][64];
    uint8_t value[BATCH][512];
};

/* Writes the key with this number, which determines its size. Returns the size. */
static uint32_t make_key(uint64_t id, uint8_t *key)
{
    uint32_t bytes = 1 + (uint32_t)(id * 7 % 40);
    memset(key, 0x5a, bytes);
    key[0] = (uint8_t)id;
    if (bytes > 1) {
        key[bytes - 1] = (uint8_t)(id >> 8);
    }
    return bytes;
}

/* Fills a batch: 60 batches in which the table grows alternate with 40 in which it shrinks. */
static void choose(struct batch *batch, int round, uint32_t value_max)
{
    for (int i = 0; i < BATCH; i++) {
        struct kvc_kvdirect_table_op *op = &batch->op[i];
        batch->id[i] = random_word() % KEYS;
        batch->number[i] = (uint64_t)round * BATCH + (uint64_t)i + 1;
        uint64_t verb = random_word() % 8;
        *op = (struct kvc_kvdirect_table_op){.key = batch->key[i],
                                             .key_bytes = (uint8_t)make_key(batch->id[i], batch->key[i]),
                                             .value = batch->value[i],
                                             .value_bytes = 512,
                                             .verb = KVC_KVDIRECT_TABLE_GET};
        if (verb < (round % 100 < 60 ? 5 : 2)) {
            op->verb = KVC_KVDIRECT_TABLE_PUT;
            op->value_bytes = (uint16_t)(random_word() % (value_max + 1));
            fill_value(batch->value[i], batch->number[i], op->value_bytes);
        } else if (verb == 7) {
            op->verb = KVC_KVDIRECT_TABLE_DELETE;
        }
    }
}

/* Compares the results of a PUT with the map and updates it. Returns true if the table was full. */
static bool check_put(struct map *map, uint64_t id, const struct kvc_kvdirect_table_op *op, uint64_t number)
{
    if (op->result == KVC_KVDIRECT_TABLE_FULL) {
        return true;
    }
    cr_assert_eq(op->result, KVC_KVDIRECT_TABLE_OK);
    if (map->number[id] == 0) {
        map->pairs++;
        map->pair_bytes += op->key_bytes;
    }
    map->pair_bytes += op->value_bytes;
    map->pair_bytes -= map->bytes[id];
    map->number[id] = number;
    map->bytes[id] = op->value_bytes;
    return false;
}

/* Compares the result of a GET or DELETE with the map and updates it. */
static void check_other(struct map *map, uint64_t id, const struct kvc_kvdirect_table_op *op)
{
    if (map->number[id] == 0) {
        cr_assert_eq(op->result, KVC_KVDIRECT_TABLE_ABSENT);
        return;
    }
    cr_assert_eq(op->result, KVC_KVDIRECT_TABLE_OK);
    if (op->verb == KVC_KVDIRECT_TABLE_GET) {
        uint8_t expected[512];
        fill_value(expected, map->number[id], map->bytes[id]);
        cr_assert_eq(op->value_bytes, map->bytes[id]);
        cr_assert_eq(memcmp(op->value, expected, map->bytes[id]), 0);
    } else {
        map->pairs--;
        map->pair_bytes -= op->key_bytes + map->bytes[id];
        map->number[id] = 0;
        map->bytes[id] = 0;
    }
}

/* The trace has exactly the accesses that were counted, and all of them lie in the table's memory. */
static void assert_traced(const struct kvc_kvdirect_table *table,
                          const struct kvc_kvdirect_table_trace *trace,
                          const struct kvc_kvdirect_table_stats *stats)
{
    const struct kvc_kvdirect_table_counts *classes[] = {&stats->get, &stats->put, &stats->erase,
                                                         &stats->update};
    uint64_t counted = 0, written = 0, writes = 0;
    for (int i = 0; i < 4; i++) {
        counted += kvc_kvdirect_table_accesses(classes[i]);
        written += classes[i]->index_writes + classes[i]->chain_writes + classes[i]->slab_writes;
    }
    for (uint32_t i = 0; i < trace->count; i++) {
        const struct kvc_kvdirect_table_access *access = &trace->access[i];
        writes += access->write;
        cr_assert(access->bytes >= 1 && access->bytes <= 512);
        cr_assert_leq((uint64_t)access->line * 64 + 1, kvc_kvdirect_table_bytes(table));
    }
    cr_assert_not(trace->short_of_memory);
    cr_assert_eq(trace->count, counted);
    cr_assert_eq(writes, written);
}

/* Deletes every key; the table must be empty then. */
static void delete_all(struct kvc_kvdirect_table *table, const struct map *map,
                       struct kvc_kvdirect_table_stats *stats)
{
    for (uint64_t id = 0; id < KEYS; id++) {
        uint8_t key[64];
        uint32_t key_bytes = make_key(id, key);
        cr_assert_eq(erase(table, key, key_bytes, stats),
                     map->number[id] != 0 ? KVC_KVDIRECT_TABLE_OK : KVC_KVDIRECT_TABLE_ABSENT);
    }
    cr_assert_eq(kvc_kvdirect_table_pairs(table), 0);
}

/* Runs random batches on a table and on the map. Returns the number of PUTs that found no memory. */
static uint64_t against_map(uint64_t bytes, double hash_index_frac, uint32_t inline_bytes, uint32_t value_max)
{
    struct kvc_kvdirect_table *table = create(bytes, hash_index_frac, inline_bytes);
    uint64_t slabs = kvc_kvdirect_table_free_slab_bytes(table), full = 0;
    struct kvc_kvdirect_table_stats stats = {0};
    struct kvc_kvdirect_table_trace trace = {0};
    kvc_kvdirect_table_set_trace(table, &trace);
    struct map map = {.pairs = 0};
    static struct batch batch;
    for (int round = 0; round < BATCHES; round++) {
        choose(&batch, round, value_max);
        kvc_kvdirect_table_run(table, batch.op, BATCH, &stats);
        for (int i = 0; i < BATCH; i++) {
            if (batch.op[i].verb == KVC_KVDIRECT_TABLE_PUT) {
                full += check_put(&map, batch.id[i], &batch.op[i], batch.number[i]);
            } else {
                check_other(&map, batch.id[i], &batch.op[i]);
            }
        }
        cr_assert_eq(kvc_kvdirect_table_pairs(table), map.pairs);
        cr_assert_eq(kvc_kvdirect_table_pair_bytes(table), map.pair_bytes);
        if (round % 50 == 0) {
            kvc_kvdirect_table_daemon(table, &stats);
        }
    }
    delete_all(table, &map, &stats);
    assert_traced(table, &trace, &stats);
    free(trace.access);
    cr_assert_eq(kvc_kvdirect_table_free_slab_bytes(table), slabs, "no slab is lost");
    cr_assert_eq(stats.slab.allocated, stats.slab.released);
    kvc_kvdirect_table_free(table);
    return full;
}

Test(kvdirect_table, random_operations_agree_with_a_map)
{
    const double frac[] = {0.01, 0.3, 0.7, 1};
    for (size_t f = 0; f < 4; f++) {
        for (uint32_t inline_bytes = 0; inline_bytes <= 50; inline_bytes += 10) {
            for (uint64_t bytes = 1 << 10; bytes <= 1 << 18; bytes *= 16) {
                uint64_t full = against_map(bytes, frac[f], inline_bytes, 20);
                full += against_map(bytes, frac[f], inline_bytes, 470);
                if (bytes == 1 << 10) {
                    cr_assert_gt(full, 0, "a table this small must run full");
                } else if (bytes == 1 << 18 && frac[f] < 0.5) {
                    cr_assert_eq(full, 0, "there is room for all");
                }
            }
        }
    }
}

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

/* Asserts that one operation has run since `before` with these accesses, and sets `before` to `now`. */
static void assert_counts(const struct kvc_kvdirect_table_counts *now,
                          struct kvc_kvdirect_table_counts *before, uint64_t index_reads,
                          uint64_t index_writes, uint64_t chain_reads, uint64_t chain_writes,
                          uint64_t slab_reads, uint64_t slab_writes)
{
    cr_assert_eq(now->operations - before->operations, 1);
    cr_assert_eq(now->index_reads - before->index_reads, index_reads);
    cr_assert_eq(now->index_writes - before->index_writes, index_writes);
    cr_assert_eq(now->chain_reads - before->chain_reads, chain_reads);
    cr_assert_eq(now->chain_writes - before->chain_writes, chain_writes);
    cr_assert_eq(now->slab_reads - before->slab_reads, slab_reads);
    cr_assert_eq(now->slab_writes - before->slab_writes, slab_writes);
    cr_assert_eq(kvc_kvdirect_table_accesses(now) - kvc_kvdirect_table_accesses(before),
                 index_reads + index_writes + chain_reads + chain_writes + slab_reads + slab_writes);
    *before = *now;
}

Test(kvdirect_table, accesses_of_inline_pairs)
{
    struct kvc_kvdirect_table *table = create(1 << 16, 0.5, 20);
    struct kvc_kvdirect_table_stats stats = {0};
    struct kvc_kvdirect_table_stats was = {0};
    uint8_t value[64];
    uint64_t key[2];
    keys_of_bucket(table, key, 2);
    cr_assert_eq(get(table, &key[0], 8, value, &stats), -1);
    assert_counts(&stats.get, &was.get, 1, 0, 0, 0, 0, 0);
    cr_assert_eq(erase(table, &key[0], 8, &stats), KVC_KVDIRECT_TABLE_ABSENT);
    assert_counts(&stats.erase, &was.erase, 1, 0, 0, 0, 0, 0);
    cr_assert_eq(put_pair(table, key[0], 10, &stats), KVC_KVDIRECT_TABLE_OK);
    assert_counts(&stats.put, &was.put, 1, 1, 0, 0, 0, 0);
    cr_assert_eq(put_pair(table, key[0], 20, &stats), KVC_KVDIRECT_TABLE_OK, "the pair needs more slots");
    assert_counts(&stats.put, &was.put, 1, 1, 0, 0, 0, 0);
    cr_assert_eq(put_pair(table, key[0], 16, &stats), KVC_KVDIRECT_TABLE_OK, "the pair needs as many slots");
    assert_counts(&stats.put, &was.put, 1, 1, 0, 0, 0, 0);
    cr_assert(has_pair(table, key[0], 16, &stats));
    assert_counts(&stats.get, &was.get, 1, 0, 0, 0, 0, 0);
    struct kvc_kvdirect_table_op add = {
        .verb = KVC_KVDIRECT_TABLE_ADD, .key = &key[0], .key_bytes = 8, .operand = 1};
    kvc_kvdirect_table_run(table, &add, 1, &stats);
    assert_counts(&stats.update, &was.update, 1, 1, 0, 0, 0, 0);
    struct kvc_kvdirect_table_op swap = {
        .verb = KVC_KVDIRECT_TABLE_SWAP, .key = &key[0], .key_bytes = 8, .expected = add.original};
    kvc_kvdirect_table_run(table, &swap, 1, &stats);
    cr_assert_eq(swap.result, KVC_KVDIRECT_TABLE_UNEQUAL);
    assert_counts(&stats.update, &was.update, 1, 0, 0, 0, 0, 0);
    cr_assert_eq(erase(table, &key[0], 8, &stats), KVC_KVDIRECT_TABLE_OK);
    assert_counts(&stats.erase, &was.erase, 1, 1, 0, 0, 0, 0);
    cr_assert_eq(kvc_kvdirect_table_pairs(table), 0);
    cr_assert_eq(kvc_kvdirect_table_pair_bytes(table), 0);
    cr_assert_eq(stats.get.found + stats.put.found + stats.erase.found, 1 + 2 + 1);
    kvc_kvdirect_table_free(table);
}

Test(kvdirect_table, accesses_of_pairs_in_slabs)
{
    struct kvc_kvdirect_table *table = create(1 << 16, 0.5, 20);
    struct kvc_kvdirect_table_stats stats = {0};
    struct kvc_kvdirect_table_stats was = {0};
    uint64_t key = 7, slabs = kvc_kvdirect_table_free_slab_bytes(table);
    cr_assert_eq(put_pair(table, key, 254, &stats), KVC_KVDIRECT_TABLE_OK);
    assert_counts(&stats.put, &was.put, 1, 1, 0, 0, 0, 1);
    cr_assert_eq(stats.put.slab_lines_written, 4);
    cr_assert_eq(stats.put.lines, 5);
    cr_assert_eq(kvc_kvdirect_table_free_slab_bytes(table), slabs - 256);
    cr_assert(has_pair(table, key, 254, &stats));
    assert_counts(&stats.get, &was.get, 1, 0, 0, 0, 1, 0);
    cr_assert_eq(stats.get.slab_lines_read, 4);
    cr_assert_eq(stats.get.lines, 5);
    cr_assert_eq(put_pair(table, key, 130, &stats), KVC_KVDIRECT_TABLE_OK, "the pair stays in its slab");
    assert_counts(&stats.put, &was.put, 1, 0, 0, 0, 1, 1);
    cr_assert(has_pair(table, key, 130, &stats));
    was.get = stats.get;
    cr_assert_eq(put_pair(table, key, 30, &stats), KVC_KVDIRECT_TABLE_OK, "the pair moves to a smaller slab");
    assert_counts(&stats.put, &was.put, 1, 1, 0, 0, 1, 1);
    cr_assert_eq(kvc_kvdirect_table_free_slab_bytes(table), slabs - 32);
    cr_assert(has_pair(table, key, 30, &stats));
    assert_counts(&stats.get, &was.get, 1, 0, 0, 0, 1, 0);
    uint8_t counter[8] = {0};
    cr_assert_eq(put(table, "a key of 17 bytes", 17, counter, 8, &stats), KVC_KVDIRECT_TABLE_OK);
    struct kvc_kvdirect_table_op add = {
        .verb = KVC_KVDIRECT_TABLE_ADD, .key = "a key of 17 bytes", .key_bytes = 17, .operand = 5};
    kvc_kvdirect_table_run(table, &add, 1, &stats);
    cr_assert_eq(add.result, KVC_KVDIRECT_TABLE_OK);
    assert_counts(&stats.update, &was.update, 1, 0, 0, 0, 1, 1);
    was.put = stats.put;
    cr_assert_eq(put_pair(table, key, 12, &stats), KVC_KVDIRECT_TABLE_OK, "the pair is inline now");
    assert_counts(&stats.put, &was.put, 1, 1, 0, 0, 1, 0);
    cr_assert_eq(kvc_kvdirect_table_free_slab_bytes(table), slabs - 32);
    cr_assert_eq(erase(table, "a key of 17 bytes", 17, &stats), KVC_KVDIRECT_TABLE_OK);
    assert_counts(&stats.erase, &was.erase, 1, 1, 0, 0, 1, 0);
    cr_assert_eq(kvc_kvdirect_table_free_slab_bytes(table), slabs);
    kvc_kvdirect_table_free(table);
}

Test(kvdirect_table, accesses_along_a_chain)
{
    struct kvc_kvdirect_table *table = create(1 << 16, 0.5, 10);
    struct kvc_kvdirect_table_stats stats = {0};
    struct kvc_kvdirect_table_stats was = {0};
    uint64_t key[16], slabs = kvc_kvdirect_table_free_slab_bytes(table);
    keys_of_bucket(table, key, 16);
    for (int i = 0; i < 5; i++) { /* two slots each */
        cr_assert_eq(put_pair(table, key[i], 10, &stats), KVC_KVDIRECT_TABLE_OK);
        assert_counts(&stats.put, &was.put, 1, 1, 0, 0, 0, 0);
    }
    cr_assert_eq(put_pair(table, key[5], 10, &stats), KVC_KVDIRECT_TABLE_OK,
                 "a bucket is appended, and the first one gets a pointer to it");
    assert_counts(&stats.put, &was.put, 1, 1, 0, 1, 0, 0);
    for (int i = 6; i < 10; i++) {
        cr_assert_eq(put_pair(table, key[i], 10, &stats), KVC_KVDIRECT_TABLE_OK);
        assert_counts(&stats.put, &was.put, 1, 0, 1, 1, 0, 0);
    }
    cr_assert_eq(put_pair(table, key[10], 10, &stats), KVC_KVDIRECT_TABLE_OK);
    assert_counts(&stats.put, &was.put, 1, 0, 1, 2, 0, 0);
    cr_assert_eq(kvc_kvdirect_table_free_slab_bytes(table), slabs - 2 * 64);
    for (int i = 0; i < 11; i++) {
        cr_assert(has_pair(table, key[i], 10, &stats));
        assert_counts(&stats.get, &was.get, 1, 0, (uint64_t)(i / 5), 0, 0, 0);
    }
    cr_assert_not(has_pair(table, key[11], 10, &stats));
    assert_counts(&stats.get, &was.get, 1, 0, 2, 0, 0, 0);
    /* A hole in the first bucket is filled first, but only after the whole chain was searched. */
    cr_assert_eq(erase(table, &key[2], 8, &stats), KVC_KVDIRECT_TABLE_OK);
    assert_counts(&stats.erase, &was.erase, 1, 1, 0, 0, 0, 0);
    cr_assert_eq(put_pair(table, key[11], 10, &stats), KVC_KVDIRECT_TABLE_OK);
    assert_counts(&stats.put, &was.put, 1, 1, 2, 0, 0, 0);
    /* The middle bucket is unlinked when its last pair is deleted: its predecessor is written instead. */
    for (int i = 5; i < 9; i++) {
        cr_assert_eq(erase(table, &key[i], 8, &stats), KVC_KVDIRECT_TABLE_OK);
        assert_counts(&stats.erase, &was.erase, 1, 0, 1, 1, 0, 0);
    }
    cr_assert_eq(erase(table, &key[9], 8, &stats), KVC_KVDIRECT_TABLE_OK);
    assert_counts(&stats.erase, &was.erase, 1, 1, 1, 0, 0, 0);
    cr_assert_eq(kvc_kvdirect_table_free_slab_bytes(table), slabs - 64);
    was.get = stats.get;
    cr_assert(has_pair(table, key[10], 10, &stats),
              "the bucket behind the unlinked one is still in the chain");
    assert_counts(&stats.get, &was.get, 1, 0, 1, 0, 0, 0);
    kvc_kvdirect_table_free(table);
}

Test(kvdirect_table, a_pair_that_outgrows_its_bucket)
{
    struct kvc_kvdirect_table *table = create(1 << 16, 0.5, 50);
    struct kvc_kvdirect_table_stats stats = {0};
    struct kvc_kvdirect_table_stats was = {0};
    uint64_t key[6];
    keys_of_bucket(table, key, 6);
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(put_pair(table, key[i], 10, &stats), KVC_KVDIRECT_TABLE_OK);
    }
    was.put = stats.put;
    cr_assert_eq(put_pair(table, key[1], 30, &stats), KVC_KVDIRECT_TABLE_OK);
    assert_counts(&stats.put, &was.put, 1, 1, 0, 1, 0, 0);
    cr_assert_eq(put_pair(table, key[2], 20, &stats), KVC_KVDIRECT_TABLE_OK,
                 "the pair fills the two free slots and its own");
    assert_counts(&stats.put, &was.put, 1, 1, 0, 0, 0, 0);
    cr_assert_eq(put_pair(table, key[3], 20, &stats), KVC_KVDIRECT_TABLE_OK,
                 "the pair fills the last four slots of the chained bucket");
    assert_counts(&stats.put, &was.put, 1, 1, 1, 1, 0, 0);
    cr_assert_eq(put_pair(table, key[1], 40, &stats), KVC_KVDIRECT_TABLE_OK, "the pair needs a third bucket");
    assert_counts(&stats.put, &was.put, 1, 0, 1, 2, 0, 0);
    cr_assert(has_pair(table, key[0], 10, &stats));
    cr_assert(has_pair(table, key[1], 40, &stats));
    cr_assert(has_pair(table, key[2], 20, &stats));
    cr_assert(has_pair(table, key[3], 20, &stats));
    cr_assert(has_pair(table, key[4], 10, &stats));
    kvc_kvdirect_table_free(table);
}

/* Computes the average accesses of a new PUT, a GET and an overwriting PUT at this memory utilization. */
static void averages(double hash_index_frac, uint32_t pair_bytes, double utilization, double *average)
{
    struct kvc_kvdirect_table *table = create(1 << 22, hash_index_frac, 10);
    struct kvc_kvdirect_table_stats fill = {0}, last = {0}, stats = {0};
    uint64_t pairs = (uint64_t)(utilization * (1 << 22) / pair_bytes);
    for (uint64_t key = 0; key < pairs; key++) {
        cr_assert_eq(put_pair(table, key, pair_bytes, key < pairs - pairs / 50 ? &fill : &last),
                     KVC_KVDIRECT_TABLE_OK);
    }
    for (uint64_t key = 0; key < pairs; key++) {
        cr_assert(has_pair(table, key, pair_bytes, &stats));
    }
    for (uint64_t key = 0; key < pairs; key++) {
        put_pair(table, key, pair_bytes, &stats);
    }
    average[0] = (double)kvc_kvdirect_table_accesses(&last.put) / (double)last.put.operations;
    average[1] = (double)kvc_kvdirect_table_accesses(&stats.get) / (double)stats.get.operations;
    average[2] = (double)kvc_kvdirect_table_accesses(&stats.put) / (double)stats.put.operations;
    uint64_t slabs = fill.slab.allocated + last.slab.allocated;
    uint64_t dma = fill.slab.dma_reads + last.slab.dma_reads;
    cr_assert_leq((double)dma, 0.07 * (double)slabs + 2, "DMA of the allocator itself");
    kvc_kvdirect_table_free(table);
}

Test(kvdirect_table, average_accesses_are_the_published_ones)
{
    double average[3];
    averages(0.9, 10, 0.3, average); /* sec. 5.1.1: inline, close to 1 per GET and 2 per PUT */
    cr_assert(average[0] > 2 && average[0] < 2.15, "%f", average[0]);
    cr_assert(average[1] > 1 && average[1] < 1.05, "%f", average[1]);
    cr_assert(average[2] > 2 && average[2] < 2.05, "%f", average[2]);
    averages(0.04, 254, 0.8, average); /* not inline: 1 more */
    cr_assert(average[0] > 3 && average[0] < 3.1, "%f", average[0]);
    cr_assert(average[1] > 2 && average[1] < 2.02, "%f", average[1]);
    cr_assert(average[2] > 3 && average[2] < 3.02, "%f", average[2]);
    averages(0.5, 10, 0.5, average); /* long chains cost more */
    cr_assert(average[1] > 1.3 && average[1] < 2, "%f", average[1]);
}
