#include "kernels/megakv/slab.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "kernels/hash.h"
#include "kernels/index.h"
#include "kernels/megakv/cuckoo.h"
#include "kernels/random_fixture.h"

static const uint64_t hash_seed = 77; /* of the stores that create_slab() makes */

static struct kvc_megakv_slab *create_slab(uint64_t bytes)
{
    struct kvc_megakv_slab *slab = kvc_megakv_slab_create(bytes, hash_seed);
    cr_assert_not_null(slab);
    return slab;
}

/* Stores keys first to first + count - 1 of 8 bytes each, with their complements as values. */
static void store_words(struct kvc_megakv_slab *slab, uint64_t first, uint32_t count, uint32_t *location,
                        struct kvc_megakv_slab_evicted *evicted, uint32_t *evicted_count,
                        struct kvc_megakv_slab_stats *stats)
{
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, 8, count, location, evicted, evicted_count, stats), count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t key = first + i, value = ~key;
        kvc_megakv_slab_write(slab, location[i], &key, 8, &value, 8, stats);
    }
}

/* Reads one item into `out`, which has room for any value. */
static enum kvc_megakv_slab_read_result read_single(struct kvc_megakv_slab *slab, uint32_t location,
                                                    const void *key, uint32_t key_bytes, bool compare,
                                                    uint8_t *out, uint32_t *value_bytes,
                                                    struct kvc_megakv_slab_stats *stats)
{
    uint32_t position = 0;
    uint8_t result, length = (uint8_t)key_bytes;
    struct kvc_megakv_slab_reads reads = {.count = 1,
                                          .location = &location,
                                          .keys = key,
                                          .key_bytes = &length,
                                          .compare = compare,
                                          .out = out,
                                          .out_bytes = KVC_MEGAKV_SLAB_VALUE_MAX,
                                          .out_position = &position,
                                          .result = &result,
                                          .value_bytes = value_bytes};
    kvc_megakv_slab_read(slab, &reads, stats);
    return result;
}

/* Reads one item with a key and a value of 8 bytes each. */
static enum kvc_megakv_slab_read_result read_word(struct kvc_megakv_slab *slab, uint32_t location,
                                                  uint64_t key, uint64_t *value,
                                                  struct kvc_megakv_slab_stats *stats)
{
    static uint8_t out[KVC_MEGAKV_SLAB_VALUE_MAX];
    uint32_t bytes;
    enum kvc_megakv_slab_read_result result = read_single(slab, location, &key, 8, true, out, &bytes, stats);
    cr_assert_eq(bytes, result == KVC_MEGAKV_SLAB_HIT ? 8 : 0);
    memcpy(value, out, 8);
    return result;
}

Test(slab, rejects_bad_sizes)
{
    errno = 0;
    cr_assert_null(kvc_megakv_slab_create(0, 0));
    cr_assert_eq(errno, EINVAL);
    errno = 0;
    cr_assert_null(kvc_megakv_slab_create((UINT64_C(128) << 30) + 1, 0));
    cr_assert_eq(errno, EINVAL);
    kvc_megakv_slab_free(NULL);
    struct kvc_megakv_slab *slab = create_slab(KVC_MEGAKV_SLAB_BYTES + 1);
    cr_assert_eq(kvc_megakv_slab_capacity_bytes(slab), 2 * (uint64_t)KVC_MEGAKV_SLAB_BYTES);
    uint32_t location, evicted_count = 9;
    struct kvc_megakv_slab_evicted evicted;
    struct kvc_megakv_slab_stats stats = {0};
    cr_assert_eq(kvc_megakv_slab_alloc(slab, KVC_MEGAKV_SLAB_KEY_MAX + 1, 0, 1, &location, &evicted,
                                       &evicted_count, &stats),
                 0);
    cr_assert_eq(evicted_count, 0);
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, KVC_MEGAKV_SLAB_VALUE_MAX + 1, 1, &location, &evicted,
                                       &evicted_count, &stats),
                 0);
    kvc_megakv_slab_free(slab);
}

Test(slab, classes_fit_closely)
{
    cr_assert_eq(kvc_megakv_slab_item_bytes(8, 8), 32);
    cr_assert_eq(kvc_megakv_slab_item_bytes(16, 8), 32);
    cr_assert_eq(kvc_megakv_slab_item_bytes(16, 9), 48);
    cr_assert_eq(kvc_megakv_slab_item_bytes(24, 32), 64);
    cr_assert_eq(kvc_megakv_slab_item_bytes(24, 33), 80);
    cr_assert_eq(kvc_megakv_slab_item_bytes(0, 0), 32);
    cr_assert_eq(kvc_megakv_slab_item_bytes(KVC_MEGAKV_SLAB_KEY_MAX, KVC_MEGAKV_SLAB_VALUE_MAX), 1 << 20);
    cr_assert_eq(kvc_megakv_slab_item_bytes(KVC_MEGAKV_SLAB_KEY_MAX + 1, 0), 0);
    cr_assert_eq(kvc_megakv_slab_item_bytes(0, KVC_MEGAKV_SLAB_VALUE_MAX + 1), 0);
    uint32_t last = 0;
    for (uint32_t value = 0; value <= KVC_MEGAKV_SLAB_VALUE_MAX; value++) {
        uint32_t bytes = kvc_megakv_slab_item_bytes(20, value),
                 needed = KVC_MEGAKV_SLAB_HEADER_BYTES + 20 + value;
        cr_assert_geq(bytes, needed);
        cr_assert_eq(bytes % 16, 0);
        cr_assert_geq(bytes, last);
        cr_assert(bytes <= 48 || bytes < 1.25 * needed + 16, "%u bytes in an item of %u", needed, bytes);
        last = bytes;
    }
}

