/* Runs the threads of a real pipeline in turn, and at the same time, and checks that every received query is
 * answered correctly for any placement of the tasks. */
#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "models/dido/real/node_fixture.h"

enum { QUERIES = 200000 };

static const char *const pipelines[] = {
    "cpu:1 RV PP MM search insert delete KC RD WR SD",
    "cpu:3 RV PP MM search insert delete KC RD WR SD",
    "cpu:1 RV PP MM > cpu:2 search insert delete KC RD > cpu:1 WR SD",
    "cpu:1 RV > cpu:1 PP > cpu:1 MM search > cpu:1 KC > cpu:1 RD > cpu:1 WR > cpu:1 SD > cpu:1 insert delete",
    "cpu:2 RV PP search KC RD > cpu:2 MM insert delete WR SD",
};
enum { PIPELINES = sizeof(pipelines) / sizeof(*pipelines) };

/* Lets the threads take turns until RV has received enough. */
static void take_turns(struct kvc_test_node *test)
{
    while (test->node->received < QUERIES) {
        for (uint32_t i = 0; i < test->node->workers; i++) {
            kvc_dido_real_step(&test->node->worker[i]);
        }
    }
    kvc_test_node_drain(test);
}

static atomic_bool stop;

/* The first thread that has done enough sets ends the work of all. */
static void *work(void *data)
{
    const struct kvc_dido_real_worker *worker = data;
    while (!atomic_load(&stop)) {
        kvc_dido_real_step(data);
        if (worker->sets == QUERIES / 64) {
            atomic_store(&stop, true);
        }
    }
    return NULL;
}

/* Lets the threads work at the same time until one has done enough. */
static void work_together(struct kvc_test_node *test)
{
    pthread_t thread[KVC_DIDO_REAL_WORKERS_MAX];
    struct kvc_dido_real_node *node = test->node;
    atomic_store(&stop, false);
    for (uint32_t i = 0; i < node->workers; i++) {
        cr_assert_eq(pthread_create(&thread[i], NULL, work, &node->worker[i]), 0);
    }
    for (uint32_t i = 0; i < node->workers; i++) {
        pthread_join(thread[i], NULL);
    }
    kvc_test_node_drain(test);
}

static void expect_all_answered(const struct kvc_test_node *test, const struct kvc_test_answers *answers)
{
    const char *pipeline = test->options.pipeline;
    cr_expect_eq(answers->all, test->node->received, "%s: %llu of %llu", pipeline,
                 (unsigned long long)answers->all, (unsigned long long)test->node->received);
    cr_expect_eq(answers->latencies, answers->all, "%s", pipeline);
    cr_expect_eq(answers->in_batches, test->node->received, "%s", pipeline);
    bool apart = kvc_dido_stage_of(&test->config.pipeline, KVC_DIDO_KC) !=
                 kvc_dido_stage_of(&test->config.pipeline, KVC_DIDO_RD);
    cr_expect(apart || answers->foreign == 0, "%s: %llu wrong values", pipeline,
              (unsigned long long)answers->foreign);
}

Test(node, every_query_is_answered_wherever_the_tasks_are)
{
    for (int i = 0; i < PIPELINES; i++) {
        struct kvc_test_node test;
        kvc_test_node_describe(&test, pipelines[i], 0.1, 0.05);
        kvc_test_node_open(&test);
        take_turns(&test);
        struct kvc_test_answers answers = kvc_test_node_answers(&test);
        expect_all_answered(&test, &answers);
        cr_expect_float_eq((double)answers.sets / (double)answers.all, 0.1, 0.01);
        cr_expect_float_eq((double)answers.deletes / (double)answers.all, 0.05, 0.01);
        cr_expect_gt(answers.misses, 0, "deleted keys are misses");
        cr_expect_gt(answers.hits, answers.misses, "two SETs to a DELETE");
        kvc_test_node_close(&test);
    }
}

