#include "kernels/memcachedgpu/set_assoc.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/memcachedgpu/table_fixture.h"

static struct kvc_set_assoc *create(uint32_t sets, uint32_t ways, uint32_t key_bytes_max)
{
    struct kvc_set_assoc *table = kvc_set_assoc_create(
        &(struct kvc_set_assoc_params){.sets = sets, .ways = ways, .key_bytes_max = key_bytes_max});
    cr_assert_not_null(table);
    return table;
}

static struct kvc_set_assoc_item get(struct kvc_set_assoc *table, const struct key *key, uint32_t now,
                                     struct kvc_index_stats *stats)
{
    uint32_t zero = 0;
    struct kvc_set_assoc_item item;
    kvc_set_assoc_search(table, &(struct kvc_set_assoc_keys){key->bytes, &zero, &key->length}, 1, now, &item,
                         stats);
    return item;
}

static struct kvc_set_assoc_item set(struct kvc_set_assoc *table, const struct key *key,
                                     struct kvc_set_assoc_item item, uint32_t now,
                                     struct kvc_index_stats *stats)
{
    uint32_t zero = 0;
    struct kvc_set_assoc_item left;
    kvc_set_assoc_insert(table, &(struct kvc_set_assoc_keys){key->bytes, &zero, &key->length}, &item, 1, now,
                         &left, stats);
    return left;
}

static struct kvc_set_assoc_item erase(struct kvc_set_assoc *table, const struct key *key, uint32_t location,
                                       struct kvc_index_stats *stats)
{
    uint32_t zero = 0;
    struct kvc_set_assoc_item left;
    kvc_set_assoc_erase(table, &(struct kvc_set_assoc_keys){key->bytes, &zero, &key->length}, &location, 1,
                        &left, stats);
    return left;
}

Test(set_assoc, rejects_bad_params)
{
    struct kvc_set_assoc_params bad[] = {
        {.sets = 0, .ways = 16, .key_bytes_max = 8},  {.sets = 4, .ways = 0, .key_bytes_max = 8},
        {.sets = 4, .ways = 3, .key_bytes_max = 8},   {.sets = 4, .ways = 32, .key_bytes_max = 8},
        {.sets = 4, .ways = 16, .key_bytes_max = 0},  {.sets = 4, .ways = 16, .key_bytes_max = 251},
        {.sets = 4, .ways = 12, .key_bytes_max = 16},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        errno = 0;
        cr_expect_null(kvc_set_assoc_create(&bad[i]), "case %zu", i);
        cr_expect_eq(errno, EINVAL, "case %zu", i);
    }
    kvc_set_assoc_free(NULL);
}

/* The reference: every element of the map with the set it is in; who leaves a full set is the one with the
 * oldest timestamp. */
struct model_element {
    bool held;
    uint32_t set;
    struct kvc_set_assoc_item item;
};

