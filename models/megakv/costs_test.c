/* Tests the costs of batches for receivers and senders, and the costs of victims, with curves of round
 * numbers. */
#include <criterion/criterion.h>

#include "models/megakv/costs.h"

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

/* A GET takes 40 ns with batches of 1000 requests and 52 ns with batches of 3000. */
Test(costs, answers_to_large_batches_cost_more)
{
    const struct kvc_megakv_config config = {
        .threads = KVC_MEGAKV_OWN_THREADS, .buffers = BUFFERS, .streams = 7};
    const struct kvc_shards_lookup_mix mix = {0};
    struct kvc_megakv_costs costs = costs_of(&config, 1);
    costs.read = constant(40);
    const struct {
        double rows, ns;
    } expected[] = {{10, 40}, {1000, 40}, {1500, 43}, {3000, 52}, {60000, 52}, {1000, 40}};
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        costs.read_by_batch = (struct kvc_curve){0};
        kvc_megakv_costs_use_batches(&costs, expected[i].rows);
        cr_expect_eq(kvc_megakv_send_cost(&costs, &mix, KVC_MEGAKV_HIT, 8, 8).stall_ns, 40, "not measured");
        costs.read_by_batch = (struct kvc_curve){
            .count = 2,
            .x = {costs.receive_by_batch.batches_bytes[0], costs.receive_by_batch.batches_bytes[1]},
            .y = {33, 45}};
        kvc_megakv_costs_use_batches(&costs, expected[i].rows);
        cr_expect_float_eq(kvc_megakv_send_cost(&costs, &mix, KVC_MEGAKV_HIT, 8, 8).stall_ns, expected[i].ns,
                           1e-9, "batches of %g requests", expected[i].rows);
        cr_expect_eq(kvc_megakv_send_cost(&costs, &mix, KVC_MEGAKV_MISS, 8, 8).stall_ns, 40,
                     "a miss has no item");
    }
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

/* ---- costs of a launch ---- */

static const double fracs[] = {0, 0.1, 0.25, 0.5, 0.75, 0.9, 1};
enum { FRACS = sizeof(fracs) / sizeof(*fracs) };

static struct kvc_curve per_job(double ns)
{
    return (struct kvc_curve){.count = 2, .x = {0, 1000}, .y = {0, 1000 * ns}};
}

/* A search costs 10 ns if it hits and 20 ns if it misses; half of each costs 25 ns. */
static struct kvc_megakv_costs launch_costs_of(const struct kvc_megakv_config *config)
{
    struct kvc_megakv_costs costs = {.config = config, .measured = true};
    costs.search = per_job(10);
    costs.search_miss = per_job(20);
    costs.replace = per_job(12);
    costs.insert = per_job(30);
    costs.erase = per_job(8);
    return costs;
}

static const struct kvc_megakv_config on_thread = {.index_on = KVC_MEGAKV_INDEX_ON_THREAD, .streams = 1};

static double search_ns(const struct kvc_megakv_costs *costs, double hit_frac)
{
    const struct kvc_megakv_launch_work launch = {
        .kernel = KVC_SHARDS_SEARCH, .jobs = 1000, .hit_frac = hit_frac};
    return kvc_megakv_launch_ns(costs, &launch) / 1000;
}

Test(launch_costs, nobody_can_predict_a_random_half)
{
    struct kvc_megakv_costs costs = launch_costs_of(&on_thread);
    for (int i = 0; i < FRACS; i++) {
        cr_expect_float_eq(search_ns(&costs, fracs[i]), 10 * fracs[i] + 20 * (1 - fracs[i]), 1e-9,
                           "no mix was measured");
    }
    costs.search_half_missed = per_job(25);
    cr_expect_float_eq(search_ns(&costs, 1), 10, 1e-9);
    cr_expect_float_eq(search_ns(&costs, 0), 20, 1e-9);
    cr_expect_float_eq(search_ns(&costs, 0.5), 25, 1e-9, "as measured");
    cr_expect_float_eq(search_ns(&costs, 0.9), 11 + 0.2 * 10, 1e-9, "one in ten is a surprise");
    costs.search_half_missed = per_job(11);
    cr_expect_float_eq(search_ns(&costs, 0.5), 15, 1e-9, "a mix is not cheaper than its parts");
}

