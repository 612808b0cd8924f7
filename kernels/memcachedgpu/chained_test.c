#include "kernels/memcachedgpu/chained.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "kernels/memcachedgpu/table_fixture.h"

static struct kvc_set_assoc_item get(struct kvc_chained *table, const struct key *key, uint32_t now,
                                     struct kvc_index_stats *stats)
{
    uint32_t zero = 0;
    struct kvc_set_assoc_item item;
    kvc_chained_search(table, &(struct kvc_set_assoc_keys){key->bytes, &zero, &key->length}, 1, now, &item,
                       stats);
    return item;
}

static struct kvc_set_assoc_item set(struct kvc_chained *table, const struct key *key,
                                     struct kvc_set_assoc_item item, uint32_t now,
                                     struct kvc_index_stats *stats)
{
    uint32_t zero = 0;
    struct kvc_set_assoc_item left;
    kvc_chained_insert(table, &(struct kvc_set_assoc_keys){key->bytes, &zero, &key->length}, &item, 1, now,
                       &left, stats);
    return left;
}

static struct kvc_set_assoc_item erase(struct kvc_chained *table, const struct key *key, uint32_t location,
                                       struct kvc_index_stats *stats)
{
    uint32_t zero = 0;
    struct kvc_set_assoc_item left;
    kvc_chained_erase(table, &(struct kvc_set_assoc_keys){key->bytes, &zero, &key->length}, &location, 1,
                      &left, stats);
    return left;
}

/* What a plain implementation knows of each key. */
struct model_key {
    bool held;
    struct kvc_set_assoc_item item;
    uint32_t moved; /* step at which it came to the front of the queue */
};

/* The table, and a plain implementation that it is compared with. */
struct model {
    struct kvc_chained *table;
    struct model_key keys[2000];
    uint32_t ids, longest;
    uint32_t step, now;
    uint64_t used;
    struct kvc_index_stats stats, expected;
};

/* Evicts the key that was moved longest ago if the table holds too many keys; returns its item. */
static struct kvc_set_assoc_item make_room(struct model *model)
{
    struct model_key *last = NULL;
    for (uint32_t i = 0; i < model->ids; i++) {
        if (model->keys[i].held && (last == NULL || model->keys[i].moved < last->moved)) {
            last = &model->keys[i];
        }
    }
    if (model->used <= model->table->table.capacity) {
        return nothing;
    }
    last->held = false;
    model->expected.evicted++;
    model->used--;
    return last->item;
}

static void compare_set(struct model *model, uint32_t id)
{
    struct key bytes = key_of(id, model->longest);
    struct model_key *key = &model->keys[id];
    struct kvc_set_assoc_item item = random_item(model->now), left = key->item;
    model->expected.replaced += key->held;
    model->used += !key->held;
    if (!key->held) {
        left = make_room(model);
    }
    key->held = true;
    key->item = item;
    key->moved = model->step;
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
    if (key->held && model->now - key->item.stamp >= model->table->table.bump_after) {
        key->item.stamp = model->now;
        key->moved = model->step;
    }
    model->expected.search_hits += key->held;
    cr_assert(equal(get(model->table, &bytes, model->now, &model->stats), key->held ? key->item : nothing),
              "step %u: get", model->step);
    model->expected.searches++;
}

/* Compares random operations with the model. Timestamps wrap around on the way. */
static void against_model(uint32_t buckets, uint32_t capacity, uint32_t longest, uint32_t bump_after,
                          uint32_t ids, uint32_t steps)
{
    static struct model model;
    memset(&model, 0, sizeof(model));
    model.table = kvc_chained_create(&(struct kvc_chained_params){buckets, capacity, longest, bump_after});
    cr_assert_not_null(model.table);
    model.ids = ids;
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
    kvc_chained_free(model.table);
}

Test(chained, rejects_bad_params)
{
    struct kvc_chained_params bad[] = {{0, 10, 8, 0}, {3, 10, 8, 0},   {4, 0, 8, 0},
                                       {4, 10, 0, 0}, {4, 10, 251, 0}, {4, 0x80000001u, 8, 0}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        errno = 0;
        cr_expect_null(kvc_chained_create(&bad[i]), "case %zu", i);
        cr_expect_eq(errno, EINVAL, "case %zu", i);
    }
    kvc_chained_free(NULL);
}

Test(chained, behaves_as_a_map_with_one_lru_queue)
{
    against_model(64, 100, 8, 0, 250, 15000);
    against_model(1, 40, 48, 0, 100, 15000);
    against_model(1024, 300, 250, 0, 600, 15000);
    against_model(32, 60, 16, 50, 120, 15000);
    against_model(2, 1, 8, 0, 20, 3000);
    against_model(2, 2, 1, 10, 20, 3000);
}

/* In a chain of a single bucket, entries are erased at the head, in the middle and at the end. */
Test(chained, leaves_a_chain_anywhere)
{
    enum { COUNT = 5 };
    for (uint32_t gone = 0; gone < COUNT; gone++) {
        struct kvc_chained *table = kvc_chained_create(&(struct kvc_chained_params){1, COUNT, 20, 0});
        struct kvc_index_stats stats = {0};
        for (uint32_t i = 0; i < COUNT; i++) {
            struct key key = key_of(i, 20);
            set(table, &key, (struct kvc_set_assoc_item){.location = i}, i, &stats);
        }
        struct key key = key_of(gone, 20), more = key_of(77, 20);
        cr_assert_eq(erase(table, &key, KVC_LOCATION_ANY, &stats).location, gone);
        cr_assert(equal(set(table, &more, (struct kvc_set_assoc_item){.location = 77}, 10, &stats), nothing));
        for (uint32_t i = 0; i < COUNT; i++) {
            key = key_of(i, 20);
            cr_assert_eq(get(table, &key, 20 + i, &stats).location, i == gone ? KVC_LOCATION_NONE : i);
        }
        cr_assert_eq(get(table, &more, 30, &stats).location, 77);
        cr_assert_eq(kvc_index_used(&table->index), COUNT);
        kvc_chained_free(table);
    }
}