static void against_model(uint32_t sets, uint32_t ways, uint32_t longest, bool shared_lock)
{
    enum { IDS = 600, STEPS = 20000 };
    static struct model_element model[IDS];
    memset(model, 0, sizeof(model));
    struct kvc_set_assoc *table = kvc_set_assoc_create(&(struct kvc_set_assoc_params){
        .sets = sets, .ways = ways, .key_bytes_max = longest, .shared_lock = shared_lock});
    cr_assert_not_null(table);
    struct kvc_index_stats stats = {0}, expected = {0};
    /* Timestamps wrap on the way. */
    uint32_t now = 0xffffffffu - STEPS / 2;
    uint64_t used = 0;
    for (uint32_t step = 0; step < STEPS; step++, now++) {
        uint32_t id = (uint32_t)(random_word() % IDS);
        struct key key = key_of(id, longest);
        struct model_element *element = &model[id];
        element->set = kvc_set_assoc_place(&table->table, key.bytes, key.length).set;
        switch (random_word() % 4) {
        case 0: {
            struct kvc_set_assoc_item item = {.location = (uint32_t)(random_word() % 1000),
                                              .value_bytes = (uint32_t)random_word(),
                                              .stamp = now,
                                              .flags = (uint16_t)random_word()};
            struct kvc_set_assoc_item left = {.location = KVC_LOCATION_NONE};
            if (element->held) {
                left = element->item;
                expected.replaced++;
            } else {
                uint32_t count = 0;
                struct model_element *oldest = NULL;
                for (uint32_t i = 0; i < IDS; i++) {
                    if (model[i].held && model[i].set == element->set) {
                        count++;
                        if (oldest == NULL || now - model[i].item.stamp > now - oldest->item.stamp) {
                            oldest = &model[i];
                        }
                    }
                }
                used++;
                if (count == ways) {
                    left = oldest->item;
                    oldest->held = false;
                    expected.evicted++;
                    used--;
                }
            }
            struct kvc_set_assoc_item got = set(table, &key, item, now, &stats);
            cr_assert(equal(got, left), "step %u: %u left, not %u", step, got.location, left.location);
            element->held = true;
            element->item = item;
            expected.inserts++;
            break;
        }
        case 1: {
            uint32_t location = random_word() % 2 == 0   ? KVC_LOCATION_ANY
                                : random_word() % 2 == 0 ? element->item.location
                                                         : (uint32_t)(random_word() % 1000);
            bool gone = element->held && (location == KVC_LOCATION_ANY || location == element->item.location);
            struct kvc_set_assoc_item left = {.location = KVC_LOCATION_NONE};
            if (gone) {
                left = element->item;
                element->held = false;
                used--;
                expected.erased++;
            }
            cr_assert(equal(erase(table, &key, location, &stats), left), "step %u", step);
            expected.erases++;
            break;
        }
        default: {
            struct kvc_set_assoc_item item = {.location = KVC_LOCATION_NONE};
            if (element->held) {
                element->item.stamp = now;
                item = element->item;
                expected.search_hits++;
            }
            cr_assert(equal(get(table, &key, now, &stats), item), "step %u", step);
            expected.searches++;
            break;
        }
        }
        cr_assert_eq(kvc_index_used(&table->index), used);
    }
    cr_expect_eq(stats.replaced, expected.replaced);
    cr_expect_eq(stats.evicted, expected.evicted);
    cr_expect_eq(stats.erased, expected.erased);
    cr_expect_eq(stats.search_hits, expected.search_hits);
    cr_expect_eq(stats.searches, expected.searches);
    cr_expect_eq(stats.inserts, expected.inserts);
    cr_expect_eq(stats.erases, expected.erases);
    cr_expect_eq(stats.dropped, 0);
    cr_expect_gt(expected.evicted, 0);
    cr_expect_gt(expected.search_hits, 0);
    kvc_set_assoc_free(table);
}

Test(set_assoc, behaves_as_a_map_with_lru_sets)
{
    for (uint32_t ways = 1; ways <= 16; ways *= 2) {
        against_model(256 / ways, ways, 8, false);
    }
    against_model(13, 16, 16, false);
    against_model(13, 16, 48, true);
    against_model(7, 16, 250, false);
    against_model(7, 4, 49, true);
    against_model(1, 16, 100, false);
}

/* In one set of 16, tags of 8 bits: a few hundred keys meet equal tags all the time, and still each is
 * itself. */
Test(set_assoc, equal_tags_are_told_apart_by_key)
{
    enum { WANTED = 16 };
    struct kvc_set_assoc *table = create(1, 16, 250);
    struct kvc_index_stats stats = {0};
    struct key keys[WANTED + 1];
    uint8_t tag = 0;
    uint32_t found = 0;
    for (uint32_t id = 0; found < WANTED + 1; id++) {
        struct key key = key_of(id, 250);
        uint8_t its = kvc_set_assoc_place(&table->table, key.bytes, key.length).tag;
        if (found == 0 || its == tag) {
            tag = its;
            keys[found++] = key;
        }
    }
    for (uint32_t i = 0; i < WANTED; i++) {
        struct kvc_set_assoc_item left =
            set(table, &keys[i], (struct kvc_set_assoc_item){.location = i}, i, &stats);
        cr_assert_eq(left.location, KVC_LOCATION_NONE);
    }
    for (uint32_t i = 0; i < WANTED; i++) {
        cr_expect_eq(get(table, &keys[i], 100, &stats).location, i);
    }
    cr_expect_eq(get(table, &keys[WANTED], 100, &stats).location, KVC_LOCATION_NONE);
    /* In the middle; the others stay, the place is used again. */
    cr_expect_eq(erase(table, &keys[7], KVC_LOCATION_ANY, &stats).location, 7);
    cr_expect_eq(get(table, &keys[7], 100, &stats).location, KVC_LOCATION_NONE);
    cr_expect_eq(set(table, &keys[WANTED], (struct kvc_set_assoc_item){.location = 99}, 101, &stats).location,
                 KVC_LOCATION_NONE);
    for (uint32_t i = 0; i <= WANTED; i++) {
        cr_expect_eq(get(table, &keys[i], 102, &stats).location, i == 7        ? KVC_LOCATION_NONE
                                                                 : i == WANTED ? 99
                                                                               : i);
    }
    cr_expect_eq(kvc_index_used(&table->index), 16);
    kvc_set_assoc_free(table);
}

