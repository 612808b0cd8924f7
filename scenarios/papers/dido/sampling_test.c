/* A sample of the keys stands for the whole store, as do the means of the workload. */
#include <criterion/criterion.h>
#include <string.h>

#include "scenarios/run/laws_fixture.h"

struct answers {
    double mops, hit_frac, plans; /* plans: of a pipeline that is not said. */
};

static struct answers run(const char *pipeline, const char *functional)
{
    struct kvc_loaded *loaded =
        kvc_laws_load("return { name = \"sampling\","
                      " system = { kind = \"dido\", pipeline = \"%s\", stealing = false },"
                      " workload = { keys = 1e6, key = 16, value = 64, get = 0.9, set = 0.08, delete = 0.02,"
                      "   dist = { zipf = 0.99 }, arrival = \"saturate\" },"
                      " run = { warmup = \"20ms\", duration = \"40ms\", bottleneck = \"utilization\", %s } }",
                      pipeline, functional);
    struct kvc_outcome *outcome = kvc_laws_answer(loaded, false);
    struct answers answers = {kvc_laws_value(outcome, "throughput_mops"), kvc_laws_value(outcome, "hit_frac"),
                              strcmp(pipeline, "auto") == 0 ? kvc_laws_value(outcome, "plans") : 0};
    kvc_outcome_free(outcome);
    return answers;
}

Test(dido_sampling, changes_neither_throughput_nor_hits)
{
    struct answers full = run("megakv", "functional = \"full\"");
    struct answers sampled = run("megakv", "functional = \"sampled\", sample_rate = 8");
    cr_expect_float_eq(sampled.mops, full.mops, 0.05 * full.mops, "%.2f of %.2f", sampled.mops, full.mops);
    cr_expect_float_eq(sampled.hit_frac, full.hit_frac, 0.05, "%.3f of %.3f", sampled.hit_frac,
                       full.hit_frac);
    struct answers off = run("megakv", "functional = \"off\"");
    cr_expect_float_eq(off.mops, full.mops, 0.1 * full.mops, "%.2f of %.2f", off.mops, full.mops);
}

/* The planner accounts for the sampling. */
Test(dido_sampling, a_steady_load_is_planned_once)
{
    static const char *const functional[] = {
        "functional = \"full\"", "functional = \"sampled\", sample_rate = 8", "functional = \"off\""};
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(run("auto", functional[i]).plans, 1, "%s", functional[i]);
    }
}
