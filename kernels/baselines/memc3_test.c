#include "kernels/baselines/memc3.h"
#include "kernels/random_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH_MAX = 100,
    LINE = KVC_MEMC3_BUCKET_BYTES,
    SLOTS = KVC_MEMC3_SLOTS,
};

static struct kvc_index *create(uint64_t buckets, uint32_t paths, uint32_t max_displacements)
{
    struct kvc_index *index = kvc_memc3_create(&(struct kvc_memc3_params){
        .bytes = buckets * LINE, .paths = paths, .max_displacements = max_displacements, .seed = 7});
    cr_assert_not_null(index);
    return index;
}

static uint32_t search_one(struct kvc_index *index, uint64_t hash, struct kvc_index_stats *stats)
{
    uint32_t found;
    kvc_index_search(index, &hash, 1, &found, stats);
    return found;
}

static uint32_t insert_one(struct kvc_index *index, uint64_t hash, uint32_t location,
                           struct kvc_index_stats *stats)
{
    uint32_t out;
    kvc_index_insert(index, &hash, &location, 1, &out, stats);
    return out;
}

static uint32_t erase_one(struct kvc_index *index, uint64_t hash, uint32_t location,
                          struct kvc_index_stats *stats)
{
    uint32_t out;
    kvc_index_erase(index, &hash, &location, 1, &out, stats);
    return out;
}

/* Elements are conserved: what was inserted is there, or was replaced, dropped or erased. */
static void check_law(const struct kvc_index *index, const struct kvc_index_stats *stats)
{
    cr_assert_eq(kvc_index_used(index), stats->inserts - stats->replaced - stats->dropped - stats->erased);
    cr_assert_eq(stats->evicted, 0);
}

/* A plain map of keys that are numbered from 0. */
struct reference {
    uint32_t keys;      /* Number of keys. */
    uint64_t *hash;     /* Hash of each key. */
    uint32_t *location; /* Location of each key, or KVC_LOCATION_NONE. */
};

static struct reference make_reference(uint32_t keys, uint64_t *random)
{
    struct reference reference = {.keys = keys};
    reference.hash = malloc(keys * sizeof(*reference.hash));
    reference.location = malloc(keys * sizeof(*reference.location));
    for (uint32_t k = 0; k < keys; k++) {
        reference.hash[k] = next_random(random);
        reference.location[k] = KVC_LOCATION_NONE;
    }
    return reference;
}

static void free_reference(struct reference *reference)
{
    free(reference->hash);
    free(reference->location);
}

/* Checks the result of an insert of key k and updates the map. A new key may be dropped; its own location is
 * returned then. */
static void check_insert(struct reference *reference, uint32_t k, uint32_t location, uint32_t out)
{
    if (reference->location[k] != KVC_LOCATION_NONE || out != location) {
        cr_assert_eq(out, reference->location[k]);
        reference->location[k] = location;
    }
}

static void operate_once(struct kvc_index *index, struct reference *reference, uint64_t *random,
                         uint32_t *serial, struct kvc_index_stats *stats)
{
    uint64_t hash[BATCH_MAX] = {0};
    uint32_t key[BATCH_MAX] = {0}, location[BATCH_MAX] = {0}, out[BATCH_MAX] = {0};
    uint32_t count = (uint32_t)(next_random(random) % (BATCH_MAX + 1));
    unsigned operation = (unsigned)(next_random(random) % 4);
    for (uint32_t i = 0; i < count; i++) {
        key[i] = (uint32_t)(next_random(random) % reference->keys);
        hash[i] = reference->hash[key[i]];
        location[i] = operation < 2 ? (*serial)++ : i % 2 == 0 ? KVC_LOCATION_ANY : *serial;
    }
    if (operation < 2) {
        kvc_index_insert(index, hash, location, count, out, stats);
    } else if (operation == 2) {
        kvc_index_erase(index, hash, location, count, out, stats);
    } else {
        kvc_index_search(index, hash, count, out, stats);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *held = &reference->location[key[i]];
        if (operation < 2) {
            check_insert(reference, key[i], location[i], out[i]);
        } else if (operation == 2) {
            cr_assert_eq(out[i], location[i] == KVC_LOCATION_ANY ? *held : KVC_LOCATION_NONE);
            *held = location[i] == KVC_LOCATION_ANY ? KVC_LOCATION_NONE : *held;
        } else {
            cr_assert_eq(out[i], *held);
        }
    }
}

