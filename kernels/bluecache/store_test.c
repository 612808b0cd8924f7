#include "kernels/bluecache/store.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/bluecache/flash_memory.h"
#include "kernels/random_fixture.h"

enum { VALUE_MAX = 20000, NEVER = 0 };

/* A row is a published chunk: 128 pages of 8 KiB. */
static const struct kvc_flash_geometry geometry = {
    .buses = 2, .chips_per_bus = 2, .blocks_per_chip = 12, .pages_per_block = 32, .page_bytes = 8192};

static struct kvc_bluecache_store *create(struct kvc_flash_memory *memory, uint64_t index_bytes,
                                          uint64_t slabs, bool log_deletes)
{
    struct kvc_bluecache_store_params params = {.index_bytes = index_bytes,
                                                .dram_bytes = slabs * KVC_DRAM_SLAB_BYTES,
                                                .medium = kvc_flash_memory_medium(memory),
                                                .checkpoint_rows = 1,
                                                .log_deletes = log_deletes,
                                                .seed = 5};
    struct kvc_bluecache_store *store = kvc_bluecache_store_create(&params);
    cr_assert_not_null(store);
    return store;
}

/* Writes key k and returns its length, 4 to 35 bytes. */
static uint8_t key_of(uint32_t k, uint8_t *key)
{
    memset(key, (int)k, 35);
    memcpy(key, &k, 4);
    return (uint8_t)(4 + k % 32);
}

/* Writes a version of the value of key k, which names both in its first 8 bytes, and returns its length.
 * There are only a few sizes, so that few slab classes are in use. */
static uint32_t value_of(uint32_t k, uint32_t version, uint8_t *value)
{
    static const uint32_t sizes[] = {20, 500, 2000, 3000, 9000};
    uint32_t bytes = sizes[(k * 7 + version * 13) % 67 == 0 ? 4 : (k + version * 3) % 4];
    memset(value, (int)(k + version), bytes);
    memcpy(value, &k, 4);
    memcpy(value + 4, &version, 4);
    return bytes;
}

static void put(struct kvc_bluecache_store *store, uint32_t k, uint32_t version)
{
    uint8_t key[35], value[VALUE_MAX];
    uint8_t key_bytes = key_of(k, key);
    uint32_t bytes = value_of(k, version, value);
    const uint8_t *values[] = {value};
    struct kvc_bluecache_keys keys = {1, key, 35, &key_bytes};
    cr_assert(kvc_bluecache_store_put(store, &keys, values, &bytes));
}

/* Returns the version that the store has, after checking the whole value, or NEVER for a miss. */
static uint32_t get(struct kvc_bluecache_store *store, uint32_t k)
{
    uint8_t key[35], value[VALUE_MAX], expected[VALUE_MAX];
    uint8_t key_bytes = key_of(k, key);
    uint32_t bytes, version, who;
    struct kvc_bluecache_keys keys = {1, key, 35, &key_bytes};
    kvc_bluecache_store_get(store, &keys, value, VALUE_MAX, &bytes, NULL);
    if (bytes == KVC_BLUECACHE_MISS) {
        return NEVER;
    }
    memcpy(&who, value, 4);
    memcpy(&version, value + 4, 4);
    cr_assert_eq(who, k);
    cr_assert_eq(bytes, value_of(k, version, expected));
    cr_assert_eq(memcmp(value, expected, bytes), 0);
    return version;
}

static bool erase(struct kvc_bluecache_store *store, uint32_t k)
{
    uint8_t key[35];
    uint8_t key_bytes = key_of(k, key);
    bool found;
    struct kvc_bluecache_keys keys = {1, key, 35, &key_bytes};
    cr_assert(kvc_bluecache_store_delete(store, &keys, &found));
    return found;
}

static struct kvc_bluecache_store_stats stats_of(const struct kvc_bluecache_store *store)
{
    struct kvc_bluecache_store_stats stats;
    kvc_bluecache_store_stats(store, &stats);
    return stats;
}

