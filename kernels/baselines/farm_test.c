#include "kernels/baselines/farm.h"
#include "kernels/random_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>

enum {
    BUCKETS = 16, /* Buckets of a small table; bits 28 to 31 of a hash select the home bucket. */
    MANY = 1 << 14,
};

/* Makes a hash with this home bucket; `serial` tells hashes apart. */
static uint64_t hash_of(uint32_t home, uint32_t serial)
{
    return (uint64_t)serial << 32 | home << 28;
}

static struct kvc_index *create(uint32_t buckets, uint32_t overflow_blocks)
{
    struct kvc_index *table =
        kvc_farm_create(&(struct kvc_farm_params){.buckets = buckets, .overflow_blocks = overflow_blocks});
    cr_assert_not_null(table);
    return table;
}

static uint32_t insert(struct kvc_index *table, uint64_t hash, uint32_t location,
                       struct kvc_index_stats *stats)
{
    uint32_t out;
    kvc_index_insert(table, &hash, &location, 1, &out, stats);
    return out;
}

static uint32_t search(struct kvc_index *table, uint64_t hash, struct kvc_index_stats *stats)
{
    uint32_t location;
    kvc_index_search(table, &hash, 1, &location, stats);
    return location;
}

static uint32_t erase(struct kvc_index *table, uint64_t hash, struct kvc_index_stats *stats)
{
    uint32_t location = KVC_LOCATION_ANY, out;
    kvc_index_erase(table, &hash, &location, 1, &out, stats);
    return out;
}

/* Inserts `count` new keys with the same home bucket. */
static void fill_home(struct kvc_index *table, uint32_t home, uint32_t first, uint32_t count)
{
    struct kvc_index_stats stats = {0};
    for (uint32_t i = first; i < first + count; i++) {
        cr_assert_eq(insert(table, hash_of(home, i), home * 1000 + i, &stats), KVC_LOCATION_NONE);
    }
}

static uint64_t search_lines(struct kvc_index *table, uint64_t hash)
{
    struct kvc_index_stats stats = {0};
    search(table, hash, &stats);
    return stats.search_lines;
}

/* Returns the accesses of inserts since `before`. */
static struct kvc_memory_accesses since(const struct kvc_index *table, struct kvc_farm_counts before)
{
    struct kvc_memory_accesses now = kvc_farm_counts(table).insert;
    return (struct kvc_memory_accesses){now.reads - before.insert.reads, now.writes - before.insert.writes};
}

/* Elements are conserved: what was inserted is there, or was replaced, dropped or erased. */
static void check_law(const struct kvc_index *table, const struct kvc_index_stats *stats)
{
    cr_assert_eq(kvc_index_used(table), stats->inserts - stats->replaced - stats->dropped - stats->erased);
}

Test(farm, rejects_bad_params)
{
    const uint32_t too_many = (UINT32_C(1) << 30) + 1;
    struct kvc_farm_params bad[] = {
        {.buckets = 0},
        {.buckets = 1},
        {.buckets = too_many},
        {.buckets = 16, .overflow_blocks = too_many},
        {.buckets = 16, .probe_buckets = 1},
        {.buckets = 16, .probe_buckets = 1025},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        errno = 0;
        cr_assert_null(kvc_farm_create(&bad[i]));
        cr_assert_eq(errno, EINVAL);
    }
}

Test(farm, smallest_table)
{
    struct kvc_index *table = create(2, 0);
    struct kvc_index_stats stats = {0};
    cr_assert_eq(kvc_index_capacity(table), 8);
    for (uint32_t i = 0; i < 8; i++) {
        cr_assert_eq(insert(table, hash_of(i % 16, i), i, &stats), KVC_LOCATION_NONE);
    }
    cr_assert_eq(insert(table, hash_of(3, 8), 8, &stats), 8, "a full table returns what it was given");
    cr_assert_eq(stats.dropped, 1);
    for (uint32_t i = 0; i < 8; i++) {
        cr_assert_eq(search(table, hash_of(i % 16, i), &stats), i);
    }
    cr_assert_eq(insert(table, hash_of(3, 3), 9, &stats), 3, "replacing needs no room");
    cr_assert_eq(erase(table, hash_of(5, 5), &stats), 5);
    cr_assert_eq(insert(table, hash_of(3, 8), 8, &stats), KVC_LOCATION_NONE);
    check_law(table, &stats);
    kvc_index_free(table);
}

