#include "models/megakv/real/testbench.h"

#include <criterion/criterion.h>

#include "validate/probes/pin.h"

enum { PIPELINES = 2, VALUE_BYTES = 8, ROWS = 500, SETS = 300, TURNS_TO_FILL = 20 };

static struct kvc_bed bed;

static struct kvc_team *open_bed(void)
{
    struct kvc_diag diag = {0};
    struct kvc_bed_params params = {.value_bytes = VALUE_BYTES,
                                    .slab_bytes = 4 << 20,
                                    .pipelines = PIPELINES,
                                    .shared_cores = true,
                                    .cores = kvc_pin_cores() > 1 ? 2 : 1};
    struct kvc_team *team = kvc_team_create(params.cores);
    cr_assert_not_null(team);
    cr_assert_eq(kvc_bed_open(&bed, &params, 0, team, &diag), KVC_OK, "%s", diag.message);
    return team;
}

static void close_bed(struct kvc_team *team)
{
    for (uint32_t i = 0; i < PIPELINES; i++)
        cr_expect_eq(bed.node[KVC_BED_GETS].pipeline[i]->answerer.wrong, 0);
    kvc_bed_close(&bed);
    kvc_team_free(team);
}

static const struct kvc_answerer *answerer(uint32_t pipeline)
{
    return &bed.node[KVC_BED_GETS].pipeline[pipeline]->answerer;
}

static struct kvc_bed_turn turn_of(const struct kvc_bed_work *work)
{
    struct kvc_bed_turn turn;
    kvc_bed_turn(&bed, work, &turn);
    return turn;
}

static void expect_received(const struct kvc_bed_turn *turn)
{
    cr_expect(turn->gets_rows >= ROWS && turn->gets_rows < ROWS + 92, "whole frames: %u", turn->gets_rows);
    cr_expect_gt(turn->receive_gets_s, 0);
}

/* The third turn of the same work, in which each pipeline answers all its rows and finds from `low` to `high`
 * of them. */
static void expect_gets(enum kvc_bed_search search, uint32_t low, uint32_t high)
{
    const struct kvc_bed_work work = {.gets = ROWS, .search = search};
    uint64_t answered_before[PIPELINES], hits_before[PIPELINES];
    turn_of(&work);
    turn_of(&work);
    for (uint32_t i = 0; i < PIPELINES; i++) {
        answered_before[i] = answerer(i)->answered;
        hits_before[i] = answerer(i)->hits;
    }
    struct kvc_bed_turn turn = turn_of(&work);
    expect_received(&turn);
    cr_expect_eq(turn.search_jobs, search == KVC_BED_NO_SEARCH ? 0 : PIPELINES * ROWS);
    cr_expect((turn.search_s > 0) == (search != KVC_BED_NO_SEARCH));
    cr_expect_eq(turn.send_rows, ROWS);
    uint64_t missed = 0;
    cr_expect(turn.send_s > 0 && turn.receive_mix_s == 0 && turn.take_s == 0 && turn.insert_s == 0);
    cr_expect_eq(turn.mix_rows + turn.mix_sets + turn.insert_jobs, 0);
    double sum_s = 0;
    for (uint32_t i = 0; i < PIPELINES; i++) {
        uint64_t hits = answerer(i)->hits - hits_before[i];
        cr_expect_eq(answerer(i)->answered - answered_before[i], ROWS);
        cr_expect(hits >= low && hits <= high, "%llu", (unsigned long long)hits);
        cr_expect_eq(bed.node[KVC_BED_GETS].pipeline[i]->filling->rows, 0);
        cr_expect_gt(turn.each_send_s[i], 0);
        sum_s += turn.each_send_s[i];
        missed += ROWS - hits;
    }
    cr_expect_eq(turn.misses, missed);
    cr_expect_float_eq(turn.send_s, sum_s / PIPELINES, 1e-9);
}

/* Returns how many SETs made room for themselves. */
static uint32_t expect_mix(void)
{
    const struct kvc_index_stats *stats = &bed.store->shards[0].index_stats;
    const struct kvc_bed_work work = {.sets = SETS};
    turn_of(&work);
    turn_of(&work);
    uint64_t inserts = stats->inserts, erases = stats->erases;
    struct kvc_bed_turn turn = turn_of(&work);
    cr_expect(turn.mix_sets >= SETS && turn.mix_sets < SETS + 73, "%u", turn.mix_sets);
    cr_expect(turn.mix_rows > 1.5 * SETS && turn.mix_rows < 2.5 * SETS, "half of it are SETs: %u of %u",
              turn.mix_sets, turn.mix_rows);
    cr_expect(turn.receive_mix_s > 0 && turn.take_s > 0 && turn.insert_s > 0);
    cr_expect(turn.receive_gets_s == 0 && turn.search_s == 0 && turn.send_s == 0);
    cr_expect_eq(turn.gets_rows + turn.search_jobs + turn.send_rows, 0);
    cr_expect_eq(stats->inserts - inserts, PIPELINES * SETS);
    cr_expect_eq(stats->erases - erases, turn.insert_jobs - PIPELINES * SETS);
    cr_expect_leq(turn.insert_jobs, 2 * PIPELINES * SETS);
    return turn.insert_jobs - PIPELINES * SETS;
}

