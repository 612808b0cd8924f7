#include "sim/metrics/steady_state.h"

#include <criterion/criterion.h>
#include <math.h>

#include "sim/base/rng.h"
#include "sim/metrics/statistics.h"

enum { WINDOWS = 400, REQUESTS = 10000, FIRST_LOOK = 50, BETWEEN_LOOKS = 10 };

/* Returns about N(mean, sd^2). */
static double normal(struct kvc_rng *rng, double mean, double sd)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        sum += kvc_rng_unit(rng);
    }
    return mean + sd * sum;
}

/* Fills in windows of a store that is steady in everything. */
static void fill_steady(struct kvc_window *windows, uint64_t seed)
{
    struct kvc_rng rng;
    double backlog = 300, before = 0;
    kvc_rng_init(&rng, seed, "steadiness", 0);
    for (int i = 0; i < WINDOWS; i++) {
        double offered = floor(normal(&rng, REQUESTS, 100));
        double after = floor(normal(&rng, backlog, 20));
        windows[i] = (struct kvc_window){.offered = (uint64_t)offered,
                                         .completed = (uint64_t)(offered + before - after),
                                         .gets = REQUESTS,
                                         .hits = (uint64_t)normal(&rng, 0.9 * REQUESTS, 30)};
        windows[i].latency_ns = (double)windows[i].completed * normal(&rng, 2e5, 2e3);
        before = after;
    }
}

Test(steady_state, a_steady_store_is_found_steady)
{
    int steady = 0, drifts = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct kvc_window windows[WINDOWS];
        fill_steady(windows, seed);
        /* MSER cuts noise in its second half now and then; the recorder then looks again later. */
        steady += kvc_windows_unsteady(windows, WINDOWS) == KVC_SERIES;
        for (int series = 0; series < KVC_SERIES; series++) {
            drifts += kvc_windows_drift(windows, 100, 300, (enum kvc_series)series).significant;
        }
    }
    cr_expect_geq(steady, 30, "%d of 40", steady);
    cr_expect_eq(drifts, 0);
}

Test(steady_state, each_series_can_be_the_unsteady_one)
{
    for (int series = 0; series < KVC_SERIES; series++) {
        struct kvc_window windows[WINDOWS];
        fill_steady(windows, 3);
        for (int i = 0; i < WINDOWS; i++) {
            switch (series) {
            case KVC_SERIES_THROUGHPUT: /* Clients that send less and less, as much as is answered. */
                windows[i].offered -= 5 * (uint64_t)i;
                windows[i].completed -= 5 * (uint64_t)i;
                windows[i].latency_ns = (double)windows[i].completed * 2e5;
                break;
            case KVC_SERIES_HIT_RATIO:
                windows[i].hits -= 3 * (uint64_t)i;
                break;
            case KVC_SERIES_BACKLOG: /* A queue that grows behind a head that is served as before. */
                windows[i].offered += 30;
                break;
            case KVC_SERIES_LEAD: /* Clients that may not run ahead for ever, while everything else is steady.
                                   */
                windows[i].lead = 150.0 * i;
                break;
            default:
                windows[i].latency_ns *= 1 + i / 1000.0;
            }
        }
        cr_expect_eq((int)kvc_windows_unsteady(windows, WINDOWS), series, "%s", kvc_series_names[series]);
        struct kvc_drift drift = kvc_windows_drift(windows, 100, 300, (enum kvc_series)series);
        cr_expect(drift.significant || series == KVC_SERIES_LEAD, "%s: %g, %g", kvc_series_names[series],
                  drift.first, drift.second);
    }
}

/* The hit ratio of a store that fills: it falls for seconds, by little in each window. */
Test(steady_state, a_slow_decay_is_not_steady_until_it_ends)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct kvc_window windows[WINDOWS];
        fill_steady(windows, seed);
        for (int i = 0; i < WINDOWS; i++) {
            windows[i].hits -= (uint64_t)(1000 * (1 - exp(-i / 300.0)));
        }
        cr_expect_eq(kvc_windows_unsteady(windows, WINDOWS), KVC_SERIES_HIT_RATIO);
        cr_expect(kvc_windows_drift(windows, 0, WINDOWS, KVC_SERIES_HIT_RATIO).significant);
    }
}

/* Fills in windows of a store whose throughput alone varies. */
static void fill_throughput(struct kvc_window *windows, const double *value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t requests = (uint64_t)(REQUESTS * value[i]);
        windows[i] = (struct kvc_window){
            .offered = requests, .completed = requests, .latency_ns = 1e5 * (double)requests};
    }
}

