/* Runs the tasks of a real node in turn on one thread and checks that every received request is answered. */
#include "models/megakv/real/pipeline.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/megakv/config.h"
#include "sim/base/clock.h"
#include "sim/base/seeds.h"

enum { KEYS = 10000, PIPELINES = 2, FEED_BYTES = 1 << 19 };

struct fixture {
    struct kvc_scenario scenario;
    struct kvc_megakv_options options;
    struct kvc_megakv_config config;
    struct kvc_shards *store;
    struct kvc_megakv_real_node *node;
};

static void describe(struct fixture *fixture, double set_frac, double delete_frac)
{
    memset(fixture, 0, sizeof(*fixture));
    kvc_option_table_set_defaults(&kvc_megakv_option_table, &fixture->options);
    kvc_option_table_set_defaults(&kvc_workload_option_table, &fixture->scenario.workload);
    fixture->options.streams = PIPELINES;
    fixture->options.index_bytes = 1 << 20;
    fixture->options.slab_bytes = 64 << 20;
    fixture->options.cycle_ns = 200e3;
    fixture->scenario.options = &fixture->options;
    fixture->scenario.node.sockets = fixture->scenario.cluster.nodes = 1;
    fixture->scenario.run = (struct kvc_run){.functional = KVC_FUNCTIONAL_FULL, .seed = 1, .replicas = 1};
    fixture->scenario.workload.keys = KEYS;
    fixture->scenario.workload.frame_requests = 20;
    fixture->scenario.workload.preload_frac = 1;
    fixture->scenario.workload.get_frac = 1 - set_frac - delete_frac;
    fixture->scenario.workload.set_frac = set_frac;
    fixture->scenario.workload.delete_frac = delete_frac;
}

static void open_fixture(struct fixture *fixture)
{
    struct kvc_diag diag = {0};
    fixture->node = calloc(1, sizeof(*fixture->node));
    cr_assert_not_null(fixture->node);
    cr_assert_eq(kvc_megakv_resolve(&fixture->scenario, &fixture->config, &diag), KVC_OK, "%s", diag.message);
    fixture->scenario.config = &fixture->config;
    cr_assert_eq(kvc_megakv_store_create(&fixture->scenario,
                                         kvc_seed_of_replica(fixture->scenario.run.seed, 0), NULL,
                                         &fixture->store, &diag),
                 KVC_OK, "%s", diag.message);
    cr_assert_eq(kvc_megakv_real_node_open(fixture->node, &fixture->scenario, &fixture->store->shards[0],
                                           false, FEED_BYTES, &diag),
                 KVC_OK, "%s", diag.message);
    cr_assert_eq(fixture->node->count, PIPELINES);
}

static void close_fixture(struct fixture *fixture)
{
    kvc_megakv_real_node_close(fixture->node);
    free(fixture->node);
    kvc_shards_free(fixture->store);
}

