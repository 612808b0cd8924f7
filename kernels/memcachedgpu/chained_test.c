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
    uint32_t moved; /* when it came to the front of the queue */
};

/* Who has to leave a full table for a new key. */
static struct model_key *make_room(struct model_key *keys, uint32_t ids, uint64_t used, uint32_t capacity)
{
    struct model_key *last = NULL;
    for (uint32_t i = 0; i < ids; i++) {
        if (keys[i].held && (last == NULL || keys[i].moved < last->moved)) {
            last = &keys[i];
        }
    }
    return used > capacity ? last : NULL;
}

/* Random operations against the model. Timestamps wrap on the way. */
static void against_model(uint32_t buckets, uint32_t capacity, uint32_t longest, uint32_t bump_after,
                          uint32_t ids, uint32_t steps)
{
    static struct model_key keys[2000];
    memset(keys, 0, sizeof(keys));
    struct kvc_chained *table =
        kvc_chained_create(&(struct kvc_chained_params){buckets, capacity, longest, bump_after});
    cr_assert_not_null(table);
    struct kvc_index_stats stats = {0}, expected = {0};
    uint32_t now = 0xffffffffu - steps / 2;
    uint64_t used = 0;
    for (uint32_t step = 0; step < steps; step++, now++) {
        uint32_t id = (uint32_t)(random_word() % ids);
        struct key bytes = key_of(id, longest);
        struct model_key *key = &keys[id];
        struct kvc_set_assoc_item right = key->held ? key->item : nothing;
        switch (random_word() % 8) {
        case 0:
        case 1:
        case 2: {
            struct kvc_set_assoc_item item = {.location = (uint32_t)(random_word() % 1000),
                                              .value_bytes = (uint32_t)random_word(),
                                              .stamp = now,
                                              .flags = (uint16_t)random_word()};
            expected.replaced += key->held;
            used += !key->held;
            if (!key->held) {
                struct model_key *victim = make_room(keys, ids, used, capacity);
                if (victim != NULL) {
                    right = victim->item;
                    victim->held = false;
                    expected.evicted++;
                    used--;
                }
            }
            key->held = true;
            key->item = item;
            key->moved = step;
            cr_assert(equal(set(table, &bytes, item, now, &stats), right), "step %u: set", step);
            expected.inserts++;
            break;
        }
        case 3: {
            uint32_t location = random_word() % 2 == 0   ? KVC_LOCATION_ANY
                                : random_word() % 2 == 0 ? key->item.location
                                                         : (uint32_t)(random_word() % 1000);
            bool gone = key->held && (location == KVC_LOCATION_ANY || location == key->item.location);
            cr_assert(equal(erase(table, &bytes, location, &stats), gone ? right : nothing), "step %u: erase",
                      step);
            key->held &= !gone;
            used -= gone;
            expected.erased += gone;
            expected.erases++;
            break;
        }
        default:
            if (key->held) {
                if (now - key->item.stamp >= bump_after) {
                    key->item.stamp = now;
                    key->moved = step;
                }
                right = key->item;
                expected.search_hits++;
            }
            cr_assert(equal(get(table, &bytes, now, &stats), right), "step %u: get", step);
            expected.searches++;
            break;
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
    cr_expect_gt(expected.erased, 0);
    cr_expect_gt(expected.search_hits, 0);
    kvc_chained_free(table);
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

/* One bucket, so one chain: taken out at its head, in its middle and at its end. */
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

/* Nothing is lost before the table is full, however long the chains; then exactly the oldest. */
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

/* The front of the queue stays there. */
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
    cr_assert_eq(stats.search_lines, 2 + 2 + 2); /* the only other element leaves it and goes before it */
    kvc_chained_free(table);
}

/* Searches that move nothing: the head, and half the chain in front of the key. */
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
        /* With one entry per head: head, entry, and half an entry in front of it. Two neighbours and the
         * queue's front where it moves. */
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

/* Keys of which one is the beginning of the other: padding is no key byte. Lengths that no key has. */
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
    item.location = KVC_LOCATION_ANY; /* no location */
    cr_assert_eq(set(table, &key, item, 1004, &stats).location, KVC_LOCATION_ANY);
    cr_assert_eq(get(table, &key, 1005, &stats).location, 3);
    cr_assert_eq(stats.dropped, 3);
    cr_assert_eq(kvc_index_used(&table->index), 250);
    kvc_chained_free(table);
}

/* A batch of any size gives what its operations one by one give. */
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
