/* Batches of random operations, compared with a plain map. */
#include "kernels/mica/mica.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/mica/mica_fixture.h"

enum { BATCH = 80, ROUNDS = 700, ABSENT = 0 };

/* A key, whose size and bytes depend on its number. */
struct key {
    uint8_t data[KVC_MICA_KEY_MAX];
    uint8_t bytes;
};

/* The map: the last generation of each key's value, which is the serial number of the SET that stored it. */
struct map {
    struct kvc_mica *store;
    uint32_t ids;         /* Number of keys. */
    uint32_t *generation; /* Generation of each key; ABSENT: the key is not stored. */
    bool never_lost;      /* The store has room for all keys, so it may not forget any. */
    struct kvc_index_stats stats;
    uint64_t outcomes[5]; /* How many SETs had each outcome. */
    uint64_t hits;        /* GETs that found their key. */
    uint64_t misses;      /* GETs of a key that the store has forgotten. */
};

/* The keys of one call. */
struct batch {
    struct key key[BATCH];
    uint32_t id[BATCH];
    uint32_t offset[BATCH];
    uint8_t bytes[BATCH];
    uint8_t data[BATCH][128];
    uint32_t count;
};

static struct key key_of(uint32_t id)
{
    struct key key = {.bytes = (uint8_t)(id % 5 == 0 ? 4 + id % 252 : 4 + id % 20)};
    for (uint32_t i = 0; i < key.bytes; i++) {
        key.data[i] = (uint8_t)(i < 4 ? id >> 8 * i : id * 5 + i);
    }
    return key;
}

/* The size of a value and its bytes depend on the key's number and the generation. */
static uint32_t value_bytes_of(uint32_t id, uint32_t generation)
{
    return (id * 7 + generation * 13) % 90;
}

static void fill_value(uint8_t *data, uint32_t id, uint32_t generation)
{
    for (uint32_t i = 0; i < value_bytes_of(id, generation); i++) {
        data[i] = (uint8_t)(id * 31 + generation * 17 + i);
    }
}

static struct kvc_mica_keys choose_keys(const struct map *map, struct batch *batch)
{
    batch->count = (uint32_t)(random_word() % (BATCH + 1));
    for (uint32_t i = 0; i < batch->count; i++) {
        batch->id[i] = (uint32_t)(random_word() % map->ids);
        batch->key[i] = key_of(batch->id[i]);
        batch->offset[i] = (uint32_t)((const uint8_t *)batch->key[i].data - batch->key[0].data);
        batch->bytes[i] = batch->key[i].bytes;
    }
    return (struct kvc_mica_keys){batch->key[0].data, batch->offset, batch->bytes, NULL};
}

static void set_batch(struct map *map, struct batch *batch, const struct kvc_mica_keys *keys, uint32_t round)
{
    struct kvc_mica_value value[BATCH];
    uint8_t outcome[BATCH];
    for (uint32_t i = 0; i < batch->count; i++) {
        uint32_t generation = round * BATCH + i;
        fill_value(batch->data[i], batch->id[i], generation);
        value[i] = (struct kvc_mica_value){batch->data[i], value_bytes_of(batch->id[i], generation)};
    }
    kvc_mica_set(map->store, keys, value, batch->count, outcome, &map->stats);
    for (uint32_t i = 0; i < batch->count; i++) {
        uint32_t *generation = &map->generation[batch->id[i]];
        bool replaced = outcome[i] == KVC_MICA_IN_PLACE || outcome[i] == KVC_MICA_APPENDED;
        cr_assert_lt(outcome[i], 5);
        map->outcomes[outcome[i]]++;
        cr_assert(!replaced || *generation != ABSENT, "the store replaced a key that was not stored");
        cr_assert(replaced || *generation == ABSENT || !map->never_lost, "the store lost a key");
        *generation = round * BATCH + i;
    }
}

static void delete_batch(struct map *map, struct batch *batch, const struct kvc_mica_keys *keys)
{
    bool erased[BATCH];
    kvc_mica_delete(map->store, keys, batch->count, erased, &map->stats);
    for (uint32_t i = 0; i < batch->count; i++) {
        uint32_t *generation = &map->generation[batch->id[i]];
        cr_assert(!erased[i] || *generation != ABSENT, "the store erased a key that was not stored");
        cr_assert(erased[i] || *generation == ABSENT || !map->never_lost, "the store lost a key");
        *generation = ABSENT;
    }
}

/* Checks the value that a GET has found. */
static void check_value(const struct map *map, uint32_t id, const struct kvc_mica_buffer *buffer)
{
    uint8_t right[128];
    const uint8_t *data = buffer->data;
    uint32_t generation = map->generation[id];
    uint32_t value_bytes = value_bytes_of(id, generation);
    uint32_t copied = value_bytes < buffer->room ? value_bytes : buffer->room;
    cr_assert_neq(generation, ABSENT, "the store found a key that was not stored");
    cr_assert_eq(buffer->bytes, value_bytes);
    fill_value(right, id, generation);
    cr_assert_eq(memcmp(right, data, copied), 0, "the store returned another value");
    cr_assert_eq(data[copied], 0xee, "the store wrote beyond the buffer");
}

