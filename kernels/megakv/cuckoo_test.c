#include "kernels/megakv/cuckoo.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "kernels/megakv/cuckoo_fixture.h"
#include "kernels/random_fixture.h"

Test(cuckoo, rejects_bad_params)
{
    struct kvc_megakv_cuckoo_params bad[] = {
        {.bytes = 0},
        {.bytes = 32},
        {.bytes = 96},
        {.bytes = UINT64_C(64) << 30},
        {.bytes = 64, .max_displacements = 1001},
        {.bytes = 1 << 20, .slots = 6},
        {.bytes = 1 << 20, .slots = 64},
        {.bytes = 1 << 20, .partitions = 3},
        {.bytes = 1 << 20, .partitions = 2048},
        {.bytes = 1024, .partitions = 32},
        {.bytes = 1 << 20, .threads = 8},
        {.bytes = 128, .slots = 32},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        errno = 0;
        cr_assert_null(kvc_megakv_cuckoo_create(&bad[i]));
        cr_assert_eq(errno, EINVAL);
    }
    kvc_index_free(NULL);
}

Test(cuckoo, empty_table_and_empty_batch)
{
    struct kvc_index *table = create_cuckoo(1 << 20, 10);
    struct kvc_index_stats stats = {0};
    cr_assert_eq(kvc_index_capacity(table), (1 << 20) / 8);
    kvc_index_search(table, NULL, 0, NULL, &stats);
    kvc_index_insert(table, NULL, NULL, 0, NULL, &stats);
    kvc_index_erase(table, NULL, NULL, 0, NULL, &stats);
    cr_assert_eq(stats.searches + stats.inserts + stats.erases, 0);
    cr_assert_eq(search(table, 0, &stats), KVC_LOCATION_NONE, "a hash of 0 must not match an empty slot");
    cr_assert_eq(stats.search_hits, 0);
    cr_assert_eq(stats.searches, 1);
    kvc_index_free(table);
}

Test(cuckoo, equal_signature_replaces_in_either_bucket)
{
    struct kvc_index *table = create_cuckoo(64 * 16, 10);
    struct kvc_index_stats stats = {0};
    uint64_t first = hash_of(3, 5), second = hash_of(3 ^ 5, 5); /* each is the other's alternate bucket */
    cr_assert_eq(insert(table, first, 100, &stats), KVC_LOCATION_NONE);
    cr_assert_eq(insert(table, first, 101, &stats), 100);
    cr_assert_eq(insert(table, second, 102, &stats), 101);
    cr_assert_eq(kvc_index_used(table), 1);
    cr_assert_eq(stats.replaced, 2);
    cr_assert_eq(search(table, first, &stats), 102);
    cr_assert_eq(search(table, second, &stats), 102);
    cr_assert_eq(stats.search_lines, 1 + 2);
    cr_assert_eq(insert(table, hash_of(4, 5), 7, &stats), KVC_LOCATION_NONE, "another pair of buckets");
    cr_assert_eq(kvc_index_used(table), 2);
    kvc_index_free(table);
}

Test(cuckoo, erase_wants_signature_and_location)
{
    struct kvc_index *table = create_cuckoo(64 * 16, 10);
    struct kvc_index_stats stats = {0};
    uint64_t hash = hash_of(3, 0x12345);
    insert(table, hash, 100, &stats);
    cr_assert_eq(erase(table, hash, 99, &stats), KVC_LOCATION_NONE);
    cr_assert_eq(erase(table, hash_of(3, 0x12346), 100, &stats), KVC_LOCATION_NONE);
    cr_assert_eq(search(table, hash, &stats), 100);
    cr_assert_eq(erase(table, hash, 100, &stats), 100);
    cr_assert_eq(erase(table, hash, 100, &stats), KVC_LOCATION_NONE);
    insert(table, hash, 200, &stats);
    cr_assert_eq(erase(table, hash, KVC_LOCATION_ANY, &stats), 200);
    cr_assert_eq(kvc_index_used(table), 0);
    cr_assert_eq(stats.erases, 5);
    cr_assert_eq(stats.erased, 2);
    kvc_index_free(table);
}

Test(cuckoo, one_bucket_holds_eight)
{
    for (uint32_t displacements = 0; displacements < 20; displacements += 3) {
        struct kvc_index *table = create_cuckoo(64, displacements);
        struct kvc_index_stats stats = {0};
        bool present[1001] = {false};
        cr_assert_eq(kvc_index_capacity(table), 8);
        for (uint32_t i = 1; i <= 1000; i++) {
            uint32_t out = insert(table, hash_of((uint32_t)random_word(), i), i, &stats);
            present[i] = true;
            if (i <= 8) {
                cr_assert_eq(out, KVC_LOCATION_NONE);
            } else {
                cr_assert_lt(out, i);
                cr_assert(present[out], "dropped twice");
                present[out] = false;
            }
            cr_assert_eq(search(table, hash_of(0, i), &stats), i);
        }
        uint32_t found = 0;
        for (uint32_t i = 1; i <= 1000; i++) {
            cr_assert_eq(search(table, hash_of(7, i), &stats), present[i] ? i : KVC_LOCATION_NONE);
            found += present[i];
        }
        cr_assert_eq(found, 8);
        cr_assert_eq(kvc_index_used(table), 8);
        cr_assert_eq(stats.dropped, 992);
        cr_assert_eq(stats.search_lines, stats.searches, "one bucket is never read twice");
        cr_assert_eq(stats.insert_lines, stats.inserts);
        kvc_index_free(table);
    }
}

