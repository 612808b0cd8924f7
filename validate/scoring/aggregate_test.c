#include "validate/scoring/aggregate.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { PARTS = 3, AT = PARTS };

static struct kvc_case entry[PARTS + 1] = {{.id = "gain-K8-S"}, {.id = "gain-K16-S"}, {.id = "gain-K8-U"}};
static const struct kvc_cases cases = {.count = PARTS + 1, .entry = entry};
static const struct kvc_score scores[PARTS + 1] = {
    {.predicted = {2.0, 0.3}}, {.predicted = {1.0, 0.1}}, {.predicted = {0.5, 0.4}}};

static double value(enum kvc_case_mode mode, const char *pattern, double *half_width)
{
    struct kvc_interval found = {NAN, NAN};
    struct kvc_diag diag = {0};
    entry[AT] = (struct kvc_case){.id = "gain-all", .mode = mode};
    strcpy(entry[AT].scenario, pattern);
    enum kvc_status status = kvc_aggregate_value(&cases, AT, scores, &found, &diag);
    cr_assert_eq(status, KVC_OK, "%s", diag.message);
    *half_width = found.half_width;
    return found.mean;
}

Test(aggregate, combines_the_cases_that_match)
{
    double half_width;
    cr_expect_float_eq(value(KVC_CASE_MEAN, "gain-K8-*", &half_width), 1.25, 1e-12);
    cr_expect_float_eq(half_width, 0.25, 1e-12);
    cr_expect_float_eq(value(KVC_CASE_MEAN, "gain-*-S", &half_width), 1.5, 1e-12);
    cr_expect_float_eq(value(KVC_CASE_DEVIATION, "gain-*", &half_width), 0.5, 1e-12);
    cr_expect_float_eq(value(KVC_CASE_MOST, "gain-*", &half_width), 2, 1e-12);
    cr_expect_float_eq(half_width, 0.3, 1e-12);
    cr_expect_float_eq(value(KVC_CASE_LEAST, "gain-*", &half_width), 0.5, 1e-12);
    cr_expect_float_eq(half_width, 0.4, 1e-12);
}

Test(aggregate, refuses_a_pattern_that_nothing_matches)
{
    struct kvc_interval found;
    struct kvc_diag diag = {0};
    entry[AT] = (struct kvc_case){.id = "mean", .mode = KVC_CASE_MEAN, .scenario = "loss-*"};
    enum kvc_status status = kvc_aggregate_value(&cases, AT, scores, &found, &diag);
    cr_expect_eq(status, KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "\"loss-*\""), "%s", diag.message);
}
