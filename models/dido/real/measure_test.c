/* Tests which scenarios can be measured, and that a measured run reports its work. */
#include "models/dido/real/measure.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "models/dido/real/node_fixture.h"
#include "sim/probes/pin.h"

static const char one_core[] = "cpu:1 RV PP MM search insert delete KC RD WR SD";

static void expect_refused(struct kvc_test_node *test, const char *message)
{
    struct kvc_diag diag = {0};
    kvc_test_node_resolve(test);
    enum kvc_status status = kvc_dido_measurable.check(&test->scenario, &diag);
    cr_expect_eq(status, KVC_ERR_SCENARIO, "%s", message);
    cr_expect_not_null(strstr(diag.message, message), "found \"%s\"", diag.message);
}

Test(measure, what_cannot_run_here_is_refused)
{
    static struct kvc_test_node test;
    kvc_test_node_describe(&test, one_core, 0.1, 0);
    test.options.stealing = true;
    expect_refused(&test, "system.stealing: found true");
    kvc_test_node_describe(&test, one_core, 0.1, 0);
    test.options.feed = KVC_DIDO_NETWORK;
    expect_refused(&test, "system.feed: found \"network\"");
    kvc_test_node_describe(&test, one_core, 0.1, 0);
    test.scenario.run.functional = KVC_FUNCTIONAL_OFF;
    expect_refused(&test, "run.functional");
}

Test(measure, what_the_gpu_cannot_do_is_refused)
{
    static const struct {
        const char *pipeline, *message;
    } cases[] = {
        {"cpu:1 RV > gpu PP MM search insert delete > cpu:1 KC RD WR SD",
         "found PP on the gpu; a measurement "
         "allows search, insert, delete, KC, RD "
         "and WR there"},
        {"cpu:1 RV PP > gpu MM search > cpu:1 insert delete KC RD WR SD", "found MM on the gpu"},
        {"cpu:1 RV PP MM delete > gpu search insert > cpu:1 KC RD WR SD",
         "found insert on the gpu and delete on "
         "the cpu; a measurement allows both on "
         "the same one"},
        {"cpu:1 RV PP MM > gpu search delete > cpu:1 insert KC RD WR SD",
         "found delete on the gpu and insert on "
         "the cpu"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        static struct kvc_test_node test;
        kvc_test_node_describe(&test, cases[i].pipeline, 0.1, 0);
        expect_refused(&test, cases[i].message);
    }
}

Test(measure, a_stage_on_the_gpu_needs_one)
{
    static struct kvc_test_node test;
    struct kvc_diag diag = {0};
    kvc_test_node_describe(&test, "cpu:1 RV PP MM > gpu search insert delete > cpu:1 KC RD WR SD", 0.1, 0);
    if (kvc_dido_real_gpu_is_here()) {
        kvc_test_node_resolve(&test);
        cr_expect_eq(kvc_dido_real_gpu_check(&test.config.pipeline, &diag), KVC_OK, "%s", diag.message);
    } else {
        expect_refused(&test, "system.pipeline: found stage 2 on the gpu, but no CUDA device");
    }
}

Test(measure, stages_need_cores_of_this_machine)
{
    static struct kvc_test_node test;
    char pipeline[128];
    uint32_t cores = kvc_pin_cores() + 1;
    snprintf(pipeline, sizeof(pipeline), "cpu:%u RV PP MM search insert delete KC RD WR SD", cores);
    kvc_test_node_describe(&test, pipeline, 0.1, 0);
    test.cpu.cores = cores;
    expect_refused(&test, "system.pipeline: found stages with");
}

Test(measure, a_run_reports_what_it_did)
{
    static struct kvc_test_node test;
    static struct kvc_result result;
    struct kvc_diag diag = {0};
    kvc_test_node_describe(&test, one_core, 0.1, 0);
    test.scenario.run.duration_ns = 50e6;
    test.scenario.run.warmup_ns = 20e6;
    kvc_test_node_resolve(&test);
    enum kvc_status status = kvc_measurable_run(&kvc_dido_measurable, &test.scenario, NULL, &result, &diag);
    cr_assert_eq(status, KVC_OK, "%s", diag.message);
    cr_expect_gt(result.throughput_mops, 0);
    cr_expect_eq(result.misses, 0);
    cr_expect_eq(result.completed, result.hits + result.sets);
    cr_expect_eq(result.latency.count, result.completed);
    cr_expect_float_eq((double)result.sets / (double)result.completed, 0.1, 0.01);
    cr_expect_eq(result.stage_count, 1);
    double tasks_ns = 0, busy_ns = result.stage[0].busy_s * 1e9 / (double)result.stage[0].served;
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        char name[32];
        snprintf(name, sizeof(name), "%s_ns", kvc_dido_task_names[task]);
        tasks_ns += kvc_metrics_get(&result.model, name);
    }
    cr_expect_leq(tasks_ns, busy_ns * 1.02, "%.1f ns of tasks in %.1f ns", tasks_ns, busy_ns);
    cr_expect_geq(tasks_ns, busy_ns / 2, "%.1f ns of tasks in %.1f ns", tasks_ns, busy_ns);
}
