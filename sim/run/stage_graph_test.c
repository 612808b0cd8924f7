/* Pipelines of two stages, each on a device of its own: their rate, what is stolen, and that nothing is lost.
 */
#include "sim/run/stage_graph.h"

#include <criterion/criterion.h>
#include <math.h>

#include "sim/engine_fixture.h"

enum { UNITS = 64, BATCHES = 3, STAGES = 2 };

struct rig_batch {
    bool under_way;
    uint32_t done[STAGES]; /* Units that are done, in each stage. */
};

/* Stage s takes unit_ns[s] a unit on its own device, and thief_ns on the other one, which leaves rest_ns. */
static struct rig {
    struct kvc_stage_graph graph;
    struct rig_batch batch[BATCHES];
    uint32_t host[STAGES];
    double unit_ns[STAGES], thief_ns, rest_ns, approach_ns;
    bool steals;
    uint32_t finished, stolen, rested;
    double finished_ns; /* When the last batch was done. */
} rig;

static void *next(void *data, double *until_ns)
{
    (void)data;
    *until_ns = INFINITY;
    for (int i = 0; i < BATCHES; i++) {
        if (!rig.batch[i].under_way) {
            rig.batch[i] = (struct rig_batch){.under_way = true};
            return &rig.batch[i];
        }
    }
    return NULL;
}

static uint32_t begin(void *data, void *at, uint32_t stage)
{
    struct rig_batch *batch = at;
    (void)data;
    cr_expect_eq(batch->done[stage], 0);
    cr_expect(stage == 0 || batch->done[0] == UNITS, "the stage before is done");
    return UNITS;
}

static uint32_t stages(const void *at)
{
    (void)at;
    return STAGES;
}

static uint32_t processor(const void *at, uint32_t stage)
{
    (void)at;
    return stage;
}

static bool may_steal(const void *data, const void *at, uint32_t stage, uint32_t by)
{
    (void)data;
    (void)at;
    return rig.steals && stage == 1 && by == 0;
}

static double approach_ns(void *data, const void *at, uint32_t stage, uint32_t by)
{
    (void)data;
    (void)at;
    return stage == by ? 0 : rig.approach_ns;
}

static void take(void *data, const void *at, uint32_t stage, enum kvc_stage_piece piece, uint32_t by,
                 uint32_t units, struct kvc_draw *draw)
{
    (void)data;
    (void)at;
    double unit_ns = piece == KVC_PIECE_WHOLE    ? rig.unit_ns[stage]
                     : piece == KVC_PIECE_STOLEN ? rig.thief_ns
                                                 : rig.rest_ns;
    draw[0] = (struct kvc_draw){rig.host[by], units * unit_ns, units * unit_ns};
}

static void worked(void *data, const void *at, uint32_t stage, enum kvc_stage_piece piece, uint32_t by,
                   uint32_t units, double start_ns)
{
    const struct rig_batch *batch = at;
    (void)data;
    (void)by;
    (void)start_ns;
    struct rig_batch *mine = &rig.batch[batch - rig.batch];
    mine->done[stage] += piece == KVC_PIECE_REST ? 0 : units;
    rig.rested += piece == KVC_PIECE_REST ? units : 0;
    rig.stolen += piece == KVC_PIECE_STOLEN ? units : 0;
}

static void ended(void *data, void *at, uint32_t stage, double start_ns)
{
    struct rig_batch *batch = at;
    (void)data;
    (void)start_ns;
    cr_expect_eq(batch->done[stage], UNITS, "every unit is done once");
}

static void done(void *data, void *at)
{
    struct rig_batch *batch = at;
    (void)data;
    batch->under_way = false;
    rig.finished++;
    rig.finished_ns = kvc_engine_now_ns();
}

static void stop(void *data)
{
    kvc_engine_sleep_until_ns(*(double *)data);
    kvc_engine_stop();
}

/* Runs batches through both stages for a time. */
static void run(double first_ns, double second_ns, double end_ns)
{
    static const struct kvc_stage_graph_ops ops = {next,        begin, stages, processor, may_steal,
                                                   approach_ns, take,  worked, ended,     done};
    struct kvc_platform *platform = kvc_test_platform();
    rig.graph = (struct kvc_stage_graph){.ops = &ops, .workers = STAGES};
    rig.host[0] = kvc_test_add_host(platform, "first", 1);
    rig.host[1] = kvc_test_add_host(platform, "second", 1);
    rig.unit_ns[0] = first_ns;
    rig.unit_ns[1] = second_ns;
    kvc_test_open(platform);
    kvc_stage_graph_open(&rig.graph);
    kvc_engine_spawn("stop", stop, &end_ns);
    kvc_engine_run();
    kvc_stage_graph_close(&rig.graph);
    kvc_platform_free(platform);
}

/* Batches leave as often as the slower stage is done with one: the first after both stages. */
Test(stage_graph, the_slowest_stage_sets_the_pace)
{
    run(10, 30, 640 + 1920 * 10 + 1);
    cr_expect_eq(rig.finished, 10);
    cr_expect_float_eq(rig.finished_ns, 640 + 1920 * 10, 1e-6);
    cr_expect_eq(rig.stolen, 0);
}

/* Both devices end together if stolen units cost as much: (10 + 30) / 2 a unit. They may differ by a piece of
 * one unit at the end. */
Test(stage_graph, an_idle_stage_takes_units_of_the_other)
{
    rig.steals = true;
    rig.thief_ns = 30;
    run(10, 30, 1e6);
    double period_ns = rig.finished_ns / rig.finished;
    cr_expect(period_ns > UNITS * 20.0 && period_ns < UNITS * 20.0 + 60, "%g", period_ns);
    cr_expect_gt(rig.stolen, rig.finished * (UNITS / 6));
}

/* The owner does the work that the thief cannot do, 5 ns of each unit, so that a stolen unit takes 25 ns of
 * the thief. */
Test(stage_graph, the_owner_does_the_rest)
{
    rig.steals = true;
    rig.thief_ns = 25;
    rig.rest_ns = 5;
    run(10, 30, 1e5);
    double period_ns = rig.finished_ns / rig.finished;
    /* s stolen: 10 + 25 s = 30 (1 - s) + 5 s, so s is 0.4 and the period 20 a unit. */
    cr_expect(period_ns > UNITS * 20.0 && period_ns < UNITS * 20.0 + 100, "%g", period_ns);
    cr_expect_geq(rig.stolen, rig.rested);
    cr_expect_gt(rig.rested, rig.finished * (UNITS / 4));
}

/* A thief that takes long to start comes too late, and no stage waits for it. */
Test(stage_graph, a_late_thief_delays_nobody)
{
    rig.steals = true;
    rig.thief_ns = 30;
    rig.approach_ns = 1900;
    run(10, 30, 640 + 1920 * 10 + 1);
    cr_expect_eq(rig.finished, 10);
    cr_expect_eq(rig.stolen, 0);
}
