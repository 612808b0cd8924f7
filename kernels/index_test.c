/* Tests of the promises that every index makes, whatever its design: the same tests for all kinds, compared
 * with a plain map. */
#include "kernels/hash.h"
#include "kernels/index_kinds.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH_MAX = 300,
    UNIVERSE = 4000,
    ROUNDS = 400,
    TABLE_BYTES = 64 << 10,
};

struct random_source {
    uint64_t state;
};

static uint64_t next(struct random_source *random)
{
    return kvc_mix_64(random->state += 0x9e3779b97f4a7c15);
}

/* The plain map. Keys are numbered, and a location tells the number of its key, so that the test knows which
 * key left an index. */
struct reference {
    uint64_t *hash;
    uint32_t *location; /* KVC_LOCATION_NONE if the key is not stored */
    uint32_t keys, serial;
    uint64_t used;
    uint64_t mistaken; /* answers with another key's location, which partial kinds may give */
};

static void forget(struct reference *reference, uint32_t location)
{
    uint32_t whose = location % reference->keys;
    if (reference->location[whose] == location) {
        reference->location[whose] = KVC_LOCATION_NONE;
        reference->used--;
    }
}

/* True for a false match: the location belongs to another stored key. */
static bool mistaken(const struct kvc_index_kind *kind, struct reference *reference, uint32_t key,
                     uint32_t location)
{
    uint32_t whose = location % reference->keys;
    bool is = kind->partial && location != KVC_LOCATION_NONE && whose != key &&
              reference->location[whose] == location;
    reference->mistaken += is;
    return is;
}

static struct reference make_reference(uint32_t keys, struct random_source *random)
{
    struct reference reference = {.keys = keys};
    reference.hash = malloc(keys * sizeof(*reference.hash));
    reference.location = malloc(keys * sizeof(*reference.location));
    for (uint32_t k = 0; k < keys; k++) {
        reference.hash[k] = next(random);
        reference.location[k] = KVC_LOCATION_NONE;
    }
    return reference;
}

static void free_reference(struct reference *reference)
{
    free(reference->hash);
    free(reference->location);
}

static uint32_t new_location(struct reference *reference, uint32_t key)
{
    return reference->serial++ * reference->keys + key;
}

static struct kvc_index *create(const struct kvc_index_kind *kind, uint64_t bytes, uint64_t seed)
{
    struct kvc_index *index = kind->create(bytes, seed);
    cr_assert_not_null(index, "%s", kind->name);
    cr_assert_eq(kvc_index_used(index), 0, "%s", kind->name);
    return index;
}

/* Updates the reference with the report of an insert of `key`. */
static void left(const struct kvc_index_kind *kind, struct reference *reference, uint32_t key,
                 uint32_t location, uint32_t out)
{
    uint32_t old = reference->location[key];
    bool stored = true;
    if (out == location) {
        stored = false; /* the new element found no place */
        reference->used -= old != KVC_LOCATION_NONE;
    } else if (out != KVC_LOCATION_NONE) {
        uint32_t whose = out % reference->keys;
        cr_assert(kind->forgets || reference->location[whose] == out,
                  "%s: reported a location that was not stored", kind->name);
        forget(reference, out);
    }
    old = reference->location[key];
    cr_assert(kind->forgets || !stored || old == KVC_LOCATION_NONE,
              "%s: an element was replaced, not reported", kind->name);
    reference->used += stored && old == KVC_LOCATION_NONE;
    reference->location[key] = stored ? location : KVC_LOCATION_NONE;
}

static void check_search(const struct kvc_index_kind *kind, struct kvc_index *index,
                         struct reference *reference, const uint32_t *key, uint32_t count,
                         struct kvc_index_stats *stats)
{
    uint64_t hash[BATCH_MAX] = {0};
    uint32_t found[BATCH_MAX];
    uint64_t hits = stats->search_hits, expected = 0;
    for (uint32_t i = 0; i < count; i++) {
        hash[i] = reference->hash[key[i]];
    }
    kvc_index_search(index, hash, count, found, stats);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t right = reference->location[key[i]];
        if (kind->forgets && found[i] == KVC_LOCATION_NONE) {
            reference->used -= right != KVC_LOCATION_NONE;
            reference->location[key[i]] = KVC_LOCATION_NONE;
        } else if (!mistaken(kind, reference, key[i], found[i])) {
            cr_assert_eq(found[i], right, "%s: key %u at %u, not %u", kind->name, key[i], found[i], right);
        }
        expected += found[i] != KVC_LOCATION_NONE;
    }
    cr_assert_eq(stats->search_hits - hits, expected, "%s", kind->name);
}