Test(bluecache_store, rejects_bad_params)
{
    struct kvc_flash_memory *memory = kvc_flash_memory_create(&geometry);
    struct kvc_bluecache_store_params good = {
        .index_bytes = 4096, .dram_bytes = 1, .medium = kvc_flash_memory_medium(memory)};
    for (int i = 0; i < 4; i++) {
        struct kvc_bluecache_store_params bad = good;
        switch (i) {
        case 0:
            bad.index_bytes = 100;
            break;
        case 1:
            bad.dram_bytes = UINT64_MAX;
            break;
        case 2:
            bad.value_max_bytes = KVC_BLUECACHE_VALUE_MAX + 1;
            break;
        case 3:
            bad.checkpoint_rows = 6;
            break;
        }
        errno = 0;
        cr_assert_null(kvc_bluecache_store_create(&bad), "case %d", i);
        cr_assert_eq(errno, EINVAL);
    }
    struct kvc_bluecache_store *store = kvc_bluecache_store_create(&good);
    uint8_t key = 1;
    uint32_t bytes = 1;
    const uint8_t *value = &key;
    struct kvc_bluecache_keys keys = {1, &key, 1, &key};
    cr_assert_not(kvc_bluecache_store_put(store, &keys, &value, &bytes), "not started");
    cr_assert_not(kvc_bluecache_store_delete(store, &keys, NULL), "not started");
    kvc_bluecache_store_format(store);
    cr_assert(kvc_bluecache_store_put(store, &keys, &value, &bytes));
    bytes = KVC_BLUECACHE_VALUE_MAX + 1;
    cr_assert_not(kvc_bluecache_store_put(store, &keys, &value, &bytes));
    cr_assert_not(kvc_bluecache_store_checkpoint(store), "no room for one");
    kvc_bluecache_store_free(store);
    kvc_bluecache_store_free(NULL);
    kvc_flash_memory_free(memory);
}

/* Every get returns the last value put or misses, and it misses only keys that the index gave up. */
Test(bluecache_store, random_operations_agree_with_a_plain_map)
{
    for (int large = 0; large < 2; large++) {
        enum { KEYS = 12000, OPERATIONS = 60000 };
        struct kvc_flash_memory *memory = kvc_flash_memory_create(&geometry);
        struct kvc_bluecache_store *store = create(memory, large ? 1 << 19 : 1 << 15, 6, false);
        static uint32_t version[KEYS];
        uint64_t hits = 0, misses = 0;
        memset(version, 0, sizeof(version));
        kvc_bluecache_store_format(store);
        for (uint32_t n = 1; n <= OPERATIONS; n++) {
            uint32_t k = (uint32_t)(random_word() % (random_word() % 2 == 0 ? KEYS : KEYS / 10));
            switch (random_word() % 8) {
            case 0:
                cr_assert(!erase(store, k) || version[k] != NEVER);
                version[k] = NEVER;
                break;
            case 1:
            case 2:
            case 3: {
                uint32_t found = get(store, k);
                cr_assert(found == version[k] || found == NEVER, "key %u: %u, not %u", k, found, version[k]);
                hits += found != NEVER;
                misses += found == NEVER;
                break;
            }
            default:
                put(store, k, n);
                version[k] = n;
            }
        }
        struct kvc_bluecache_store_stats stats = stats_of(store);
        cr_assert_eq(stats.dram_hits + stats.buffer_hits + stats.flash_hits, hits);
        cr_assert_eq(stats.misses, misses);
        cr_assert_eq(stats.false_matches, 0);
        cr_assert_gt(stats.dram_hits, 0);
        cr_assert_gt(stats.buffer_hits, 0);
        cr_assert_gt(stats.flash_hits, 0);
        cr_assert_gt(stats.evicted_keys, 0);
        cr_assert_gt(stats.evicted_dead, 0, "replaced and deleted items were found dead");
        cr_assert_gt(stats.chunks_reclaimed, 0);
        cr_assert_eq(stats.keys_reclaimed > 0, large == 1, "a small index has given old keys up before");
        cr_assert_eq(stats.index_evicted > 1000, large == 0, "2048 entries are too few, 32768 nearly enough");
        uint64_t present = 0, gone = 0;
        for (uint32_t k = 0; k < KEYS; k++) {
            uint32_t found = get(store, k);
            cr_assert(found == version[k] || found == NEVER);
            present += found != NEVER;
            gone += found == NEVER && version[k] != NEVER;
        }
        cr_assert_eq(present, kvc_bluecache_store_used(store), "no entry points to nothing");
        cr_assert_leq(gone, stats.keys_reclaimed + stats.index_evicted);
        cr_assert_eq(stats_of(store).false_matches, 0);
        cr_assert_eq(kvc_flash_memory_stats(memory)->violations, 0);
        kvc_bluecache_store_free(store);
        kvc_flash_memory_free(memory);
    }
}

