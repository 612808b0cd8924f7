#include "kernels/megakv/cuckoo.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "kernels/random_fixture.h"

/* Returns a hash with this primary bucket and this signature. */
static uint64_t hash_of(uint32_t bucket, uint32_t signature)
{
    return (uint64_t)signature << 32 | bucket;
}

/* Creates a table of the published geometry, with a fixed seed. */
static struct kvc_index *create_cuckoo(uint64_t bytes, uint32_t max_displacements)
{
    struct kvc_index *table = kvc_megakv_cuckoo_create(&(struct kvc_megakv_cuckoo_params){
        .bytes = bytes, .max_displacements = max_displacements, .seed = 42});
    cr_assert_not_null(table);
    return table;
}

static uint32_t insert(struct kvc_index *table, uint64_t hash, uint32_t location,
                       struct kvc_index_stats *stats)
{
    uint32_t out;
    kvc_index_insert(table, &hash, &location, 1, &out, stats);
    return out;
}

static uint32_t search(struct kvc_index *table, uint64_t hash, struct kvc_index_stats *stats)
{
    uint32_t location;
    kvc_index_search(table, &hash, 1, &location, stats);
    return location;
}

static uint32_t erase(struct kvc_index *table, uint64_t hash, uint32_t location,
                      struct kvc_index_stats *stats)
{
    uint32_t out;
    kvc_index_erase(table, &hash, &location, 1, &out, stats);
    return out;
}

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

/* The promise of the header as a plain array: at most one element for each pair of buckets and signature. */
struct reference {
    uint64_t hash[4096];
    uint32_t location[4096]; /* KVC_LOCATION_NONE if the key is not stored */
    uint32_t keys;
    uint64_t used, hits;
};

enum { BATCH = 100 };

/* Random keys of one batch, each with a location. */
struct batch {
    uint32_t count;
    uint32_t key[BATCH], location[BATCH], out[BATCH];
    uint64_t hash[BATCH];
};

static void reference_drop(struct reference *reference, uint32_t location)
{
    for (uint32_t k = 0; k < reference->keys; k++) {
        if (reference->location[k] == location) {
            reference->location[k] = KVC_LOCATION_NONE;
            return;
        }
    }
    cr_assert_fail("location %u was reported but not stored", location);
}

static void compare_inserts(struct kvc_index *table, struct reference *reference, struct batch *batch,
                            struct kvc_index_stats *stats)
{
    kvc_index_insert(table, batch->hash, batch->location, batch->count, batch->out, stats);
    for (uint32_t i = 0; i < batch->count; i++) {
        uint32_t *location = &reference->location[batch->key[i]];
        if (*location != KVC_LOCATION_NONE) {
            cr_assert_eq(batch->out[i], *location);
        } else {
            reference->used++;
            if (batch->out[i] != KVC_LOCATION_NONE) {
                reference_drop(reference, batch->out[i]);
                reference->used--;
            }
        }
        *location = batch->location[i];
    }
}

static void compare_erases(struct kvc_index *table, struct reference *reference, struct batch *batch,
                           struct kvc_index_stats *stats)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        uint32_t right = reference->location[batch->key[i]];
        batch->location[i] = i % 3 == 0 ? KVC_LOCATION_ANY : i % 3 == 1 ? right : right - 1;
    }
    kvc_index_erase(table, batch->hash, batch->location, batch->count, batch->out, stats);
    for (uint32_t i = 0; i < batch->count; i++) {
        uint32_t *stored = &reference->location[batch->key[i]];
        bool erased = *stored != KVC_LOCATION_NONE &&
                      (batch->location[i] == KVC_LOCATION_ANY || batch->location[i] == *stored);
        cr_assert_eq(batch->out[i], erased ? *stored : KVC_LOCATION_NONE);
        if (erased) {
            *stored = KVC_LOCATION_NONE;
            reference->used--;
        }
    }
}

static void compare_searches(struct kvc_index *table, struct reference *reference, struct batch *batch,
                             struct kvc_index_stats *stats)
{
    kvc_index_search(table, batch->hash, batch->count, batch->out, stats);
    for (uint32_t i = 0; i < batch->count; i++) {
        cr_assert_eq(batch->out[i], reference->location[batch->key[i]]);
        reference->hits += batch->out[i] != KVC_LOCATION_NONE;
    }
}