/* Keys of which one is the beginning of the other, and of zero bytes: padding is no key byte. */
Test(set_assoc, length_is_part_of_the_key)
{
    struct kvc_set_assoc *table = create(1, 16, 32);
    struct kvc_index_stats stats = {0};
    for (uint8_t length = 1; length <= 16; length++) {
        struct key key = {.length = length};
        set(table, &key, (struct kvc_set_assoc_item){.location = length}, length, &stats);
    }
    for (uint8_t length = 1; length <= 16; length++) {
        struct key key = {.length = length};
        cr_expect_eq(get(table, &key, 50, &stats).location, length);
    }
    kvc_set_assoc_free(table);
}

Test(set_assoc, refuses_keys_of_no_valid_length_and_reserved_locations)
{
    struct kvc_set_assoc *table = create(4, 16, 20);
    struct kvc_index_stats stats = {0};
    struct key empty = {.length = 0}, longest = key_of(17, 20), longer = {.length = 21};
    longest.length = 20;
    struct kvc_set_assoc_item item = {.location = 5};
    cr_expect_eq(set(table, &empty, item, 1, &stats).location, 5);
    cr_expect_eq(set(table, &longer, item, 1, &stats).location, 5);
    cr_expect_eq(
        set(table, &longest, (struct kvc_set_assoc_item){.location = KVC_LOCATION_ANY}, 1, &stats).location,
        KVC_LOCATION_ANY);
    cr_expect_eq(stats.dropped, 3);
    cr_expect_eq(kvc_index_used(&table->index), 0);
    cr_expect_eq(set(table, &longest, item, 1, &stats).location, KVC_LOCATION_NONE);
    cr_expect_eq(get(table, &longest, 1, &stats).location, 5);
    cr_expect_eq(get(table, &empty, 1, &stats).location, KVC_LOCATION_NONE);
    cr_expect_eq(get(table, &longer, 1, &stats).location, KVC_LOCATION_NONE);
    cr_expect_eq(erase(table, &longer, KVC_LOCATION_ANY, &stats).location, KVC_LOCATION_NONE);
    kvc_set_assoc_free(table);
}

/* Batches of any size do what single operations do. */
Test(set_assoc, batches_equal_single_operations)
{
    enum { MOST = 300 };
    static const uint32_t sizes[] = {0, 1, 2, 19, 20, 21, 40, 63, 64, 65, 128, MOST};
    struct kvc_set_assoc *one = create(5, 16, 60), *many = create(5, 16, 60);
    struct kvc_index_stats one_stats = {0}, many_stats = {0};
    uint32_t now = 0;
    for (uint32_t round = 0; round < 60; round++) {
        uint32_t count = sizes[round % (sizeof(sizes) / sizeof(*sizes))];
        static uint8_t bytes[MOST * KVC_SET_ASSOC_KEY_MAX];
        uint32_t offset[MOST];
        uint8_t length[MOST];
        struct key keys[MOST];
        struct kvc_set_assoc_item items[MOST], got[MOST];
        for (uint32_t i = 0; i < count; i++) {
            keys[i] = key_of((uint32_t)(random_word() % 200), 60);
            offset[i] = i * KVC_SET_ASSOC_KEY_MAX;
            length[i] = keys[i].length;
            memcpy(bytes + offset[i], keys[i].bytes, length[i]);
            items[i] = (struct kvc_set_assoc_item){.location = (uint32_t)(random_word() % 100), .flags = 3};
        }
        struct kvc_set_assoc_keys batch = {bytes, offset, length};
        uint32_t *location = NULL, locations[MOST];
        switch (round / 2 % 3) {
        case 0:
            kvc_set_assoc_insert(many, &batch, items, count, now, got, &many_stats);
            break;
        case 1:
            kvc_set_assoc_search(many, &batch, count, now, got, &many_stats);
            break;
        default:
            for (uint32_t i = 0; i < count; i++) {
                locations[i] = items[i].location;
            }
            location = round % 2 == 0 ? locations : NULL;
            kvc_set_assoc_erase(many, &batch, location, count, got, &many_stats);
        }
        for (uint32_t i = 0; i < count; i++) {
            struct kvc_set_assoc_item single;
            switch (round / 2 % 3) {
            case 0:
                single = set(one, &keys[i], items[i], now + i, &one_stats);
                break;
            case 1:
                single = get(one, &keys[i], now, &one_stats);
                break;
            default:
                single = erase(one, &keys[i], location != NULL ? location[i] : KVC_LOCATION_ANY, &one_stats);
            }
            cr_assert(equal(single, got[i]), "round %u, %u of %u", round, i, count);
        }
        now += count + 1;
    }
    cr_expect_eq(memcmp(&one_stats, &many_stats, sizeof(one_stats)), 0);
    cr_expect_gt(many_stats.evicted, 0);
    cr_expect_eq(
        memcmp(one->table.sets, many->table.sets, one->table.set_count * (size_t)one->table.set_bytes), 0);
    kvc_set_assoc_free(one);
    kvc_set_assoc_free(many);
}

