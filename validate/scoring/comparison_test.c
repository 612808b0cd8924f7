#include "validate/scoring/comparison.h"

#include "sim/metrics/bottleneck.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* There are five runs: a and b saturate; c, which is unseen, and d are open loops at 60 % of the capacity of
 * a; e is one whose load is stated in Mops. */
static struct kvc_measuring_plan_line lines[] = {{.id = "a", .load_frac = NAN},
                                                 {.id = "b", .load_frac = NAN},
                                                 {.id = "c", .load_frac = 0.6},
                                                 {.id = "d", .load_frac = 0.6},
                                                 {.id = "e", .load_frac = NAN}};
static const struct kvc_measuring_plan plan = {.count = 5, .entry = lines};
static struct kvc_measured_run runs[5];
static struct kvc_comparison_forecast forecasts[5];
static struct kvc_comparison comparison;

static void set(struct kvc_readings *readings, double mops, double mean_us, double p99_us,
                const char *bottleneck)
{
    for (int i = 0; i < KVC_READINGS; i++) {
        readings->value[i] = NAN;
        readings->half_frac[i] = 0.01;
    }
    readings->value[KVC_READING_THROUGHPUT] = mops;
    readings->value[KVC_READING_LATENCY_MEAN] = mean_us;
    readings->value[KVC_READING_LATENCY_P99] = p99_us;
    strcpy(readings->bottleneck, bottleneck);
}

static void list_cases(bool unseen)
{
    cr_assert_eq(kvc_comparison_list(&plan, runs, forecasts, unseen, &comparison, NULL), KVC_OK);
    for (size_t i = 0; i < comparison.cases.count; i++) {
        comparison.score[i].baseline_frac = (struct kvc_interval){0.2, NAN};
    }
}

static void make_comparison(void)
{
    set(&runs[0].readings, 100, 500, 900, "send");
    set(&runs[1].readings, 200, 500, 900, "index");
    set(&runs[2].readings, 10, 100, 400, "load");
    set(&runs[3].readings, 20, 200, 800, "load");
    runs[0].readings.value[KVC_READING_SEARCH_JOB] = 60;
    runs[1].readings.value[KVC_READING_SEARCH_JOB] = 80;
    runs[1].readings.value[KVC_READING_INSERT_JOB] = 20;
    set(&forecasts[0].simulated, 110, 1, 1, "send");
    set(&forecasts[1].simulated, 260, 1, 1, "receive");
    set(&forecasts[2].simulated, 1, 80, 600, "load");
    set(&forecasts[3].simulated, 1, 210, 720, "load");
    forecasts[0].simulated.value[KVC_READING_SEARCH_JOB] = 61.2;
    set(&forecasts[0].closed_form, 90, 1, NAN, "send");
    set(&forecasts[1].closed_form, 200, 1, NAN, "index");
    set(&forecasts[2].closed_form, 1, 110, NAN, "send");
    set(&forecasts[3].closed_form, 1, 200, NAN, "load");
    forecasts[1].closed_form.value[KVC_READING_SEARCH_JOB] = 88;
    set(&runs[4].readings, 20, 200, 800, "load");
    set(&forecasts[4].simulated, 20, 200, 800, "load");
    set(&forecasts[4].closed_form, 20, 200, NAN, "load");
    forecasts[2].open_loop = forecasts[3].open_loop = forecasts[4].open_loop = true;
    list_cases(false);
}

static void free_comparison(void)
{
    kvc_comparison_free(&comparison);
}

static long find(const char *id)
{
    return kvc_cases_find(&comparison.cases, id, strlen(id));
}

TestSuite(comparison, .init = make_comparison, .fini = free_comparison);

