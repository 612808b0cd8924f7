#include "models/megakv/real/testbench.h"

#include <criterion/criterion.h>

#include "validate/probes/pin.h"

enum { PIPELINES = 2, VALUE_BYTES = 8, ROWS = 500, SETS = 300, REPETITIONS_TO_FILL = 20 };

static struct kvc_megakv_testbench testbench;

static struct kvc_thread_pool *open_testbench(void)
{
    struct kvc_diag diag = {0};
    struct kvc_megakv_testbench_options params = {.value_bytes = VALUE_BYTES,
                                                  .slab_bytes = 4 << 20,
                                                  .pipelines = PIPELINES,
                                                  .shared_cores = true,
                                                  .cores = kvc_pin_cores() > 1 ? 2 : 1};
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

static struct kvc_megakv_testbench_round turn_of(const struct kvc_megakv_testbench_work *work)
{
    struct kvc_megakv_testbench_round repetition;
    kvc_megakv_testbench_round(&testbench, work, &repetition);
    return repetition;
}

static void expect_received(const struct kvc_megakv_testbench_round *repetition)
{
    cr_expect(repetition->gets_rows >= ROWS && repetition->gets_rows < ROWS + 92, "whole frames: %u",
              repetition->gets_rows);
    cr_expect_gt(repetition->receive_gets_s, 0);
}

/* The third turn of the same work, in which each pipeline answers all its rows and finds from `low` to `high`
 * of them. */
static void expect_gets(enum kvc_megakv_testbench_search search, uint32_t low, uint32_t high)
{
    const struct kvc_megakv_testbench_work work = {.gets = ROWS, .search = search};
    uint64_t answered_before[PIPELINES], hits_before[PIPELINES];
    turn_of(&work);
    turn_of(&work);
    for (uint32_t i = 0; i < PIPELINES; i++) {
        answered_before[i] = answerer(i)->answered;
        hits_before[i] = answerer(i)->hits;
    }
    struct kvc_megakv_testbench_round repetition = turn_of(&work);
    expect_received(&repetition);
    cr_expect_eq(repetition.search_jobs, search == KVC_MEGAKV_TESTBENCH_NO_SEARCH ? 0 : PIPELINES * ROWS);
    cr_expect((repetition.search_s > 0) == (search != KVC_MEGAKV_TESTBENCH_NO_SEARCH));
    cr_expect_eq(repetition.send_rows, ROWS);
    uint64_t missed = 0;
    cr_expect(repetition.send_s > 0 && repetition.receive_mix_s == 0 && repetition.drain_s == 0 &&
              repetition.insert_s == 0);
    cr_expect_eq(repetition.mix_rows + repetition.mix_sets + repetition.insert_jobs, 0);
    double sum_s = 0;
    for (uint32_t i = 0; i < PIPELINES; i++) {
        uint64_t hits = answerer(i)->hits - hits_before[i];
        cr_expect_eq(answerer(i)->answered - answered_before[i], ROWS);
        cr_expect(hits >= low && hits <= high, "%llu", (unsigned long long)hits);
        cr_expect_eq(testbench.node[KVC_MEGAKV_TESTBENCH_GETS].pipeline[i]->filling->rows, 0);
        cr_expect_gt(repetition.each_send_s[i], 0);
        sum_s += repetition.each_send_s[i];
        missed += ROWS - hits;
    }
    cr_expect_eq(repetition.misses, missed);
    cr_expect_float_eq(repetition.send_s, sum_s / PIPELINES, 1e-9);
}

/* Returns how many SETs made room for themselves. */
static uint32_t expect_mix(void)
{
    const struct kvc_index_stats *stats = &testbench.store->shards[0].index_stats;
    const struct kvc_megakv_testbench_work work = {.sets = SETS};
    turn_of(&work);
    turn_of(&work);
    uint64_t inserts = stats->inserts, erases = stats->erases;
    struct kvc_megakv_testbench_round repetition = turn_of(&work);
    cr_expect(repetition.mix_sets >= SETS && repetition.mix_sets < SETS + 73, "%u", repetition.mix_sets);
    cr_expect(repetition.mix_rows > 1.5 * SETS && repetition.mix_rows < 2.5 * SETS,
              "half of it are SETs: %u of %u", repetition.mix_sets, repetition.mix_rows);
    cr_expect(repetition.receive_mix_s > 0 && repetition.drain_s > 0 && repetition.insert_s > 0);
    cr_expect(repetition.receive_gets_s == 0 && repetition.search_s == 0 && repetition.send_s == 0);
    cr_expect_eq(repetition.gets_rows + repetition.search_jobs + repetition.send_rows, 0);
    cr_expect_eq(stats->inserts - inserts, PIPELINES * SETS);
    cr_expect_eq(stats->erases - erases, repetition.insert_jobs - PIPELINES * SETS);
    cr_expect_leq(repetition.insert_jobs, 2 * PIPELINES * SETS);
    return repetition.insert_jobs - PIPELINES * SETS;
}

Test(testbench, turns_do_what_they_say)
{
    struct kvc_thread_pool *pool = open_testbench();
    cr_expect_eq(testbench.keys, (uint64_t)(0.985 * ((4 << 20) / 32)), "almost full: %llu",
                 (unsigned long long)testbench.keys);
    expect_gets(KVC_MEGAKV_TESTBENCH_KEYS, ROWS, ROWS);
    expect_gets(KVC_MEGAKV_TESTBENCH_ABSENT_KEYS, 0, 0);
    expect_gets(KVC_MEGAKV_TESTBENCH_HALF_ABSENT, 2 * ROWS / 5, 3 * ROWS / 5);
    expect_gets(KVC_MEGAKV_TESTBENCH_NO_SEARCH, 0, 0);
    expect_gets(KVC_MEGAKV_TESTBENCH_KEYS, ROWS, ROWS);
    /* launches wait for their cycle */
    double before_s = testbench.launched_s;
    testbench.period_s = 3e-3;
    expect_gets(KVC_MEGAKV_TESTBENCH_KEYS, ROWS, ROWS);
    cr_expect_geq(testbench.launched_s - before_s, 3 * testbench.period_s);
    testbench.period_s = 0;
    for (int i = 0; i < REPETITIONS_TO_FILL; i++) {
        expect_mix();
    }
    cr_expect_geq(expect_mix(), PIPELINES * SETS / 2, "the store is full: SETs evict");
    close_testbench(pool);
}

/* What is received in one turn is launched in the next and answered in the one after. */
Test(testbench, turns_overlap)
{
    const struct kvc_megakv_testbench_work work = {
        .gets = ROWS, .search = KVC_MEGAKV_TESTBENCH_KEYS, .sets = SETS};
    const struct kvc_megakv_testbench_work none = {0};
    struct kvc_thread_pool *pool = open_testbench();
    struct kvc_megakv_testbench_round repetition = turn_of(&work);
    expect_received(&repetition);
    cr_expect_geq(repetition.mix_sets, SETS);
    cr_expect_eq(repetition.search_jobs + repetition.insert_jobs + repetition.send_rows, 0);
    repetition = turn_of(&none);
    cr_expect_eq(repetition.gets_rows + repetition.mix_rows + repetition.send_rows, 0);
    cr_expect_eq(repetition.search_jobs, PIPELINES * ROWS);
    cr_expect_geq(repetition.insert_jobs, PIPELINES * SETS);
    cr_expect(repetition.search_s > 0 && repetition.drain_s > 0 && repetition.insert_s > 0);
    cr_expect_eq(repetition.receive_gets_s + repetition.receive_mix_s, 0);
    repetition = turn_of(&none);
    cr_expect_eq(repetition.gets_rows + repetition.mix_rows + repetition.search_jobs + repetition.insert_jobs,
                 0);
    cr_expect_eq(repetition.send_rows, ROWS);
    cr_expect_gt(repetition.send_s, 0);
    for (uint32_t i = 0; i < PIPELINES; i++) {
        cr_expect_eq(answerer(i)->answered, ROWS);
    }
    repetition = turn_of(&none);
    cr_expect_eq(repetition.gets_rows + repetition.mix_rows + repetition.search_jobs +
                     repetition.insert_jobs + repetition.send_rows,
                 0);
    /* and all of it at the same time, again and again */
    for (uint32_t i = 1; i < REPETITIONS_TO_FILL; i++) {
        repetition = turn_of(&work);
        cr_expect_eq(repetition.search_jobs, i > 1 ? PIPELINES * ROWS : 0);
        cr_expect_eq(repetition.insert_jobs >= PIPELINES * SETS, i > 1);
        cr_expect_eq(repetition.send_rows, i > 2 ? ROWS : 0);
        cr_expect_eq(answerer(0)->answered, i > 2 ? (i - 1) * ROWS : ROWS);
    }
    close_testbench(pool);
}

Test(testbench, sizes)
{
    cr_expect_eq(kvc_megakv_testbench_frame_requests(KVC_MEGAKV_TESTBENCH_GETS, 8), 92);
    cr_expect_eq(kvc_megakv_testbench_frame_requests(KVC_MEGAKV_TESTBENCH_GETS, 1000), 92,
                 "GETs carry no values");
    cr_expect_eq(kvc_megakv_testbench_frame_requests(KVC_MEGAKV_TESTBENCH_MIX, 8), 73);
    cr_expect_eq(kvc_megakv_testbench_frame_requests(KVC_MEGAKV_TESTBENCH_MIX, 100000), 1);
}
