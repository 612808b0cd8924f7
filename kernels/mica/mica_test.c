#include "kernels/mica/mica.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_state = 1;

static uint64_t random_word(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

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

static enum kvc_mica_outcome set(struct kvc_mica *store, const void *key, uint8_t key_bytes, const void *data,
                                 uint32_t bytes, struct kvc_index_stats *stats)
{
    uint32_t zero = 0;
    uint8_t outcome = 99;
    kvc_mica_set(store, &(struct kvc_mica_keys){key, &zero, &key_bytes, NULL},
                 &(struct kvc_mica_value){data, bytes}, 1, &outcome, stats);
    return (enum kvc_mica_outcome)outcome;
}

static uint32_t get(struct kvc_mica *store, const void *key, uint8_t key_bytes, void *data, uint32_t room,
                    struct kvc_index_stats *stats)
{
    uint32_t zero = 0;
    struct kvc_mica_buffer buffer = {data, room, 1};
    kvc_mica_get(store, &(struct kvc_mica_keys){key, &zero, &key_bytes, NULL}, 1, &buffer, stats);
    return buffer.bytes;
}

static bool delete (struct kvc_mica *store, const void *key, uint8_t key_bytes, struct kvc_index_stats *stats)
{
    uint32_t zero = 0;
    bool erased;
    kvc_mica_delete(store, &(struct kvc_mica_keys){key, &zero, &key_bytes, NULL}, 1, &erased, stats);
    return erased;
}

static uint32_t get_hash(struct kvc_mica *store, uint64_t hash)
{
    struct kvc_index_stats stats = {0};
    uint32_t found;
    kvc_index_search(kvc_mica_index(store), &hash, 1, &found, &stats);
    return found;
}

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
    bad[7].offset_bits = 14; /* an eighth is less than the log */
    bad[8].offset_bits = 8;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        errno = 0;
        cr_expect_null(kvc_mica_create(&bad[i]), "case %zu", i);
        cr_expect_eq(errno, EINVAL, "case %zu", i);
    }
}

/* Key number `id` and its value of generation `generation`: lengths and bytes follow from the numbers. */
struct key {
    uint8_t data[KVC_MICA_KEY_MAX];
    uint8_t bytes;
};

static struct key key_of(uint32_t id)
{
    struct key key = {.bytes = (uint8_t)(id % 5 == 0 ? 4 + id % 252 : 4 + id % 20)};
    for (uint32_t i = 0; i < key.bytes; i++) {
        key.data[i] = (uint8_t)(i < 4 ? id >> 8 * i : id * 5 + i);
    }
    return key;
}

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

/* Random operations in batches. The map knows the last generation of each key; the store may have forgotten a
 * key, but never returns another value. Every new key is live, evicted, erased or overwritten in the log:
 * `never_lost` says that there must be none of the last two. */