static void operate(uint64_t buckets, uint32_t keys, uint32_t paths, uint32_t max_displacements)
{
    uint64_t random = buckets + keys;
    uint32_t serial = 0, held = 0;
    struct reference reference = make_reference(keys, &random);
    struct kvc_index *index = create(buckets, paths, max_displacements);
    struct kvc_index_stats stats = {0};
    for (uint32_t round = 0; round < 3000; round++) {
        operate_once(index, &reference, &random, &serial, &stats);
        check_law(index, &stats);
    }
    for (uint32_t k = 0; k < keys; k++) {
        cr_assert_eq(search_one(index, reference.hash[k], &stats), reference.location[k]);
        held += reference.location[k] != KVC_LOCATION_NONE;
    }
    cr_assert_eq(kvc_index_used(index), held);
    cr_assert_gt(stats.erased, 0);
    cr_assert_gt(stats.replaced, 0);
    kvc_index_free(index);
    free_reference(&reference);
}

/* Tables with room to spare, nearly full and overfull, with few and with many paths. */
Test(memc3, agrees_with_a_plain_map)
{
    operate(1024, 4000, 0, KVC_MEMC3_DISPLACEMENTS);
    operate(256, 1000, 1, KVC_MEMC3_DISPLACEMENTS);
    operate(256, 2500, 8, KVC_MEMC3_DISPLACEMENTS);
    operate(256, 1500, 2, 0);
    operate(16, 300, 2, 1000);
    operate(2, 20, 2, 10);
    operate(1, 9, 8, 10);
}

/* Returns the load factor at which the first element is dropped, after checking that all others are found. */
static double first_drop_load(uint64_t buckets, uint32_t paths, uint32_t max_displacements, uint64_t seed)
{
    struct kvc_index *index = create(buckets, paths, max_displacements);
    struct kvc_index_stats stats = {0};
    uint64_t random = seed;
    uint32_t put = 0;
    while (insert_one(index, next_random(&random), put, &stats) == KVC_LOCATION_NONE) {
        put++;
    }
    random = seed;
    for (uint32_t i = 0; i < put; i++) {
        cr_assert_eq(search_one(index, next_random(&random), &stats), i);
    }
    cr_assert_eq(search_one(index, next_random(&random), &stats), KVC_LOCATION_NONE);
    cr_assert_eq(kvc_index_used(index), put);
    cr_assert_eq(stats.dropped, 1);
    check_law(index, &stats);
    double load = (double)put / (double)kvc_index_capacity(index);
    kvc_index_free(index);
    return load;
}

/* The paper reports about 95 %. Without displacements, a few buckets overflow long before. */
Test(memc3, fills_to_the_published_load)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        double published = first_drop_load(1 << 16, 0, KVC_MEMC3_DISPLACEMENTS, seed);
        cr_assert(published > 0.945 && published < 0.977, "load %.3f", published);
        double without = first_drop_load(1 << 16, 0, 0, seed);
        cr_assert(without > 0.05 && without < 0.35, "load %.3f without displacements", without);
    }
}

/* Inserts twice as many elements as fit. */
Test(memc3, reports_every_element_without_a_place)
{
    struct kvc_index *index = create(1 << 10, 0, KVC_MEMC3_DISPLACEMENTS);
    struct kvc_index_stats stats = {0};
    uint64_t random = 3;
    enum { COUNT = 2 * SLOTS << 10 };
    static uint64_t hash[COUNT];
    static uint32_t location[COUNT], out[COUNT], found[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        hash[i] = next_random(&random);
        location[i] = i;
    }
    kvc_index_insert(index, hash, location, COUNT, out, &stats);
    kvc_index_search(index, hash, COUNT, found, &stats);
    uint64_t dropped = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        cr_assert(out[i] == KVC_LOCATION_NONE || out[i] == i);
        cr_assert_eq(found[i], out[i] == KVC_LOCATION_NONE ? i : KVC_LOCATION_NONE);
        dropped += out[i] == i;
    }
    cr_assert_eq(stats.dropped, dropped);
    cr_assert_gt(kvc_index_used(index), kvc_index_capacity(index) * 97 / 100);
    check_law(index, &stats);
    kvc_index_free(index);
}

/* The table is full except for one hole. The only path to it may be long, and no element on it may be
 * lost. */
