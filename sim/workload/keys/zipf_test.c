#include "sim/workload/keys/zipf.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

enum { DRAWS = 1000000, BINS = 400, PART = 1000 };

static const double exponents[] = {0.2, 0.5, 0.99, 1, 1.2, 3};

/* Divides the ranks into bins: single ranks up to 100, then bins that grow by a tenth. end[i] is one past the
 * last rank of bin i. Returns the number of bins. */
static int cut_bins(uint64_t n, uint64_t *end)
{
    int bins = 0;
    for (uint64_t at = 0; at < n; end[bins++] = at) {
        at += 1 + at / 100 * 10;
        if (at > n) {
            at = n;
        }
    }
    return bins;
}

static int bin_of(const uint64_t *end, int bins, uint64_t rank)
{
    int low = 0, high = bins - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (rank < end[middle]) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Returns Pearson's statistic over bins that are joined until each expects 20 draws. *freedom is their number
 * minus one. */
static double chi_square(uint64_t n, double s, const uint64_t *end, const double *seen, int bins,
                         int *freedom)
{
    double statistic = 0, expected = 0, found = 0, below = 0, left = DRAWS;
    *freedom = -1;
    for (int i = 0; i < bins; i++) {
        double mass = kvc_zipf_mass(n, s, end[i]);
        expected += (mass - below) * DRAWS;
        found += seen[i];
        below = mass;
        if ((expected >= 20 && left - expected >= 20) || i == bins - 1) {
            if (expected > 1e-3) {
                statistic += (found - expected) * (found - expected) / expected;
                ++*freedom;
            } else {
                cr_assert_eq(found, 0);
            }
            left -= expected;
            expected = found = 0;
        }
    }
    return statistic;
}

static void check_draws(uint64_t n, double s)
{
    uint64_t end[BINS], rank[PART];
    double seen[BINS] = {0};
    int bins = cut_bins(n, end), freedom;
    struct kvc_rng rng;
    struct kvc_zipf *zipf = kvc_zipf_create(n, s);
    cr_assert_not_null(zipf);
    kvc_rng_init(&rng, 7, "test", n);
    for (int drawn = 0; drawn < DRAWS; drawn += PART) {
        kvc_zipf_fill(zipf, &rng, rank, PART);
        for (int i = 0; i < PART; i++) {
            cr_assert_lt(rank[i], n);
            seen[bin_of(end, bins, rank[i])]++;
        }
    }
    double statistic = chi_square(n, s, end, seen, bins, &freedom);
    if (freedom > 0) {
        cr_assert_lt(statistic, gsl_cdf_chisq_Qinv(1e-4, freedom),
                     "n %llu s %g: %g with %d degrees of freedom", (unsigned long long)n, s, statistic,
                     freedom);
    }
    kvc_zipf_free(zipf);
}

Test(zipf, draws_follow_the_exact_distribution)
{
    static const uint64_t sizes[] = {1, 2, 10, 1000, 1000000, 1ull << 32};
    for (size_t i = 0; i < sizeof(exponents) / sizeof(*exponents); i++) {
        for (size_t j = 0; j < sizeof(sizes) / sizeof(*sizes); j++) {
            check_draws(sizes[j], exponents[i]);
        }
    }
}

Test(zipf, mass_equals_the_plain_sum)
{
    enum { N = 300000 };
    static double power[N + 1];
    for (size_t i = 0; i < sizeof(exponents) / sizeof(*exponents); i++) {
        double total = 0, sum = 0;
        for (int k = N; k > 0; k--) {
            power[k] = pow(k, -exponents[i]);
            total += power[k];
        }
        for (int k = 1; k <= N; k++) {
            sum += power[k];
            if (k < 200 || k % 997 == 0) {
                cr_assert_float_eq(kvc_zipf_mass(N, exponents[i], (uint64_t)k) / (sum / total), 1, 1e-9);
            }
        }
        cr_assert_eq(kvc_zipf_mass(N, exponents[i], 0), 0);
        cr_assert_eq(kvc_zipf_mass(N, exponents[i], N), 1);
        cr_assert_eq(kvc_zipf_mass(N, exponents[i], 10ull * N), 1);
    }
}

Test(zipf, is_continuous_at_exponent_one)
{
    const uint64_t n = 1ull << 32;
    for (uint64_t k = 1; k < n; k *= 3) {
        cr_assert_float_eq(kvc_zipf_mass(n, 1, k) / kvc_zipf_mass(n, 1 + 1e-13, k), 1, 1e-9);
    }
}

Test(zipf, draws_only_the_first_rank_at_a_huge_exponent)
{
    uint64_t rank[PART];
    struct kvc_rng rng;
    struct kvc_zipf *zipf = kvc_zipf_create(1ull << 32, 2000);
    kvc_rng_init(&rng, 1, "test", 0);
    kvc_zipf_fill(zipf, &rng, rank, PART);
    for (int i = 0; i < PART; i++) {
        cr_assert_eq(rank[i], 0);
    }
    kvc_zipf_free(zipf);
}

Test(zipf, draws_do_not_depend_on_how_they_are_split)
{
    uint64_t whole[PART], parts[PART];
    struct kvc_rng one, other;
    struct kvc_zipf *zipf = kvc_zipf_create(1000000, 0.99);
    kvc_rng_init(&one, 5, "test", 0);
    kvc_rng_init(&other, 5, "test", 0);
    kvc_zipf_fill(zipf, &one, whole, PART);
    for (int i = 0; i < PART; i += 8) {
        kvc_zipf_fill(zipf, &other, parts + i, 8);
    }
    cr_assert_eq(memcmp(whole, parts, sizeof(whole)), 0);
    kvc_zipf_free(zipf);
}