Test(bed, turns_do_what_they_say)
{
    struct kvc_team *team = open_bed();
    cr_expect_eq(bed.keys, (uint64_t)(0.985 * ((4 << 20) / 32)), "almost full: %llu",
                 (unsigned long long)bed.keys);
    expect_gets(KVC_BED_KEYS, ROWS, ROWS);
    expect_gets(KVC_BED_ABSENT_KEYS, 0, 0);
    expect_gets(KVC_BED_HALF_ABSENT, 2 * ROWS / 5, 3 * ROWS / 5);
    expect_gets(KVC_BED_NO_SEARCH, 0, 0);
    expect_gets(KVC_BED_KEYS, ROWS, ROWS);
    /* launches wait for their cycle */
    double before_s = bed.launched_s;
    bed.period_s = 3e-3;
    expect_gets(KVC_BED_KEYS, ROWS, ROWS);
    cr_expect_geq(bed.launched_s - before_s, 3 * bed.period_s);
    bed.period_s = 0;
    for (int i = 0; i < TURNS_TO_FILL; i++)
        expect_mix();
    cr_expect_geq(expect_mix(), PIPELINES * SETS / 2, "the store is full: SETs evict");
    close_bed(team);
}

/* What is received in one turn is launched in the next and answered in the one after. */
Test(bed, turns_overlap)
{
    const struct kvc_bed_work work = {.gets = ROWS, .search = KVC_BED_KEYS, .sets = SETS};
    const struct kvc_bed_work none = {0};
    struct kvc_team *team = open_bed();
    struct kvc_bed_turn turn = turn_of(&work);
    expect_received(&turn);
    cr_expect_geq(turn.mix_sets, SETS);
    cr_expect_eq(turn.search_jobs + turn.insert_jobs + turn.send_rows, 0);
    turn = turn_of(&none);
    cr_expect_eq(turn.gets_rows + turn.mix_rows + turn.send_rows, 0);
    cr_expect_eq(turn.search_jobs, PIPELINES * ROWS);
    cr_expect_geq(turn.insert_jobs, PIPELINES * SETS);
    cr_expect(turn.search_s > 0 && turn.take_s > 0 && turn.insert_s > 0);
    cr_expect_eq(turn.receive_gets_s + turn.receive_mix_s, 0);
    turn = turn_of(&none);
    cr_expect_eq(turn.gets_rows + turn.mix_rows + turn.search_jobs + turn.insert_jobs, 0);
    cr_expect_eq(turn.send_rows, ROWS);
    cr_expect_gt(turn.send_s, 0);
    for (uint32_t i = 0; i < PIPELINES; i++)
        cr_expect_eq(answerer(i)->answered, ROWS);
    turn = turn_of(&none);
    cr_expect_eq(turn.gets_rows + turn.mix_rows + turn.search_jobs + turn.insert_jobs + turn.send_rows, 0);
    /* and all of it at the same time, again and again */
    for (uint32_t i = 1; i < TURNS_TO_FILL; i++) {
        turn = turn_of(&work);
        cr_expect_eq(turn.search_jobs, i > 1 ? PIPELINES * ROWS : 0);
        cr_expect_eq(turn.insert_jobs >= PIPELINES * SETS, i > 1);
        cr_expect_eq(turn.send_rows, i > 2 ? ROWS : 0);
        cr_expect_eq(answerer(0)->answered, i > 2 ? (i - 1) * ROWS : ROWS);
    }
    close_bed(team);
}

Test(bed, sizes)
{
    cr_expect_eq(kvc_bed_frame_requests(KVC_BED_GETS, 8), 92);
    cr_expect_eq(kvc_bed_frame_requests(KVC_BED_GETS, 1000), 92, "GETs carry no values");
    cr_expect_eq(kvc_bed_frame_requests(KVC_BED_MIX, 8), 73);
    cr_expect_eq(kvc_bed_frame_requests(KVC_BED_MIX, 100000), 1);
}
