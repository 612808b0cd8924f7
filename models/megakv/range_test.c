#include "models/megakv/predict.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/megakv/config.h"
#include "models/megakv/run_fixture.h"

/* Fills a cost curve with points at the corners of a range. */
static void span(struct kvc_megakv_cost_curve *curve, struct kvc_megakv_cost_range range)
{
    for (int i = 0; i < 8; i++) {
        curve->point[curve->count++] = (struct kvc_megakv_cost_point){
            .size = i & 1 ? range.size_high : range.size_low,
            .footprint_bytes = i & 2 ? range.footprint_high : range.footprint_low,
            .threads = (uint64_t)(i & 4 ? range.threads_high : range.threads_low),
            .ns = 5};
    }
}

enum { STREAMS = 3 };

struct setup {
    struct kvc_scenario scenario;
    struct kvc_megakv_options options;
    struct kvc_megakv_config config;
    struct kvc_test_devices devices;
};

/* The profile covers frames of 10 to 40 requests, items of up to 60 bytes and 2 to 32 MiB in all, an index
 * of 1 to 8 MiB, 2 to 4 senders, and launches of 1000 to 32000 searches. The scenario lies inside, with 3
 * MiB of items of 24 bytes. */
static struct setup *inside(void)
{
    struct setup *setup = calloc(1, sizeof(*setup));
    cr_assert_not_null(setup);
    setup->scenario = (struct kvc_scenario){
        .options = &setup->options,
        .node = {.sockets = 1},
        .cluster = {.nodes = 1},
        .workload = {.keys = 100000, .key_bytes = 8, .value_bytes = 8, .get_frac = 1, .frame_requests = 20}};
    setup->options =
        (struct kvc_megakv_options){.streams = STREAMS, .index_bytes = 0x1p21, .slab_bytes = 0x1p25};
    setup->devices.cpu = (struct kvc_cpu){.cores = 9, .threads_per_core = 1};
    setup->devices.dram = (struct kvc_dram){.line_bytes = 64};
    kvc_test_connect(&setup->scenario.node, &setup->devices);
    span(&setup->devices.costs.receive, (struct kvc_megakv_cost_range){.size_low = 10,
                                                                       .size_high = 40,
                                                                       .footprint_low = 0,
                                                                       .footprint_high = 0,
                                                                       .threads_low = 2,
                                                                       .threads_high = 4});
    span(&setup->devices.costs.read, (struct kvc_megakv_cost_range){.size_low = 0,
                                                                    .size_high = 60,
                                                                    .footprint_low = 0x1p21,
                                                                    .footprint_high = 0x1p25,
                                                                    .threads_low = 2,
                                                                    .threads_high = 4});
    span(&setup->devices.costs.search, (struct kvc_megakv_cost_range){.size_low = 1000,
                                                                      .size_high = 32000,
                                                                      .footprint_low = 0x1p20,
                                                                      .footprint_high = 0x1p23,
                                                                      .threads_low = 2,
                                                                      .threads_high = 4});
    return setup;
}

static const double jobs = STREAMS * 5000;

static void expect_none(struct setup *setup, double jobs_per_search)
{
    struct kvc_result *result = calloc(1, sizeof(*result));
    kvc_test_resolve(&setup->scenario, &setup->config);
    kvc_megakv_note_range(&setup->scenario, jobs_per_search, result);
    cr_expect_eq(result->note_count, 0, "%s", result->note[0]);
    free(result);
}

static void expect_one(struct setup *setup, double jobs_per_search, const char *note)
{
    struct kvc_result *result = calloc(1, sizeof(*result));
    kvc_test_resolve(&setup->scenario, &setup->config);
    kvc_megakv_note_range(&setup->scenario, jobs_per_search, result);
    cr_expect_eq(result->note_count, 1, "%s: %u notes, %s", note, result->note_count, result->note[0]);
    cr_expect(strstr(result->note[0], note) != NULL, "found \"%s\", not \"%s\"", result->note[0], note);
    free(result);
}

Test(range, nothing_to_note_inside)
{
    struct setup *setup = inside();
    expect_none(setup, jobs);
    expect_none(setup, STREAMS * 1000);
    expect_none(setup, STREAMS * 32000);
    expect_none(setup, NAN);
    free(setup);
}

