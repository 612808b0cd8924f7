/* Laws of DIDO's adaption to loads that alternate. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/run/laws_fixture.h"

#define SMALL "key = 8, value = 8, get = 0.5, set = 0.5"
#define LARGE "key = 16, value = 64, get = 0.95, set = 0.05, zipf = 0.99"
#define LARGER "key = 32, value = 256, get = 0.95, set = 0.05, zipf = 0.99"
#define FIXED "stealing = false, planning = \"0ns\", adapt = false"
#define ADAPTS "stealing = false, planning = \"0ns\", adapt = true"
#define CLIENTS "arrival = \"saturate\""
/* A port that leaves the limit to the processors, whatever the pipeline is. */
#define NODE " node = { nic = { base = \"intel-82599\", port_rate = \"100Gbps\" } },"

/* Simulates two phases that alternate from the start of the run. */
static struct kvc_outcome *alternate(const char *system, const char *length, const char *first,
                                     const char *second, const char *clients)
{
    return kvc_laws_answer(
        kvc_laws_load("return { name = \"laws\", system = { kind = \"dido\", %s }," NODE
                      " workload = { keys = 1e6, %s,"
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

/* 48 ms have 6 changes of phases of 7 ms. GETs are 7 % fewer, then 15 %, which chance does not bring near the
 * threshold of 10 %. */
Test(dido_adaption, plans_follow_changes_beyond_the_threshold)
{
    static const char before[] = "key = 16, value = 64, get = 1, set = 0";
    double slight = value_of(
        alternate(ADAPTS, "7ms", before, "key = 16, value = 64, get = 0.93, set = 0.07", CLIENTS), "plans");
    double great = value_of(
        alternate(ADAPTS, "7ms", before, "key = 16, value = 64, get = 0.85, set = 0.15", CLIENTS), "plans");
    cr_expect_eq(slight, 1, "%g plans", slight);
    cr_expect_eq(great, 7, "%g plans", great);
}

/* Requests come at equal distances. The pipeline, which is empty at the start, holds the requests of about 1
 * ms. A batch that got lost in each of the 15 changes would be 9 % of all. */
Test(dido_adaption, no_request_is_lost_or_answered_twice)
{
    struct kvc_outcome *run = alternate("planning = \"1ms\"", "3ms", SMALL, LARGE,
                                        "fill = \"at_once\", arrival = { fixed_mops = 5 }");
    double mops = kvc_laws_value(run, "throughput_mops");
    cr_expect_gt(kvc_laws_value(run, "plans"), 10);
    cr_expect(mops > 5 * 46.5 / 48 && mops <= 5, "%.3f Mops", mops);
    cr_expect_gt(kvc_laws_value(run, "hit_frac"), 0.9, "both phases' items are stored");
    kvc_outcome_free(run);
}

Test(dido_adaption, an_alternating_load_is_answered_as_two_steady_ones)
{
    double small = value_of(alternate(ADAPTS, "12ms", SMALL, SMALL, CLIENTS), "throughput_mops");
    double large = value_of(alternate(ADAPTS, "12ms", LARGER, LARGER, CLIENTS), "throughput_mops");
    double both = value_of(alternate(ADAPTS, "12ms", SMALL, LARGER, CLIENTS), "throughput_mops");
    double fixed = value_of(alternate(FIXED, "12ms", SMALL, LARGER, CLIENTS), "throughput_mops");
    double steady = (small + large) / 2;
    cr_expect(both > 0.9 * steady && both < 1.05 * steady, "%.2f of %.2f and %.2f", both, small, large);
    cr_expect_gt(both, 1.03 * fixed, "%.2f, %.2f with the pipeline of the first phase", both, fixed);
}

/* Batches continue with the old pipeline while the new one is planned, which takes one of four cores. */
Test(dido_adaption, planning_takes_time_but_stops_nothing)
{
    double at_once = value_of(alternate(ADAPTS, "6ms", SMALL, LARGE, CLIENTS), "throughput_mops");
    double slowly = value_of(alternate("stealing = false, planning = \"2ms\"", "6ms", SMALL, LARGE, CLIENTS),
                             "throughput_mops");
    cr_expect(slowly < 0.99 * at_once && slowly > 0.7 * at_once, "%.2f, %.2f at once", slowly, at_once);
    struct kvc_outcome *run = alternate("planning = \"6ms\"", "24ms", SMALL, LARGE, CLIENTS);
    const struct kvc_result *result = &run->result;
    cr_expect_eq(kvc_laws_value(run, "plans"), 2);
    cr_assert_eq(result->window_count, 20);
    for (uint32_t i = 0; i < result->window_count; i++) { /* Two windows are within the plan. */
        cr_expect_gt(result->window_mops[i], 5, "at %.1f ms", i * result->window_us * 1e-3);
    }
    kvc_outcome_free(run);
}

/* The load changes after 24 of 48 ms, which a batch shows some time later. Afterwards, the batches in flight
 * take more time. */
Test(dido_adaption, a_plan_takes_effect_when_it_is_made)
{
    double later = value_of(alternate("planning = \"27ms\"", "24ms", SMALL, LARGE, CLIENTS), "plans");
    double sooner = value_of(alternate("planning = \"20ms\"", "24ms", SMALL, LARGE, CLIENTS), "plans");
    cr_expect_eq(later, 1, "%g plans", later);
    cr_expect_eq(sooner, 2, "%g plans", sooner);
}

/* Returns the mean of the second half of the windows. */
static double second_half_mops(const struct kvc_outcome *outcome)
{
    const struct kvc_result *result = &outcome->result;
    double sum = 0;
    for (uint32_t i = result->window_count / 2; i < result->window_count; i++) {
        sum += (double)result->window_mops[i];
    }
    return sum / (result->window_count - result->window_count / 2);
}

/* The second load lasts 1 ms, so the third one has come before the plan for the second one is made. */
Test(dido_adaption, two_changes_in_quick_succession_end_with_the_plan_for_the_last)
{
    static const char last[] = "key = 32, value = 256, get = 1, set = 0";
    char second[256];
    snprintf(second, sizeof(second), "length = \"1ms\", %s }, { length = \"60ms\", %s", LARGE, last);
    struct kvc_outcome *run = alternate("planning = \"2ms\"", "12ms", SMALL, second, CLIENTS);
    struct kvc_outcome *again = alternate("planning = \"2ms\"", "12ms", SMALL, second, CLIENTS);
    struct kvc_outcome *at_once = alternate("planning = \"0ns\"", "12ms", SMALL, second, CLIENTS);
    struct kvc_outcome *fixed = alternate("adapt = false", "12ms", SMALL, second, CLIENTS);
    double mops = second_half_mops(run), expected_mops = second_half_mops(at_once);
    cr_expect_eq(kvc_laws_value(run, "plans"), 3);
    cr_expect_float_eq(mops, expected_mops, 0.02 * mops, "%.2f, %.2f at once", mops, expected_mops);
    cr_expect_gt(mops, 1.03 * second_half_mops(fixed), "%.2f with the first plan", second_half_mops(fixed));
    cr_expect_eq(memcmp(run->result.window_mops, again->result.window_mops,
                        run->result.window_count * sizeof(*run->result.window_mops)),
                 0, "the same run again");
    kvc_outcome_free(run);
    kvc_outcome_free(again);
    kvc_outcome_free(at_once);
    kvc_outcome_free(fixed);
}