Test(farm, any_number_of_buckets)
{
    const uint32_t buckets = 3000001;
    struct kvc_index *table = create(buckets, 0);
    struct kvc_index_stats stats = {0};
    cr_assert_eq(kvc_index_capacity(table), UINT64_C(4) * buckets);
    for (uint32_t i = 0; i < 5; i++) {
        uint64_t last = (uint64_t)i << 32 | UINT32_MAX, first = (uint64_t)i << 32;
        cr_assert_eq(insert(table, last, i, &stats), KVC_LOCATION_NONE);
        cr_assert_eq(search(table, last, &stats), i);
        cr_assert_eq(search(table, first, &stats), KVC_LOCATION_NONE);
    }
    cr_assert_eq(search_lines(table, UINT32_MAX), 1);
    cr_assert_eq(search_lines(table, UINT64_C(4) << 32 | UINT32_MAX), 2, "the first bucket follows the last");
    kvc_index_free(table);
}

Test(farm, lines_of_home_next_and_chain)
{
    struct kvc_index *table = create(BUCKETS, 4);
    struct kvc_index_stats stats = {0};
    fill_home(table, 2, 0, 9);
    cr_assert_eq(kvc_farm_counts(table).overflow_blocks, 1);
    for (uint32_t i = 0; i < 9; i++) {
        cr_assert_eq(search_lines(table, hash_of(2, i)), 1 + i / 4, "element %u", i);
    }
    cr_assert_eq(search_lines(table, hash_of(2, 99)), 3,
                 "an absent key is looked for in all lines of its home");
    cr_assert_eq(search_lines(table, hash_of(3, 99)), 2, "an absent key of a home without a chain");

    struct kvc_farm_counts before = kvc_farm_counts(table);
    cr_assert_eq(insert(table, hash_of(2, 8), 77, &stats), 2008);
    cr_assert_eq(since(table, before).reads, 3);
    cr_assert_eq(since(table, before).writes, 1);
    cr_assert_eq(stats.insert_lines, 3);

    before = kvc_farm_counts(table);
    insert(table, hash_of(8, 0), 1, &stats);
    cr_assert_eq(since(table, before).reads, 2, "the key might be in the next bucket");
    cr_assert_eq(since(table, before).writes, 1);
    cr_assert_eq(stats.insert_lines, 3 + 2);
    kvc_index_free(table);
}

Test(farm, free_slot_moves_near)
{
    struct kvc_index *table = create(BUCKETS, 4);
    struct kvc_index_stats stats = {0};
    for (uint32_t home = 14; home < 14 + 4; home++) { /* across the end of the table */
        fill_home(table, home % BUCKETS, 0, 4);
    }
    struct kvc_farm_counts before = kvc_farm_counts(table);
    cr_assert_eq(insert(table, hash_of(14, 9), 5, &stats), KVC_LOCATION_NONE);
    cr_assert_eq(stats.displacements, 3);
    cr_assert_eq(stats.insert_lines, 5);
    cr_assert_eq(since(table, before).reads, 5);
    cr_assert_eq(since(table, before).writes, 4);
    cr_assert_eq(kvc_farm_counts(table).overflow_blocks, 0);
    cr_assert_eq(search_lines(table, hash_of(14, 9)), 2);
    for (uint32_t home = 14; home < 14 + 4; home++) {
        for (uint32_t i = 0; i < 4; i++) {
            cr_assert_eq(search(table, hash_of(home % BUCKETS, i), &stats), home % BUCKETS * 1000 + i);
        }
    }
    kvc_index_free(table);
}

Test(farm, chain_where_no_slot_comes_near)
{
    struct kvc_index *table = create(BUCKETS, 4);
    struct kvc_index_stats stats = {0};
    fill_home(table, 2, 0, 8);
    struct kvc_farm_counts before = kvc_farm_counts(table);
    insert(table, hash_of(2, 8), 8, &stats);
    cr_assert_eq(stats.displacements, 0, "no element of bucket 3 may leave it");
    cr_assert_eq(stats.insert_lines, 4, "home, next, the bucket with a free slot, the new block");
    cr_assert_eq(since(table, before).reads, 3);
    cr_assert_eq(since(table, before).writes, 2);
    kvc_index_free(table);
}

