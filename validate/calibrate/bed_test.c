#include "validate/calibrate/bed.h"

#include <criterion/criterion.h>

#include "validate/measure/pin.h"

enum { PIPELINES = 2, VALUE_BYTES = 8, ROWS = 500, SETS = 300 };

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

static uint64_t answered(uint32_t pipeline)
{
    return bed.node[KVC_BED_GETS].pipeline[pipeline]->answerer.answered;
}

/* A turn with the first `pipelines`, each of which answers all its rows and finds `hits` of them. */
static struct kvc_bed_turn expect_gets(uint32_t pipelines, enum kvc_bed_search search, uint32_t hits)
{
    const struct kvc_real_node *node = &bed.node[KVC_BED_GETS];
    uint64_t answered_before[PIPELINES], hits_before[PIPELINES];
    struct kvc_bed_turn turn;
    for (uint32_t i = 0; i < PIPELINES; i++) {
        answered_before[i] = answered(i);
        hits_before[i] = node->pipeline[i]->answerer.hits;
    }
    kvc_bed_gets(&bed, pipelines, ROWS, search, &turn);
    cr_expect(turn.rows >= ROWS && turn.rows < ROWS + 92, "whole frames: %u", turn.rows);
    cr_expect_eq(turn.jobs, pipelines * ROWS);
    cr_expect_eq(turn.misses, (uint64_t)pipelines * (ROWS - hits));
    cr_expect(turn.receive_s > 0 && turn.send_s > 0);
    cr_expect(search == KVC_BED_NO_SEARCH || turn.search_s > 0);
    for (uint32_t i = 0; i < PIPELINES; i++) {
        cr_expect_eq(answered(i) - answered_before[i], i < pipelines ? ROWS : 0);
        cr_expect_eq(node->pipeline[i]->answerer.hits - hits_before[i], i < pipelines ? hits : 0);
        cr_expect_eq(node->pipeline[i]->answerer.wrong, 0);
        cr_expect_eq(node->pipeline[i]->filling->rows, 0);
    }
    return turn;
}

static void expect_mix(uint32_t pipelines)
{
    const struct kvc_index_stats *stats = &bed.store->shards[0].index_stats;
    struct kvc_bed_turn turn;
    uint64_t inserts = stats->inserts, erases = stats->erases;
    kvc_bed_mix(&bed, pipelines, SETS, &turn);
    cr_expect(turn.sets >= SETS && turn.sets < SETS + 73, "%u", turn.sets);
    cr_expect(turn.rows > 1.5 * SETS && turn.rows < 2.5 * SETS, "half of it are SETs: %u of %u", turn.sets,
              turn.rows);
    cr_expect(turn.receive_s > 0 && turn.insert_s > 0);
    cr_expect_eq(stats->inserts - inserts, pipelines * SETS);
    cr_expect_eq(stats->erases - erases, turn.jobs - pipelines * SETS);
    cr_expect_leq(turn.jobs, 2 * pipelines * SETS);
    cr_expect_geq(turn.jobs, 3 * pipelines * SETS / 2, "the store is full: SETs evict");
}

Test(bed, turns_do_what_they_say)
{
    struct kvc_team *team = open_bed();
    cr_expect_eq(bed.keys, (4 << 20) / 32);
    for (uint32_t pipelines = 1; pipelines <= PIPELINES; pipelines++) {
        expect_gets(pipelines, KVC_BED_KEYS, ROWS);
        expect_gets(pipelines, KVC_BED_ABSENT_KEYS, 0);
        expect_gets(pipelines, KVC_BED_NO_SEARCH, 0);
        expect_gets(pipelines, KVC_BED_KEYS, ROWS);
    }
    /* launches wait for their cycle */
    double before_s = bed.launched_s;
    bed.period_s = 3e-3;
    expect_gets(PIPELINES, KVC_BED_KEYS, ROWS);
    expect_gets(PIPELINES, KVC_BED_KEYS, ROWS);
    cr_expect_geq(bed.launched_s - before_s, 2 * bed.period_s);
    bed.period_s = 0;
    for (uint32_t pipelines = 1; pipelines <= PIPELINES; pipelines++)
        for (int turn = 0; turn < 3; turn++)
            expect_mix(pipelines);
    kvc_bed_close(&bed);
    kvc_team_free(team);
}

Test(bed, sizes)
{
    cr_expect_eq(kvc_bed_item_bytes(8), 24);
    cr_expect_eq(kvc_bed_item_bytes(1000), 1016);
    cr_expect_eq(kvc_bed_frame_requests(KVC_BED_GETS, 8), 92);
    cr_expect_eq(kvc_bed_frame_requests(KVC_BED_GETS, 1000), 92, "GETs carry no values");
    cr_expect_eq(kvc_bed_frame_requests(KVC_BED_MIX, 8), 73);
    cr_expect_eq(kvc_bed_frame_requests(KVC_BED_MIX, 100000), 1);
}