/* Searches in indexes of 1 and 8 MiB take 5 and 10 ns, so three more doublings may double them again. */
Test(range, names_the_nearest_point_and_how_far_its_costs_may_be_off)
{
    struct setup *setup = inside();
    struct kvc_result *result = calloc(1, sizeof(*result));
    struct kvc_megakv_cost_curve *search = &setup->devices.costs.search;
    for (uint32_t i = 0; i < search->count; i++) {
        search->point[i].ns = search->point[i].footprint_bytes > 0x1p20 ? 10 : 5;
    }
    setup->options.index_bytes = 0x1p26;
    kvc_test_resolve(&setup->scenario, &setup->config);
    kvc_megakv_note_range(&setup->scenario, jobs, result);
    cr_expect_float_eq(kvc_metrics_get(&result->model, kvc_extrapolated_name), 1, 1e-9);
    cr_expect_str_eq(
        result->note[0],
        "outside the calibrated range: an index of 64 MiB; measured: 1 .. 8 MiB; the nearest calibrated "
        "point is 8 MiB, whose costs may be 100 % off here, by which intervals are wider");
    setup->options.index_bytes = 0x1p22;
    result->model.count = 0;
    kvc_test_resolve(&setup->scenario, &setup->config);
    kvc_megakv_note_range(&setup->scenario, jobs, result);
    cr_expect(isnan(kvc_metrics_get(&result->model, kvc_extrapolated_name)));
    free(result);
    free(setup);
}

/* Up to 25 % beyond the measured range causes no note. */
Test(range, frames)
{
    struct setup *setup = inside();
    uint64_t *requests = &setup->scenario.workload.frame_requests;
    *requests = 8;
    expect_none(setup, jobs);
    *requests = 50;
    expect_none(setup, jobs);
    *requests = 7;
    expect_one(setup, jobs,
               "outside the calibrated range: frames of 7 requests; measured: 10 .. 40 requests");
    *requests = 51;
    expect_one(setup, jobs, "frames of 51 requests");
    free(setup);
}

Test(range, items)
{
    struct setup *setup = inside();
    setup->scenario.workload.value_bytes = 48;
    expect_none(setup, jobs);
    setup->scenario.workload.value_bytes = 49; /* The item needs another line. */
    expect_one(setup, jobs, "items of 128 B; measured: 0 .. 60 B");
    free(setup);
}

Test(range, item_memory)
{
    struct setup *setup = inside();
    uint64_t *keys = &setup->scenario.workload.keys; /* An item takes 32 bytes. */
    *keys = (uint64_t)(1.61 * 0x1p15);
    expect_none(setup, jobs);
    *keys = (uint64_t)(39.9 * 0x1p15);
    expect_none(setup, jobs);
    *keys = (uint64_t)(1.5 * 0x1p15);
    expect_one(setup, jobs, "item memory of 1.5 MiB; measured: 2 .. 32 MiB");
    *keys = (uint64_t)(50 * 0x1p15);
    expect_one(setup, jobs, "item memory of 50 MiB");
    setup->scenario.node.sockets = 2; /* Each socket has half of the items. */
    expect_none(setup, jobs);
    free(setup);
}

Test(range, index)
{
    struct setup *setup = inside();
    setup->options.index_bytes = 0x1p23;
    expect_none(setup, jobs);
    setup->options.index_bytes = 0x1p24;
    expect_one(setup, jobs, "an index of 16 MiB; measured: 1 .. 8 MiB");
    setup->options.index_bytes = 0x1p19;
    expect_one(setup, jobs, "an index of 0.5 MiB");
    free(setup);
}

Test(range, senders)
{
    struct setup *setup = inside();
    setup->options.streams = 5;
    expect_none(setup, jobs);
    setup->options.streams = 6;
    expect_one(setup, jobs, "senders at once of 6; measured: 2 .. 4");
    setup->options.threads = KVC_MEGAKV_SHARED_THREADS;
    expect_one(setup, jobs, "senders at once of 6");
    setup->devices.cpu.cores = 5; /* Six senders share four cores. */
    expect_none(setup, jobs);
    setup->options.streams = 1;
    expect_one(setup, jobs, "senders at once of 1");
    free(setup);
}

Test(range, launches)
{
    struct setup *setup = inside();
    expect_one(setup, STREAMS * 40001,
               "launches in each stream of 4e+04 searches; measured: 1000 .. 3.2e+04 searches");
    expect_one(setup, STREAMS * 799, "launches in each stream of 799 searches");
    expect_none(setup, STREAMS * 800);
    expect_none(setup, STREAMS * 40000);
    setup->options.index_on = KVC_MEGAKV_INDEX_ON_THREAD; /* A thread searches for the streams in turn. */
    expect_one(setup, 40001, "launches of 4e+04 searches");
    expect_none(setup, 0); /* A load without GETs has no searches. */
    free(setup);
}

Test(range, a_note_for_each_quantity)
{
    struct setup *setup = inside();
    struct kvc_result *result = calloc(1, sizeof(*result));
    setup->scenario.workload.frame_requests = 1000;
    setup->scenario.workload.value_bytes = 5000;
    setup->options.index_bytes = 0x1p30;
    setup->options.streams = 8;
    kvc_test_resolve(&setup->scenario, &setup->config);
    kvc_megakv_note_range(&setup->scenario, 1e6, result);
    cr_expect_eq(result->note_count, 6);
    cr_expect_gt(kvc_metrics_get(&result->model, kvc_extrapolated_name), 0);
    free(result);
    memset(&setup->devices.costs, 0, sizeof(setup->devices.costs));
    expect_none(setup, STREAMS * 1e6); /* This profile has no measured costs. */
    free(setup);
}