Test(farm, probing_is_bounded)
{
    struct kvc_index *table = kvc_farm_create(
        &(struct kvc_farm_params){.buckets = BUCKETS, .overflow_blocks = 1, .probe_buckets = 3});
    struct kvc_index_stats stats = {0};
    for (uint32_t home = 0; home < 3; home++) {
        fill_home(table, home, 0, 4);
    }
    insert(table, hash_of(0, 9), 5, &stats);
    cr_assert_eq(stats.displacements, 0, "bucket 3 is beyond the bound");
    cr_assert_eq(stats.insert_lines, 3 + 1);
    cr_assert_eq(kvc_farm_counts(table).overflow_blocks, 1);
    insert(table, hash_of(1, 9), 6, &stats);
    cr_assert_eq(stats.displacements, 1);
    kvc_index_free(table);
}

Test(farm, erase_takes_the_chain_back)
{
    struct kvc_index *table = create(BUCKETS, 2);
    struct kvc_index_stats stats = {0};
    fill_home(table, 2, 0, 14); /* the chain has two blocks: 8 .. 11 and 12, 13 */
    cr_assert_eq(kvc_farm_counts(table).overflow_blocks, 2);
    cr_assert_eq(erase(table, hash_of(2, 0), &stats), 2000);
    cr_assert_eq(search_lines(table, hash_of(2, 13)), 1, "the last of the chain is in the freed slot");
    cr_assert_eq(stats.erase_lines, 3, "home and both blocks");
    cr_assert_eq(erase(table, hash_of(2, 9), &stats), 2009);
    cr_assert_eq(kvc_farm_counts(table).overflow_blocks, 1, "its last element left the second block");
    cr_assert_eq(stats.displacements, 2);
    for (uint32_t i = 1; i < 14; i++) {
        cr_assert_eq(search(table, hash_of(2, i), &stats), i == 9 ? KVC_LOCATION_NONE : 2000 + i);
    }
    check_law(table, &(struct kvc_index_stats){.inserts = 14, .erased = 2});
    kvc_index_free(table);
}

Test(farm, empty_pool_drops_until_a_block_is_free)
{
    struct kvc_index *table = create(BUCKETS, 1);
    struct kvc_index_stats stats = {0};
    fill_home(table, 2, 0, 12);
    cr_assert_eq(insert(table, hash_of(2, 12), 7, &stats), 7);
    cr_assert_eq(search(table, hash_of(2, 12), &stats), KVC_LOCATION_NONE);
    fill_home(table, 9, 0, 8);
    cr_assert_eq(insert(table, hash_of(9, 8), 7, &stats), 7);
    for (uint32_t i = 0; i < 4; i++) {
        erase(table, hash_of(2, i), &stats);
    }
    cr_assert_eq(kvc_farm_counts(table).overflow_blocks, 0);
    cr_assert_eq(insert(table, hash_of(9, 8), 7, &stats), KVC_LOCATION_NONE);
    cr_assert_eq(search(table, hash_of(9, 8), &stats), 7);
    cr_assert_eq(search_lines(table, hash_of(2, 11)), 1, "no link to the block is left");
    cr_assert_eq(stats.dropped, 2);
    kvc_index_free(table);
}

enum { KEYS = 6 * BUCKETS };

/* Compares the table with a plain map: `stored` has the location of each key, or KVC_LOCATION_NONE. */
static void check_all(struct kvc_index *table, const uint64_t *hash, const uint32_t *stored)
{
    uint32_t found[KEYS];
    struct kvc_index_stats stats = {0};
    kvc_index_search(table, hash, KEYS, found, &stats);
    cr_assert_arr_eq(found, stored, sizeof(found));
}

