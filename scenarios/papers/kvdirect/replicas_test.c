/* Real stores: their replicas differ by where their keys are, and the closed form is the mean of them. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "scenarios/load/decode/load_fixture.h"
#include "scenarios/run/driver.h"

TestSuite(replicas, .init = kvc_test_make_folder, .fini = kvc_test_remove_folder);

enum { REPLICAS = 6, NICS = 4 };

/* Four NICs, of which the one with the most popular keys holds the others back once its window is full. */
static const char saturated[] =
    "return { system = { kind = 'kvdirect', nics = 4, memory = '64MiB' },\n"
    "  node = { pcie = { base = 'catapult-pcie3-x8', endpoints = 1 }, fpga = { base = 'catapult-stratix-v', dram = '4MiB' } },\n"
    "  workload = { keys = 1e6, key = 8, value = 2, dist = { zipf = 1.2 }, arrival = 'saturate' },\n"
    "  run = { functional = 'sampled', sample_rate = 16, warmup = '1ms', duration = '50us', replicas = 6 } }";

static struct kvc_outcome *run(const char *text, const char *set, uint32_t jobs, double *predicted_mops)
{
    struct kvc_loaded *loaded = kvc_test_accepts(text, set);
    const struct kvc_run_options options = {.jobs = jobs};
    struct kvc_outcome *outcome, *closed_form;
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_driver_run(&loaded->scenario, &options, &outcome, &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(kvc_driver_predict(&loaded->scenario, &closed_form, &diag), KVC_OK, "%s", diag.message);
    *predicted_mops = closed_form->result.throughput_mops;
    kvc_outcome_free(closed_form);
    kvc_loaded_free(loaded);
    return outcome;
}

Test(replicas, differ_by_where_their_keys_are)
{
    double predicted_mops, squares = 0;
    struct kvc_outcome *outcome = run(saturated, NULL, 2, &predicted_mops);
    double mean = kvc_outcome_interval(outcome, "throughput_mops").mean;
    for (uint32_t i = 0; i < REPLICAS; i++) {
        double mops = kvc_outcome_value(outcome, i, "throughput_mops");
        double fullest = kvc_outcome_value(outcome, i, "fullest_nic_over_mean");
        squares += pow(mops / mean - 1, 2);
        /* The fullest NIC decodes almost an operation a clock, at 180 MHz, and none decodes more. */
        double fullest_mops = mops * fullest / NICS;
        cr_expect(fullest_mops > 0.75 * 180 && fullest_mops < 1.01 * 180, "%g Mops, %g", mops, fullest);
    }
    double deviation = sqrt(squares / (REPLICAS - 1));
    cr_expect(deviation > 0.05 && deviation < 0.3, "%g", deviation);
    cr_expect_float_eq(mean / predicted_mops, 1, 3 * deviation / sqrt(REPLICAS) + 0.03, "%g and %g Mops",
                       mean, predicted_mops);
    kvc_outcome_free(outcome);
}

Test(replicas, depend_on_the_seed_alone)
{
    double predicted_mops;
    struct kvc_outcome *one = run(saturated, "run.warmup=10us", 1, &predicted_mops);
    struct kvc_outcome *three = run(saturated, "run.warmup=10us", 3, &predicted_mops);
    struct kvc_outcome *other = run(saturated, "run.seed=2", 2, &predicted_mops);
    for (uint32_t i = 0; i < REPLICAS; i++) {
        static const char *const names[] = {"throughput_mops", "latency_p99_us", "fullest_nic_over_mean"};
        for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++) {
            cr_expect_eq(kvc_outcome_value(one, i, names[n]), kvc_outcome_value(three, i, names[n]));
        }
        cr_expect_neq(kvc_outcome_value(one, i, "fullest_nic_over_mean"),
                      kvc_outcome_value(other, i, "fullest_nic_over_mean"));
    }
    kvc_outcome_free(one);
    kvc_outcome_free(three);
    kvc_outcome_free(other);
}