/* Returns the first look that finds the windows steady, or 0. */
static uint32_t steady_after(const struct kvc_window *windows, uint32_t count)
{
    for (uint32_t look = FIRST_LOOK; look <= count; look += BETWEEN_LOOKS) {
        if (kvc_windows_unsteady(windows, look) == KVC_SERIES) {
            return look;
        }
    }
    return 0;
}

/* Returns the first look after which MSER-5 alone accepts a series, or 0. */
static uint32_t accepted_by_mser(const double *value, uint32_t count)
{
    for (uint32_t look = FIRST_LOOK; look <= count; look += BETWEEN_LOOKS) {
        if (kvc_mser5(value, look) >= 0) {
            return look;
        }
    }
    return 0;
}

/* Throughput rises from 80 % to its steady value. MSER-5 alone accepts it soon, because single windows vary
 * as much as it still has to rise. */
Test(steady_state, a_slow_approach_is_refused_until_it_has_settled)
{
    enum { SEEDS = 100, SETTLING = 40 };
    double mser_left_frac = 0, left_frac = 0;
    int late = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct kvc_window windows[WINDOWS];
        double value[WINDOWS];
        struct kvc_rng rng;
        kvc_rng_init(&rng, seed, "approach", 0);
        for (int i = 0; i < WINDOWS; i++) {
            value[i] = normal(&rng, 1 - 0.2 * exp(-(double)i / SETTLING), 0.02);
        }
        fill_throughput(windows, value, WINDOWS);
        mser_left_frac += 0.2 * exp(-(double)accepted_by_mser(value, WINDOWS) / SETTLING) / SEEDS;
        left_frac += 0.2 * exp(-(double)steady_after(windows, WINDOWS) / SETTLING) / SEEDS;
        late += kvc_windows_unsteady(windows, WINDOWS) == KVC_SERIES;
    }
    cr_expect_gt(mser_left_frac, 0.025, "%g", mser_left_frac);
    cr_expect_lt(left_frac, 0.01, "%g", left_frac);
    cr_expect_gt(late, 75, "%d of %d", late, SEEDS);
}

/* A pipeline that pauses in every tenth window while its throughput falls by 1.5 % in ten. The pauses scatter
 * the parts of the halves so much that the halves differ by chance only. */
Test(steady_state, a_cycle_does_not_hide_a_drift)
{
    struct kvc_window windows[WINDOWS];
    double value[WINDOWS];
    int hidden = 0;
    for (int i = 0; i < WINDOWS; i++) {
        value[i] = (i % 10 == 7 ? 0.4 : 1) * (1 - 0.0015 * i);
    }
    fill_throughput(windows, value, WINDOWS);
    for (uint32_t look = 80; look <= WINDOWS; look += BETWEEN_LOOKS) {
        struct kvc_drift drift = kvc_windows_drift(windows, look / 2, look - look / 2, KVC_SERIES_THROUGHPUT);
        hidden += kvc_mser5(value, look) >= 0 && !drift.significant;
        cr_expect_eq(kvc_windows_unsteady(windows, look), KVC_SERIES_THROUGHPUT, "%u windows", look);
    }
    cr_expect_geq(hidden, 10, "%d looks", hidden);
    for (int i = 0; i < WINDOWS; i++) { /* Pauses alone are steady. */
        value[i] = i % 10 == 7 ? 0.4 : 1;
    }
    fill_throughput(windows, value, WINDOWS);
    cr_expect_eq(kvc_windows_unsteady(windows, WINDOWS), KVC_SERIES);
}

/* What looks at stationary noise find: each value keeps a part of the deviation of the one before. */
struct looks {
    double refused_frac; /* Share of the series that MSER-5 accepts and a trend by chance refuses. */
    double windows;      /* Mean windows until a look finds the noise steady. */
    double mser_windows; /* Mean windows until MSER-5 alone accepts it. */
    int never;           /* Series that are never steady. */
};

