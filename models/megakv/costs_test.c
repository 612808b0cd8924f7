/* Tests what a receiver's batches and victims cost, with curves of round numbers. */
#include "models/megakv/costs.h"

#include <criterion/criterion.h>

enum { FRAME = 10, BUFFERS = 4 };

static struct kvc_megakv_keyed_curve constant(double ns)
{
    return (struct kvc_megakv_keyed_curve){.count = 1, .curve = {{.count = 1, .y = {ns}}}};
}

/* A frame takes 100 ns with batches of 1000 requests and 160 ns with batches of 3000. */
static struct kvc_megakv_costs costs_of(const struct kvc_megakv_config *config, uint32_t pipelines)
{
    struct kvc_megakv_costs costs = {.config = config, .measured = true};
    costs.receive_by_batch =
        (struct kvc_megakv_batch_costs){.count = 2,
                                        .batches_bytes = {kvc_megakv_batches_bytes(1000, BUFFERS, pipelines),
                                                          kvc_megakv_batches_bytes(3000, BUFFERS, pipelines)},
                                        .curve = {constant(100), constant(160)}};
    return costs;
}

static double frame_ns(struct kvc_megakv_costs *costs, double rows)
{
    kvc_megakv_costs_use_batches(costs, rows);
    return FRAME * kvc_megakv_receive_cost(costs, FRAME, KVC_OP_GET, 8, 8).stall_ns;
}

Test(costs, large_batches_leave_the_caches)
{
    const struct kvc_megakv_config config = {
        .threads = KVC_MEGAKV_OWN_THREADS, .buffers = BUFFERS, .streams = 7};
    struct kvc_megakv_costs costs = costs_of(&config, 1);
    cr_expect_float_eq(frame_ns(&costs, 10), 100, 1e-9, "smaller ones cost as much as the smallest");
    cr_expect_float_eq(frame_ns(&costs, 1000), 100, 1e-9);
    cr_expect_float_eq(frame_ns(&costs, 1500), 115, 1e-9);
    cr_expect_float_eq(frame_ns(&costs, 3000), 160, 1e-9);
    cr_expect_float_eq(frame_ns(&costs, 60000), 160, 1e-9, "larger ones cost as much as the largest");
    cr_expect_float_eq(frame_ns(&costs, 1000), 100, 1e-9, "a change back leaves no trace");
}

/* A core that serves two pipelines fills the buffers of both in turn; half as many buffers are half as far.
 */
Test(costs, batches_of_all_pipelines_on_a_core)
{
    const struct kvc_megakv_config both = {.threads = KVC_MEGAKV_SHARED_THREADS,
                                           .buffers = BUFFERS,
                                           .streams = 2},
                                   few = {.threads = KVC_MEGAKV_OWN_THREADS,
                                          .buffers = BUFFERS / 2,
                                          .streams = 2};
    struct kvc_megakv_costs costs = costs_of(&both, 1);
    cr_expect_float_eq(frame_ns(&costs, 750), 115, 1e-9);
    costs = costs_of(&few, 1);
    cr_expect_float_eq(frame_ns(&costs, 3000), 115, 1e-9);
}

Test(costs, scattered_victims_cost_more)
{
    struct kvc_megakv_costs costs = {.measured = true, .write = constant(20), .evict = constant(30)};
    cr_expect_float_eq(kvc_megakv_evict_ns(&costs, 8, 8, 0.5), 10, 1e-9, "scattered ones were not measured");
    costs.evict_half_marked = constant(46);
    cr_expect_float_eq(kvc_megakv_evict_ns(&costs, 8, 8, 0), 10, 1e-9);
    cr_expect_float_eq(kvc_megakv_evict_ns(&costs, 8, 8, 0.25), 18, 1e-9);
    cr_expect_float_eq(kvc_megakv_evict_ns(&costs, 8, 8, 0.5), 26, 1e-9);
    cr_expect_float_eq(kvc_megakv_evict_ns(&costs, 8, 8, 0.9), 26, 1e-9, "each lies alone already");
}
