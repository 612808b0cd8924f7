/* Routes: requests take one of them at random, by shares that a scenario states and a policy changes. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "scenarios/run/laws_fixture.h"

/* Answers a store whose lookups are on two routes, to cores and to a GPU that shares their memory. `policy`
 * ends in a comma, or is empty. */
static struct kvc_outcome *answer(const char *policy, double share, double mops, bool predict)
{
    return kvc_laws_answer(
        kvc_laws_load(
            "return { system = { kind = 'composed', index = { kernel = 'cuckoo' }, %s\n"
            "batch = { count = 4096, timeout = '20us', buffers = 16, before = 'parse' },\n"
            "stages = { { name = 'parse', on = 'cpu', ns = 10, does = { 'parse', 'insert', 'erase' } },\n"
            "  { name = 'cores', on = 'cpu', cores = 2, route = 'a', share = %.17g, of = 'get', ns = 190,\n"
            "    does = 'search' },\n"
            "  { name = 'gpu', on = 'gpu', route = 'b', of = 'get', instructions = 633, does = 'search' },\n"
            "  { name = 'answer', on = 'cpu', ns = 10 } } },\n"
            "node = { cpu = 'a10-7850k', gpu = 'a10-7850k-gpu', dram = 'ddr3-1333-a10-7850k', sockets = 1 },\n"
            "workload = { keys = 1e5, get = 0.95, set = 0.05, arrival = { poisson_mops = %g } },\n"
            "run = { duration = '10ms', warmup = '5ms' } }\n",
            policy, share, mops),
        predict);
}

/* A request takes one route: their stages serve all, in the stated shares. */
Test(composition_routes, split_the_requests)
{
    static const double share = 0.3;
    struct kvc_outcome *ran = answer("", share, 4, false), *predicted = answer("", share, 4, true);
    const struct kvc_stage_result *stage = ran->result.stage;
    double all = (double)stage[0].served, cores = (double)stage[1].served, gpu = (double)stage[2].served;
    cr_expect(fabs(cores + gpu - all) <= 0.03 * all, "%.0f requests, %.0f and %.0f on the routes", all, cores,
              gpu);
    cr_expect(fabs(cores - share * all) <= 5 * sqrt(share * all), "%.0f of %.0f requests", cores, all);
    for (uint32_t i = 0; i < 2; i++) {
        cr_expect_float_eq(stage[i].utilization_frac, predicted->result.stage[i].utilization_frac, 0.01,
                           "stage %u: %.4f, predicted %.4f", i, stage[i].utilization_frac,
                           predicted->result.stage[i].utilization_frac);
    }
    kvc_outcome_free(ran);
    kvc_outcome_free(predicted);
}

/* A policy that returns a share does what a scenario that states it does. */
Test(composition_routes, take_shares_of_a_policy)
{
    struct kvc_outcome *stated = answer("", 0.25, 4, false),
                       *chosen = answer(
                           "policy = function(state)\n"
                           "  return { stages = { cores = { share = state.stages.gpu.mops and 0.25 } } }\n"
                           "end,",
                           0.9, 4, false);
    cr_expect_float_eq(chosen->result.stage[1].utilization_frac, stated->result.stage[1].utilization_frac,
                       0.005);
    cr_expect_eq(kvc_metrics_get(&chosen->result.model, "mean_cores_share"), 0.25);
    kvc_outcome_free(stated);
    kvc_outcome_free(chosen);
}

/* Cores are sooner done with few requests, and the GPU serves many: a policy that moves lookups to it as the
 * load grows answers sooner than either alone under a high load, and no later than the cores under a low one.
 */
