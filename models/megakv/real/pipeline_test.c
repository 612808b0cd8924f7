/* The tasks of a real node, one after the other on one thread: what is received is answered. */
#include "models/megakv/real/pipeline.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/megakv/options.h"
#include "sim/base/clock.h"

enum { KEYS = 10000, PIPELINES = 2, FEED_BYTES = 1 << 19 };

struct testbench {
    struct kvc_scenario scenario;
    struct kvc_megakv_options system;
    struct kvc_megakv_store *store;
    struct kvc_megakv_real_node *node;
};

static void describe(struct testbench *testbench, double set_frac, double delete_frac)
{
    memset(testbench, 0, sizeof(*testbench));
    kvc_option_table_set_defaults(&kvc_megakv_option_table, &testbench->system);
    kvc_option_table_set_defaults(&kvc_workload_option_table, &testbench->scenario.workload);
    testbench->system.streams = PIPELINES;
    testbench->system.index_bytes = 1 << 20;
    testbench->system.slab_bytes = 64 << 20;
    testbench->system.cycle_ns = 200e3;
    testbench->scenario.system = &testbench->system;
    testbench->scenario.node.sockets = testbench->scenario.cluster.nodes = 1;
    testbench->scenario.run = (struct kvc_run){.seed = 1, .replicas = 1};
    testbench->scenario.workload.keys = KEYS;
    testbench->scenario.workload.frame_requests = 20;
    testbench->scenario.workload.preload_frac = 1;
    testbench->scenario.workload.get_frac = 1 - set_frac - delete_frac;
    testbench->scenario.workload.set_frac = set_frac;
    testbench->scenario.workload.delete_frac = delete_frac;
}

static void open_testbench(struct testbench *testbench)
{
    struct kvc_diag diag = {0};
    testbench->node = calloc(1, sizeof(*testbench->node));
    cr_assert_not_null(testbench->node);
    cr_assert_eq(kvc_megakv_store_create(&testbench->scenario, NULL, &testbench->store, &diag), KVC_OK, "%s",
                 diag.message);
    cr_assert_eq(kvc_megakv_real_node_open(testbench->node, &testbench->scenario,
                                           &testbench->store->shards[0], false, FEED_BYTES, &diag),
                 KVC_OK, "%s", diag.message);
    cr_assert_eq(testbench->node->count, PIPELINES);
}

static void close_testbench(struct testbench *testbench)
{
    kvc_megakv_real_node_close(testbench->node);
    free(testbench->node);
    kvc_megakv_store_free(testbench->store);
}

/* Everything counts. Returns how long it took. */
static double work(struct testbench *testbench, double seconds)
{
    struct kvc_megakv_real_node *node = testbench->node;
    node->started_s = kvc_clock_wall_s();
    node->until_ns = 1e18;
    for (uint32_t i = 0; i < node->count; i++) {
        node->pipeline[i]->answerer.started_s = node->started_s;
        node->pipeline[i]->answerer.until_ns = 1e18;
    }
    while (kvc_clock_wall_s() < node->started_s + seconds) {
        kvc_megakv_real_scheduler_step(node);
        for (uint32_t i = 0; i < node->count; i++) {
            kvc_megakv_real_receiver_step(node->pipeline[i]);
            kvc_megakv_real_sender_step(node->pipeline[i]);
        }
    }
    return kvc_clock_wall_s() - node->started_s;
}

struct sums {
    uint64_t received, waiting, answered, completed, hits, misses, sets, deletes, wrong, latencies;
};

static struct sums add_up(const struct testbench *testbench)
{
    struct sums sums = {0};
    for (uint32_t i = 0; i < testbench->node->count; i++) {
        const struct kvc_megakv_real_pipeline *pipeline = testbench->node->pipeline[i];
        const struct kvc_megakv_real_answerer *answerer = &pipeline->answerer;
        for (int b = 0; b < KVC_MEGAKV_REAL_BUFFERS_MAX; b++) {
            sums.waiting += pipeline->buffers[b].rows;
        }
        sums.waiting -= pipeline->sending != NULL ? pipeline->sent : 0;
        sums.received += pipeline->received;
        sums.answered += answerer->answered;
        sums.completed += answerer->completed;
        sums.hits += answerer->hits;
        sums.misses += answerer->misses;
        sums.sets += answerer->sets;
        sums.deletes += answerer->deletes;
        sums.wrong += answerer->wrong;
        sums.latencies += answerer->latency->count;
    }
    return sums;
}

