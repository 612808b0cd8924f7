#include "sim/run/preload.h"

#include <criterion/criterion.h>

#include "sim/workload/source/source_fixture.h"

enum { KEYS = 100000, RATE = 4, NODES = 3, SOCKETS = 2, SHARDS = NODES * SOCKETS, SEED = 3 };

/* Visits of a walk. */
struct seen {
    uint32_t keys;
    uint32_t *times;                 /* Indexed by key. */
    uint64_t block[KEYS];            /* First key of each block, in the order of the walk. */
    const struct kvc_source *source; /* Knows the shards. */
    uint32_t blocks, shard, reports; /* shard: of the latest visit. */
    double reported;                 /* The latest progress. */
    uint32_t popular_early;          /* Keys of the more popular half in the first half of the walk. */
    uint32_t ascending, descending;  /* Number of steps to a less and to a more popular key. */
};

static void see(void *data, const struct kvc_preload_visit *visit)
{
    struct seen *seen = data;
    cr_assert(visit->count > 0 && visit->count <= visit->batch->count);
    if (seen->blocks == 0 || seen->block[seen->blocks - 1] != visit->batch->key_id[0]) {
        seen->block[seen->blocks++] = visit->batch->key_id[0];
    } else {
        cr_assert_gt(visit->shard, seen->shard);
    }
    seen->shard = visit->shard;
    for (uint32_t i = 0; i < visit->count; i++) {
        uint32_t row = visit->row[i];
        cr_assert_eq(kvc_source_shard(seen->source, visit->batch->hash[row]), visit->shard);
        seen->ascending += i > 0 && row > visit->row[i - 1];
        seen->descending += i > 0 && row < visit->row[i - 1];
        seen->popular_early += seen->keys < KEYS / 2 && visit->batch->key_id[row] < KEYS / 2;
        seen->times[visit->batch->key_id[row]]++;
        seen->keys++;
    }
}

static void note_progress(void *data, const char *step, double fraction)
{
    struct seen *seen = data;
    cr_assert_str_eq(step, "fill");
    cr_assert_geq(fraction, seen->reported);
    seen->reported = fraction;
    seen->reports++;
}

/* Walks over all keys of a sample in an order, and checks that every kept key below `end` is visited once. */
static struct seen *walk(const struct kvc_workload *workload, const struct kvc_sampling *sampling,
                         enum kvc_preload_order order, uint64_t end, uint64_t seed)
{
    struct seen *seen = calloc(1, sizeof(*seen));
    struct kvc_source *source = kvc_test_source(workload, NODES, SOCKETS, KVC_TEST_SEED);
    const struct kvc_source_params params = {.workload = workload,
                                             .nodes = NODES,
                                             .sockets = SOCKETS,
                                             .seed = seed,
                                             .hash_seed = KVC_TEST_HASH_SEED,
                                             .frame_requests = 1};
    const struct kvc_progress progress = {note_progress, seen};
    struct kvc_preload *preload = kvc_preload_create(&params, sampling, NULL);
    cr_assert(seen != NULL && preload != NULL);
    seen->times = calloc(KEYS, sizeof(*seen->times));
    seen->source = source;
    kvc_preload_walk(preload, order, &progress, "fill", see, seen);
    for (uint64_t key_id = 0; key_id < KEYS; key_id++) {
        cr_assert_eq(seen->times[key_id], key_id < end && kvc_sampling_keeps_key(sampling, key_id));
    }
    kvc_preload_free(preload);
    kvc_source_free(source);
    return seen;
}

static void free_seen(struct seen *seen)
{
    free(seen->times);
    free(seen);
}

static struct kvc_workload preloaded(double preload_frac)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_SATURATE);
    workload.preload_frac = preload_frac;
    return workload;
}

Test(preload, visits_every_kept_key_once)
{
    const struct kvc_workload workload = preloaded(1);
    const struct kvc_sampling samplings[] = {
        {.rate = 1}, {.rate = RATE}, {.rate = RATE, .hot_keys = 64 * RATE}};
    for (size_t i = 0; i < sizeof(samplings) / sizeof(*samplings); i++) {
        for (int order = KVC_PRELOAD_POPULAR_LAST; order <= KVC_PRELOAD_SPREAD; order++) {
            struct seen *seen = walk(&workload, &samplings[i], (enum kvc_preload_order)order, KEYS, SEED);
            cr_expect_eq(seen->reported, 1);
            cr_expect_eq(seen->reports, seen->blocks);
            free_seen(seen);
        }
    }
}

Test(preload, stops_at_the_share_that_is_preloaded)
{
    const struct kvc_sampling sampling = {.rate = RATE, .hot_keys = 64 * RATE};
    struct kvc_workload workload = preloaded(0.33333);
    free_seen(walk(&workload, &sampling, KVC_PRELOAD_POPULAR_LAST, 33333, SEED));
    free_seen(walk(&workload, &sampling, KVC_PRELOAD_SPREAD, 33332, SEED)); /* A whole number of strata. */
    /* Preloads only the first strata. */
    workload.preload_frac = 0.001;
    free_seen(walk(&workload, &sampling, KVC_PRELOAD_POPULAR_LAST, 100, SEED));
    free_seen(walk(&workload, &sampling, KVC_PRELOAD_SPREAD, 100, SEED));
    workload.preload_frac = 0;
    free_seen(walk(&workload, &sampling, KVC_PRELOAD_POPULAR_LAST, 0, SEED));
    free_seen(walk(&workload, &sampling, KVC_PRELOAD_SPREAD, 0, SEED));
}

Test(preload, brings_the_popular_keys_last)
{
    const struct kvc_workload workload = preloaded(1);
    const struct kvc_sampling sampling = {.rate = 1};
    struct seen *seen = walk(&workload, &sampling, KVC_PRELOAD_POPULAR_LAST, KEYS, SEED);
    cr_assert_gt(seen->blocks, 20);
    for (uint32_t i = 1; i < seen->blocks; i++) {
        cr_expect_lt(seen->block[i], seen->block[i - 1]);
    }
    free_seen(seen);
}

Test(preload, spreads_popular_keys_over_the_walk)
{
    const struct kvc_workload workload = preloaded(1);
    const struct kvc_sampling sampling = {.rate = 1};
    struct seen *seen = walk(&workload, &sampling, KVC_PRELOAD_SPREAD, KEYS, SEED);
    cr_expect_float_eq((double)seen->popular_early, KEYS / 4.0, 0.02 * KEYS, "%u", seen->popular_early);
    free_seen(seen);
}

Test(preload, orders_keys_by_the_seed_alone)
{
    const struct kvc_workload workload = preloaded(1);
    const struct kvc_sampling sampling = {.rate = 1};
    struct seen *seen = walk(&workload, &sampling, KVC_PRELOAD_SPREAD, KEYS, SEED);
    struct seen *again = walk(&workload, &sampling, KVC_PRELOAD_SPREAD, KEYS, SEED);
    struct seen *other = walk(&workload, &sampling, KVC_PRELOAD_SPREAD, KEYS, SEED + 1);
    cr_expect_arr_eq(seen->block, again->block, sizeof(seen->block));
    cr_expect_arr_neq(seen->block, other->block, sizeof(seen->block));
    double steps = (double)seen->ascending + seen->descending;
    cr_expect_float_eq(seen->ascending / steps, 0.5, 0.02);
    cr_expect_neq(seen->ascending, other->ascending);
    free_seen(seen);
    free_seen(again);
    free_seen(other);
}