static void against_map(struct kvc_mica *store, uint32_t ids, bool never_lost)
{
    enum { BATCH = 80, ROUNDS = 700, NONE = 0 };
    uint32_t *generation = calloc(ids, sizeof(*generation));
    struct kvc_index_stats stats = {0};
    uint64_t outcomes[5] = {0}, misses = 0, hits = 0;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        static struct key keys[BATCH];
        static uint8_t data[BATCH][128];
        uint32_t id[BATCH], offset[BATCH], count = (uint32_t)(random_word() % (BATCH + 1));
        uint8_t bytes[BATCH];
        for (uint32_t i = 0; i < count; i++) {
            id[i] = (uint32_t)(random_word() % ids);
            keys[i] = key_of(id[i]);
            offset[i] = (uint32_t)((const uint8_t *)keys[i].data - keys[0].data);
            bytes[i] = keys[i].bytes;
        }
        struct kvc_mica_keys batch = {keys[0].data, offset, bytes, NULL};
        unsigned operation = (unsigned)(random_word() % 5);
        if (operation < 2) {
            struct kvc_mica_value value[BATCH];
            uint8_t outcome[BATCH];
            for (uint32_t i = 0; i < count; i++) {
                uint32_t its = round * BATCH + i;
                fill_value(data[i], id[i], its);
                value[i] = (struct kvc_mica_value){data[i], value_bytes_of(id[i], its)};
            }
            kvc_mica_set(store, &batch, value, count, outcome, &stats);
            for (uint32_t i = 0; i < count; i++) {
                bool replaced = outcome[i] == KVC_MICA_IN_PLACE || outcome[i] == KVC_MICA_APPENDED;
                cr_assert_lt(outcome[i], 5);
                outcomes[outcome[i]]++;
                cr_assert(!replaced || generation[id[i]] != NONE, "replaced what was not stored");
                cr_assert(replaced || generation[id[i]] == NONE || !never_lost, "lost a key");
                generation[id[i]] = round * BATCH + i;
            }
        } else if (operation == 2 && round % 3 == 0) {
            bool erased[BATCH];
            kvc_mica_delete(store, &batch, count, erased, &stats);
            for (uint32_t i = 0; i < count; i++) {
                cr_assert(!erased[i] || generation[id[i]] != NONE, "erased what was not stored");
                cr_assert(erased[i] || generation[id[i]] == NONE || !never_lost, "lost a key");
                generation[id[i]] = NONE;
            }
        } else {
            struct kvc_mica_buffer buffer[BATCH];
            for (uint32_t i = 0; i < count; i++) {
                memset(data[i], 0xee, sizeof(data[i]));
                buffer[i] = (struct kvc_mica_buffer){data[i], (uint32_t)(random_word() % 100), 1};
            }
            kvc_mica_get(store, &batch, count, buffer, &stats);
            for (uint32_t i = 0; i < count; i++) {
                uint32_t its = generation[id[i]];
                if (buffer[i].bytes == KVC_MICA_NONE) {
                    cr_assert(its == NONE || !never_lost, "lost a key");
                    misses += its != NONE;
                    generation[id[i]] = NONE;
                    continue;
                }
                uint8_t right[128];
                uint32_t value_bytes = value_bytes_of(id[i], its);
                uint32_t copied = value_bytes < buffer[i].room ? value_bytes : buffer[i].room;
                cr_assert_neq(its, NONE, "found what was not stored");
                cr_assert_eq(buffer[i].bytes, value_bytes);
                fill_value(right, id[i], its);
                cr_assert_eq(memcmp(right, data[i], copied), 0, "another value");
                cr_assert_eq(data[i][copied], 0xee, "wrote beyond the room");
                hits++;
            }
        }
        struct kvc_mica_usage usage;
        kvc_mica_usage(store, &usage);
        uint64_t came = outcomes[KVC_MICA_NEW] + outcomes[KVC_MICA_EVICTED];
        cr_assert_eq(came, usage.live + usage.stale + usage.forgotten + stats.evicted + stats.erased,
                     "round %u: %lu came, %lu live", round, (unsigned long)came, (unsigned long)usage.live);
        cr_assert_eq(kvc_index_used(kvc_mica_index(store)), usage.live);
    }
    cr_assert_eq(stats.evicted, outcomes[KVC_MICA_EVICTED]);
    cr_assert_eq(stats.replaced, outcomes[KVC_MICA_IN_PLACE] + outcomes[KVC_MICA_APPENDED]);
    cr_assert_eq(stats.dropped, outcomes[KVC_MICA_REFUSED]);
    cr_assert_eq(stats.search_hits, hits);
    cr_assert_gt(outcomes[KVC_MICA_IN_PLACE], 100);
    cr_assert_gt(outcomes[KVC_MICA_APPENDED], 100);
    cr_assert_gt(hits, 300);
    cr_assert(never_lost || misses > 50, "%lu misses: nothing was lost", (unsigned long)misses);
    free(generation);
    kvc_mica_free(store);
}

