#include "models/megakv/cost_profile.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 2, FOOTPRINTS = 3, THREADS = 2 };

static const double size[SIZES] = {100, 300}, footprint[FOOTPRINTS] = {1000, 4000, 16000};
static const uint64_t threads[THREADS] = {1, 4};

/* Returns the cost of a point, which is not linear in the footprint. */
static double cost(double bytes, double footprint_bytes, double at_once)
{
    return bytes * 0.1 + sqrt(footprint_bytes) + 3 * at_once;
}

static double constant(double bytes, double footprint_bytes, double at_once)
{
    (void)footprint_bytes;
    return bytes * 0.1 + 3 * at_once;
}

/* Returns a full grid whose points are in no particular order, because the axes must be found in spite of
 * that. */
static struct kvc_megakv_cost_curve cost_curve_of(double (*ns)(double, double, double))
{
    struct kvc_megakv_cost_curve cost_curve = {0};
    for (int t = THREADS - 1; t >= 0; t--) {
        for (int s = 0; s < SIZES; s++) {
            for (int f = FOOTPRINTS - 1; f >= 0; f--) {
                cost_curve.point[cost_curve.count++] =
                    (struct kvc_megakv_cost_point){.size = size[s],
                                                   .footprint_bytes = footprint[f],
                                                   .threads = threads[t],
                                                   .ns = ns(size[s], footprint[f], (double)threads[t])};
            }
        }
    }
    return cost_curve;
}

Test(cost_profile, footprints_rise)
{
    struct kvc_megakv_cost_curve cost_curve = cost_curve_of(cost);
    double found[KVC_CURVE_POINTS_MAX];
    cr_assert_eq(kvc_megakv_cost_footprints(&cost_curve, found), FOOTPRINTS);
    for (int f = 0; f < FOOTPRINTS; f++) {
        cr_expect_eq(found[f], footprint[f]);
    }
}

/* Uniform use of f bytes reaches back over s bytes with s / f: f c(f) is a straight line between two measured
 * footprints. */
Test(cost_profile, uniform_use_between_measured_footprints)
{
    struct kvc_megakv_cost_curve cost_curve = cost_curve_of(cost);
    for (double used = footprint[0]; used <= footprint[2]; used += 500) {
        double share[FOOTPRINTS];
        int right = used <= footprint[1] ? 1 : 2;
        for (int f = 0; f < FOOTPRINTS; f++) {
            share[f] = fmin(footprint[f] / used, 1);
        }
        struct kvc_curve curve = kvc_megakv_cost_curve_by_size(&cost_curve, 0, 0, 1, share);
        cr_assert_eq(curve.count, SIZES);
        for (int s = 0; s < SIZES; s++) {
            double left_ns = footprint[right - 1] * cost(size[s], footprint[right - 1], 1);
            double right_ns = footprint[right] * cost(size[s], footprint[right], 1);
            double part = (used - footprint[right - 1]) / (footprint[right] - footprint[right - 1]);
            double expected_ns = (left_ns + (right_ns - left_ns) * part) / used;
            cr_expect_eq(curve.x[s], size[s]);
            cr_expect_float_eq(curve.y[s], expected_ns, 1e-9, "%g bytes: %g, not %g", used, curve.y[s],
                               expected_ns);
        }
    }
}

/* A footprint below the smallest measured one costs as much as the smallest. Beyond the largest, the last
 * piece of f c(f) continues. */
Test(cost_profile, uniform_use_outside_measured_footprints)
{
    struct kvc_megakv_cost_curve cost_curve = cost_curve_of(cost);
    double few[FOOTPRINTS] = {1, 1, 1}, many[FOOTPRINTS];
    double left_ns = footprint[1] * cost(size[0], footprint[1], 1);
    double right_ns = footprint[2] * cost(size[0], footprint[2], 1), used = 2 * footprint[2];
    double slope = (right_ns - left_ns) / (footprint[2] - footprint[1]);
    for (int f = 0; f < FOOTPRINTS; f++) {
        many[f] = footprint[f] / used;
    }
    cr_expect_float_eq(kvc_megakv_cost_curve_by_size(&cost_curve, 0, 0, 1, few).y[0],
                       cost(size[0], footprint[0], 1), 1e-9);
    cr_expect_float_eq(kvc_megakv_cost_curve_by_size(&cost_curve, 0, 0, 1, many).y[0],
                       (right_ns + slope * footprint[2]) / used, 1e-9);
}

