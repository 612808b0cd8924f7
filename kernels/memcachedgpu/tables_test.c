#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/memcachedgpu/chained.h"
#include "kernels/memcachedgpu/hopscotch.h"
#include "kernels/memcachedgpu/set_assoc.h"
#include "kernels/random_fixture.h"

static const struct kvc_set_assoc_item nothing = {.location = KVC_LOCATION_NONE};

struct key {
    uint8_t bytes[255];
    uint8_t length;
};

/* Returns key number `id`, whose length (up to `longest`) and bytes depend on nothing else. */
static struct key key_of(uint32_t id, uint32_t longest)
{
    struct key key;
    uint32_t shortest = longest < 4 ? longest : 4;
    key.length = (uint8_t)(shortest + id % (longest - shortest + 1));
    for (uint32_t i = 0; i < key.length; i++) {
        key.bytes[i] = (uint8_t)(i < 4 ? id >> 8 * i : id * 7 + i);
    }
    return key;
}

static struct kvc_table_key view(const struct key *key)
{
    return (struct kvc_table_key){key->bytes, key->length};
}

/* Two items without a location are equal, whatever else they contain. */
static bool equal(struct kvc_set_assoc_item a, struct kvc_set_assoc_item b)
{
    return a.location == b.location &&
           (a.location == KVC_LOCATION_NONE ||
            (a.value_bytes == b.value_bytes && a.flags == b.flags && a.stamp == b.stamp));
}

static struct kvc_set_assoc_item get(struct kvc_table *table, const struct key *key, uint32_t now,
                                     struct kvc_index_stats *stats)
{
    uint32_t zero = 0;
    struct kvc_set_assoc_item item;
    kvc_table_search(table, &(struct kvc_set_assoc_keys){key->bytes, &zero, &key->length}, 1, now, &item,
                     stats);
    return item;
}

static struct kvc_set_assoc_item set(struct kvc_table *table, const struct key *key,
                                     struct kvc_set_assoc_item item, uint32_t now,
                                     struct kvc_index_stats *stats)
{
    uint32_t zero = 0;
    struct kvc_set_assoc_item left;
    kvc_table_insert(table, &(struct kvc_set_assoc_keys){key->bytes, &zero, &key->length}, &item, 1, now,
                     &left, stats);
    return left;
}

/* Stores an item that has a location only. */
static struct kvc_set_assoc_item put(struct kvc_table *table, const struct key *key, uint32_t location,
                                     uint32_t now, struct kvc_index_stats *stats)
{
    return set(table, key, (struct kvc_set_assoc_item){.location = location}, now, stats);
}

static struct kvc_set_assoc_item erase(struct kvc_table *table, const struct key *key, uint32_t location,
                                       struct kvc_index_stats *stats)
{
    uint32_t zero = 0;
    struct kvc_set_assoc_item left;
    kvc_table_erase(table, &(struct kvc_set_assoc_keys){key->bytes, &zero, &key->length}, &location, 1, &left,
                    stats);
    return left;
}

/* --- the three kinds, each with a plain implementation that it is compared with --- */

enum kind { SETS, HOPSCOTCH, CHAINED, KINDS };

/* Geometry of a table: sets and ways, homes and neighbours, or buckets and entries; `option` is whether
 * searches take the shared lock of a set, or the chained table's bump_after. */
struct shape {
    enum kind kind;
    uint32_t buckets, entries, longest, option;
};

static struct kvc_table *try_create(const struct shape *shape)
{
    struct kvc_set_assoc *sets = NULL;
    struct kvc_hopscotch *hopscotch = NULL;
    struct kvc_chained *chained = NULL;
    switch (shape->kind) {
    case SETS:
        sets = kvc_set_assoc_create(&(struct kvc_set_assoc_params){shape->buckets, shape->entries,
                                                                   shape->longest, shape->option != 0});
        return sets != NULL ? &sets->base : NULL;
    case HOPSCOTCH:
        hopscotch = kvc_hopscotch_create(
            &(struct kvc_hopscotch_params){shape->buckets, shape->entries, shape->longest});
        return hopscotch != NULL ? &hopscotch->base : NULL;
    default:
        chained = kvc_chained_create(
            &(struct kvc_chained_params){shape->buckets, shape->entries, shape->longest, shape->option});
        return chained != NULL ? &chained->base : NULL;
    }
}

