#include <criterion/criterion.h>
#include <string.h>

#include "kernels/memcachedgpu/packet.h"
#include "models/memcachedgpu/tables.h"
#include "sim/base/rng.h"

enum { KEYS = 4000, ENTRIES = 16384 };

static const struct kvc_memcachedgpu_class one_class[] = {{250, ENTRIES}};
static const struct kvc_memcachedgpu_class five_classes[] = {
    {16, ENTRIES}, {32, ENTRIES}, {64, ENTRIES}, {128, ENTRIES}, {250, ENTRIES}};

static struct kvc_memcachedgpu_shape one_table(enum kvc_memcachedgpu_index index)
{
    return (struct kvc_memcachedgpu_shape){
        .index = index, .ways = 16, .class_count = 1, .classes = one_class};
}

static struct kvc_memcachedgpu_shape five_tables(void)
{
    return (struct kvc_memcachedgpu_shape){.ways = 16, .class_count = 5, .classes = five_classes};
}

static uint32_t length_of(uint32_t id)
{
    return 8 + id * 7 % 243; /* 8 .. 250 bytes */
}

/* Stores keys of all lengths, and finds these keys and no others. */
static void store_and_find(const struct kvc_memcachedgpu_shape *shape)
{
    struct kvc_memcachedgpu_tables tables = {0};
    struct kvc_index_stats stats = {0};
    static uint8_t keys[2 * KEYS * 256], bytes[2 * KEYS];
    static uint32_t offset[2 * KEYS];
    static struct kvc_set_assoc_item items[2 * KEYS];
    kvc_memcachedgpu_tables_open(&tables, shape);
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
        struct kvc_memcachedgpu_shape shape = one_table((enum kvc_memcachedgpu_index)index);
        store_and_find(&shape);
    }
}

Test(memcachedgpu_tables, tables_by_key_size_take_less_memory)
{
    struct kvc_memcachedgpu_shape one = one_table(KVC_MEMCACHEDGPU_SETS), five = five_tables();
    store_and_find(&five);
    double classes = 0;
    for (uint32_t i = 0; i < five.class_count; i++) {
        classes += kvc_memcachedgpu_table_bytes(&five, i);
    }
    cr_expect_lt(classes, five.class_count * kvc_memcachedgpu_table_bytes(&one, 0));
}

/* A search for a key that is too long for every table finds no item. */
Test(memcachedgpu_tables, keys_without_a_table_are_absent)
{
    struct kvc_memcachedgpu_shape shape = five_tables();
    struct kvc_memcachedgpu_tables tables;
    struct kvc_index_stats stats = {0};
    uint8_t key[256] = {0}, bytes = 251;
    uint32_t offset = 0;
    struct kvc_set_assoc_item item = {0};
    kvc_memcachedgpu_tables_open(&tables, &shape);
    kvc_memcachedgpu_tables_search(&tables, &(struct kvc_set_assoc_keys){key, &offset, &bytes}, 1, 1, &item,
                                   &stats);
    cr_expect_eq(item.location, KVC_LOCATION_NONE);
    kvc_memcachedgpu_tables_close(&tables);
}

enum { ROOM = KVC_MEMCACHEDGPU_PACKET_KEY_MAX + 8 };

Test(memcachedgpu_text_key, is_what_the_protocol_allows)
{
    uint8_t key[ROOM];
    struct kvc_rng rng;
    kvc_rng_init(&rng, 1, "test", 0);
    for (uint32_t round = 0; round < 1000; round++) {
        kvc_memcachedgpu_text_key(key, kvc_rng_u64(&rng), KVC_MEMCACHEDGPU_PACKET_KEY_MAX);
        for (uint32_t i = 0; i < KVC_MEMCACHEDGPU_PACKET_KEY_MAX; i++) {
            cr_assert(key[i] > ' ' && key[i] < 0x7f, "byte %u is %u", i, key[i]);
        }
    }
}

Test(memcachedgpu_text_key, differs_for_all_ids_that_fit)
{
    enum { TEXT_KEYS = 64 * 64 * 64 };
    static uint8_t seen[1 << 24];
    for (uint32_t id = 0; id < TEXT_KEYS; id++) {
        uint8_t key[8];
        kvc_memcachedgpu_text_key(key, id, 3);
        uint32_t number = key[0] | (uint32_t)key[1] << 8 | (uint32_t)key[2] << 16;
        cr_assert(!seen[number], "id %u has the key of another", id);
        seen[number] = 1;
    }
}

/* Ids that differ only in their upper bits, as trace hashes may, still have different keys. */
Test(memcachedgpu_text_key, mixes_long_ids)
{
    uint8_t a[16], b[16];
    for (uint32_t bit = 48; bit < 64; bit++) {
        kvc_memcachedgpu_text_key(a, 7, 16);
        kvc_memcachedgpu_text_key(b, 7 | UINT64_C(1) << bit, 16);
        cr_assert_neq(memcmp(a, b, 16), 0, "bit %u", bit);
    }
}
