/* The real node with CPU twins in place of the GPU (device_fixture.c), stepped by hand. */
#include "models/memcachedgpu/real/node.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "models/measured/measurable.h"
#include "models/memcachedgpu/real/threads.h"
#include "sim/probes/pin.h"
#include "sim/probes/quiet.h"

enum { BATCH = 64, STREAMS = 4, KEYS = 2000 };

static const struct kvc_memcachedgpu_real_params usual = {
    .batch = BATCH, .streams = STREAMS, .post_threads = 2, .entries = 8 * KEYS, .ways = 16, .key_room = 128};

static void describe(struct kvc_scenario *scenario, uint32_t key_bytes, uint32_t value_bytes,
                     double preload_frac)
{
    *scenario = (struct kvc_scenario){
        .cluster.nodes = 1,
        .node.sockets = 1,
        .workload = {.keys = KEYS,
                     .sizes = KVC_SIZES_FIXED,
                     .key_bytes = key_bytes,
                     .value_bytes = value_bytes,
                     .get_frac = 1,
                     .popularity = KVC_POPULARITY_UNIFORM,
                     .arrival = KVC_ARRIVAL_SATURATE,
                     .frame_requests = 1,
                     .preload_frac = preload_frac},
        .run = {.duration_ns = 1e8, .seed = 7, .replicas = 1},
    };
}

static struct kvc_scenario scenario;

static struct kvc_memcachedgpu_real_node *open_node(const struct kvc_memcachedgpu_real_params *params)
{
    struct kvc_diag diag = {.status = KVC_OK};
    struct kvc_memcachedgpu_real_node *node = aligned_alloc(64, sizeof(*node));
    cr_assert_eq(kvc_memcachedgpu_real_node_open(node, &scenario, params, NULL, &diag), KVC_OK, "%s",
                 diag.message);
    kvc_memcachedgpu_real_node_start(node, 0);
    return node;
}

static void close_node(struct kvc_memcachedgpu_real_node *node)
{
    kvc_memcachedgpu_real_node_close(node);
    free(node);
}

/* Steps all tasks until `batches` are answered. Returns the number of answered batches. */
static uint64_t step_until(struct kvc_memcachedgpu_real_node *node, uint64_t batches)
{
    uint64_t answered = 0;
    for (uint64_t i = 0; answered < batches && i < 10 * batches; i++) {
        answered = 0;
        kvc_memcachedgpu_real_pre_step(node);
        for (uint32_t p = 0; p < node->params.post_threads; p++) {
            kvc_memcachedgpu_real_post_step(&node->post[p]);
            answered += node->post[p].time.batches;
        }
    }
    return answered;
}

/* Every GET of a stored key is a hit, whose frame has the value of its key; the threads share the batches. */
Test(memcachedgpu_real_node, answers_have_their_values)
{
    describe(&scenario, 40, 100, 1);
    struct kvc_memcachedgpu_real_node *node = open_node(&usual);
    uint64_t batches = step_until(node, 100);
    cr_assert_geq(batches, 100);
    for (uint32_t p = 0; p < usual.post_threads; p++) {
        const struct kvc_memcachedgpu_real_post *post = &node->post[p];
        cr_assert_eq(post->answerer.answered, post->time.batches * BATCH);
        cr_assert_eq(post->answerer.hits, post->answerer.answered);
        cr_assert_eq(post->answerer.unanswered, 0);
        cr_assert_eq(post->latency->count, post->answerer.answered);
        cr_assert_leq(llabs((long long)post->time.batches - (long long)batches / 2), 1);
        for (uint32_t f = 0; f < post->answerer.answered && f < post->answerer.frame_count; f++) {
            cr_assert(kvc_memcachedgpu_real_frame_is_right(post->answerer.frames +
                                                               (size_t)f * KVC_MEMCACHEDGPU_REAL_FRAME_BYTES,
                                                           post->answerer.frame_bytes[f]));
        }
    }
    close_node(node);
}

/* Keys that were not preloaded miss. */
Test(memcachedgpu_real_node, missing_keys_are_misses)
{
    describe(&scenario, 16, 8, 0.5);
    struct kvc_memcachedgpu_real_node *node = open_node(&usual);
    step_until(node, 200);
    uint64_t hits = node->post[0].answerer.hits + node->post[1].answerer.hits;
    uint64_t answered = node->post[0].answerer.answered + node->post[1].answerer.answered;
    cr_assert_float_eq((double)hits / (double)answered, 0.5, 0.02);
    close_node(node);
}

