/* Compares the equations with the digits that the paper prints (VLDB J. 26(5) 2017, sec. 5.2, 8.2, Table 2).
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "models/latency.h"
#include "models/megakv/closed_form.h"

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
    /* The relation holds at every input speed that both forms sustain. */
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

/* ---- the periodic schedule ---- */

enum { POSITIONS = 64, CYCLES = 64 };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Follows every cycle and every request. Returns their number. */
static uint32_t simulate(const struct kvc_megakv_cycle_times *times, uint32_t delay, double *value)
{
    double gpu_free_ns = 0, sender_free_ns = 0;
    uint32_t count = 0;
    for (uint32_t k = 1; k <= CYCLES * delay; k++) {
        double launched_ns = k * times->cycle_ns;
        double searched_ns = fmax(launched_ns, gpu_free_ns) + times->search_ns;
        double sent_from_ns = fmax(searched_ns, sender_free_ns);
        gpu_free_ns = searched_ns + (k % delay == 0 && !times->overlap ? times->insert_ns : 0);
        sender_free_ns = sent_from_ns + times->batch_send_ns;
        for (int i = 0; i < POSITIONS && k > (CYCLES - 1) * delay; i++) {
            double position = (i + 0.5) / POSITIONS,
                   arrived_ns = launched_ns - (1 - position) * times->cycle_ns;
            value[count++] = sent_from_ns + position * times->batch_send_ns - arrived_ns + times->fixed_ns;
        }
    }
    qsort(value, count, sizeof(*value), compare);
    return count;
}

/* The latencies of a batch are spread over an interval, of which the simulation has 64 positions. */
static void expect_equal(const struct kvc_megakv_cycle_times *times, uint32_t delay)
{
    static double value[KVC_MEGAKV_DELAY_MAX * POSITIONS];
    const struct kvc_workload clients = {.arrival = KVC_ARRIVAL_SATURATE};
    double sum_ns = 0;
    uint32_t count = simulate(times, delay, value);
    struct kvc_megakv_latencies latencies = kvc_megakv_latencies_of(times, delay);
    struct kvc_latency_law law = {0};
    struct kvc_latencies found;
    double spread_ns = fabs(latencies.spread_ns);
    for (uint32_t k = 0; k < delay; k++) {
        kvc_latency_add(&law, 1, latencies.middle_ns[k] - spread_ns / 2, spread_ns);
    }
    kvc_latencies_set(&law, &clients, 1, &found);
    for (uint32_t i = 0; i < count; i++) {
        sum_ns += value[i];
    }
    double mean_ns = sum_ns / count;
    cr_expect_float_eq(kvc_megakv_latency_mean_ns(&latencies), mean_ns, 1e-10 * mean_ns);
    cr_expect_float_eq(found.mean_us * 1e3, mean_ns, 1e-10 * mean_ns);
    const double quantile[] = {0.5, 0.95, 0.99, 0.999};
    const double found_us[] = {found.p50_us, found.p95_us, found.p99_us, found.p999_us};
    for (int i = 0; i < 4; i++) {
        double expected_ns = value[(size_t)ceil(quantile[i] * count) - 1];
        cr_expect_float_eq(found_us[i] * 1e3, expected_ns, spread_ns / POSITIONS + 1e-9 * expected_ns,
                           "%g of delay %u: %g us, not %g ns", quantile[i], delay, found_us[i], expected_ns);
    }
}

Test(periodic, has_the_latencies_of_every_cycle_and_request)
{
    static const uint32_t delays[] = {1, 2, 3, 7, 64};
    static const struct kvc_megakv_cycle_times cases[] = {
        {160e3, 90e3, 100e3, 60e3, 1, 1, 1e3, false},  /* A search waits for the inserts before it. */
        {160e3, 90e3, 100e3, 60e3, 1, 1, 1e3, true},   /* The search does not wait. */
        {160e3, 20e3, 10e3, 159e3, 1, 1, 0, false},    /* The sender is nearly always busy. */
        {160e3, 150e3, 100e3, 200e3, 1, 1, 0, false},  /* Neither can keep up. */
        {160e3, 50e3, 400e3, 160e3, 1, 1, 5e3, false}, /* All requests of a batch have the same latency. */
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        for (size_t d = 0; d < sizeof(delays) / sizeof(*delays); d++) {
            expect_equal(&cases[c], delays[d]);
        }
    }
}
