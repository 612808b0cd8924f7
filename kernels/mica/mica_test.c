#include "kernels/mica/mica.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "kernels/mica/mica_fixture.h"

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