static struct kvc_table *create(const struct shape *shape)
{
    struct kvc_table *table = try_create(shape);
    cr_assert_not_null(table);
    cr_assert_eq(kvc_index_used(&table->index), 0);
    return table;
}

/* What a plain implementation knows of each key. */
struct model_key {
    bool held;
    uint32_t place; /* its set, or the entry of the hopscotch table that it is in */
    uint32_t moved; /* step at which it came to the front of the chained table's queue */
    struct kvc_set_assoc_item item;
};

enum { IDS_MAX = 1000, ENTRIES_MAX = 400, NOBODY = 0xffffffff };

/* A table and its plain implementation. */
struct model {
    const struct shape *shape;
    struct kvc_table *table;
    struct model_key keys[IDS_MAX];
    uint32_t owner[ENTRIES_MAX]; /* key of each entry of the hopscotch table, or NOBODY */
    uint32_t ids;
    uint32_t step, now;
    uint64_t used;
    struct kvc_index_stats stats, expected;
};

static struct kvc_set_assoc_item evict(struct model *model, struct model_key *victim)
{
    victim->held = false;
    model->expected.evicted++;
    model->used--;
    return victim->item;
}

/* Evicts the key with the oldest timestamp from a full set. */
static struct kvc_set_assoc_item room_in_set(struct model *model, const struct key *bytes, uint32_t id)
{
    uint32_t count = 0;
    struct model_key *oldest = NULL;
    struct kvc_set_assoc *table = (struct kvc_set_assoc *)model->table;
    uint32_t wanted = kvc_set_assoc_place(&table->table, bytes->bytes, bytes->length).set;
    for (uint32_t i = 0; i < model->ids; i++) {
        struct model_key *key = &model->keys[i];
        if (key->held && key->place == wanted) {
            count++;
            if (oldest == NULL || model->now - key->item.stamp > model->now - oldest->item.stamp) {
                oldest = key;
            }
        }
    }
    model->keys[id].place = wanted;
    return count < table->table.ways ? nothing : evict(model, oldest);
}

/* Finds the entry for a new key, and evicts the oldest key of a full neighbourhood. */
static struct kvc_set_assoc_item room_in_neighbourhood(struct model *model, const struct key *bytes,
                                                       uint32_t id)
{
    const struct kvc_hopscotch_table *table = &((struct kvc_hopscotch *)model->table)->table;
    struct model_key *keys = model->keys;
    uint32_t home = kvc_hopscotch_place(table, view(bytes)).home, best = home;
    for (uint32_t e = home; e < home + table->neighbours; e++) {
        uint32_t other = model->owner[e];
        if (other == NOBODY || !keys[other].held || keys[other].place != e) {
            keys[id].place = e;
            model->owner[e] = id;
            return nothing;
        }
        if (model->now - keys[other].item.stamp > model->now - keys[model->owner[best]].item.stamp) {
            best = e;
        }
    }
    uint32_t victim = model->owner[best];
    keys[id].place = best;
    model->owner[best] = id;
    return evict(model, &keys[victim]);
}

/* Evicts the key that was moved longest ago if the table is full. */
static struct kvc_set_assoc_item room_in_queue(struct model *model)
{
    struct model_key *last = NULL;
    for (uint32_t i = 0; i < model->ids; i++) {
        if (model->keys[i].held && (last == NULL || model->keys[i].moved < last->moved)) {
            last = &model->keys[i];
        }
    }
    return model->used < model->shape->entries ? nothing : evict(model, last);
}

/* Makes room for a new key; returns the item that has to leave. */
static struct kvc_set_assoc_item make_room(struct model *model, const struct key *bytes, uint32_t id)
{
    return model->shape->kind == SETS        ? room_in_set(model, bytes, id)
           : model->shape->kind == HOPSCOTCH ? room_in_neighbourhood(model, bytes, id)
                                             : room_in_queue(model);
}

