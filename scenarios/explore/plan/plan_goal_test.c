#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

#include "scenarios/explore/plan/plan_goal.h"

static const struct kvc_plan_goal at_most_100us = {KVC_PLAN_P99_US, 100, false};
static const struct kvc_plan_goal at_least_100mops = {KVC_PLAN_MOPS, 100, true};
static const struct kvc_plan_test three_to_ten = {3, 10, 0.95, 2};

static enum kvc_plan_answer decide(const struct kvc_plan_goal *goal, const double *values, uint32_t count)
{
    struct kvc_interval interval;
    return kvc_plan_decide(&three_to_ten, goal, values, count, &interval);
}

Test(plan_goal, decides_when_the_interval_lies_on_one_side)
{
    const double low[] = {50, 50.1, 49.9}, high[] = {150, 150.1, 149.9}, wide[] = {50, 150, 90};
    cr_expect_eq(decide(&at_most_100us, low, 3), KVC_PLAN_MET);
    cr_expect_eq(decide(&at_most_100us, high, 3), KVC_PLAN_MISSED);
    cr_expect_eq(decide(&at_most_100us, wide, 3), KVC_PLAN_OPEN);
    cr_expect_eq(decide(&at_least_100mops, low, 3), KVC_PLAN_MISSED);
    cr_expect_eq(decide(&at_least_100mops, high, 3), KVC_PLAN_MET);
}

Test(plan_goal, is_open_before_the_first_look)
{
    const double low[] = {50, 50};
    cr_expect_eq(decide(&at_most_100us, low, 2), KVC_PLAN_OPEN);
}

Test(plan_goal, a_bound_that_is_just_met_is_met)
{
    const double equal[] = {100, 100, 100};
    cr_expect_eq(decide(&at_most_100us, equal, 3), KVC_PLAN_MET);
    cr_expect_eq(decide(&at_least_100mops, equal, 3), KVC_PLAN_MET);
}

Test(plan_goal, a_value_that_a_replica_lacks_is_unknown)
{
    const double lacks[] = {50, NAN, 50};
    cr_expect_eq(decide(&at_most_100us, lacks, 3), KVC_PLAN_UNKNOWN);
}

Test(plan_goal, looks_share_the_error)
{
    const double values[] = {99, 100, 101};
    const struct kvc_plan_test once = {3, 3, 0.95, 1};
    struct kvc_interval plain = kvc_interval_of(values, 3);
    cr_expect_float_eq(kvc_plan_look(&once, values, 3).half_width, plain.half_width, 1e-9);
    /* Student's quantile with two degrees of freedom is sqrt(2) * (2 q - 1) / sqrt(4 q (1 - q)). */
    double q = 1 - 0.05 / (8 * 2) / 2;
    double t = sqrt(2) * (2 * q - 1) / sqrt(4 * q * (1 - q));
    cr_expect_float_eq(kvc_plan_look(&three_to_ten, values, 3).half_width, t / sqrt(3), 1e-6);
}

/* Runs the whole sequential test on normal values whose mean is just beyond the bound. */
static bool wrongly_met(gsl_rng *rng, const struct kvc_plan_test *test)
{
    double values[10];
    for (uint32_t i = 0; i < test->most; i++) {
        struct kvc_interval interval;
        values[i] = 100.001 + gsl_ran_gaussian(rng, 1);
        enum kvc_plan_answer answer = kvc_plan_decide(test, &at_most_100us, values, i + 1, &interval);
        if (answer != KVC_PLAN_OPEN) {
            return answer == KVC_PLAN_MET;
        }
    }
    return false;
}

Test(plan_goal, repeated_looks_do_not_flatter)
{
    enum { TESTS = 20000 };
    const struct kvc_plan_test test = {3, 10, 0.95, 1};
    uint32_t wrong = 0;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int i = 0; i < TESTS; i++) {
        wrong += wrongly_met(rng, &test);
    }
    gsl_rng_free(rng);
    cr_expect_lt(wrong, 0.025 * TESTS, "%u of %d", wrong, TESTS);
    cr_expect_gt(wrong, 0); /* The test can err, so that the expectation above can fail. */
}

Test(plan_goal, margins_are_shares_of_the_bound)
{
    cr_expect_float_eq(kvc_plan_margin_frac(&at_most_100us, 80), 0.2, 1e-12);
    cr_expect_float_eq(kvc_plan_margin_frac(&at_least_100mops, 80), -0.2, 1e-12);
    cr_expect(isnan(kvc_plan_margin_frac(&at_least_100mops, NAN)));
}