/* The operations of a batch happen in order, also for the same key and across slab classes. */
Test(bluecache_store, batches_do_what_single_operations_do)
{
    enum { COUNT = 200, KEYS = 50 };
    struct kvc_flash_memory *memory = kvc_flash_memory_create(&geometry);
    struct kvc_bluecache_store *store = create(memory, 1 << 16, 3, false);
    kvc_bluecache_store_format(store);
    uint8_t(*key)[35] = calloc(COUNT, 35), *values = malloc(COUNT * VALUE_MAX),
    *out = malloc(COUNT * VALUE_MAX);
    uint8_t key_bytes[COUNT];
    const uint8_t *value[COUNT];
    uint32_t bytes[COUNT], found[COUNT], last[KEYS] = {0};
    bool deleted[COUNT];
    for (uint32_t round = 0; round < 200; round++) {
        for (uint32_t i = 0; i < COUNT; i++) {
            uint32_t k = (uint32_t)(random_word() % KEYS), version = 1 + round * COUNT + i;
            key_bytes[i] = key_of(k, key[i]);
            value[i] = values + i * VALUE_MAX;
            bytes[i] = value_of(k, version, values + i * VALUE_MAX);
            last[k] = version;
        }
        struct kvc_bluecache_keys keys = {COUNT, key[0], 35, key_bytes};
        cr_assert(kvc_bluecache_store_put(store, &keys, value, bytes));
        kvc_bluecache_store_get(store, &keys, out, VALUE_MAX, found, NULL);
        for (uint32_t i = 0; i < COUNT; i++) {
            uint32_t k, version;
            memcpy(&k, key[i], 4);
            memcpy(&version, out + i * VALUE_MAX + 4, 4);
            cr_assert_neq(found[i], KVC_BLUECACHE_MISS, "round %u: key %u", round, k);
            cr_assert_eq(version, last[k]);
        }
    }
    cr_assert_gt(stats_of(store).bypassed, 0, "five classes, three slabs");
    struct kvc_bluecache_keys keys = {COUNT, key[0], 35, key_bytes};
    cr_assert(kvc_bluecache_store_delete(store, &keys, deleted));
    uint64_t used = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        used += deleted[i];
    }
    cr_assert_gt(used, 0);
    kvc_bluecache_store_get(store, &keys, out, 0, found, NULL);
    for (uint32_t i = 0; i < COUNT; i++) {
        cr_assert_eq(found[i], KVC_BLUECACHE_MISS);
    }
    keys.count = 0;
    cr_assert(kvc_bluecache_store_put(store, &keys, NULL, NULL));
    free(key);
    free(values);
    free(out);
    kvc_bluecache_store_free(store);
    kvc_flash_memory_free(memory);
}