/* However long the chains are, nothing is lost before the table is full, and then exactly the oldest key is.
 */
Test(chained, fills_to_the_failure_point)
{
    enum { CAPACITY = 50000 };
    struct kvc_chained *table = kvc_chained_create(&(struct kvc_chained_params){1 << 12, CAPACITY, 8, 0});
    struct kvc_index_stats stats = {0};
    for (uint32_t i = 0; i < 2 * CAPACITY; i++) {
        uint64_t hash = i * UINT64_C(0x9e3779b97f4a7c15);
        uint32_t out;
        kvc_index_insert(&table->index, &hash, &i, 1, &out, &stats);
        cr_assert_eq(out, i < CAPACITY ? KVC_LOCATION_NONE : i - CAPACITY);
    }
    cr_assert_eq(stats.evicted, CAPACITY);
    cr_assert_eq(kvc_index_used(&table->index), CAPACITY);
    kvc_chained_free(table);
}

/* An access to the newest element moves nothing. */
Test(chained, newest_needs_no_move)
{
    struct kvc_chained *table = kvc_chained_create(&(struct kvc_chained_params){64, 10, 8, 0});
    struct kvc_index_stats stats = {0};
    uint64_t hash[2] = {1, 2};
    uint32_t location[2] = {10, 20}, out;
    kvc_index_insert(&table->index, hash, location, 2, NULL, &stats);
    kvc_index_search(&table->index, &hash[1], 1, &out, &stats);
    cr_assert_eq(stats.search_lines, 2);
    kvc_index_search(&table->index, &hash[0], 1, &out, &stats);
    cr_assert_eq(stats.search_lines,
                 2 + 2 + 2); /* the only other element leaves the queue and returns in front of it */
    kvc_chained_free(table);
}

/* A search that moves nothing touches the head and half of the chain in front of the key. */
Test(chained, lines_touched)
{
    enum { COUNT = 1 << 14 };
    static uint64_t hash[COUNT];
    static uint32_t location[COUNT];
    for (uint32_t moving = 0; moving < 2; moving++) {
        struct kvc_chained *table =
            kvc_chained_create(&(struct kvc_chained_params){COUNT, COUNT, 8, moving != 0 ? 0 : 1u << 31});
        struct kvc_index_stats stats = {0};
        for (uint32_t i = 0; i < COUNT; i++) {
            hash[i] = random_word();
            location[i] = i;
        }
        kvc_index_insert(&table->index, hash, location, COUNT, NULL, &stats);
        for (uint32_t i = 0; i + 1 < COUNT; i++) {
            uint32_t other = i + (uint32_t)(random_word() % (COUNT - i));
            uint64_t its = hash[i];
            hash[i] = hash[other];
            hash[other] = its;
        }
        kvc_index_search(&table->index, hash, COUNT, location, &stats);
        cr_assert_eq(stats.search_hits, COUNT);
        /* With one entry per head, a hit touches the head, its entry and half an entry in front of it. If it
         * moves, it also touches two neighbours and the front of the queue. */
        double lines = (double)stats.search_lines / COUNT, expected = 2.5 + 3 * moving;
        cr_assert(lines > expected - 0.05 && lines < expected + 0.05, "%f lines", lines);
        stats.search_lines = 0;
        for (uint32_t i = 0; i < COUNT; i++) {
            hash[i] = random_word();
        }
        kvc_index_search(&table->index, hash, COUNT, location, &stats);
        lines = (double)stats.search_lines / COUNT;
        cr_assert(lines > 1.95 && lines < 2.05, "%f lines of a miss", lines);
        kvc_chained_free(table);
    }
}

/* Keys that are prefixes of each other differ, because padding is not part of a key; keys of invalid length
 * are refused. */
Test(chained, zero_and_maximum_sizes)
{
    struct kvc_chained *table = kvc_chained_create(&(struct kvc_chained_params){64, 250, 250, 0});
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
    kvc_chained_insert(table, &keys, &item, 1, 1003, &left, &stats);
    cr_assert_eq(left.location, 8);
    kvc_chained_search(table, &keys, 1, 1003, &left, &stats);
    cr_assert(equal(left, nothing));
    key.length = 3;
    item.location = KVC_LOCATION_ANY; /* not a valid location */
    cr_assert_eq(set(table, &key, item, 1004, &stats).location, KVC_LOCATION_ANY);
    cr_assert_eq(get(table, &key, 1005, &stats).location, 3);
    cr_assert_eq(stats.dropped, 3);
    cr_assert_eq(kvc_index_used(&table->index), 250);
    kvc_chained_free(table);
}

/* A batch of any size does what its operations do one by one. */
Test(chained, batches_are_in_order)
{
    enum { COUNT = 500, ROUNDS = 60 };
    struct kvc_chained *one = kvc_chained_create(&(struct kvc_chained_params){64, 150, 20, 0}),
                       *many = kvc_chained_create(&(struct kvc_chained_params){64, 150, 20, 0});
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
            kvc_chained_insert(many, &keys, item, count, now, out, &many_stats);
        } else if (round % 3 == 1) {
            kvc_chained_search(many, &keys, count, now, out, &many_stats);
        } else {
            kvc_chained_erase(many, &keys, location, count / 8, out, &many_stats);
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
    kvc_chained_free(one);
    kvc_chained_free(many);
}
