#include <criterion/criterion.h>
#include <math.h>

#include "sim/workload/keys/reuse.h"
#include "sim/workload/keys/zipf.h"

enum { KEYS = 100000, ITEM_BYTES = 64, SIZES = 6 };

static const double part[SIZES] = {0.001, 0.01, 0.1, 0.5, 0.9, 1};

static struct kvc_workload uniform(void)
{
    return (struct kvc_workload){.keys = KEYS, .popularity = KVC_POPULARITY_UNIFORM};
}

static struct kvc_workload zipf(double s)
{
    return (struct kvc_workload){.keys = KEYS, .popularity = KVC_POPULARITY_ZIPF, .zipf_s = s};
}

/* Returns the share for a size that is `part` of the footprint. */
static void shares_of(const struct kvc_workload *workload, const struct kvc_reuse *reuse, double share[SIZES])
{
    for (int i = 0; i < SIZES; i++) {
        share[i] = kvc_reuse_share(workload, reuse, part[i] * reuse->footprint_bytes);
    }
}

Test(reuse, uniform_keys_come_back_evenly)
{
    struct kvc_workload workload = uniform();
    const struct kvc_reuse items = {.bytes_per_key = ITEM_BYTES, .footprint_bytes = ITEM_BYTES * KEYS};
    double share[SIZES];
    shares_of(&workload, &items, share);
    for (int i = 0; i < SIZES; i++) {
        cr_expect_float_eq(share[i], part[i], 1e-6, "%g of the footprint: %g", part[i], share[i]);
    }
}

Test(reuse, popular_keys_come_back_sooner)
{
    struct kvc_workload workload = zipf(0.99), steeper = zipf(1.3);
    const struct kvc_reuse items = {.bytes_per_key = ITEM_BYTES, .footprint_bytes = ITEM_BYTES * KEYS};
    double share[SIZES], more[SIZES];
    shares_of(&workload, &items, share);
    shares_of(&steeper, &items, more);
    for (int i = 0; i < SIZES - 1; i++) {
        cr_expect_gt(share[i], part[i]);
        cr_expect_gt(more[i], share[i]);
        cr_expect_lt(share[i], share[i + 1]);
    }
    cr_expect_eq(share[SIZES - 1], 1);
    cr_expect_eq(more[SIZES - 1], 1);
}

Test(reuse, a_key_stays_until_other_requests_fill_the_cache)
{
    const struct kvc_workload workload = uniform();
    const struct kvc_reuse keys = {.bytes_per_key = 1, .footprint_bytes = KEYS};
    double half = kvc_reuse_requests(&workload, &keys, KEYS / 2.0); /* 1 - exp(-half / KEYS) is a half. */
    cr_expect_float_eq(half, KEYS * log(2), 1e-3 * KEYS, "%g requests", half);
    cr_expect_eq(kvc_reuse_requests(&workload, &keys, KEYS), INFINITY);
}

enum { FEW = 4096, CAPACITIES = 3, REQUESTS = 200000, WARM = 20000 };

static const uint32_t capacity[CAPACITIES] = {10, 60, 300};

/* Simulates LRU caches of several sizes and returns their hit ratios. Each key is in one of `lines` lines. */
static void lru_hits(double s, uint32_t lines, double hit_frac[CAPACITIES])
{
    static uint64_t rank[REQUESTS];
    static uint32_t next[FEW + 1],
        before[FEW + 1]; /* A list, the most recent line first; entry `lines` is its head. */
    uint64_t found[CAPACITIES] = {0};
    struct kvc_rng rng;
    struct kvc_zipf *popularity = kvc_zipf_create(FEW, s);
    cr_assert_not_null(popularity);
    kvc_rng_init(&rng, 3, "test", 0);
    kvc_zipf_fill(popularity, &rng, rank, REQUESTS);
    kvc_zipf_free(popularity);
    for (uint32_t i = 0; i <= lines; i++) {
        next[i] = (i + 1) % (lines + 1);
        before[(i + 1) % (lines + 1)] = i;
    }
    for (int i = 0; i < REQUESTS; i++) {
        uint32_t line = lines == FEW ? (uint32_t)rank[i] : (uint32_t)(kvc_mix64(rank[i]) % lines);
        uint32_t distance = 0;
        for (uint32_t at = next[lines]; at != line && distance < capacity[CAPACITIES - 1]; at = next[at]) {
            distance++;
        }
        for (int c = 0; c < CAPACITIES && i >= WARM; c++) {
            found[c] += distance < capacity[c];
        }
        next[before[line]] = next[line];
        before[next[line]] = before[line];
        next[line] = next[lines];
        before[line] = lines;
        before[next[line]] = next[lines] = line;
    }
    for (int c = 0; c < CAPACITIES; c++) {
        hit_frac[c] = (double)found[c] / (REQUESTS - WARM);
    }
}

