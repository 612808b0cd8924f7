/* Tests the simulation and the closed form with round numbers as measured costs, from which the expected
 * results follow. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/megakv/config.h"
#include "models/megakv/costs.h"
#include "models/megakv/closed_form.h"
#include "models/megakv/predict.h"
#include "models/megakv/megakv.h"
#include "models/megakv/run_fixture.h"
#include "models/resource.h"

static const double receive_ns = 12, search_ns = 10, insert_ns = 20, erase_ns = 15, drain_ns = 4,
                    evict_ns = 25, write_ns = 50, read_ns = 40, mixed_ns = 44, miss_ns = 8;

enum { FRAME_REQUESTS = 10, ITEM_BYTES = 24, SEND_ROWS = 256 };

struct setup {
    struct kvc_scenario scenario;
    struct kvc_megakv_options options;
    struct kvc_megakv_config config;
    struct kvc_test_devices devices;
};

static void add(struct kvc_megakv_cost_curve *curve, double size, double ns)
{
    curve->point[curve->count++] =
        (struct kvc_megakv_cost_point){.size = size, .footprint_bytes = 1e6, .threads = 1, .ns = ns};
}

static void per_job(struct kvc_megakv_cost_curve *curve, double ns)
{
    add(curve, 100, 100 * ns);
    add(curve, 32000, 32000 * ns);
}

/* Returns a calibrated socket with two pipelines. The first core runs the scheduler, the index and the
 * receivers; the other cores run the senders. */
static struct setup shared(uint64_t cores)
{
    struct setup setup = {
        .options = {.cycle_ns = 100e3,
                    .delay = 2,
                    .api = KVC_MEGAKV_GET,
                    .feed = KVC_MEGAKV_MEMORY,
                    .index_on = KVC_MEGAKV_INDEX_ON_THREAD,
                    .threads = KVC_MEGAKV_SHARED_THREADS,
                    .buffers = 3,
                    .streams = 2,
                    .index_bytes = 2 << 20,
                    .slab_bytes = 32 << 20,
                    .max_displacements = 100},
        .devices = {.cpu = {.cores = cores, .threads_per_core = 1, .clock_hz = 1e9},
                    .dram = {.line_bytes = 64, .bytes_per_s = 1e12},
                    .gpu = {.memory_bytes = 1e10,
                            .clock_count = 1,
                            .clocks = {{.core_hz = 1e9, .search = {.ns_per_op = 1}}}},
                    .nic = {.ports = 1,
                            .queues = 64,
                            .rss_entries = 128,
                            .bytes_per_s = 1e12,
                            .mtu_bytes = 1500,
                            .ring_frames = 4096},
                    .pcie = {.h2d_bytes_per_s = 1e10, .d2h_bytes_per_s = 1e10}},
        .scenario = {.node = {.sockets = 1},
                     .cluster = {.nodes = 1},
                     .workload = {.keys = 100000,
                                  .key_bytes = 8,
                                  .value_bytes = 8,
                                  .get_frac = 1,
                                  .preload_frac = 1,
                                  .frame_requests = FRAME_REQUESTS,
                                  .connections = 65536,
                                  .fill = KVC_FILL_AT_ONCE},
                     .run = {.warmup_ns = 2e6, .duration_ns = 10e6, .seed = 1, .replicas = 1}},
    };
    struct kvc_megakv_cost_profile *profile = &setup.devices.costs;
    add(&profile->receive, FRAME_REQUESTS, FRAME_REQUESTS * receive_ns);
    add(&profile->write, ITEM_BYTES, write_ns);
    struct kvc_megakv_cost_curve *const reads[] = {&profile->read, &profile->read_slowest,
                                                   &profile->read_half_missed};
    struct kvc_megakv_cost_curve *const marks[] = {&profile->read_checked, &profile->read_half_marked,
                                                   &profile->read_marked};
    for (int i = 0; i < 3; i++) {
        add(reads[i], 0, miss_ns);
        add(reads[i], ITEM_BYTES, i < 2 ? read_ns : (miss_ns + read_ns) / 2);
        add(marks[i], 0, miss_ns);
        add(marks[i], ITEM_BYTES, i < 1 ? read_ns : mixed_ns);
    }
    add(&profile->evict, ITEM_BYTES, write_ns + evict_ns);
    add(&profile->pass, 1, 0);
    per_job(&profile->search, search_ns);
    per_job(&profile->search_miss, search_ns);
    per_job(&profile->insert, insert_ns);
    per_job(&profile->replace, insert_ns);
    per_job(&profile->erase, erase_ns);
    per_job(&profile->drain, drain_ns);
    return setup;
}

/* Returns the same socket with a hardware thread for each task. */
static struct setup own(void)
{
    struct setup setup = shared(5);
    setup.options.threads = KVC_MEGAKV_OWN_THREADS;
    return setup;
}

static void offer(struct setup *setup, double mops)
{
    setup->scenario.workload.arrival = KVC_ARRIVAL_FIXED;
    setup->scenario.workload.rate_mops = mops;
}

static struct kvc_result *simulate(struct setup *setup, const char *timeline)
{
    struct kvc_diag diag = {0};
    setup->scenario.options = &setup->options;
    kvc_test_connect(&setup->scenario.node, &setup->devices);
    kvc_test_resolve(&setup->scenario, &setup->config);
    cr_assert_eq(kvc_megakv_check(&setup->scenario, &diag), KVC_OK, "%s", diag.message);
    return kvc_test_simulate(&setup->scenario, timeline);
}

