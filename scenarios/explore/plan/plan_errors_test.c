#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/explore/plan/plan_errors.h"

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
    kvc_plan_errors_range(&errors, closed_form, KVC_PLAN_MOPS, &low, &high);
    cr_expect_eq(low, 0);
    cr_expect(isinf(high));
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
    cr_expect_eq(errors.of[KVC_PLAN_WATTS][KVC_PLAN_WATTS].answers, 0); /* Those of the other store. */
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
