/* How long requests wait for the stages of composed stores, and how many do. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "scenarios/run/laws_fixture.h"

/* Simulates or predicts one core between the ports that takes 1 us of a request, or of a burst of two. */
static struct kvc_outcome *answer(const char *arrival, int burst, bool predict)
{
    return kvc_laws_answer(
        kvc_laws_load("return { system = { kind = 'composed', stages = {\n"
                      "  { name = 'receive', on = 'nic.rx' },\n"
                      "  { name = 'serve', on = 'cpu', ns = 1000, per = 'batch', burst = %d },\n"
                      "  { name = 'send', on = 'nic.tx' } } }, node = { sockets = 1 },\n"
                      "workload = { keys = 1e4, per_frame = 1, fill = 'at_once', arrival = %s },\n"
                      "run = { duration = '400ms', warmup = '5ms' } }\n",
                      burst, arrival),
        predict);
}

/* Little's law: as many requests wait for a stage as come to it while one waits. */
static void expect_little(const struct kvc_result *result, const char *kind)
{
    for (uint32_t i = 0; i < result->stage_count; i++) {
        const struct kvc_stage_result *stage = &result->stage[i];
        double mops = result->has_histogram ? (double)stage->served * 1e-6 / result->simulated_s
                                            : kvc_result_stage_mops(result, i);
        double expected = mops * stage->wait_us;
        cr_expect_float_eq(stage->waiting_requests, expected, 1e-9 + 1e-6 * expected,
                           "%s: %.9g requests wait for %s, not %.9g", kind, stage->waiting_requests,
                           stage->name, expected);
    }
}

/* One server with times that do not vary, and Poisson arrivals: the formula of Pollaczek and Khinchine. */
Test(composition_waits, are_those_of_one_server)
{
    static const double busy[] = {0.3, 0.6, 0.8};
    for (size_t i = 0; i < sizeof(busy) / sizeof(*busy); i++) {
        char arrival[64];
        snprintf(arrival, sizeof(arrival), "{ poisson_mops = %g }", busy[i]);
        struct kvc_outcome *ran = answer(arrival, 1, false), *predicted = answer(arrival, 1, true);
        double expected_us = busy[i] / (2 * (1 - busy[i])), found_us = ran->result.stage[1].wait_us;
        cr_expect_float_eq(found_us, expected_us, 0.03 * expected_us, "%.4g us, not %.4g", found_us,
                           expected_us);
        cr_expect_float_eq(predicted->result.stage[1].wait_us, expected_us, 1e-3 * expected_us);
        expect_little(&ran->result, "a run");
        expect_little(&predicted->result, "a prediction");
        kvc_outcome_free(ran);
        kvc_outcome_free(predicted);
    }
}

/* All requests of clients that keep a store busy but those that are served, and on their way, wait. */
Test(composition_waits, are_those_of_all_clients)
{
    static const double clients = 50;
    for (int burst = 1; burst <= 2; burst++) {
        struct kvc_outcome *ran = answer("{ clients = 50 }", burst, false),
                           *predicted = answer("{ clients = 50 }", burst, true);
        const struct kvc_stage_result *serve = &ran->result.stage[1];
        double served_us = kvc_laws_value(ran, "latency_mean_us") - serve->wait_us;
        double expected = clients - ran->result.throughput_mops * served_us;
        cr_expect_float_eq(serve->waiting_requests, expected, 0.01,
                           "%.6g requests of a burst of %d, not %.6g", serve->waiting_requests, burst,
                           expected);
        cr_expect(served_us < 3, "a burst of %d takes %.4g us", burst, served_us);
        expect_little(&ran->result, "a run");
        expect_little(&predicted->result, "a prediction");
        cr_expect_float_eq(predicted->result.stage[1].waiting_requests, expected, 0.05 * expected,
                           "%.6g requests predicted, not %.6g", predicted->result.stage[1].waiting_requests,
                           expected);
        kvc_outcome_free(ran);
        kvc_outcome_free(predicted);
    }
}