static void operate(const struct kvc_index_kind *kind, uint64_t bytes, uint32_t keys, uint64_t seed)
{
    struct random_source random = {seed};
    struct reference reference = make_reference(keys, &random);
    struct kvc_index *index = create(kind, bytes, seed);
    struct kvc_index_stats stats = {0};
    uint64_t searches = 0, inserts = 0, erases = 0, erased = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint64_t hash[BATCH_MAX] = {0};
        uint32_t key[BATCH_MAX], location[BATCH_MAX], out[BATCH_MAX];
        uint32_t count = (uint32_t)(next(&random) % (BATCH_MAX + 1));
        unsigned operation = (unsigned)(next(&random) % 4);
        for (uint32_t i = 0; i < count; i++) {
            key[i] = (uint32_t)(next(&random) % keys);
            hash[i] = reference.hash[key[i]];
        }
        if (operation < 2) {
            for (uint32_t i = 0; i < count; i++) {
                location[i] = new_location(&reference, key[i]);
            }
            kvc_index_insert(index, hash, location, count, out, &stats);
            for (uint32_t i = 0; i < count; i++) {
                left(kind, &reference, key[i], location[i], out[i]);
            }
            inserts += count;
        } else if (operation == 2) {
            for (uint32_t i = 0; i < count; i++) {
                uint32_t right = reference.location[key[i]];
                location[i] = i % 3 == 0                                 ? KVC_LOCATION_ANY
                              : i % 3 == 1 && right != KVC_LOCATION_NONE ? right
                                                                         : 7;
            }
            kvc_index_erase(index, hash, location, count, out, &stats);
            for (uint32_t i = 0; i < count; i++) {
                uint32_t stored = reference.location[key[i]];
                bool wanted = location[i] == KVC_LOCATION_ANY || location[i] == stored;
                if (mistaken(kind, &reference, key[i], out[i])) {
                    forget(&reference, out[i]);
                    erased++;
                } else if (stored != KVC_LOCATION_NONE && wanted &&
                           !(kind->forgets && out[i] == KVC_LOCATION_NONE)) {
                    cr_assert_eq(out[i], stored, "%s: erase", kind->name);
                    reference.location[key[i]] = KVC_LOCATION_NONE;
                    reference.used--;
                    erased++;
                } else {
                    cr_assert_eq(out[i], KVC_LOCATION_NONE, "%s: erased what it should not", kind->name);
                }
            }
            erases += count;
        } else {
            check_search(kind, index, &reference, key, count, &stats);
            searches += count;
        }
        cr_assert(kind->forgets || kvc_index_used(index) == reference.used, "%s: used is %lu, not %lu",
                  kind->name, (unsigned long)kvc_index_used(index), (unsigned long)reference.used);
        cr_assert_leq(kvc_index_used(index), kvc_index_capacity(index), "%s", kind->name);
    }
    for (uint32_t k = 0; k < keys; k++) {
        check_search(kind, index, &reference, &k, 1, &stats);
    }
    cr_assert_lt(reference.mistaken, (searches + erases) / 1000 + 1, "%s: %lu false matches", kind->name,
                 (unsigned long)reference.mistaken);
    cr_assert_eq(stats.searches, searches + keys, "%s", kind->name);
    cr_assert_eq(stats.inserts, inserts, "%s", kind->name);
    cr_assert_eq(stats.erases, erases, "%s", kind->name);
    cr_assert_eq(stats.erased, erased, "%s", kind->name);
    cr_assert_geq(stats.search_lines, stats.searches, "%s", kind->name);
    cr_assert_geq(stats.insert_lines, stats.inserts, "%s", kind->name);
    kvc_index_free(index);
    free_reference(&reference);
}

Test(index, random_operations_agree_with_a_plain_map)
{
    for (size_t k = 0; kvc_index_kinds[k] != NULL; k++) {
        operate(kvc_index_kinds[k], TABLE_BYTES * 4, UNIVERSE, 1 + k);
    }
}

