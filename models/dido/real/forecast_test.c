#include "models/dido/real/forecast.h"

#include <criterion/criterion.h>

static const struct kvc_dido_real_costs costs = {
    .together_ns = {[KVC_DIDO_RV] = 1,
                    [KVC_DIDO_PP] = 10,
                    [KVC_DIDO_MM] = 4,
                    [KVC_DIDO_SEARCH] = 9,
                    [KVC_DIDO_INSERT] = 3,
                    [KVC_DIDO_ERASE] = 2,
                    [KVC_DIDO_RD] = 20,
                    [KVC_DIDO_WR] = 5,
                    [KVC_DIDO_SD] = 6},
    .apart_ns = {[KVC_DIDO_PP] = 110,
                 [KVC_DIDO_SEARCH] = 109,
                 [KVC_DIDO_KC] = 112,
                 [KVC_DIDO_RD] = 120,
                 [KVC_DIDO_WR] = 105,
                 [KVC_DIDO_SD] = 106},
    .handling_ns = 2,
};

static struct kvc_dido_pipeline pipeline_of(const char *text)
{
    struct kvc_dido_pipeline pipeline;
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_dido_pipeline_parse(text, &pipeline, &diag), KVC_OK, "%s", diag.message);
    return pipeline;
}

static void expect_stage(const struct kvc_dido_pipeline *pipeline, uint32_t stage, double ns)
{
    double found_ns = kvc_dido_real_stage_ns(&costs, &pipeline->stage[stage]);
    cr_expect_float_eq(found_ns, ns, 1e-9, "stage %u takes %g ns, not %g", stage + 1, found_ns, ns);
}

Test(forecast, one_stage_takes_all_tasks_and_its_handling)
{
    struct kvc_dido_pipeline one = pipeline_of("cpu:1 RV PP MM search insert delete KC RD WR SD");
    expect_stage(&one, 0, 62);
    cr_expect_float_eq(kvc_dido_real_forecast_mops(&costs, &one), 1e3 / 62, 1e-9);
    struct kvc_dido_pipeline two = pipeline_of("cpu:2 RV PP MM search insert delete KC RD WR SD");
    expect_stage(&two, 0, 31);
}

Test(forecast, the_slowest_stage_sets_the_pace)
{
    struct kvc_dido_pipeline cut = pipeline_of("cpu:1 RV PP MM insert delete > cpu:1 search KC RD WR SD");
    expect_stage(&cut, 0, 22);
    expect_stage(&cut, 1, 142);
    cr_expect_float_eq(kvc_dido_real_forecast_mops(&costs, &cut), 1e3 / 142, 1e-9);
}

/* KC and RD are one read only in one stage, and WR has no values to copy behind RD only. */
Test(forecast, what_is_apart_costs_what_it_costs_alone)
{
    struct kvc_dido_pipeline cut =
        pipeline_of("cpu:1 RV PP MM search insert delete KC > cpu:1 RD > cpu:1 WR SD");
    expect_stage(&cut, 0, 1 + 10 + 4 + 9 + 3 + 2 + 112 + 2);
    expect_stage(&cut, 1, 122);
    expect_stage(&cut, 2, 105 + 6 + 2);
}
