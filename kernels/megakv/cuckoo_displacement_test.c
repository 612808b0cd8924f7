#include "kernels/megakv/cuckoo.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "kernels/megakv/cuckoo_fixture.h"
#include "kernels/random_fixture.h"

/* A table that is filled far beyond its capacity holds, has replaced or has reported every element. */
Test(cuckoo, nothing_is_lost_unreported)
{
    char name[][24] = {"none", "few", "many"};
    uint32_t displacements[] = {0, 8, 500};
    for (size_t d = 0; d < 3; d++) {
        struct kvc_index *table = create_cuckoo(64 * 512, displacements[d]);
        uint32_t elements = 512 * 8 * 5 / 4;
        uint64_t *hash = malloc(elements * sizeof(*hash));
        uint32_t *location = malloc(elements * sizeof(*location));
        uint32_t *out = malloc(elements * sizeof(*out));
        uint8_t *gone = calloc(elements, 1);
        struct kvc_index_stats stats = {0};
        uint64_t first_drop = 0;
        for (uint32_t i = 0; i < elements; i++) {
            hash[i] = random_word();
            location[i] = i;
        }
        for (uint32_t i = 0; i < elements; i += 64) {
            kvc_index_insert(table, hash + i, location + i, 64, out + i, &stats);
            first_drop = stats.dropped == 0 ? i : first_drop;
        }
        for (uint32_t i = 0; i < elements; i++) {
            if (out[i] != KVC_LOCATION_NONE) {
                cr_assert_lt(out[i], elements);
                cr_assert_eq(gone[out[i]], 0, "reported twice");
                gone[out[i]] = 1;
            }
        }
        uint32_t *found = malloc(elements * sizeof(*found));
        kvc_index_search(table, hash, elements, found, &stats);
        for (uint32_t i = 0; i < elements; i++) {
            cr_assert_eq(found[i], gone[i] ? KVC_LOCATION_NONE : i, "%s: element %u", name[d], i);
        }
        cr_assert_eq(kvc_index_used(table), elements - stats.dropped);
        cr_assert_leq(kvc_index_used(table), kvc_index_capacity(table));
        cr_assert_leq(stats.displacements, stats.inserts * displacements[d]);
        cr_assert_eq(stats.displacements == 0, displacements[d] == 0);
        if (displacements[d] == 500) {
            /* Two buckets of eight slots each hold up to about 99 % (cf. Richter et al. in sec. 4.1). */
            cr_assert_gt((double)first_drop, 0.95 * (double)kvc_index_capacity(table));
        }
        free(hash);
        free(location);
        free(out);
        free(found);
        free(gone);
        kvc_index_free(table);
    }
}

/* Inserts elements up to a load of `load`; returns how many of them a search does not find. */
static uint32_t wrong_at(struct kvc_megakv_cuckoo_params params, double load, uint64_t *displacements)
{
    struct kvc_index *table = kvc_megakv_cuckoo_create(&params);
    struct kvc_index_stats stats = {0};
    uint32_t count = (uint32_t)(load * (double)kvc_index_capacity(table)), wrong = 0;
    random_state = 1;
    for (uint32_t i = 0; i < count; i++) {
        insert(table, random_word(), i, &stats);
    }
    cr_assert_eq(stats.dropped, 0);
    random_state = 1;
    for (uint32_t i = 0; i < count; i++) {
        wrong += search(table, random_word(), &stats) != i;
    }
    *displacements = stats.displacements;
    kvc_index_free(table);
    return wrong;
}

Test(cuckoo, published_displacement_loses_elements_ours_does_not)
{
    struct kvc_megakv_cuckoo_params params = {.bytes = 4 << 20, .max_displacements = 500, .seed = 1};
    uint64_t displacements;
    cr_assert_eq(wrong_at(params, 0.9, &displacements), 0);
    params.layout = KVC_MEGAKV_CUCKOO_INTERLEAVED;
    params.slots = 4;
    cr_assert_eq(wrong_at(params, 0.9, &displacements), 0);
    params = (struct kvc_megakv_cuckoo_params){
        .bytes = 4 << 20, .max_displacements = 500, .seed = 1, .published_displacement = true};
    /* Each displacement loses about one element. */
    uint32_t wrong = wrong_at(params, 0.8, &displacements);
    cr_assert_gt(wrong, (double)displacements / 2, "%u wrong, %lu moved", wrong,
                 (unsigned long)displacements);
    cr_assert_gt(wrong, 0.005 * 0.8 * (4 << 20) / 8);
}