Test(memc3, refills_holes_of_a_crowded_table)
{
    struct kvc_index *index = create(1 << 8, 0, KVC_MEMC3_DISPLACEMENTS);
    struct kvc_index_stats stats = {0};
    uint64_t random = 8, hash[SLOTS << 8];
    uint32_t held = 0;
    for (uint32_t tries = 0; tries < 5000; tries++) {
        uint64_t candidate = next_random(&random);
        if (insert_one(index, candidate, held, &stats) == KVC_LOCATION_NONE) {
            hash[held++] = candidate;
        }
    }
    uint64_t moved = stats.displacements;
    for (uint32_t round = 0; round < 2000; round++) {
        uint32_t gone = (uint32_t)(next_random(&random) % held);
        cr_assert_eq(erase_one(index, hash[gone], gone, &stats), gone);
        do {
            hash[gone] = next_random(&random);
        } while (insert_one(index, hash[gone], gone, &stats) != KVC_LOCATION_NONE);
    }
    for (uint32_t i = 0; i < held; i++) {
        cr_assert_eq(search_one(index, hash[i], &stats), i);
    }
    cr_assert_gt(stats.displacements - moved, 2000);
    check_law(index, &stats);
    kvc_index_free(index);
}

/* Makes a hash: the lowest bits are the primary bucket, the top byte is the tag, `serial` tells hashes
 * apart. */
static uint64_t make_hash(uint64_t tag, uint64_t serial, uint64_t bucket)
{
    return tag << 56 | serial << 32 | bucket;
}

Test(memc3, counts_lines_and_accesses)
{
    struct kvc_index *index = create(1 << 10, 0, KVC_MEMC3_DISPLACEMENTS);
    struct kvc_index_stats stats = {0};
    for (uint32_t i = 0; i < SLOTS; i++) {
        cr_assert_eq(insert_one(index, make_hash(3, i, 5), i, &stats), KVC_LOCATION_NONE);
    }
    cr_assert_eq(stats.insert_lines, 2 * SLOTS); /* a new key is looked for in both buckets */
    struct kvc_memc3_counts counts = kvc_memc3_counts(index);
    cr_assert_eq(counts.insert.reads, 2 * SLOTS);
    cr_assert_eq(counts.insert.writes, SLOTS);
    cr_assert_eq(search_one(index, make_hash(3, 0, 5), &stats), 0);
    cr_assert_eq(stats.search_lines, 1);
    cr_assert_eq(search_one(index, make_hash(3, 9, 5), &stats), KVC_LOCATION_NONE);
    cr_assert_eq(stats.search_lines, 3);
    cr_assert_eq(insert_one(index, make_hash(3, 4, 5), 4, &stats), KVC_LOCATION_NONE);
    cr_assert_eq(search_one(index, make_hash(3, 4, 5), &stats), 4); /* in its alternate bucket */
    cr_assert_eq(stats.search_lines, 5);
    cr_assert_eq(stats.insert_lines, 2 * SLOTS + 2);
    cr_assert_eq(insert_one(index, make_hash(3, 1, 5), 11, &stats), 1);
    cr_assert_eq(stats.insert_lines, 2 * SLOTS + 3);
    cr_assert_eq(erase_one(index, make_hash(3, 1, 5), KVC_LOCATION_ANY, &stats), 11);
    cr_assert_eq(erase_one(index, make_hash(3, 4, 5), 99, &stats), KVC_LOCATION_NONE);
    cr_assert_eq(erase_one(index, make_hash(3, 4, 5), 4, &stats), 4);
    cr_assert_eq(stats.erase_lines, 5);
    counts = kvc_memc3_counts(index);
    cr_assert_eq(counts.insert.reads, stats.insert_lines);
    cr_assert_eq(counts.insert.writes, SLOTS + 2);
    cr_assert_eq(counts.erase.reads, 5);
    cr_assert_eq(counts.erase.writes, 2);
    kvc_index_free(index);
}

/* One displacement writes the new element's bucket and the moved element's other bucket. It reads one bucket
 * besides the two full ones, whatever the number of paths, because the second bucket's elements can only go
 * back to the first. */
Test(memc3, counts_a_displacement)
{
    for (uint32_t paths = 1; paths <= 2; paths++) {
        struct kvc_index *index = create(1 << 10, paths, KVC_MEMC3_DISPLACEMENTS);
        struct kvc_index_stats stats = {0};
        uint32_t put = 0;
        /* Elements with tags 1 and 2 fill the bucket that both have in common; they can go to two other
         * buckets. */
        for (; put < 2 * SLOTS; put++) {
            cr_assert_eq(insert_one(index, make_hash(1, put, 5), put, &stats), KVC_LOCATION_NONE);
        }
        for (uint32_t i = 0; i < SLOTS; i++) { /* then half of the elements in bucket 5 have tag 2 */
            if (i % 2 == 0) {
                cr_assert_eq(erase_one(index, make_hash(1, i, 5), i, &stats), i);
                cr_assert_eq(insert_one(index, make_hash(2, put, 5), put, &stats), KVC_LOCATION_NONE);
                put++;
            }
        }
        struct kvc_index_stats before = stats;
        struct kvc_memory_accesses old = kvc_memc3_counts(index).insert;
        cr_assert_eq(insert_one(index, make_hash(1, put, 5), put, &stats), KVC_LOCATION_NONE);
        struct kvc_memory_accesses now = kvc_memc3_counts(index).insert;
        uint64_t moved = stats.displacements - before.displacements;
        cr_assert_eq(moved, 1);
        cr_assert_eq(now.writes - old.writes, moved + 1);
        cr_assert_eq(now.reads - old.reads, stats.insert_lines - before.insert_lines);
        cr_assert_eq(now.reads - old.reads, 3);
        kvc_index_free(index);
    }
}