static void expect_near(const char *what, double found, double expected, double part)
{
    cr_expect_float_eq(found, expected, part * expected, "%s: %g, not %g", what, found, expected);
}

/* Simulates and predicts. */
static struct kvc_result *expect_throughput(struct setup *setup, double mops)
{
    struct kvc_result *result = simulate(setup, NULL), *closed_form = calloc(1, sizeof(*closed_form));
    struct kvc_diag diag = {0};
    cr_assert_not_null(closed_form);
    cr_assert_eq(kvc_megakv_predict(&setup->scenario, closed_form, &diag), KVC_OK);
    expect_near("throughput", result->throughput_mops, mops, 0.02);
    expect_near("closed form", closed_form->throughput_mops, result->throughput_mops, 0.05);
    cr_expect_str_eq(closed_form->bottleneck_stage, result->bottleneck_stage);
    if (strcmp(result->bottleneck_stage, "load") == 0) {
        expect_near("closed form's latency", closed_form->predicted.mean_us,
                    kvc_histogram_mean_ns(&result->latency) / 1e3, 0.05);
    }
    free(closed_form);
    return result;
}

Test(measured, below_saturation_the_load_is_served)
{
    struct setup setup = shared(3);
    setup.options.cycle_ns = 200e3;
    offer(&setup, 20);
    struct kvc_result *result = expect_throughput(&setup, 20);
    cr_expect_eq(result->dropped, 0);
    cr_expect_eq(result->misses, 0);
    cr_expect_str_eq(result->bottleneck_stage, "load");
    expect_near("the first core", kvc_test_stage(result, "receive")->utilization_frac,
                20e-3 * (receive_ns + search_ns), 0.02);
    cr_expect_eq(kvc_test_stage(result, "index")->utilization_frac,
                 kvc_test_stage(result, "receive")->utilization_frac);
    expect_near("the index alone", kvc_test_metric(result, "stream_search_utilization_frac"),
                20e-3 * search_ns, 0.02);
    expect_near("senders", kvc_test_stage(result, "send")->utilization_frac, 20e-3 * read_ns / 2, 0.02);
    expect_near("a launch", kvc_test_metric(result, "jobs_per_search"), 4000, 0.02);
    expect_near("its time", kvc_test_metric(result, "t_search_us"), 4 * search_ns, 0.02);
    cr_expect_eq(kvc_test_metric(result, "launches_late_frac"), 0);
    free(result);
}

Test(measured, a_saturated_first_core_receives_and_searches)
{
    struct setup setup = shared(3);
    struct kvc_result *result = expect_throughput(&setup, 1e3 / (receive_ns + search_ns));
    cr_expect_str_eq(result->bottleneck_device, "cpu");
    cr_expect_str_eq(result->bottleneck_stage, "receive", "it has more of the core than the index");
    expect_near("the first core", kvc_test_stage(result, "receive")->utilization_frac, 1, 0.02);
    free(result);
}

/* Each search reads one bucket on another page. */
Test(measured, small_pages_cost_each_random_line_a_walk)
{
    const double walk_ns = 1;
    struct setup setup = shared(3);
    setup.devices.dram.page_count = 1;
    setup.devices.dram.pages[0] =
        (struct kvc_dram_pages){.footprint_bytes = 1e6, .huge_ns = 5, .small_ns = 5 + walk_ns};
    setup.scenario.node.huge_pages = true;
    free(expect_throughput(&setup, 1e3 / (receive_ns + search_ns)));
    setup.scenario.node.huge_pages = false;
    free(expect_throughput(&setup, 1e3 / (receive_ns + search_ns + walk_ns)));
}

/* Senders read one item on another page. */
Test(measured, small_pages_cost_each_item_a_walk)
{
    const double walk_ns = 60;
    struct setup setup = shared(3);
    setup.scenario.node.huge_pages = false;
    setup.devices.dram.page_count = 1;
    setup.devices.dram.pages[0] =
        (struct kvc_dram_pages){.footprint_bytes = 1e6, .huge_ns = 5, .small_ns = 5 + walk_ns};
    setup.options.index_on = KVC_MEGAKV_INDEX_ON_THREAD;
    offer(&setup, 10);
    struct kvc_result *result = expect_throughput(&setup, 10);
    expect_near("senders", kvc_test_stage(result, "send")->utilization_frac, 10e-3 * (read_ns + walk_ns) / 2,
                0.02);
    free(result);
}

Test(measured, a_co_runner_costs_each_random_line_a_wait)
{
    const double wait_ns = 1;
    struct setup setup = shared(3);
    setup.scenario.node.huge_pages = true;
    setup.scenario.node.co_runner_bytes_per_s = 4e9;
    setup.devices.dram.contention_count = 2;
    setup.devices.dram.contention[0] = (struct kvc_dram_contention){.line_ns = 5};
    setup.devices.dram.contention[1] =
        (struct kvc_dram_contention){.taken_bytes_per_s = 8e9, .line_ns = 5 + 2 * wait_ns};
    free(expect_throughput(&setup, 1e3 / (receive_ns + search_ns + wait_ns)));
}

