#include "kernels/memcachedgpu/hopscotch.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "kernels/memcachedgpu/table_fixture.h"

static struct kvc_set_assoc_item get(struct kvc_hopscotch *table, const struct key *key, uint32_t now,
                                     struct kvc_index_stats *stats)
{
    uint32_t zero = 0;
    struct kvc_set_assoc_item item;
    kvc_hopscotch_search(table, &(struct kvc_set_assoc_keys){key->bytes, &zero, &key->length}, 1, now, &item,
                         stats);
    return item;
}

static struct kvc_set_assoc_item set(struct kvc_hopscotch *table, const struct key *key,
                                     struct kvc_set_assoc_item item, uint32_t now,
                                     struct kvc_index_stats *stats)
{
    uint32_t zero = 0;
    struct kvc_set_assoc_item left;
    kvc_hopscotch_insert(table, &(struct kvc_set_assoc_keys){key->bytes, &zero, &key->length}, &item, 1, now,
                         &left, stats);
    return left;
}

static struct kvc_set_assoc_item erase(struct kvc_hopscotch *table, const struct key *key, uint32_t location,
                                       struct kvc_index_stats *stats)
{
    uint32_t zero = 0;
    struct kvc_set_assoc_item left;
    kvc_hopscotch_erase(table, &(struct kvc_set_assoc_keys){key->bytes, &zero, &key->length}, &location, 1,
                        &left, stats);
    return left;
}

/* What a plain implementation knows of each key. */
struct model_key {
    bool held;
    struct kvc_set_assoc_item item;
    uint32_t entry; /* the entry that it is in */
};

enum { ENTRIES_MAX = 400, NOBODY = 0xffffffff };

/* The table, and a plain implementation that it is compared with. */
struct model {
    struct kvc_hopscotch *table;
    struct model_key keys[2000];
    uint32_t owner[ENTRIES_MAX]; /* key of each entry, or NOBODY */
    uint32_t longest;
    uint32_t step, now;
    uint64_t used;
    struct kvc_index_stats stats, expected;
};

/* Finds the entry for a new key; returns the item that has to leave it. */
static struct kvc_set_assoc_item make_room(struct model *model, uint32_t id, const struct key *bytes)
{
    const struct kvc_hopscotch_table *table = &model->table->table;
    struct model_key *keys = model->keys;
    uint32_t home = kvc_hopscotch_place(table, (struct kvc_table_key){bytes->bytes, bytes->length}).home;
    uint32_t best = home;
    for (uint32_t e = home; e < home + table->neighbours; e++) {
        uint32_t other = model->owner[e];
        if (other == NOBODY || !keys[other].held || keys[other].entry != e) {
            keys[id].entry = e;
            model->owner[e] = id;
            return nothing;
        }
        if (model->now - keys[other].item.stamp > model->now - keys[model->owner[best]].item.stamp) {
            best = e;
        }
    }
    struct model_key *victim = &keys[model->owner[best]];
    keys[id].entry = best;
    model->owner[best] = id;
    victim->held = false;
    model->expected.evicted++;
    model->used--;
    return victim->item;
}

static void compare_set(struct model *model, uint32_t id)
{
    struct key bytes = key_of(id, model->longest);
    struct model_key *key = &model->keys[id];
    struct kvc_set_assoc_item item = random_item(model->now), left = key->item;
    model->expected.replaced += key->held;
    model->used += !key->held;
    if (!key->held) {
        left = make_room(model, id, &bytes);
    }
    key->held = true;
    key->item = item;
    cr_assert(equal(set(model->table, &bytes, item, model->now, &model->stats), left), "step %u: set",
              model->step);
    model->expected.inserts++;
}

static void compare_erase(struct model *model, uint32_t id)
{
    struct key bytes = key_of(id, model->longest);
    struct model_key *key = &model->keys[id];
    uint32_t location = random_wanted(&key->item);
    bool gone = key->held && (location == KVC_LOCATION_ANY || location == key->item.location);
    cr_assert(equal(erase(model->table, &bytes, location, &model->stats), gone ? key->item : nothing),
              "step %u: erase", model->step);
    key->held &= !gone;
    model->used -= gone;
    model->expected.erased += gone;
    model->expected.erases++;
}

static void compare_get(struct model *model, uint32_t id)
{
    struct key bytes = key_of(id, model->longest);
    struct model_key *key = &model->keys[id];
    if (key->held) {
        key->item.stamp = model->now;
        model->expected.search_hits++;
    }
    cr_assert(equal(get(model->table, &bytes, model->now, &model->stats), key->held ? key->item : nothing),
              "step %u: get", model->step);
    model->expected.searches++;
}