/* Works for `seconds`, all of which is measured time. Returns the time that it took. */
static double work(struct fixture *fixture, double seconds)
{
    struct kvc_megakv_real_node *node = fixture->node;
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

static struct sums add_up(const struct fixture *fixture)
{
    struct sums sums = {0};
    for (uint32_t i = 0; i < fixture->node->count; i++) {
        const struct kvc_megakv_real_pipeline *pipeline = fixture->node->pipeline[i];
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
    struct fixture fixture;
    describe(&fixture, 0.1, 0.05);
    open_fixture(&fixture);
    work(&fixture, 0.06);
    struct sums sums = add_up(&fixture);
    const struct kvc_megakv_real_node *node = fixture.node;
    double answered = (double)sums.answered;
    cr_assert_gt(sums.answered, 10000);
    cr_expect_eq(sums.received, sums.answered + sums.waiting);
    cr_expect_eq(sums.completed, sums.answered);
    cr_expect_eq(sums.completed, sums.hits + sums.misses + sums.sets + sums.deletes);
    cr_expect_eq(sums.latencies, sums.hits + sums.misses);
    cr_expect_eq(sums.wrong, 0);
    cr_expect_float_eq((double)sums.sets / answered, 0.1, 0.01);
    cr_expect_float_eq((double)sums.deletes / answered, 0.05, 0.01);
    cr_expect_gt(sums.misses, 0, "deleted keys are misses");
    cr_expect_gt(sums.hits, sums.misses, "two SETs to a DELETE");
    cr_expect_gt(node->insert_launches, 0);
    cr_expect_leq(node->insert_launches, node->search_launches / node->delay + 1);
    cr_expect(node->search.busy_ns > 0 && node->insert.busy_ns > 0);
    for (uint32_t i = 0; i < node->count; i++) {
        cr_expect(node->pipeline[i]->receive.busy_ns > 0 && node->pipeline[i]->send.busy_ns > 0);
        cr_expect_eq(node->pipeline[i]->receive.served, node->pipeline[i]->received);
        cr_expect_eq(node->pipeline[i]->rejected, 0);
    }
    close_fixture(&fixture);
}

Test(pipeline, what_is_stored_is_found)
{
    struct fixture fixture;
    describe(&fixture, 0.1, 0);
    open_fixture(&fixture);
    work(&fixture, 0.04);
    struct sums sums = add_up(&fixture);
    cr_assert_gt(sums.hits, 10000);
    cr_expect_eq(sums.misses, 0);
    cr_expect_eq(sums.wrong, 0);
    close_fixture(&fixture);
    describe(&fixture, 0, 0);
    fixture.scenario.workload.preload_frac = 0.5; /* The less popular half is missing. */
    open_fixture(&fixture);
    work(&fixture, 0.04);
    sums = add_up(&fixture);
    cr_expect_float_eq((double)sums.hits / (double)(sums.hits + sums.misses), 0.5, 0.02);
    cr_expect_eq(fixture.node->insert_launches, 0);
    close_fixture(&fixture);
}

Test(pipeline, senders_compare_keys_for_get_only)
{
    static const enum kvc_megakv_api apis[] = {KVC_MEGAKV_GET, KVC_MEGAKV_GETK};
    for (int a = 0; a < 2; a++) {
        struct fixture fixture;
        describe(&fixture, 0.1, 0.05);
        fixture.options.api = (int)apis[a];
        open_fixture(&fixture);
        work(&fixture, 0.03);
        struct sums sums = add_up(&fixture);
        cr_expect_gt(sums.misses, 0, "deleted keys are misses");
        cr_expect_gt(sums.hits, sums.misses);
        cr_expect_eq(sums.wrong, 0);
        for (uint32_t i = 0; i < PIPELINES; i++) {
            cr_expect_eq(fixture.node->pipeline[i]->answerer.compare, apis[a] == KVC_MEGAKV_GET);
        }
        close_fixture(&fixture);
    }
}

/* A feed repeats itself at the rate of the load. */
Test(pipeline, open_loads_keep_their_rate)
{
    struct fixture fixture;
    describe(&fixture, 0, 0);
    fixture.scenario.workload.arrival = KVC_ARRIVAL_FIXED;
    fixture.scenario.workload.rate_mops = 4;
    open_fixture(&fixture);
    double seconds = work(&fixture, 0.1), laps_ns = 0;
    struct sums sums = add_up(&fixture);
    for (uint32_t i = 0; i < PIPELINES; i++) {
        laps_ns += fixture.node->pipeline[i]->lap_ns;
    }
    cr_expect_gt(laps_ns, 4e6, "the feed was repeated");
    cr_expect_leq((double)sums.received, 4.08e6 * seconds + 2 * PIPELINES * 20);
    cr_expect_geq((double)sums.received, 3.5e6 * 0.1, "%llu in %g s", (unsigned long long)sums.received,
                  seconds);
    cr_expect_eq(sums.received, sums.answered + sums.waiting);
    cr_expect_eq(sums.misses, 0);
    close_fixture(&fixture);
}