Test(slab, keeps_zero_length_to_maximum)
{
    struct kvc_megakv_slab *slab = create_slab(64 << 20);
    uint32_t key_bytes[] = {0, 1, 8, 9, 16, 255};
    uint32_t value_bytes[] = {0, 1, 7, 8, 64, 1000, 70000, KVC_MEGAKV_SLAB_VALUE_MAX};
    enum { KEYS = 6, VALUES = 8 };
    uint8_t key[KVC_MEGAKV_SLAB_KEY_MAX];
    uint8_t *value = malloc(KVC_MEGAKV_SLAB_VALUE_MAX), *out = malloc(KVC_MEGAKV_SLAB_VALUE_MAX);
    uint32_t location[KEYS * VALUES], evicted_count;
    struct kvc_megakv_slab_evicted evicted;
    struct kvc_megakv_slab_stats stats = {0};
    for (uint32_t i = 0; i < KEYS * VALUES; i++) {
        uint32_t k = key_bytes[i / VALUES], v = value_bytes[i % VALUES];
        memset(key, (int)i, k);
        memset(value, (int)~i, v);
        cr_assert_eq(kvc_megakv_slab_alloc(slab, k, v, 1, &location[i], &evicted, &evicted_count, &stats), 1);
        kvc_megakv_slab_write(slab, location[i], key, k, value, v, &stats);
    }
    for (uint32_t i = 0; i < KEYS * VALUES; i++) {
        uint32_t k = key_bytes[i / VALUES], v = value_bytes[i % VALUES], bytes;
        memset(key, (int)i, k);
        memset(value, (int)~i, v);
        for (int compare = 0; compare < 2; compare++) {
            cr_assert_eq(read_single(slab, location[i], key, k, compare, out, &bytes, &stats),
                         KVC_MEGAKV_SLAB_HIT);
            cr_assert_eq(bytes, v);
            cr_assert_eq(memcmp(out, value, v), 0);
        }
        if (k > 0) {
            key[k - 1] ^= 1;
            cr_assert_eq(read_single(slab, location[i], key, k, true, out, &bytes, &stats),
                         KVC_MEGAKV_SLAB_MISMATCH);
            cr_assert_eq(read_single(slab, location[i], key, k, false, out, &bytes, &stats),
                         KVC_MEGAKV_SLAB_HIT);
            cr_assert_eq(read_single(slab, location[i], key, k - 1, true, out, &bytes, &stats),
                         KVC_MEGAKV_SLAB_MISMATCH);
        }
    }
    cr_assert_eq(kvc_megakv_slab_used_items(slab), KEYS * VALUES);
    free(value);
    free(out);
    kvc_megakv_slab_free(slab);
}

enum { ENTRIES = 4096, LENGTH_MAX = 32000 };

/* Entry of a key in a plain map. */
struct entry {
    uint32_t location, value_bytes;
    uint8_t key[16];
    uint8_t key_bytes, fill;
};

struct map {
    struct kvc_megakv_slab *slab;
    struct entry entries[ENTRIES];
    struct kvc_megakv_slab_stats stats;
    uint64_t live;
    uint8_t value[LENGTH_MAX];
};

/* Stores a new key; whatever is evicted for it must have been stored. */
static void store_entry(struct map *map, struct entry *entry, uint32_t round)
{
    uint32_t evicted_count, location, number = (uint32_t)(entry - map->entries);
    struct kvc_megakv_slab_evicted evicted;
    entry->key_bytes = (uint8_t)(4 + random_word() % 13);
    memset(entry->key, (int)round, sizeof(entry->key));
    memcpy(entry->key, &number, sizeof(number));
    entry->fill = (uint8_t)round;
    entry->value_bytes =
        (uint32_t)(random_word() % 4 == 0 ? random_word() % 40 : LENGTH_MAX - random_word() % 12000);
    memset(map->value, entry->fill, LENGTH_MAX);
    if (kvc_megakv_slab_alloc(map->slab, entry->key_bytes, entry->value_bytes, 1, &location, &evicted,
                              &evicted_count, &map->stats) == 0) {
        return;
    }
    for (uint32_t i = 0; evicted_count == 1 && i < ENTRIES; i++) {
        struct entry *other = &map->entries[i];
        if (other->location == location) {
            cr_assert_eq(evicted.hash, kvc_hash(other->key, other->key_bytes, hash_seed));
            other->location = KVC_LOCATION_NONE;
            evicted_count = 0;
            map->live--;
        }
    }
    cr_assert_eq(evicted_count, 0, "an item was evicted that was never stored");
    kvc_megakv_slab_write(map->slab, location, entry->key, entry->key_bytes, map->value, entry->value_bytes,
                          &map->stats);
    entry->location = location;
    map->live++;
}