/* Whatever is served during a stall waits for its end. */
Test(measured, stalls_lengthen_the_tail)
{
    double p999_ns[2], mops[2];
    for (int stalled = 0; stalled < 2; stalled++) {
        struct setup setup = shared(3);
        setup.scenario.node.stall_count = stalled ? 2 : 0;
        setup.scenario.node.stalls[0] = (struct kvc_node_stall){.length_ns = 2e6, .every_ns = 4e6};
        setup.scenario.node.stalls[1] = (struct kvc_node_stall){.length_ns = 1e3, .every_ns = 1e12};
        offer(&setup, 5);
        struct kvc_result *result = simulate(&setup, NULL);
        p999_ns[stalled] = kvc_histogram_percentile_ns(&result->latency, 0.999);
        mops[stalled] = result->throughput_mops;
        free(result);
    }
    cr_expect_lt(p999_ns[0], 0.5e6);
    cr_expect_gt(p999_ns[1], 1.5e6);
    cr_expect_gt(mops[1], 0.5 * mops[0], "a stalled core catches up");
}

/* Returns a result of a store with a hardware thread for each task, whose cores are away for a third of the
 * time if there are stalls. */
static struct kvc_result *simulate_stalled(int index_on, uint32_t kinds)
{
    struct setup setup = own();
    setup.options.index_on = index_on;
    setup.scenario.node.stall_count = kinds;
    setup.scenario.node.stalls[0] = (struct kvc_node_stall){.length_ns = 1e6, .every_ns = 2e6};
    setup.scenario.run.duration_ns = 100e6;
    offer(&setup, 2);
    return simulate(&setup, NULL);
}

/* The scheduler, two receivers and two senders each lose a third of the time, wherever the index is. */
Test(measured, each_thread_stalls)
{
    static const int places[] = {KVC_MEGAKV_INDEX_ON_THREAD, KVC_MEGAKV_INDEX_ON_GPU};
    for (int i = 0; i < 2; i++) {
        struct kvc_result *steady = simulate_stalled(places[i], 0), *stalled = simulate_stalled(places[i], 1);
        expect_near("time taken", kvc_test_metric(stalled, "stalled_frac"), 5.0 / 3, 0.1);
        cr_expect(isnan(kvc_metrics_get(&steady->model, "stalled_frac")));
        /* A third of the requests arrive in a stall of their receiver, and wait for half of its length. */
        expect_near("receiving", kvc_test_stage(stalled, "receive")->mean_us, 1e3 / 3 / 2, 0.3);
        cr_expect_lt(kvc_test_stage(steady, "receive")->mean_us, 1);
        cr_expect_lt(kvc_test_metric(steady, "overrun_max_us"), 1);
        cr_expect_gt(kvc_test_metric(stalled, "overrun_max_us"), 800, "the scheduler launches late");
        cr_expect_gt(kvc_test_stage(stalled, "send")->mean_us, kvc_test_stage(steady, "send")->mean_us + 100);
        expect_near("throughput", stalled->throughput_mops, 2, 0.05);
        free(steady);
        free(stalled);
    }
}

/* For 5 % of the requests, the receiver writes an item and the index inserts it. */
Test(measured, sets_cost_the_first_core_more)
{
    struct setup setup = shared(3);
    setup.scenario.workload.get_frac = 0.95;
    setup.scenario.workload.set_frac = 0.05;
    double request_ns = receive_ns + 0.95 * search_ns + 0.05 * (write_ns + drain_ns + insert_ns);
    free(expect_throughput(&setup, 1e3 / request_ns));
}

/* The index is fast here, because senders would wait for the largest batches of a slow one. */
Test(measured, saturated_senders_read)
{
    struct setup setup = shared(3);
    setup.devices.costs.read.point[1].ns = 100;
    setup.devices.costs.search = (struct kvc_megakv_cost_curve){0};
    per_job(&setup.devices.costs.search, 0.5);
    setup.scenario.run.warmup_ns = 60e6; /* The batches grow until the buffers are full at 65536 requests. */
    setup.scenario.run.duration_ns = 80e6;
    struct kvc_result *result = expect_throughput(&setup, 2 * 1e3 / 100);
    cr_expect_str_eq(result->bottleneck_stage, "send");
    expect_near("senders", kvc_test_stage(result, "send")->utilization_frac, 1, 0.02);
    free(result);
    setup.devices.cpu.cores = 2; /* Both senders share the second core. */
    free(expect_throughput(&setup, 1e3 / 100));
}

/* Returns the cost of a GET with a key of 8 bytes at its sender. */
static double send_ns(struct setup *setup, int api, const struct kvc_shards_lookup_mix *mix, int outcome,
                      uint32_t value_bytes)
{
    setup->options.api = api;
    setup->scenario.options = &setup->options;
    kvc_test_connect(&setup->scenario.node, &setup->devices);
    kvc_test_resolve(&setup->scenario, &setup->config);
    struct kvc_megakv_costs costs = kvc_megakv_costs_of(&setup->scenario);
    struct kvc_cpu_cost cost = kvc_megakv_send_cost(&costs, mix, outcome, 8, value_bytes);
    cr_expect_eq(cost.compute_ns, 0);
    return cost.stall_ns;
}