static void compare_set(struct model *model, uint32_t id)
{
    struct key bytes = key_of(id, model->shape->longest);
    struct model_key *key = &model->keys[id];
    struct kvc_set_assoc_item left = key->item, item = {.location = (uint32_t)(random_word() % 1000),
                                                        .value_bytes = (uint32_t)random_word(),
                                                        .stamp = model->now,
                                                        .flags = (uint16_t)random_word()};
    model->expected.replaced += key->held;
    if (!key->held) {
        left = make_room(model, &bytes, id);
        model->used++;
    }
    key->held = true;
    key->item = item;
    key->moved = model->step;
    struct kvc_set_assoc_item got = set(model->table, &bytes, item, model->now, &model->stats);
    cr_assert(equal(got, left), "step %u: %u left, not %u", model->step, got.location, left.location);
    model->expected.inserts++;
}

static void compare_erase(struct model *model, uint32_t id)
{
    struct key bytes = key_of(id, model->shape->longest);
    struct model_key *key = &model->keys[id];
    uint32_t location = random_word() % 2 == 0   ? KVC_LOCATION_ANY
                        : random_word() % 2 == 0 ? key->item.location
                                                 : (uint32_t)(random_word() % 1000);
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
    struct key bytes = key_of(id, model->shape->longest);
    struct model_key *key = &model->keys[id];
    uint32_t bump_after = model->shape->kind == CHAINED ? model->shape->option : 0;
    if (key->held && model->now - key->item.stamp >= bump_after) {
        key->item.stamp = model->now;
        key->moved = model->step;
    }
    cr_assert(equal(get(model->table, &bytes, model->now, &model->stats), key->held ? key->item : nothing),
              "step %u: get", model->step);
    model->expected.search_hits += key->held;
    model->expected.searches++;
}

/* Compares random operations with the model. Timestamps wrap around on the way. */
static void against_model(struct shape shape, uint32_t ids, uint32_t steps)
{
    static struct model model;
    memset(&model, 0, sizeof(model));
    memset(model.owner, 0xff, sizeof(model.owner));
    model.shape = &shape;
    model.table = create(&shape);
    model.ids = ids;
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
    cr_expect_eq(model.stats.replaced, model.expected.replaced);
    cr_expect_eq(model.stats.evicted, model.expected.evicted);
    cr_expect_eq(model.stats.erased, model.expected.erased);
    cr_expect_eq(model.stats.search_hits, model.expected.search_hits);
    cr_expect_eq(model.stats.searches, model.expected.searches);
    cr_expect_eq(model.stats.inserts, model.expected.inserts);
    cr_expect_eq(model.stats.erases, model.expected.erases);
    cr_expect_eq(model.stats.dropped, 0);
    cr_expect_gt(model.expected.evicted, 0);
    cr_expect_gt(model.expected.search_hits, 0);
    cr_expect_gt(model.expected.erased, 0);
    kvc_index_free(&model.table->index);
}

/* --- what holds for each kind --- */

Test(tables, bad_params_are_rejected)
{
    static const struct shape bad[] = {
        {SETS, 0, 16, 8, 0},        {SETS, 4, 0, 8, 0},
        {SETS, 4, 3, 8, 0},         {SETS, 4, 32, 8, 0},
        {SETS, 4, 12, 16, 0},       {SETS, 4, 16, 0, 0},
        {SETS, 4, 16, 251, 0},      {HOPSCOTCH, 0, 16, 8, 0},
        {HOPSCOTCH, 4, 4, 8, 0},    {HOPSCOTCH, 4, 24, 8, 0},
        {HOPSCOTCH, 4, 64, 8, 0},   {HOPSCOTCH, 4, 16, 0, 0},
        {HOPSCOTCH, 4, 16, 251, 0}, {HOPSCOTCH, 1u << 31 | 1, 16, 8, 0},
        {CHAINED, 0, 10, 8, 0},     {CHAINED, 3, 10, 8, 0},
        {CHAINED, 4, 0, 8, 0},      {CHAINED, 4, 10, 0, 0},
        {CHAINED, 4, 10, 251, 0},   {CHAINED, 4, 1u << 31 | 1, 8, 0},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        errno = 0;
        cr_expect_null(try_create(&bad[i]), "case %zu", i);
        cr_expect_eq(errno, EINVAL, "case %zu", i);
    }
    kvc_set_assoc_free(NULL);
    kvc_hopscotch_free(NULL);
    kvc_chained_free(NULL);
}