static void read_entry(struct map *map, const struct entry *entry)
{
    static uint8_t out[KVC_MEGAKV_SLAB_VALUE_MAX];
    uint32_t bytes;
    memset(map->value, entry->fill, LENGTH_MAX);
    cr_assert_eq(
        read_single(map->slab, entry->location, entry->key, entry->key_bytes, true, out, &bytes, &map->stats),
        KVC_MEGAKV_SLAB_HIT);
    cr_assert_eq(bytes, entry->value_bytes);
    cr_assert_eq(memcmp(out, map->value, bytes), 0);
}

/* For any sizes in any order, the store returns what was last written. */
Test(slab, random_operations_agree_with_a_plain_map)
{
    struct map *map = calloc(1, sizeof(*map));
    map->slab = create_slab(16 << 20);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        map->entries[i].location = KVC_LOCATION_NONE;
    }
    for (uint32_t round = 0; round < 30000; round++) {
        struct entry *entry = &map->entries[random_word() % ENTRIES];
        if (entry->location == KVC_LOCATION_NONE) {
            store_entry(map, entry, round);
        } else if (random_word() % 3 == 0) {
            cr_assert(kvc_megakv_slab_release(map->slab, entry->location));
            entry->location = KVC_LOCATION_NONE;
            map->live--;
        } else {
            read_entry(map, entry);
        }
        cr_assert_eq(kvc_megakv_slab_used_items(map->slab), map->live);
    }
    cr_assert_gt(map->stats.evicted, 0);
    kvc_megakv_slab_free(map->slab);
    free(map);
}

static struct kvc_megakv_slab *create_with(uint64_t bytes, uint64_t rate, bool compact)
{
    return kvc_megakv_slab_create_with(&(struct kvc_megakv_slab_params){
        .bytes = bytes, .rate = rate, .hash_seed = hash_seed, .compact = compact});
}

/* A sample of one in 64 gets 1/64 of the items of every class that took slabs, also if a class has few. */
Test(slab, sample_holds_its_share_of_every_class)
{
    enum { RATE = 64, SLABS = 20, TRIES = 40000 };
    struct kvc_megakv_slab *slab = create_with(SLABS * (uint64_t)KVC_MEGAKV_SLAB_BYTES, RATE, false);
    const uint32_t values[] = {8, 1000, 100000, 900000}, slabs[] = {12, 4, 3, 1};
    cr_assert_not_null(slab);
    cr_expect_eq(kvc_megakv_slab_capacity_bytes(slab), SLABS * (uint64_t)KVC_MEGAKV_SLAB_BYTES / RATE);
    for (int i = 0; i < 4; i++) {
        for (uint32_t s = 0; s < slabs[i]; s++) {
            cr_assert(kvc_megakv_slab_assign(slab, 8, values[i]));
        }
    }
    cr_expect_not(kvc_megakv_slab_assign(slab, 8, 8), "no slab is left");
    for (int i = 0; i < 4; i++) {
        struct kvc_megakv_slab_stats stats = {0};
        uint32_t location, evicted_count, got = 0;
        struct kvc_megakv_slab_evicted evicted;
        while (got < TRIES && kvc_megakv_slab_alloc(slab, 8, values[i], 1, &location, &evicted,
                                                    &evicted_count, &stats) == 1) {
            got++;
        }
        double share = (double)slabs[i] * kvc_megakv_slab_items(8, values[i]) / RATE;
        cr_expect_eq(got, share < 0.5 ? 1 : (uint32_t)(share + 0.5), "%u items of %u bytes, %g", got,
                     values[i], share);
    }
    kvc_megakv_slab_free(slab);
    cr_expect_null(create_with(1 << 21, 0, false));
}

Test(slab, read_tells_absent_changed_and_mismatch)
{
    struct kvc_megakv_slab *slab = create_slab(4 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t location[2], evicted_count;
    struct kvc_megakv_slab_evicted evicted[2];
    uint64_t value;
    cr_assert_eq(read_word(slab, 0, 1, &value, &stats), KVC_MEGAKV_SLAB_CHANGED,
                 "no slab has been given out");
    store_words(slab, 1, 1, location, evicted, &evicted_count, &stats);
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, 8, 1, location + 1, evicted, &evicted_count, &stats), 1);
    cr_assert_eq(read_word(slab, location[0], 1, &value, &stats), KVC_MEGAKV_SLAB_HIT);
    cr_assert_eq(value, ~UINT64_C(1));
    cr_assert_eq(read_word(slab, location[0], 2, &value, &stats), KVC_MEGAKV_SLAB_MISMATCH);
    cr_assert_eq(read_word(slab, location[1], 2, &value, &stats), KVC_MEGAKV_SLAB_CHANGED,
                 "allocated, not written");
    cr_assert_eq(read_word(slab, KVC_LOCATION_NONE, 1, &value, &stats), KVC_MEGAKV_SLAB_ABSENT);
    cr_assert_eq(read_word(slab, KVC_LOCATION_ANY, 1, &value, &stats), KVC_MEGAKV_SLAB_CHANGED,
                 "outside the store");
    cr_assert_eq(read_word(slab, 1 << 16, 1, &value, &stats), KVC_MEGAKV_SLAB_CHANGED, "a slab of no class");
    cr_assert_eq(read_word(slab, 65535, 1, &value, &stats), KVC_MEGAKV_SLAB_CHANGED,
                 "an item that no one can have");
    cr_assert_eq(stats.reads, 8);
    cr_assert(kvc_megakv_slab_release(slab, location[0]));
    cr_assert_eq(read_word(slab, location[0], 1, &value, &stats), KVC_MEGAKV_SLAB_CHANGED);
    kvc_megakv_slab_free(slab);
}