/* In a single bucket no element moves, so with equal seeds the same slot is dropped, and the dropped element
 * reveals where elements were put. If the elements prefer eight different slots, their order does not matter;
 * if all prefer the same slot, only the order matters. */
Test(cuckoo, preferred_slot_decides_the_place)
{
    for (int distinct = 0; distinct < 2; distinct++) {
        uint32_t differences = 0;
        for (uint32_t seed = 0; seed < 32; seed++) {
            uint32_t dropped[2];
            for (uint32_t order = 0; order < 2; order++) {
                struct kvc_index *table =
                    kvc_megakv_cuckoo_create(&(struct kvc_megakv_cuckoo_params){.bytes = 64, .seed = seed});
                struct kvc_index_stats stats = {0};
                for (uint32_t i = 0; i < 8; i++) {
                    uint32_t element = order == 0 ? i : 7 - i;
                    uint32_t preferred = distinct ? element : 3;
                    insert(table, hash_of(0, preferred << 29 | (element + 1)), element, &stats);
                }
                dropped[order] = insert(table, hash_of(0, 100), 100, &stats);
                kvc_index_free(table);
            }
            differences += dropped[0] != dropped[1];
        }
        if (distinct) {
            cr_assert_eq(differences, 0);
        } else {
            cr_assert_eq(differences, 32, "element i and 7 - i swap places");
        }
    }
}

/* In the interleaved layout, a bucket with a slot that was never used answers for both buckets. */
Test(cuckoo, never_used_slots_save_the_second_bucket)
{
    struct kvc_index *table = kvc_megakv_cuckoo_create(&(struct kvc_megakv_cuckoo_params){
        .bytes = 1 << 16, .layout = KVC_MEGAKV_CUCKOO_INTERLEAVED, .max_displacements = 10});
    struct kvc_index_stats stats = {0};
    insert(table, hash_of(3, 5), 0, &stats);
    cr_assert_eq(stats.insert_lines, 1);
    cr_assert_eq(search(table, hash_of(3, 6), &stats), KVC_LOCATION_NONE);
    cr_assert_eq(stats.search_lines, 1);
    for (uint32_t i = 0; i < 8; i++) {
        insert(table, hash_of(3, 100 + 1000 * i), i, &stats);
    }
    cr_assert_eq(kvc_index_used(table), 9);
    cr_assert_eq(search(table, hash_of(3, 100 + 7000), &stats), 7, "in the alternate bucket");
    for (uint32_t i = 0; i < 7; i++) {
        cr_assert_eq(erase(table, hash_of(3, 100 + 1000 * i), i, &stats), i);
    }
    cr_assert_eq(search(table, hash_of(3, 100 + 7000), &stats), 7, "erased slots do not count as never used");
    kvc_index_free(table);
}

Test(cuckoo, portable_twin_does_the_same)
{
    struct kvc_index *table[2];
    struct kvc_index_stats stats[2] = {{0}};
    enum { COUNT = 1 << 14 };
    uint64_t *hash = malloc(COUNT * sizeof(*hash));
    uint32_t *location = malloc(COUNT * sizeof(*location));
    uint32_t *out[2] = {malloc(COUNT * sizeof(uint32_t)), malloc(COUNT * sizeof(uint32_t))};
    for (uint32_t i = 0; i < COUNT; i++) {
        hash[i] = random_word();
        location[i] = i;
    }
    for (int twin = 0; twin < 2; twin++) {
        table[twin] = kvc_megakv_cuckoo_create(&(struct kvc_megakv_cuckoo_params){
            .bytes = COUNT * 8, .max_displacements = 20, .seed = 3, .portable = twin == 1});
        kvc_index_insert(table[twin], hash, location, COUNT, out[twin], &stats[twin]);
    }
    cr_assert_arr_eq(out[0], out[1], COUNT * sizeof(uint32_t));
    cr_assert_gt(stats[0].dropped, 0);
    for (int twin = 0; twin < 2; twin++) {
        kvc_index_erase(table[twin], hash, location, COUNT / 4, out[twin], &stats[twin]);
    }
    cr_assert_arr_eq(out[0], out[1], COUNT / 4 * sizeof(uint32_t));
    for (int twin = 0; twin < 2; twin++) {
        kvc_index_search(table[twin], hash, COUNT, out[twin], &stats[twin]);
        kvc_index_free(table[twin]);
    }
    cr_assert_arr_eq(out[0], out[1], COUNT * sizeof(uint32_t));
    cr_assert_arr_eq(&stats[0], &stats[1], sizeof(stats[0]));
    free(hash);
    free(location);
    free(out[0]);
    free(out[1]);
}

Test(cuckoo, same_seed_same_table)
{
    uint32_t out[2][2000];
    uint64_t hash[2000];
    uint32_t location[2000];
    struct kvc_index_stats stats = {0};
    for (uint32_t i = 0; i < 2000; i++) {
        hash[i] = random_word();
        location[i] = i;
    }
    for (uint32_t batch = 0; batch < 2; batch++) {
        struct kvc_index *table = create_cuckoo(64 * 128, 10);
        for (uint32_t i = 0; i < 2000; i += batch == 0 ? 2000 : 7) {
            uint32_t count = batch == 0 || 2000 - i < 7 ? 2000 - i : 7;
            kvc_index_insert(table, hash + i, location + i, count, out[batch] + i, &stats);
        }
        kvc_index_free(table);
    }
    cr_assert_arr_eq(out[0], out[1], sizeof(out[0]), "the size of batches changed the result");
}