Test(bluecache_store, says_where_gets_looked_and_works_without_dram)
{
    struct kvc_flash_memory *memory = kvc_flash_memory_create(&geometry);
    struct kvc_bluecache_store *store = create(memory, 1 << 12, 0, false);
    uint8_t key[3][1] = {{1}, {2}, {3}}, lengths[3] = {1, 1, 1}, value[VALUE_MAX] = {0};
    const uint8_t *values[2] = {value, value};
    uint32_t bytes[2] = {10, sizeof(value)}, found[3];
    struct kvc_bluecache_keys two = {2, key[0], 1, lengths}, three = {3, key[0], 1, lengths};
    struct kvc_bluecache_read read[3];
    uint8_t *out = malloc(3 * sizeof(value));
    kvc_bluecache_store_format(store);
    cr_assert(kvc_bluecache_store_put(store, &two, values, bytes));
    cr_assert_eq(stats_of(store).bypassed, 2);
    kvc_bluecache_store_get(store, &three, NULL, 0, found, read);
    cr_assert_eq(read[0].place, KVC_BLUECACHE_IN_BUFFER);
    cr_assert_eq(read[1].place, KVC_BLUECACHE_IN_BUFFER);
    cr_assert_eq(read[2].place, KVC_BLUECACHE_IN_NONE);
    cr_assert(kvc_bluecache_store_flush(store));
    kvc_bluecache_store_get(store, &three, NULL, 0, found, read);
    cr_assert_eq(read[1].pages, 1, "the page with the key says how long the value is");
    kvc_bluecache_store_get(store, &three, out, sizeof(value), found, read);
    cr_assert_eq(read[0].place, KVC_BLUECACHE_IN_FLASH);
    cr_assert_eq(read[0].pages, 1);
    cr_assert_eq(read[1].place, KVC_BLUECACHE_IN_FLASH);
    cr_assert_gt(read[1].pages, sizeof(value) / geometry.page_bytes);
    cr_assert_eq(read[2].pages, 0);
    kvc_bluecache_store_free(store);
    store = create(memory, 1 << 12, 1, false);
    kvc_bluecache_store_format(store);
    cr_assert(kvc_bluecache_store_put(store, &two, values, bytes));
    kvc_bluecache_store_get(store, &three, NULL, 0, found, read);
    cr_assert_eq(read[0].place, KVC_BLUECACHE_IN_DRAM);
    kvc_bluecache_store_free(store);
    free(out);
    kvc_flash_memory_free(memory);
}

Test(bluecache_store, zero_and_maximum_sizes_come_back_from_everywhere)
{
    struct kvc_flash_memory *memory = kvc_flash_memory_create(&geometry);
    struct kvc_bluecache_store *store = create(memory, 1 << 12, 1, false);
    kvc_bluecache_store_format(store);
    uint8_t *value = malloc(KVC_BLUECACHE_VALUE_MAX), *out = malloc(KVC_BLUECACHE_VALUE_MAX);
    uint8_t keys_bytes[2][255] = {{0}, {7}}, lengths[2] = {0, 255};
    const uint8_t *values[2] = {value, value};
    uint32_t bytes[2] = {0, KVC_BLUECACHE_VALUE_MAX}, found[2];
    for (uint32_t i = 0; i < KVC_BLUECACHE_VALUE_MAX; i++) {
        value[i] = (uint8_t)(i * 2654435761u >> 24);
    }
    struct kvc_bluecache_keys both = {2, keys_bytes[0], 255, lengths},
                              second = {1, keys_bytes[1], 255, &lengths[1]};
    cr_assert(kvc_bluecache_store_put(store, &both, values, bytes)); /* the large value finds no slab */
    for (int flushed = 0; flushed < 2; flushed++) {
        kvc_bluecache_store_get(store, &both, out, 0, found, NULL);
        cr_assert_eq(found[0], 0);
        cr_assert_eq(found[1], KVC_BLUECACHE_VALUE_MAX);
        kvc_bluecache_store_get(store, &second, out, KVC_BLUECACHE_VALUE_MAX, found, NULL);
        cr_assert_arr_eq(out, value, KVC_BLUECACHE_VALUE_MAX);
        cr_assert(kvc_bluecache_store_flush(store));
    }
    struct kvc_bluecache_store_stats stats = stats_of(store);
    cr_assert_eq(stats.bypassed, 1);
    cr_assert_eq(stats.dram_hits, 2);
    cr_assert_eq(stats.buffer_hits, 2);
    cr_assert_eq(stats.flash_hits, 2);
    free(value);
    free(out);
    kvc_bluecache_store_free(store);
    kvc_flash_memory_free(memory);
}