Test(node, what_is_stored_is_found)
{
    for (int i = 0; i < PIPELINES; i++) {
        struct kvc_test_node test;
        kvc_test_node_describe(&test, pipelines[i], 0.1, 0);
        kvc_test_node_open(&test);
        take_turns(&test);
        struct kvc_test_answers answers = kvc_test_node_answers(&test);
        expect_all_answered(&test, &answers);
        cr_expect_gt(answers.hits, QUERIES / 2);
        cr_expect_eq(answers.misses, 0, "%s: %llu", pipelines[i], (unsigned long long)answers.misses);
        kvc_test_node_close(&test);
    }
}

Test(node, what_is_missing_is_not_found)
{
    for (int i = 0; i < PIPELINES; i++) {
        struct kvc_test_node test;
        kvc_test_node_describe(&test, pipelines[i], 0, 0);
        test.scenario.workload.preload_frac = 0.5; /* The less popular half is missing. */
        kvc_test_node_open(&test);
        take_turns(&test);
        struct kvc_test_answers answers = kvc_test_node_answers(&test);
        expect_all_answered(&test, &answers);
        cr_expect_float_eq((double)answers.hits / (double)answers.all, 0.5, 0.02);
        kvc_test_node_close(&test);
    }
}

/* A full store evicts an item for each SET, whose element of the index must go, or the index would fill up.
 */
Test(node, the_index_loses_what_the_slabs_evict)
{
    struct kvc_test_node test;
    kvc_test_node_describe(&test, pipelines[2], 0.5, 0);
    test.scenario.workload.keys = 1000000;
    test.scenario.workload.preload_frac = 0;
    test.scenario.workload.value_bytes = 256;
    test.options.slab_bytes = 4 << 20;
    test.feed_bytes = 32 << 20;
    kvc_test_node_open(&test);
    take_turns(&test);
    struct kvc_test_answers answers = kvc_test_node_answers(&test);
    const struct kvc_shard *shard = &test.store->shards[0];
    uint64_t items = kvc_megakv_slab_used_items(shard->slab), elements = kvc_index_used(shard->index);
    expect_all_answered(&test, &answers);
    cr_expect_gt(answers.sets, 4 * items, "%llu SETs filled the store", (unsigned long long)answers.sets);
    cr_expect_leq(elements, items, "%llu elements for %llu items", (unsigned long long)elements,
                  (unsigned long long)items);
    cr_expect_gt(elements, items / 2, "%llu elements for %llu items", (unsigned long long)elements,
                 (unsigned long long)items);
    kvc_test_node_close(&test);
}

Test(node, threads_of_all_stages_work_at_the_same_time)
{
    for (int i = 0; i < PIPELINES; i++) {
        struct kvc_test_node test;
        kvc_test_node_describe(&test, pipelines[i], 0.1, 0);
        test.options.interval_ns = 100e3;
        kvc_test_node_open(&test);
        work_together(&test);
        struct kvc_test_answers answers = kvc_test_node_answers(&test);
        expect_all_answered(&test, &answers);
        cr_expect_gt(answers.hits, 0);
        cr_expect_eq(answers.misses, 0, "%s: %llu", pipelines[i], (unsigned long long)answers.misses);
        kvc_test_node_close(&test);
    }
}

/* A feed repeats itself at the rate of the load, and RV takes no frame before it is due. */
Test(node, open_loads_are_received_when_they_are_due)
{
    struct kvc_test_node test;
    kvc_test_node_describe(&test, pipelines[2], 0.1, 0);
    test.scenario.workload.arrival = KVC_ARRIVAL_FIXED;
    test.scenario.workload.rate_mops = 1;
    kvc_test_node_open(&test);
    double last_ns = 0;
    while (test.node->received < QUERIES) {
        for (uint32_t i = 0; i < test.node->workers; i++) {
            last_ns = fmax(kvc_dido_real_step(&test.node->worker[i]), last_ns);
        }
    }
    cr_expect_geq(last_ns, QUERIES * 1e3 * 0.99, "%d queries in %.0f us", QUERIES, last_ns * 1e-3);
    cr_expect_gt(test.node->lap_ns, 0, "the feed was repeated");
    kvc_test_node_drain(&test);
    struct kvc_test_answers answers = kvc_test_node_answers(&test);
    expect_all_answered(&test, &answers);
    kvc_test_node_close(&test);
}