/* Reads all items. Returns how many reads set their item's reference bit, and in *checked how many inspected
 * it. */
static uint64_t read_words(struct kvc_megakv_slab *slab, const uint32_t *location, uint32_t count,
                           uint64_t *checked)
{
    struct kvc_megakv_slab_stats stats = {0};
    uint64_t value;
    for (uint32_t i = 0; i < count; i++) {
        cr_assert_eq(read_word(slab, location[i], i, &value, &stats), KVC_MEGAKV_SLAB_HIT);
    }
    *checked = stats.checked;
    return stats.marked;
}

Test(slab, reads_count_the_reference_bits_that_they_set)
{
    enum { ITEMS = 16 * KVC_MEGAKV_SLAB_SURE_ITEMS - 2 }; /* as many as fill a slab */
    struct kvc_megakv_slab *slab = create_slab(2 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t *location = malloc(ITEMS * sizeof(*location));
    struct kvc_megakv_slab_evicted *evicted = malloc(ITEMS * sizeof(*evicted));
    uint32_t evicted_count;
    uint64_t checked;
    store_words(slab, 0, ITEMS, location, evicted, &evicted_count, &stats);
    cr_expect_eq(read_words(slab, location, ITEMS, &checked), 0, "stored items count as read");
    cr_expect_eq(checked, 0);
    kvc_megakv_slab_forget_reads(slab, 1);
    cr_expect_eq(read_words(slab, location, ITEMS, &checked), ITEMS);
    cr_expect_eq(checked, ITEMS);
    cr_expect_eq(read_words(slab, location, ITEMS, &checked), 0);
    cr_expect_eq(checked, 0);
    kvc_megakv_slab_forget_reads(slab, 2);
    cr_expect_eq(read_words(slab, location, ITEMS, &checked), ITEMS / 2);
    kvc_megakv_slab_forget_reads(slab, 128);
    cr_expect_eq(read_words(slab, location, ITEMS, &checked), ITEMS / 128 + 1);
    /* The first read of each group sets the only bit that was clear. */
    kvc_megakv_slab_forget_reads(slab, KVC_MEGAKV_SLAB_SURE_ITEMS);
    cr_expect_eq(read_words(slab, location, ITEMS, &checked), 16);
    cr_expect_eq(checked, 16);
    free(location);
    free(evicted);
    kvc_megakv_slab_free(slab);
}

Test(slab, ring_never_splits_a_value)
{
    enum { COUNT = 9 };
    struct kvc_megakv_slab *slab = create_slab(2 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t location[COUNT], evicted_count, position = 95, value_bytes[COUNT];
    struct kvc_megakv_slab_evicted evicted[COUNT];
    uint64_t keys[COUNT], value;
    uint8_t out[100 + 8], key_bytes[COUNT], result[COUNT];
    memset(out, 0x5a, sizeof(out));
    store_words(slab, 10, COUNT, location, evicted, &evicted_count, &stats);
    for (uint32_t i = 0; i < COUNT; i++) {
        keys[i] = 10 + i;
        key_bytes[i] = 8;
    }
    keys[4] = 0;
    struct kvc_megakv_slab_reads reads = {.count = COUNT,
                                          .location = location,
                                          .keys = (const uint8_t *)keys,
                                          .key_stride = 8,
                                          .key_bytes = key_bytes,
                                          .compare = true,
                                          .out = out,
                                          .out_bytes = 100,
                                          .out_position = &position,
                                          .result = result,
                                          .value_bytes = value_bytes};
    kvc_megakv_slab_read(slab, &reads, &stats);
    cr_assert_eq(position, 64, "eight hits from the start of the ring");
    for (uint32_t i = 0, at = 0; i < COUNT; i++) {
        cr_assert_eq(result[i], i == 4 ? KVC_MEGAKV_SLAB_MISMATCH : KVC_MEGAKV_SLAB_HIT);
        cr_assert_eq(value_bytes[i], i == 4 ? 0 : 8);
        if (i != 4) {
            memcpy(&value, out + at, 8);
            cr_assert_eq(value, ~(uint64_t)(10 + i));
            at += 8;
        }
    }
    for (uint32_t i = 64; i < sizeof(out); i++) {
        cr_assert_eq(out[i], 0x5a, "nothing else was written");
    }
    position = 92;
    reads.count = 1;
    kvc_megakv_slab_read(slab, &reads, &stats);
    cr_assert_eq(position, 100, "a value that just fits stays");
    reads.out_bytes = 7;
    position = 0;
    kvc_megakv_slab_read(slab, &reads, &stats);
    cr_assert_eq(result[0], KVC_MEGAKV_SLAB_CHANGED, "a value longer than the ring");
    cr_assert_eq(position, 0);
    kvc_megakv_slab_free(slab);
}

Test(slab, counts_lines)
{
    struct kvc_megakv_slab *slab = create_slab(8 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t location[2], evicted_count;
    struct kvc_megakv_slab_evicted evicted[2];
    uint64_t key = 0;
    uint8_t value[200] = {0}, *out = malloc(KVC_MEGAKV_SLAB_VALUE_MAX);
    /* Items of 224 bytes: the first covers bytes 0 to 215, the second bytes 224 to 439. */
    cr_assert_eq(kvc_megakv_slab_item_bytes(8, 200), 224);
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, 200, 2, location, evicted, &evicted_count, &stats), 2);
    kvc_megakv_slab_write(slab, location[0], &key, 8, value, 200, &stats);
    cr_assert_eq(stats.write_lines, 4);
    kvc_megakv_slab_write(slab, location[1], &key, 8, value, 200, &stats);
    cr_assert_eq(stats.write_lines, 4 + 4);
    read_single(slab, location[0], &key, 8, true, out, NULL, &stats);
    cr_assert_eq(stats.read_lines, 4);
    key = 1;
    read_single(slab, location[0], &key, 8, true, out, NULL, &stats);
    cr_assert_eq(stats.read_lines, 5, "a mismatch reads header and key");
    read_single(slab, KVC_LOCATION_NONE, &key, 8, true, out, NULL, &stats);
    cr_assert_eq(stats.read_lines, 5);
    store_words(slab, 3, 1, location, evicted, &evicted_count, &stats);
    stats.read_lines = 0;
    key = 3;
    read_single(slab, location[0], &key, 8, true, out, NULL, &stats);
    cr_assert_eq(stats.read_lines, 1);
    free(out);
    kvc_megakv_slab_free(slab);
}

Test(slab, rewriting_in_place)
{
    struct kvc_megakv_slab *slab = create_slab(2 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t location, evicted_count;
    struct kvc_megakv_slab_evicted evicted;
    uint64_t key = 5, value = 6;
    store_words(slab, 5, 1, &location, &evicted, &evicted_count, &stats);
    kvc_megakv_slab_write(slab, location, &key, 8, &value, 8, &stats);
    cr_assert_eq(kvc_megakv_slab_used_items(slab), 1);
    cr_assert_eq(read_word(slab, location, 5, &value, &stats), KVC_MEGAKV_SLAB_HIT);
    cr_assert_eq(value, 6);
    kvc_megakv_slab_free(slab);
}

Test(slab, rewriting_asks_for_the_key)
{
    struct kvc_megakv_slab *slab = create_slab(2 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t location[2], evicted_count;
    struct kvc_megakv_slab_evicted evicted[2];
    uint64_t key = 5, other = 6, value = 7;
    uint8_t large[32] = {0};
    store_words(slab, key, 1, location, evicted, &evicted_count, &stats);
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, 8, 1, &location[1], evicted, &evicted_count, &stats), 1);
    cr_assert_not(kvc_megakv_slab_rewrite(slab, location[0], &other, 8, &value, 8, &stats));
    cr_assert_not(kvc_megakv_slab_rewrite(slab, location[0], &key, 7, &value, 8, &stats), "half the key");
    cr_assert_not(kvc_megakv_slab_rewrite(slab, location[0], &key, 8, large, 17, &stats), "does not fit");
    cr_assert_not(kvc_megakv_slab_rewrite(slab, location[0], &key, 8, large, UINT32_MAX - 8, &stats));
    cr_assert_not(kvc_megakv_slab_rewrite(slab, location[1], &key, 8, &value, 8, &stats), "not yet written");
    cr_assert_not(kvc_megakv_slab_rewrite(slab, KVC_LOCATION_NONE, &key, 8, &value, 8, &stats));
    cr_assert_not(kvc_megakv_slab_rewrite(slab, 65535, &key, 8, &value, 8, &stats),
                  "an item that no one can have");
    cr_assert_eq(stats.writes, 1);
    cr_assert_eq(read_word(slab, location[0], key, &value, &stats), KVC_MEGAKV_SLAB_HIT);
    cr_assert_eq(value, ~key);
    value = 7;
    cr_assert(kvc_megakv_slab_rewrite(slab, location[0], &key, 8, &value, 8, &stats));
    cr_assert_eq(stats.writes, 2);
    cr_assert_eq(read_word(slab, location[0], key, &value, &stats), KVC_MEGAKV_SLAB_HIT);
    cr_assert_eq(value, 7);
    cr_assert(kvc_megakv_slab_rewrite(slab, location[0], &key, 8, large, 16, &stats), "another length");
    cr_assert_eq(kvc_megakv_slab_used_items(slab), 1);
    cr_assert(kvc_megakv_slab_release_key(slab, location[0], kvc_hash(&key, 8, hash_seed)));
    cr_assert_not(kvc_megakv_slab_rewrite(slab, location[0], &key, 8, &value, 8, &stats), "free");
    cr_assert_eq(kvc_megakv_slab_used_items(slab), 0);
    kvc_megakv_slab_free(slab);
}

Test(slab, writing_again_may_change_the_key)
{
    struct kvc_megakv_slab *slab = create_slab(2 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t location, evicted_count;
    struct kvc_megakv_slab_evicted evicted;
    uint64_t key = 6, value = 7;
    store_words(slab, 5, 1, &location, &evicted, &evicted_count, &stats);
    cr_assert(kvc_megakv_slab_write(slab, location, &key, 8, &value, 8, &stats));
    cr_assert_eq(read_word(slab, location, 5, &value, &stats), KVC_MEGAKV_SLAB_MISMATCH);
    cr_assert_eq(read_word(slab, location, 6, &value, &stats), KVC_MEGAKV_SLAB_HIT);
    cr_assert_eq(value, 7);
    cr_assert(kvc_megakv_slab_release(slab, location));
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, 8, 1, &location, &evicted, &evicted_count, &stats), 1);
    cr_assert_eq(kvc_megakv_slab_used_items(slab), 0);
    kvc_megakv_slab_free(slab);
}

