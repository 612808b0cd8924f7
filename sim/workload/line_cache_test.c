#include <criterion/criterion.h>
#include <gsl/gsl_integration.h>
#include <math.h>

#include "sim/workload/line_cache.h"
#include "sim/workload/keys/popularity_sums.h"

/* N equally popular lines compete for C places, and a fraction l of them is cacheable. x = l N / C lines
 * share a place on average, Poisson distributed, and the next use hits with probability (1 - exp(-x)) / x. */
Test(reuse, uniform_hits_are_those_of_a_direct_map)
{
    const struct kvc_workload workload = {.keys = 100000, .popularity = KVC_POPULARITY_UNIFORM};
    const struct kvc_card_lines cached = {.buckets = 1e5 / 1e-6, .pairs_per_bucket = 1e-6, .places = 10000};
    const struct kvc_card_reuse *reuse = kvc_card_reuse_of(&workload, &cached);
    for (double l = 0.1; l <= 1; l += 0.1) {
        double each = l * 1e5 / 1e4;
        cr_expect_float_eq(kvc_card_hit_frac(reuse, l), -expm1(-each) / each, 0.003, "l = %g: %g", l,
                           kvc_card_hit_frac(reuse, l));
    }
}

Test(reuse, popular_keys_hit_more)
{
    struct kvc_workload workload = {.keys = 1000000, .popularity = KVC_POPULARITY_ZIPF, .zipf_s = 0.99};
    const struct kvc_card_lines cached = {.buckets = 500000, .pairs_per_bucket = 2, .places = 31250};
    const struct kvc_card_reuse *zipf = kvc_card_reuse_of(&workload, &cached);
    workload.popularity = KVC_POPULARITY_UNIFORM;
    const struct kvc_card_reuse *uniform = kvc_card_reuse_of(&workload, &cached);
    double before = 1;
    for (double l = 0.1; l <= 1; l += 0.1) {
        double hit = kvc_card_hit_frac(zipf, l);
        cr_expect_gt(hit, kvc_card_hit_frac(uniform, l));
        cr_expect_lt(hit, before, "a larger share competes for the same places");
        before = hit;
    }
}

/* The reuse is kept by all that it depends on, and dropped when many others were asked for since. */
Test(reuse, kept_reuses_are_those_of_their_arguments)
{
    enum { SKEWS = 300 };
    struct kvc_workload workload = {.keys = 1000, .popularity = KVC_POPULARITY_ZIPF};
    const struct kvc_card_lines cached = {.buckets = 500, .pairs_per_bucket = 2, .places = 100};
    double hit[2][SKEWS];
    for (uint32_t i = 0; i < 2 * SKEWS; i++) {
        uint32_t skew = i < SKEWS ? i : 2 * SKEWS - 1 - i; /* The latest ones are still kept. */
        workload.zipf_s = 0.5 + 0.0013 * skew;
        hit[i / SKEWS][skew] = kvc_card_hit_frac(kvc_card_reuse_of(&workload, &cached), 1);
    }
    cr_expect_arr_eq(hit[0], hit[1], sizeof(hit[0]));
    for (uint32_t i = 1; i < SKEWS; i++) {
        cr_expect_gt(hit[0][i], hit[0][i - 1]);
    }
}

/* Returns the density of hits by the logarithm of the requests, for pairs in slabs of a line. */
static double hit_density(double log_requests, void *data)
{
    const struct kvc_workload *workload = data;
    double requests = exp(log_requests), keys = (double)workload->keys, buckets = keys / 2;
    struct kvc_popularity_use use = kvc_popularity_use_after(kvc_popularity_sums_of(workload), requests);
    double left = exp(-2 * use.touched_frac), first = use.left_mass / keys, second = use.left_squares / keys;
    double used = buckets * (1 - left) + keys * use.touched_frac;
    return (buckets * left * (4 * first * first + 2 * second) + use.left_squares) / 2 * requests *
           exp(-used / (keys / 10));
}

/* Gauss' rule gives the integral that takes a general method thousands of evaluations. */
Test(reuse, hits_are_an_integral)
{
    struct kvc_workload workload = {.keys = 3000000, .popularity = KVC_POPULARITY_ZIPF, .zipf_s = 0.99};
    const double keys = (double)workload.keys;
    const struct kvc_card_lines cached = {keys / 2, 2, 1, keys / 10};
    gsl_integration_workspace *room = gsl_integration_workspace_alloc(1000);
    gsl_function density = {hit_density, &workload};
    double hit, error;
    cr_assert_eq(gsl_integration_qag(&density, log(0.01), log(1e4 * keys), 0, 1e-12, 1000, GSL_INTEG_GAUSS31,
                                     room, &hit, &error),
                 0);
    gsl_integration_workspace_free(room);
    double found = kvc_card_hit_frac(kvc_card_reuse_of(&workload, &cached), 1);
    cr_expect_float_eq(found, hit, 1e-11 * hit, "%.17g, not %.17g", found, hit);
}
