#include "sim/workload/keys/sampling.h"

#include <criterion/criterion.h>

#include "sim/workload/source/source_fixture.h"

enum { KEYS = 100000, RATE = 16 };

static const struct kvc_sampling warm = {.rate = RATE, .hot_keys = 64 * RATE};

Test(sampling, has_hot_keys_under_zipf_alone)
{
    struct kvc_workload workload = {.keys = KEYS, .popularity = KVC_POPULARITY_ZIPF};
    cr_expect_eq(kvc_sampling_of(&workload, 0, 64).hot_keys, 0);
    cr_expect_eq(kvc_sampling_of(&workload, 1, 64).hot_keys, 0);
    cr_expect_eq(kvc_sampling_of(&workload, RATE, 64).hot_keys, 64 * RATE);
    workload.keys = 1000;
    cr_expect_eq(kvc_sampling_of(&workload, RATE, 64).hot_keys, 496, "500, rounded down to whole strata");
    workload.popularity = KVC_POPULARITY_UNIFORM;
    cr_expect_eq(kvc_sampling_of(&workload, RATE, 64).hot_keys, 0);
}

Test(sampling, keeps_one_key_of_every_stratum)
{
    const struct kvc_sampling sampling = {.rate = RATE};
    for (uint64_t stratum = 0; stratum < KEYS / RATE; stratum++) {
        uint64_t kept = kvc_sampling_key(stratum, RATE);
        cr_assert_eq(kept / RATE, stratum);
        for (uint64_t key_id = stratum * RATE; key_id < (stratum + 1) * RATE; key_id++) {
            cr_assert_eq(kvc_sampling_keeps_key(&sampling, key_id), key_id == kept);
        }
    }
}

Test(sampling, of_requests_thins_the_hot_keys)
{
    enum { REQUESTS = 100000 };
    struct kvc_rng rng;
    uint64_t hot = 0;
    kvc_rng_init(&rng, 1, "thinning", 0);
    for (int i = 0; i < REQUESTS; i++) {
        hot += kvc_sampling_keeps_request(&warm, 0, &rng);
    }
    cr_expect_float_eq((double)hot / REQUESTS, 1.0 / RATE, 0.005);
    for (uint64_t key_id = warm.hot_keys; key_id < KEYS; key_id++) {
        cr_assert_eq(kvc_sampling_keeps_request(&warm, key_id, &rng), kvc_sampling_keeps_key(&warm, key_id));
    }
    const struct kvc_sampling all = {.rate = 1};
    cr_expect(kvc_sampling_keeps_request(&all, 0, &rng));
}

/* Checks that ranges of keys add exactly the keys of the sample in them. */
static void check_ranges(const struct kvc_sampling *sampling)
{
    const struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_SATURATE);
    struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, KEYS);
    uint64_t ends[] = {0, 1, 500, 1000, 1024, 1025, 1050, 3000, KEYS - 1, KEYS};
    for (size_t i = 1; i < sizeof(ends) / sizeof(*ends); i++) {
        uint32_t row = 0;
        batch->count = 0;
        kvc_sampling_add_keys(sampling, source, ends[i - 1], ends[i], batch);
        for (uint64_t key_id = ends[i - 1]; key_id < ends[i]; key_id++) {
            if (kvc_sampling_keeps_key(sampling, key_id)) {
                cr_assert_lt(row, batch->count);
                cr_assert_eq(batch->key_id[row++], key_id);
            }
        }
        cr_assert_eq(row, batch->count);
    }
    kvc_batch_free(batch);
    kvc_source_free(source);
}

Test(sampling, adds_the_keys_of_a_range_in_order)
{
    check_ranges(&warm);
    check_ranges(&(struct kvc_sampling){.rate = 1});
    check_ranges(&(struct kvc_sampling){.rate = RATE});
}

static uint32_t odd_or_even(uint32_t key_bytes, uint32_t value_bytes)
{
    return (key_bytes + value_bytes) % 2;
}

/* Checks that the representative of each hot key is a key of the sample, of the same shard and kind, and
 * returns how many requests for hot keys the busiest representative would get if all were as popular. */
static uint32_t check_representatives(const struct kvc_workload *workload, enum kvc_sampling_choice choice)
{
    struct kvc_source *source = kvc_test_source(workload, 2, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(workload, 2);
    const struct kvc_sampling_kinds kinds = {
        .choice = choice, .keys = KEYS, .key_stride = kvc_workload_key_stride(workload), .kind = odd_or_even};
    uint64_t *representative = kvc_sampling_representatives(&warm, source, &kinds);
    uint32_t *load = calloc(KEYS, sizeof(*load)), most = 0;
    for (uint64_t key_id = 0; key_id < warm.hot_keys; key_id++) {
        batch->count = 0;
        kvc_source_keys(source, key_id, 1, batch);
        kvc_source_keys(source, representative[key_id], 1, batch);
        cr_assert(kvc_sampling_keeps_key(&warm, representative[key_id]));
        cr_assert_eq(kvc_source_shard(source, batch->hash[0]), kvc_source_shard(source, batch->hash[1]));
        cr_assert_eq(odd_or_even(batch->key_bytes[0], batch->value_bytes[0]),
                     odd_or_even(batch->key_bytes[1], batch->value_bytes[1]));
        if (choice == KVC_SAMPLING_ALIKE && key_id >= 16 * RATE) {
            cr_assert_float_eq((double)representative[key_id] / RATE, (double)key_id / RATE, 16);
        }
        load[representative[key_id]]++;
        most = load[representative[key_id]] > most ? load[representative[key_id]] : most;
    }
    free(load);
    free(representative);
    kvc_batch_free(batch);
    kvc_source_free(source);
    return most;
}

Test(sampling, represents_hot_keys_by_keys_alike)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_SATURATE);
    workload.keys = KEYS;
    workload.sizes = KVC_SIZES_ETC;
    cr_expect_leq(check_representatives(&workload, KVC_SAMPLING_ALIKE), 16 * RATE);
    cr_expect_leq(check_representatives(&workload, KVC_SAMPLING_SPREAD), 8);
}