Test(pipeline, every_request_is_answered_or_waits)
{
    struct testbench testbench;
    describe(&testbench, 0.1, 0.05);
    open_testbench(&testbench);
    work(&testbench, 0.06);
    struct sums sums = add_up(&testbench);
    const struct kvc_megakv_real_node *node = testbench.node;
    double answered = (double)sums.answered;
    cr_assert_gt(sums.answered, 10000);
    cr_expect_eq(sums.received, sums.answered + sums.waiting);
    cr_expect_eq(sums.completed, sums.answered);
    cr_expect_eq(sums.completed, sums.hits + sums.misses + sums.sets + sums.deletes);
    cr_expect_eq(sums.latencies, sums.hits + sums.misses);
    cr_expect_eq(sums.wrong, 0);
    cr_expect_float_eq((double)sums.sets / answered, 0.1, 0.01);
    cr_expect_float_eq((double)sums.deletes / answered, 0.05, 0.01);
    cr_expect_gt(sums.misses, 0, "what was deleted");
    cr_expect_gt(sums.hits, sums.misses, "two SETs to a DELETE");
    cr_expect_gt(node->insert_launches, 0);
    cr_expect_leq(node->insert_launches, node->search_launches / node->delay + 1);
    cr_expect(node->search.busy_ns > 0 && node->insert.busy_ns > 0);
    for (uint32_t i = 0; i < node->count; i++) {
        cr_expect(node->pipeline[i]->receive.busy_ns > 0 && node->pipeline[i]->send.busy_ns > 0);
        cr_expect_eq(node->pipeline[i]->receive.served, node->pipeline[i]->received);
        cr_expect_eq(node->pipeline[i]->rejected, 0);
    }
    close_testbench(&testbench);
}

Test(pipeline, what_is_stored_is_found)
{
    struct testbench testbench;
    describe(&testbench, 0.1, 0);
    open_testbench(&testbench);
    work(&testbench, 0.04);
    struct sums sums = add_up(&testbench);
    cr_assert_gt(sums.hits, 10000);
    cr_expect_eq(sums.misses, 0);
    cr_expect_eq(sums.wrong, 0);
    close_testbench(&testbench);
    describe(&testbench, 0, 0);
    testbench.scenario.workload.preload_frac = 0.5; /* the less popular half is not there */
    open_testbench(&testbench);
    work(&testbench, 0.04);
    sums = add_up(&testbench);
    cr_expect_float_eq((double)sums.hits / (double)(sums.hits + sums.misses), 0.5, 0.02);
    cr_expect_eq(testbench.node->insert_launches, 0);
    close_testbench(&testbench);
}

/* A feed goes round and round in its own time. */
Test(pipeline, open_loads_keep_their_rate)
{
    struct testbench testbench;
    describe(&testbench, 0, 0);
    testbench.scenario.workload.arrival = KVC_ARRIVAL_FIXED;
    testbench.scenario.workload.rate_mops = 4;
    open_testbench(&testbench);
    double seconds = work(&testbench, 0.1), laps_ns = 0;
    struct sums sums = add_up(&testbench);
    for (uint32_t i = 0; i < PIPELINES; i++) {
        laps_ns += testbench.node->pipeline[i]->lap_ns;
    }
    cr_expect_gt(laps_ns, 4e6, "it was short");
    cr_expect_leq((double)sums.received, 4.08e6 * seconds + 2 * PIPELINES * 20);
    cr_expect_geq((double)sums.received, 3.5e6 * 0.1, "%llu in %g s", (unsigned long long)sums.received,
                  seconds);
    cr_expect_eq(sums.received, sums.answered + sums.waiting);
    cr_expect_eq(sums.misses, 0);
    close_testbench(&testbench);
}
