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
    .shared_ratio = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
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
    double found_ns = kvc_dido_real_stage_ns(&costs, &pipeline->stage[stage], false);
    cr_expect_float_eq(found_ns, ns, 1e-9, "stage %u takes %g ns, not %g", stage + 1, found_ns, ns);
}

Test(forecast, one_stage_takes_all_tasks_and_its_handling)
{
    struct kvc_dido_pipeline one = pipeline_of("cpu:1 RV PP MM search insert delete KC RD WR SD");
    expect_stage(&one, 0, 62);
    cr_expect_float_eq(kvc_dido_real_forecast_mops(&costs, &one, 300e3), 1e3 / 62, 1e-9);
    struct kvc_dido_pipeline two = pipeline_of("cpu:2 RV PP MM search insert delete KC RD WR SD");
    expect_stage(&two, 0, 31);
}

Test(forecast, the_slowest_stage_sets_the_pace)
{
    struct kvc_dido_pipeline cut = pipeline_of("cpu:1 RV PP MM insert delete > cpu:1 search KC RD WR SD");
    expect_stage(&cut, 0, 22);
    expect_stage(&cut, 1, 142);
    cr_expect_float_eq(kvc_dido_real_forecast_mops(&costs, &cut, 300e3), 1e3 / 142, 1e-9);
}

/* A pipeline of one core shares nothing. */
Test(forecast, sharing_takes_longer)
{
    struct kvc_dido_real_costs shared = costs;
    struct kvc_dido_pipeline one = pipeline_of("cpu:1 RV PP MM search insert delete KC RD WR SD");
    struct kvc_dido_pipeline two = pipeline_of("cpu:2 RV PP MM search insert delete KC RD WR SD");
    shared.shared_ratio[KVC_DIDO_PP] = 1.5;
    shared.shared_ratio[KVC_DIDO_RD] = 2;
    cr_expect_float_eq(kvc_dido_real_forecast_mops(&shared, &one, 300e3), 1e3 / 62, 1e-9);
    cr_expect_float_eq(kvc_dido_real_forecast_mops(&shared, &two, 300e3), 2e3 / (62 + 5 + 20), 1e-9);
}

/* KC and RD share a read only in one stage, and WR has no values to copy only right after RD. */
Test(forecast, what_is_apart_costs_what_it_costs_alone)
{
    struct kvc_dido_pipeline cut =
        pipeline_of("cpu:1 RV PP MM search insert delete KC > cpu:1 RD > cpu:1 WR SD");
    expect_stage(&cut, 0, 1 + 10 + 4 + 9 + 3 + 2 + 112 + 2);
    expect_stage(&cut, 1, 122);
    expect_stage(&cut, 2, 105 + 6 + 2);
}

static const char *printed_of(uint32_t gpu_tasks, bool apart)
{
    static char text[KVC_DIDO_PIPELINE_TEXT_MAX];
    struct kvc_dido_pipeline pipeline;
    kvc_dido_real_costs_pipeline(gpu_tasks, apart, &pipeline);
    kvc_dido_pipeline_print(&pipeline, text, sizeof(text));
    pipeline_of(text); /* The data flow allows it. */
    return text;
}

Test(forecast, tasks_are_measured_alone)
{
    uint32_t read = kvc_dido_bit(KVC_DIDO_KC) | kvc_dido_bit(KVC_DIDO_RD);
    uint32_t index =
        kvc_dido_bit(KVC_DIDO_SEARCH) | kvc_dido_bit(KVC_DIDO_INSERT) | kvc_dido_bit(KVC_DIDO_ERASE);
    cr_expect_str_eq(printed_of(0, false), "cpu:1 RV PP MM search insert delete KC RD WR SD");
    cr_expect_str_eq(printed_of(0, true),
                     "cpu:1 RV PP > cpu:1 MM > cpu:1 insert delete > cpu:1 search > cpu:1 KC "
                     "> cpu:1 RD > cpu:1 WR > cpu:1 SD");
    cr_expect_str_eq(printed_of(read, false),
                     "cpu:1 RV PP MM search insert delete > gpu KC RD > cpu:1 WR SD");
    cr_expect_str_eq(printed_of(read, true),
                     "cpu:1 RV PP > cpu:1 MM > cpu:1 insert delete > cpu:1 search > gpu KC "
                     "RD > cpu:1 WR > cpu:1 SD");
    cr_expect_str_eq(printed_of(index, false),
                     "cpu:1 RV PP MM > gpu search insert delete > cpu:1 KC RD WR SD");
    cr_expect_str_eq(printed_of(index, true),
                     "cpu:1 RV PP > cpu:1 MM > gpu search insert delete > cpu:1 KC > cpu:1 "
                     "RD > cpu:1 WR > cpu:1 SD");
}

/* The launch is in the time of a batch: 20 us and 1 ns a query, from 16384 on 2 ns. */
static struct kvc_dido_real_costs costs_with_gpu(void)
{
    struct kvc_dido_real_costs with = costs;
    static const double queries[] = {1024, 4096, 16384, 65536};
    for (int i = 0; i < KVC_DIDO_REAL_GPU_SIZES; i++) {
        with.gpu_queries[i] = queries[i];
        with.gpu_ns[i] = 20e3 + queries[i] + (queries[i] > 16384 ? queries[i] - 16384 : 0);
    }
    return with;
}

Test(forecast, the_gpu_takes_its_launch_and_a_time_for_each_query)
{
    struct kvc_dido_real_costs with = costs_with_gpu();
    struct kvc_dido_stage gpu = {.on_gpu = true, .tasks = kvc_dido_bit(KVC_DIDO_SEARCH)};
    cr_expect_float_eq(kvc_dido_real_stage_batch_ns(&with, &gpu, false, 0), 20e3, 1e-6);
    cr_expect_float_eq(kvc_dido_real_stage_batch_ns(&with, &gpu, false, 2000), 22e3, 1e-6);
    cr_expect_float_eq(kvc_dido_real_stage_batch_ns(&with, &gpu, false, 20000), 20e3 + 20000 + 3616, 1e-6);
    cr_expect_float_eq(kvc_dido_real_stage_batch_ns(&with, &gpu, false, 100000), 20e3 + 100000 + 83616, 1e-6);
}

/* A short interval leaves little time besides the launch, so the GPU sets the pace; with a long one, the CPU
 * does. */
Test(forecast, the_interval_sizes_the_batches)
{
    struct kvc_dido_real_costs with = costs_with_gpu();
    struct kvc_dido_pipeline cut =
        pipeline_of("cpu:10 RV PP MM insert delete > gpu search KC RD > cpu:60 WR SD");
    double cpu_ns = kvc_dido_real_stage_ns(&with, &cut.stage[0], false);
    cr_assert_float_eq(cpu_ns, 2.2, 1e-9);
    cr_expect_float_eq(kvc_dido_real_forecast_mops(&with, &cut, 24e3), 4000 * 1e3 / 24e3, 0.1);
    cr_expect_float_eq(kvc_dido_real_forecast_mops(&with, &cut, 100e3), 1e3 / cpu_ns, 0.1);
    cr_expect_eq(kvc_dido_real_gpu_tasks(&cut), cut.stage[1].tasks);
}
