/* Properties of every simulation of Mega-KV. Each simulation runs in a child process, because a process can
 * have only one engine. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/shards/store.h"
#include "models/megakv/closed_form.h"
#include "models/megakv/config.h"
#include "models/megakv/costs.h"
#include "models/megakv/predict.h"
#include "models/megakv/megakv.h"
#include "models/megakv/run_fixture.h"

struct setup {
    struct kvc_scenario scenario;
    struct kvc_megakv_options options;
    struct kvc_megakv_config config;
    struct kvc_test_devices devices;
};

/* Returns one socket with round numbers: a request costs 10 ns of compute in each direction, and an item 90
 * ns. */
static struct setup small(void)
{
    return (struct setup){
        .options = {.cycle_ns = 100e3,
                    .delay = 2,
                    .api = KVC_MEGAKV_GETK,
                    .compare_ns = -1,
                    .buffers = 3,
                    .streams = 4,
                    .index_bytes = 8 << 20,
                    .slab_bytes = 64 << 20,
                    .max_displacements = 100},
        .devices = {.cpu = {.cores = 5,
                            .threads_per_core = 2,
                            .clock_hz = 1e9,
                            .packet_ns = 10,
                            .llc_hit_cycles = 10},
                    .dram = {.random_line_ns = 90, .next_line_ns = 0, .line_bytes = 64, .bytes_per_s = 1e12},
                    .gpu = {.memory_bytes = 1e10,
                            .clock_count = 1,
                            .clocks = {{.core_hz = 1e9,
                                        .memory_hz = 1e9,
                                        .search = {.ns_per_op = 10, .base_ns = 10e3},
                                        .insert = {.ns_per_op = 10, .base_ns = 20e3}}}},
                    .nic = {.ports = 1,
                            .queues = 64,
                            .rss_entries = 128,
                            .bytes_per_s = 1e12,
                            .mtu_bytes = 160,
                            .ring_frames = 4096},
                    .pcie = {.h2d_bytes_per_s = 1e10, .d2h_bytes_per_s = 1e10}},
        .scenario =
            {
                .node = {.sockets = 1},
                .cluster = {.nodes = 1},
                .workload = {.keys = 100000,
                             .key_bytes = 8,
                             .value_bytes = 8,
                             .get_frac = 0.95,
                             .set_frac = 0.05,
                             .preload_frac = 1,
                             .connections = 65536,
                             .fill = KVC_FILL_AT_ONCE},
                .run = {.warmup_ns = -1, .duration_ns = 4e6, .seed = 1, .replicas = 1},
            },
    };
}

static struct kvc_result *simulate(struct setup *setup)
{
    setup->scenario.options = &setup->options;
    kvc_test_connect(&setup->scenario.node, &setup->devices);
    kvc_test_resolve(&setup->scenario, &setup->config);
    return kvc_test_simulate(&setup->scenario, NULL);
}

Test(run, requests_are_conserved)
{
    struct setup setup = small();
    setup.scenario.workload.arrival = KVC_ARRIVAL_POISSON;
    setup.scenario.workload.rate_mops = 20;
    setup.scenario.workload.get_frac = 0.9;
    setup.scenario.workload.delete_frac = 0.05;
    setup.scenario.run.warmup_ns = 1e6;
    setup.scenario.run.duration_ns = 10e6;
    struct kvc_result *result = simulate(&setup);
    cr_expect_eq(result->gets, result->hits + result->misses);
    cr_expect_eq(result->completed, result->gets + result->sets + result->deletes);
    cr_expect_eq(result->latency.count, result->gets);
    cr_expect_gt(result->misses, 0, "deleted keys are missed");
    cr_expect_eq(result->dropped, 0);
    /* The numbers of requests sent and answered within the measured time differ by the requests in flight at
     * its start and end. */
    double offered = (double)result->offered, in_flight = 20 * result->latency.max_ns / 1e3;
    cr_expect_float_eq((double)result->completed, offered, in_flight);
    cr_expect_float_eq(offered, 20e6 * result->simulated_s, 4 * sqrt(20e6 * result->simulated_s * 32));
    cr_expect_gt((double)result->requests_simulated, offered + 20e6 * result->warmup_s * 0.9);
    cr_expect_float_eq(result->throughput_mops, 20, 0.5);
    free(result);
}