Test(cost_profile, no_shares_are_the_largest_footprint)
{
    struct kvc_megakv_cost_curve cost_curve = cost_curve_of(cost);
    struct kvc_curve curve = kvc_megakv_cost_curve_by_size(&cost_curve, 0, 0, 4, NULL);
    cr_assert_eq(curve.count, SIZES);
    for (int s = 0; s < SIZES; s++) {
        cr_expect_float_eq(curve.y[s], cost(size[s], footprint[2], 4), 1e-9);
    }
}

Test(cost_profile, a_constant_stays_one_for_any_shares)
{
    static const double shares[][FOOTPRINTS] = {{0, 0, 0}, {1, 1, 1}, {0.3, 0.4, 0.9}, {0, 0.5, 1}};
    struct kvc_megakv_cost_curve cost_curve = cost_curve_of(constant);
    for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
        struct kvc_curve curve = kvc_megakv_cost_curve_by_size(&cost_curve, 0, 0, 4, shares[i]);
        for (int s = 0; s < SIZES; s++) {
            cr_expect_float_eq(curve.y[s], constant(size[s], 0, 4), 1e-9);
        }
    }
}

Test(cost_profile, threads_between_and_outside)
{
    struct kvc_megakv_cost_curve cost_curve = cost_curve_of(cost);
    double one = cost(size[1], footprint[2], 1), four = cost(size[1], footprint[2], 4);
    cr_expect_float_eq(kvc_megakv_cost_curve_by_size(&cost_curve, 0, 0, 1, NULL).y[1], one, 1e-9);
    cr_expect_float_eq(kvc_megakv_cost_curve_by_size(&cost_curve, 0, 0, 2, NULL).y[1], one + (four - one) / 3,
                       1e-9);
    cr_expect_float_eq(kvc_megakv_cost_curve_by_size(&cost_curve, 0, 0, 4, NULL).y[1], four, 1e-9);
    cr_expect_float_eq(kvc_megakv_cost_curve_by_size(&cost_curve, 0, 0, 0.5, NULL).y[1], one, 1e-9,
                       "the nearest");
    cr_expect_float_eq(kvc_megakv_cost_curve_by_size(&cost_curve, 0, 0, 9, NULL).y[1], four, 1e-9,
                       "the nearest");
}

/* Between measured load factors lines join the points; outside of them the nearest one counts. Every length
 * of keys has sizes of its own. */
Test(cost_profile, loads_and_keys)
{
    struct kvc_megakv_cost_curve cost_curve = {0};
    double keys[KVC_MEGAKV_COST_KEYS_MAX];
    for (int i = 0; i < 8; i++) {
        bool long_key = i & 1, full = i & 2, large = i & 4;
        cost_curve.point[cost_curve.count++] =
            (struct kvc_megakv_cost_point){.size = (large ? 200 : 100) + (long_key ? 50 : 0),
                                           .key_bytes = long_key ? 64 : 8,
                                           .load_frac = full ? 0.9 : 0.5,
                                           .threads = 1,
                                           .ns = (large ? 20 : 10) + (long_key ? 5 : 0) + (full ? 8 : 0)};
    }
    cr_assert_eq(kvc_megakv_cost_keys(&cost_curve, keys), 2);
    cr_expect(keys[0] == 8 && keys[1] == 64);
    struct kvc_curve between = kvc_megakv_cost_curve_by_size(&cost_curve, 8, 0.6, 1, NULL);
    cr_assert_eq(between.count, 2);
    cr_expect(between.x[0] == 100 && between.x[1] == 200);
    cr_expect_float_eq(between.y[0], 12, 1e-9);
    cr_expect_float_eq(between.y[1], 22, 1e-9);
    struct kvc_curve full = kvc_megakv_cost_curve_by_size(&cost_curve, 64, 0.97, 1, NULL);
    cr_expect(full.x[0] == 150 && full.x[1] == 250);
    cr_expect_float_eq(full.y[0], 23, 1e-9);
    cr_expect_float_eq(kvc_megakv_cost_curve_by_size(&cost_curve, 64, 0.1, 1, NULL).y[0], 15, 1e-9);
    struct kvc_megakv_cost_range range = kvc_megakv_cost_range_of(&cost_curve);
    cr_expect(range.key_low == 8 && range.key_high == 64);
    cr_expect(range.load_low == 0.5 && range.load_high == 0.9);
}