/* Returns the time that a GET saves its sender if the client compares the keys. */
static double saved_ns(struct setup *setup, const struct kvc_shards_lookup_mix *mix, int outcome,
                       uint32_t value_bytes)
{
    return send_ns(setup, KVC_MEGAKV_GET, mix, outcome, value_bytes) -
           send_ns(setup, KVC_MEGAKV_GETK, mix, outcome, value_bytes);
}

/* Reads whose reference bit is known, checked and marked, and reads among misses. */
static const struct kvc_shards_lookup_mix mixes[] = {{0, 0, 0}, {0, 1, 0.3}, {0, 0.5, 0.5}, {0.4, 0.2, 0.1}};

Test(measured, getk_saves_exactly_the_measured_comparison)
{
    struct setup setup = shared(3);
    add(&setup.devices.costs.compare, ITEM_BYTES, 6);
    add(&setup.devices.costs.compare, 2 * kvc_shards_touched_bytes(8, 24) - ITEM_BYTES, 14);
    for (size_t i = 0; i < sizeof(mixes) / sizeof(*mixes); i++) {
        cr_expect_float_eq(saved_ns(&setup, &mixes[i], KVC_MEGAKV_HIT, 8), 6, 1e-9);
        cr_expect_float_eq(saved_ns(&setup, &mixes[i], KVC_MEGAKV_HIT, 24), 10, 1e-9, "between points");
        cr_expect_float_eq(saved_ns(&setup, &mixes[i], KVC_MEGAKV_HIT, 1000), 14, 1e-9, "the nearest item");
        cr_expect_float_eq(saved_ns(&setup, &mixes[i], KVC_MEGAKV_HIT, 1), 6, 1e-9, "the nearest item");
        cr_expect_float_eq(saved_ns(&setup, &mixes[i], KVC_MEGAKV_MISMATCH, 8), 6, 1e-9);
        cr_expect_eq(saved_ns(&setup, &mixes[i], KVC_MEGAKV_MISS, 8), 0, "there is no key to compare");
        cr_expect_eq(saved_ns(&setup, &mixes[i], KVC_MEGAKV_DONE, 8), 0);
    }
    cr_expect_float_eq(send_ns(&setup, KVC_MEGAKV_GET, &mixes[0], KVC_MEGAKV_HIT, 8), read_ns, 1e-9,
                       "measured reads include the comparison");
}

/* Noise may make the comparison cost more than the whole read. */
Test(measured, getk_never_costs_less_than_nothing)
{
    struct setup setup = shared(3);
    add(&setup.devices.costs.compare, ITEM_BYTES, 2 * read_ns);
    cr_expect_eq(send_ns(&setup, KVC_MEGAKV_GETK, &mixes[0], KVC_MEGAKV_HIT, 8), 0);
    cr_expect_eq(send_ns(&setup, KVC_MEGAKV_GETK, &mixes[0], KVC_MEGAKV_MISMATCH, 8), 0);
}

Test(measured, get_and_getk_cost_the_same_without_a_measured_comparison)
{
    struct setup setup = shared(3);
    for (size_t i = 0; i < sizeof(mixes) / sizeof(*mixes); i++) {
        for (int outcome = KVC_MEGAKV_HIT; outcome <= KVC_MEGAKV_MISMATCH; outcome++) {
            cr_expect_eq(saved_ns(&setup, &mixes[i], outcome, 8), 0);
            cr_expect_eq(saved_ns(&setup, &mixes[i], outcome, 1000), 0);
        }
    }
}

/* Simulation and closed form agree for both, with busy senders and with idle ones. */
Test(measured, getk_relieves_senders)
{
    const double slow_ns = 100, compare_ns = 30;
    for (int api = KVC_MEGAKV_GET; api <= KVC_MEGAKV_GETK; api++) {
        struct setup setup = shared(3);
        double saved = api == KVC_MEGAKV_GETK ? compare_ns : 0;
        setup.options.api = api;
        add(&setup.devices.costs.compare, ITEM_BYTES, compare_ns);
        offer(&setup, 10);
        setup.options.cycle_ns = 200e3;
        struct kvc_result *result = expect_throughput(&setup, 10);
        expect_near("senders", kvc_test_stage(result, "send")->utilization_frac,
                    10e-3 * (read_ns - saved) / 2, 0.02);
        free(result);
        setup.options.cycle_ns = 100e3;
        setup.scenario.workload.arrival = KVC_ARRIVAL_SATURATE;
        setup.devices.costs.read.point[1].ns = slow_ns;
        setup.devices.costs.search = (struct kvc_megakv_cost_curve){0};
        per_job(&setup.devices.costs.search, 0.5);
        setup.scenario.run.warmup_ns = 60e6;
        setup.scenario.run.duration_ns = 80e6;
        result = expect_throughput(&setup, 2 * 1e3 / (slow_ns - saved));
        cr_expect_str_eq(result->bottleneck_stage, "send");
        free(result);
    }
}