/* The elements of two full buckets can go nowhere else, although the table is nearly empty. */
Test(memc3, drops_what_finds_no_path)
{
    struct kvc_index *index = create(1 << 10, 0, KVC_MEMC3_DISPLACEMENTS);
    struct kvc_index_stats stats = {0};
    for (uint32_t i = 0; i < 2 * SLOTS; i++) {
        cr_assert_eq(insert_one(index, make_hash(9, i, 77), i, &stats), KVC_LOCATION_NONE);
    }
    cr_assert_eq(insert_one(index, make_hash(9, 8, 77), 8, &stats), 8);
    cr_assert_eq(stats.dropped, 1);
    cr_assert_eq(stats.displacements, 0);
    for (uint32_t i = 0; i < 2 * SLOTS; i++) {
        cr_assert_eq(search_one(index, make_hash(9, i, 77), &stats), i);
    }
    cr_assert_eq(insert_one(index, make_hash(9, 5, 77), 50, &stats), 5); /* replacing needs no room */
    check_law(index, &stats);
    kvc_index_free(index);
}

/* Top bytes 0 and 1 have the same tag, so only the comparison of full keys tells them apart. */
Test(memc3, tells_equal_tags_apart)
{
    struct kvc_index *index = create(1, 0, KVC_MEMC3_DISPLACEMENTS);
    struct kvc_index_stats stats = {0};
    cr_assert_eq(search_one(index, 0, &stats), KVC_LOCATION_NONE);
    insert_one(index, make_hash(0, 0, 0), 1, &stats);
    insert_one(index, make_hash(1, 0, 0), 2, &stats);
    insert_one(index, make_hash(255, 0, 0), 3, &stats);
    insert_one(index, make_hash(128, 0, 0), 4, &stats);
    cr_assert_eq(insert_one(index, make_hash(127, 0, 0), 5, &stats), 5);
    cr_assert_eq(search_one(index, make_hash(0, 0, 0), &stats), 1);
    cr_assert_eq(search_one(index, make_hash(1, 0, 0), &stats), 2);
    cr_assert_eq(search_one(index, make_hash(255, 0, 0), &stats), 3);
    cr_assert_eq(search_one(index, make_hash(128, 0, 0), &stats), 4);
    cr_assert_eq(erase_one(index, make_hash(1, 0, 0), KVC_LOCATION_ANY, &stats), 2);
    cr_assert_eq(search_one(index, make_hash(0, 0, 0), &stats), 1);
    cr_assert_eq(stats.search_lines, stats.searches); /* both buckets of a key are the same */
    kvc_index_free(index);
}

/* Paths are chosen at random, but nothing else is. */
Test(memc3, the_same_seed_gives_the_same_table)
{
    struct kvc_index_stats stats[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++) {
        struct kvc_index *index = kvc_memc3_kind.create(64 << 10, 5);
        uint64_t random = 1;
        for (uint32_t put = 0; put < 4200; put++) {
            insert_one(index, next_random(&random), put, &stats[i]);
        }
        kvc_index_free(index);
    }
    cr_assert_eq(memcmp(&stats[0], &stats[1], sizeof(stats[0])), 0);
    cr_assert_gt(stats[0].displacements, 100);
}

Test(memc3, refuses_bad_params)
{
    static const struct kvc_memc3_params bad[] = {
        {.bytes = 0},
        {.bytes = 32},
        {.bytes = 96},
        {.bytes = UINT64_C(128) << 30},
        {.bytes = 4096, .paths = 9},
        {.bytes = 4096, .max_displacements = 1001},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        errno = 0;
        cr_assert_null(kvc_memc3_create(&bad[i]), "case %zu", i);
        cr_assert_eq(errno, EINVAL, "case %zu", i);
    }
}