Test(slab, release_of_a_key_spares_other_keys)
{
    struct kvc_megakv_slab *slab = create_slab(2 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t location, evicted_count;
    struct kvc_megakv_slab_evicted evicted;
    uint64_t key = 5, other = 6;
    store_words(slab, key, 1, &location, &evicted, &evicted_count, &stats);
    uint64_t hash = kvc_hash(&key, sizeof(key), hash_seed);
    cr_assert_not(kvc_megakv_slab_release_key(slab, location, kvc_hash(&other, sizeof(other), hash_seed)));
    cr_assert_eq(kvc_megakv_slab_used_items(slab), 1);
    cr_assert(kvc_megakv_slab_release_key(slab, location, hash));
    cr_assert_not(kvc_megakv_slab_release_key(slab, location, hash), "free already");
    cr_assert_not(kvc_megakv_slab_release_key(slab, KVC_LOCATION_NONE, hash));
    cr_assert_eq(kvc_megakv_slab_used_items(slab), 0);
    kvc_megakv_slab_free(slab);
}

Test(slab, release_works_once)
{
    struct kvc_megakv_slab *slab = create_slab(2 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t location[100], again[100], evicted_count;
    struct kvc_megakv_slab_evicted evicted[100];
    store_words(slab, 0, 99, location, evicted, &evicted_count, &stats);
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, 8, 1, &location[99], evicted, &evicted_count, &stats), 1);
    for (uint32_t i = 0; i < 100; i += 3) {
        cr_assert(kvc_megakv_slab_release(slab, location[i]));
        cr_assert_not(kvc_megakv_slab_release(slab, location[i]));
    }
    cr_assert_eq(kvc_megakv_slab_used_items(slab), 99 - 33);
    cr_assert_not(kvc_megakv_slab_release(slab, KVC_LOCATION_NONE));
    cr_assert_not(kvc_megakv_slab_release(slab, 65534), "behind the last item");
    cr_assert_not(kvc_megakv_slab_release(slab, 5000), "never allocated");
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, 8, 34, again, evicted, &evicted_count, &stats), 34);
    for (uint32_t i = 0; i < 34; i++) {
        cr_assert_eq(again[i], location[3 * i], "what was released is allocated first");
    }
    kvc_megakv_slab_free(slab);
}

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
 * hand stays after the last one that it took. */
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