/* Nothing is stored: searches and reads of missing keys have cost curves of their own. */
Test(measured, misses_have_their_own_costs)
{
    struct setup setup = shared(3);
    struct kvc_megakv_cost_curve *curve = &setup.devices.costs.search_miss;
    curve->point[0].ns *= 2;
    curve->point[1].ns *= 2;
    setup.scenario.workload.preload_frac = 0;
    offer(&setup, 20);
    struct kvc_result *result = simulate(&setup, NULL);
    cr_expect_eq(result->hits, 0);
    expect_near("throughput", result->throughput_mops, 20, 0.02);
    expect_near("a search", kvc_test_metric(result, "t_search_us"), 2 * 2 * search_ns, 0.02);
    expect_near("senders", kvc_test_stage(result, "send")->utilization_frac, 20e-3 * miss_ns / 2, 0.02);
    free(result);
}

/* Saturating clients give all pipelines the same load, and the scheduler swaps all buffers at once. */
Test(measured, the_slowest_sender_is_waited_for)
{
    struct setup setup = own();
    setup.devices.costs.read_slowest.point[1].ns = 1.08 * read_ns;
    setup.scenario.run.warmup_ns = 60e6;
    struct kvc_result *result = expect_throughput(&setup, 2 * 1e3 / read_ns / 1.08);
    cr_expect_str_eq(result->bottleneck_stage, "send");
    free(result);
}

/* Checks the time of a launch with 2000 searches and as many jobs for the scheduler to drain. */
static void expect_search_us(int index_on, double drain_job_ns, double expected_us)
{
    struct setup setup = own();
    struct kvc_result closed_form = {0};
    struct kvc_diag diag = {0};
    setup.options.index_on = index_on;
    setup.options.cycle_ns = 200e3;
    setup.scenario.workload.get_frac = setup.scenario.workload.set_frac = 0.5;
    setup.devices.costs.drain = (struct kvc_megakv_cost_curve){0};
    per_job(&setup.devices.costs.drain, drain_job_ns);
    offer(&setup, 20);
    struct kvc_result *result = simulate(&setup, NULL);
    expect_near("throughput", result->throughput_mops, 20, 0.02);
    expect_near("a launch", kvc_test_metric(result, "jobs_per_search"), 2000, 0.03);
    expect_near("its time", kvc_test_metric(result, "t_search_us"), expected_us, 0.03);
    free(result);
    cr_assert_eq(kvc_megakv_predict(&setup.scenario, &closed_form, &diag), KVC_OK);
    expect_near("closed form", kvc_metrics_get(&closed_form.model, "t_search_us"), expected_us, 1e-6);
}

/* The streams of a GPU search at the same time, while the scheduler drains the jobs of the SETs after it has
 * handed over the launch. Handing over costs as much as the first point of the cost curve, 100 jobs. A thread
 * does all of this in turn. */
Test(measured, a_gpu_hides_what_the_scheduler_drains)
{
    const double launch_us = 2000 * search_ns / 1e3, few_us = 100 * search_ns / 1e3;
    expect_search_us(KVC_MEGAKV_INDEX_ON_GPU, 3, launch_us / 2);
    expect_search_us(KVC_MEGAKV_INDEX_ON_GPU, 25, few_us + 2000 * 25e-3);
    expect_search_us(KVC_MEGAKV_INDEX_ON_THREAD, 3, launch_us + 2000 * 3e-3);
    expect_search_us(KVC_MEGAKV_INDEX_ON_THREAD, 25, launch_us + 2000 * 25e-3);
}

/* Replaces a cost curve over the jobs by one at a load factor and a number of streams. */
static void per_job_of(struct kvc_megakv_cost_curve *curve, double load_frac, uint64_t streams, double ns)
{
    for (double jobs = 100; jobs <= 32000; jobs *= 320) {
        curve->point[curve->count++] = (struct kvc_megakv_cost_point){.size = jobs,
                                                                      .load_frac = load_frac,
                                                                      .footprint_bytes = 1e6,
                                                                      .threads = streams,
                                                                      .ns = jobs * ns};
    }
}

/* The cost of a launch depends on its number of streams and the load factor of the index. */
Test(measured, launches_by_load_and_streams)
{
    struct setup setup = own();
    struct kvc_megakv_cost_profile *profile = &setup.devices.costs;
    setup.scenario.options = &setup.options;
    kvc_test_connect(&setup.scenario.node, &setup.devices);
    setup.options.index_on = KVC_MEGAKV_INDEX_ON_GPU;
    profile->search = (struct kvc_megakv_cost_curve){0};
    for (int full = 0; full < 2; full++) {
        per_job_of(&profile->search, full ? 0.8 : 0.2, 1, full ? 4 : 1);
        per_job_of(&profile->search, full ? 0.8 : 0.2, 3, full ? 8 : 3);
    }
    static const double loads[] = {0.1, 0.2, 0.5, 0.8, 0.9}, ns[] = {2, 2, 4, 6, 6};
    for (int i = 0; i < 5; i++) {
        setup.scenario.workload.keys = (uint64_t)(loads[i] * (2 << 20) / 8);
        kvc_test_resolve(&setup.scenario, &setup.config);
        struct kvc_megakv_costs costs = kvc_megakv_costs_of(&setup.scenario);
        const struct kvc_megakv_launch_work launch = {
            .kernel = KVC_SHARDS_SEARCH, .jobs = 2000, .hit_frac = 1};
        expect_near("1000 jobs in each of two streams", kvc_megakv_launch_ns(&costs, &launch), 1000 * ns[i],
                    0.001);
    }
}

