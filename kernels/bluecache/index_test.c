#include "kernels/bluecache/index.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/random_fixture.h"

static uint64_t hash_of(uint32_t bucket, uint32_t key_hash)
{
    return (uint64_t)key_hash << 43 | bucket;
}

static struct kvc_index *create(uint64_t bytes)
{
    struct kvc_index *index =
        kvc_bluecache_index_create(&(struct kvc_bluecache_index_params){.bytes = bytes});
    cr_assert_not_null(index);
    return index;
}

static uint64_t put(struct kvc_index *index, uint64_t hash, uint8_t key_bytes, uint32_t value_bytes,
                    uint64_t pointer, uint64_t *position)
{
    struct kvc_index_stats stats = {0};
    uint64_t gone, where;
    kvc_bluecache_index_put(index, &hash, &key_bytes, &value_bytes, &pointer, 1, &where, &gone, &stats);
    if (position != NULL) {
        *position = where;
    }
    return gone;
}

static struct kvc_bluecache_found get(struct kvc_index *index, uint64_t hash, uint8_t key_bytes)
{
    struct kvc_index_stats stats = {0};
    struct kvc_bluecache_found found;
    kvc_bluecache_index_get(index, &hash, &key_bytes, 1, &found, &stats);
    return found;
}

Test(bluecache_index, rejects_bad_params)
{
    uint64_t bad[] = {0, 32, 96, UINT64_C(512) << 30};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        errno = 0;
        cr_assert_null(kvc_bluecache_index_create(&(struct kvc_bluecache_index_params){.bytes = bad[i]}));
        cr_assert_eq(errno, EINVAL);
    }
    kvc_index_free(NULL);
}

Test(bluecache_index, empty_table_and_empty_batch)
{
    struct kvc_index *index = kvc_bluecache_kind.create(1 << 16, 1);
    struct kvc_index_stats stats = {0};
    uint64_t hash = 0;
    uint32_t location;
    cr_assert_eq(kvc_index_capacity(index), (1 << 16) / 16);
    kvc_index_search(index, NULL, 0, NULL, &stats);
    kvc_index_insert(index, NULL, NULL, 0, NULL, &stats);
    kvc_index_erase(index, NULL, NULL, 0, NULL, &stats);
    cr_assert_eq(stats.searches + stats.inserts + stats.erases, 0);
    kvc_index_search(index, &hash, 1, &location, &stats);
    cr_assert_eq(location, KVC_LOCATION_NONE, "a hash of 0 must not match an empty entry");
    cr_assert_eq(get(index, 0, 0).pointer, KVC_BLUECACHE_NOWHERE);
    kvc_index_free(index);
}

/* Every field keeps both ends of its range without spilling into another field. */
Test(bluecache_index, fields_have_the_published_widths)
{
    struct kvc_index *index = create(64 * 4);
    uint64_t pointers[] = {0, 1, KVC_BLUECACHE_FLASH, KVC_BLUECACHE_FLASH - 1, KVC_BLUECACHE_POINTER_MAX};
    uint32_t values[] = {0, 1, KVC_BLUECACHE_VALUE_MAX};
    uint8_t keys[] = {0, 1, KVC_BLUECACHE_KEY_MAX};
    uint32_t hashes[] = {0, 1, (1 << KVC_BLUECACHE_KEY_HASH_BITS) - 1};
    for (size_t p = 0; p < 5; p++) {
        for (size_t v = 0; v < 3; v++) {
            for (size_t k = 0; k < 3; k++) {
                for (size_t h = 0; h < 3; h++) {
                    uint64_t hash = hash_of((uint32_t)(p + v + k), hashes[h]);
                    put(index, hash, keys[k], values[v], pointers[p], NULL);
                    struct kvc_bluecache_found found = get(index, hash, keys[k]);
                    cr_assert_eq(found.pointer, pointers[p]);
                    cr_assert_eq(found.value_bytes, values[v]);
                    found = get(index, hash, (uint8_t)(keys[k] ^ 2));
                    cr_assert_eq(found.pointer, KVC_BLUECACHE_NOWHERE, "the key's length is compared");
                    cr_assert_eq(found.value_bytes, 0);
                }
            }
        }
    }
    /* Only 21 bits of SHA-1 are kept, so a difference below them is a false match. */
    cr_assert_eq(get(index, hash_of(0, 0) | UINT64_C(1) << 42, 0).pointer,
                 get(index, hash_of(0, 0), 0).pointer);
    kvc_index_free(index);
}

