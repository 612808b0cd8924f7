#include "kernels/megakv/slab.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/index.h"
#include "kernels/random_fixture.h"
#include "kernels/megakv/slab_fixture.h"

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

/* What a plain map knows of each key. */
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

/* A sample of one in 64 gets 1/64 of the items of every class that took slabs, also if a class has few. */
Test(slab, sample_holds_its_share_of_every_class)
{
    enum { RATE = 64, SLABS = 20, TRIES = 40000 };
    struct kvc_megakv_slab *slab =
        kvc_megakv_slab_create_sample(SLABS * (uint64_t)KVC_MEGAKV_SLAB_BYTES, RATE, hash_seed);
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
    cr_expect_null(kvc_megakv_slab_create_sample(1 << 21, 0, hash_seed));
}