static struct kvc_megakv_costs costs_of(struct setup *setup)
{
    setup->scenario.options = &setup->options;
    kvc_test_connect(&setup->scenario.node, &setup->devices);
    kvc_test_resolve(&setup->scenario, &setup->config);
    return kvc_megakv_costs_of(&setup->scenario);
}

/* The time of a launch of writes is the sum of its deletes and its inserts, some of which replace. */
Test(measured, launches_add_up)
{
    struct setup setup = shared(3);
    setup.devices.costs.replace = (struct kvc_megakv_cost_curve){0};
    per_job(&setup.devices.costs.replace, 12);
    struct kvc_megakv_costs costs = costs_of(&setup);
    struct kvc_megakv_launch_work launch = {.kernel = KVC_SHARDS_INSERT, .jobs = 3000};
    cr_expect_float_eq(kvc_megakv_launch_ns(&costs, &launch), 3000 * insert_ns, 1e-6);
    launch.replaced_frac = 0.25;
    cr_expect_float_eq(kvc_megakv_launch_ns(&costs, &launch), 3000 * (0.75 * insert_ns + 0.25 * 12), 1e-6);
    launch.erases = 1000;
    double sum_ns = 1000 * erase_ns + 2000 * (0.75 * insert_ns + 0.25 * 12);
    cr_expect_float_eq(kvc_megakv_launch_ns(&costs, &launch), sum_ns, 1e-6);
    launch.erases = launch.jobs;
    cr_expect_float_eq(kvc_megakv_launch_ns(&costs, &launch), 3000 * erase_ns, 1e-6, "deletes alone");
    double before_ns = 0;
    for (double jobs = 1; jobs < 1e5; jobs *= 2) {
        launch =
            (struct kvc_megakv_launch_work){.kernel = KVC_SHARDS_INSERT, .jobs = jobs, .erases = jobs / 2};
        double ns = kvc_megakv_launch_ns(&costs, &launch);
        cr_expect_gt(ns, before_ns, "more jobs take longer");
        before_ns = ns;
    }
}

/* The closed form charges evictions, at the receiver and in the index, only if the slabs are full. */
Test(measured, no_deletes_where_slabs_do_not_fill)
{
    struct setup setup = shared(3);
    setup.scenario.workload.get_frac = setup.scenario.workload.set_frac = 0.5;
    struct kvc_megakv_costs costs = costs_of(&setup);
    costs.evicting = false;
    struct kvc_megakv_launch_work roomy = kvc_megakv_insert_work(&costs, 1000);
    struct kvc_megakv_mean_costs mean = kvc_megakv_mean_costs_of(&setup.scenario, &costs);
    costs.evicting = true;
    struct kvc_megakv_launch_work full = kvc_megakv_insert_work(&costs, 1000);
    struct kvc_megakv_mean_costs full_mean = kvc_megakv_mean_costs_of(&setup.scenario, &costs);
    cr_expect(roomy.jobs == 1000 && roomy.erases == 0);
    cr_expect(full.jobs == 2000 && full.erases == 1000);
    cr_expect_float_eq(full_mean.receive.stall_ns - mean.receive.stall_ns, evict_ns / 2, 1e-9);
}

/* Compares the same load on slabs that fill at once and on slabs that never do. */
Test(measured, full_slabs_cost_evictions_and_deletes)
{
    double request_ns = receive_ns + 0.8 * search_ns + 0.2 * (write_ns + drain_ns + insert_ns);
    struct setup setup = shared(3);
    setup.scenario.workload.get_frac = 0.8;
    setup.scenario.workload.set_frac = 0.2;
    setup.devices.costs.read_half_missed = setup.devices.costs.read;
    setup.scenario.workload.keys = 130000; /* 131068 items fit into 4 MiB. */
    setup.options.slab_bytes = 64 << 20;
    struct kvc_result *roomy = simulate(&setup, NULL);
    cr_expect_eq(kvc_metrics_get(&roomy->kernel, "evictions"), 0);
    expect_near("roomy slabs", roomy->throughput_mops, 1e3 / request_ns, 0.03);
    setup.options.slab_bytes = 4 << 20;
    struct kvc_result *full = simulate(&setup, NULL);
    cr_expect_gt(kvc_metrics_get(&full->kernel, "evictions"), 1000);
    expect_near("full slabs", full->throughput_mops,
                1e3 / (request_ns + 0.2 * (evict_ns + drain_ns + erase_ns)), 0.04);
    free(full);
    free(roomy);
}

/* A launch of other jobs keeps the part that does not depend on them. Evictions that the result counts delete
 * an item for each SET, which the search drains, too. */
Test(measured, a_launch_of_other_jobs)
{
    enum { BASE_NS = 20000 };
    struct setup setup = shared(3);
    setup.scenario.workload.get_frac = setup.scenario.workload.set_frac = 0.5;
    setup.devices.costs.search.point[0].ns += BASE_NS;
    setup.devices.costs.search.point[1].ns += BASE_NS;
    costs_of(&setup);
    struct kvc_result *result = calloc(1, sizeof(*result));
    cr_assert_not_null(result);
    for (int evicts = 0; evicts <= 1; evicts++) {
        result->kernel.count = 0;
        kvc_metrics_set(&result->kernel, "evictions", evicts * 100);
        for (double jobs = 2000; jobs < 10000; jobs *= 2) {
            cr_expect_float_eq(kvc_megakv_predict_launch_ns(&setup.scenario, result, false, jobs),
                               BASE_NS + jobs * (search_ns + (1 + evicts) * drain_ns), 1e-6);
            cr_expect_float_eq(kvc_megakv_predict_launch_ns(&setup.scenario, result, true, jobs),
                               jobs * (evicts ? (insert_ns + erase_ns) / 2 : insert_ns), 1e-6);
        }
    }
    free(result);
}