/* The lines of the layout, counted: 1 for a miss, 2 for a hit with a key of up to 48 bytes, and one more for
 * each further 64; equal tags add theirs. */
Test(set_assoc, touches_the_lines_it_promises)
{
    static const struct {
        uint32_t key_bytes, hit_lines;
    } cases[] = {{8, 2}, {16, 2}, {48, 2}, {49, 3}, {112, 3}, {113, 4}, {250, 6}};
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        struct kvc_set_assoc *table = create(64, 16, cases[c].key_bytes);
        struct kvc_index_stats stats = {0}, miss = {0}, hit = {0};
        struct key first = key_of(1, cases[c].key_bytes), other = key_of(2, cases[c].key_bytes);
        first.length = (uint8_t)cases[c].key_bytes;
        cr_assert_eq(get(table, &other, 1, &miss).location, KVC_LOCATION_NONE);
        cr_expect_eq(miss.search_lines, 1);
        set(table, &first, (struct kvc_set_assoc_item){.location = 1}, 1, &stats);
        cr_expect_eq(stats.insert_lines, cases[c].hit_lines);
        cr_assert_eq(get(table, &first, 2, &hit).location, 1);
        cr_expect_eq(hit.search_lines, cases[c].hit_lines, "%u bytes", cases[c].key_bytes);
        kvc_set_assoc_free(table);
    }
}

/* As an index of hashes. Sets full at 16 for one: how many evictions there are by then follows from the
 * spread of random keys over sets. */
Test(set_assoc, fills_as_random_sets_fill)
{
    struct kvc_index *index = kvc_set_assoc_kind.create(4 << 20, 0);
    cr_assert_not_null(index);
    uint64_t capacity = kvc_index_capacity(index);
    cr_expect_eq(capacity, (4u << 20) / 576 * 16);
    uint32_t count = (uint32_t)capacity;
    uint64_t *hash = malloc(count * sizeof(*hash));
    uint32_t *location = malloc(count * sizeof(*location)), *out = malloc(count * sizeof(*out));
    bool *gone = calloc(count, sizeof(*gone));
    for (uint32_t i = 0; i < count; i++) {
        hash[i] = random_word();
        location[i] = i;
    }
    struct kvc_index_stats stats = {0};
    kvc_index_insert(index, hash, location, count, out, &stats);
    uint64_t evicted = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (out[i] != KVC_LOCATION_NONE) {
            cr_assert_not(gone[out[i]]);
            gone[out[i]] = true;
            evicted++;
        }
    }
    cr_expect_eq(stats.evicted, evicted);
    cr_expect_eq(kvc_index_used(index), count - evicted);
    /* Poisson(16): the expected excess over 16 per set is 16 P(16) = 1.587 of 16 keys. */
    cr_expect_float_eq((double)evicted / count, 0.0992, 0.004);
    kvc_index_search(index, hash, count, out, &stats);
    for (uint32_t i = 0; i < count; i++) {
        cr_assert_eq(out[i], gone[i] ? KVC_LOCATION_NONE : i);
    }
    cr_expect_eq(stats.search_hits, count - evicted);
    /* A miss reads the control line, a hit its entry as well; tags equal by chance add 15/256 or so at most.
     */
    cr_expect_geq(stats.search_lines, stats.searches + stats.search_hits);
    cr_expect_leq((double)stats.search_lines, (double)(stats.searches + stats.search_hits) * 1.05);
    kvc_index_erase(index, hash, location, count, out, &stats);
    cr_expect_eq(stats.erased, count - evicted);
    cr_expect_eq(kvc_index_used(index), 0);
    free(hash);
    free(location);
    free(out);
    free(gone);
    kvc_index_free(index);
}
