/* Pipelines as text, their order, and the set of all of them. */
#include "models/dido/pipeline.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect_read(const char *text, const char *printed)
{
    struct kvc_dido_pipeline pipeline, again;
    struct kvc_diag diag = {0};
    char out[KVC_DIDO_PIPELINE_TEXT_MAX];
    enum kvc_status status = kvc_dido_pipeline_parse(text, &pipeline, &diag);
    cr_assert_eq(status, KVC_OK, "%s: %s", text, diag.message);
    kvc_dido_pipeline_print(&pipeline, out, sizeof(out));
    cr_expect_str_eq(out, printed);
    status = kvc_dido_pipeline_parse(out, &again, &diag);
    cr_expect_eq(status, KVC_OK);
    cr_expect(memcmp(&pipeline, &again, sizeof(again)) == 0, "%s", out);
}

Test(pipeline, is_read_and_written)
{
    expect_read(kvc_dido_megakv_pipeline, "cpu RV PP MM > gpu search insert delete > cpu KC RD WR SD");
    expect_read("  cpu:2 MM PP RV\tinsert delete > gpu RD KC search > cpu:2 SD WR ",
                "cpu:2 RV PP MM insert delete > gpu search KC RD > cpu:2 WR SD");
    expect_read("cpu RV PP MM search insert delete KC RD WR SD",
                "cpu RV PP MM search insert delete KC RD WR SD");
    expect_read("cpu RV > cpu PP search > cpu MM KC RD WR insert > cpu delete SD",
                "cpu RV > cpu PP search > cpu MM insert KC RD WR > cpu delete SD");
}

static void expect_refused(const char *text, const char *message)
{
    struct kvc_dido_pipeline pipeline;
    struct kvc_diag diag = {0};
    enum kvc_status status = kvc_dido_pipeline_parse(text, &pipeline, &diag);
    cr_expect_eq(status, KVC_ERR_SCENARIO, "%s", text);
    cr_expect(strstr(diag.message, message) != NULL, "%s: %s", text, diag.message);
}

Test(pipeline, wrong_ones_are_refused)
{
    expect_refused("", "a stage, such as cpu");
    expect_refused("RV PP", "found \"RV\", allowed: a stage begins with cpu");
    expect_refused("cpu:0 RV", "cpu:0");
    expect_refused("cpu:2x RV", "cpu:2x");
    /* The whole number counts, not its first digits, which would be ten cores. */
    expect_refused("cpu:000000000000000000000000010000 RV", "cpu:000000000000000000000000010000");
    expect_refused("cpu RV PP XX", "found \"XX\"");
    expect_refused("cpu RV RV", "found RV twice");
    expect_refused("cpu RV PP MM > gpu search insert > cpu KC RD WR SD", "found no delete");
    expect_refused("cpu RV PP MM > gpu > cpu search insert delete KC RD WR SD", "found no task in stage 2");
    expect_refused("cpu RV PP MM search insert delete KC RD > gpu WR SD", "found SD on the gpu");
    expect_refused("gpu RV PP MM search insert delete KC RD > cpu WR SD", "found RV on the gpu");
    expect_refused("cpu RV > gpu PP > cpu MM > gpu search insert delete KC RD WR > cpu SD", "2 stages");
    expect_refused("cpu RV PP insert > gpu search MM delete > cpu KC RD WR SD",
                   "found insert in stage 1 and MM in stage 2");
    expect_refused("cpu RV PP MM > gpu KC insert delete > cpu search RD WR SD",
                   "found KC in stage 2 and search in stage 3");
    expect_refused("cpu RV PP MM search insert delete KC RD WR SD >", "a stage, such as cpu");
}

static void expect_cores(const char *text, uint32_t cores, const char *message)
{
    struct kvc_dido_pipeline pipeline;
    struct kvc_diag diag = {0};
    enum kvc_status status = kvc_dido_pipeline_parse(text, &pipeline, &diag);
    cr_assert_eq(status, KVC_OK);
    status = kvc_dido_pipeline_check_cores(&pipeline, cores, &diag);
    cr_expect_eq(status, message == NULL ? KVC_OK : KVC_ERR_SCENARIO);
    cr_expect(message == NULL || strstr(diag.message, message) != NULL, "%s", diag.message);
}

Test(pipeline, cores_fit_the_cpu)
{
    expect_cores("cpu:1 RV PP MM > gpu search insert delete > cpu:3 KC RD WR SD", 4, NULL);
    expect_cores("cpu:2 RV PP MM > gpu search insert delete > cpu:3 KC RD WR SD", 4, "5 cores for 2 stages");
    expect_cores("cpu:2 RV PP MM > gpu search insert delete > cpu KC RD WR SD", 4, "cores for 1 of 2 stages");
    expect_cores(kvc_dido_megakv_pipeline, 1, "2 cores for 2 stages, node.cpu has 1");
}

struct seen {
    uint32_t count, on_cpu_only, megakv;
    uint32_t stage_of_insert[KVC_DIDO_STAGES_MAX];
};

static void see(void *data, const struct kvc_dido_pipeline *pipeline)
{
    struct seen *seen = data;
    struct kvc_dido_pipeline again;
    struct kvc_diag diag = {0};
    char text[KVC_DIDO_PIPELINE_TEXT_MAX];
    kvc_dido_pipeline_print(pipeline, text, sizeof(text));
    enum kvc_status status = kvc_dido_pipeline_parse(text, &again, &diag);
    cr_assert_eq(status, KVC_OK, "%s: %s", text, diag.message);
    uint32_t cores = 0;
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        cores += pipeline->stage[s].cores;
    }
    cr_expect_eq(cores, 4, "%s", text);
    seen->count++;
    seen->on_cpu_only += pipeline->stages == 1;
    seen->megakv += strcmp(text, "cpu:1 RV PP MM > gpu search insert delete > cpu:3 KC RD WR SD") == 0;
}

/* The GPU's part has 21 places, of which 6 begin with PP, so that MM is on the GPU or alone after it. If MM
 * is in the stage before the GPU, insert and delete have 3 x 3 places; on the GPU 2 x 2, and after it 1. */
Test(pipeline, all_of_them)
{
    struct seen seen = {0};
    kvc_dido_pipeline_visit_all(4, see, &seen);
    /* PP alone: MM is in the last stage. PP to MM and further, 5: on the GPU. MM first, 5: on the GPU. The
     * other 10 leave MM in the first stage. Three ways to divide four cores. */
    cr_expect_eq(seen.count, 1 + 3 * (1 * 1 + 10 * 4 + 10 * 9));
    cr_expect_eq(seen.on_cpu_only, 1);
    cr_expect_eq(seen.megakv, 1);
}