Test(run, nothing_is_busier_than_always)
{
    struct setup setup = small();
    setup.scenario.workload.arrival = KVC_ARRIVAL_POISSON;
    setup.scenario.workload.rate_mops = 200;
    setup.scenario.run.duration_ns = 40e6; /* Many times what is in flight. */
    struct kvc_result *result = simulate(&setup);
    for (uint32_t i = 0; i < result->stage_count; i++) {
        cr_expect(result->stage[i].utilization_frac >= 0 && result->stage[i].utilization_frac <= 1 + 1e-9,
                  "%s: %g", result->stage[i].name, result->stage[i].utilization_frac);
    }
    cr_expect_gt(result->dropped, 0);
    cr_expect_gt(result->note_count, 0);
    /* The ring drops the requests that the store does not serve, except for those that wait in it. */
    double lost = (double)result->dropped, unserved = (double)result->offered - (double)result->completed;
    cr_expect_float_eq(lost, unserved, 0.1 * unserved);
    cr_expect_float_eq((double)result->offered, 200e6 * result->simulated_s,
                       0.02 * 200e6 * result->simulated_s);
    free(result);
}

/* One receiver with a core of its own, a fixed service time, Poisson arrivals and one request per frame is
 * M/D/1. */
Test(run, receiver_is_an_m_d_1_queue)
{
    struct setup setup = small();
    setup.options.streams = 1;
    setup.devices.cpu.cores = 3;
    setup.devices.cpu.threads_per_core = 1;
    setup.scenario.workload.preload_frac = 0; /* All GETs miss, so that the sender keeps up. */
    setup.devices.gpu.clocks[0].search.ns_per_op = 1;
    setup.scenario.workload.get_frac = 1;
    setup.scenario.workload.set_frac = 0;
    setup.scenario.workload.frame_requests = 1;
    setup.scenario.workload.arrival = KVC_ARRIVAL_POISSON;
    for (int step = 3; step <= 9; step += 3) {
        double busy = step / 10.0, service_ns = 10;
        setup.scenario.workload.rate_mops = busy / service_ns * 1e3;
        struct kvc_result *result = simulate(&setup);
        double expected_ns = service_ns + busy * service_ns / (2 * (1 - busy));
        cr_expect_float_eq(kvc_test_stage(result, "receive")->mean_us * 1e3, expected_ns, 0.05 * expected_ns,
                           "at %g: %g, not %g", busy, kvc_test_stage(result, "receive")->mean_us * 1e3,
                           expected_ns);
        cr_expect_float_eq(kvc_test_stage(result, "receive")->utilization_frac, busy, 0.02);
        cr_expect_eq(result->hits, 0);
        free(result);
    }
}

/* In a closed loop, N = X (R + Z). */
Test(run, littles_law)
{
    struct setup setup = small();
    setup.scenario.workload.arrival = KVC_ARRIVAL_CLOSED;
    setup.scenario.workload.clients = 2000;
    setup.scenario.workload.think_ns = 50e3;
    setup.scenario.workload.get_frac = 1;
    setup.scenario.workload.set_frac = 0;
    struct kvc_result *result = simulate(&setup);
    double cycle_us = kvc_histogram_mean_ns(&result->latency) / 1e3 + 50;
    cr_expect_float_eq(result->throughput_mops * cycle_us, 2000, 0.02 * 2000, "%g",
                       result->throughput_mops * cycle_us);
    free(result);
}

Test(run, same_seed_same_bytes)
{
    struct setup setup = small();
    setup.scenario.workload.popularity = KVC_POPULARITY_ZIPF;
    setup.scenario.workload.zipf_s = 0.99;
    setup.scenario.workload.arrival = KVC_ARRIVAL_POISSON;
    setup.scenario.workload.rate_mops = 20;
    struct kvc_result *first = simulate(&setup), *second = simulate(&setup);
    setup.scenario.run.seed = 2;
    struct kvc_result *other = simulate(&setup);
    kvc_test_forget_wall(first);
    kvc_test_forget_wall(second);
    kvc_test_forget_wall(other);
    cr_expect(memcmp(first, second, sizeof(*first)) == 0);
    cr_expect(memcmp(first, other, sizeof(*first)) != 0);
    free(first);
    free(second);
    free(other);
}