Test(launch_costs, changes_have_surprises_too)
{
    struct kvc_megakv_costs costs = launch_costs_of(&on_thread);
    struct kvc_megakv_launch_work launch = {
        .kernel = KVC_SHARDS_INSERT, .jobs = 2000, .erases = 1000, .replaced_frac = 0.5, .erased_frac = 0.5};
    cr_expect_float_eq(kvc_megakv_launch_ns(&costs, &launch), 1000 * (8 + 21), 1e-6);
    costs.insert_half_replaced = per_job(40);
    cr_expect_float_eq(kvc_megakv_launch_ns(&costs, &launch), 1000 * (8 + 40), 1e-6);
    costs.erase_miss = per_job(6);
    costs.erase_half_missed = per_job(15);
    cr_expect_float_eq(kvc_megakv_launch_ns(&costs, &launch), 1000 * (15 + 40), 1e-6);
    launch.erased_frac = 0;
    cr_expect_float_eq(kvc_megakv_launch_ns(&costs, &launch), 1000 * (6 + 40), 1e-6);
}

/* In the long run an item leaves the index either because its key gets a new one or because it is evicted. */
Test(launch_costs, evicted_items_were_replaced_as_often_as_keys_are_found)
{
    struct kvc_megakv_costs costs = launch_costs_of(&on_thread);
    costs.evicting = true;
    costs.set_job_frac = 1;
    costs.hit_frac = 0.7;
    struct kvc_megakv_launch_work launch = kvc_megakv_insert_work(&costs, 1000);
    cr_expect_eq(launch.erases, 1000);
    cr_expect_float_eq(launch.erased_frac, 0.3, 1e-9);
    costs.set_job_frac = 0.5; /* Half of the writes are DELETEs, which find as many keys as GETs do. */
    launch = kvc_megakv_insert_work(&costs, 1000);
    cr_expect_eq(launch.erases, 1000);
    cr_expect_float_eq(launch.erased_frac, 0.5 * 0.3 + 0.5 * 0.7, 1e-9);
}

/* A core without measured costs: an operation takes 100 ns, a line in address order 8 ns, and one at
 * random 80. */
static const struct kvc_cpu plain_cpu = {.operation_ns = 100, .lookahead_ns = 30};
static const struct kvc_dram plain_dram = {.random_line_ns = 80, .next_line_ns = 8, .line_bytes = 64};

Test(megakv_costs, sets_write_in_address_order_and_are_not_answered)
{
    const struct kvc_megakv_config config = {.cpu = &plain_cpu, .dram = &plain_dram};
    const struct kvc_megakv_costs costs = {.config = &config, .core_speed = 1};
    struct kvc_cpu_cost cost = kvc_megakv_receive_cost(&costs, 1, KVC_OP_SET, 8, 8);
    cr_expect_eq(cost.compute_ns, 50);
    /* 12 bytes of the job, 16 of the payload and 24 of the item, each an eighth of a nanosecond. */
    cr_expect_float_eq(cost.stall_ns, (12 + 16 + 24) / 8.0, 1e-9);
    cr_expect_float_eq(kvc_megakv_evict_ns(&costs, 8, 8, 0), 12 / 8.0, 1e-9, "a job that deletes the victim");
    cost = kvc_megakv_send_cost(&costs, &(struct kvc_shards_lookup_mix){0}, KVC_MEGAKV_DONE, 8, 8);
    cr_expect_eq(cost.compute_ns + cost.stall_ns, 0);
}

Test(megakv_costs, get_writes_and_reads_a_record_and_compares)
{
    struct kvc_megakv_config config = {.cpu = &plain_cpu, .dram = &plain_dram, .api = KVC_MEGAKV_GETK};
    const struct kvc_megakv_costs costs = {.config = &config, .core_speed = 1};
    const struct kvc_shards_lookup_mix mix = {0};
    struct kvc_cpu_cost received = kvc_megakv_receive_cost(&costs, 1, KVC_OP_GET, 8, 8),
                        sent = kvc_megakv_send_cost(&costs, &mix, KVC_MEGAKV_HIT, 8, 8);
    config.api = KVC_MEGAKV_GET;
    config.compare_ns = 12;
    struct kvc_cpu_cost other_received = kvc_megakv_receive_cost(&costs, 1, KVC_OP_GET, 8, 8),
                        other_sent = kvc_megakv_send_cost(&costs, &mix, KVC_MEGAKV_HIT, 8, 8);
    cr_expect_float_eq(other_received.stall_ns - received.stall_ns, 32 / 8.0, 1e-9);
    cr_expect_float_eq(other_sent.stall_ns - sent.stall_ns, (32 - 8) / 8.0, 1e-9,
                       "the response has no key of 8 bytes");
    cr_expect_float_eq(other_sent.compute_ns - sent.compute_ns, 12, 1e-9);
}