Test(tables, sets_agree_with_a_plain_implementation)
{
    for (uint32_t ways = 1; ways <= 16; ways *= 2) {
        against_model((struct shape){SETS, 256 / ways, ways, 8, false}, 600, 20000);
    }
    against_model((struct shape){SETS, 13, 16, 16, false}, 600, 20000);
    against_model((struct shape){SETS, 13, 16, 48, true}, 600, 20000);
    against_model((struct shape){SETS, 7, 16, 250, false}, 600, 20000);
    against_model((struct shape){SETS, 7, 4, 49, true}, 600, 20000);
    against_model((struct shape){SETS, 1, 16, 100, false}, 600, 20000);
}

Test(tables, neighbourhoods_agree_with_a_plain_implementation)
{
    against_model((struct shape){HOPSCOTCH, 200, 16, 8, 0}, 600, 30000);
    against_model((struct shape){HOPSCOTCH, 200, 0, 8, 0}, 240, 30000);
    against_model((struct shape){HOPSCOTCH, 300, 8, 48, 0}, 1000, 30000);
    against_model((struct shape){HOPSCOTCH, 100, 32, 250, 0}, 500, 30000);
    against_model((struct shape){HOPSCOTCH, 1, 16, 16, 0}, 100, 5000);
    against_model((struct shape){HOPSCOTCH, 2, 8, 1, 0}, 200, 5000);
}

Test(tables, chains_agree_with_a_plain_implementation)
{
    against_model((struct shape){CHAINED, 64, 100, 8, 0}, 250, 15000);
    against_model((struct shape){CHAINED, 1, 40, 48, 0}, 100, 15000);
    against_model((struct shape){CHAINED, 1024, 300, 250, 0}, 600, 15000);
    against_model((struct shape){CHAINED, 32, 60, 16, 50}, 120, 15000);
    against_model((struct shape){CHAINED, 2, 1, 8, 0}, 20, 3000);
    against_model((struct shape){CHAINED, 2, 2, 1, 10}, 20, 3000);
}

/* Keys that are prefixes of each other differ, because padding is not part of a key; keys of invalid length
 * and reserved locations are refused. */
Test(tables, zero_and_maximum_sizes)
{
    static const struct shape shapes[] = {
        {SETS, 2000, 16, 250, 0}, {HOPSCOTCH, 2000, 32, 250, 0}, {CHAINED, 64, 250, 250, 0}};
    for (size_t s = 0; s < KINDS; s++) {
        struct kvc_table *table = create(&shapes[s]);
        struct kvc_index_stats stats = {0};
        struct key key;
        memset(&key, 0, sizeof(key));
        for (uint32_t length = 1; length <= 250; length++) {
            key.length = (uint8_t)length;
            cr_assert(equal(put(table, &key, length, length, &stats), nothing));
        }
        for (uint32_t length = 1; length <= 250; length++) {
            key.length = (uint8_t)length;
            cr_assert_eq(get(table, &key, 1000, &stats).location, length);
        }
        static const uint8_t refused[] = {0, 251, 255};
        for (uint32_t i = 0; i < sizeof(refused); i++) {
            key.length = refused[i];
            cr_assert_eq(put(table, &key, 7, 1001, &stats).location, 7);
            cr_assert(equal(get(table, &key, 1002, &stats), nothing));
            cr_assert(equal(erase(table, &key, KVC_LOCATION_ANY, &stats), nothing));
        }
        key.length = 3;
        cr_assert_eq(put(table, &key, KVC_LOCATION_ANY, 1004, &stats).location, KVC_LOCATION_ANY);
        cr_assert_eq(get(table, &key, 1005, &stats).location, 3);
        cr_assert_eq(stats.dropped, 4);
        cr_assert_eq(kvc_index_used(&table->index), 250);
        kvc_index_free(&table->index);
    }
}

/* The arrays of a random batch. */
enum { BATCH_MAX = 500 };
struct batch {
    struct key key[BATCH_MAX];
    struct kvc_set_assoc_item item[BATCH_MAX], out[BATCH_MAX];
    uint32_t offset[BATCH_MAX], location[BATCH_MAX];
    uint8_t length[BATCH_MAX];
};

