/* Laws of DIDO: what pipelines, stealing and batches do, whatever the hardware is. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "models/dido/plan.h"
#include "scenarios/run/laws_fixture.h"

#define MEGAKV "cpu:1 RV PP MM > gpu search insert delete > cpu:3 KC RD WR SD"
#define ON_CPU "cpu:4 RV PP MM search insert delete KC RD WR SD"
#define FILLED "get = 0.95, set = 0.05, arrival = \"saturate\""

static struct kvc_loaded *load(const char *system, const char *workload)
{
    return kvc_laws_load("return { name = \"laws\", system = { kind = \"dido\", %s },"
                         " workload = { keys = 1e6, key = 16, value = 64, %s },"
                         " run = { warmup = \"5ms\", duration = \"20ms\", bottleneck = \"utilization\" } }",
                         system, workload);
}

static struct kvc_outcome *answer(const char *system, const char *workload, bool predict)
{
    return kvc_laws_answer(load(system, workload), predict);
}

static double mops_of(const char *system, const char *workload, bool predict)
{
    struct kvc_outcome *outcome = answer(system, workload, predict);
    double mops = kvc_laws_value(outcome, "throughput_mops");
    kvc_outcome_free(outcome);
    return mops;
}

Test(dido, stages_take_the_interval)
{
    static const char *const pipelines[] = {MEGAKV, ON_CPU,
                                            "cpu:2 RV PP MM > gpu search KC RD > cpu:2 insert delete WR SD"};
    for (int i = 0; i < 3; i++) {
        char system[256];
        snprintf(system, sizeof(system), "stealing = false, interval = \"200us\", pipeline = \"%s\"",
                 pipelines[i]);
        struct kvc_outcome *run = answer(system, FILLED, false);
        double period_us = kvc_laws_value(run, "period_us");
        cr_expect_float_eq(period_us, 200, 5, "%s: %.1f us", pipelines[i], period_us);
        double expected = kvc_laws_value(run, "batch_queries") / period_us;
        double mops = kvc_laws_value(run, "throughput_mops");
        cr_expect_float_eq(mops, expected, 0.02 * mops, "%s: a batch each period", pipelines[i]);
        cr_expect_gt(kvc_laws_value(run, "hit_frac"), 0.85,
                     "old versions of items take room until CLOCK finds them");
        kvc_outcome_free(run);
    }
}

Test(dido, closed_form_and_simulation_agree_where_nothing_is_shared)
{
    static const char *const pipelines[] = {MEGAKV, ON_CPU};
    for (int i = 0; i < 2; i++) {
        char system[256];
        snprintf(system, sizeof(system), "stealing = false, pipeline = \"%s\"", pipelines[i]);
        double simulated = mops_of(system, FILLED, false), predicted = mops_of(system, FILLED, true);
        cr_expect_float_eq(predicted, simulated, 0.05 * simulated, "%s: %.2f predicted, %.2f simulated",
                           pipelines[i], predicted, simulated);
    }
}

/* Pipelines in which the GPU helps the CPU and the other way round. They may differ by 12 % at most;
 * dido_plan_bench compares all pipelines. Launches are short, because a thief with a long one may or may not
 * come before its next batch does, and both repeat themselves. */
Test(dido, closed_form_and_simulation_agree_with_stealing)
{
    static const char *const pipelines[] = {MEGAKV,
                                            "cpu:2 RV PP MM > gpu search KC > cpu:2 insert delete RD WR SD",
                                            "cpu:3 RV PP MM > gpu search > cpu:1 insert delete KC RD WR SD",
                                            "cpu:1 RV > gpu PP MM search insert delete KC RD WR > cpu:3 SD"};
    for (int i = 0; i < 4; i++) {
        char system[512];
        snprintf(system, sizeof(system),
                 "stealing = true, pipeline = \"%s\" }, node = { gpu = { base = \"a10-7850k-gpu\", launch = "
                 "\"10us\" }",
                 pipelines[i]);
        double simulated = mops_of(system, FILLED, false), predicted = mops_of(system, FILLED, true);
        cr_expect_float_eq(predicted, simulated, 0.12 * simulated, "%s: %.2f predicted, %.2f simulated",
                           pipelines[i], predicted, simulated);
    }
}

