/* Frames pass the first stages at once if nothing makes them wait there (models/composed/flow/front.h). A
 * policy sees the queues of all stages, so that a store that has one simulates them all. */
#include <criterion/criterion.h>
#include <math.h>

#include "scenarios/run/laws_fixture.h"

static struct kvc_outcome *answer(const char *policy, const char *form_ns, const char *batch, int mops)
{
    return kvc_laws_answer(
        kvc_laws_load("return { system = { kind = 'composed', %s index = { kernel = 'cuckoo' },\n"
                      "batch = { before = 'serve', count = 32, timeout = '5us', %s },\n"
                      "stages = { { name = 'receive', on = 'nic.rx' },\n"
                      "  { name = 'form', on = 'cpu', ns = %s },\n"
                      "  { name = 'serve', on = 'cpu', ns = 50, does = { 'search', 'insert' } },\n"
                      "  { name = 'send', on = 'nic.tx' } } },\n"
                      "node = { sockets = 1 }, workload = { keys = 1e4, per_frame = 1,\n"
                      "arrival = { poisson_mops = %d } }, run = { duration = '2ms', warmup = '1ms' } }\n",
                      policy, batch, form_ns, mops),
        false);
}

static void expect_near(const char *what, double passed, double queued)
{
    cr_expect(fabs(passed - queued) <= 0.002 * fabs(queued), "%s: %.6g at once, %.6g in queues", what, passed,
              queued);
}

/* A load that all stages bear, a busy core in front of the batches, and batches that are wanting. */
Test(composition_front, answers_as_if_all_stages_had_queues)
{
    static const struct {
        const char *form_ns, *batch;
        int mops;
    } cases[] = {{"20", "buffers = 8", 8},
                 {"90", "buffers = 8", 10},
                 {"20", "buffers = 1", 14},
                 {"20", "buffers = 2", 30}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct kvc_outcome *passed = answer("", cases[i].form_ns, cases[i].batch, cases[i].mops),
                           *queued = answer("policy = function() end,", cases[i].form_ns, cases[i].batch,
                                            cases[i].mops);
        expect_near("throughput", passed->result.throughput_mops, queued->result.throughput_mops);
        expect_near("mean", kvc_result_latency_mean_us(&passed->result),
                    kvc_result_latency_mean_us(&queued->result));
        for (uint32_t j = 0; j < 4; j++) {
            expect_near("utilization", passed->result.stage[j].utilization_frac,
                        queued->result.stage[j].utilization_frac);
            expect_near("wait", 1 + passed->result.stage[j].wait_us, 1 + queued->result.stage[j].wait_us);
        }
        kvc_outcome_free(passed);
        kvc_outcome_free(queued);
    }
}