static void make_batch(struct batch *batch, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        batch->key[i] = key_of((uint32_t)(random_word() % 600), 20);
        batch->offset[i] = (uint32_t)((const uint8_t *)batch->key[i].bytes - batch->key[0].bytes);
        batch->length[i] = batch->key[i].length;
        batch->item[i] =
            (struct kvc_set_assoc_item){.location = (uint32_t)(random_word() % 1000), .flags = 3};
        batch->location[i] = i % 2 != 0 ? KVC_LOCATION_ANY : (uint32_t)(random_word() % 1000);
    }
}

/* Does a batch on one table at once and on the other one by one. */
static void compare_batch(struct kvc_table *one, struct kvc_table *many, struct kvc_index_stats stats[2],
                          uint32_t round, uint32_t count, uint32_t now)
{
    static struct batch batch;
    make_batch(&batch, count);
    struct kvc_set_assoc_keys keys = {batch.key[0].bytes, batch.offset, batch.length};
    uint32_t operation = round % 3, *location = round % 2 == 0 ? batch.location : NULL;
    if (operation == 0) {
        kvc_table_insert(many, &keys, batch.item, count, now, batch.out, &stats[1]);
    } else if (operation == 1) {
        kvc_table_search(many, &keys, count, now, batch.out, &stats[1]);
    } else {
        count /= 8;
        kvc_table_erase(many, &keys, location, count, batch.out, &stats[1]);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t wanted = location != NULL ? location[i] : KVC_LOCATION_ANY;
        struct kvc_set_assoc_item right = operation == 0
                                              ? set(one, &batch.key[i], batch.item[i], now + i, &stats[0])
                                          : operation == 1 ? get(one, &batch.key[i], now, &stats[0])
                                                           : erase(one, &batch.key[i], wanted, &stats[0]);
        cr_assert(equal(batch.out[i], right), "round %u, operation %u of %u", round, i, count);
    }
}

Test(tables, batches_equal_single_operations)
{
    static const struct shape shapes[] = {
        {SETS, 5, 16, 20, 0}, {HOPSCOTCH, 150, 16, 20, 0}, {CHAINED, 64, 150, 20, 0}};
    static const uint32_t sizes[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 96, 128};
    for (size_t s = 0; s < KINDS; s++) {
        struct kvc_table *one = create(&shapes[s]), *many = create(&shapes[s]);
        struct kvc_index_stats stats[2];
        memset(stats, 0, sizeof(stats));
        uint32_t now = 0;
        for (uint32_t round = 0; round < 66; round++) {
            uint32_t count = round % 2 == 0 ? sizes[round / 2 % (sizeof(sizes) / sizeof(*sizes))]
                                            : (uint32_t)(random_word() % (BATCH_MAX + 1));
            compare_batch(one, many, stats, round, count, now);
            now += count + 1;
        }
        cr_assert_eq(memcmp(&stats[0], &stats[1], sizeof(*stats)), 0);
        cr_assert_gt(stats[0].evicted, 0);
        cr_assert_gt(stats[0].erased, 0);
        if (shapes[s].kind == SETS) {
            struct kvc_set_assoc *a = (struct kvc_set_assoc *)one, *b = (struct kvc_set_assoc *)many;
            size_t bytes = a->table.set_count * (size_t)a->table.set_bytes;
            cr_expect_eq(memcmp(a->table.sets, b->table.sets, bytes), 0);
        }
        kvc_index_free(&one->index);
        kvc_index_free(&many->index);
    }
}

/* Returns the bucket and tag of a key. */
static uint64_t place_of(enum kind kind, struct kvc_table *table, const struct key *key)
{
    if (kind == SETS) {
        struct kvc_set_assoc_place place =
            kvc_set_assoc_place(&((struct kvc_set_assoc *)table)->table, key->bytes, key->length);
        return (uint64_t)place.set << 8 | place.tag;
    }
    const struct kvc_hopscotch *hopscotch = (const struct kvc_hopscotch *)table;
    struct kvc_hopscotch_place place = kvc_hopscotch_place(&hopscotch->table, view(key));
    cr_assert(place.home < hopscotch->table.homes && place.tag > 0 && place.tag < 256);
    return (uint64_t)place.home << 8 | place.tag;
}

/* Keys with the same bucket and the same tag are told apart; when one in the middle is erased, its place is
 * used again. */
