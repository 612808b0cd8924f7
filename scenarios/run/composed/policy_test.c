/* Functions that choose the batches and cores of a composed store (models/composed/flow/policy.h). */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "scenarios/run/laws_fixture.h"

/* Loads a store of two pools of cores, the first of which has five times the work of the second. `policy`
 * ends in a comma, or is empty. */
static struct kvc_loaded *load(const char *policy, int slow, int quick)
{
    return kvc_laws_load(
        "return { system = { kind = 'composed', outstanding = 4096, %s\n"
        "batch = { before = 'slow', count = 64, timeout = '20us', buffers = 16 },\n"
        "stages = { { name = 'receive', on = 'nic.rx' },\n"
        "  { name = 'slow', on = 'cpu', cores = %d, ns = 500 },\n"
        "  { name = 'quick', on = 'cpu', cores = %d, ns = 100 },\n"
        "  { name = 'send', on = 'nic.tx' } } },\n"
        "node = { sockets = 1 }, workload = { keys = 1e4, per_frame = 1, arrival = 'saturate' },\n"
        "run = { duration = '2ms', warmup = '1ms' } }\n",
        policy, slow, quick);
}

Test(composition_policy, moves_cores_as_if_the_scenario_stated_them)
{
    struct kvc_outcome *few = kvc_laws_answer(load("", 2, 4), false),
                       *many = kvc_laws_answer(load("", 5, 1), false),
                       *moved = kvc_laws_answer(
                           load("policy = function(state) return { stages = { slow = { cores = 5 }, "
                                "quick = { cores = 1 } } } end,",
                                2, 4),
                           false);
    double mops = moved->result.throughput_mops, stated = many->result.throughput_mops;
    cr_expect(few->result.throughput_mops < 0.5 * stated, "%.4g and %.4g Mops", few->result.throughput_mops,
              stated);
    cr_expect(fabs(mops - stated) <= 0.01 * stated, "%.4g Mops, %.4g with these cores", mops, stated);
    cr_expect_float_eq(moved->result.stage[1].utilization_frac, many->result.stage[1].utilization_frac, 0.02);
    cr_expect_eq(kvc_metrics_get(&moved->result.model, "mean_slow_cores"), 5);
    cr_expect_eq(kvc_metrics_get(&moved->result.model, "policy_changes"), 0);
    kvc_outcome_free(few);
    kvc_outcome_free(many);
    kvc_outcome_free(moved);
}

/* It sees that batches are full, and halves them. */
Test(composition_policy, limits_batches_by_what_it_sees)
{
    struct kvc_outcome *ran = kvc_laws_answer(
        load("policy_every = '200us', policy = function(state)\n"
             "  if state.batch.full_frac == 1 and state.batch.requests == state.batch.count then\n"
             "    return { batch = { count = math.max(state.batch.count // 2, 16) } }\n"
             "  end end,",
             2, 4),
        false);
    cr_expect_eq(kvc_metrics_get(&ran->result.model, "mean_batch_count"), 16);
    cr_expect_eq(kvc_metrics_get(&ran->result.model, "policy_looks"), 10);
    kvc_outcome_free(ran);
}

/* Each ends the run with one message and the line of the function. */
Test(composition_policy, refuses_nonsense)
{
    static const struct {
        const char *policy, *message;
    } wrong[] = {
        {"policy = function() return 1 end,",
         "at 0.1 ms the function returned 1, allowed: nil, or a table such as { batch = { count = 512 } }"},
        {"policy = function() return { batch = 5 } end,", "returned batch = 5, allowed: a table"},
        {"policy = function() return { batch = { count = 0 } } end,",
         "returned batch.count = 0, allowed: a whole number from 1 to 64"},
        {"policy = function() return { batch = { count = 0 / 0 } } end,", "returned batch.count = NaN"},
        {"policy = function() return { batch = { every_us = 5 } } end,",
         "a table with the key batch.\"every_us\", allowed: count, timeout_us"},
        {"policy = function() return { clocks = {} } end,",
         "a table with the key \"clocks\", allowed: batch, stages"},
        {"policy = function() return { stages = { slow = { cores = 4 } } } end,",
         "returned 8 cores for all stages of a pipeline, allowed: up to the 6 that the scenario states"},
        {"policy = function(state) return state.no.queue end,", "attempt to index"},
    };
    const struct kvc_run_options options = {.jobs = 1};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct kvc_loaded *loaded = load(wrong[i].policy, 2, 4);
        struct kvc_outcome *ran;
        struct kvc_diag diag = {0};
        cr_expect_eq(kvc_driver_run(&loaded->scenario, &options, &ran, &diag), KVC_ERR_SCENARIO, "%s",
                     wrong[i].policy);
        cr_expect_not_null(strstr(diag.message, wrong[i].message), "%s: %s", wrong[i].policy, diag.message);
        cr_expect_eq(diag.line, 1, "%s: line %d", wrong[i].policy, diag.line);
        kvc_outcome_free(ran);
        kvc_loaded_free(loaded);
    }
}
