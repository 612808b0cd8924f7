/* Batches of composed stores that close when those before them are answered, and that come apart. */
#include <criterion/criterion.h>
#include <math.h>

#include "scenarios/run/laws_fixture.h"

/* Returns the mean latency of a store whose stages stand between the ports, simulated or predicted [us]. */
static double mean_us(const char *batch, const char *stages, double mops, bool predicts)
{
    struct kvc_outcome *outcome = kvc_laws_answer(
        kvc_laws_load(
            "return { system = { kind = 'composed', batch = { before = 'a', %s }, stages = {\n"
            "  { name = 'receive', on = 'nic.rx' },\n%s\n"
            "  { name = 'send', on = 'nic.tx' } } },\n"
            "node = { sockets = 1, fpga = 'catapult-stratix-v' }, workload = { keys = 1e4, get = 1, set = 0, per_frame = 1,\n"
            "  arrival = { poisson_mops = %g } },\n"
            "run = { duration = '20ms', warmup = '1ms' } }\n",
            batch, stages, mops),
        predicts);
    double us = kvc_laws_value(outcome, "latency_mean_us");
    kvc_outcome_free(outcome);
    return us;
}

/* Requests come at any time while a batch is under way, and wait for its end. */
Test(composition_closing, waits_for_half_of_the_batch_before)
{
    static const char *stage = "{ name = 'a', on = 'cpu', ns = 10000, per = 'batch' },\n"
                               "{ name = 'b', on = 'cpu', ns = 1 },",
                      *batch = "while_busy = true,";
    double alone = mean_us(batch, stage, 1e-3, false), busy = mean_us(batch, stage, 2, false);
    cr_expect_float_eq(busy - alone, 5, 0.2, "%.4g us, %.4g alone", busy, alone);
    for (double mops = 0.02; mops < 10; mops *= 5) {
        double simulated = mean_us(batch, stage, mops, false), predicted = mean_us(batch, stage, mops, true);
        cr_expect_float_eq(predicted / simulated, 1, 0.02, "%.4g us simulated, %.4g predicted with %g Mops",
                           simulated, predicted, mops);
    }
}

/* A full batch goes while others are under way, as far as there are buffers. */
Test(composition_closing, lets_full_batches_go)
{
    static const char *stage = "{ name = 'a', on = 'cpu', cores = 4, ns = 10000, per = 'batch' },";
    double waits = mean_us("while_busy = true,", stage, 2, false),
           goes = mean_us("while_busy = true, count = 8, buffers = 5,", stage, 2, false);
    cr_expect_lt(goes, waits - 2, "%.4g us, %.4g without full batches", goes, waits);
}

/* Of eight requests that a core serves one after the other, the first ones need not wait for the last one. */
Test(composition_closing, answers_requests_one_by_one)
{
    static const char *stages = "{ name = 'a', on = 'cpu', ns = 100, per = 'batch' },\n"
                                "{ name = 'b', on = 'cpu', ns = 1000 }, { name = 'c', on = 'cpu', ns = 1 },";
    for (int predicts = 0; predicts < 2; predicts++) {
        double whole = mean_us("count = 8,", stages, 0.1, predicts != 0),
               apart = mean_us("count = 8, apart = 'b',", stages, 0.1, predicts != 0);
        cr_expect_float_eq(whole - apart, 3.5, 0.2, "%.4g us, %.4g one by one", whole, apart);
    }
}

/* A request joins its batch when it has left a pipeline, 10 us of which take it through. */
Test(composition_closing, waits_for_the_way_through_a_pipeline)
{
    for (int predicts = 0; predicts < 2; predicts++) {
        double us[2];
        for (int through = 0; through < 2; through++) {
            static const char *const stages[] = {
                "{ name = 'p', on = 'fpga' }, { name = 'a', on = 'cpu', ns = 1 },",
                "{ name = 'p', on = 'fpga', ns = 10000 }, { name = 'a', on = 'cpu', ns = 1 },"};
            us[through] = mean_us("count = 8,", stages[through], 0.1, predicts != 0);
        }
        cr_expect_float_eq(us[1] - us[0], 10, 0.1, "%.4g us, %.4g without the way", us[1], us[0]);
    }
}

/* A port takes a batch from its only buffer at once, so that the core before it is never idle. */
Test(composition_closing, frees_a_batch_that_a_port_takes)
{
    for (int predicts = 0; predicts < 2; predicts++) {
        struct kvc_outcome *outcome = kvc_laws_answer(
            kvc_laws_load(
                "return { system = { kind = 'composed', outstanding = 2000,\n"
                "  batch = { before = 'a', buffers = 1, count = 500 }, stages = { { name = 'receive', on = 'nic.rx' },\n"
                "  { name = 'a', on = 'cpu', ns = 50 }, { name = 'send', on = 'nic.tx' } } }, node = { sockets = 1 },\n"
                "workload = { keys = 1e4, value = 1000, get = 1, set = 0, per_frame = 1, arrival = 'saturate' },\n"
                "run = { duration = '4ms', warmup = '1ms' } }\n"),
            predicts != 0);
        double mops = kvc_laws_value(outcome, "throughput_mops");
        cr_expect_float_eq(mops, 20, 0.1, "%.4g Mops, predicted: %d", mops, predicts);
        kvc_outcome_free(outcome);
    }
}

/* Batches have room for the requests that fill them or that clients keep in flight. */
Test(composition_closing, reserves_what_can_occur)
{
    static const struct {
        const char *batch, *arrival;
    } stores[] = {{"bytes = '4KiB'", "{ poisson_mops = 10 }"},
                  {"timeout = '1ms'", "{ clients = 64 }"},
                  {"timeout = '1ms'", "'saturate'"}};
    for (size_t i = 0; i < sizeof(stores) / sizeof(*stores); i++) {
        struct kvc_loaded *loaded = kvc_laws_load(
            "return { system = { kind = 'composed', pipelines = 64, outstanding = 64, stages = {\n"
            "{ name = 'a', on = 'cpu', ns = 100 } }, batch = { before = 'a', %s } }, node = { sockets = 1 },\n"
            "workload = { keys = 1e4, per_frame = 1, arrival = %s }, run = { duration = '1ms' } }\n",
            stores[i].batch, stores[i].arrival);
        const struct kvc_scenario *scenario = &loaded->scenario;
        double most_bytes = 64 * 3 * 1e5; /* Room for all that a batch could ever have would be 1e8 each. */
        cr_expect_lt(scenario->model->memory_bytes(scenario), most_bytes, "%s", stores[i].batch);
        kvc_loaded_free(loaded);
    }
}