Test(composition_routes, beat_fixed_ones_as_the_load_grows)
{
    static const char *const policy =
        "policy_every = '300us', policy = function(state)\n"
        "  local cores = state.stages.cores\n"
        "  if cores.share == 1 and cores.busy_frac < 0.95 then return nil end\n"
        "  return { stages = { cores = {\n"
        "    share = math.max(0.05, math.min(1, 0.5 * cores.share / cores.busy_frac)) } } }\n"
        "end,";
    static const double loads[] = {4, 12};
    double us[2][3];
    for (size_t i = 0; i < 2; i++) {
        struct kvc_outcome *ran[] = {answer(policy, 1, loads[i], false), answer("", 1, loads[i], false),
                                     answer("", 0, loads[i], false)};
        for (size_t j = 0; j < 3; j++) {
            us[i][j] = kvc_laws_value(ran[j], "latency_mean_us");
            kvc_outcome_free(ran[j]);
        }
    }
    cr_expect(us[0][0] <= 1.01 * us[0][1] && us[0][0] < 0.5 * us[0][2],
              "4 Mops: %.4g us, %.4g and %.4g fixed", us[0][0], us[0][1], us[0][2]);
    cr_expect(us[1][0] < 0.9 * us[1][1] && us[1][0] < 0.9 * us[1][2], "12 Mops: %.4g us, %.4g and %.4g fixed",
              us[1][0], us[1][1], us[1][2]);
}

/* Shares with which requests would be lost or served twice. */
Test(composition_routes, refuse_what_loses_requests)
{
    static const struct {
        const char *stages, *message;
    } wrong[] = {
        {"{ name = 'a', on = 'cpu', share = 0.5 },",
         "system.stages.1.share: found one of a stage without a route"},
        {"{ name = 'a', on = 'cpu', route = 'r' },",
         "system.stages.1.share: found none in the stages of several"},
        {"{ name = 'a', on = 'cpu', route = 'r', share = 0.5 }, { name = 'b', on = 'cpu', route = 's', share = 0.6 },",
         "system.stages.1.share: found shares of all routes that add up to 1.1, so that requests are served twice"},
        {"{ name = 'a', on = 'cpu', route = 'r', share = 0.5 }, { name = 'b', on = 'cpu', route = 's', share = 0.4 },",
         "add up to 0.9, so that requests are lost; allowed: 1, or one route without a share"},
        {"{ name = 'a', on = 'cpu', route = 'r', share = 0.5, does = 'search' },",
         "system.stages: the workload has GETs, but no stage on route \"\" does search"},
        {"{ name = 'a', on = 'cpu', route = 'r', share = 0.5, does = 'search' }, { name = 'b', on = 'cpu', route = 's' },",
         "system.stages: the workload has GETs, but no stage on route \"s\" does search"},
        {"{ name = 'a', on = 'cpu', route = 'r', share = 1, does = 'search' }, { name = 'b', on = 'cpu', does = 'search' },",
         "system.stages.2.does: found search, which stage \"a\" does already"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        char fields[512];
        snprintf(fields, sizeof(fields),
                 "system = { kind = 'composed', index = { kernel = 'mica' }, stages = { %s\n"
                 "{ name = 'end', on = 'cpu' } } }, workload = { keys = 1e4, get = 1, set = 0 }",
                 wrong[i].stages);
        kvc_laws_refuse(fields, wrong[i].message);
    }
}

/* The same of a policy's shares. */
Test(composition_routes, refuse_shares_of_a_policy)
{
    const struct kvc_run_options options = {.jobs = 1};
    struct kvc_loaded *loaded = kvc_laws_load(
        "return { system = { kind = 'composed', policy = function() return { stages = { a = { share = 0.8 } } } end,\n"
        "stages = { { name = 'a', on = 'cpu', route = 'r', share = 0.5 },\n"
        "  { name = 'b', on = 'cpu', route = 's', share = 0.5 }, { name = 'c', on = 'cpu' } } },\n"
        "workload = { keys = 1e4, arrival = { poisson_mops = 1 } }, run = { duration = '1ms' } }\n");
    struct kvc_outcome *ran;
    struct kvc_diag diag = {0};
    cr_expect_eq(kvc_driver_run(&loaded->scenario, &options, &ran, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "shares of all routes that add up to 1.3, allowed: a sum of 1"),
                       "%s", diag.message);
    kvc_outcome_free(ran);
    kvc_loaded_free(loaded);
}