static void get_batch(struct map *map, struct batch *batch, const struct kvc_mica_keys *keys)
{
    struct kvc_mica_buffer buffer[BATCH];
    for (uint32_t i = 0; i < batch->count; i++) {
        memset(batch->data[i], 0xee, sizeof(batch->data[i]));
        buffer[i] = (struct kvc_mica_buffer){batch->data[i], (uint32_t)(random_word() % 100), 1};
    }
    kvc_mica_get(map->store, keys, batch->count, buffer, &map->stats);
    for (uint32_t i = 0; i < batch->count; i++) {
        uint32_t *generation = &map->generation[batch->id[i]];
        if (buffer[i].bytes == KVC_MICA_NONE) {
            cr_assert(*generation == ABSENT || !map->never_lost, "the store lost a key");
            map->misses += *generation != ABSENT;
            *generation = ABSENT;
            continue;
        }
        check_value(map, batch->id[i], &buffer[i]);
        map->hits++;
    }
}

/* Every new key is live, stale, forgotten, evicted or erased. */
static void check_usage(const struct map *map, uint32_t round)
{
    struct kvc_mica_usage usage;
    kvc_mica_usage(map->store, &usage);
    uint64_t came = map->outcomes[KVC_MICA_NEW] + map->outcomes[KVC_MICA_EVICTED];
    cr_assert_eq(came, usage.live + usage.stale + usage.forgotten + map->stats.evicted + map->stats.erased,
                 "round %u: %lu new keys, %lu live", round, (unsigned long)came, (unsigned long)usage.live);
    cr_assert_eq(kvc_index_used(kvc_mica_index(map->store)), usage.live);
}

static void check_totals(const struct map *map)
{
    const uint64_t *outcomes = map->outcomes;
    cr_assert_eq(map->stats.evicted, outcomes[KVC_MICA_EVICTED]);
    cr_assert_eq(map->stats.replaced, outcomes[KVC_MICA_IN_PLACE] + outcomes[KVC_MICA_APPENDED]);
    cr_assert_eq(map->stats.dropped, outcomes[KVC_MICA_REFUSED]);
    cr_assert_eq(map->stats.search_hits, map->hits);
    cr_assert_gt(outcomes[KVC_MICA_IN_PLACE], 100);
    cr_assert_gt(outcomes[KVC_MICA_APPENDED], 100);
    cr_assert_gt(map->hits, 300);
    cr_assert(map->never_lost || map->misses > 50, "%lu misses: the store has lost too few keys",
              (unsigned long)map->misses);
}

/* Runs random batches. The store may have forgotten a key, unless `never_lost`, but it never returns a value
 * that is not the key's last one. Frees the store. */
static void against_map(struct kvc_mica *store, uint32_t ids, bool never_lost)
{
    struct map map = {.store = store, .ids = ids, .never_lost = never_lost};
    map.generation = calloc(ids, sizeof(*map.generation));
    static struct batch batch;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        struct kvc_mica_keys keys = choose_keys(&map, &batch);
        unsigned operation = (unsigned)(random_word() % 5);
        if (operation < 2) {
            set_batch(&map, &batch, &keys, round);
        } else if (operation == 2 && round % 3 == 0) {
            delete_batch(&map, &batch, &keys);
        } else {
            get_batch(&map, &batch, &keys);
        }
        check_usage(&map, round);
    }
    check_totals(&map);
    free(map.generation);
    kvc_mica_free(store);
}

Test(mica_map, agrees_with_a_map_where_all_fits)
{
    against_map(create(1, 200, 0, 1 << 23, 0), 400, true);
    against_map(create(5, 100, 7, 1 << 22, 0), 400, true);
}

Test(mica_map, never_gives_another_value_where_the_log_overwrites)
{
    against_map(create(1, 200, 0, 1 << 14, 0), 1000, false);
    against_map(create(3, 200, 7, 1 << 13, 0), 1000, false);
    /* Offsets repeat many times: a stale entry must not be mistaken for a new one. */
    against_map(create(1, 40, 0, 1 << 13, 16), 300, false);
    against_map(create(1, 1, 0, 1 << 11, 14), 100, false);
    against_map(create(2, 1000, 7, 1 << 12, 15), 300, false);
}

Test(mica_map, never_gives_another_value_where_buckets_are_full)
{
    against_map(create(1, 10, 0, 1 << 22, 0), 1000, false);
    against_map(create(4, 3, 7, 1 << 22, 0), 1000, false);
}
