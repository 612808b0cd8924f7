#include "sim/workload/workload.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_integration.h>
#include <math.h>
#include <string.h>

enum { KEYS = 1000000 };

static uint64_t key_id[KEYS];
static uint8_t key_bytes[KEYS];
static uint32_t value_bytes[KEYS];

static void fill(int set)
{
    struct kvc_workload workload = {.sizes = set, .key_bytes = 20, .value_bytes = 300};
    struct kvc_sizes *sizes = kvc_workload_sizes(&workload);
    cr_assert_not_null(sizes);
    for (uint64_t i = 0; i < KEYS; i++) {
        key_id[i] = i;
    }
    kvc_sizes_fill(sizes, key_id, KEYS, key_bytes, value_bytes);
    kvc_sizes_free(sizes);
}

static double gev_cdf(double x)
{
    return exp(-pow(1 + 0.078688 * (x - 30.7984) / 8.20449, -1 / 0.078688));
}

/* Returns the density of the generalized Pareto distribution, for GSL to integrate. */
static double pareto_density(double x, void *unused)
{
    (void)unused;
    return pow(1 + 0.348238 * x / 214.476, -1 / 0.348238 - 1) / 214.476;
}

static double pareto_mass(double from, double to)
{
    double mass, error;
    size_t evaluations;
    gsl_function density = {.function = pareto_density, .params = NULL};
    gsl_integration_qng(&density, from, to, 1e-12, 1e-9, &mass, &error, &evaluations);
    return mass;
}

static double chi_square(const double *expected, const double *seen, int bins)
{
    double statistic = 0;
    for (int i = 0; i < bins; i++) {
        statistic += (seen[i] - expected[i]) * (seen[i] - expected[i]) / expected[i];
    }
    return statistic;
}

Test(sizes, etc_keys_follow_the_extreme_value_distribution)
{
    enum { FROM = 18, TO = 90, BINS = TO - FROM + 2 };
    double expected[BINS], seen[BINS] = {0}, below = 0;
    fill(KVC_SIZES_ETC);
    for (int i = 0; i < BINS; i++) { /* The bins: sizes below FROM, each size, and sizes from TO on. */
        double above = i == BINS - 1 ? 1 : gev_cdf(FROM + i);
        expected[i] = (above - below) * KEYS;
        below = above;
    }
    for (int i = 0; i < KEYS; i++) {
        int bin = key_bytes[i] < FROM ? 0 : key_bytes[i] - FROM + 1;
        seen[bin < BINS ? bin : BINS - 1]++;
        cr_assert(key_bytes[i] >= 4 && key_bytes[i] <= 250);
    }
    cr_assert_lt(chi_square(expected, seen, BINS), gsl_cdf_chisq_Qinv(1e-4, BINS - 1));
}

Test(sizes, etc_values_follow_the_table_and_the_pareto_distribution)
{
    static const double table[] = {0.00536, 0.00047, 0.17820, 0.09239, 0.00018, 0.02740, 0.00065, 0.00606,
                                   0.00023, 0.00837, 0.00837, 0.08989, 0.00092, 0.00326, 0.01980};
    static const double edges[] = {15,   16,   20,   40,   80,   160,  320,   640,
                                   1280, 2560, 4000, 4096, 4200, 6000, 10000, 20000};
    enum { SHORT = 15, LONG = sizeof(edges) / sizeof(*edges), BINS = SHORT + LONG };
    double expected[BINS], seen[BINS] = {0}, rest = 1, beyond = 1;
    fill(KVC_SIZES_ETC);
    for (int i = 0; i < SHORT; i++) {
        expected[i] = table[i] * KEYS;
        rest -= table[i];
    }
    for (int i = 0; i < LONG - 1; i++) {
        double mass = pareto_mass(edges[i] - 15, edges[i + 1] - 15);
        expected[SHORT + i] = rest * mass * KEYS;
        beyond -= mass;
    }
    expected[BINS - 1] = rest * beyond * KEYS;
    for (int i = 0; i < KEYS; i++) {
        int bin = (int)value_bytes[i];
        if (bin >= SHORT) {
            for (bin = BINS - 1; value_bytes[i] < edges[bin - SHORT];) {
                bin--;
            }
        }
        seen[bin]++;
        cr_assert_leq(value_bytes[i], (uint32_t)KVC_VALUE_BYTES_MAX);
    }
    cr_assert_lt(chi_square(expected, seen, BINS), gsl_cdf_chisq_Qinv(1e-4, BINS - 1));
}