/* Compares random batches of operations on `keys` keys with the plain array. */
static void operate_on(const struct kvc_megakv_cuckoo_params *params, uint32_t keys, uint32_t rounds)
{
    struct kvc_index *table = kvc_megakv_cuckoo_create(params);
    struct reference *reference = calloc(1, sizeof(*reference));
    struct kvc_index_stats stats = {0};
    uint32_t next_location = 0;
    random_state = params->seed;
    reference->keys = keys;
    for (uint32_t k = 0; k < keys; k++) {
        reference->hash[k] = random_word();
        reference->location[k] = KVC_LOCATION_NONE;
    }
    for (uint32_t round = 0; round < rounds; round++) {
        struct batch batch = {.count = (uint32_t)(random_word() % (BATCH + 1))};
        uint32_t operation = (uint32_t)(random_word() % 4);
        for (uint32_t i = 0; i < batch.count; i++) {
            batch.key[i] = (uint32_t)(random_word() % keys);
            batch.hash[i] = reference->hash[batch.key[i]];
            batch.location[i] = next_location++;
        }
        if (operation < 2) {
            compare_inserts(table, reference, &batch, &stats);
        } else if (operation == 2) {
            compare_erases(table, reference, &batch, &stats);
        } else {
            compare_searches(table, reference, &batch, &stats);
        }
        cr_assert_eq(kvc_index_used(table), reference->used);
    }
    cr_assert_eq(stats.search_hits, reference->hits);
    cr_assert_gt(stats.erased, 0);
    free(reference);
    kvc_index_free(table);
}

static void operate(uint64_t seed, bool portable, uint64_t buckets, uint32_t keys, uint32_t rounds)
{
    operate_on(
        &(struct kvc_megakv_cuckoo_params){
            .bytes = buckets * 64, .max_displacements = 50, .seed = seed, .portable = portable},
        keys, rounds);
}

Test(cuckoo, every_geometry_agrees_with_a_plain_map)
{
    for (uint32_t slots = 4; slots <= 32; slots *= 2) {
        for (uint32_t partitions = 1; partitions <= 16; partitions *= 16) {
            struct kvc_megakv_cuckoo_params params = {.slots = slots,
                                                      .partitions = partitions,
                                                      .bytes = 16 << 10, /* 2048 slots */
                                                      .max_displacements = 50,
                                                      .seed = slots};
            operate_on(&params, 1500, 600);
            operate_on(&params, 4000, 600);
            params.layout = KVC_MEGAKV_CUCKOO_INTERLEAVED;
            operate_on(&params, 1500, 600);
            operate_on(&params, 4000, 600);
        }
    }
}

Test(cuckoo, random_operations_agree_with_a_plain_map)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        operate(seed, false, 256, 1500, 3000); /* mostly fits */
        operate(seed, false, 256, 4000, 1500); /* drops */
        operate(seed, true, 256, 2500, 1500);
        operate(seed, false, 1, 20, 1000);
        operate(seed, false, 2, 40, 1000);
    }
}

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

/* Elements that are not there need no look at the alternate bucket: the table becomes the same. */
Test(cuckoo, new_elements_make_the_same_table)
{
    enum { KEYS = 60000, STEP = 1000 }; /* 92 % of the slots, so that some elements are displaced. */
    static uint64_t hash[KEYS];
    static uint32_t location[KEYS];
    const struct kvc_megakv_cuckoo_params params = {.bytes = 512 << 10, .max_displacements = 200, .seed = 7};
    struct kvc_index *any = kvc_megakv_cuckoo_create(&params), *fresh = kvc_megakv_cuckoo_create(&params);
    struct kvc_index_stats of_any = {0}, of_fresh = {0};
    struct kvc_megakv_cuckoo_memory memory[2];
    for (uint32_t i = 0; i < KEYS; i++) {
        hash[i] = random_word();
        location[i] = i;
    }
    for (uint32_t i = 0; i < KEYS; i += STEP) {
        kvc_index_insert(any, hash + i, location + i, STEP, NULL, &of_any);
        kvc_megakv_cuckoo_insert_new(fresh, hash + i, location + i, STEP, &of_fresh);
    }
    cr_assert(kvc_megakv_cuckoo_memory_of(any, &memory[0]) && kvc_megakv_cuckoo_memory_of(fresh, &memory[1]));
    cr_expect_eq(memcmp(memory[0].words, memory[1].words, memory[0].words_bytes), 0);
    cr_expect_eq(kvc_index_used(any), kvc_index_used(fresh));
    cr_expect(of_fresh.inserts == KEYS && of_fresh.displacements == of_any.displacements);
    cr_expect_gt(of_fresh.displacements, 0);
    cr_expect_lt(of_fresh.insert_lines, of_any.insert_lines);
    kvc_index_free(any);
    kvc_index_free(fresh);
}