struct planned {
    const struct kvc_dido_config *config;
    struct kvc_dido_mix mix;
    uint32_t pipelines;
};

static void plan(void *data, const struct kvc_dido_pipeline *pipeline)
{
    struct planned *planned = data;
    struct kvc_dido_plan plan = kvc_dido_plan_of(planned->config, pipeline, &planned->mix);
    double interval_ns = kvc_dido_interval_ns(planned->config, pipeline);
    char text[KVC_DIDO_PIPELINE_TEXT_MAX];
    kvc_dido_pipeline_print(pipeline, text, sizeof(text));
    cr_expect_leq(plan.period.longest_ns, 1.01 * interval_ns, "%s: %.0f queries take %.1f us", text,
                  plan.queries, plan.period.longest_ns * 1e-3);
    cr_expect_geq(plan.period.longest_ns, 0.9 * interval_ns, "%s: %.0f queries take %.1f us", text,
                  plan.queries, plan.period.longest_ns * 1e-3);
    planned->pipelines++;
}

/* Stealing makes the time of the slowest stage jump: here, a pipeline got batches of 65536 queries before the
 * guesses were kept within bounds. */
Test(dido, batches_fill_the_interval_and_fit_it)
{
    struct kvc_loaded *loaded = kvc_laws_load(
        "return { name = \"laws\", system = { kind = \"dido\", pipeline = \"%s\", slab = \"4MiB\" },"
        " node = { cpu = { base = \"a10-7850k\", llc = 9220 },"
        "          gpu = { base = \"a10-7850k-gpu\", walkers = 16, walk = \"450ns\", walk_free = 140e3 } },"
        " workload = { keys = 44e3, key = 16, value = 64, get = 0.5, set = 0.5, arrival = \"saturate\" } }",
        MEGAKV);
    const struct kvc_dido_config *config = kvc_dido_config_of(&loaded->scenario);
    struct planned planned = {.config = config, .mix = kvc_dido_mix_of(config, &loaded->scenario.workload)};
    kvc_dido_pipeline_visit_all((uint32_t)config->cpu->cores, plan, &planned);
    cr_expect_gt(planned.pipelines, 100);
    kvc_loaded_free(loaded);
}

/* A pipeline whose GPU has hardly anything to do gains; one without a GPU has no one who helps. */
Test(dido, stealing_helps_the_slowest_stage)
{
    double without = mops_of("stealing = false, pipeline = \"" MEGAKV "\"", FILLED, false);
    double with = mops_of("stealing = true, pipeline = \"" MEGAKV "\"", FILLED, false);
    cr_expect_gt(with, 1.02 * without, "%.2f with, %.2f without", with, without);
    double alone = mops_of("stealing = false, pipeline = \"" ON_CPU "\"", FILLED, false);
    double helped = mops_of("stealing = true, pipeline = \"" ON_CPU "\"", FILLED, false);
    cr_expect_float_eq(alone, helped, 0.01 * alone, "%.2f and %.2f", alone, helped);
}

/* With twice the interval, launches are half as frequent, so the remaining gain is halved, too. */
Test(dido, longer_intervals_pay_for_fewer_launches)
{
    double mops[3];
    static const char *const intervals[] = {"200us", "400us", "800us"};
    for (int i = 0; i < 3; i++) {
        char system[256];
        snprintf(system, sizeof(system),
                 "interval = \"%s\", feed = \"memory\", stealing = false, pipeline = \"%s\"", intervals[i],
                 "cpu:3 RV PP > gpu MM search insert delete KC RD WR > cpu:1 SD");
        mops[i] = mops_of(system, FILLED, false);
    }
    cr_expect_gt(mops[1], 1.2 * mops[0], "%.2f after %.2f", mops[1], mops[0]);
    cr_expect_gt(mops[2], 1.05 * mops[1], "%.2f after %.2f", mops[2], mops[1]);
    cr_expect_lt(mops[2] - mops[1], 0.6 * (mops[1] - mops[0]), "%.2f, %.2f, %.2f", mops[0], mops[1], mops[2]);
}