/* After a restart, pairs on flash are there. Pairs in DRAM are gone or have the last value that was on flash.
 */
Test(bluecache_store, restart_brings_back_what_was_on_flash)
{
    for (int checkpoints = 0; checkpoints < 2; checkpoints++) {
        enum { KEYS = 3000, PUTS = 9000 };
        struct kvc_flash_memory *memory = kvc_flash_memory_create(&geometry);
        struct kvc_bluecache_store *store = create(memory, 1 << 19, 5, false);
        static uint32_t version[KEYS], before[KEYS];
        static bool on_flash[KEYS];
        kvc_bluecache_store_format(store);
        memset(version, 0, sizeof(version));
        for (uint32_t n = 1; n <= PUTS; n++) {
            uint32_t k = (uint32_t)(random_word() % KEYS);
            put(store, k, n);
            version[k] = n;
            if (checkpoints && n % 2000 == 0) {
                cr_assert(kvc_bluecache_store_checkpoint(store));
            }
        }
        cr_assert(kvc_bluecache_store_flush(store));
        uint64_t flash_keys = 0, back = 0, old = 0;
        for (uint32_t k = 0; k < KEYS; k++) {
            uint64_t flash_hits = stats_of(store).flash_hits;
            before[k] = get(store, k);
            on_flash[k] = stats_of(store).flash_hits != flash_hits;
            flash_keys += on_flash[k];
        }
        cr_assert_gt(flash_keys, KEYS / 10);
        kvc_bluecache_store_free(store);
        store = create(memory, 1 << 19, 5, false);
        struct kvc_bluecache_store_recovery recovery;
        kvc_bluecache_store_recover(store, &recovery);
        cr_assert_eq(recovery.log.checkpoint, checkpoints == 1);
        cr_assert_eq(recovery.foreign_records, 0);
        cr_assert_eq(stats_of(store).index_evicted, 0);
        for (uint32_t k = 0; k < KEYS; k++) {
            uint32_t now = get(store, k);
            if (on_flash[k]) {
                cr_assert_eq(now, before[k]);
            } else {
                cr_assert(now == NEVER || now < version[k] || before[k] == NEVER, "key %u", k);
                old += now != NEVER;
            }
            back += now != NEVER;
        }
        cr_assert_eq(back, kvc_bluecache_store_used(store));
        cr_assert_gt(old, 0, "keys changed in DRAM have their last value from flash");
        for (uint32_t n = 1; n <= 2000; n++) {
            put(store, n, PUTS + n);
            cr_assert_eq(get(store, n), PUTS + n);
        }
        kvc_bluecache_store_free(store);
        /* An index of another size has other buckets, so it ignores the records of this log. */
        store = create(memory, 1 << 18, 5, false);
        kvc_bluecache_store_recover(store, &recovery);
        cr_assert_gt(recovery.foreign_records, 0);
        cr_assert_not(recovery.log.checkpoint);
        kvc_bluecache_store_free(store);
        kvc_flash_memory_free(memory);
    }
}

