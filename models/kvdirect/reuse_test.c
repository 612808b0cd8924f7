#include <criterion/criterion.h>
#include <gsl/gsl_integration.h>
#include <math.h>

#include "models/kvdirect/reuse.h"
#include "sim/workload/keys/popularity_blocks.h"

/* N equally popular lines compete for C places, and a fraction l of them is cacheable. x = l N / C lines
 * share a place on average, Poisson distributed, and the next use hits with probability (1 - exp(-x)) / x. */
Test(reuse, uniform_hits_are_those_of_a_direct_map)
{
    const struct kvc_workload workload = {.keys = 100000, .popularity = KVC_POPULARITY_UNIFORM};
    const struct kvc_kvdirect_cached cached = {
        .buckets = 1e5 / 1e-6, .pairs_per_bucket = 1e-6, .places = 10000};
    const struct kvc_kvdirect_reuse *reuse = kvc_kvdirect_reuse_of(&workload, &cached);
    for (double l = 0.1; l <= 1; l += 0.1) {
        double each = l * 1e5 / 1e4;
        cr_expect_float_eq(kvc_kvdirect_hit_frac(reuse, l), -expm1(-each) / each, 0.003, "l = %g: %g", l,
                           kvc_kvdirect_hit_frac(reuse, l));
    }
}

Test(reuse, popular_keys_hit_more)
{
    struct kvc_workload workload = {.keys = 1000000, .popularity = KVC_POPULARITY_ZIPF, .zipf_s = 0.99};
    const struct kvc_kvdirect_cached cached = {.buckets = 500000, .pairs_per_bucket = 2, .places = 31250};
    const struct kvc_kvdirect_reuse *zipf = kvc_kvdirect_reuse_of(&workload, &cached);
    workload.popularity = KVC_POPULARITY_UNIFORM;
    const struct kvc_kvdirect_reuse *uniform = kvc_kvdirect_reuse_of(&workload, &cached);
    double before = 1;
    for (double l = 0.1; l <= 1; l += 0.1) {
        double hit = kvc_kvdirect_hit_frac(zipf, l);
        cr_expect_gt(hit, kvc_kvdirect_hit_frac(uniform, l));
        cr_expect_lt(hit, before, "a larger share competes for the same places");
        before = hit;
    }
}

/* The reuse is kept by all that it depends on, and dropped when many others were asked for since. */
Test(reuse, kept_reuses_are_those_of_their_arguments)
{
    enum { SKEWS = 300 };
    struct kvc_workload workload = {.keys = 1000, .popularity = KVC_POPULARITY_ZIPF};
    const struct kvc_kvdirect_cached cached = {.buckets = 500, .pairs_per_bucket = 2, .places = 100};
    double hit[2][SKEWS];
    for (uint32_t i = 0; i < 2 * SKEWS; i++) {
        uint32_t skew = i < SKEWS ? i : 2 * SKEWS - 1 - i; /* The latest ones are still kept. */
        workload.zipf_s = 0.5 + 0.0013 * skew;
        hit[i / SKEWS][skew] = kvc_kvdirect_hit_frac(kvc_kvdirect_reuse_of(&workload, &cached), 1);
    }
    cr_expect_arr_eq(hit[0], hit[1], sizeof(hit[0]));
    for (uint32_t i = 1; i < SKEWS; i++) {
        cr_expect_gt(hit[0][i], hit[0][i - 1]);
    }
}

/* Sums over all blocks of keys, without leaving any out. */
static struct kvc_kvdirect_unused unused_in_full(const struct kvc_workload *workload, double requests,
                                                 double *merged)
{
    struct kvc_kvdirect_unused unused = {0};
    struct kvc_popularity_blocks blocks;
    struct kvc_popularity_block block;
    *merged = 0;
    kvc_popularity_blocks_open(&blocks, workload);
    while (kvc_popularity_blocks_next(&blocks, &block)) {
        double each = block.mass / block.keys, left = block.keys * exp(-each * requests);
        unused.frac += left / (double)workload->keys;
        unused.first -= left * each / (double)workload->keys;
        unused.second += left * each * each / (double)workload->keys;
        *merged += block.mass * each * requests / (1 + each * requests);
    }
    kvc_popularity_blocks_close(&blocks);
    return unused;
}

static void expect_close(double found, double expected, const char *what, double requests)
{
    cr_expect(fabs(found - expected) <= 1e-12 * fabs(expected), "%s after %g: %.17g, not %.17g", what,
              requests, found, expected);
}

/* Series and cut-offs stand for the full sums over the keys. */
Test(reuse, sums_over_keys_are_those_over_all_blocks)
{
    static const double skews[] = {0, 0.5, 0.99, 1.4};
    for (size_t i = 0; i < sizeof(skews) / sizeof(*skews); i++) {
        const struct kvc_workload workload = {.keys = 10000000,
                                              .popularity =
                                                  skews[i] > 0 ? KVC_POPULARITY_ZIPF : KVC_POPULARITY_UNIFORM,
                                              .zipf_s = skews[i]};
        const struct kvc_kvdirect_popularity *popularity = kvc_kvdirect_popularity_of(&workload);
        for (double requests = 0.01; requests < 1e9; requests *= 3) {
            double merged;
            struct kvc_kvdirect_unused full = unused_in_full(&workload, requests, &merged);
            struct kvc_kvdirect_unused found = kvc_kvdirect_unused_after(popularity, requests);
            expect_close(found.frac, full.frac, "unused", requests);
            expect_close(found.first, full.first, "first derivative", requests);
            expect_close(found.second, full.second, "second derivative", requests);
            expect_close(kvc_kvdirect_merged_frac(popularity, requests, 1), merged, "merged", requests);
        }
    }
}

/* Returns the density of hits by the logarithm of the requests, for pairs in slabs of a line. */
static double hit_density(double log_requests, void *data)
{
    const struct kvc_workload *workload = data;
    double requests = exp(log_requests), keys = (double)workload->keys, merged;
    struct kvc_kvdirect_unused unused = unused_in_full(workload, requests, &merged);
    double left = exp(-2 * (1 - unused.frac)), buckets = keys / 2;
    double used = buckets * (1 - left) + keys * (1 - unused.frac);
    return (buckets * left * (4 * unused.first * unused.first + 2 * unused.second) + keys * unused.second) /
           2 * requests * exp(-used / (keys / 10));
}

/* Gauss' rule gives the integral that takes a general method thousands of evaluations. */
Test(reuse, hits_are_an_integral)
{
    struct kvc_workload workload = {.keys = 3000000, .popularity = KVC_POPULARITY_ZIPF, .zipf_s = 0.99};
    const double keys = (double)workload.keys;
    const struct kvc_kvdirect_cached cached = {keys / 2, 2, 1, keys / 10};
    gsl_integration_workspace *room = gsl_integration_workspace_alloc(1000);
    gsl_function density = {hit_density, &workload};
    double hit, error;
    cr_assert_eq(gsl_integration_qag(&density, log(0.01), log(1e4 * keys), 0, 1e-12, 1000, GSL_INTEG_GAUSS31,
                                     room, &hit, &error),
                 0);
    gsl_integration_workspace_free(room);
    double found = kvc_kvdirect_hit_frac(kvc_kvdirect_reuse_of(&workload, &cached), 1);
    cr_expect_float_eq(found, hit, 1e-11 * hit, "%.17g, not %.17g", found, hit);
}
