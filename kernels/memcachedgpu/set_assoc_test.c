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

/* What a plain implementation knows of each key. */
struct model_key {
    bool held;
    uint32_t set;
    struct kvc_set_assoc_item item;
};

enum { IDS = 600, STEPS = 20000 };

/* The table, and a plain implementation that it is compared with. */
struct model {
    struct kvc_set_assoc *table;
    struct model_key keys[IDS];
    uint32_t longest;
    uint32_t step, now;
    uint64_t used;
    struct kvc_index_stats stats, expected;
};

/* Evicts the key with the oldest timestamp from a full set; returns its item. */
static struct kvc_set_assoc_item make_room(struct model *model, uint32_t set_number)
{
    uint32_t count = 0;
    struct model_key *oldest = NULL;
    for (uint32_t i = 0; i < IDS; i++) {
        struct model_key *key = &model->keys[i];
        if (key->held && key->set == set_number) {
            count++;
            if (oldest == NULL || model->now - key->item.stamp > model->now - oldest->item.stamp) {
                oldest = key;
            }
        }
    }
    if (count < model->table->table.ways) {
        return nothing;
    }
    oldest->held = false;
    model->expected.evicted++;
    model->used--;
    return oldest->item;
}

static void compare_set(struct model *model, const struct key *bytes, struct model_key *key)
{
    struct kvc_set_assoc_item item = random_item(model->now), left = key->item;
    model->expected.replaced += key->held;
    model->used += !key->held;
    if (!key->held) {
        left = make_room(model, key->set);
    }
    struct kvc_set_assoc_item got = set(model->table, bytes, item, model->now, &model->stats);
    cr_assert(equal(got, left), "step %u: %u left, not %u", model->step, got.location, left.location);
    key->held = true;
    key->item = item;
    model->expected.inserts++;
}

static void compare_erase(struct model *model, const struct key *bytes, struct model_key *key)
{
    uint32_t location = random_wanted(&key->item);
    bool gone = key->held && (location == KVC_LOCATION_ANY || location == key->item.location);
    cr_assert(equal(erase(model->table, bytes, location, &model->stats), gone ? key->item : nothing),
              "step %u: erase", model->step);
    key->held &= !gone;
    model->used -= gone;
    model->expected.erased += gone;
    model->expected.erases++;
}

static void compare_get(struct model *model, const struct key *bytes, struct model_key *key)
{
    if (key->held) {
        key->item.stamp = model->now;
        model->expected.search_hits++;
    }
    cr_assert(equal(get(model->table, bytes, model->now, &model->stats), key->held ? key->item : nothing),
              "step %u: get", model->step);
    model->expected.searches++;
}

/* Compares random operations with the model. Timestamps wrap around on the way. */
static void against_model(uint32_t sets, uint32_t ways, uint32_t longest, bool shared_lock)
{
    static struct model model;
    memset(&model, 0, sizeof(model));
    model.table = kvc_set_assoc_create(&(struct kvc_set_assoc_params){
        .sets = sets, .ways = ways, .key_bytes_max = longest, .shared_lock = shared_lock});
    cr_assert_not_null(model.table);
    model.longest = longest;
    model.now = 0xffffffffu - STEPS / 2;
    for (; model.step < STEPS; model.step++, model.now++) {
        uint32_t id = (uint32_t)(random_word() % IDS), operation = (uint32_t)(random_word() % 4);
        struct key bytes = key_of(id, longest);
        struct model_key *key = &model.keys[id];
        key->set = kvc_set_assoc_place(&model.table->table, bytes.bytes, bytes.length).set;
        if (operation == 0) {
            compare_set(&model, &bytes, key);
        } else if (operation == 1) {
            compare_erase(&model, &bytes, key);
        } else {
            compare_get(&model, &bytes, key);
        }
        cr_assert_eq(kvc_index_used(&model.table->index), model.used);
    }
    expect_counts(&model.stats, &model.expected);
    kvc_set_assoc_free(model.table);
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

/* In one set of 16 ways with 8-bit tags, a few hundred keys often have equal tags, and yet they are told
 * apart. */
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
    /* When a key in the middle is erased, the others stay and its place is used again. */
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

/* Keys of zero bytes that are prefixes of each other differ, because padding is not part of a key. */
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

/* A batch of any size does what single operations do. */
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

/* The counted lines follow the layout: 1 for a miss, 2 for a hit with a key of up to 48 bytes, 1 more for
 * each further 64 bytes, and those of equal tags. */
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

/* The table as an index of hashes: random keys spread over sets of 16 ways, which determines how many are
 * evicted by the time as many keys were inserted as there are entries. */
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
    /* A miss reads the control line and a hit its entry as well; tags that are equal by chance add about
     * 15/256 at most. */
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
