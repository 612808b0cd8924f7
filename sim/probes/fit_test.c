#include "sim/probes/fit.h"

#include <criterion/criterion.h>
#include <math.h>

enum { POINTS = 9 };

static const double batch[POINTS] = {256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};

static struct kvc_fit fitted(const double *x, const double *y, size_t count)
{
    struct kvc_fit fit;
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_fit_line(x, y, count, &fit, &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(fit.points, count);
    return fit;
}

Test(fit, exact_line)
{
    double y[POINTS];
    for (int i = 0; i < POINTS; i++) {
        y[i] = 20 * batch[i] + 1500;
    }
    struct kvc_fit fit = fitted(batch, y, POINTS);
    cr_expect_float_eq(fit.slope, 20, 1e-9);
    cr_expect_float_eq(fit.base, 1500, 1e-6);
    cr_expect_lt(fit.worst_frac, 1e-9);
    cr_expect(fit.linear);
}

/* The true line lies within the confidence intervals, and they are not absurdly wide. */
Test(fit, noise_within_its_intervals)
{
    static const double noise[POINTS] = {0.01, -0.008, 0.004, -0.012, 0.006, 0.009, -0.005, -0.007, 0.003};
    double y[POINTS];
    for (int i = 0; i < POINTS; i++) {
        y[i] = (20 * batch[i] + 1500) * (1 + noise[i]);
    }
    struct kvc_fit fit = fitted(batch, y, POINTS);
    cr_expect_lt(fabs(fit.slope - 20), fit.slope_half);
    cr_expect_lt(fabs(fit.base - 1500), fit.base_half);
    cr_expect_lt(fit.slope_half, 1);
    cr_expect_lt(fit.worst_frac, 0.02);
    cr_expect(fit.linear);
}

Test(fit, one_outlier_hardly_counts)
{
    double y[POINTS];
    for (int i = 0; i < POINTS; i++) {
        y[i] = (20 * batch[i] + 1500) * (1 + 0.001 * (i % 3 - 1));
    }
    y[4] *= 1.8;
    struct kvc_fit fit = fitted(batch, y, POINTS);
    cr_expect_float_eq(fit.slope, 20, 0.2);
    cr_expect_float_eq(fit.base, 1500, 60);
    cr_expect_gt(fit.worst_frac, 0.4);
    cr_expect(fit.linear);
}

Test(fit, a_curve_is_no_line)
{
    double y[POINTS];
    for (int i = 0; i < POINTS; i++) {
        y[i] = 0.01 * batch[i] * batch[i] + 1000;
    }
    cr_expect_not(fitted(batch, y, POINTS).linear);
}

Test(fit, no_slope)
{
    double y[POINTS];
    for (int i = 0; i < POINTS; i++) {
        y[i] = 7 + 0.01 * (i % 2);
    }
    struct kvc_fit fit = fitted(batch, y, POINTS);
    cr_expect_float_eq(fit.slope * batch[POINTS - 1], 0, 0.05);
    cr_expect_float_eq(fit.base, 7.005, 0.02);
}

Test(fit, refuses_what_is_no_line)
{
    struct kvc_fit fit;
    struct kvc_diag diag = {0};
    double same[POINTS] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, zero[POINTS] = {0}, wrong[POINTS] = {1, 2, NAN, 3};
    cr_expect_eq(kvc_fit_line(batch, same, 3, &fit, &diag), KVC_ERR_RUNTIME);
    cr_expect_eq(kvc_fit_line(same, batch, POINTS, &fit, &diag), KVC_ERR_RUNTIME);
    cr_expect_eq(kvc_fit_line(batch, zero, POINTS, &fit, &diag), KVC_ERR_RUNTIME);
    cr_expect_eq(kvc_fit_line(batch, wrong, 4, &fit, &diag), KVC_ERR_RUNTIME);
}
