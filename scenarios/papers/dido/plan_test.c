/* The search for the best pipeline finds the same one as an exhaustive search. */
#include "models/dido/plan.h"

#include <criterion/criterion.h>
#include <string.h>

#include "models/dido/config.h"
#include "scenarios/run/laws_fixture.h"

struct looked {
    const struct kvc_dido_config *config;
    struct kvc_dido_mix mix;
    struct kvc_dido_plan best;
    uint32_t pipelines;
};

static void look(void *data, const struct kvc_dido_pipeline *pipeline)
{
    struct looked *looked = data;
    struct kvc_dido_plan plan = kvc_dido_plan_of(looked->config, pipeline, &looked->mix);
    looked->best = plan.per_ns > (1 + 1e-5) * looked->best.per_ns ? plan : looked->best;
    looked->pipelines++;
}

static void expect_best_of_all(const char *preset, const char *system, const char *node)
{
    struct kvc_loaded *loaded = kvc_laws_load(
        "return { name = \"plans\", system = { kind = \"dido\", pipeline = \"megakv\", %s }, node = { %s },"
        " workload = { preset = \"%s\", arrival = \"saturate\" } }",
        system, node, preset);
    const struct kvc_dido_config *config = kvc_dido_config_of(&loaded->scenario);
    struct looked looked = {.config = config, .mix = kvc_dido_mix_of(config, &loaded->scenario.workload)};
    kvc_dido_pipeline_visit_all((uint32_t)config->cpu->cores, look, &looked);
    struct kvc_dido_plan found = kvc_dido_best_plan(config, NULL, &looked.mix);
    char expected[KVC_DIDO_PIPELINE_TEXT_MAX], text[KVC_DIDO_PIPELINE_TEXT_MAX];
    kvc_dido_pipeline_print(&looked.best.pipeline, expected, sizeof(expected));
    kvc_dido_pipeline_print(&found.pipeline, text, sizeof(text));
    cr_expect_gt(looked.pipelines, 100);
    cr_expect_str_eq(text, expected, "%s, %s, %s: %.9g and %.9g per ns", preset, system, node, found.per_ns,
                     looked.best.per_ns);
    cr_expect_eq(found.per_ns, looked.best.per_ns, "%s, %s, %s", preset, system, node);
    cr_expect_eq(found.queries, looked.best.queries, "%s, %s, %s", preset, system, node);
    kvc_loaded_free(loaded);
}

static void expect_best_of_all_for_each_preset(const char *system, const char *node)
{
    for (const struct kvc_workload_preset *preset = kvc_dido_presets; preset->name != NULL; preset++) {
        expect_best_of_all(preset->name, system, node);
    }
}

Test(plan, is_the_best_of_all_with_stealing)
{
    expect_best_of_all_for_each_preset("stealing = true", "");
}

Test(plan, is_the_best_of_all_without_stealing)
{
    expect_best_of_all_for_each_preset("stealing = false", "");
}

Test(plan, is_the_best_of_all_by_the_authors_model)
{
    expect_best_of_all_for_each_preset("predict = \"paper\"", "");
}

/* Small batches, in which waves and sets are not full, and large ones, for which the GPU has more than one
 * round of waves. */
Test(plan, is_the_best_of_all_for_other_batches)
{
    expect_best_of_all_for_each_preset("interval = \"150us\"", "");
    expect_best_of_all_for_each_preset("interval = \"2ms\"", "");
    expect_best_of_all_for_each_preset("feed = \"memory\"", "");
}

Test(plan, is_the_best_of_all_on_other_machines)
{
    expect_best_of_all_for_each_preset("stealing = true",
                                       "gpu = { base = \"a10-7850k-gpu\", launch = \"60us\" }");
    expect_best_of_all_for_each_preset("stealing = true", "cpu = { base = \"a10-7850k\", cores = 3 }");
}

/* Returns the throughput of a machine's plan, after checking that what is kept of others does not change it.
 */
static double planned_per_ns(const char *node)
{
    struct kvc_loaded *loaded = kvc_laws_load(
        "return { name = \"kept\", system = { kind = \"dido\", pipeline = \"megakv\" }, node = { %s },"
        " workload = { preset = \"K16-G95-S\", arrival = \"saturate\" } }",
        node);
    const struct kvc_dido_config *config = kvc_dido_config_of(&loaded->scenario);
    struct kvc_dido_mix mix = kvc_dido_mix_of(config, &loaded->scenario.workload);
    struct kvc_dido_plan plan = kvc_dido_plan_of(config, &config->pipeline, &mix);
    const struct kvc_dido_plan *kept = kvc_dido_configured_plan(config, &mix);
    cr_expect_eq(kept->per_ns, plan.per_ns, "%s", node);
    cr_expect_eq(kept->queries, plan.queries, "%s", node);
    cr_expect_eq(kvc_dido_configured_plan(config, &mix), kept, "%s", node);
    kvc_loaded_free(loaded);
    return plan.per_ns;
}

Test(plan, is_kept_for_all_that_it_depends_on)
{
    double usual = planned_per_ns("nic = { latency = \"1us\" }");
    cr_expect_eq(planned_per_ns("nic = { latency = \"20us\" }"), usual, "the way of a message is not in it");
    cr_expect_neq(planned_per_ns("dram = { random_line = \"150ns\" }"), usual);
    cr_expect_neq(planned_per_ns("cpu = { lookahead = \"5ns\" }"), usual);
    cr_expect_neq(planned_per_ns("gpu = { launch = \"90us\" }"), usual);
}

/* The authors' model knows no launches: for this load it prefers a pipeline whose GPU, with four launches,
 * takes longer than the interval for a single query. */
Test(plan, keeps_the_interval_with_one_query)
{
    struct kvc_loaded *loaded = kvc_laws_load(
        "return { name = \"kept\", system = { kind = \"dido\", pipeline = \"auto\", stealing = false, predict = \"paper\" },"
        " workload = { preset = \"%s\", arrival = \"saturate\" } }",
        "K128-G50-U");
    const struct kvc_dido_config *config = kvc_dido_config_of(&loaded->scenario);
    struct kvc_dido_mix mix = kvc_dido_mix_of(config, &loaded->scenario.workload);
    double one_ns = kvc_dido_period_of(config, &config->pipeline, &mix, 1, 0).longest_ns;
    cr_expect_leq(one_ns, kvc_dido_interval_ns(config, &config->pipeline));
    struct kvc_dido_pipeline all_on_gpu;
    struct kvc_diag diag;
    cr_assert_eq(kvc_dido_pipeline_parse("cpu:2 RV > gpu PP MM search insert delete KC RD WR > cpu:2 SD",
                                         &all_on_gpu, &diag),
                 KVC_OK, "%s", diag.message);
    one_ns = kvc_dido_period_of(config, &all_on_gpu, &mix, 1, 0).longest_ns;
    cr_expect_gt(one_ns, kvc_dido_interval_ns(config, &all_on_gpu), "%.1f us", one_ns * 1e-3);
    kvc_loaded_free(loaded);
}
