#include "kernels/megakv/cuckoo.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "kernels/megakv/cuckoo_fixture.h"
#include "kernels/random_fixture.h"

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