/* GNoM-pre begins as many batches as there are streams, and continues when one comes back. */
Test(memcachedgpu_real_node, streams_bound_the_batches_in_flight)
{
    describe(&scenario, 16, 8, 1);
    struct kvc_memcachedgpu_real_params params = usual;
    params.post_threads = 1;
    struct kvc_memcachedgpu_real_node *node = open_node(&params);
    for (int i = 0; i < 3 * STREAMS; i++) {
        kvc_memcachedgpu_real_pre_step(node);
    }
    cr_assert_eq(node->begun, STREAMS);
    cr_assert_eq(kvc_memcachedgpu_real_post_step(&node->post[0]), 0, "the event is pending");
    cr_assert_gt(kvc_memcachedgpu_real_post_step(&node->post[0]), 0);
    kvc_memcachedgpu_real_pre_step(node);
    kvc_memcachedgpu_real_pre_step(node);
    cr_assert_eq(node->begun, STREAMS + 1);
    close_node(node);
}

/* One in eight batches has clocks: its two blocks run from 1000 and 1010 to 3000 and 3010 ns. */
Test(memcachedgpu_real_node, kernels_last_from_the_first_block_to_the_last)
{
    describe(&scenario, 16, 8, 1);
    struct kvc_memcachedgpu_real_node *node = open_node(&usual);
    uint64_t batches = step_until(node, 160);
    uint64_t kernels = node->post[0].kernels + node->post[1].kernels;
    cr_assert_leq(fabs((double)kernels - (double)batches / 8), 1);
    cr_assert_float_eq((node->post[0].kernel_ns + node->post[1].kernel_ns) / (double)kernels, 2010, 1e-9);
    close_node(node);
}

/* The background task starts at its time, once, and its end is noticed. */
Test(memcachedgpu_real_node, a_background_task_runs_once)
{
    describe(&scenario, 16, 8, 1);
    struct kvc_memcachedgpu_real_params params = usual;
    params.background_blocks = 8;
    params.background_threads = 1024;
    params.background_kernels = 2;
    params.background_ns = 1e6;
    params.background_start_ns = 2e6;
    struct kvc_memcachedgpu_real_node *node = open_node(&params);
    step_until(node, 1);
    while (kvc_memcachedgpu_real_node_ns(node) < 3e6) {
        step_until(node, node->begun + 1);
    }
    step_until(node, node->begun + 1); /* There may have been no time for a step before. */
    cr_assert_geq(node->background_begun_ns, 2e6, "not before its time");
    double begun_ns = node->background_begun_ns;
    step_until(node, node->begun + 10);
    cr_assert_eq(node->background_begun_ns, begun_ns);
    cr_assert_gt(node->background_ended_ns, begun_ns);
    close_node(node);
}

static void set_clock(void *node, double started_s)
{
    kvc_memcachedgpu_real_node_set_clock(node, started_s);
}

/* The part of a measurable store that runs one that is open, also where there is no GPU to open it on. */
static const struct kvc_measurable open_node_alone = {.join = kvc_memcachedgpu_real_threads_join,
                                                      .set_clock = set_clock,
                                                      .finish = kvc_memcachedgpu_real_threads_finish};

Test(memcachedgpu_real_node, a_report_covers_the_windows_of_a_run)
{
    if (kvc_pin_cores() < 2) {
        cr_skip_test("needs two cores");
    }
    struct kvc_memcachedgpu_real_params params = usual;
    params.post_threads = 1;
    describe(&scenario, 16, 64, 1);
    struct kvc_memcachedgpu_real_node *node = open_node(&params);
    struct kvc_diag diag = {.status = KVC_OK};
    struct kvc_result *result = calloc(1, sizeof(*result));
    cr_assert_not_null(result);
    scenario.run.warmup_ns = 1e7;
    cr_assert_eq(kvc_measurable_run_open(&open_node_alone, node, &scenario, NULL, result, &diag), KVC_OK,
                 "%s", diag.message);
    cr_expect_gt(result->completed, 0);
    cr_expect_eq(result->hits, result->completed, "all keys are stored");
    cr_expect_eq(result->latency.count, result->completed, "every response has a latency");
    cr_expect_eq(result->completed % BATCH, 0, "batches are whole");
    cr_expect_lt(result->completed, result->requests_simulated, "warm-up and first window do not count");
    cr_expect_eq(result->stage_count, 2);
    cr_expect_geq(kvc_metrics_get(&result->model, "windows"), scenario.run.duration_ns / kvc_quiet_window_ns);
    cr_expect_gt(kvc_metrics_get(&result->model, "raw_throughput_mops"), 0);
    free(result);
    close_node(node);
}
