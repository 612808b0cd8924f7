#include "kernels/kvdirect/table_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

#include "kernels/hash.h"

struct kvc_kvdirect_table *create(uint64_t bytes, double hash_index_frac, uint32_t inline_bytes)
{
    struct kvc_kvdirect_table *table =
        kvc_kvdirect_table_create(&(struct kvc_kvdirect_table_params){.bytes = bytes,
                                                                      .hash_index_frac = hash_index_frac,
                                                                      .inline_bytes = inline_bytes,
                                                                      .seed = TABLE_SEED});
    cr_assert_not_null(table);
    return table;
}

void fill_value(uint8_t *value, uint64_t what, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        value[i] =
            (uint8_t)((what * 0x9e3779b97f4a7c15 + bytes * 0xbf58476d1ce4e5b9) >> (i * 7 % 57)) ^ (uint8_t)i;
    }
}

enum kvc_kvdirect_table_result put(struct kvc_kvdirect_table *table, const void *key, uint32_t key_bytes,
                                   const void *value, uint32_t value_bytes,
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

enum kvc_kvdirect_table_result erase(struct kvc_kvdirect_table *table, const void *key, uint32_t key_bytes,
                                     struct kvc_kvdirect_table_stats *stats)
{
    struct kvc_kvdirect_table_op op = {
        .verb = KVC_KVDIRECT_TABLE_DELETE, .key = key, .key_bytes = (uint8_t)key_bytes};
    kvc_kvdirect_table_run(table, &op, 1, stats);
    return op.result;
}

int get(struct kvc_kvdirect_table *table, const void *key, uint32_t key_bytes, void *value,
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

enum kvc_kvdirect_table_result put_pair(struct kvc_kvdirect_table *table, uint64_t key, uint32_t pair_bytes,
                                        struct kvc_kvdirect_table_stats *stats)
{
    uint8_t value[KVC_KVDIRECT_TABLE_PAIR_MAX];
    uint32_t key_bytes = pair_bytes < 8 ? pair_bytes : 8;
    fill_value(value, key, pair_bytes - key_bytes);
    return put(table, &key, key_bytes, value, pair_bytes - key_bytes, stats);
}

bool has_pair(struct kvc_kvdirect_table *table, uint64_t key, uint32_t pair_bytes,
              struct kvc_kvdirect_table_stats *stats)
{
    uint8_t value[KVC_KVDIRECT_TABLE_PAIR_MAX], expected[KVC_KVDIRECT_TABLE_PAIR_MAX];
    uint32_t key_bytes = pair_bytes < 8 ? pair_bytes : 8;
    fill_value(expected, key, pair_bytes - key_bytes);
    int bytes = get(table, &key, key_bytes, value, stats);
    return bytes == (int)(pair_bytes - key_bytes) && memcmp(value, expected, (size_t)bytes) == 0;
}

uint64_t key_of_bucket(const struct kvc_kvdirect_table *table, uint64_t bucket, uint32_t secondary,
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

void keys_of_bucket(const struct kvc_kvdirect_table *table, uint64_t *key, int count)
{
    for (int i = 0; i < count; i++) {
        key[i] = key_of_bucket(table, 3, 512, i == 0 ? 0 : key[i - 1] + 1);
    }
}
