/* Stalls of the cores of composed stores. */
#include <criterion/criterion.h>

#include "scenarios/run/laws_fixture.h"

/* Simulates a store of one stage, whose frames of `per_frame` requests never meet. */
static struct kvc_outcome *answer(const char *stage, const char *stalls, unsigned per_frame)
{
    return kvc_laws_answer(
        kvc_laws_load(
            "return { system = { kind = 'composed', stages = { { name = 'a', on = 'cpu', %s } } },\n"
            "node = { sockets = 1, %s }, workload = { keys = 1e4, per_frame = %u, fill = 'at_once',\n"
            "arrival = { fixed_mops = %g } },\n"
            "run = { duration = '1s', warmup = '1ms' } }\n",
            stage, stalls, per_frame, 0.01 * per_frame),
        false);
}

static double value_of(const char *stage, const char *stalls, unsigned per_frame, const char *name)
{
    struct kvc_outcome *ran = answer(stage, stalls, per_frame);
    double value = kvc_laws_value(ran, name);
    kvc_outcome_free(ran);
    return value;
}

static const char *const stalls = "stalls = { { length = '20us', every = '200us' } }";

/* A request that comes while its core is away waits for the rest of the stall, and one that is served meets
 * whole stalls. */
Test(composition_stalls, delay_what_they_meet)
{
    static const double length_us = 20, every_us = 200, served_us = 1;
    double away_frac = length_us / (every_us + length_us);
    double expected_us = away_frac * length_us / 2 + served_us / every_us * length_us;
    double late_us =
        value_of("ns = 1000", stalls, 1, "latency_mean_us") - value_of("ns = 1000", "", 1, "latency_mean_us");
    cr_expect_float_eq(late_us, expected_us, 0.15 * expected_us, "%.4f us late instead of %.4f", late_us,
                       expected_us);
    double found_frac = value_of("ns = 1000", stalls, 1, "stalled_frac");
    cr_expect_float_eq(found_frac, away_frac, 0.05 * away_frac, "stalled for %.4f instead of %.4f",
                       found_frac, away_frac);
}

/* Cores that share a frame all have to do their part, each with stalls of its own; of cores that serve one
 * each, none waits for another. */
Test(composition_stalls, delay_shared_requests_by_the_longest)
{
    double alone_us = value_of("ns = 100, cores = 4", stalls, 1, "latency_mean_us") - 0.1,
           shared_us = value_of("ns = 100, cores = 4, split = true", stalls, 4, "latency_mean_us") - 0.1;
    double times =
        shared_us / alone_us / (5.0 / 8); /* Answers of a frame are spread over its time: 5/8 on average. */
    cr_expect(times > 2.5 && times <= 4, "%.4f us late alone, %.4f us together", alone_us, shared_us);
}

/* A core that is away does no work. */
Test(composition_stalls, are_no_work)
{
    struct kvc_outcome *with = answer("ns = 1000", stalls, 1), *without = answer("ns = 1000", "", 1);
    cr_expect_float_eq(with->result.stage[0].utilization_frac, without->result.stage[0].utilization_frac,
                       1e-5);
    kvc_outcome_free(with);
    kvc_outcome_free(without);
}

Test(composition_stalls, need_a_core)
{
    kvc_laws_refuse(
        "system = { kind = 'composed', stages = { { name = 'a', on = 'gpu', ns = 1 } } },\n"
        "node = { gpu = 'h200', stalls = { { length = '20us', every = '200us' } } }, workload = { keys = 1e4 }",
        "node.stalls: found some, but no stage works on cpu; allowed: none");
}