Test(bluecache_index, fifth_key_evicts_the_least_recently_used)
{
    struct kvc_index *index = create(64);
    struct kvc_index_stats stats = {0};
    uint64_t hash[6];
    uint32_t location[6] = {10, 11, 12, 13, 14, 15}, out[6];
    for (uint32_t i = 0; i < 6; i++) {
        hash[i] = hash_of(0, i + 1);
    }
    kvc_index_insert(index, hash, location, 4, out, &stats);
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(out[i], KVC_LOCATION_NONE);
    }
    uint32_t found[6];
    kvc_index_search(index, hash, 1, found, &stats); /* key 1 is now the oldest */
    kvc_index_insert(index, hash + 4, location + 4, 1, out, &stats);
    cr_assert_eq(out[0], 11);
    kvc_index_insert(index, hash + 2, location + 5, 1, out,
                     &stats); /* replaces key 2, so key 3 is the oldest */
    cr_assert_eq(out[0], 12);
    kvc_index_insert(index, hash + 5, location + 5, 1, out, &stats);
    cr_assert_eq(out[0], 13);
    cr_assert_eq(stats.evicted, 2);
    cr_assert_eq(stats.replaced, 1);
    cr_assert_eq(stats.insert_lines, stats.inserts);
    cr_assert_eq(stats.search_lines, stats.searches);
    cr_assert_eq(kvc_index_used(index), 4);
    kvc_index_free(index);
}

Test(bluecache_index, recency_survives_the_clock_turning_over)
{
    struct kvc_index *index = create(64);
    kvc_bluecache_index_set_clock(index, UINT32_MAX - 1);
    for (uint32_t i = 0; i < 4; i++) {
        put(index, hash_of(0, i), 1, 1, i, NULL); /* at times -2, -1, 0, 1 */
    }
    cr_assert_eq(kvc_bluecache_index_clock(index), 2);
    for (uint32_t i = 0; i < 4; i++) {
        cr_assert_eq(put(index, hash_of(0, 4 + i), 1, 1, 4 + i, NULL), i);
    }
    kvc_index_free(index);
}

Test(bluecache_index, moves_follow_backward_pointers)
{
    struct kvc_index *index = create(64 * 8);
    uint64_t position[3];
    for (uint32_t i = 0; i < 3; i++) {
        put(index, hash_of(5, i), 9, 100 + i, 1000 + i, &position[i]);
        cr_assert_eq(position[i] / 4, 5);
        cr_assert_eq(kvc_bluecache_index_home(index, hash_of(5, i)), 20);
    }
    struct kvc_bluecache_move moves[] = {
        {position[0], 1000, KVC_BLUECACHE_FLASH | 77}, /* changed */
        {position[1], 1000, 5},                        /* points elsewhere, so it is not changed */
        {position[2], 1002, KVC_BLUECACHE_NOWHERE},    /* removed */
        {UINT64_C(1) << 39, 1001, 5},                  /* no such bucket */
        {position[0], KVC_BLUECACHE_FLASH | 77, KVC_BLUECACHE_FLASH | 78}}; /* moves are made in order */
    cr_assert_eq(kvc_bluecache_index_move(index, moves, 5), 3);
    cr_assert_eq(get(index, hash_of(5, 0), 9).pointer, KVC_BLUECACHE_FLASH | 78);
    cr_assert_eq(get(index, hash_of(5, 0), 9).value_bytes, 100);
    cr_assert_eq(get(index, hash_of(5, 1), 9).pointer, 1001);
    cr_assert_eq(get(index, hash_of(5, 2), 9).pointer, KVC_BLUECACHE_NOWHERE);
    cr_assert_eq(kvc_index_used(index), 2);
    cr_assert(kvc_bluecache_index_points(index, position[1], 1001));
    cr_assert_not(kvc_bluecache_index_points(index, position[1], 1000));
    cr_assert_not(kvc_bluecache_index_points(index, UINT64_C(1) << 39, 1001));
    kvc_index_free(index);
}

static bool keep_even(void *context, uint64_t pointer)
{
    (*(uint64_t *)context)++;
    return pointer % 2 == 0;
}