Test(tables, equal_tags_are_told_apart_by_key)
{
    enum { WANTED = 17 };
    static const struct shape shapes[] = {{SETS, 1, 16, 250, 0}, {HOPSCOTCH, 40, 16, 20, 0}};
    for (size_t s = 0; s < sizeof(shapes) / sizeof(*shapes); s++) {
        struct kvc_table *table = create(&shapes[s]);
        struct kvc_index_stats stats = {0};
        struct key keys[WANTED];
        uint64_t first = 0;
        for (uint32_t id = 0, found = 0; found < WANTED; id++) {
            struct key key = key_of(id, shapes[s].longest);
            uint64_t place = place_of(shapes[s].kind, table, &key);
            first = found == 0 ? place : first;
            if (place == first) {
                keys[found++] = key;
            }
        }
        for (uint32_t i = 0; i < 16; i++) {
            cr_assert(equal(put(table, &keys[i], i, i, &stats), nothing));
        }
        for (uint32_t i = 0; i < 16; i++) {
            cr_assert_eq(get(table, &keys[i], 20 + i, &stats).location, i);
        }
        cr_assert(equal(get(table, &keys[16], 50, &stats), nothing));
        cr_assert_eq(erase(table, &keys[7], KVC_LOCATION_ANY, &stats).location, 7);
        cr_assert(equal(get(table, &keys[7], 51, &stats), nothing));
        cr_assert_eq(get(table, &keys[8], 52, &stats).location, 8);
        cr_assert(equal(put(table, &keys[16], 16, 53, &stats), nothing));
        /* The bucket is full, so the oldest key leaves. */
        cr_assert_eq(put(table, &keys[7], 7, 54, &stats).location, 0);
        for (uint32_t i = 1; i < WANTED; i++) {
            cr_assert_eq(get(table, &keys[i], 55, &stats).location, i);
        }
        cr_assert_eq(kvc_index_used(&table->index), 16);
        kvc_index_free(&table->index);
    }
}

/* --- the set-associative table --- */

/* The counted lines follow the layout: 1 for a miss, 2 for a hit with a key of up to 48 bytes, 1 more for
 * each further 64 bytes, and the lines of entries with equal tags. */
Test(set_assoc, touches_the_lines_it_promises)
{
    static const struct {
        uint32_t key_bytes, hit_lines;
    } cases[] = {{8, 2}, {16, 2}, {48, 2}, {49, 3}, {112, 3}, {113, 4}, {250, 6}};
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        struct kvc_set_assoc *table =
            kvc_set_assoc_create(&(struct kvc_set_assoc_params){64, 16, cases[c].key_bytes, false});
        struct kvc_index_stats stats = {0}, miss = {0}, hit = {0};
        struct key first = key_of(1, cases[c].key_bytes), other = key_of(2, cases[c].key_bytes);
        first.length = (uint8_t)cases[c].key_bytes;
        cr_assert_eq(get(&table->base, &other, 1, &miss).location, KVC_LOCATION_NONE);
        cr_expect_eq(miss.search_lines, 1);
        put(&table->base, &first, 1, 1, &stats);
        cr_expect_eq(stats.insert_lines, cases[c].hit_lines);
        cr_assert_eq(get(&table->base, &first, 2, &hit).location, 1);
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

/* --- the hopscotch table --- */

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
        kvc_index_insert(&table->base.index, &hash, &location, 1, &out, &stats);
        reported += out != KVC_LOCATION_NONE;
        first_loss = first_loss == 0 && out != KVC_LOCATION_NONE ? put : first_loss;
        kvc_index_insert(&sets->base.index, &hash, &location, 1, &out, &sets_stats);
        first_set_loss = first_set_loss == 0 && out != KVC_LOCATION_NONE ? put : first_set_loss;
    }
    cr_assert_eq(stats.evicted, reported);
    cr_assert_eq(kvc_index_used(&table->base.index) + reported, put);
    cr_assert_gt(first_loss, first_set_loss);
    cr_assert_gt((double)first_loss, 0.4 * HOMES);
    cr_assert_gt((double)kvc_index_used(&table->base.index), 0.98 * HOMES);
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
    kvc_index_insert(&table->base.index, hash, location, COUNT, NULL, &stats);
    kvc_index_search(&table->base.index, hash, COUNT, location, &stats);
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
    kvc_index_insert(&table->base.index, hash, location, 16, NULL, &stats);
    kvc_index_search(&table->base.index, hash, 1, out, &stats);
    kvc_index_insert(&table->base.index, &hash[16], &location[16], 1, out, &stats);
    cr_assert_eq(out[0], 1);
    kvc_index_search(&table->base.index, hash, 17, out, &stats); /* all but key 1, which has left */
    kvc_index_insert(&table->base.index, &hash[17], &location[17], 3, out, &stats);
    /* The nearest to the home of several equally old keys leaves first; key 16 has the place of key 1. */
    cr_assert_eq(out[0], 0);
    cr_assert_eq(out[1], 16);
    cr_assert_eq(out[2], 2);
    kvc_hopscotch_free(table);
}