Test(index, full_tables_report_what_leaves)
{
    for (size_t k = 0; kvc_index_kinds[k] != NULL; k++) {
        operate(kvc_index_kinds[k], TABLE_BYTES, UNIVERSE * 5, 100 + k);
    }
}

/* Distinct keys are inserted until there are twice as many as the capacity. */
Test(index, fills_to_the_failure_point)
{
    for (size_t k = 0; kvc_index_kinds[k] != NULL; k++) {
        const struct kvc_index_kind *kind = kvc_index_kinds[k];
        struct kvc_index *index = create(kind, TABLE_BYTES * 4, 3);
        struct random_source random = {9};
        struct kvc_index_stats stats = {0};
        uint64_t capacity = kvc_index_capacity(index), put = 0, first_loss = 0, reported = 0;
        cr_assert_gt(capacity, 100, "%s", kind->name);
        while (put < 2 * capacity) {
            uint64_t hash = next(&random);
            uint32_t location = (uint32_t)put++, out;
            kvc_index_insert(index, &hash, &location, 1, &out, &stats);
            reported += out != KVC_LOCATION_NONE;
            first_loss = first_loss == 0 && out != KVC_LOCATION_NONE ? put : first_loss;
        }
        cr_assert_eq(stats.dropped + stats.evicted, reported, "%s: counts %lu, reports %lu", kind->name,
                     (unsigned long)(stats.dropped + stats.evicted), (unsigned long)reported);
        cr_assert_eq(stats.replaced, 0, "%s: equal elements among distinct keys", kind->name);
        cr_assert(kind->forgets || kvc_index_used(index) + reported == put, "%s: neither held nor reported",
                  kind->name);
        cr_assert_gt((double)kvc_index_used(index), 0.5 * (double)capacity, "%s: holds only %lu of %lu",
                     kind->name, (unsigned long)kvc_index_used(index), (unsigned long)capacity);
        cr_assert(kind->forgets || kind->caches || (double)first_loss > 0.5 * (double)capacity,
                  "%s: the first loss at %lu of %lu", kind->name, (unsigned long)first_loss,
                  (unsigned long)capacity);
        kvc_index_free(index);
    }
}

/* One call with many elements and many calls with one element have the same result. */
Test(index, batches_are_in_order)
{
    for (size_t k = 0; kvc_index_kinds[k] != NULL; k++) {
        const struct kvc_index_kind *kind = kvc_index_kinds[k];
        enum { COUNT = 3000 };
        struct kvc_index *one = create(kind, TABLE_BYTES, 5), *many = create(kind, TABLE_BYTES, 5);
        struct random_source random = {11};
        struct kvc_index_stats stats = {0};
        static uint64_t hash[COUNT];
        static uint32_t location[COUNT], left_out[COUNT], right_out[COUNT];
        for (uint32_t i = 0; i < COUNT; i++) {
            hash[i] = i % 7 == 6 ? hash[next(&random) % i] : next(&random);
            location[i] = i;
        }
        kvc_index_insert(one, hash, location, COUNT, left_out, &stats);
        for (uint32_t i = 0; i < COUNT; i++) {
            kvc_index_insert(many, &hash[i], &location[i], 1, &right_out[i], &stats);
        }
        cr_assert_eq(memcmp(left_out, right_out, sizeof(left_out)), 0, "%s: inserts in one call or many",
                     kind->name);
        kvc_index_search(one, hash, COUNT, left_out, &stats);
        for (uint32_t i = 0; i < COUNT; i++) {
            kvc_index_search(many, &hash[i], 1, &right_out[i], &stats);
        }
        cr_assert_eq(memcmp(left_out, right_out, sizeof(left_out)), 0, "%s: searches in one call or many",
                     kind->name);
        kvc_index_free(one);
        kvc_index_free(many);
    }
}

static void expect_equal(const struct kvc_index_kind *kind, const uint32_t *found, const uint32_t *other,
                         uint32_t count)
{
    cr_assert_arr_eq(found, other, count * sizeof(*found), "%s", kind->name);
}