static void expect_lru(double s, uint32_t lines, double tolerance)
{
    const struct kvc_workload workload = {.keys = FEW, .popularity = KVC_POPULARITY_ZIPF, .zipf_s = s};
    const struct kvc_reuse reuse = {.bytes_per_key = ITEM_BYTES,
                                    .footprint_bytes = (double)ITEM_BYTES * lines};
    double expected[CAPACITIES];
    lru_hits(s, lines, expected);
    for (int c = 0; c < CAPACITIES; c++) {
        double share = kvc_reuse_share(&workload, &reuse, (double)capacity[c] * ITEM_BYTES);
        cr_expect_float_eq(share, expected[c], tolerance, "s %g, %u of %u lines: %g, not %g", s, capacity[c],
                           lines, share, expected[c]);
    }
}

Test(reuse, is_an_lru_caches_hit_ratio)
{
    expect_lru(0.5, FEW, 0.01);
    expect_lru(0.99, FEW, 0.01);
    expect_lru(1.3, FEW, 0.01);
}

/* Eight keys share a line. The tolerance is wide because the model treats all lines equally, although some
 * hold the most popular keys, and so underestimates the share. */
Test(reuse, is_the_hit_ratio_of_shared_lines)
{
    expect_lru(0.5, FEW / 8, 0.02);
    expect_lru(0.99, FEW / 8, 0.02);
    expect_lru(1.3, FEW / 8, 0.02);
}

/* Packets, which are not touched again, evict other lines sooner. */
Test(reuse, streams_take_room)
{
    struct kvc_workload workload = uniform();
    const struct kvc_reuse beside = {
        .bytes_per_key = ITEM_BYTES, .footprint_bytes = ITEM_BYTES * KEYS, .stream_bytes = ITEM_BYTES};
    double share[SIZES];
    shares_of(&workload, &beside, share);
    /* The share is 1 - exp(-t/k), where t solves k (1 - exp(-t/k)) + t = part k. */
    for (int i = 0; i < SIZES; i++) {
        double touched = share[i] - log1p(-share[i]);
        cr_expect_float_eq(touched, part[i], 1e-6, "%g: %g", part[i], touched);
    }
    cr_expect_lt(share[SIZES - 1], 0.5);
}

/* Sixteen keys share a line. A cache as large as the footprint holds all keys, whatever their popularity;
 * uniform keys use it evenly. */
Test(reuse, keys_that_share_lines)
{
    struct kvc_workload alike = uniform(), popular = zipf(0.99);
    const struct kvc_reuse lines = {.bytes_per_key = 64, .footprint_bytes = 64.0 * KEYS / 16};
    double share[SIZES], more[SIZES];
    shares_of(&alike, &lines, share);
    shares_of(&popular, &lines, more);
    for (int i = 0; i < SIZES; i++) {
        cr_expect_float_eq(share[i], part[i], 1e-6, "%g of the footprint: %g", part[i], share[i]);
        cr_expect(more[i] <= 1 && (i == 0 || more[i] > more[i - 1]), "%g", more[i]);
    }
    for (int i = 0; i < SIZES - 1; i++) {
        cr_expect_gt(more[i], share[i]);
    }
    cr_expect_eq(more[SIZES - 1], 1);
}