/* Far from saturation, there is little queueing, and the closed form agrees with the simulation. */
Test(run, at_half_load_the_closed_form_agrees)
{
    struct setup setup = small();
    double before = 0;
    setup.scenario.workload.arrival = KVC_ARRIVAL_POISSON;
    setup.scenario.workload.rate_mops = 15;
    setup.scenario.workload.frame_requests = 1;
    for (int step = 0; step < 3; step++) {
        setup.options.cycle_ns = 60e3 + 40e3 * step;
        struct kvc_result *result = simulate(&setup), *closed_form = calloc(1, sizeof(*closed_form));
        struct kvc_diag diag = {0};
        cr_assert_eq(kvc_megakv_predict(&setup.scenario, closed_form, &diag), KVC_OK);
        double mean_us = kvc_histogram_mean_ns(&result->latency) / 1e3;
        cr_expect_float_eq(result->throughput_mops, 15, 0.15, "%g", result->throughput_mops);
        cr_expect_gt(mean_us, before);
        cr_expect_float_eq(mean_us, closed_form->predicted.mean_us, 0.1 * closed_form->predicted.mean_us,
                           "%g us, closed form %g us", mean_us, closed_form->predicted.mean_us);
        before = mean_us;
        free(result);
        free(closed_form);
    }
}

/* An undisturbed search takes the sum of its parts: both copies, the latency and its work. */
Test(run, one_batch_through_an_idle_machine_takes_the_sum_of_its_parts)
{
    struct setup setup = small();
    setup.options.streams = 1;
    setup.scenario.workload.arrival = KVC_ARRIVAL_POISSON;
    setup.scenario.workload.rate_mops = 5;
    setup.scenario.workload.get_frac = 1;
    setup.scenario.workload.set_frac = 0;
    struct kvc_result *result = simulate(&setup);
    double expected_us = (10 * kvc_test_metric(result, "jobs_per_search") + 10e3) / 1e3;
    cr_expect_float_eq(kvc_test_metric(result, "t_search_us"), expected_us, 1e-3 * expected_us, "%g, not %g",
                       kvc_test_metric(result, "t_search_us"), expected_us);
    free(result);
}

static double utilization_of(const struct kvc_result *result, const char *kind)
{
    double highest = 0;
    for (uint32_t i = 0; i < result->device_count; i++) {
        const struct kvc_device_result *device = &result->device[i];
        cr_expect(device->utilization_frac >= 0 && device->utilization_frac <= 1 + 1e-6, "%s: %g",
                  device->name, device->utilization_frac);
        if (strcmp(device->device, kind) == 0) {
            highest = fmax(highest, device->utilization_frac);
        }
    }
    return highest;
}

/* Memory that is too slow for the senders throttles them, instead of only causing a note. */
Test(run, memory_bandwidth_throttles)
{
    struct setup setup = small();
    setup.scenario.workload.value_bytes = 1000;
    setup.options.slab_bytes = 256 << 20;
    setup.scenario.run.warmup_ns = 1e6;
    setup.scenario.run.duration_ns = 2e6;
    struct kvc_result *fast = simulate(&setup);
    setup.devices.dram.bytes_per_s = 10e9;
    struct kvc_result *slow = simulate(&setup);
    cr_expect_gt(utilization_of(slow, "dram"), 0.9);
    cr_expect_lt(utilization_of(fast, "dram"), 0.2);
    cr_expect_lt(slow->throughput_mops, 0.7 * fast->throughput_mops, "%g, %g", slow->throughput_mops,
                 fast->throughput_mops);
    free(fast);
    free(slow);
}

/* Half the clock doubles the compute, not the stalls, and halves the compute that cores offer. */
Test(run, a_slower_clock_serves_less)
{
    struct setup setup = small();
    setup.devices.cpu.operation_ns = 200;
    setup.devices.cpu.pstate_count = 2;
    setup.devices.cpu.pstates[0].clock_hz = 1e9;
    setup.devices.cpu.pstates[1].clock_hz = 0.5e9;
    struct kvc_result *fast = simulate(&setup);
    setup.scenario.node.cpu_clock_hz = 0.5e9;
    struct kvc_result *slow = simulate(&setup);
    cr_expect_float_eq(slow->throughput_mops / fast->throughput_mops, 0.52, 0.03, "%g of %g",
                       slow->throughput_mops, fast->throughput_mops);
    utilization_of(slow, "cpu");
    free(fast);
    free(slow);
}