/* Two tables get the same operations; one of them is peeked into before each. */
static void check_peeks(const struct kvc_index_kind *kind, struct kvc_index *index, struct kvc_index *other,
                        uint32_t least_location)
{
    struct random_source random = {UNIVERSE};
    struct kvc_index_stats stats = {0}, other_stats = {0};
    uint32_t hits = 0, seen = 0;
    bool can = true;
    for (uint32_t round = 0; round < ROUNDS && can; round++) {
        uint64_t hash[BATCH_MAX];
        uint32_t location[BATCH_MAX], found[BATCH_MAX], other_found[BATCH_MAX], peeked[BATCH_MAX];
        uint32_t count = 1 + (uint32_t)(next(&random) % BATCH_MAX);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t key = (uint32_t)(next(&random) % UNIVERSE);
            location[i] = least_location + key % 64;
            hash[i] = kvc_hash(&key, sizeof(key), 1);
        }
        can = kvc_index_peek(index, hash, count, peeked);
        kvc_index_search(index, hash, count, found, &stats);
        kvc_index_search(other, hash, count, other_found, &other_stats);
        expect_equal(kind, found, other_found, count);
        for (uint32_t i = 0; i < count && can; i++) {
            hits += found[i] != KVC_LOCATION_NONE;
            seen += found[i] != KVC_LOCATION_NONE && peeked[i] == found[i];
        }
        kvc_index_peek(index, hash, count, peeked);
        kvc_index_insert(index, hash, location, count, found, &stats);
        kvc_index_insert(other, hash, location, count, other_found, &other_stats);
        expect_equal(kind, found, other_found, count);
        kvc_index_peek(index, hash, count, peeked);
        kvc_index_erase(index, hash, location, count / 2, found, &stats);
        kvc_index_erase(other, hash, location, count / 2, other_found, &other_stats);
        expect_equal(kind, found, other_found, count / 2);
        cr_assert_eq(kvc_index_used(index), kvc_index_used(other), "%s", kind->name);
    }
    cr_assert_arr_eq(&stats, &other_stats, sizeof(stats), "%s", kind->name);
    cr_assert(!can || (hits > 0 && seen >= hits - hits / 10), "%s: saw %u of %u", kind->name, seen, hits);
    kvc_index_free(index);
    kvc_index_free(other);
}

Test(index, peeking_finds_what_is_there_and_changes_nothing)
{
    for (size_t k = 0; kvc_index_kinds[k] != NULL; k++) {
        const struct kvc_index_kind *kind = kvc_index_kinds[k];
        const struct kvc_index_pair_kind *pairs = kind->pairs;
        check_peeks(kind, create(kind, TABLE_BYTES, 1), create(kind, TABLE_BYTES, 1), 0);
        if (pairs != NULL) {
            const struct kvc_index_pairs sizes = {pairs->inline_usual_bytes, pairs->least_bytes + 32};
            check_peeks(kind, pairs->create(TABLE_BYTES, &sizes, 1), pairs->create(TABLE_BYTES, &sizes, 1),
                        pairs->least_bytes);
        }
    }
}

Test(index, empty_batches_and_optional_outputs)
{
    for (size_t k = 0; kvc_index_kinds[k] != NULL; k++) {
        const struct kvc_index_kind *kind = kvc_index_kinds[k];
        struct kvc_index *index = create(kind, TABLE_BYTES, 1);
        struct kvc_index_stats stats = {0};
        uint64_t hash = 0;
        uint32_t location = 5, found = 1;
        kvc_index_search(index, NULL, 0, NULL, &stats);
        kvc_index_insert(index, NULL, NULL, 0, NULL, &stats);
        kvc_index_erase(index, NULL, NULL, 0, NULL, &stats);
        cr_assert_eq(stats.searches + stats.inserts + stats.erases, 0, "%s", kind->name);
        kvc_index_search(index, &hash, 1, &found, &stats);
        cr_assert_eq(found, KVC_LOCATION_NONE, "%s: a hash of 0 in an empty table", kind->name);
        kvc_index_insert(index, &hash, &location, 1, NULL, &stats);
        kvc_index_search(index, &hash, 1, &found, &stats);
        cr_assert_eq(found, 5, "%s", kind->name);
        kvc_index_erase(index, &hash, &location, 1, NULL, &stats);
        cr_assert_eq(kvc_index_used(index), 0, "%s", kind->name);
        kvc_index_free(index);
    }
    kvc_index_free(NULL);
}