/* As published, a delete changes only the index, so that a restart undoes it. A logged delete survives. */
Test(bluecache_store, logged_deletes_outlive_a_restart)
{
    for (int logged = 0; logged < 2; logged++) {
        struct kvc_flash_memory *memory = kvc_flash_memory_create(&geometry);
        struct kvc_bluecache_store *store = create(memory, 1 << 19, 1, logged);
        struct kvc_bluecache_store_recovery recovery;
        kvc_bluecache_store_format(store);
        for (uint32_t k = 0; k < 2000; k++) {
            put(store, k, k + 1); /* all have one size, for which DRAM has 585 places */
        }
        cr_assert_eq(get(store, 0), 1);
        cr_assert_eq(stats_of(store).flash_hits, 1);
        cr_assert(kvc_bluecache_store_checkpoint(store));
        cr_assert(erase(store, 0));
        cr_assert_not(erase(store, 0));
        cr_assert_eq(get(store, 0), NEVER);
        cr_assert(kvc_bluecache_store_flush(store));
        kvc_bluecache_store_free(store);
        store = create(memory, 1 << 19, 1, logged);
        kvc_bluecache_store_recover(store, &recovery);
        cr_assert(recovery.log.checkpoint);
        cr_assert_eq(get(store, 0), logged ? NEVER : 1);
        kvc_bluecache_store_free(store);
        kvc_flash_memory_free(memory);
    }
}

/* Expects that a peek finds the same values in the same places as a get of a store with the same history. */
static void expect_alike(struct kvc_bluecache_store *peeked, struct kvc_bluecache_store *other, uint32_t k)
{
    static uint8_t value[2][VALUE_MAX];
    uint8_t key[35], key_bytes = key_of(k, key);
    uint32_t bytes[2];
    struct kvc_bluecache_keys keys = {1, key, 35, &key_bytes};
    struct kvc_bluecache_read read[2];
    kvc_bluecache_store_peek(peeked, &keys, value[0], VALUE_MAX, &bytes[0], &read[0]);
    kvc_bluecache_store_get(other, &keys, value[1], VALUE_MAX, &bytes[1], &read[1]);
    cr_assert_eq(bytes[0], bytes[1]);
    cr_assert(bytes[0] == KVC_BLUECACHE_MISS || memcmp(value[0], value[1], bytes[0]) == 0);
    cr_assert_eq(read[0].place, read[1].place);
    cr_assert_eq(read[0].pages, read[1].pages);
}

/* Two stores go the same way, but one is peeked into. If that left a trace, they would evict other pairs. */
Test(bluecache_store, a_peek_finds_what_a_get_finds_and_leaves_no_trace)
{
    enum { KEYS = 6000, PEEKS = 20000 };
    struct kvc_flash_memory *memory[2];
    struct kvc_bluecache_store *store[2];
    for (int s = 0; s < 2; s++) {
        memory[s] = kvc_flash_memory_create(&geometry);
        store[s] = create(memory[s], 1 << 16, 3, false);
        kvc_bluecache_store_format(store[s]);
    }
    for (uint32_t i = 0; i < PEEKS; i++) {
        uint8_t key[35], value[VALUE_MAX], key_bytes = key_of(i * 7919 % KEYS, key);
        struct kvc_bluecache_keys keys = {1, key, 35, &key_bytes};
        uint32_t bytes;
        kvc_bluecache_store_peek(store[0], &keys, value, VALUE_MAX, &bytes, NULL);
        put(store[0], i * 31 % KEYS, 1 + i);
        put(store[1], i * 31 % KEYS, 1 + i);
    }
    struct kvc_bluecache_store_stats is = stats_of(store[0]), should = stats_of(store[1]);
    cr_expect_eq(is.gets, 0);
    cr_expect_gt(should.evicted_keys, 1000);
    cr_expect_gt(is.pages_read, should.pages_read);
    is.pages_read = should.pages_read;
    cr_expect_eq(memcmp(&is, &should, sizeof(is)), 0);
    for (uint32_t k = 0; k < KEYS; k++) {
        expect_alike(store[0], store[1], k);
    }
    for (int s = 0; s < 2; s++) {
        kvc_bluecache_store_free(store[s]);
        kvc_flash_memory_free(memory[s]);
    }
}
