#include "kernels/mica/mica.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/random_fixture.h"

static const uint64_t random_step = 0x9e3779b97f4a7c15;

/* Makes random_word repeat its last words. */
static void random_rewind(uint32_t words)
{
    random_state -= words * random_step;
}

/* Creates a store; the test fails if that is impossible. */
static struct kvc_mica *create(uint32_t partitions, uint32_t buckets, uint32_t entries, uint64_t log_bytes,
                               uint32_t offset_bits)
{
    struct kvc_mica *store = kvc_mica_create(&(struct kvc_mica_params){.partitions = partitions,
                                                                       .buckets = buckets,
                                                                       .entries = entries,
                                                                       .log_bytes = log_bytes,
                                                                       .offset_bits = offset_bits,
                                                                       .seed = 3});
    cr_assert_not_null(store);
    return store;
}

/* Runs one SET. */
static enum kvc_mica_outcome set(struct kvc_mica *store, const void *key, uint8_t key_bytes, const void *data,
                                 uint32_t bytes, struct kvc_index_stats *stats)
{
    uint32_t zero = 0;
    uint8_t outcome = 99;
    kvc_mica_set(store, &(struct kvc_mica_keys){key, &zero, &key_bytes, NULL},
                 &(struct kvc_mica_value){data, bytes}, 1, &outcome, stats);
    return (enum kvc_mica_outcome)outcome;
}

/* Runs one GET. Returns the size of the value, or KVC_MICA_NONE. */
static uint32_t get(struct kvc_mica *store, const void *key, uint8_t key_bytes, void *data, uint32_t room,
                    struct kvc_index_stats *stats)
{
    uint32_t zero = 0;
    struct kvc_mica_buffer buffer = {data, room, 1};
    kvc_mica_get(store, &(struct kvc_mica_keys){key, &zero, &key_bytes, NULL}, 1, &buffer, stats);
    return buffer.bytes;
}

/* Runs one deletion. Returns whether the key was stored. */
static bool erase(struct kvc_mica *store, const void *key, uint8_t key_bytes, struct kvc_index_stats *stats)
{
    uint32_t zero = 0;
    bool erased;
    kvc_mica_delete(store, &(struct kvc_mica_keys){key, &zero, &key_bytes, NULL}, 1, &erased, stats);
    return erased;
}

/* Searches the index for a hash. Returns its location, or KVC_LOCATION_NONE. */
static uint32_t get_hash(struct kvc_mica *store, uint64_t hash)
{
    struct kvc_index_stats stats = {0};
    uint32_t found;
    kvc_index_search(kvc_mica_index(store), &hash, 1, &found, &stats);
    return found;
}

/* Inserts a hash into the index. Returns the location that left it, or KVC_LOCATION_NONE. */
static uint32_t put_hash(struct kvc_mica *store, uint64_t hash, uint32_t location,
                         struct kvc_index_stats *stats)
{
    uint32_t out;
    kvc_index_insert(kvc_mica_index(store), &hash, &location, 1, &out, stats);
    return out;
}

Test(mica, rejects_bad_params)
{
    struct kvc_mica_params good = {.buckets = 4, .log_bytes = 1 << 12};
    struct kvc_mica *store = kvc_mica_create(&good);
    cr_assert_not_null(store);
    kvc_mica_free(store);
    kvc_mica_free(NULL);
    struct kvc_mica_params bad[] = {good, good, good, good, good, good, good, good, good};
    bad[0].buckets = 0;
    bad[1].entries = 8;
    bad[2].partitions = KVC_MICA_PARTITIONS_MAX + 1;
    bad[3].log_bytes = 3 << 10;
    bad[4].log_bytes = 32;
    bad[5].log_bytes = 0;
    bad[6].offset_bits = 49;
    bad[7].offset_bits = 14; /* an eighth of the range is less than the log */
    bad[8].offset_bits = 8;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        errno = 0;
        cr_expect_null(kvc_mica_create(&bad[i]), "case %zu", i);
        cr_expect_eq(errno, EINVAL, "case %zu", i);
    }
}