#ifndef __SANITIZE_ADDRESS__ /* AddressSanitizer's shadow memory alone exceeds any such limit */
Test(memory, tables_and_stores_that_do_not_fit)
{
    struct rlimit limit = {.rlim_cur = UINT64_C(1) << 30, .rlim_max = UINT64_C(1) << 30};
    cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
    errno = 0;
    cr_assert_null(kvc_megakv_slab_create(UINT64_C(4) << 30, 0));
    cr_assert_eq(errno, ENOMEM);
    errno = 0;
    cr_assert_null(kvc_megakv_cuckoo_create(&(struct kvc_megakv_cuckoo_params){.bytes = UINT64_C(4) << 30}));
    cr_assert_eq(errno, ENOMEM);
}
#endif

/* --- a batch and the same reads one by one --- */

enum { LONG_BATCH = 700, LONG_RING = 40000 };

/* Stores LONG_BATCH items, some of the most common shape and some of many lines, whose marks are clear; every
 * seventh is free again. The lengths follow from the number of the item, which is its key. */
static struct kvc_megakv_slab *store_of_lengths(uint32_t *location, struct kvc_megakv_slab_stats *stats)
{
    struct kvc_megakv_slab *slab = create_slab(512 << 20);
    static uint8_t value[20000];
    for (uint64_t i = 0; i < LONG_BATCH; i++) {
        uint32_t longest = i < 200 ? sizeof(value) : 60;
        uint32_t bytes = i % 3 == 0 ? (uint32_t)i * 7919 % longest : 8, evicted_count;
        struct kvc_megakv_slab_evicted evicted;
        memset(value, (int)i, bytes);
        cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, bytes, 1, &location[i], &evicted, &evicted_count, stats),
                     1);
        kvc_megakv_slab_write(slab, location[i], &i, 8, value, bytes, stats);
        if (i % 7 == 0) {
            cr_assert(kvc_megakv_slab_release(slab, location[i]));
        }
        location[i] = i % 11 == 0 ? KVC_LOCATION_NONE : location[i];
    }
    kvc_megakv_slab_forget_reads(slab, 1);
    return slab;
}