/* Lengths of keys between measured ones are interpolated; those beyond cost as much as the nearest. */
Test(measured, keys_of_other_lengths)
{
    struct kvc_megakv_keyed_curve keyed = {.count = 2,
                                           .key_bytes = {8, 64},
                                           .curve = {{2, {24, 100}, {10, 20}}, {2, {80, 200}, {40, 60}}}},
                                  none = {0};
    cr_expect_eq(kvc_megakv_keyed_at(&none, 8, 100), 0);
    cr_expect_float_eq(kvc_megakv_keyed_at(&keyed, 8, 100), 20, 1e-9);
    cr_expect_float_eq(kvc_megakv_keyed_at(&keyed, 64, 200), 60, 1e-9);
    cr_expect_float_eq(kvc_megakv_keyed_at(&keyed, 36, 100), (20 + 40 + 20 * 20 / 120.0) / 2, 1e-9);
    cr_expect_float_eq(kvc_megakv_keyed_at(&keyed, 4, 24), 10, 1e-9);
    cr_expect_float_eq(kvc_megakv_keyed_at(&keyed, 250, 24), 40, 1e-9, "the nearest size, too");
}

/* Service of one launch's batches by the senders of both pipelines. */
struct pair {
    double start_us[2], for_us[2];
    unsigned long long requests[2];
};

enum { PAIRS_MAX = 64 };

/* Reads the senders' activities from a timeline, in the order of the launches. Returns their number. */
static uint32_t read_pairs(const char *path, struct pair *pairs)
{
    char line[256];
    uint32_t count[2] = {0};
    FILE *in = fopen(path, "r");
    cr_assert_not_null(in);
    while (fgets(line, sizeof(line), in) != NULL) {
        unsigned sender;
        double start_us, for_us;
        unsigned long long requests;
        if (sscanf(line,
                   "{\"ph\":\"X\",\"name\":\"send\",\"pid\":0,\"tid\":%u,\"ts\":%lf,\"dur\":%lf,\"args\":{"
                   "\"requests\":%llu}}",
                   &sender, &start_us, &for_us, &requests) != 4) {
            continue;
        }
        cr_assert(sender == 1 || sender == 2);
        uint32_t at = count[--sender]++;
        if (at < PAIRS_MAX) {
            pairs[at].start_us[sender] = start_us;
            pairs[at].for_us[sender] = for_us;
            pairs[at].requests[sender] = requests;
        }
    }
    fclose(in);
    cr_assert_eq(count[0], count[1]);
    return count[0] < PAIRS_MAX ? count[0] : PAIRS_MAX;
}

/* Simulates 4800 requests per cycle, which need less than half a cycle. */
static uint32_t simulate_pairs(struct setup *setup, struct pair *pairs)
{
    char folder[] = "/tmp/kvc_measured_XXXXXX", path[64];
    setup->options.cycle_ns = 400e3;
    offer(setup, 12);
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/timeline.json", folder);
    free(simulate(setup, path));
    uint32_t count = read_pairs(path, pairs);
    remove(path);
    rmdir(folder);
    cr_assert_gt(count, 20);
    for (uint32_t i = 0; i < count; i++) {
        cr_assert_float_eq(pairs[i].start_us[0], pairs[i].start_us[1], 1e-3);
        cr_assert(pairs[i].requests[0] > 4 * SEND_ROWS && pairs[i].requests[1] > 4 * SEND_ROWS);
    }
    return count;
}

/* Returns how many of `other` rows are finished when a sender begins with the last chunk of its `own` rows.
 * The order of the senders makes a difference of one chunk. */
static double before_last(unsigned long long own, unsigned long long other, bool first)
{
    unsigned long long turns = (own - 1) / SEND_ROWS + !first;
    return (double)(turns * SEND_ROWS < other ? turns * SEND_ROWS : other);
}

/* With chunks of 256 rows, the senders finish nearly at the same time. */
Test(measured, senders_of_one_core_take_turns)
{
    static struct pair pairs[PAIRS_MAX];
    struct setup setup = shared(2);
    uint32_t count = simulate_pairs(&setup, pairs);
    for (uint32_t i = 0; i < count; i++) {
        for (int p = 0; p < 2; p++) {
            double own_rows = (double)pairs[i].requests[p];
            double rows = own_rows + before_last(pairs[i].requests[p], pairs[i].requests[!p], p == 0);
            cr_expect_float_eq(pairs[i].for_us[p], rows * read_ns / 1e3, 1e-3, "sender %d: %g us, not %g", p,
                               pairs[i].for_us[p], rows * read_ns / 1e3);
            cr_expect_gt(pairs[i].for_us[p], 1.7 * own_rows * read_ns / 1e3, "later than alone");
        }
    }
}