Test(comparison, takes_the_metrics_that_suit_the_load)
{
    static const char *const expected[] = {
        "a:throughput_mops",   "a:search_ns_per_job", "b:throughput_mops", "b:search_ns_per_job",
        "b:insert_ns_per_job", "d:latency_mean_us",   "d:latency_p99_us",
    };
    cr_assert_eq(comparison.cases.count, sizeof(expected) / sizeof(*expected));
    for (size_t i = 0; i < comparison.cases.count; i++) {
        cr_expect_str_eq(comparison.cases.entry[i].id, expected[i]);
    }
}

static size_t count_after_relisting(void)
{
    free_comparison();
    list_cases(false);
    return comparison.cases.count;
}

Test(comparison, scores_no_latency_at_or_above_the_capacity)
{
    size_t below = count_after_relisting();
    lines[3].load_frac = 1;
    cr_expect_eq(count_after_relisting(), below - 2, "mean and p99 of d");
    lines[3].load_frac = 0.6;
}

/* The bound of the mean error of a throughput is 6 %, so its interval may be 3 % to either side. */
Test(comparison, a_reading_with_a_wide_interval_is_undecidable)
{
    const double halves[] = {0.029, 0.031, NAN};
    const struct kvc_comparison_part part = {.reading = KVC_READING_THROUGHPUT};
    for (int i = 0; i < 3; i++) {
        runs[0].readings.half_frac[KVC_READING_THROUGHPUT] = halves[i];
        cr_expect_eq(count_after_relisting(), 7, "the case is listed");
        kvc_comparison_score(&comparison, forecasts);
        cr_expect_eq(comparison.entry[find("a:throughput_mops")].undecidable, i > 0);
        cr_expect_eq(kvc_comparison_summarise(&comparison, &part).count, i == 0 ? 2 : 1);
        cr_expect_neq(comparison.score[find("a:throughput_mops")].verdict, KVC_VERDICT_REGRESSED);
    }
}

Test(comparison, scores_the_simulation)
{
    kvc_comparison_score(&comparison, forecasts);
    long a = find("a:throughput_mops"), b = find("b:throughput_mops"), d = find("d:latency_mean_us");
    cr_expect_float_eq(comparison.score[a].error_frac.mean, 0.1, 1e-12);
    cr_expect_float_eq(comparison.entry[a].closed_form_error_frac, -0.1, 1e-12);
    cr_expect_eq(comparison.score[a].verdict, KVC_VERDICT_OK);
    cr_expect_float_eq(comparison.score[b].error_frac.mean, 0.3, 1e-12);
    cr_expect_eq(comparison.score[b].verdict, KVC_VERDICT_REGRESSED, "30 %% after 20 %%");
    cr_expect_eq(comparison.score[d].verdict, KVC_VERDICT_OK, "5 %% of 25 %%");
    cr_expect_eq(comparison.score[find("a:search_ns_per_job")].verdict, KVC_VERDICT_OK, "2 %% of 15 %%");
}

Test(comparison, shows_launch_times_that_are_not_simulated_but_does_not_count_them)
{
    kvc_comparison_score(&comparison, forecasts);
    long b = find("b:search_ns_per_job");
    cr_expect_eq(comparison.cases.entry[b].role, KVC_CASE_INPUT);
    cr_expect_eq(comparison.score[b].verdict, KVC_VERDICT_OK);
    cr_expect_float_eq(comparison.entry[b].closed_form_error_frac, 0.1, 1e-12);
    struct kvc_comparison_part part = {.reading = KVC_READING_SEARCH_JOB};
    cr_expect_eq(kvc_comparison_summarise(&comparison, &part).count, 1);
    part.reading = KVC_READING_INSERT_JOB;
    cr_expect_eq(kvc_comparison_summarise(&comparison, &part).count, 0);
}

Test(comparison, a_throughput_that_is_not_simulated_is_an_error)
{
    forecasts[0].simulated.value[KVC_READING_THROUGHPUT] = NAN;
    kvc_comparison_score(&comparison, forecasts);
    cr_expect_eq(comparison.score[find("a:throughput_mops")].verdict, KVC_VERDICT_REGRESSED);
}