/* Inserts in a stream of their own overlap with the searches that would wait for them otherwise. */
Test(run, inserts_overlap_with_searches)
{
    struct setup setup = small();
    setup.scenario.workload.arrival = KVC_ARRIVAL_POISSON;
    setup.scenario.workload.rate_mops = 20;
    setup.options.cycle_ns = 30e3;
    struct kvc_diag diag = {0};
    struct kvc_result *closed_form = calloc(1, sizeof(*closed_form));
    cr_assert_not_null(closed_form);
    struct kvc_result *in_turn = simulate(&setup);
    cr_assert_eq(kvc_megakv_predict(&setup.scenario, closed_form, &diag), KVC_OK);
    double waiting_us = closed_form->predicted.mean_us;
    memset(closed_form, 0, sizeof(*closed_form));
    setup.options.insert_stream = KVC_MEGAKV_INSERT_OWN_STREAM;
    struct kvc_result *overlapping = simulate(&setup);
    cr_assert_eq(kvc_megakv_predict(&setup.scenario, closed_form, &diag), KVC_OK);
    cr_expect_lt(closed_form->predicted.mean_us, waiting_us);
    free(closed_form);
    cr_expect_lt(kvc_histogram_mean_ns(&overlapping->latency),
                 0.98 * kvc_histogram_mean_ns(&in_turn->latency));
    cr_expect_gt(utilization_of(overlapping, "gpu"), 0);
    free(in_turn);
    free(overlapping);
}

/* The scheduler waits for the device before it looks at the clock. If a cycle counts from the launch before,
 * a launch that was late delays all later ones. */
Test(run, late_launches_delay_the_next)
{
    struct setup setup = small();
    setup.scenario.workload.arrival = KVC_ARRIVAL_POISSON;
    setup.scenario.workload.rate_mops = 20;
    setup.options.cycle_ns =
        25.2e3; /* Searches take 10 us and more, and every other time inserts 20 us and more. */
    struct kvc_result *scheduled = simulate(&setup);
    setup.options.cycle_from = KVC_MEGAKV_CYCLE_FROM_LAUNCH;
    struct kvc_result *counted = simulate(&setup);
    double late_us =
        kvc_test_metric(counted, "launches_late_frac") * kvc_test_metric(counted, "overrun_mean_us");
    cr_expect_gt(late_us, 0.2);
    cr_expect_float_eq(kvc_test_metric(counted, "cycle_effective_us"), 25.2 + late_us, 0.05);
    cr_expect_float_eq(kvc_test_metric(scheduled, "cycle_effective_us"), 25.2, 0.05);
    free(scheduled);
    free(counted);
}

Test(run, an_infeasible_cycle_is_reported)
{
    struct setup setup = small();
    setup.scenario.run.duration_ns = 10e6;
    setup.options.cycle_ns = 15e3; /* Without load, a cycle needs (2 * 10 + 20) / 2 = 20 us. */
    struct kvc_result *result = simulate(&setup);
    cr_expect_gt(kvc_test_metric(result, "cycle_effective_us"), 20);
    cr_expect_gt(kvc_test_metric(result, "launches_late_frac"), 0.3);
    cr_expect_gt(kvc_test_metric(result, "overrun_mean_us"), 0);
    bool noted = false;
    for (uint32_t i = 0; i < result->note_count; i++) {
        noted |= strstr(result->note[i], "was not kept") != NULL;
    }
    cr_expect(noted);
    free(result);
}

Test(run, get_is_slower_than_getk)
{
    struct setup setup = small();
    setup.options.cycle_ns = 400e3; /* The senders are the bottleneck. */
    setup.devices.cpu.operation_ns = 100;
    struct kvc_result *getk = simulate(&setup);
    setup.options.api = KVC_MEGAKV_GET;
    struct kvc_result *get = simulate(&setup);
    /* 60 of 500 instructions more; a GET takes a sender 50 + 90 ns otherwise, and SETs take no time. */
    cr_expect_float_eq(get->throughput_mops / getk->throughput_mops, 140.0 / 152, 0.02);
    cr_expect_str_eq(get->bottleneck_stage, "send");
    free(get);
    free(getk);
}

