#include "models/megakv/real/testbench.h"

#include <criterion/criterion.h>

#include "sim/probes/pin.h"

enum { PIPELINES = 2, KEY_BYTES = 8, VALUE_BYTES = 8, ROWS = 500, SETS = 300, ROUNDS_TO_FILL = 20 };

static struct kvc_megakv_testbench testbench;

static struct kvc_thread_pool *open_testbench(void)
{
    struct kvc_diag diag = {0};
    struct kvc_megakv_testbench_options params = {.key_bytes = KEY_BYTES,
                                                  .value_bytes = VALUE_BYTES,
                                                  .items_bytes = 4 << 20,
                                                  .pipelines = PIPELINES,
                                                  .shared_cores = true,
                                                  .cores = kvc_pin_cores() > 1 ? 2 : 1,
                                                  .last_load = KVC_MEGAKV_TESTBENCH_MIX};
    struct kvc_thread_pool *pool = kvc_thread_pool_create(params.cores);
    cr_assert_not_null(pool);
    cr_assert_eq(kvc_megakv_testbench_open(&testbench, &params, 0, pool, &diag), KVC_OK, "%s", diag.message);
    return pool;
}

static void close_testbench(struct kvc_thread_pool *pool)
{
    for (uint32_t i = 0; i < PIPELINES; i++) {
        cr_expect_eq(testbench.node[KVC_MEGAKV_TESTBENCH_GETS].pipeline[i]->answerer.wrong, 0);
    }
    kvc_megakv_testbench_close(&testbench);
    kvc_thread_pool_free(pool);
}

static const struct kvc_megakv_real_answerer *answerer(uint32_t pipeline)
{
    return &testbench.node[KVC_MEGAKV_TESTBENCH_GETS].pipeline[pipeline]->answerer;
}

static struct kvc_megakv_testbench_round run_round(const struct kvc_megakv_testbench_work *work)
{
    struct kvc_megakv_testbench_round round;
    kvc_megakv_testbench_run(&testbench, work, &round);
    return round;
}

static void expect_received(const struct kvc_megakv_testbench_round *round)
{
    cr_expect(round->gets_rows >= ROWS && round->gets_rows < ROWS + 92, "whole frames: %u", round->gets_rows);
    cr_expect_gt(round->receive_gets_s, 0);
}

/* In the third round of the same work each pipeline answers all its rows and finds from `low` to `high` of
 * them. */
static void expect_gets(enum kvc_megakv_testbench_search search, uint32_t low, uint32_t high)
{
    const struct kvc_megakv_testbench_work work = {.gets = ROWS, .search = search};
    uint64_t answered_before[PIPELINES], hits_before[PIPELINES];
    run_round(&work);
    run_round(&work);
    for (uint32_t i = 0; i < PIPELINES; i++) {
        answered_before[i] = answerer(i)->answered;
        hits_before[i] = answerer(i)->hits;
    }
    struct kvc_megakv_testbench_round round = run_round(&work);
    expect_received(&round);
    cr_expect_eq(round.search_jobs, search == KVC_MEGAKV_TESTBENCH_NO_SEARCH ? 0 : PIPELINES * ROWS);
    cr_expect_eq(round.send_rows, ROWS);
    uint64_t missed = 0;
    cr_expect(round.send_s > 0 && round.receive_sets_s == 0 && round.collect_s == 0);
    cr_expect_eq(round.sets_rows + round.sets + round.insert_jobs, 0);
    double sum_s = 0;
    for (uint32_t i = 0; i < PIPELINES; i++) {
        uint64_t hits = answerer(i)->hits - hits_before[i];
        cr_expect_eq(answerer(i)->answered - answered_before[i], ROWS);
        cr_expect(hits >= low && hits <= high, "%llu", (unsigned long long)hits);
        cr_expect_eq(testbench.node[KVC_MEGAKV_TESTBENCH_GETS].pipeline[i]->filling->rows, 0);
        cr_expect_gt(round.each_send_s[i], 0);
        sum_s += round.each_send_s[i];
        missed += ROWS - hits;
    }
    cr_expect_eq(round.misses, missed);
    cr_expect_float_eq(round.send_s, sum_s / PIPELINES, 1e-9);
}

/* Runs three rounds of SETs, alone or in a mix, and returns how many SETs of the last one evicted an item. */
static uint32_t expect_sets(bool mixed)
{
    const struct kvc_index_stats *stats = &testbench.store->shards[0].index_stats;
    const struct kvc_megakv_testbench_work work = {.sets = SETS, .mixed = mixed};
    run_round(&work);
    run_round(&work);
    uint64_t inserts = stats->inserts, erases = stats->erases;
    struct kvc_megakv_testbench_round round = run_round(&work);
    cr_expect(round.sets >= SETS && round.sets < SETS + 73, "%u", round.sets);
    if (mixed) {
        cr_expect(round.sets_rows > 1.5 * SETS && round.sets_rows < 2.5 * SETS,
                  "half of it are SETs: %u of %u", round.sets, round.sets_rows);
    } else {
        cr_expect_eq(round.sets_rows, round.sets);
    }
    cr_expect(round.receive_sets_s > 0 && round.collect_s > 0);
    cr_expect(round.receive_gets_s == 0 && round.send_s == 0);
    cr_expect_eq(round.gets_rows + round.search_jobs + round.send_rows, 0);
    cr_expect_eq(stats->inserts - inserts, PIPELINES * SETS);
    cr_expect_eq(stats->erases - erases, round.insert_jobs - PIPELINES * SETS);
    cr_expect_leq(round.insert_jobs, 2 * PIPELINES * SETS);
    return round.insert_jobs - PIPELINES * SETS;
}