Test(comparison, summarises_seen_and_unseen_runs_separately)
{
    kvc_comparison_score(&comparison, forecasts);
    struct kvc_comparison_part part = {.reading = KVC_READING_THROUGHPUT};
    struct kvc_error_summary summary = kvc_comparison_summarise(&comparison, &part);
    cr_expect_eq(summary.count, 2);
    cr_expect_float_eq(summary.mean_abs_frac, 0.2, 1e-12);
    cr_expect_float_eq(summary.max_abs_frac, 0.3, 1e-12);
    part.closed_form = true;
    cr_expect_float_eq(kvc_comparison_summarise(&comparison, &part).mean_abs_frac, 0.05, 1e-12);
    kvc_comparison_free(&comparison);
    list_cases(true);
    cr_expect_eq(comparison.cases.count, 2, "one run is unseen");
    kvc_comparison_score(&comparison, forecasts);
    part = (struct kvc_comparison_part){.reading = KVC_READING_LATENCY_P99};
    summary = kvc_comparison_summarise(&comparison, &part);
    cr_expect_eq(summary.count, 1);
    cr_expect_float_eq(summary.p95_abs_frac, 0.5, 1e-12);
    part.closed_form = true;
    cr_expect_eq(kvc_comparison_summarise(&comparison, &part).count, 0, "a closed form has no p99");
}

Test(comparison, counts_bottlenecks_that_are_named_right)
{
    struct kvc_bottlenecks seen = kvc_comparison_bottlenecks(&plan, runs, forecasts, false);
    struct kvc_bottlenecks unseen = kvc_comparison_bottlenecks(&plan, runs, forecasts, true);
    cr_expect_eq(seen.runs, 4);
    cr_expect_eq(seen.right_simulated, 3);
    cr_expect_eq(seen.right_closed_form, 4);
    cr_expect_eq(seen.undecided, 0);
    cr_expect_eq(unseen.runs, 1);
    cr_expect_eq(unseen.right_simulated, 1);
    cr_expect_eq(unseen.right_closed_form, 0);
}

Test(comparison, a_bottleneck_is_right_if_the_measurement_cannot_tell_it_from_the_busiest_stage)
{
    strcpy(forecasts[0].simulated.bottleneck, "index");
    strcpy(forecasts[0].closed_form.bottleneck, "load");
    strcpy(runs[0].readings.bottleneck, "receive+index");
    struct kvc_bottlenecks before = kvc_comparison_bottlenecks(&plan, runs, forecasts, false);
    strcpy(runs[0].readings.bottleneck, "receive+send");
    struct kvc_bottlenecks wrong = kvc_comparison_bottlenecks(&plan, runs, forecasts, false);
    cr_expect_eq(wrong.right_simulated, before.right_simulated - 1);
    cr_expect_eq(wrong.right_closed_form, before.right_closed_form, "\"load\" was wrong before, too");
    strcpy(runs[0].readings.bottleneck, kvc_bottleneck_undecided);
    struct kvc_bottlenecks undecided = kvc_comparison_bottlenecks(&plan, runs, forecasts, false);
    cr_expect_eq(undecided.runs, before.runs - 1);
    cr_expect_eq(undecided.undecided, 1);
    cr_expect_eq(undecided.right_simulated, before.right_simulated - 1);
}

Test(comparison, measures_how_far_the_repetitions_of_saturated_runs_lie_apart)
{
    runs[0].spread_frac = 0.1;
    runs[1].spread_frac = 0.3;
    runs[2].spread_frac = runs[3].spread_frac = 0.9;
    struct kvc_repeatability seen = kvc_comparison_repeatability(&plan, runs, forecasts, false);
    cr_expect_eq(seen.runs, 2);
    cr_expect_float_eq(seen.mean_frac, 0.2, 1e-12);
    cr_expect_float_eq(seen.max_frac, 0.3, 1e-12);
    cr_expect_eq(kvc_comparison_repeatability(&plan, runs, forecasts, true).runs, 0);
}