static struct looks look_at_noise(double kept_frac)
{
    enum { SEEDS = 500, LOOK = 100 };
    struct looks looks = {0};
    int accepted = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct kvc_window windows[WINDOWS];
        double value[WINDOWS], deviation = 0;
        struct kvc_rng rng;
        kvc_rng_init(&rng, seed, "stationary", 0);
        for (int i = -LOOK; i < WINDOWS; i++) {
            deviation = kept_frac * deviation + normal(&rng, 0, 0.1 * sqrt(1 - kept_frac * kept_frac));
            value[i < 0 ? 0 : i] = 1 + deviation;
        }
        fill_throughput(windows, value, WINDOWS);
        bool mser = kvc_mser5(value, LOOK) >= 0;
        accepted += mser;
        looks.refused_frac += mser && kvc_windows_unsteady(windows, LOOK) != KVC_SERIES;
        looks.windows += (double)steady_after(windows, WINDOWS) / SEEDS;
        looks.mser_windows += (double)accepted_by_mser(value, WINDOWS) / SEEDS;
        looks.never += steady_after(windows, WINDOWS) == 0;
    }
    looks.refused_frac /= accepted;
    return looks;
}

/* Two standard errors of a line through ten parts are exceeded by chance in 8 % of the cases, a little less
 * in what MSER-5 keeps of independent noise. */
Test(steady_state, stationary_noise_is_refused_rarely)
{
    static const struct {
        double kept_frac, refused_most_frac, windows_most;
    } cases[] = {{0, 0.08, 1}, {0.5, 0.12, 2}, {0.8, 0.14, 4}, {0.9, 0.2, 6}, {0.95, 0.25, 10}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct looks looks = look_at_noise(cases[i].kept_frac);
        cr_expect_lt(looks.refused_frac, cases[i].refused_most_frac, "case %zu: %g", i, looks.refused_frac);
        cr_expect_gt(looks.refused_frac, 0.02, "case %zu: %g", i, looks.refused_frac);
        cr_expect_lt(looks.windows - looks.mser_windows, cases[i].windows_most, "case %zu: %g after %g", i,
                     looks.windows, looks.mser_windows);
        cr_expect_eq(looks.never, 0);
    }
}

/* Clients run ahead until a window is full: throughput falls later, by what the lead grew. */
Test(steady_state, a_lead_counts_while_it_grows)
{
    static const struct {
        double growth;
        int full_after;
        bool steady;
    } cases[] = {{150, WINDOWS, false},
                 {50, WINDOWS, true},
                 {-150, WINDOWS, true},
                 {300, 300, false},
                 {150, 200, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct kvc_window windows[WINDOWS];
        struct kvc_rng rng;
        fill_steady(windows, 3);
        kvc_rng_init(&rng, i, "lead", 0);
        for (int j = 0; j < WINDOWS; j++) {
            double grown = fmin(j, cases[i].full_after) * cases[i].growth;
            windows[j].lead = fmax(grown, 0) + normal(&rng, 500, 100);
        }
        cr_expect_eq(kvc_windows_unsteady(windows, WINDOWS), cases[i].steady ? KVC_SERIES : KVC_SERIES_LEAD,
                     "case %zu", i);
    }
}

Test(steady_state, windows_without_answers_change_nothing)
{
    struct kvc_window windows[WINDOWS];
    fill_steady(windows, 5);
    for (int i = 0; i < WINDOWS; i++) {
        windows[i] =
            i % 3 == 0
                ? (struct kvc_window){.offered = 3, .completed = 3, .gets = 3, .hits = 2, .latency_ns = 6e5}
                : (struct kvc_window){0};
    }
    cr_expect_eq(kvc_windows_unsteady(windows, WINDOWS), KVC_SERIES);
}

Test(steady_state, too_few_windows_show_no_drift)
{
    struct kvc_window windows[WINDOWS];
    fill_steady(windows, 6);
    cr_expect_not(kvc_windows_drift(windows, 0, 19, KVC_SERIES_THROUGHPUT).significant);
    cr_expect(isnan(kvc_windows_drift(windows, 0, 19, KVC_SERIES_THROUGHPUT).first));
}

Test(steady_state, overload_is_what_stays_behind)
{
    struct kvc_window windows[WINDOWS];
    fill_steady(windows, 7);
    cr_expect_eq(kvc_windows_overload_frac(windows, WINDOWS), 0);
    for (int i = 0; i < WINDOWS; i++) {
        windows[i].offered += REQUESTS / 20;
    }
    cr_expect_float_eq(kvc_windows_overload_frac(windows, WINDOWS), 0.05 / 1.05, 0.005);
    for (int i = 0; i < WINDOWS; i++) {
        windows[i].dropped += REQUESTS / 20;
    }
    cr_expect_eq(kvc_windows_overload_frac(windows, WINDOWS), 0, "what is dropped does not stay");
}