Test(measured, senders_with_cores_of_their_own_do_not)
{
    static struct pair pairs[PAIRS_MAX];
    struct setup setups[] = {shared(3), own()};
    for (int s = 0; s < 2; s++) {
        uint32_t count = simulate_pairs(&setups[s], pairs);
        for (uint32_t i = 0; i < count; i++) {
            for (int p = 0; p < 2; p++) {
                cr_expect_float_eq(pairs[i].for_us[p], (double)pairs[i].requests[p] * read_ns / 1e3, 1e-3);
            }
        }
    }
}

/* Receivers, index and senders work in parallel. */
Test(measured, own_threads_do_not_wait_for_each_other)
{
    struct setup setup = own();
    struct kvc_megakv_cost_profile *profile = &setup.devices.costs;
    profile->read.point[1].ns = profile->read_slowest.point[1].ns =
        16; /* 125 Mops; the receivers reach 167 Mops. */
    setup.scenario.run.warmup_ns = 20e6;
    setup.scenario.run.duration_ns = 40e6;
    struct kvc_result *result = expect_throughput(&setup, 1e3 / search_ns);
    cr_expect_str_eq(result->bottleneck_stage, "index");
    free(result);
    profile->read.point[1].ns = profile->read_slowest.point[1].ns = 40;
    setup.scenario.run.warmup_ns = 60e6;
    result = expect_throughput(&setup, 2 * 1e3 / 40);
    cr_expect_str_eq(result->bottleneck_stage, "send");
    free(result);
}

/* The senders are the limit. After a launch that took longer than a cycle, a launch at the next cycle would
 * be small, and the senders would wait for the large one after it. */
Test(measured, launches_on_shared_threads_do_not_alternate)
{
    for (uint32_t streams = 1; streams <= 3; streams++) {
        struct setup setup = shared(2);
        struct kvc_megakv_cost_profile *profile = &setup.devices.costs;
        setup.options.streams = streams;
        profile->read.point[1].ns = profile->read_slowest.point[1].ns = 1.2 * (receive_ns + search_ns);
        setup.scenario.run.warmup_ns = 60e6;
        setup.scenario.run.duration_ns = 60e6;
        struct kvc_result *result = simulate(&setup, NULL);
        cr_expect_gt(kvc_test_stage(result, "send")->utilization_frac, 0.97, "%u streams: %g", streams,
                     kvc_test_stage(result, "send")->utilization_frac);
        free(result);
    }
}

/* Additional cores change nothing if no tasks share a core. */
Test(measured, own_threads_are_as_many_as_they_are)
{
    struct setup setup = own();
    offer(&setup, 12);
    struct kvc_result *few = simulate(&setup, NULL);
    setup.devices.cpu.cores = 9;
    struct kvc_result *many = simulate(&setup, NULL);
    kvc_test_forget_wall(few);
    kvc_test_forget_wall(many);
    kvc_test_forget_devices(few); /* More cores are less utilized. */
    kvc_test_forget_devices(many);
    cr_expect_eq(memcmp(few, many, sizeof(*few)), 0);
    setup.options.threads = KVC_MEGAKV_SHARED_THREADS;
    struct kvc_result *sharing = simulate(&setup, NULL);
    kvc_test_forget_wall(sharing);
    kvc_test_forget_devices(sharing);
    cr_expect_neq(memcmp(few, sharing, sizeof(*few)), 0);
    free(few);
    free(many);
    free(sharing);
}

/* Faster cores shorten the part of a measured cost that the smallest footprint has, too; faster memory
 * shortens what a larger footprint adds. */
Test(measured, cores_and_memory_speed_up_their_own_parts_of_a_cost)
{
    static struct setup setup;
    setup = shared(2);
    struct kvc_megakv_cost_curve *read = &setup.devices.costs.read;
    read->point[read->count++] = (struct kvc_megakv_cost_point){
        .size = ITEM_BYTES, .footprint_bytes = 1e9, .threads = 1, .ns = 3 * read_ns};
    setup.scenario.options = &setup.options;
    kvc_test_connect(&setup.scenario.node, &setup.devices);
    kvc_test_resolve(&setup.scenario, &setup.config);
    kvc_scenario_resource(&setup.scenario, "cpu")->speed_up(&setup.scenario, 2);
    cr_expect_float_eq(read->point[1].ns, read_ns / 2, 1e-9);
    cr_expect_float_eq(read->point[2].ns, read_ns / 2 + 2 * read_ns, 1e-9);
    kvc_scenario_resource(&setup.scenario, "dram")->speed_up(&setup.scenario, 4);
    cr_expect_float_eq(read->point[1].ns, read_ns / 2, 1e-9);
    cr_expect_float_eq(read->point[2].ns, read_ns, 1e-9);
}

/* On a fast card, a launch of 32,000 inserts may be measured as shorter than one of 100. */
Test(measured, inserts_that_get_faster_with_more_jobs_are_no_limit)
{
    struct setup setup = own();
    setup.options.index_on = KVC_MEGAKV_INDEX_ON_GPU;
    setup.devices.costs.insert.point[1].ns = setup.devices.costs.replace.point[1].ns = 90 * insert_ns;
    struct kvc_megakv_costs costs = costs_of(&setup);
    struct kvc_megakv_fit fit = kvc_megakv_fit_of(&costs, 0);
    cr_expect_eq(fit.insert_ns_per_op, 0);
    cr_expect_gt(fit.insert_base_ns, 0);
}
