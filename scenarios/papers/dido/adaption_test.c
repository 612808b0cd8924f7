/* Laws of DIDO's adaption to loads that alternate. */
#include <criterion/criterion.h>
#include <math.h>

#include "scenarios/run/laws_fixture.h"

#define SMALL "key = 8, value = 8, get = 0.5, set = 0.5"
#define LARGE "key = 16, value = 64, get = 0.95, set = 0.05, zipf = 0.99"
#define FIXED "stealing = false, plan = \"0ns\", adapt = false"
#define ADAPTS "stealing = false, plan = \"0ns\", adapt = true"
#define CLIENTS "arrival = \"saturate\""

/* Simulates two phases that alternate from the begin of the run on. */
static struct kvc_outcome *alternate(const char *system, const char *length, const char *first,
                                     const char *second, const char *clients)
{
    return kvc_laws_answer(
        kvc_laws_load(
            "return { name = \"laws\", system = { kind = \"dido\", %s }, workload = { keys = 1e6, %s,"
            " phases = { { length = \"%s\", %s }, { %s } } },"
            " run = { warmup = \"0ms\", duration = \"48ms\", bottleneck = \"utilization\" } }",
            system, clients, length, first, second),
        false);
}

static double value_of(struct kvc_outcome *outcome, const char *name)
{
    double value = kvc_laws_value(outcome, name);
    kvc_outcome_free(outcome);
    return value;
}

Test(dido_adaption, a_steady_load_is_planned_once)
{
    static const char *const loads[] = {SMALL, LARGE};
    for (int i = 0; i < 2; i++) {
        struct kvc_outcome *run = alternate(ADAPTS, "6ms", loads[i], loads[i], CLIENTS);
        double fixed_mops = value_of(alternate(FIXED, "6ms", loads[i], loads[i], CLIENTS), "throughput_mops");
        cr_expect_eq(kvc_laws_value(run, "plans"), 1, "%s", loads[i]);
        cr_expect_eq(kvc_laws_value(run, "throughput_mops"), fixed_mops, "%s: %.2f without", loads[i],
                     fixed_mops);
        kvc_outcome_free(run);
    }
}

/* 48 ms have 7 changes of phases of 6 ms. GETs are 7 % fewer, then 15 %, which chance does not bring near the
 * threshold of 10 %. */
Test(dido_adaption, plans_follow_changes_beyond_the_threshold)
{
    static const char before[] = "key = 16, value = 64, get = 1, set = 0";
    double slight = value_of(
        alternate(ADAPTS, "6ms", before, "key = 16, value = 64, get = 0.93, set = 0.07", CLIENTS), "plans");
    double great = value_of(
        alternate(ADAPTS, "6ms", before, "key = 16, value = 64, get = 0.85, set = 0.15", CLIENTS), "plans");
    cr_expect_eq(slight, 1, "%g plans", slight);
    cr_expect_eq(great, 8, "%g plans", great);
}

/* Requests come at equal distances. The pipeline, which is empty at the begin, has those of about 1 ms. A
 * batch that got lost in each of the 15 changes would be 9 % of all. */
Test(dido_adaption, no_request_is_lost_or_answered_twice)
{
    struct kvc_outcome *run =
        alternate(ADAPTS, "3ms", SMALL, LARGE, "fill = \"at_once\", arrival = { fixed_mops = 5 }");
    double mops = kvc_laws_value(run, "throughput_mops");
    cr_expect_gt(kvc_laws_value(run, "plans"), 10);
    cr_expect(mops > 5 * 46.5 / 48 && mops <= 5, "%.3f Mops", mops);
    cr_expect_gt(kvc_laws_value(run, "hit_frac"), 0.9, "both phases' items are stored");
    kvc_outcome_free(run);
}

Test(dido_adaption, an_alternating_load_is_answered_as_two_steady_ones)
{
    double small = value_of(alternate(ADAPTS, "12ms", SMALL, SMALL, CLIENTS), "throughput_mops");
    double large = value_of(alternate(ADAPTS, "12ms", LARGE, LARGE, CLIENTS), "throughput_mops");
    double both = value_of(alternate(ADAPTS, "12ms", SMALL, LARGE, CLIENTS), "throughput_mops");
    double fixed = value_of(alternate(FIXED, "12ms", SMALL, LARGE, CLIENTS), "throughput_mops");
    double steady = (small + large) / 2;
    cr_expect(both > 0.9 * steady && both < 1.05 * steady, "%.2f of %.2f and %.2f", both, small, large);
    cr_expect_gt(both, 1.03 * fixed, "%.2f, %.2f with the pipeline of the first phase", both, fixed);
}

/* No batch begins while a pipeline is planned. */
Test(dido_adaption, planning_takes_time)
{
    double at_once = value_of(alternate(ADAPTS, "6ms", SMALL, LARGE, CLIENTS), "throughput_mops");
    double slowly = value_of(alternate("stealing = false, plan = \"1ms\"", "6ms", SMALL, LARGE, CLIENTS),
                             "throughput_mops");
    cr_expect(slowly < 0.95 * at_once && slowly > 0.7 * at_once, "%.2f, %.2f at once", slowly, at_once);
}
