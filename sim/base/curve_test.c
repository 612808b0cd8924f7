#include "sim/base/curve.h"

#include <criterion/criterion.h>

static const struct kvc_curve bent = {.count = 3, .x = {10, 20, 40}, .y = {5, 15, 25}};

Test(curve, lines_join_the_points)
{
    for (uint32_t i = 0; i < bent.count; i++) {
        cr_expect_float_eq(kvc_curve_at(&bent, bent.x[i]), bent.y[i], 1e-12);
    }
    cr_expect_float_eq(kvc_curve_at(&bent, 12), 7, 1e-12);
    cr_expect_float_eq(kvc_curve_at(&bent, 19), 14, 1e-12);
    cr_expect_float_eq(kvc_curve_at(&bent, 21), 15.5, 1e-12);
    cr_expect_float_eq(kvc_curve_at(&bent, 30), 20, 1e-12);
}

Test(curve, outermost_pieces_go_on)
{
    cr_expect_float_eq(kvc_curve_at(&bent, 8), 3, 1e-12);
    cr_expect_float_eq(kvc_curve_at(&bent, 100), 55, 1e-12);
}

Test(curve, never_below_zero)
{
    static const struct kvc_curve falling = {.count = 2, .x = {0, 10}, .y = {20, 10}};
    cr_expect_eq(kvc_curve_at(&bent, 5), 0, "where the line crosses zero");
    cr_expect_eq(kvc_curve_at(&bent, 0), 0);
    cr_expect_float_eq(kvc_curve_at(&falling, 19), 1, 1e-12);
    cr_expect_eq(kvc_curve_at(&falling, 21), 0);
}

Test(curve, one_point_is_a_constant)
{
    static const struct kvc_curve point = {.count = 1, .x = {10}, .y = {7}};
    cr_expect_eq(kvc_curve_at(&point, 0), 7);
    cr_expect_eq(kvc_curve_at(&point, 10), 7);
    cr_expect_eq(kvc_curve_at(&point, 1e9), 7);
}