/* Compares a sampled store with the full one, in a cache with room for a quarter of the keys, and SETs. */
Test(run, sampling_predicts_the_hit_ratio, .timeout = 120)
{
    struct setup setup = small();
    setup.options.slab_bytes = 8 << 20;
    setup.scenario.workload.keys = 1000000;
    setup.scenario.workload.get_frac = 0.5;
    setup.scenario.workload.set_frac = 0.5;
    setup.scenario.workload.popularity = KVC_POPULARITY_ZIPF;
    setup.scenario.workload.zipf_s = 0.99;
    setup.scenario.workload.arrival = KVC_ARRIVAL_POISSON;
    setup.scenario.workload.rate_mops = 20;
    setup.scenario.run.warmup_ns = 60e6;
    setup.scenario.run.duration_ns = 20e6;
    struct kvc_result *full = simulate(&setup);
    setup.scenario.run.functional = KVC_FUNCTIONAL_SAMPLED;
    setup.scenario.run.sample_rate = 8;
    struct kvc_result *sampled = simulate(&setup);
    double full_frac = (double)full->hits / (double)full->gets;
    double sampled_frac = (double)sampled->hits / (double)sampled->gets;
    cr_expect_gt(kvc_test_metric(full, "evictions"), 50000);
    cr_expect(full_frac > 0.3 && full_frac < 0.95, "%g", full_frac);
    cr_expect_float_eq(sampled_frac, full_frac, 0.005, "sampled %.4f, full %.4f", sampled_frac, full_frac);
    /* Che's approximation describes LRU; CLOCK and the batches make it less accurate. */
    double predicted_frac = kvc_megakv_costs_of(&setup.scenario).hit_frac;
    cr_expect_float_eq(predicted_frac, full_frac, 0.03, "closed form %.4f, full %.4f", predicted_frac,
                       full_frac);
    free(full);
    free(sampled);
}

Test(run, timing_does_not_depend_on_the_functional_mode)
{
    struct setup setup = small();
    struct kvc_result *full = simulate(&setup);
    setup.scenario.run.functional = KVC_FUNCTIONAL_OFF;
    struct kvc_result *off = simulate(&setup);
    cr_expect_float_eq(off->throughput_mops, full->throughput_mops, 1e-3 * full->throughput_mops);
    cr_expect_float_eq(kvc_histogram_mean_ns(&off->latency), kvc_histogram_mean_ns(&full->latency),
                       1e-3 * kvc_histogram_mean_ns(&full->latency));
    free(full);
    free(off);
}

/* The engine's clock may be just short of the end of the measured time. Nothing is evicted, so that every SET
 * since the start of the warm-up adds an item. */
Test(run, counts_the_items_at_its_end)
{
    for (int windows = 7; windows < 40; windows += 8) {
        struct setup setup = small();
        setup.scenario.workload.arrival = KVC_ARRIVAL_POISSON;
        setup.scenario.workload.rate_mops = 5;
        setup.scenario.run.warmup_ns = 2e6;
        setup.scenario.run.duration_ns = windows * 200e3;
        struct kvc_result *result = simulate(&setup);
        double sets = 0.05 * 5e-3 * (setup.scenario.run.warmup_ns + setup.scenario.run.duration_ns);
        cr_expect_float_eq(kvc_test_metric(result, "items"), 100000 + sets, 3 * sqrt(sets),
                           "%d windows, %.0f SETs", windows, sets);
        free(result);
    }
}

/* ---- placement of the items ---- */

enum { SOCKETS = 2, KEYS = 200000 };

struct placement {
    struct kvc_scenario scenario;
    struct kvc_megakv_options options;
    struct kvc_megakv_config config;
    struct kvc_test_devices devices;
};

