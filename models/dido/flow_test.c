/* Tests of a CPU stage of one core and a GPU stage: pace, stolen work, and costs of stealing. */
#include "models/dido/flow.h"

#include <criterion/criterion.h>

/* The core takes 100 ns for a batch, the GPU 20; each could do the other's at the core's pace. */
static struct kvc_dido_flow two_stages(void)
{
    const struct kvc_dido_flow_work slow = {.alone_ns = 100}, fast = {.alone_ns = 20};
    return (struct kvc_dido_flow){
        .stages = 2,
        .channels = 1,
        .set_frac = 0.001,
        .stage = {{.cores = 1, .whole = slow, .stolen = slow}, {.on_gpu = true, .cores = 1, .whole = fast}}};
}

Test(flow, the_slowest_stage_sets_the_pace)
{
    struct kvc_dido_flow flow = two_stages();
    struct kvc_dido_flow_result result = kvc_dido_flow_of(&flow);
    cr_expect_float_eq(result.period_ns, 100, 0.1, "%.2f ns", result.period_ns);
    cr_expect_float_eq(result.slowest_ns, 100, 0.1, "%.2f ns", result.slowest_ns);
    cr_expect_float_eq(result.busy_ns[1], 20, 0.1, "%.2f ns", result.busy_ns[1]);
    cr_expect_float_eq(result.stolen[0], 0, 1e-9, "%.3f", result.stolen[0]);
}

/* Each processor does half of 120 ns of work. */
Test(flow, thieves_share_the_work)
{
    struct kvc_dido_flow flow = two_stages();
    flow.stage[0].can_be_stolen = true;
    struct kvc_dido_flow_result result = kvc_dido_flow_of(&flow);
    cr_expect_float_eq(result.period_ns, 60, 1, "%.2f ns", result.period_ns);
    cr_expect_float_eq(result.stolen[0], 0.4, 0.02, "%.3f", result.stolen[0]);
    cr_expect_float_eq(result.busy_ns[0] + result.busy_ns[1], 120, 1, "all work is done once");
}

/* A launch that takes as long as the batch leaves next to nothing to steal. */
Test(flow, thieves_launch_first)
{
    struct kvc_dido_flow flow = two_stages();
    flow.stage[0].can_be_stolen = true;
    double before_ns = 0;
    for (int launch_ns = 0; launch_ns <= 40; launch_ns += 20) {
        flow.stage[0].stolen.launch_ns = launch_ns;
        double period_ns = kvc_dido_flow_of(&flow).period_ns;
        cr_expect_gt(period_ns, before_ns + 1, "%d ns: %.2f after %.2f", launch_ns, period_ns, before_ns);
        before_ns = period_ns;
    }
    flow.stage[0].stolen.launch_ns = 100;
    double period_ns = kvc_dido_flow_of(&flow).period_ns;
    cr_expect(period_ns > 90 && period_ns < 101, "%.2f ns", period_ns);
}

/* The core does the rest of its batch, and 50 ns a batch for the stolen share x: 100 (1 - x) + 50 x, while
 * the GPU does 20 + 100 x and then waits. */
Test(flow, owners_do_the_rest)
{
    struct kvc_dido_flow flow = two_stages();
    flow.stage[0].can_be_stolen = true;
    flow.stage[0].rest.alone_ns = 50;
    struct kvc_dido_flow_result result = kvc_dido_flow_of(&flow);
    double expected_ns = 100 - 50 * result.stolen[0];
    cr_expect_gt(result.stolen[0], 0.3, "%.3f", result.stolen[0]);
    cr_expect_float_eq(result.busy_ns[0], expected_ns, 1, "%.2f, not %.2f ns", result.busy_ns[0],
                       expected_ns);
    cr_expect_geq(result.period_ns, expected_ns - 1, "%.2f ns", result.period_ns);
}

/* Each stage could use a whole channel, and there is one. */
Test(flow, everyone_gets_a_fair_share_of_the_memory)
{
    struct kvc_dido_flow flow = two_stages();
    flow.stage[0].whole.channel_ns = 100;
    flow.stage[1].whole = flow.stage[0].whole;
    double period_ns = kvc_dido_flow_of(&flow).period_ns;
    cr_expect_float_eq(period_ns, 200, 1, "%.2f ns", period_ns);
    flow.channels = 2;
    period_ns = kvc_dido_flow_of(&flow).period_ns;
    cr_expect_float_eq(period_ns, 100, 1, "%.2f ns", period_ns);
}

static bool fits(const struct kvc_dido_flow *flow, double period_ns)
{
    return kvc_dido_flow_fits(flow, 1.001 * period_ns) && !kvc_dido_flow_fits(flow, 0.999 * period_ns);
}

/* Stages of 100 and 20 ns, whose batches the other processor can do in 100 and 50 ns. */
Test(flow, the_shortest_period_is_that_of_the_best_division)
{
    struct kvc_dido_flow flow = two_stages();
    bool alone = fits(&flow, 100);
    flow.stage[0].can_be_stolen = true;
    bool helped = fits(&flow, 60);
    flow.stage[0].stolen.launch_ns = 20; /* Launch for a whole batch of 140 ns of work. */
    bool launched = fits(&flow, 20 + 100 * 80 / 220.0 * 1.2);
    flow.channels = 0.5;
    flow.stage[0].whole.channel_ns = flow.stage[0].stolen.channel_ns = 45;
    bool shared = fits(&flow, 90);
    cr_expect(alone);
    cr_expect(helped);
    cr_expect(launched);
    cr_expect(shared);
    struct kvc_dido_flow other = two_stages();
    other.stage[1].can_be_stolen = true;
    other.stage[0].whole.alone_ns = 20;
    other.stage[1].whole.alone_ns = 100;
    other.stage[1].stolen.alone_ns = 50;
    bool gpu_helped = fits(&other, 20 + 50 * 80 / 150.0);
    cr_expect(gpu_helped);
}