/* Compares random operations with the model. Timestamps wrap around on the way. */
static void against_model(uint32_t homes, uint32_t neighbours, uint32_t longest, uint32_t ids, uint32_t steps)
{
    static struct model model;
    memset(&model, 0, sizeof(model));
    memset(model.owner, 0xff, sizeof(model.owner));
    model.table = kvc_hopscotch_create(&(struct kvc_hopscotch_params){homes, neighbours, longest});
    cr_assert_not_null(model.table);
    model.longest = longest;
    model.now = 0xffffffffu - steps / 2;
    for (; model.step < steps; model.step++, model.now++) {
        uint32_t id = (uint32_t)(random_word() % ids), operation = (uint32_t)(random_word() % 8);
        if (operation < 3) {
            compare_set(&model, id);
        } else if (operation == 3) {
            compare_erase(&model, id);
        } else {
            compare_get(&model, id);
        }
        cr_assert_eq(kvc_index_used(&model.table->index), model.used);
    }
    expect_counts(&model.stats, &model.expected);
    cr_expect_gt(model.expected.erased, 0);
    kvc_hopscotch_free(model.table);
}

Test(hopscotch, rejects_bad_params)
{
    struct kvc_hopscotch_params bad[] = {{0, 16, 8}, {4, 4, 8},    {4, 24, 8},          {4, 64, 8},
                                         {4, 16, 0}, {4, 16, 251}, {0x80000001u, 16, 8}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        errno = 0;
        cr_expect_null(kvc_hopscotch_create(&bad[i]), "case %zu", i);
        cr_expect_eq(errno, EINVAL, "case %zu", i);
    }
    kvc_hopscotch_free(NULL);
}

Test(hopscotch, behaves_as_a_map_with_lru_neighbourhoods)
{
    against_model(200, 16, 8, 600, 30000);
    against_model(200, 0, 8, 240, 30000);
    against_model(300, 8, 48, 1000, 30000);
    against_model(100, 32, 250, 500, 30000);
    against_model(1, 16, 16, 100, 5000);
    against_model(2, 8, 1, 200, 5000);
}

/* Keys with the same home and the same tag are told apart; when one in the middle is erased, its place is
 * used again. */
Test(hopscotch, equal_tags_are_told_apart_by_key)
{
    enum { WANTED = 17, HOMES = 40 };
    struct kvc_hopscotch *table = kvc_hopscotch_create(&(struct kvc_hopscotch_params){HOMES, 16, 20});
    struct kvc_index_stats stats = {0};
    struct key keys[WANTED];
    struct kvc_hopscotch_place first = {0, 0};
    uint32_t found = 0;
    for (uint32_t id = 0; found < WANTED; id++) {
        struct key key = key_of(id, 20);
        struct kvc_hopscotch_place place =
            kvc_hopscotch_place(&table->table, (struct kvc_table_key){key.bytes, key.length});
        cr_assert(place.home < HOMES && place.tag > 0 && place.tag < 256);
        first = found == 0 ? place : first;
        if (place.home == first.home && place.tag == first.tag) {
            keys[found++] = key;
        }
    }
    for (uint32_t i = 0; i < 16; i++) {
        cr_assert(
            equal(set(table, &keys[i], (struct kvc_set_assoc_item){.location = i}, i, &stats), nothing));
    }
    for (uint32_t i = 0; i < 16; i++) {
        cr_assert_eq(get(table, &keys[i], 20 + i, &stats).location, i);
    }
    cr_assert(equal(get(table, &keys[16], 50, &stats), nothing));
    cr_assert_eq(erase(table, &keys[7], KVC_LOCATION_ANY, &stats).location, 7);
    cr_assert(equal(get(table, &keys[7], 51, &stats), nothing));
    cr_assert_eq(get(table, &keys[8], 52, &stats).location, 8);
    cr_assert(equal(set(table, &keys[16], (struct kvc_set_assoc_item){.location = 16}, 53, &stats), nothing));
    /* The neighbourhood is full, so the oldest key leaves. */
    cr_assert_eq(set(table, &keys[7], (struct kvc_set_assoc_item){.location = 7}, 54, &stats).location, 0);
    cr_assert_eq(kvc_index_used(&table->index), 16);
    kvc_hopscotch_free(table);
}

