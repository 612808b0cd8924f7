#include "kernels/kvdirect/table.h"

#include <criterion/criterion.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/random_fixture.h"

static struct kvc_kvdirect_table *create(uint64_t bytes, double hash_index_frac, uint32_t inline_bytes)
{
    struct kvc_kvdirect_table *table = kvc_kvdirect_table_create(&(struct kvc_kvdirect_table_params){
        .bytes = bytes, .hash_index_frac = hash_index_frac, .inline_bytes = inline_bytes, .seed = 42});
    cr_assert_not_null(table);
    return table;
}

Test(kvdirect_index, agrees_with_a_map)
{
    enum { KEYS = 4096, BATCH = 100 };
    static uint32_t map[KEYS];
    for (size_t shape = 0; shape < 3; shape++) {
        struct kvc_kvdirect_table *table = create(1 << 19, shape == 0 ? 0.01 : 0.6, shape == 2 ? 0 : 12);
        struct kvc_index *index = kvc_kvdirect_table_index(table);
        struct kvc_index_stats stats = {0};
        uint64_t used = 0;
        memset(map, 0xff, sizeof(map));
        for (int batch = 0; batch < 600; batch++) {
            uint64_t hash[BATCH], key[BATCH];
            uint32_t location[BATCH], out[BATCH];
            for (int i = 0; i < BATCH; i++) {
                key[i] = random_word() % KEYS;
                hash[i] = (key[i] + 1) * 0x9e3779b97f4a7c15;
                hash[i] ^= hash[i] >> 32;
                location[i] = (uint32_t)random_word() & 0x7fffffff;
            }
            uint64_t what = random_word() % 4;
            if (what < 2) {
                kvc_index_insert(index, hash, location, BATCH, out, &stats);
                for (int i = 0; i < BATCH; i++) {
                    cr_assert_eq(out[i], map[key[i]]);
                    used += map[key[i]] == KVC_LOCATION_NONE;
                    map[key[i]] = location[i];
                }
            } else if (what == 2) {
                kvc_index_search(index, hash, BATCH, out, &stats);
                for (int i = 0; i < BATCH; i++) {
                    cr_assert_eq(out[i], map[key[i]]);
                }
            } else {
                for (int i = 0; i < BATCH; i++) {
                    uint64_t how = random_word() % 3;
                    location[i] = how == 0 ? KVC_LOCATION_ANY : how == 1 ? map[key[i]] : location[i];
                }
                kvc_index_erase(index, hash, location, BATCH, out, &stats);
                for (int i = 0; i < BATCH; i++) {
                    bool gone = location[i] == KVC_LOCATION_ANY || location[i] == map[key[i]];
                    cr_assert_eq(out[i], gone ? map[key[i]] : KVC_LOCATION_NONE);
                    if (gone && map[key[i]] != KVC_LOCATION_NONE) {
                        used--;
                        map[key[i]] = KVC_LOCATION_NONE;
                    }
                }
            }
            cr_assert_eq(kvc_index_used(index), used);
        }
        cr_assert_eq(stats.dropped, 0);
        cr_assert_geq(stats.search_lines, stats.searches);
        kvc_index_free(index);
    }
}

Test(kvdirect_index, lines_along_a_chain)
{
    struct kvc_kvdirect_table *table = create(1 << 14, 0.5, 12);
    struct kvc_index *index = kvc_kvdirect_table_index(table);
    for (uint64_t i = 0; i < 7; i++) { /* all in bucket 0, three to a bucket */
        struct kvc_index_stats stats = {0};
        uint64_t hash = i << 32;
        uint32_t location = (uint32_t)i, out;
        kvc_index_insert(index, &hash, &location, 1, &out, &stats);
        cr_assert_eq(stats.insert_lines, i / 3 + 1, "a new bucket is one more line");
        cr_assert_eq(stats.replaced, 0);
    }
    uint64_t hash[8];
    uint32_t out[8];
    for (uint64_t i = 0; i < 8; i++) {
        struct kvc_index_stats stats = {0};
        hash[i] = i << 32;
        kvc_index_search(index, &hash[i], 1, &out[i], &stats);
        cr_assert_eq(out[i], i < 7 ? i : KVC_LOCATION_NONE);
        cr_assert_eq(stats.search_lines, i < 7 ? i / 3 + 1 : 3);
        cr_assert_eq(stats.search_hits, i < 7);
    }
    struct kvc_index_stats stats = {0};
    kvc_index_search(index, hash, 8, out, &stats);
    cr_assert_eq(stats.search_lines, 3 * 1 + 3 * 2 + 3 + 3);
    cr_assert_eq(stats.search_hits, 7);
    uint32_t any = KVC_LOCATION_ANY;
    kvc_index_erase(index, &hash[6], &any, 1, out, &stats);
    cr_assert_eq(out[0], 6);
    cr_assert_eq(stats.erase_lines, 3);
    kvc_index_free(index);
}