Test(sizes, usr_has_two_key_sizes_and_one_value_size)
{
    uint32_t longer = 0;
    fill(KVC_SIZES_USR);
    for (int i = 0; i < KEYS; i++) {
        cr_assert(key_bytes[i] == 16 || key_bytes[i] == 21);
        cr_assert_eq(value_bytes[i], 2);
        longer += key_bytes[i] == 21;
    }
    cr_assert_float_eq(longer / (double)KEYS, 0.5, 0.002);
}

Test(sizes, fixed_and_app_are_constant_and_var_and_sys_small)
{
    fill(KVC_SIZES_FIXED);
    for (int i = 0; i < KEYS; i++) {
        cr_assert(key_bytes[i] == 20 && value_bytes[i] == 300);
    }
    fill(KVC_SIZES_APP);
    for (int i = 0; i < KEYS; i++) {
        cr_assert(key_bytes[i] == 31 && value_bytes[i] == 270);
    }
    fill(KVC_SIZES_VAR);
    for (int i = 0; i < KEYS; i++) {
        cr_assert_lt(value_bytes[i], 500);
    }
    fill(KVC_SIZES_SYS);
    for (int i = 0; i < KEYS; i++) {
        cr_assert_lt(value_bytes[i], 500);
    }
}

Test(sizes, means_and_bounds_hold_for_the_keys_made)
{
    for (int set = KVC_SIZES_FIXED; set <= KVC_SIZES_SYS; set++) {
        struct kvc_workload workload = {.sizes = set, .key_bytes = 20, .value_bytes = 300};
        double keys = 0, values = 0;
        fill(set);
        for (int i = 0; i < KEYS; i++) {
            keys += key_bytes[i];
            values += value_bytes[i];
            cr_assert_leq(key_bytes[i], kvc_workload_key_bytes_max(&workload));
            cr_assert_leq(value_bytes[i], kvc_workload_value_bytes_max(&workload));
        }
        /* Five standard errors; the standard deviation of an ETC value is some 470 bytes. */
        cr_assert_float_eq(keys / KEYS, kvc_workload_key_bytes_mean(&workload), 0.06, "set %d", set);
        cr_assert_float_eq(values / KEYS, kvc_workload_value_bytes_mean(&workload), 2.4, "set %d: %g %g", set,
                           values / KEYS, kvc_workload_value_bytes_mean(&workload));
    }
}

Test(sizes, the_mean_of_etc_values_equals_the_plain_sum)
{
    struct kvc_workload workload = {.sizes = KVC_SIZES_ETC};
    static const double table[] = {0.00536, 0.00047, 0.17820, 0.09239, 0.00018, 0.02740, 0.00065, 0.00606,
                                   0.00023, 0.00837, 0.00837, 0.08989, 0.00092, 0.00326, 0.01980};
    double mean = 0, rest = 1;
    for (int i = 0; i < 15; i++) {
        mean += table[i] * i;
        rest -= table[i];
    }
    mean += rest * 15;
    for (int x = 1; x <= KVC_VALUE_BYTES_MAX - 15; x++) {
        mean += rest * pow(1 + 0.348238 * x / 214.476, -1 / 0.348238);
    }
    cr_assert_float_eq(kvc_workload_value_bytes_mean(&workload), mean, 1e-6);
}

Test(sizes, a_key_has_the_same_size_in_any_company)
{
    static uint8_t one_key[KEYS];
    static uint32_t one_value[KEYS];
    struct kvc_workload workload = {.sizes = KVC_SIZES_ETC};
    struct kvc_sizes *sizes = kvc_workload_sizes(&workload);
    fill(KVC_SIZES_ETC);
    for (int i = KEYS - 1; i >= 0; i--) {
        kvc_sizes_fill(sizes, &key_id[i], 1, &one_key[i], &one_value[i]);
    }
    cr_assert_eq(memcmp(one_key, key_bytes, sizeof(one_key)), 0);
    cr_assert_eq(memcmp(one_value, value_bytes, sizeof(one_value)), 0);
    kvc_sizes_free(sizes);
}