Test(cost_profile, range_of_a_cost_curve)
{
    struct kvc_megakv_cost_curve cost_curve = cost_curve_of(cost), none = {0};
    struct kvc_megakv_cost_range range = kvc_megakv_cost_range_of(&cost_curve);
    cr_expect_eq(range.size_low, 100);
    cr_expect_eq(range.size_high, 300);
    cr_expect_eq(range.footprint_low, 1000);
    cr_expect_eq(range.footprint_high, 16000);
    cr_expect_eq(range.threads_low, 1);
    cr_expect_eq(range.threads_high, 4);
    range = kvc_megakv_cost_range_of(&none);
    cr_expect_eq(range.size_high, 0);
    cr_expect_eq(range.footprint_high, 0);
    cr_expect_eq(range.threads_high, 0);
}

/* The cost of a job grows with the root of the footprint, and that of a launch with its jobs; one number of
 * threads was measured. */
Test(cost_profile, costs_beyond_the_range_may_follow_their_trend)
{
    struct kvc_megakv_cost_curve cost_curve = {.count = 6}, none = {0};
    for (int i = 0; i < 6; i++) {
        double jobs = i % 2 ? 100 : 10, bytes = pow(16, i / 2);
        cost_curve.point[i] = (struct kvc_megakv_cost_point){
            .size = jobs, .footprint_bytes = bytes, .threads = 2, .ns = jobs * sqrt(bytes)};
    }
    const struct {
        enum kvc_megakv_coordinate coordinate;
        double value, off_frac;
    } expected[] = {
        {KVC_MEGAKV_BY_FOOTPRINT, 1, 0},      {KVC_MEGAKV_BY_FOOTPRINT, 20, 0},
        {KVC_MEGAKV_BY_FOOTPRINT, 256, 0},    {KVC_MEGAKV_BY_FOOTPRINT, 4 * 256, 1},
        {KVC_MEGAKV_BY_FOOTPRINT, 0.25, 0.5}, {KVC_MEGAKV_BY_SIZE, 1000, 0},
        {KVC_MEGAKV_BY_THREADS, 6, 2},        {KVC_MEGAKV_BY_KEY, 64, 0},
    };
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        cr_expect_float_eq(
            kvc_megakv_cost_beyond_frac(&cost_curve, expected[i].coordinate, expected[i].value),
            expected[i].off_frac, 1e-9, "coordinate %d at %g", expected[i].coordinate, expected[i].value);
        cr_expect_eq(kvc_megakv_cost_beyond_frac(&none, expected[i].coordinate, expected[i].value), 0);
    }
}

/* All cost curves by name. */
static const struct {
    const char *name;
    size_t offset;
} cost_curves[] = {{"receive", offsetof(struct kvc_megakv_cost_profile, receive)},
                   {"write", offsetof(struct kvc_megakv_cost_profile, write)},
                   {"read", offsetof(struct kvc_megakv_cost_profile, read)},
                   {"read_checked", offsetof(struct kvc_megakv_cost_profile, read_checked)},
                   {"read_half_marked", offsetof(struct kvc_megakv_cost_profile, read_half_marked)},
                   {"read_marked", offsetof(struct kvc_megakv_cost_profile, read_marked)},
                   {"read_half_missed", offsetof(struct kvc_megakv_cost_profile, read_half_missed)},
                   {"read_slowest", offsetof(struct kvc_megakv_cost_profile, read_slowest)},
                   {"compare", offsetof(struct kvc_megakv_cost_profile, compare)},
                   {"pass", offsetof(struct kvc_megakv_cost_profile, pass)},
                   {"search", offsetof(struct kvc_megakv_cost_profile, search)},
                   {"search_miss", offsetof(struct kvc_megakv_cost_profile, search_miss)},
                   {"evict", offsetof(struct kvc_megakv_cost_profile, evict)},
                   {"insert", offsetof(struct kvc_megakv_cost_profile, insert)},
                   {"replace", offsetof(struct kvc_megakv_cost_profile, replace)},
                   {"erase", offsetof(struct kvc_megakv_cost_profile, erase)},
                   {"drain", offsetof(struct kvc_megakv_cost_profile, drain)}};

enum { CURVES = sizeof(cost_curves) / sizeof(*cost_curves) };

static struct kvc_megakv_cost_curve *cost_curve_at(struct kvc_megakv_cost_profile *profile, size_t i)
{
    return (struct kvc_megakv_cost_curve *)((char *)profile + cost_curves[i].offset);
}