Test(kvdirect_index, published_geometry)
{
    struct kvc_index *index = kvc_kvdirect_table_kind.create(1 << 20, 1);
    cr_assert_not_null(index);
    struct kvc_index_stats fill = {0}, stats = {0};
    uint64_t capacity = kvc_index_capacity(index);
    cr_assert_eq(capacity, (1 << 20) / 64 * 3);
    uint64_t hash[64];
    uint32_t location[64], out[64];
    uint64_t dropped = 0, kept = 0;
    for (uint64_t i = 0; i < capacity * 2; i += 64) {
        for (uint64_t j = 0; j < 64; j++) {
            hash[j] = kvc_hash(&(uint64_t){i + j}, 8, 9);
            location[j] = (uint32_t)(i + j);
        }
        kvc_index_insert(index, hash, location, 64, out, &fill);
        for (uint64_t j = 0; j < 64; j++) {
            cr_assert(out[j] == KVC_LOCATION_NONE || out[j] == location[j]);
            dropped += out[j] == location[j];
        }
        if (i + 64 <= capacity / 4) {
            cr_assert_lt((double)fill.insert_lines, 1.2 * (double)fill.inserts);
        }
        if (i + 64 <= capacity * 3 / 4) {
            cr_assert_eq(dropped, 0, "nothing is dropped up to three quarters of the capacity");
        }
    }
    cr_assert_eq(fill.dropped, dropped);
    cr_assert_gt(dropped, 0);
    for (uint64_t i = 0; i < capacity * 2; i += 64) {
        for (uint64_t j = 0; j < 64; j++) {
            hash[j] = kvc_hash(&(uint64_t){i + j}, 8, 9);
        }
        kvc_index_search(index, hash, 64, out, &stats);
        for (uint64_t j = 0; j < 64; j++) {
            cr_assert(out[j] == KVC_LOCATION_NONE || out[j] == i + j);
            kept += out[j] != KVC_LOCATION_NONE;
        }
    }
    cr_assert_eq(kept, kvc_index_used(index));
    cr_assert_eq(kept + dropped, fill.inserts, "every insert is in the index or was returned");
    kvc_index_free(index);
}

/* Pairs inline and in slabs, against a map of their sizes. */
Test(kvdirect_index, holds_pairs)
{
    enum { KEYS = 300, STEPS = 20000 };
    const struct kvc_index_pairs sizes = {.inline_bytes = 20, .pair_bytes = 100};
    struct kvc_index *index = kvc_kvdirect_table_kind.pairs->create(1 << 18, &sizes, 42);
    static uint32_t map[KEYS];
    struct kvc_index_stats stats = {0};
    memset(map, 0xff, sizeof(map));
    for (int step = 0; step < STEPS; step++) {
        uint64_t key = random_word() % KEYS, hash = (key + 1) * 0x9e3779b97f4a7c15, what = random_word() % 4;
        uint32_t location = 8 + (uint32_t)(random_word() % (key % 2 == 0 ? 13 : 503)), out;
        if (what < 2) {
            kvc_index_insert(index, &hash, &location, 1, &out, &stats);
            cr_assert_eq(out, map[key]);
            map[key] = location;
        } else if (what == 2) {
            kvc_index_search(index, &hash, 1, &out, &stats);
            cr_assert_eq(out, map[key]);
        } else {
            location = KVC_LOCATION_ANY;
            kvc_index_erase(index, &hash, &location, 1, &out, &stats);
            cr_assert_eq(out, map[key]);
            map[key] = KVC_LOCATION_NONE;
        }
    }
    cr_assert_eq(stats.dropped, 0);
    kvc_index_free(index);
}

/* A small pair is where its key is found; a large one is found in a slab, line after line. */
Test(kvdirect_index, counts_lines_of_pairs)
{
    const struct kvc_index_pairs sizes = {.inline_bytes = 15, .pair_bytes = 15};
    struct kvc_index *index = kvc_kvdirect_table_kind.pairs->create(1 << 18, &sizes, 42);
    const uint32_t bytes[] = {15, 16, 500, 7, 511}, lines[] = {1, 2, 9, 1, 1}, next[] = {0, 0, 7, 0, 0};
    for (uint64_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
        struct kvc_index_stats stats = {0};
        uint64_t hash = (i + 1) * 0x9e3779b97f4a7c15;
        uint32_t out;
        kvc_index_insert(index, &hash, &bytes[i], 1, &out, &stats);
        cr_expect_eq(stats.dropped, i > 2, "%u bytes", bytes[i]);
        kvc_index_search(index, &hash, 1, &out, &stats);
        cr_expect_eq(stats.search_lines, lines[i], "%u bytes: %lu lines", bytes[i],
                     (unsigned long)stats.search_lines);
        cr_expect_eq(stats.search_next_lines, next[i], "%u bytes", bytes[i]);
    }
    kvc_index_free(index);
}