Test(mica, agrees_with_a_map_where_all_fits)
{
    against_map(create(1, 200, 0, 1 << 23, 0), 400, true);
    against_map(create(5, 100, 7, 1 << 22, 0), 400, true);
}

Test(mica, never_gives_another_value_where_the_log_overwrites)
{
    against_map(create(1, 200, 0, 1 << 14, 0), 1000, false);
    against_map(create(3, 200, 7, 1 << 13, 0), 1000, false);
    /* Offsets that come round many times: a stale entry must not be taken for a new one. */
    against_map(create(1, 40, 0, 1 << 13, 16), 300, false);
    against_map(create(1, 1, 0, 1 << 11, 14), 100, false);
    against_map(create(2, 1000, 7, 1 << 12, 15), 300, false);
}

Test(mica, never_gives_another_value_where_buckets_are_full)
{
    against_map(create(1, 10, 0, 1 << 22, 0), 1000, false);
    against_map(create(4, 3, 7, 1 << 22, 0), 1000, false);
}

/* Hashes of one bucket: `tag` may be equal, what is below bit 32 is the bucket. */
static uint64_t hash_of(uint32_t tag, uint32_t rest)
{
    return (uint64_t)rest << 48 | (uint64_t)tag << 32;
}

Test(mica, full_bucket_gives_up_its_oldest)
{
    for (uint32_t entries = 7; entries <= 15; entries += 8) {
        struct kvc_mica *store = create(1, 64, entries, 1 << 16, 0);
        struct kvc_index_stats stats = {0};
        /* Equal tags all of them: told apart by the key. */
        for (uint32_t i = 0; i < entries; i++) {
            cr_assert_eq(put_hash(store, hash_of(9, i), 100 + i, &stats), KVC_LOCATION_NONE);
        }
        for (uint32_t i = 0; i < entries; i++) {
            cr_assert_eq(get_hash(store, hash_of(9, i)), 100 + i);
        }
        cr_assert_eq(get_hash(store, hash_of(9, 200)), KVC_LOCATION_NONE);
        /* Updating in place makes nothing younger. */
        cr_assert_eq(put_hash(store, hash_of(9, 0), 500, &stats), 100);
        for (uint32_t i = 0; i < entries; i++) {
            cr_assert_eq(put_hash(store, hash_of(9, 100 + i), 1000 + i, &stats), i == 0 ? 500 : 100 + i);
            cr_assert_eq(stats.evicted, i + 1);
            cr_assert_eq(get_hash(store, hash_of(9, i)), KVC_LOCATION_NONE);
        }
        cr_assert_eq(kvc_index_used(kvc_mica_index(store)), entries);
        /* In the middle; the place is used again and nobody leaves. */
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

/* A tag of 0 is stored as 1: keys with either are told apart, and an empty entry is no key's. */
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

/* Offsets come round many times, and no overwritten item's entry is ever counted among the live ones. */
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

/* One item after the other: the log holds exactly the last ones that fit, whatever their size. */
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
                    /* The rest at the end of the log, too small for an item, takes at most one's place. */
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
    /* Shorter in place, and as long as before in place again: the room stays. */
    cr_assert_eq(set(store, key, 255, data, 0, &stats), KVC_MICA_IN_PLACE);
    cr_assert_eq(get(store, key, 255, back, sizeof(back), &stats), 0);
    cr_assert_eq(set(store, key, 255, data, most, &stats), KVC_MICA_IN_PLACE);
    cr_assert_eq(get(store, key, 255, back, sizeof(back), &stats), most);
    cr_assert(delete (store, key, 255, &stats));
    cr_assert_not(delete (store, key, 255, &stats));
    cr_assert_eq(get(store, key, 254, back, sizeof(back), &stats), 1);
    kvc_mica_free(store);
    /* The whole log is one item. */
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
        random_state -= count * 0x9e3779b97f4a7c15;
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

/* Keys spread evenly over the partitions, and a key's own hash finds what was stored under the computed one.
 */
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