/* Makes a hash of bucket 0 with this tag; `rest` tells hashes apart. */
static uint64_t hash_of(uint32_t tag, uint32_t rest)
{
    return (uint64_t)rest << 48 | (uint64_t)tag << 32;
}

Test(mica, full_bucket_gives_up_its_oldest)
{
    for (uint32_t entries = 7; entries <= 15; entries += 8) {
        struct kvc_mica *store = create(1, 64, entries, 1 << 16, 0);
        struct kvc_index_stats stats = {0};
        /* All tags are equal, so only the keys tell the items apart. */
        for (uint32_t i = 0; i < entries; i++) {
            cr_assert_eq(put_hash(store, hash_of(9, i), 100 + i, &stats), KVC_LOCATION_NONE);
        }
        for (uint32_t i = 0; i < entries; i++) {
            cr_assert_eq(get_hash(store, hash_of(9, i)), 100 + i);
        }
        cr_assert_eq(get_hash(store, hash_of(9, 200)), KVC_LOCATION_NONE);
        /* An update in place does not make an entry younger. */
        cr_assert_eq(put_hash(store, hash_of(9, 0), 500, &stats), 100);
        for (uint32_t i = 0; i < entries; i++) {
            cr_assert_eq(put_hash(store, hash_of(9, 100 + i), 1000 + i, &stats), i == 0 ? 500 : 100 + i);
            cr_assert_eq(stats.evicted, i + 1);
            cr_assert_eq(get_hash(store, hash_of(9, i)), KVC_LOCATION_NONE);
        }
        cr_assert_eq(kvc_index_used(kvc_mica_index(store)), entries);
        /* An erased entry in the middle is used again, so nothing is evicted. */
        uint64_t middle = hash_of(9, 103);
        uint32_t location = 1002, out;
        kvc_index_erase(kvc_mica_index(store), &middle, &location, 1, &out, &stats);
        cr_assert_eq(out, KVC_LOCATION_NONE);
        location = 1003;
        kvc_index_erase(kvc_mica_index(store), &middle, &location, 1, &out, &stats);
        cr_assert_eq(out, 1003);
        cr_assert_eq(get_hash(store, middle), KVC_LOCATION_NONE);
        cr_assert_eq(put_hash(store, hash_of(9, 50), 7, &stats), KVC_LOCATION_NONE);
        cr_assert_eq(get_hash(store, hash_of(9, 104)), 1004);
        kvc_mica_free(store);
    }
}

/* Tag 0 is stored as 1. Keys with these tags are told apart, and an empty entry matches no key. */
Test(mica, tag_zero)
{
    struct kvc_mica *store = create(1, 64, 0, 1 << 16, 0);
    struct kvc_index_stats stats = {0};
    cr_assert_eq(get_hash(store, 0), KVC_LOCATION_NONE);
    for (uint32_t i = 0; i < 6; i++) {
        cr_assert_eq(put_hash(store, hash_of(i % 2, i), 5 + i, &stats), KVC_LOCATION_NONE);
        cr_assert_eq(kvc_index_used(kvc_mica_index(store)), i + 1);
    }
    for (uint32_t i = 0; i < 6; i++) {
        cr_assert_eq(get_hash(store, hash_of(i % 2, i)), 5 + i);
    }
    kvc_mica_free(store);
}

/* Offsets repeat many times, and the entry of an overwritten item never counts as live. */
Test(mica, stale_entries_stay_stale)
{
    enum { LOG_ITEMS = 128 };
    for (uint32_t buckets = 1000; buckets <= 4000; buckets += 3000) {
        struct kvc_mica *store = create(1, buckets, 0, LOG_ITEMS * 32, 15);
        struct kvc_index_stats stats = {0};
        struct kvc_mica_usage usage;
        for (uint32_t i = 0; i < 100 * LOG_ITEMS; i++) {
            put_hash(store, random_word(), i, &stats);
            kvc_mica_usage(store, &usage);
            cr_assert_eq(usage.live, i + 1 < LOG_ITEMS ? i + 1 : LOG_ITEMS, "%lu live after %u",
                         (unsigned long)usage.live, i + 1);
        }
        cr_assert_eq(stats.evicted, 0);
        cr_assert_gt(usage.forgotten, 80 * LOG_ITEMS);
        kvc_mica_free(store);
    }
}