/* Home buckets are crowded, so elements move, go to chains and are dropped all the time. */
Test(farm, random_operations_agree_with_a_plain_map)
{
    struct kvc_index *table = create(BUCKETS, 3);
    struct kvc_index_stats stats = {0};
    uint64_t hash[KEYS];
    uint32_t stored[KEYS];
    for (uint32_t k = 0; k < KEYS; k++) {
        hash[k] = hash_of((uint32_t)(random_word() % BUCKETS), k);
        stored[k] = KVC_LOCATION_NONE;
    }
    for (uint32_t round = 0; round < 50000; round++) {
        uint32_t k = (uint32_t)(random_word() % KEYS);
        if (random_word() % 5 < 3) {
            uint32_t out = insert(table, hash[k], round, &stats);
            if (out == round) {
                cr_assert_eq(stored[k], KVC_LOCATION_NONE);
            } else {
                cr_assert_eq(out, stored[k]);
                stored[k] = round;
            }
        } else {
            cr_assert_eq(erase(table, hash[k], &stats), stored[k]);
            stored[k] = KVC_LOCATION_NONE;
        }
        check_law(table, &stats);
        check_all(table, hash, stored);
    }
    cr_assert_gt(stats.dropped, 100);
    cr_assert_gt(stats.displacements, 1000);
    for (uint32_t k = 0; k < KEYS; k++) {
        erase(table, hash[k], &stats);
    }
    cr_assert_eq(kvc_index_used(table), 0);
    cr_assert_eq(kvc_farm_counts(table).overflow_blocks, 0, "blocks leak");
    kvc_index_free(table);
}

/* Inserts new keys until the table holds `count`, or drops one. */
static void fill_to(struct kvc_index *table, uint64_t count, struct kvc_index_stats *stats)
{
    random_state = 5;
    while (kvc_index_used(table) < count && stats->dropped == 0) {
        uint32_t location = (uint32_t)stats->inserts;
        uint32_t out = insert(table, random_word(), location, stats);
        cr_assert_eq(out, stats->dropped == 0 ? KVC_LOCATION_NONE : location);
    }
    check_law(table, stats);
}

/* Searches everything that fill_to stored. */
static void find_all(struct kvc_index *table, struct kvc_index_stats *stats)
{
    random_state = 5;
    for (uint64_t i = 0; i < kvc_index_used(table); i++) {
        cr_assert_eq(search(table, random_word(), stats), i);
    }
}

Test(farm, load_factor_reached)
{
    struct kvc_index *table = create(MANY - MANY / 8, MANY / 8);
    struct kvc_index_stats stats = {0};
    fill_to(table, UINT64_MAX, &stats);
    find_all(table, &stats);
    cr_assert_eq(stats.dropped, 1);
    double load = (double)kvc_index_used(table) / (double)kvc_index_capacity(table);
    cr_assert(load > 0.80 && load < 0.85, "%.4f", load);
    kvc_index_free(table);
}

/* A bucket takes up to 4 elements from the bucket before it and hands up to 4 of its own on. A simulation of
 * this queue, without the table, shows that 4 of 100 elements must be chained at a load of 0.9. */
Test(farm, few_searches_go_to_the_chain)
{
    struct kvc_index *table = create(MANY, MANY);
    struct kvc_index_stats stats = {0};
    fill_to(table, MANY * KVC_FARM_SLOTS * 9 / 10, &stats);
    uint64_t chained = 0;
    random_state = 5;
    for (uint64_t i = 0; i < kvc_index_used(table); i++) {
        chained += search_lines(table, random_word()) > 2;
    }
    double share = (double)chained / (double)kvc_index_used(table);
    cr_assert(share > 0.035 && share < 0.046, "%.4f", share);
    kvc_index_free(table);
}

Test(farm, counts_every_access)
{
    struct kvc_index *table = create(MANY, MANY / 8);
    struct kvc_index_stats stats = {0};
    fill_to(table, MANY * KVC_FARM_SLOTS * 9 / 10, &stats);
    struct kvc_farm_counts counts = kvc_farm_counts(table);
    cr_assert_eq(counts.insert.reads + counts.overflow_blocks, stats.insert_lines,
                 "every line is read once, except new blocks");
    cr_assert_geq(counts.insert.writes, stats.inserts + stats.displacements + counts.overflow_blocks);
    random_state = 5;
    for (uint64_t i = 0; i < stats.inserts; i++) {
        cr_assert_eq(erase(table, random_word(), &stats), i);
    }
    check_law(table, &stats);
    counts = kvc_farm_counts(table);
    cr_assert_eq(counts.erase.reads, stats.erase_lines);
    cr_assert_geq(counts.erase.writes, stats.erased);
    cr_assert_eq(counts.overflow_blocks, 0);
    kvc_index_free(table);
}
