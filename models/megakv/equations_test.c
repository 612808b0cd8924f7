/* Compares the equations with the digits that the paper prints (VLDB J. 26(5) 2017, sec. 5.2, 8.2, Table 2).
 */
#include "models/megakv/equations.h"

#include <criterion/criterion.h>
#include <math.h>

struct row {
    int core_mhz;
    struct kvc_megakv_fit fit;
    double delayed_us, together_us; /* Smallest cycles without load: (2 b_S + b_I) / 2 and b_S + b_I. */
    double speed_limit_mops;        /* 1 / (k_S p_S + k_I p_I) with 95 % searches. */
};

/* Table 2 in ns. The last three columns were computed from it by hand. */
static const struct row table[] = {
    {875, {5.9, 22.1e3, 6.2, 144.5e3}, 94.35, 166.6, 169.1},
    {810, {6.4, 18.0e3, 6.9, 147.5e3}, 91.75, 165.5, 155.6},
    {745, {6.9, 23.2e3, 7.6, 152.3e3}, 99.35, 175.5, 144.2},
    {666, {7.8, 25.3e3, 9.2, 154.0e3}, 102.3, 179.3, 127.1},
    {324, {15.0, 176.9e3, 36.0, 282.5e3}, 318.15, 459.4, 62.3},
};

enum { ROWS = sizeof(table) / sizeof(*table) };

static const struct kvc_megakv_load delayed = {0.95, 2}, together = {0.95, 1};

/* Returns whether a value rounds to the number that the paper prints with `decimals` decimals. */
static bool prints_as(double value, double printed, int decimals)
{
    double unit = pow(10, -decimals);
    return fabs(value - printed) <= 0.5 * unit * (1 + 1e-9);
}

Test(equations, lower_bounds_of_the_cycle)
{
    for (int i = 0; i < ROWS; i++) {
        cr_expect_float_eq(kvc_megakv_cycle_min_ns(&table[i].fit, &delayed, 0), table[i].delayed_us * 1e3,
                           1e-6);
        cr_expect_float_eq(kvc_megakv_cycle_min_ns(&table[i].fit, &together, 0), table[i].together_us * 1e3,
                           1e-6);
    }
    cr_expect(prints_as(kvc_megakv_cycle_min_ns(&table[0].fit, &delayed, 0) / 1e3, 94.4, 1), "C > 94.4 us");
    cr_expect(prints_as(kvc_megakv_cycle_min_ns(&table[0].fit, &together, 0) / 1e3, 166.6, 1),
              "C > 166.6 us");
}

Test(equations, delay_lowers_the_bound_by_43_4_percent)
{
    /* This holds at every input speed that both forms sustain. */
    for (double mops = 0; mops < 160; mops += 10) {
        double with = kvc_megakv_cycle_min_ns(&table[0].fit, &delayed, mops / 1e3);
        double without = kvc_megakv_cycle_min_ns(&table[0].fit, &together, mops / 1e3);
        cr_expect(prints_as(100 * (1 - with / without), 43.4, 1), "at %.0f Mops: %.3f", mops,
                  100 * (1 - with / without));
    }
}

Test(equations, speed_limits)
{
    for (int i = 0; i < ROWS; i++) {
        cr_expect(
            prints_as(kvc_megakv_speed_limit(&table[i].fit, &delayed) * 1e3, table[i].speed_limit_mops, 1));
    }
}

Test(equations, largest_speed_at_a_cycle)
{
    /* Eq. (4) for 8 GPUs and 95 % GETs, computed from Table 2 by hand. */
    static const double expected[][2] = {{120, 289}, {140, 441}, {160, 555}, {200, 714},
                                         {240, 821}, {280, 897}, {320, 954}};
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        double speed = kvc_megakv_speed_max(&table[0].fit, &delayed, expected[i][0] * 1e3);
        cr_expect(prints_as(8 * speed * 1e3, expected[i][1], 0), "C = %.0f: %.2f", expected[i][0],
                  8 * speed * 1e3);
    }
    cr_expect_eq(kvc_megakv_speed_max(&table[0].fit, &delayed, 90e3), 0);
    cr_expect_eq(kvc_megakv_speed_max(&table[0].fit, &together, 160e3), 0);
}

Test(equations, delayed_gain_of_figure_12)
{
    /* The gains are 17.8 % at C = 572.5 us and 68.4 % at C = 272.2 us. */
    static const double expected[][2] = {{572.5, 17.8}, {272.2, 68.4}};
    for (int i = 0; i < 2; i++) {
        double with = kvc_megakv_speed_max(&table[0].fit, &delayed, expected[i][0] * 1e3);
        double without = kvc_megakv_speed_max(&table[0].fit, &together, expected[i][0] * 1e3);
        cr_expect(prints_as(100 * (with / without - 1), expected[i][1], 1));
    }
}

Test(equations, two_is_the_best_delay)
{
    static const double expected[][2] = {{2, 146.3}, {3, 148.4}, {4, 150.6}, {8, 160.1}};
    for (int i = 0; i < 4; i++) {
        struct kvc_megakv_load load = {0.95, (unsigned)expected[i][0]};
        cr_expect(prints_as(kvc_megakv_cycle_min_ns(&table[0].fit, &load, 0.060) / 1e3, expected[i][1], 1));
    }
}

Test(equations, bounds_and_speeds_are_inverse)
{
    for (int i = 0; i < ROWS; i++) {
        for (unsigned delay = 1; delay <= 8; delay++) {
            struct kvc_megakv_load load = {0.95, delay};
            double speed = 0.4 * kvc_megakv_speed_limit(&table[i].fit, &load);
            double cycle_ns = kvc_megakv_cycle_min_ns(&table[i].fit, &load, speed);
            cr_expect_float_eq(kvc_megakv_speed_max(&table[i].fit, &load, cycle_ns), speed, 1e-9);
            cr_expect(kvc_megakv_feasible(&table[i].fit, &load, cycle_ns * 1.000001, speed));
            cr_expect_not(kvc_megakv_feasible(&table[i].fit, &load, cycle_ns * 0.999999, speed));
        }
    }
}

Test(equations, feasibility_is_the_papers_inequality)
{
    double cycle_ns = 160e3, speed = kvc_megakv_speed_max(&table[0].fit, &delayed, cycle_ns);
    double search_ns = kvc_megakv_search_ns(&table[0].fit, 0.95 * speed * cycle_ns);
    double busiest_ns = kvc_megakv_busiest_ns(&table[0].fit, &delayed, cycle_ns, speed);
    cr_expect_float_eq(search_ns + busiest_ns, 2 * cycle_ns, 1e-6);
    cr_expect_gt(kvc_megakv_cycle_min_ns(&table[0].fit, &delayed, 0.2), 1e300);
}

Test(equations, kernels_without_work_cost_nothing)
{
    struct kvc_megakv_load searches = {1, 2}, inserts = {0, 2};
    cr_expect_eq(kvc_megakv_search_ns(&table[0].fit, 0), 0);
    cr_expect_eq(kvc_megakv_insert_ns(&table[0].fit, 0), 0);
    cr_expect_float_eq(kvc_megakv_cycle_min_ns(&table[0].fit, &searches, 0), 22.1e3, 1e-6);
    cr_expect_float_eq(kvc_megakv_cycle_min_ns(&table[0].fit, &inserts, 0), 144.5e3 / 2, 1e-6);
}