/* Reads in batches of `batch`, into a ring that the values fill many times. */
static void read_in_batches(uint32_t batch, uint8_t *out, uint8_t *result, uint32_t *value_bytes,
                            uint32_t *position, struct kvc_megakv_slab_stats *stats)
{
    uint32_t location[LONG_BATCH];
    uint64_t key[LONG_BATCH];
    uint8_t key_bytes[LONG_BATCH];
    struct kvc_megakv_slab *slab = store_of_lengths(location, stats);
    for (uint32_t i = 0; i < LONG_BATCH; i++) {
        key[i] = i + (i % 13 == 0); /* some ask for another key */
        key_bytes[i] = i % 17 == 0 ? 7 : 8;
    }
    *position = 0;
    for (uint32_t first = 0; first < LONG_BATCH; first += batch) {
        uint32_t left = LONG_BATCH - first;
        kvc_megakv_slab_read(slab,
                             &(struct kvc_megakv_slab_reads){.count = left < batch ? left : batch,
                                                             .location = location + first,
                                                             .keys = (const uint8_t *)(key + first),
                                                             .key_stride = 8,
                                                             .key_bytes = key_bytes + first,
                                                             .compare = true,
                                                             .out = out,
                                                             .out_bytes = LONG_RING,
                                                             .out_position = position,
                                                             .result = result + first,
                                                             .value_bytes = value_bytes + first},
                             stats);
    }
    kvc_megakv_slab_free(slab);
}

Test(slab, batches_of_any_size_read_the_same)
{
    static uint8_t out[2][LONG_RING], result[2][LONG_BATCH];
    static uint32_t value_bytes[2][LONG_BATCH];
    struct kvc_megakv_slab_stats single = {0};
    uint32_t position[2];
    read_in_batches(1, out[0], result[0], value_bytes[0], &position[0], &single);
    cr_assert_gt(single.marked, 0);
    for (uint32_t batch = 2; batch <= LONG_BATCH; batch = batch * 3 / 2 + 1) {
        struct kvc_megakv_slab_stats stats = {0};
        memset(out[1], 0, sizeof(out[1]));
        read_in_batches(batch, out[1], result[1], value_bytes[1], &position[1], &stats);
        cr_assert_arr_eq(out[0], out[1], sizeof(out[0]), "batches of %u", batch);
        cr_assert_arr_eq(result[0], result[1], sizeof(result[0]));
        cr_assert_arr_eq(value_bytes[0], value_bytes[1], sizeof(value_bytes[0]));
        cr_assert_eq(position[0], position[1]);
        cr_assert_eq(memcmp(&single, &stats, sizeof(stats)), 0, "batches of %u", batch);
    }
}

/* --- a compact store and one with the bytes of its items --- */

enum { PAIR_BATCH = 40, PAIR_KEYS = 60000, PAIR_STEPS = 20000, PAIR_STORES = 2 };

/* The same items in a store of bytes and in a compact one, and the same batch of requests for both. */
struct pair {
    struct kvc_megakv_slab *slab[PAIR_STORES];
    struct kvc_megakv_slab_stats stats[PAIR_STORES];
    bool mixes;                   /* Keys of a class have several lengths. */
    uint32_t location[PAIR_KEYS]; /* Where an index would look for a key: the last place that it had. */
    uint32_t key_id[PAIR_BATCH];
    uint64_t hash[PAIR_BATCH];
    uint8_t keys[PAIR_BATCH][16], key_bytes[PAIR_BATCH];
    uint32_t value_bytes[PAIR_BATCH];
};

/* The lengths of a key depend on it alone; its first 8 bytes are its number. */
static void draw_keys(struct pair *pair, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t key = random_word() % PAIR_KEYS;
        pair->key_id[i] = (uint32_t)key;
        pair->key_bytes[i] = pair->mixes ? (uint8_t)(8 + key % 7) : 8;
        pair->value_bytes[i] = pair->mixes ? (uint32_t)(key % 5 * 100 + key % 3) : 8;
        memset(pair->keys[i], 0, sizeof(pair->keys[i]));
        memcpy(pair->keys[i], &key, sizeof(key));
        pair->hash[i] = kvc_hash(pair->keys[i], pair->key_bytes[i], hash_seed);
    }
}

static void write_item(struct pair *pair, int store, uint32_t location)
{
    static const uint8_t value[1000];
    if (store == 0) {
        kvc_megakv_slab_write(pair->slab[0], location, pair->keys[0], pair->key_bytes[0], value,
                              pair->value_bytes[0], &pair->stats[0]);
    } else {
        kvc_megakv_slab_write_hash(pair->slab[1], location, pair->hash[0], pair->key_bytes[0],
                                   pair->value_bytes[0], &pair->stats[1]);
    }
}

