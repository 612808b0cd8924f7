#include "scenarios/explore/day/day.h"

#include <criterion/criterion.h>
#include <math.h>

/* Returns the rate of a curve at an hour, by the definition of the table. */
static double rate_at(const struct kvc_day *day, double hour)
{
    uint32_t next = 0;
    while (next < day->points && day->curve[next].hour <= hour) {
        next++;
    }
    struct kvc_day_point a = day->curve[(next + day->points - 1) % day->points],
                         b = day->curve[next % day->points];
    a.hour -= next == 0 ? 24 : 0;
    b.hour += next == day->points ? 24 : 0;
    return a.rate_mops + (b.rate_mops - a.rate_mops) * (hour - a.hour) / (b.hour - a.hour);
}

static double mean_by_steps(const struct kvc_day *day, double from, double to)
{
    enum { STEPS = 20000 };
    double sum = 0;
    for (int i = 0; i < STEPS; i++) {
        sum += rate_at(day, from + (to - from) * (i + 0.5) / STEPS) / STEPS;
    }
    return sum;
}

Test(day, the_rate_of_a_window_is_the_mean_of_the_curve)
{
    static const struct kvc_day days[] = {
        {.points = 3, .curve = {{4, 12}, {8, 25}, {16, 50}}},
        {.points = 2, .curve = {{0, 10}, {24, 30}}},
        {.points = 1, .curve = {{7, 5}}},
        {.points = 4, .curve = {{0, 1}, {11.9, 1}, {12, 100}, {23.5, 100}}},
    };
    static const double windows[][2] = {{0, 24},  {0, 1}, {3.5, 4.5},  {15, 17},
                                        {22, 24}, {0, 8}, {11.8, 12.1}};
    for (size_t i = 0; i < sizeof(days) / sizeof(*days); i++) {
        for (size_t k = 0; k < sizeof(windows) / sizeof(*windows); k++) {
            double got = kvc_day_rate_mops(&days[i], windows[k][0], windows[k][1]);
            double expected = mean_by_steps(&days[i], windows[k][0], windows[k][1]);
            cr_expect_float_eq(got / expected, 1, 1e-3, "day %zu, window %zu: %g, not %g", i, k, got,
                               expected);
        }
    }
}

/* However fine the windows, they have the requests of the whole curve. */
Test(day, windows_have_all_requests_of_the_curve)
{
    const struct kvc_day day = {.points = 3, .curve = {{1.25, 12}, {8, 25}, {22.5, 50}}};
    double all = kvc_day_rate_mops(&day, 0, 24);
    for (int windows = 1; windows <= KVC_DAY_WINDOWS_MAX; windows++) {
        double sum = 0;
        for (int i = 0; i < windows; i++) {
            sum += kvc_day_rate_mops(&day, 24.0 * i / windows, 24.0 * (i + 1) / windows) / windows;
        }
        cr_assert_float_eq(sum, all, 1e-9);
    }
}

Test(day, the_margin_of_a_window_is_that_of_the_tightest_objective)
{
    struct kvc_slo_verdict verdict = {
        .count = 3, .judged = {{.margin_frac = 0.3}, {.margin_frac = NAN}, {.margin_frac = -0.1}}};
    cr_expect_eq(kvc_day_margin_frac(&verdict), -0.1);
    verdict.count = 0;
    cr_expect(isnan(kvc_day_margin_frac(&verdict)));
}