/* Neighbourhoods overlap: the keys of one home fill the entries behind it, and the whole table holds more
 * keys than sets of as many ways before it loses one. */
Test(hopscotch, fills_to_the_failure_point)
{
    enum { HOMES = 1 << 16 };
    struct kvc_hopscotch *table = kvc_hopscotch_create(&(struct kvc_hopscotch_params){HOMES, 16, 8});
    struct kvc_set_assoc *sets = kvc_set_assoc_create(
        &(struct kvc_set_assoc_params){.sets = HOMES / 16, .ways = 16, .key_bytes_max = 8});
    struct kvc_index_stats stats = {0}, sets_stats = {0};
    uint64_t first_loss = 0, first_set_loss = 0, put = 0, reported = 0;
    while (put < 2 * HOMES) {
        uint64_t hash = random_word();
        uint32_t location = (uint32_t)put++, out;
        kvc_index_insert(&table->index, &hash, &location, 1, &out, &stats);
        reported += out != KVC_LOCATION_NONE;
        first_loss = first_loss == 0 && out != KVC_LOCATION_NONE ? put : first_loss;
        kvc_index_insert(&sets->index, &hash, &location, 1, &out, &sets_stats);
        first_set_loss = first_set_loss == 0 && out != KVC_LOCATION_NONE ? put : first_set_loss;
    }
    cr_assert_eq(stats.evicted, reported);
    cr_assert_eq(kvc_index_used(&table->index) + reported, put);
    cr_assert_gt(first_loss, first_set_loss);
    cr_assert_gt((double)first_loss, 0.4 * HOMES);
    cr_assert_gt((double)kvc_index_used(&table->index), 0.98 * HOMES);
    kvc_hopscotch_free(table);
    kvc_set_assoc_free(sets);
}

/* With 8-byte keys, the tags lie in 1 line, or in 2 if they straddle; an entry lies in 1. */
Test(hopscotch, lines_touched)
{
    enum { COUNT = 20000 };
    struct kvc_hopscotch *table = kvc_hopscotch_create(&(struct kvc_hopscotch_params){1 << 16, 16, 8});
    struct kvc_index_stats stats = {0};
    static uint64_t hash[COUNT];
    static uint32_t location[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        hash[i] = random_word();
        location[i] = i;
    }
    kvc_index_insert(&table->index, hash, location, COUNT, NULL, &stats);
    kvc_index_search(&table->index, hash, COUNT, location, &stats);
    cr_assert_eq(stats.search_hits, COUNT);
    double lines = (double)stats.search_lines / COUNT, expected = 1 + 15.0 / 64 + 1;
    /* Other keys in front with an equal tag add lines: the table is a third full, and half of the 16 entries
     * are in front. */
    cr_assert(lines > expected - 0.01 && lines < expected + 0.03, "%f lines", lines);
    lines = (double)stats.insert_lines / COUNT;
    cr_assert(lines > expected - 0.01 && lines < expected + 0.03, "%f lines", lines);
    kvc_hopscotch_free(table);
}

/* Through index.h, the inserts of a batch differ in age, and the searches of a batch do not. */
Test(hopscotch, index_gives_up_the_least_recently_used)
{
    struct kvc_hopscotch *table = kvc_hopscotch_create(&(struct kvc_hopscotch_params){1, 16, 8});
    struct kvc_index_stats stats = {0};
    uint64_t hash[20];
    uint32_t location[20], out[20];
    for (uint32_t i = 0; i < 20; i++) {
        hash[i] = random_word();
        location[i] = i;
    }
    kvc_index_insert(&table->index, hash, location, 16, NULL, &stats);
    kvc_index_search(&table->index, hash, 1, out, &stats);
    kvc_index_insert(&table->index, &hash[16], &location[16], 1, out, &stats);
    cr_assert_eq(out[0], 1);
    kvc_index_search(&table->index, hash, 17, out, &stats); /* all but key 1, which has left */
    kvc_index_insert(&table->index, &hash[17], &location[17], 3, out, &stats);
    /* Of equally old keys, the nearest to the home leaves first; key 16 has the place of key 1. */
    cr_assert_eq(out[0], 0);
    cr_assert_eq(out[1], 16);
    cr_assert_eq(out[2], 2);
    kvc_hopscotch_free(table);
}

/* Keys that are prefixes of each other differ, because padding is not part of a key; keys of invalid length
 * are refused. */