Test(testbench, rounds_do_the_given_work)
{
    struct kvc_thread_pool *pool = open_testbench();
    cr_expect_eq(testbench.keys, (uint64_t)(0.985 * ((4 << 20) / 32)), "almost full: %llu",
                 (unsigned long long)testbench.keys);
    expect_gets(KVC_MEGAKV_TESTBENCH_KEYS, ROWS, ROWS);
    expect_gets(KVC_MEGAKV_TESTBENCH_ABSENT_KEYS, 0, 0);
    expect_gets(KVC_MEGAKV_TESTBENCH_HALF_ABSENT, 2 * ROWS / 5, 3 * ROWS / 5);
    expect_gets(KVC_MEGAKV_TESTBENCH_NO_SEARCH, 0, 0);
    expect_gets(KVC_MEGAKV_TESTBENCH_KEYS, ROWS, ROWS);
    for (int i = 0; i < ROUNDS_TO_FILL; i++) {
        expect_sets(i % 2 == 0);
    }
    cr_expect_geq(expect_sets(false), PIPELINES * SETS / 2, "the store is full: SETs evict");
    cr_expect_geq(expect_sets(true), PIPELINES * SETS / 2, "so do those of a mix");
    close_testbench(pool);
}

/* A round launches the requests that the previous round received, and the next one answers them. */
Test(testbench, rounds_overlap)
{
    const struct kvc_megakv_testbench_work work = {
        .gets = ROWS, .search = KVC_MEGAKV_TESTBENCH_KEYS, .sets = SETS};
    const struct kvc_megakv_testbench_work none = {0};
    struct kvc_thread_pool *pool = open_testbench();
    struct kvc_megakv_testbench_round round = run_round(&work);
    expect_received(&round);
    cr_expect_geq(round.sets, SETS);
    cr_expect_eq(round.search_jobs + round.insert_jobs + round.send_rows, 0);
    round = run_round(&none);
    cr_expect_eq(round.gets_rows + round.sets_rows + round.send_rows, 0);
    cr_expect_eq(round.search_jobs, PIPELINES * ROWS);
    cr_expect_geq(round.insert_jobs, PIPELINES * SETS);
    cr_expect_gt(round.collect_s, 0);
    cr_expect_eq(round.receive_gets_s + round.receive_sets_s, 0);
    round = run_round(&none);
    cr_expect_eq(round.gets_rows + round.sets_rows + round.search_jobs + round.insert_jobs, 0);
    cr_expect_eq(round.send_rows, ROWS);
    cr_expect_gt(round.send_s, 0);
    for (uint32_t i = 0; i < PIPELINES; i++) {
        cr_expect_eq(answerer(i)->answered, ROWS);
    }
    round = run_round(&none);
    cr_expect_eq(round.gets_rows + round.sets_rows + round.search_jobs + round.insert_jobs + round.send_rows,
                 0);
    /* All of this happens concurrently in every round. */
    for (uint32_t i = 1; i < ROUNDS_TO_FILL; i++) {
        round = run_round(&work);
        cr_expect_eq(round.search_jobs, i > 1 ? PIPELINES * ROWS : 0);
        cr_expect_eq(round.insert_jobs >= PIPELINES * SETS, i > 1);
        cr_expect_eq(round.send_rows, i > 2 ? ROWS : 0);
        cr_expect_eq(answerer(0)->answered, i > 2 ? (i - 1) * ROWS : ROWS);
    }
    close_testbench(pool);
}

/* The setting of who compares the keys stays with a batch from the round that receives it to the round that
 * answers it. */
Test(testbench, batches_with_and_without_comparison_take_turns)
{
    struct kvc_thread_pool *pool = open_testbench();
    for (int i = 0; i < ROUNDS_TO_FILL; i++) {
        const struct kvc_megakv_testbench_work work = {
            .gets = ROWS, .search = KVC_MEGAKV_TESTBENCH_KEYS, .client_compares = i % 3 == 0};
        struct kvc_megakv_testbench_round round = run_round(&work);
        cr_expect_eq(round.send_rows, i > 1 ? ROWS : 0);
        cr_expect_eq(round.client_compared, i > 1 && (i - 2) % 3 == 0);
        cr_expect_eq(answerer(0)->compare, !round.client_compared);
        cr_expect_eq(round.misses, 0);
    }
    close_testbench(pool);
}

Test(testbench, sizes)
{
    cr_expect_eq(kvc_megakv_testbench_frame_requests(KVC_MEGAKV_TESTBENCH_GETS, 8, 8), 92);
    cr_expect_eq(kvc_megakv_testbench_frame_requests(KVC_MEGAKV_TESTBENCH_GETS, 8, 1000), 92,
                 "GETs carry no values");
    cr_expect_eq(kvc_megakv_testbench_frame_requests(KVC_MEGAKV_TESTBENCH_MIX, 8, 8), 73);
    cr_expect_eq(kvc_megakv_testbench_frame_requests(KVC_MEGAKV_TESTBENCH_MIX, 8, 100000), 1);
}