static void store_pair(struct pair *pair)
{
    uint32_t location[PAIR_STORES], evictions[PAIR_STORES], got[PAIR_STORES];
    struct kvc_megakv_slab_evicted evicted[PAIR_STORES];
    draw_keys(pair, 1);
    for (int store = 0; store < PAIR_STORES; store++) {
        got[store] =
            kvc_megakv_slab_alloc(pair->slab[store], pair->key_bytes[0], pair->value_bytes[0], 1,
                                  &location[store], &evicted[store], &evictions[store], &pair->stats[store]);
        if (got[store] > 0 && random_state % 16 > 0) { /* Some stay allocated and unwritten. */
            write_item(pair, store, location[store]);
        }
    }
    cr_assert(got[0] == got[1] && evictions[0] == evictions[1]);
    cr_assert(got[0] == 0 || location[0] == location[1]);
    cr_assert(evictions[0] == 0 ||
              (evicted[0].location == evicted[1].location && evicted[0].hash == evicted[1].hash));
    pair->location[pair->key_id[0]] = got[0] > 0 ? location[0] : KVC_LOCATION_NONE;
}

static void read_pair(struct pair *pair)
{
    static uint8_t out[KVC_MEGAKV_SLAB_VALUE_MAX];
    uint32_t location[PAIR_BATCH], value_bytes[PAIR_STORES][PAIR_BATCH];
    uint8_t result[PAIR_STORES][PAIR_BATCH];
    bool compares = random_word() % 4 > 0;
    draw_keys(pair, PAIR_BATCH);
    for (uint32_t i = 0; i < PAIR_BATCH; i++) {
        bool asks_another = random_word() % 8 == 0;
        location[i] = pair->location[asks_another ? random_word() % PAIR_KEYS : pair->key_id[i]];
    }
    for (int store = 0; store < PAIR_STORES; store++) {
        uint32_t position = 0;
        kvc_megakv_slab_read(pair->slab[store],
                             &(struct kvc_megakv_slab_reads){.count = PAIR_BATCH,
                                                             .location = location,
                                                             .hash = pair->hash,
                                                             .keys = pair->keys[0],
                                                             .key_stride = sizeof(pair->keys[0]),
                                                             .key_bytes = pair->key_bytes,
                                                             .compare = compares,
                                                             .out = out,
                                                             .out_bytes = sizeof(out),
                                                             .out_position = &position,
                                                             .result = result[store],
                                                             .value_bytes = value_bytes[store]},
                             &pair->stats[store]);
    }
    cr_assert_arr_eq(result[0], result[1], sizeof(result[0]));
    cr_assert_arr_eq(value_bytes[0], value_bytes[1], sizeof(value_bytes[0]));
}

static void release_pair(struct pair *pair)
{
    bool by_key = random_word() % 2 > 0;
    draw_keys(pair, 1);
    uint32_t location = pair->location[pair->key_id[0]];
    bool released[PAIR_STORES];
    for (int store = 0; store < PAIR_STORES && location != KVC_LOCATION_NONE; store++) {
        released[store] = by_key ? kvc_megakv_slab_release_key(pair->slab[store], location, pair->hash[0])
                                 : kvc_megakv_slab_release(pair->slab[store], location);
    }
    cr_assert(location == KVC_LOCATION_NONE || released[0] == released[1]);
}

static void check_pair(uint64_t bytes, uint64_t rate, bool mixes)
{
    struct pair *pair = calloc(1, sizeof(*pair));
    cr_assert_not_null(pair);
    pair->mixes = mixes;
    memset(pair->location, 0xff, sizeof(pair->location));
    for (int store = 0; store < PAIR_STORES; store++) {
        pair->slab[store] = create_with(bytes, rate, store == 1);
        cr_assert_not_null(pair->slab[store]);
    }
    for (uint32_t step = 0; step < PAIR_STEPS; step++) {
        uint64_t kind = random_word() % 16;
        for (int i = 0; kind < 8 && i < 16; i++) {
            store_pair(pair);
        }
        if (kind >= 8 && kind < 14) {
            read_pair(pair);
        } else if (kind == 14) {
            release_pair(pair);
        }
        cr_assert_eq(memcmp(&pair->stats[0], &pair->stats[1], sizeof(pair->stats[0])), 0, "step %u", step);
    }
    cr_expect_gt(pair->stats[0].evicted, 0);
    cr_expect_gt(pair->stats[0].marked, 0);
    cr_expect_eq(kvc_megakv_slab_used_items(pair->slab[0]), kvc_megakv_slab_used_items(pair->slab[1]));
    for (int store = 0; store < PAIR_STORES; store++) {
        kvc_megakv_slab_free(pair->slab[store]);
    }
    free(pair);
}

Test(slab, compact_store_has_the_outcomes_of_one_with_bytes)
{
    check_pair(1, 1, false);
    check_pair(12 << 20, 1, true);
    check_pair(512 << 20, 64, true);
}