Test(hopscotch, zero_and_maximum_sizes)
{
    struct kvc_hopscotch *table = kvc_hopscotch_create(&(struct kvc_hopscotch_params){2000, 32, 250});
    cr_assert_not_null(table);
    struct kvc_index_stats stats = {0};
    struct key key = {.length = 0};
    memset(key.bytes, 0, sizeof(key.bytes));
    for (uint32_t length = 1; length <= 250; length++) {
        key.length = (uint8_t)length;
        cr_assert(equal(set(table, &key, (struct kvc_set_assoc_item){.location = length}, length, &stats),
                        nothing));
    }
    for (uint32_t length = 1; length <= 250; length++) {
        key.length = (uint8_t)length;
        cr_assert_eq(get(table, &key, 1000, &stats).location, length);
    }
    key.length = 0;
    cr_assert_eq(set(table, &key, (struct kvc_set_assoc_item){.location = 7}, 1001, &stats).location, 7);
    cr_assert(equal(get(table, &key, 1002, &stats), nothing));
    cr_assert(equal(erase(table, &key, KVC_LOCATION_ANY, &stats), nothing));
    key.length = 255;
    uint8_t longer[255] = {0};
    uint32_t zero = 0;
    struct kvc_set_assoc_item item = {.location = 8}, left;
    struct kvc_set_assoc_keys keys = {longer, &zero, &key.length};
    kvc_hopscotch_insert(table, &keys, &item, 1, 1003, &left, &stats);
    cr_assert_eq(left.location, 8);
    kvc_hopscotch_search(table, &keys, 1, 1003, &left, &stats);
    cr_assert(equal(left, nothing));
    key.length = 3;
    item.location = KVC_LOCATION_ANY; /* not a valid location */
    cr_assert_eq(set(table, &key, item, 1004, &stats).location, KVC_LOCATION_ANY);
    cr_assert_eq(get(table, &key, 1005, &stats).location, 3);
    cr_assert_eq(stats.dropped, 3);
    cr_assert_eq(kvc_index_used(&table->index), 250);
    kvc_hopscotch_free(table);
}

/* A batch of any size does what its operations do one by one. */
Test(hopscotch, batches_are_in_order)
{
    enum { COUNT = 500, ROUNDS = 60 };
    struct kvc_hopscotch *one = kvc_hopscotch_create(&(struct kvc_hopscotch_params){150, 16, 20}),
                         *many = kvc_hopscotch_create(&(struct kvc_hopscotch_params){150, 16, 20});
    cr_assert(one != NULL && many != NULL);
    struct kvc_index_stats one_stats = {0}, many_stats = {0};
    uint32_t now = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        static struct key key[COUNT];
        static struct kvc_set_assoc_item item[COUNT], out[COUNT];
        static uint32_t offset[COUNT], location[COUNT];
        static uint8_t length[COUNT];
        uint32_t count = (uint32_t)(random_word() % (COUNT + 1));
        for (uint32_t i = 0; i < count; i++) {
            key[i] = key_of((uint32_t)(random_word() % 600), 20);
            offset[i] = (uint32_t)((const uint8_t *)key[i].bytes - key[0].bytes);
            length[i] = key[i].length;
            item[i] = (struct kvc_set_assoc_item){.location = (uint32_t)(random_word() % 1000)};
            location[i] = i % 2 != 0 ? KVC_LOCATION_ANY : (uint32_t)(random_word() % 1000);
        }
        struct kvc_set_assoc_keys keys = {key[0].bytes, offset, length};
        if (round % 3 == 0) {
            kvc_hopscotch_insert(many, &keys, item, count, now, out, &many_stats);
        } else if (round % 3 == 1) {
            kvc_hopscotch_search(many, &keys, count, now, out, &many_stats);
        } else {
            kvc_hopscotch_erase(many, &keys, location, count / 8, out, &many_stats);
            count /= 8;
        }
        for (uint32_t i = 0; i < count; i++) {
            struct kvc_set_assoc_item right = round % 3 == 0 ? set(one, &key[i], item[i], now + i, &one_stats)
                                              : round % 3 == 1 ? get(one, &key[i], now, &one_stats)
                                                               : erase(one, &key[i], location[i], &one_stats);
            cr_assert(equal(out[i], right), "round %u, operation %u of %u", round, i, count);
        }
        now += count;
    }
    cr_assert_eq(memcmp(&one_stats, &many_stats, sizeof(one_stats)), 0);
    cr_assert_gt(one_stats.evicted, 0);
    cr_assert_gt(one_stats.erased, 0);
    kvc_hopscotch_free(one);
    kvc_hopscotch_free(many);
}
