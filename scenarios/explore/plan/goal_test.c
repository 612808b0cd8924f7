#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/explore/plan/goal.h"

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

static char path[] = "/tmp/kvcast-errors-XXXXXX";

static void write_file(const char *rows)
{
    strcpy(path + strlen(path) - 6, "XXXXXX");
    int descriptor = mkstemp(path);
    cr_assert_geq(descriptor, 0);
    FILE *file = fdopen(descriptor, "w");
    kvc_plan_errors_write_header(file);
    fputs(rows, file);
    cr_assert_eq(fclose(file), 0);
}

static void values_of(double value[KVC_PLAN_METRICS], double mean_us, double p99_us, double mops)
{
    for (int i = 0; i < KVC_PLAN_METRICS; i++) {
        value[i] = NAN;
    }
    value[KVC_PLAN_MEAN_US] = mean_us;
    value[KVC_PLAN_P99_US] = p99_us;
    value[KVC_PLAN_MOPS] = mops;
}

Test(plan_errors, are_the_extremes_of_what_was_compared)
{
    struct kvc_plan_errors errors;
    double closed_form[KVC_PLAN_METRICS], simulated[KVC_PLAN_METRICS];
    kvc_plan_errors_clear(&errors);
    values_of(closed_form, 100, NAN, 50);
    values_of(simulated, 97, 150, 51);
    kvc_plan_errors_add(&errors, closed_form, simulated);
    values_of(simulated, 140, 220, 30);
    kvc_plan_errors_add(&errors, closed_form, simulated);
    const struct kvc_plan_error *mean = &errors.of[KVC_PLAN_MEAN_US][KVC_PLAN_MEAN_US];
    const struct kvc_plan_error *tail = &errors.of[KVC_PLAN_MEAN_US][KVC_PLAN_P99_US];
    cr_expect_float_eq(mean->low_frac, -0.03, 1e-12);
    cr_expect_float_eq(mean->high_frac, 0.4, 1e-12);
    cr_expect_float_eq(tail->low_frac, 0.5, 1e-12);
    cr_expect_eq(tail->answers, 2);
    cr_expect_eq(errors.of[KVC_PLAN_P99_US][KVC_PLAN_P99_US].answers, 0);
    cr_expect_eq(errors.of[KVC_PLAN_MEAN_US][KVC_PLAN_MOPS].answers, 0); /* Different things. */
}

Test(plan_errors, give_the_narrowest_range)
{
    struct kvc_plan_errors errors;
    double closed_form[KVC_PLAN_METRICS], low, high;
    kvc_plan_errors_clear(&errors);
    errors.of[KVC_PLAN_P99_US][KVC_PLAN_P99_US] = (struct kvc_plan_error){-0.1, 0.1, 1};
    errors.of[KVC_PLAN_MEAN_US][KVC_PLAN_P99_US] = (struct kvc_plan_error){0, 9, 1};
    values_of(closed_form, 95, 100, 50);
    kvc_plan_errors_range(&errors, closed_form, KVC_PLAN_P99_US, &low, &high);
    cr_expect_float_eq(low, 95, 1e-9);
    cr_expect_float_eq(high, 110, 1e-9);
    for (int i = 0; i < 2; i++) { /* What was never compared, and a tenant, whom no closed form knows. */
        kvc_plan_errors_range(&errors, closed_form, i == 0 ? KVC_PLAN_MOPS : KVC_PLAN_TENANT_US, &low, &high);
        cr_expect_eq(low, 0);
        cr_expect(isinf(high));
    }
}

Test(plan_errors, survive_a_file)
{
    struct kvc_plan_errors errors;
    struct kvc_diag diag = {0};
    write_file("one,latency_mean_us,latency_p99_us,0.1,0.5,7\ntwo,watts_mean,watts_mean,-0.2,0.2,3\n");
    cr_assert_eq(kvc_plan_errors_read(path, "one", &errors, &diag), KVC_OK, "%s", diag.message);
    const struct kvc_plan_error *tail = &errors.of[KVC_PLAN_MEAN_US][KVC_PLAN_P99_US];
    cr_expect_eq(tail->low_frac, 0.1);
    cr_expect_eq(tail->high_frac, 0.5);
    cr_expect_eq(tail->answers, 7);
    cr_expect_eq(errors.of[KVC_PLAN_WATTS][KVC_PLAN_WATTS].answers, 0); /* Errors of the other store. */
    char text[256] = "";
    FILE *file = fmemopen(text, sizeof(text), "w");
    kvc_plan_errors_write(&errors, "one", file);
    fclose(file);
    cr_expect_str_eq(text, "one,latency_mean_us,latency_p99_us,0.1000,0.5000,7\n");
    unlink(path);
}

static void expect_refused(const char *row)
{
    struct kvc_plan_errors errors;
    struct kvc_diag diag = {0};
    write_file(row);
    cr_expect_eq(kvc_plan_errors_read(path, "one", &errors, &diag), KVC_ERR_SCENARIO, "%s", row);
    cr_expect_eq(diag.line, 2);
    unlink(path);
}

Test(plan_errors, malformed_rows_are_refused)
{
    expect_refused("one,latency_mean_us,throughput_mops,0,0,1\n");
    expect_refused("one,latency_mean_us,latency_p98_us,0,0,1\n");
    expect_refused("one,watts_mean,watts_mean,0.2,0.1,1\n");
    expect_refused("one,watts_mean,watts_mean,-2,0.1,1\n");
    expect_refused("one,watts_mean,watts_mean,0,0.1,none\n");
}