/* The log holds exactly the last items that fit, whatever their size. */
Test(mica, log_keeps_the_newest)
{
    const uint32_t value_bytes[] = {0, 1, 8, 40, 1000};
    for (size_t v = 0; v < sizeof(value_bytes) / sizeof(*value_bytes); v++) {
        const uint64_t log_bytes = 1 << 14;
        uint64_t item_bytes = 16 + 8 + (value_bytes[v] + 7) / 8 * 8;
        uint64_t fit = log_bytes / item_bytes;
        struct kvc_mica *store = create(1, 4096, 0, log_bytes, 0);
        struct kvc_index_stats stats = {0};
        uint8_t data[1024] = {0}, back[1024];
        for (uint64_t id = 0; id < 5 * fit; id++) {
            memcpy(data, &id, value_bytes[v] < 8 ? value_bytes[v] : 8);
            cr_assert_eq(set(store, &id, 8, data, value_bytes[v], &stats), KVC_MICA_NEW);
            uint64_t oldest = id + 1 - (id + 1 < fit ? id + 1 : fit);
            for (uint64_t other = oldest; other <= id;
                 other += other + 2 < id && other > oldest + 2 ? 17 : 1) {
                uint32_t bytes = get(store, &other, 8, back, sizeof(back), &stats);
                if (bytes == KVC_MICA_NONE) {
                    /* The end of the log, if it is too small for an item, takes the place of at most one. */
                    cr_assert(other == oldest && log_bytes % item_bytes != 0, "%lu of %lu is gone",
                              (unsigned long)other, (unsigned long)id);
                    continue;
                }
                cr_assert_eq(bytes, value_bytes[v]);
                cr_assert_eq(memcmp(back, &other, bytes < 8 ? bytes : 8), 0);
            }
            if (oldest > 0) {
                uint64_t gone = oldest - 1;
                cr_assert_eq(get(store, &gone, 8, back, sizeof(back), &stats), KVC_MICA_NONE);
            }
        }
        kvc_mica_free(store);
    }
}

Test(mica, zero_and_maximum_sizes)
{
    struct kvc_mica *store = create(2, 64, 0, 1 << 21, 0);
    struct kvc_index_stats stats = {0};
    static uint8_t key[KVC_MICA_KEY_MAX], data[KVC_MICA_ITEM_MAX + 1], back[KVC_MICA_ITEM_MAX];
    const uint32_t most = KVC_MICA_ITEM_MAX - KVC_MICA_HEADER_BYTES - 256;
    memset(key, 7, sizeof(key));
    for (size_t i = 0; i < sizeof(data); i++) {
        data[i] = (uint8_t)(i * 11 + i / 256);
    }
    cr_assert_eq(set(store, key, 0, data, 0, &stats), KVC_MICA_NEW);
    cr_assert_eq(get(store, key, 0, back, 0, &stats), 0);
    cr_assert_eq(get(store, key, 1, back, 0, &stats), KVC_MICA_NONE);
    cr_assert_eq(set(store, key, 255, data, most, &stats), KVC_MICA_NEW);
    cr_assert_eq(set(store, key, 254, data, 1, &stats), KVC_MICA_NEW);
    cr_assert_eq(get(store, key, 255, back, sizeof(back), &stats), most);
    cr_assert_eq(memcmp(back, data, most), 0);
    cr_assert_eq(get(store, key, 254, back, sizeof(back), &stats), 1);
    cr_assert_eq(set(store, key, 255, data, most + 1, &stats), KVC_MICA_REFUSED);
    cr_assert_eq(set(store, key, 255, data, KVC_MICA_ITEM_MAX + 1, &stats), KVC_MICA_REFUSED);
    cr_assert_eq(set(store, key, 255, data, 0xffffffff, &stats), KVC_MICA_REFUSED);
    cr_assert_eq(stats.dropped, 3);
    cr_assert_eq(get(store, key, 255, back, sizeof(back), &stats), most, "a refusal changes nothing");
    /* A shorter value is stored in place, and so is one of the old size afterwards: the room stays. */
    cr_assert_eq(set(store, key, 255, data, 0, &stats), KVC_MICA_IN_PLACE);
    cr_assert_eq(get(store, key, 255, back, sizeof(back), &stats), 0);
    cr_assert_eq(set(store, key, 255, data, most, &stats), KVC_MICA_IN_PLACE);
    cr_assert_eq(get(store, key, 255, back, sizeof(back), &stats), most);
    cr_assert(erase(store, key, 255, &stats));
    cr_assert_not(erase(store, key, 255, &stats));
    cr_assert_eq(get(store, key, 254, back, sizeof(back), &stats), 1);
    kvc_mica_free(store);
    /* One item fills the whole log. */
    store = create(1, 64, 0, 1 << 12, 0);
    cr_assert_eq(set(store, key, 8, data, 4096 - 24, &stats), KVC_MICA_NEW);
    cr_assert_eq(get(store, key, 8, back, sizeof(back), &stats), 4096 - 24);
    cr_assert_eq(memcmp(back, data, 4096 - 24), 0);
    cr_assert_eq(set(store, key, 8, data, 4096 - 23, &stats), KVC_MICA_REFUSED);
    cr_assert_eq(set(store, key, 9, data, 0, &stats), KVC_MICA_NEW);
    cr_assert_eq(get(store, key, 8, back, sizeof(back), &stats), KVC_MICA_NONE);
    kvc_mica_free(store);
}

