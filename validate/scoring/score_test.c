#include "validate/scoring/score.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static void write_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    cr_assert(out != NULL);
    fputs(text, out);
    cr_assert(fclose(out) == 0);
}

static char path[] = "/tmp/kvcast-cases-XXXXXX";

static void make_path(void)
{
    strcpy(path, "/tmp/kvcast-cases-XXXXXX");
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    close(fd);
}

static void remove_path(void)
{
    unlink(path);
}

#define HEADER "id,mode,scenario,overrides,metric,published,low,high,tolerance_frac,role,lacks,fact\n"

TestSuite(cases, .init = make_path, .fini = remove_path);

Test(cases, reads_its_columns)
{
    struct kvc_cases cases;
    struct kvc_diag diag = {0};
    write_file(path,
               HEADER "a,run,s.lua,x=1;y=2,throughput_mops,623,,,0.15,prediction,caches,Sec 8.4, Fig 14\n"
                      "r,ratio,a/a,,ratio,,0.5,,,equation,,\n"
                      "c,capacity,s.lua,capacity.loss=0.01,throughput_mops,623,,,0.1,prediction,,\n");
    cr_assert_eq(kvc_cases_read(path, &cases, &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(cases.count, 3);
    cr_expect_eq(cases.entry[2].mode, KVC_CASE_CAPACITY);
    cr_expect_str_eq(cases.entry[0].overrides, "x=1;y=2");
    cr_expect_eq(cases.entry[0].published, 623);
    cr_expect_str_eq(cases.entry[0].lacks, "caches");
    cr_expect_str_eq(cases.entry[0].fact, "Sec 8.4, Fig 14");
    cr_expect_eq(cases.entry[1].mode, KVC_CASE_RATIO);
    cr_expect(isnan(cases.entry[1].published));
    cr_expect_eq(kvc_cases_find(&cases, "r", 1), 1);
    cr_expect_eq(kvc_cases_find(&cases, "none", 4), -1);
    kvc_cases_free(&cases);
}

Test(cases, the_columns_tell_points_from_ranges_and_claims)
{
    static const enum kvc_case_kind kinds[] = {KVC_KIND_POINT, KVC_KIND_RANGE,    KVC_KIND_CLAIM,
                                               KVC_KIND_CLAIM, KVC_KIND_EQUATION, KVC_KIND_INPUT};
    struct kvc_cases cases;
    struct kvc_diag diag = {0};
    write_file(path, HEADER "a,run,s.lua,,t,1,,,0.1,prediction,,\n"
                            "b,run,s.lua,,t,,0,1,,prediction,,\n"
                            "c,run,s.lua,,t,,0,,,prediction,,\n"
                            "d,run,s.lua,,t,,,1,,prediction,,\n"
                            "e,run,s.lua,,t,1,,,0.1,equation,,\n"
                            "f,run,s.lua,,t,,,,,input,,\n");
    cr_assert_eq(kvc_cases_read(path, &cases, &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(cases.count, sizeof(kinds) / sizeof(*kinds));
    for (size_t i = 0; i < cases.count; i++) {
        cr_expect_eq(kvc_case_kind_of(&cases.entry[i]), kinds[i], "case %s", cases.entry[i].id);
    }
    cr_expect_eq(cases.entry[1].line, 3);
    kvc_cases_free(&cases);
}

struct bad_file {
    char text[240];
    int line;
    char message[120];
};

Test(cases, names_the_bad_line)
{
    static const struct bad_file bad[] = {
        {"id,mode\n", 1, "found header"},
        {HEADER "a,run,s.lua,,t,1,,,0.1,prediction\n", 2, "found 10 columns, expected 12"},
        {HEADER "a,walk,s.lua,,t,1,,,0.1,prediction,,\n", 2,
         "\"walk\", expected run, predict, ratio, capacity, mean, deviation, most or least"},
        {HEADER "a,run,s.lua,,t,x,,,0.1,prediction,,\n", 2, "found \"x\", expected a number"},
        {HEADER "a,run,s.lua,,t,,,,,prediction,,\n", 2, "neither a published value"},
        {HEADER "a,run,s.lua,,t,1,0,,0.1,prediction,,\n", 2, "a published value with a bound"},
        {HEADER "a,run,s.lua,,t,,0,2,0.1,prediction,,\n", 2, "tolerance_frac \"0.1\" without"},
        {HEADER "a,run,s.lua,,t,1,,,,input,,\n", 2, "found an input with"},
        {HEADER "a,run,s.lua,,t,1,,,-1,prediction,,\n", 2, "tolerance_frac \"-1\""},
        {HEADER "a,run,s.lua,,t,1,,,0.1,guess,,\n", 2, "found \"guess\""},
        {HEADER "a,run,s.lua,,t,1,,,0.1,excluded,,\n", 2, "expected the calculation"},
        {HEADER "a,run,s.lua,,t,1,,,0.1,duplicate,b,\n", 2, "found \"b\" in lacks"},
        {HEADER "a,run,s.lua,,t,1,,,0.1,duplicate,a,\n", 2, "found \"a\" in lacks"},
        {HEADER "a,run,s,,t,,,,,input,,\na,run,s,,t,,,,,input,,\n", 3, "twice"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct kvc_cases cases;
        struct kvc_diag diag = {0};
        write_file(path, bad[i].text);
        cr_expect_eq(kvc_cases_read(path, &cases, &diag), KVC_ERR_SCENARIO);
        cr_expect_eq(diag.line, bad[i].line, "line %d of %zu: %s", diag.line, i, diag.message);
        cr_expect(strstr(diag.message, bad[i].message) != NULL, "%s", diag.message);
        cr_expect_str_eq(diag.file, path);
    }
}

Test(score, errors_against_points_and_ranges)
{
    struct kvc_case point = {.published = 200, .low = NAN, .high = NAN, .tolerance_frac = 0.15};
    struct kvc_case range = {.published = NAN, .low = 2, .high = 4, .tolerance_frac = 0};
    cr_expect_float_eq(kvc_score_error(&point, 220), 0.1, 1e-12);
    cr_expect_float_eq(kvc_score_error(&point, 150), -0.25, 1e-12);
    cr_expect_eq(kvc_score_error(&range, 3), 0);
    cr_expect_float_eq(kvc_score_error(&range, 1), -0.5, 1e-12);
    cr_expect_float_eq(kvc_score_error(&range, 5), 0.25, 1e-12);
    cr_expect(isnan(kvc_score_error(&range, NAN)));
}

static enum kvc_verdict verdict_of(const struct kvc_case *scored, struct kvc_interval predicted,
                                   struct kvc_interval baseline_frac)
{
    return kvc_score_case(scored, predicted, baseline_frac).verdict;
}

static const struct kvc_interval no_baseline = {NAN, NAN};

Test(score, verdicts)
{
    struct kvc_case point = {.published = 100, .low = NAN, .high = NAN, .tolerance_frac = 0.1};
    struct kvc_interval accepted = {0.2, NAN};
    cr_expect_eq(verdict_of(&point, (struct kvc_interval){109, NAN}, accepted), KVC_VERDICT_OK);
    cr_expect_eq(verdict_of(&point, (struct kvc_interval){109, NAN}, no_baseline), KVC_VERDICT_REGRESSED,
                 "a case without a baseline is not accepted");
    cr_expect_eq(verdict_of(&point, (struct kvc_interval){120, NAN}, accepted), KVC_VERDICT_MISSED);
    cr_expect_eq(verdict_of(&point, (struct kvc_interval){80, NAN}, accepted), KVC_VERDICT_MISSED);
    cr_expect_eq(verdict_of(&point, (struct kvc_interval){121, NAN}, accepted), KVC_VERDICT_REGRESSED);
    cr_expect_eq(verdict_of(&point, (struct kvc_interval){NAN, NAN}, accepted), KVC_VERDICT_REGRESSED);
    cr_expect_eq(verdict_of(&point, (struct kvc_interval){109, NAN}, (struct kvc_interval){0.05, NAN}),
                 KVC_VERDICT_REGRESSED, "inside the tolerance, but it grew");
    point.role = KVC_CASE_INPUT;
    cr_expect_eq(verdict_of(&point, (struct kvc_interval){300, NAN}, no_baseline), KVC_VERDICT_OK);
}

Test(score, an_error_may_grow_by_the_smaller_of_both_intervals)
{
    struct kvc_case point = {.published = 100, .low = NAN, .high = NAN, .tolerance_frac = 0.5};
    struct kvc_interval accepted = {0.05, 0.03};
    cr_expect_eq(verdict_of(&point, (struct kvc_interval){107.9, 3}, accepted), KVC_VERDICT_OK);
    cr_expect_eq(verdict_of(&point, (struct kvc_interval){108.1, 3}, accepted), KVC_VERDICT_REGRESSED);
    cr_expect_eq(verdict_of(&point, (struct kvc_interval){107.9, 2}, accepted), KVC_VERDICT_REGRESSED,
                 "the present interval is narrower");
    cr_expect_eq(verdict_of(&point, (struct kvc_interval){108.1, 30}, accepted), KVC_VERDICT_REGRESSED,
                 "more noise excuses nothing");
    cr_expect_eq(verdict_of(&point, (struct kvc_interval){105.1, NAN}, accepted), KVC_VERDICT_REGRESSED,
                 "a value without chance must not grow at all");
}

Test(score, bounds_are_held_or_missed)
{
    struct kvc_case claim = {.published = NAN, .low = NAN, .high = 10, .tolerance_frac = NAN};
    struct kvc_interval none = {0, NAN};
    cr_expect_eq(verdict_of(&claim, (struct kvc_interval){10, NAN}, none), KVC_VERDICT_OK);
    cr_expect_eq(verdict_of(&claim, (struct kvc_interval){11, NAN}, none), KVC_VERDICT_REGRESSED);
    cr_expect_eq(verdict_of(&claim, (struct kvc_interval){11, NAN}, (struct kvc_interval){0.1, NAN}),
                 KVC_VERDICT_MISSED);
}

Test(score, points_alone_enter_the_mean)
{
    struct kvc_case entries[] = {
        {.published = 100, .low = NAN, .high = NAN, .tolerance_frac = 0.1},
        {.published = 100, .low = NAN, .high = NAN, .tolerance_frac = 0.1},
        {.published = 100, .low = NAN, .high = NAN, .tolerance_frac = 0.1},
        {.published = NAN, .low = 1, .high = 2},
        {.published = NAN, .low = 1, .high = NAN},
        {.published = NAN, .low = NAN, .high = 2},
        {.published = 100, .low = NAN, .high = NAN, .role = KVC_CASE_EQUATION},
        {.published = NAN, .low = NAN, .high = NAN, .role = KVC_CASE_INPUT},
        {.published = 100, .low = NAN, .high = NAN, .role = KVC_CASE_DUPLICATE},
        {.published = NAN, .low = 1, .high = NAN, .role = KVC_CASE_EXCLUDED},
    };
    struct kvc_cases cases = {sizeof(entries) / sizeof(*entries), entries};
    struct kvc_score scores[] = {
        {.error_frac = {0.05, NAN}},
        {.error_frac = {-0.15, NAN}, .verdict = KVC_VERDICT_REGRESSED},
        {.error_frac = {0, NAN}, .not_counted = true},
        {.error_frac = {0, NAN}},
        {.error_frac = {0, NAN}},
        {.error_frac = {0.5, NAN}},
        {.error_frac = {0.9, NAN}},
        {.error_frac = {NAN, NAN}},
        {.error_frac = {0.7, NAN}},
        {.error_frac = {0.7, NAN}},
    };
    struct kvc_score_summary summary = kvc_score_summarise(&cases, scores);
    cr_expect_eq(summary.points.count, 2);
    cr_expect_float_eq(summary.points.mean_abs_frac, 0.1, 1e-12);
    cr_expect_float_eq(summary.points.max_abs_frac, 0.15, 1e-12);
    cr_expect_eq(summary.points_missed, 1);
    cr_expect_eq(summary.ranges, 1);
    cr_expect_eq(summary.ranges_held, 1);
    cr_expect_eq(summary.claims, 2);
    cr_expect_eq(summary.claims_held, 1);
    cr_expect_eq(summary.equations, 1);
    cr_expect_eq(summary.inputs, 1);
    cr_expect_eq(summary.not_counted, 1);
    cr_expect_eq(summary.duplicates, 1);
    cr_expect_eq(summary.excluded, 1);
    cr_expect_eq(summary.regressed, 1);
}

Test(cases, baseline_survives_a_round_trip)
{
    struct kvc_case entries[] = {{.id = "a", .published = 100, .low = NAN, .high = NAN},
                                 {.id = "b", .published = 100, .low = NAN, .high = NAN}};
    struct kvc_cases cases = {2, entries};
    struct kvc_score scores[2] = {{.error_frac = {-0.083, 0.012}}, {.error_frac = {0.04, NAN}}};
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_baseline_write(path, &cases, scores, &diag), KVC_OK);
    cr_assert_eq(kvc_baseline_read(path, &cases, scores, &diag), KVC_OK);
    cr_expect_float_eq(scores[0].baseline_frac.mean, -0.083, 1e-12);
    cr_expect_float_eq(scores[0].baseline_frac.half_width, 0.012, 1e-12);
    cr_expect_float_eq(scores[1].baseline_frac.mean, 0.04, 1e-12);
    cr_expect(isnan(scores[1].baseline_frac.half_width));
    write_file(path, "id,error_frac,half_width_frac\na,x,\n");
    cr_expect_eq(kvc_baseline_read(path, &cases, scores, &diag), KVC_ERR_SCENARIO);
    cr_expect_eq(diag.line, 2);
}

Test(score, a_ratio_divides_two_earlier_cases)
{
    struct kvc_case entries[] = {
        {.id = "a"}, {.id = "b"}, {.id = "r", .scenario = "a/b"}, {.id = "s", .scenario = "a"}};
    struct kvc_cases cases = {4, entries};
    struct kvc_score scores[4] = {{.predicted = {6, 0.3}}, {.predicted = {4, NAN}}};
    struct kvc_diag diag = {0};
    struct kvc_interval value;
    cr_assert_eq(kvc_score_ratio(&cases, 2, scores, &value, &diag), KVC_OK);
    cr_expect_eq(value.mean, 1.5);
    cr_expect_float_eq(value.half_width, 1.5 * 0.05, 1e-12);
    scores[1].predicted.half_width = 0.48;
    cr_assert_eq(kvc_score_ratio(&cases, 2, scores, &value, &diag), KVC_OK);
    cr_expect_float_eq(value.half_width, 1.5 * 0.13, 1e-12, "5 %% and 12 %% make 13 %%");
    scores[0].predicted.half_width = scores[1].predicted.half_width = NAN;
    cr_assert_eq(kvc_score_ratio(&cases, 2, scores, &value, &diag), KVC_OK);
    cr_expect(isnan(value.half_width));
    cr_expect_eq(kvc_score_ratio(&cases, 3, scores, &value, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message, "case s: found \"a\", expected two earlier cases as a/b");
}

enum { PARTS = 3, AT = PARTS };

static struct kvc_case part[PARTS + 1] = {{.id = "gain-K8-S"}, {.id = "gain-K16-S"}, {.id = "gain-K8-U"}};
static const struct kvc_cases parts = {.count = PARTS + 1, .entry = part};
static const struct kvc_score part_scores[PARTS + 1] = {
    {.predicted = {2.0, 0.3}}, {.predicted = {1.0, 0.1}}, {.predicted = {0.5, 0.4}}};

static double aggregate(enum kvc_case_mode mode, const char *pattern, double *half_width)
{
    struct kvc_interval found = {NAN, NAN};
    struct kvc_diag diag = {0};
    part[AT] = (struct kvc_case){.id = "gain-all", .mode = mode};
    strcpy(part[AT].scenario, pattern);
    enum kvc_status status = kvc_aggregate_value(&parts, AT, part_scores, &found, &diag);
    cr_assert_eq(status, KVC_OK, "%s", diag.message);
    *half_width = found.half_width;
    return found.mean;
}

Test(aggregate, combines_the_cases_that_match)
{
    double half_width;
    cr_expect_float_eq(aggregate(KVC_CASE_MEAN, "gain-K8-*", &half_width), 1.25, 1e-12);
    cr_expect_float_eq(half_width, 0.25, 1e-12);
    cr_expect_float_eq(aggregate(KVC_CASE_MEAN, "gain-*-S", &half_width), 1.5, 1e-12);
    cr_expect_float_eq(aggregate(KVC_CASE_DEVIATION, "gain-*", &half_width), 0.5, 1e-12);
    cr_expect_float_eq(aggregate(KVC_CASE_MOST, "gain-*", &half_width), 2, 1e-12);
    cr_expect_float_eq(half_width, 0.3, 1e-12);
    cr_expect_float_eq(aggregate(KVC_CASE_LEAST, "gain-*", &half_width), 0.5, 1e-12);
    cr_expect_float_eq(half_width, 0.4, 1e-12);
}

Test(aggregate, refuses_a_pattern_that_nothing_matches)
{
    struct kvc_interval found;
    struct kvc_diag diag = {0};
    part[AT] = (struct kvc_case){.id = "mean", .mode = KVC_CASE_MEAN, .scenario = "loss-*"};
    enum kvc_status status = kvc_aggregate_value(&parts, AT, part_scores, &found, &diag);
    cr_expect_eq(status, KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "\"loss-*\""), "%s", diag.message);
}