/* Batches begin an interval apart: a request waits for half of it, and for its own batch. */
Test(dido, an_open_load_is_answered_as_it_comes)
{
    struct kvc_outcome *run =
        answer("interval = \"200us\", pipeline = \"" MEGAKV "\"",
               "get = 1, set = 0, per_frame = 1, arrival = { poisson_mops = 0.25 }", false);
    cr_expect_float_eq(kvc_laws_value(run, "throughput_mops"), 0.25, 0.02);
    cr_expect_float_eq(kvc_laws_value(run, "batch_queries"), 50, 5);
    double mean_us = kvc_laws_value(run, "latency_mean_us");
    cr_expect(mean_us > 100 && mean_us < 400, "%.1f us", mean_us);
    kvc_outcome_free(run);
}

/* The best pipeline is no worse than Mega-KV's, by either closed form. */
/* A core works at its own rate for our costs, and at its peak for the costs of the paper's model. */
Test(dido, only_the_closed_form_of_kvcast_knows_the_sustained_rate)
{
    static const char *const predictors[] = {"kvcast", "paper"};
    double mops[2][2];
    for (int i = 0; i < 4; i++) {
        char system[512];
        snprintf(system, sizeof(system),
                 "stealing = false, pipeline = \"%s\", predict = \"%s\" },"
                 " node = { cpu = { base = \"a10-7850k\", sustained_ipc = %d }",
                 ON_CPU, predictors[i / 2], i % 2 == 0 ? 1 : 4);
        mops[i / 2][i % 2] = mops_of(system, FILLED, true);
    }
    cr_expect_lt(mops[0][0], 0.8 * mops[0][1], "kvcast: %.2f, then %.2f Mops", mops[0][0], mops[0][1]);
    cr_expect_eq(mops[1][0], mops[1][1], "paper: %.2f, then %.2f Mops", mops[1][0], mops[1][1]);
}

Test(dido, auto_finds_no_worse_pipeline)
{
    static const char *const predictors[] = {"kvcast", "paper"};
    for (int i = 0; i < 2; i++) {
        char best[128], fixed[128];
        snprintf(best, sizeof(best), "pipeline = \"auto\", predict = \"%s\"", predictors[i]);
        snprintf(fixed, sizeof(fixed), "pipeline = \"megakv\", predict = \"%s\"", predictors[i]);
        cr_expect_geq(mops_of(best, FILLED, true), mops_of(fixed, FILLED, true), "%s", predictors[i]);
    }
}

#define SLOWER "{ clock = \"1.85GHz\" }"

/* A slower P-state is a CPU with a slower clock. */
Test(dido, cores_work_at_the_clock_that_the_node_names)
{
    static const char *const clocks[] = {
        "sockets = 1, cpu = { base = \"a10-7850k\" }",
        "cpu_clock = \"1.85GHz\", cpu = { base = \"a10-7850k\", pstates = { { clock = \"3.7GHz\" }, " SLOWER
        " } }",
        "sockets = 1, cpu = { base = \"a10-7850k\", clock = \"1.85GHz\" }",
    };
    double mops[2][3];
    for (int predict = 0; predict < 2; predict++) {
        for (int i = 0; i < 3; i++) {
            char system[512];
            snprintf(system, sizeof(system), "pipeline = \"" MEGAKV "\" }, node = { %s", clocks[i]);
            mops[predict][i] = mops_of(system, FILLED, predict);
        }
        cr_expect_lt(mops[predict][1], 0.9 * mops[predict][0]);
        cr_expect_gt(mops[predict][1], 0.5 * mops[predict][0], "the memory is as fast as before");
        cr_expect_eq(mops[predict][1], mops[predict][2], "%.4f, %.4f with a CPU of that clock",
                     mops[predict][1], mops[predict][2]);
    }
}