static struct kvc_megakv_cost_profile *all_cost_curves(void)
{
    struct kvc_megakv_cost_profile *profile = calloc(1, sizeof(*profile));
    cr_assert_not_null(profile);
    for (size_t i = 0; i < CURVES; i++) {
        *cost_curve_at(profile, i) = cost_curve_of(cost);
    }
    return profile;
}

static void refuses(const struct kvc_megakv_cost_profile *profile, const char *message)
{
    struct kvc_diag diag = {0};
    cr_expect_eq(kvc_megakv_cost_profile_check(profile, &diag), KVC_ERR_SCENARIO);
    cr_expect(strstr(diag.message, message) != NULL, "found \"%s\", not \"%s\"", diag.message, message);
}

Test(cost_profile, all_curves_or_none)
{
    struct kvc_megakv_cost_profile *profile = all_cost_curves(), none = {0};
    struct kvc_diag diag = {0};
    char message[64];
    cr_expect_eq(kvc_megakv_cost_profile_check(profile, &diag), KVC_OK, "%s", diag.message);
    cr_expect(kvc_megakv_cost_profile_is_measured(profile));
    cr_expect_eq(kvc_megakv_cost_profile_check(&none, &diag), KVC_OK, "%s", diag.message);
    cr_expect(!kvc_megakv_cost_profile_is_measured(&none));
    for (size_t i = 0; i < CURVES; i++) {
        struct kvc_megakv_cost_curve *cost_curve = cost_curve_at(profile, i);
        if (cost_curve == &profile->compare) {
            continue;
        }
        cost_curve->count = 0;
        if (strcmp(cost_curves[i].name, "read") ==
            0) { /* The message says whether curves are missing or superfluous. */
            snprintf(message, sizeof(message), "megakv_costs.receive is given, megakv_costs.read is not");
        } else {
            snprintf(message, sizeof(message), "megakv_costs.%s is missing", cost_curves[i].name);
        }
        refuses(profile, message);
        *cost_curve = cost_curve_of(cost);
    }
    free(profile);
}

/* A measured profile may lack the comparison of keys, but the comparison cannot stand alone. */
Test(cost_profile, the_comparison_may_be_missing)
{
    struct kvc_megakv_cost_profile *profile = all_cost_curves(), *alone = calloc(1, sizeof(*alone));
    struct kvc_diag diag = {0};
    cr_assert_not_null(alone);
    alone->compare = profile->compare;
    refuses(alone, "megakv_costs.compare is given, megakv_costs.read is not");
    profile->compare.count = 0;
    cr_expect_eq(kvc_megakv_cost_profile_check(profile, &diag), KVC_OK, "%s", diag.message);
    cr_expect(kvc_megakv_cost_profile_is_measured(profile));
    free(alone);
    free(profile);
}

Test(cost_profile, full_grids_only)
{
    struct kvc_megakv_cost_profile *profile = all_cost_curves();
    for (size_t i = 0; i < CURVES; i++) {
        char message[96];
        struct kvc_megakv_cost_curve *cost_curve = cost_curve_at(profile, i);
        cost_curve->count--;
        snprintf(message, sizeof(message),
                 "megakv_costs.%s: no point of size 300, key 0, load 0, footprint 1000, 1 threads",
                 cost_curves[i].name);
        refuses(profile, message);
        /* The number of points is now right, but one point occurs twice and another one is missing. */
        cost_curve->point[cost_curve->count] = cost_curve->point[0];
        cost_curve->count++;
        refuses(profile, message);
        *cost_curve = cost_curve_of(cost);
    }
    free(profile);
}

static struct kvc_megakv_cost_point point_of(double bytes)
{
    return (struct kvc_megakv_cost_point){.size = bytes, .footprint_bytes = 1000, .threads = 1, .ns = 5};
}

Test(cost_profile, no_more_sizes_than_a_curve_holds)
{
    struct kvc_megakv_cost_profile *profile = all_cost_curves();
    struct kvc_diag diag = {0};
    profile->read.count = 0;
    for (int i = 0; i < KVC_CURVE_POINTS_MAX; i++) {
        profile->read.point[profile->read.count++] = point_of(i);
    }
    cr_expect_eq(kvc_megakv_cost_profile_check(profile, &diag), KVC_OK, "%s", diag.message);
    profile->read.point[profile->read.count++] = point_of(1e6);
    refuses(profile, "megakv_costs.read: found 33 sizes and 1 footprints, allowed: 32");
    free(profile);
}
