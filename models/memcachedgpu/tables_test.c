#include "models/memcachedgpu/tables.h"

#include <criterion/criterion.h>

#include "models/memcachedgpu/text_key.h"

enum { KEYS = 4000, ENTRIES = 16384 };

static struct kvc_memcachedgpu_options options = {.ways = 16, .entries = ENTRIES, .key_room = 250};

static struct kvc_memcachedgpu_config one_table(enum kvc_memcachedgpu_index index)
{
    return (struct kvc_memcachedgpu_config){
        .options = &options, .index = index, .class_count = 1, .classes = {{250, ENTRIES}}};
}

static struct kvc_memcachedgpu_config five_tables(void)
{
    return (struct kvc_memcachedgpu_config){
        .options = &options,
        .class_count = 5,
        .classes = {{16, ENTRIES}, {32, ENTRIES}, {64, ENTRIES}, {128, ENTRIES}, {250, ENTRIES}}};
}

static uint32_t length_of(uint32_t id)
{
    return 8 + id * 7 % 243; /* 8 .. 250 bytes */
}

/* Stores keys of all lengths, finds all of them, and no others. */
static void store_and_find(const struct kvc_memcachedgpu_config *config)
{
    struct kvc_memcachedgpu_tables tables = {0};
    struct kvc_index_stats stats = {0};
    static uint8_t keys[2 * KEYS * 256], bytes[2 * KEYS];
    static uint32_t offset[2 * KEYS];
    static struct kvc_set_assoc_item items[2 * KEYS];
    cr_assert_eq(kvc_memcachedgpu_tables_open(&tables, config, NULL), KVC_OK);
    for (uint32_t i = 0; i < 2 * KEYS; i++) {
        offset[i] = i * 256;
        bytes[i] = (uint8_t)length_of(i);
        kvc_memcachedgpu_text_key(keys + offset[i], i, bytes[i]);
    }
    for (uint32_t i = 0; i < KEYS; i++) {
        const struct kvc_set_assoc_item item = {.location = i, .value_bytes = i % 100};
        struct kvc_set_assoc_item out =
            kvc_memcachedgpu_tables_insert(&tables, keys + offset[i], bytes[i], &item, i + 1, &stats);
        cr_assert_eq(out.location, KVC_LOCATION_NONE, "nothing is evicted from a quarter full table");
    }
    cr_expect_eq(kvc_memcachedgpu_tables_used(&tables), KEYS);
    kvc_memcachedgpu_tables_search(&tables, &(struct kvc_set_assoc_keys){keys, offset, bytes}, 2 * KEYS,
                                   KEYS + 1, items, &stats);
    for (uint32_t i = 0; i < 2 * KEYS; i++) {
        cr_assert_eq(items[i].location, i < KEYS ? i : KVC_LOCATION_NONE, "key %u", i);
    }
    struct kvc_set_assoc_item erased =
        kvc_memcachedgpu_tables_erase(&tables, keys + offset[5], bytes[5], &stats);
    cr_expect_eq(erased.location, 5);
    cr_expect_eq(kvc_memcachedgpu_tables_used(&tables), KEYS - 1);
    kvc_memcachedgpu_tables_close(&tables);
}

Test(memcachedgpu_tables, all_kinds_find_what_they_store)
{
    for (int index = KVC_MEMCACHEDGPU_SETS; index <= KVC_MEMCACHEDGPU_CHAINED; index++) {
        struct kvc_memcachedgpu_config config = one_table((enum kvc_memcachedgpu_index)index);
        store_and_find(&config);
    }
}

Test(memcachedgpu_tables, tables_by_key_size_take_less_memory)
{
    struct kvc_memcachedgpu_config one = one_table(KVC_MEMCACHEDGPU_SETS), five = five_tables();
    store_and_find(&five);
    double classes = 0;
    for (uint32_t i = 0; i < five.class_count; i++) {
        classes += kvc_memcachedgpu_table_bytes(&five, i);
    }
    cr_expect_lt(classes, five.class_count * kvc_memcachedgpu_table_bytes(&one, 0));
}

/* A longer key than any table has room for is not found, and finds no other's item. */
Test(memcachedgpu_tables, keys_without_a_table_are_absent)
{
    struct kvc_memcachedgpu_config config = five_tables();
    struct kvc_memcachedgpu_tables tables;
    struct kvc_index_stats stats = {0};
    uint8_t key[256] = {0}, bytes = 251;
    uint32_t offset = 0;
    struct kvc_set_assoc_item item = {0};
    cr_assert_eq(kvc_memcachedgpu_tables_open(&tables, &config, NULL), KVC_OK);
    kvc_memcachedgpu_tables_search(&tables, &(struct kvc_set_assoc_keys){key, &offset, &bytes}, 1, 1, &item,
                                   &stats);
    cr_expect_eq(item.location, KVC_LOCATION_NONE);
    kvc_memcachedgpu_tables_close(&tables);
}