/* The slabs hold a part of the keys. */
static void open_placement(struct placement *setup)
{
    *setup = (struct placement){
        .scenario = {.node = {.sockets = SOCKETS},
                     .cluster = {.nodes = 1},
                     .run = {.seed = 1, .replicas = 1}},
        .devices = {
            .cpu = {.cores = 5, .threads_per_core = 2, .clock_hz = 1e9},
            .dram = {.line_bytes = 64, .bytes_per_s = 1e12},
            .gpu = {.memory_bytes = 1e10, .clock_count = 1, .clocks = {{.core_hz = 1e9, .memory_hz = 1e9}}},
            .nic = {.ports = 1,
                    .queues = 64,
                    .rss_entries = 128,
                    .bytes_per_s = 1e12,
                    .mtu_bytes = 160,
                    .ring_frames = 4096},
            .pcie = {.h2d_bytes_per_s = 1e10, .d2h_bytes_per_s = 1e10}}};
    kvc_option_table_set_defaults(&kvc_megakv_option_table, &setup->options);
    kvc_option_table_set_defaults(&kvc_workload_option_table, &setup->scenario.workload);
    setup->options.index_bytes = 8 << 20;
    setup->options.slab_bytes = KVC_MEGAKV_SLAB_BYTES;
    setup->options.cycle_ns = 100e3;
    setup->scenario.workload.keys = KEYS;
    setup->scenario.options = &setup->options;
    kvc_test_connect(&setup->scenario.node, &setup->devices);
    kvc_test_resolve(&setup->scenario, &setup->config);
}

static struct kvc_shards *store_of(const struct placement *setup, uint64_t seed)
{
    struct kvc_diag diag = {0};
    struct kvc_shards *store = NULL;
    cr_assert_eq(kvc_megakv_store_create(&setup->scenario, seed, NULL, &store, &diag), KVC_OK, "%s",
                 diag.message);
    return store;
}

/* Places of the keys in a store. */
struct places {
    uint8_t shard[KEYS]; /* SOCKETS: the key was evicted. */
    uint32_t location[KEYS];
    uint32_t held;
};

static struct places *places_of(const struct placement *setup, uint64_t seed)
{
    struct kvc_shards *store = store_of(setup, seed);
    const struct kvc_source_params params = kvc_megakv_source_of(&setup->scenario, seed);
    struct kvc_source *source = kvc_source_create(&params, NULL);
    struct kvc_batch *batch = kvc_batch_create(KEYS, kvc_workload_key_stride(&setup->scenario.workload));
    struct places *places = calloc(1, sizeof(*places));
    cr_assert(source != NULL && batch != NULL && places != NULL);
    kvc_source_keys(source, 0, KEYS, batch);
    for (uint32_t i = 0; i < KEYS; i++) {
        uint32_t shard = kvc_source_shard(source, batch->hash[i]);
        kvc_index_search(store->shards[shard].index, &batch->hash[i], 1, &places->location[i],
                         &store->shards[shard].index_stats);
        bool held = places->location[i] != KVC_LOCATION_NONE;
        places->shard[i] = (uint8_t)(held ? shard : SOCKETS);
        places->held += held;
    }
    kvc_batch_free(batch);
    kvc_source_free(source);
    kvc_shards_free(store);
    return places;
}

Test(placement, follows_from_the_seed_of_the_replica)
{
    struct placement setup;
    open_placement(&setup);
    struct places *one = places_of(&setup, 1), *again = places_of(&setup, 1), *other = places_of(&setup, 2);
    cr_expect_arr_eq(one, again, sizeof(*one));
    cr_assert(one->held > KEYS / 4 && one->held < 3 * KEYS / 4, "%u of %d", one->held, KEYS);
    uint32_t both = 0, either = 0, moved = 0, same_location = 0;
    for (uint32_t i = 0; i < KEYS; i++) {
        either += one->shard[i] < SOCKETS || other->shard[i] < SOCKETS;
        if (one->shard[i] < SOCKETS && other->shard[i] < SOCKETS) {
            both++;
            moved += one->shard[i] != other->shard[i];
            same_location += one->location[i] == other->location[i];
        }
    }
    /* The shards are full; the keys at the edge of the room differ, with the number of keys of a shard. */
    cr_expect(both < either && both > 0.98 * either, "%u of %u", both, either);
    cr_expect_float_eq((double)moved / both, 1 - 1.0 / SOCKETS, 0.02);
    cr_expect_lt(same_location, both / 100);
    free(one);
    free(again);
    free(other);
}
