/* Laws of DIDO on a CPU and a GPU with memory of its own: the PCIe link between them. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/run/laws_fixture.h"

#define MEGAKV "cpu:3 RV PP MM > gpu search insert delete > cpu:5 KC RD WR SD"
#define READS "cpu:4 RV PP MM insert delete > gpu search KC RD > cpu:4 WR SD"
#define ON_GPU "cpu:4 RV PP > gpu MM search insert delete KC RD WR > cpu:4 SD"

static const char *const pipelines[] = {MEGAKV, READS, ON_GPU};

/* `pcie` is a profile, or a table with a base. */
static struct kvc_outcome *answer(const char *system, const char *pcie, bool predict)
{
    return kvc_laws_answer(
        kvc_laws_load(
            "return { name = \"laws\", system = { kind = \"dido\", feed = \"memory\", %s },"
            " node = { cpu = { base = \"xeon-e5-2650v2\", instructions_per_cycle = 4, sustained_ipc = 3.27 },"
            "          dram = \"ddr3-1600-e5v2\", gpu = \"gtx-780\", pcie = %s },"
            " workload = { keys = 1e6, key = 16, value = 64, get = 0.95, set = 0.05,"
            "              arrival = \"saturate\" },"
            " run = { warmup = \"5ms\", duration = \"20ms\", bottleneck = \"utilization\" } }",
            system, pcie),
        predict);
}

static struct kvc_outcome *answer_pipeline(const char *pipeline, bool stealing, const char *pcie,
                                           bool predict)
{
    char system[256];
    snprintf(system, sizeof(system), "stealing = %s, pipeline = \"%s\"", stealing ? "true" : "false",
             pipeline);
    return answer(system, pcie, predict);
}

static double mops_of(const char *pipeline, bool stealing, const char *pcie, bool predict)
{
    struct kvc_outcome *outcome = answer_pipeline(pipeline, stealing, pcie, predict);
    double mops = kvc_laws_value(outcome, "throughput_mops");
    kvc_outcome_free(outcome);
    return mops;
}

static double utilization_of(const struct kvc_outcome *outcome, const char *device)
{
    for (uint32_t i = 0; i < outcome->result.device_count; i++) {
        if (strcmp(outcome->result.device[i].name, device) == 0) {
            return outcome->result.device[i].utilization_frac;
        }
    }
    return NAN;
}

static const char usual[] = "\"pcie3-x16-gtx780\"";

Test(dido_discrete, closed_form_and_simulation_agree)
{
    for (int i = 0; i < 3; i++) {
        for (int stealing = 0; stealing < 2; stealing++) {
            double simulated = mops_of(pipelines[i], stealing, usual, false);
            double predicted = mops_of(pipelines[i], stealing, usual, true);
            cr_expect_float_eq(predicted, simulated, (stealing ? 0.1 : 0.05) * simulated,
                               "%s, stealing %d: %.2f predicted, %.2f simulated", pipelines[i], stealing,
                               predicted, simulated);
        }
    }
}

/* The reads of a pipeline whose GPU has most of the work fill the link, and no link is more than full. */
Test(dido_discrete, the_link_is_a_device)
{
    for (int stealing = 0; stealing < 2; stealing++) {
        struct kvc_outcome *run = answer_pipeline(READS, stealing, usual, false);
        struct kvc_outcome *closed_form = answer_pipeline(READS, stealing, usual, true);
        double down = utilization_of(run, "node0.pcie-down"), up = utilization_of(run, "node0.pcie-up");
        double predicted = kvc_laws_value(closed_form, "link_frac");
        cr_expect(down > 0.8 && down <= 1, "%.3f", down);
        cr_expect(up > 0.1 && up <= down, "%.3f", up);
        cr_expect_float_eq(down, predicted, 0.04, "%.3f, not %.3f", down, predicted);
        kvc_outcome_free(run);
        kvc_outcome_free(closed_form);
    }
}

/* With four tags, 3.8 million packets cross in a second, and a query needs more than one of them. */
Test(dido_discrete, tags_bound_the_throughput)
{
    static const char four[] = "{ base = \"pcie3-x16-gtx780\", tags = 4 }";
    double mops = mops_of(MEGAKV, false, four, false), usual_mops = mops_of(MEGAKV, false, usual, false);
    cr_expect_lt(mops, 4 / 1.05, "%.2f Mops", mops);
    cr_expect_gt(mops, 0.5 * 4 / 1.05, "%.2f Mops", mops);
    cr_expect_gt(usual_mops, 5 * mops, "%.2f and %.2f Mops", usual_mops, mops);
}

/* With a quarter of the lanes, pipelines that fill the link serve about a quarter; Mega-KV's does not fill
 * it. */
Test(dido_discrete, a_narrow_link_is_slower)
{
    static const char narrow[] = "{ base = \"pcie3-x16-gtx780\", lanes = 4 }";
    for (int i = 0; i < 3; i++) {
        double narrow_mops = mops_of(pipelines[i], false, narrow, false);
        double usual_mops = mops_of(pipelines[i], false, usual, false);
        double most_frac = strcmp(pipelines[i], MEGAKV) == 0 ? 0.7 : 0.3;
        cr_expect_lt(narrow_mops, most_frac * usual_mops, "%s: %.2f and %.2f Mops", pipelines[i], narrow_mops,
                     usual_mops);
        cr_expect_gt(narrow_mops, 0.24 * usual_mops, "%s: %.2f and %.2f Mops", pipelines[i], narrow_mops,
                     usual_mops);
    }
}