/* --- the chained table --- */

/* In a chain of a single bucket, entries are erased at the head, in the middle and at the end. */
Test(chained, leaves_a_chain_anywhere)
{
    enum { COUNT = 5 };
    for (uint32_t gone = 0; gone < COUNT; gone++) {
        struct kvc_chained *table = kvc_chained_create(&(struct kvc_chained_params){1, COUNT, 20, 0});
        struct kvc_index_stats stats = {0};
        for (uint32_t i = 0; i < COUNT; i++) {
            struct key key = key_of(i, 20);
            put(&table->base, &key, i, i, &stats);
        }
        struct key key = key_of(gone, 20), more = key_of(77, 20);
        cr_assert_eq(erase(&table->base, &key, KVC_LOCATION_ANY, &stats).location, gone);
        cr_assert(equal(put(&table->base, &more, 77, 10, &stats), nothing));
        for (uint32_t i = 0; i < COUNT; i++) {
            key = key_of(i, 20);
            cr_assert_eq(get(&table->base, &key, 20 + i, &stats).location, i == gone ? KVC_LOCATION_NONE : i);
        }
        cr_assert_eq(get(&table->base, &more, 30, &stats).location, 77);
        cr_assert_eq(kvc_index_used(&table->base.index), COUNT);
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
        kvc_index_insert(&table->base.index, &hash, &i, 1, &out, &stats);
        cr_assert_eq(out, i < CAPACITY ? KVC_LOCATION_NONE : i - CAPACITY);
    }
    cr_assert_eq(stats.evicted, CAPACITY);
    cr_assert_eq(kvc_index_used(&table->base.index), CAPACITY);
    kvc_chained_free(table);
}

/* An access to the newest element moves nothing. */
Test(chained, newest_needs_no_move)
{
    struct kvc_chained *table = kvc_chained_create(&(struct kvc_chained_params){64, 10, 8, 0});
    struct kvc_index_stats stats = {0};
    uint64_t hash[2] = {1, 2};
    uint32_t location[2] = {10, 20}, out;
    kvc_index_insert(&table->base.index, hash, location, 2, NULL, &stats);
    kvc_index_search(&table->base.index, &hash[1], 1, &out, &stats);
    cr_assert_eq(stats.search_lines, 2);
    kvc_index_search(&table->base.index, &hash[0], 1, &out, &stats);
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
        kvc_index_insert(&table->base.index, hash, location, COUNT, NULL, &stats);
        for (uint32_t i = 0; i + 1 < COUNT; i++) {
            uint32_t other = i + (uint32_t)(random_word() % (COUNT - i));
            uint64_t its = hash[i];
            hash[i] = hash[other];
            hash[other] = its;
        }
        kvc_index_search(&table->base.index, hash, COUNT, location, &stats);
        cr_assert_eq(stats.search_hits, COUNT);
        /* With one entry per head, a hit touches the head, its entry and half an entry in front of it. If it
         * moves, it also touches two neighbours and the front of the queue. */
        double lines = (double)stats.search_lines / COUNT, expected = 2.5 + 3 * moving;
        cr_assert(lines > expected - 0.05 && lines < expected + 0.05, "%f lines", lines);
        stats.search_lines = 0;
        for (uint32_t i = 0; i < COUNT; i++) {
            hash[i] = random_word();
        }
        kvc_index_search(&table->base.index, hash, COUNT, location, &stats);
        lines = (double)stats.search_lines / COUNT;
        cr_assert(lines > 1.95 && lines < 2.05, "%f lines of a miss", lines);
        kvc_chained_free(table);
    }
}