Test(mica, lines_touched)
{
    for (uint32_t entries = 7; entries <= 15; entries += 8) {
        struct kvc_mica *store = create(1, 1 << 12, entries, 1 << 20, 0);
        struct kvc_index_stats stats = {0};
        uint32_t bucket_lines = (entries + 1) / 8, count = 1000;
        for (uint32_t i = 0; i < count; i++) {
            put_hash(store, random_word(), i, &stats);
        }
        cr_assert_eq(stats.insert_lines, count * (bucket_lines + 1));
        random_rewind(count);
        uint64_t hash[1000];
        uint32_t location[1000];
        for (uint32_t i = 0; i < count; i++) {
            hash[i] = random_word();
        }
        kvc_index_search(kvc_mica_index(store), hash, count, location, &stats);
        cr_assert_eq(stats.search_hits, count);
        cr_assert_eq(stats.search_lines, count * (bucket_lines + 1));
        for (uint32_t i = 0; i < count; i++) {
            hash[i] = random_word();
        }
        kvc_index_search(kvc_mica_index(store), hash, count, location, &stats);
        cr_assert_eq(stats.search_hits, count);
        cr_assert_lt(stats.search_lines, count * (2 * bucket_lines + 1) + 10);
        kvc_mica_free(store);
    }
}

/* Keys spread evenly over the partitions, and the hash that kvc_mica_hash returns finds a key that was stored
 * without one. */
Test(mica, partitions)
{
    enum { PARTITIONS = 7, KEYS = 7000 };
    struct kvc_mica *store = create(PARTITIONS, 1000, 0, 1 << 16, 0);
    struct kvc_index_stats stats = {0};
    uint32_t keys_in[PARTITIONS] = {0};
    for (uint32_t id = 0; id < KEYS; id++) {
        uint64_t hash = kvc_mica_hash(store, &id, 4);
        uint32_t partition = kvc_mica_partition(store, hash);
        cr_assert_lt(partition, PARTITIONS);
        keys_in[partition]++;
        set(store, &id, 4, &id, 4, &stats);
        uint32_t zero = 0, back = 0;
        uint8_t four = 4;
        struct kvc_mica_buffer buffer = {&back, 4, 0};
        kvc_mica_get(store, &(struct kvc_mica_keys){(const uint8_t *)&id, &zero, &four, &hash}, 1, &buffer,
                     &stats);
        cr_assert_eq(back, id);
    }
    for (uint32_t p = 0; p < PARTITIONS; p++) {
        cr_assert(keys_in[p] > 850 && keys_in[p] < 1150, "%u keys in partition %u", keys_in[p], p);
    }
    kvc_mica_free(store);
}

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
    uint64_t outcomes[5]; /* Number of SETs with each outcome. */
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