/* Elements whose two buckets are the same (signature = 0 modulo the number of buckets) cannot move. */
Test(cuckoo, alternate_bucket_may_be_the_same)
{
    struct kvc_index *table = create_cuckoo(64 * 16, 50);
    struct kvc_index_stats stats = {0};
    for (uint32_t i = 0; i < 8; i++) {
        cr_assert_eq(insert(table, hash_of(5, (i + 1) << 4), i, &stats), KVC_LOCATION_NONE);
    }
    cr_assert_eq(stats.insert_lines, 8);
    cr_assert_eq(stats.displacements, 0);
    uint32_t dropped = insert(table, hash_of(5, 9 << 4), 8, &stats);
    cr_assert_lt(dropped, 8);
    cr_assert_eq(kvc_index_used(table), 8);
    for (uint32_t i = 0; i < 9; i++) {
        cr_assert_eq(search(table, hash_of(5, (i + 1) << 4), &stats), i == dropped ? KVC_LOCATION_NONE : i);
    }
    kvc_index_free(table);
}

Test(cuckoo, a_closed_pair_of_buckets_holds_sixteen)
{
    struct kvc_index *table = create_cuckoo(64 * 16, 50);
    struct kvc_index_stats stats = {0};
    /* Buckets 0 and 1 are filled with elements that have no other place. */
    for (uint32_t i = 0; i < 15; i++) {
        insert(table, hash_of(0, i << 4 | 1), i, &stats);
    }
    insert(table, hash_of(0, 2), 15, &stats); /* goes to bucket 2, its alternate, because bucket 0 is full */
    insert(table, hash_of(1, 99 << 4 | 1), 16, &stats);
    cr_assert_eq(kvc_index_used(table), 17);
    cr_assert_eq(stats.dropped, 0);
    cr_assert_eq(insert(table, hash_of(0, 77 << 4 | 3), 17, &stats), KVC_LOCATION_NONE, "bucket 3 has room");
    cr_assert_neq(insert(table, hash_of(0, 55 << 4 | 1), 18, &stats), KVC_LOCATION_NONE,
                  "16 slots, 17 elements");
    cr_assert_eq(stats.dropped, 1);
    cr_assert_eq(search(table, hash_of(0, 2), &stats), 15);
    kvc_index_free(table);
}

Test(cuckoo, a_chain_moves_an_element_out)
{
    struct kvc_index *table = create_cuckoo(64 * 16, 100);
    struct kvc_index_stats stats = {0};
    uint32_t buckets[8];
    /* Bucket 0 holds eight elements with eight different alternate buckets; the elements of bucket 8 have no
     * other bucket. A new element of both finds a place if its chain begins in bucket 0, and costs one
     * element if the chain begins in bucket 8. */
    for (uint32_t i = 0; i < 8; i++) {
        buckets[i] = i + 1 < 8 ? i + 1 : 9;
        insert(table, hash_of(0, buckets[i] | (i + 1) << 8), i, &stats);
        insert(table, hash_of(8, (i + 1) << 4), 100 + i, &stats);
    }
    cr_assert_eq(kvc_index_used(table), 16);
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t dropped = stats.dropped;
        uint32_t out = insert(table, hash_of(0, 8 | (i + 20) << 8), 200 + i, &stats);
        cr_assert_eq(stats.dropped - dropped, out != KVC_LOCATION_NONE);
    }
    cr_assert_eq(kvc_index_used(table), 20 - stats.dropped);
    cr_assert_gt(stats.displacements, 0);
    uint32_t found = 0;
    for (uint32_t i = 0; i < 8; i++) {
        found += search(table, hash_of(0, buckets[i] | (i + 1) << 8), &stats) == i;
        found += search(table, hash_of(8, (i + 1) << 4), &stats) == 100 + i;
    }
    for (uint32_t i = 0; i < 4; i++) {
        found += search(table, hash_of(0, 8 | (i + 20) << 8), &stats) == 200 + i;
    }
    cr_assert_eq(found, kvc_index_used(table));
    kvc_index_free(table);
}