Test(bluecache_index, saved_buckets_come_back_without_dram)
{
    enum { BUCKETS = 16 };
    struct kvc_index *index = create(64 * BUCKETS), *copy = create(64 * BUCKETS);
    uint8_t saved[64 * BUCKETS];
    uint64_t asked = 0, flash = 0;
    for (uint32_t i = 0; i < 2 * BUCKETS; i++) {
        put(index, hash_of(i % BUCKETS, i), 3, i, i | (i % 3 != 0 ? KVC_BLUECACHE_FLASH : 0), NULL);
        flash += i % 3 != 0;
    }
    kvc_bluecache_index_save(index, 0, BUCKETS, saved);
    put(copy, hash_of(2, 1000), 3, 0, 4, NULL); /* loading replaces this entry */
    kvc_bluecache_index_load(copy, 0, BUCKETS + 1, saved, keep_even, &asked);
    cr_assert_eq(asked, flash);
    uint64_t kept = 0;
    for (uint32_t i = 0; i < 2 * BUCKETS; i++) {
        struct kvc_bluecache_found found = get(copy, hash_of(i % BUCKETS, i), 3);
        if (i % 3 != 0 && i % 2 == 0) {
            cr_assert_eq(found.pointer, i | KVC_BLUECACHE_FLASH);
            cr_assert_eq(found.value_bytes, i);
            kept++;
        } else {
            cr_assert_eq(found.pointer, KVC_BLUECACHE_NOWHERE);
        }
    }
    cr_assert_eq(kvc_index_used(copy), kept);
    kvc_index_free(index);
    kvc_index_free(copy);
}

/* Whatever is loaded, no two entries of a bucket share a key or a pointer, and the counts are right. */
Test(bluecache_index, loads_any_bytes)
{
    struct kvc_index *index = create(64);
    for (int round = 0; round < 2000; round++) {
        uint64_t words[8], asked = 0;
        for (int w = 0; w < 8; w++) {
            words[w] = random_word() | (w % 2 == 0 ? KVC_BLUECACHE_FLASH : UINT64_C(1) << 29);
            if (random_word() % 2 == 0) {
                words[w] = words[random_word() % (unsigned)(w + 1)];
            }
            if (w % 2 == 1 && random_word() % 4 != 0) {
                words[w] &= ~(UINT64_C(3) << 30);
            }
        }
        kvc_bluecache_index_load(index, 0, 1, words, keep_even, &asked);
        uint64_t saved[8], used = 0;
        kvc_bluecache_index_save(index, 0, 1, saved);
        for (int w = 0; w < 8; w += 2) {
            if (saved[w + 1] == 0) {
                continue;
            }
            used++;
            cr_assert_eq((uint32_t)saved[w + 1] >> 29, 1);
            cr_assert_eq(saved[w] & 1, 0);
            cr_assert_neq(saved[w] & KVC_BLUECACHE_FLASH, 0);
            for (int v = 0; v < w; v += 2) {
                cr_assert(saved[v + 1] == 0 || ((uint32_t)saved[v + 1] != (uint32_t)saved[w + 1] &&
                                                ((saved[v] ^ saved[w]) & KVC_BLUECACHE_POINTER_MAX) != 0));
            }
        }
        cr_assert_eq(kvc_index_used(index), used);
        cr_assert_leq(used, asked);
    }
    kvc_index_free(index);
}

/* A plain model of what the header promises: each bucket is a list of elements, least recently used first. */
struct model_bucket {
    uint32_t count;
    uint64_t key[KVC_BLUECACHE_WAYS];
    uint32_t location[KVC_BLUECACHE_WAYS];
};

static uint32_t model_find(const struct model_bucket *bucket, uint64_t key)
{
    uint32_t i = 0;
    while (i < bucket->count && bucket->key[i] != key) {
        i++;
    }
    return i;
}

static uint32_t model_remove(struct model_bucket *bucket, uint32_t i)
{
    uint32_t location = bucket->location[i];
    bucket->count--;
    for (; i < bucket->count; i++) {
        bucket->key[i] = bucket->key[i + 1];
        bucket->location[i] = bucket->location[i + 1];
    }
    return location;
}

static void model_append(struct model_bucket *bucket, uint64_t key, uint32_t location)
{
    bucket->key[bucket->count] = key;
    bucket->location[bucket->count++] = location;
}

static void operate(uint64_t seed, uint32_t buckets, uint32_t keys, uint32_t rounds)
{
    enum { BATCH = 100 };
    struct kvc_index *index = create((uint64_t)buckets * 64);
    struct model_bucket *model = calloc(buckets, sizeof(*model));
    struct kvc_index_stats stats = {0};
    uint64_t used = 0, evicted = 0, replaced = 0, hits = 0, erased = 0;
    random_state = seed;
    for (uint32_t round = 0; round < rounds; round++) {
        uint64_t hash[BATCH];
        uint32_t location[BATCH], out[BATCH], expected[BATCH];
        uint32_t count = (uint32_t)(random_word() % (BATCH + 1));
        uint32_t operation = (uint32_t)(random_word() % 4);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t key = (uint32_t)(random_word() % keys);
            hash[i] = hash_of(key % buckets, key / buckets);
            location[i] = (uint32_t)random_word() % 1000;
            struct model_bucket *bucket = &model[key % buckets];
            uint32_t at = model_find(bucket, hash[i]);
            bool present = at < bucket->count;
            expected[i] = KVC_LOCATION_NONE;
            if (operation < 2) {
                if (present || bucket->count == KVC_BLUECACHE_WAYS) {
                    expected[i] = model_remove(bucket, present ? at : 0);
                    replaced += present;
                    evicted += !present;
                    used--;
                }
                model_append(bucket, hash[i], location[i]);
                used++;
            } else if (operation == 2 && present) {
                uint32_t right = bucket->location[at];
                location[i] = i % 3 == 0 ? KVC_LOCATION_ANY : i % 3 == 1 ? right : right + 1;
                if (i % 3 != 2) {
                    expected[i] = model_remove(bucket, at);
                    used--;
                    erased++;
                }
            } else if (operation == 3 && present) {
                expected[i] = model_remove(bucket, at);
                model_append(bucket, hash[i], expected[i]);
                hits++;
            }
        }
        if (operation < 2) {
            kvc_index_insert(index, hash, location, count, out, &stats);
        } else if (operation == 2) {
            kvc_index_erase(index, hash, location, count, out, &stats);
        } else {
            kvc_index_search(index, hash, count, out, &stats);
        }
        cr_assert_arr_eq(out, expected, count * sizeof(*out));
        cr_assert_eq(kvc_index_used(index), used);
    }
    cr_assert_eq(stats.evicted, evicted);
    cr_assert_eq(stats.replaced, replaced);
    cr_assert_eq(stats.search_hits, hits);
    cr_assert_eq(stats.erased, erased);
    cr_assert_eq(stats.search_lines + stats.insert_lines + stats.erase_lines,
                 stats.searches + stats.inserts + stats.erases, "one line each");
    cr_assert_gt(hits, 0);
    cr_assert_gt(erased, 0);
    free(model);
    kvc_index_free(index);
}

Test(bluecache_index, random_operations_agree_with_lru_lists)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        operate(seed, 256, 600, 2000);
        operate(seed, 256, 5000, 2000);
        operate(seed, 1, 7, 1000);
        operate(seed, 2, 100, 1000);
    }
}

/* Keys fall into buckets at random, so buckets of four evict before the table is full. The keys of a bucket
 * are Poisson distributed, and those beyond four leave. */
Test(bluecache_index, fill_follows_the_poisson_law)
{
    enum { BUCKETS = 1 << 14, KEYS = 4 * BUCKETS };
    struct kvc_index *index = create(64 * BUCKETS);
    struct kvc_index_stats stats = {0};
    uint64_t *hash = malloc(KEYS * sizeof(*hash));
    uint32_t *location = malloc(KEYS * sizeof(*location));
    for (uint32_t i = 0; i < KEYS; i++) {
        hash[i] = random_word();
        location[i] = i;
    }
    kvc_index_insert(index, hash, location, KEYS, NULL, &stats);
    /* E[min(X, 4)] / 4 for X ~ Poisson(4) is 0.80463. */
    double load = (double)kvc_index_used(index) / (double)kvc_index_capacity(index);
    cr_assert_float_eq(load, 0.80463, 0.005);
    cr_assert_eq(kvc_index_used(index) + stats.evicted + stats.replaced, KEYS);
    free(hash);
    free(location);
    kvc_index_free(index);
}
