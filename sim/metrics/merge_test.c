#include "sim/metrics/merge.h"

#include <criterion/criterion.h>
#include <string.h>

#include "sim/metrics/bottleneck.h"

static struct kvc_result replica, sum;

static void set_stage(struct kvc_result *of, const char *name, const char *device, double utilization)
{
    struct kvc_stage_result *stage = kvc_result_add_stage(of, name, device, utilization);
    stage->busy_s = utilization * 2;
    stage->served = 100;
    stage->mean_us = 50;
}

/* Fills a replica with numbers that are proportional to `scale`. */
static void fill(struct kvc_result *into, double scale)
{
    double sent[3] = {0}, done[3] = {1e3 * scale, 2e3 * scale, 3e3 * scale};
    memset(into, 0, sizeof(*into));
    into->throughput_mops = 10 * scale;
    into->offered = (uint64_t)(100 * scale);
    into->completed = (uint64_t)(90 * scale);
    into->dropped = (uint64_t)(10 * scale);
    into->gets = (uint64_t)(80 * scale);
    into->hits = (uint64_t)(70 * scale);
    into->misses = (uint64_t)(10 * scale);
    into->sets = (uint64_t)(6 * scale);
    into->deletes = (uint64_t)(4 * scale);
    into->has_histogram = true;
    kvc_histogram_record(&into->latency, sent, done, 3);
    set_stage(into, "search", "gpu", 0.3 * scale);
    set_stage(into, "send", "cpu", 0.2 * scale);
    kvc_metrics_set(&into->kernel, "load_factor_frac", 0.1 * scale);
    kvc_metrics_set(&into->model, "t_search_us", 60 * scale);
    into->simulated_s = into->warmup_s = into->wall_s = into->kernel_wall_s = scale;
    into->requests_simulated = 1000;
    into->activities = 50;
    into->window_us = 160;
    into->window_count = 2;
    into->window_mops[0] = (float)scale;
    into->window_mops[1] = (float)(2 * scale);
    kvc_result_note(into, "common");
    kvc_result_note(into, "of scale %g", scale);
}

Test(merge, of_two_replicas)
{
    static const double scales[] = {1, 3};
    for (int i = 0; i < 2; i++) {
        fill(&replica, scales[i]);
        kvc_result_merge(&sum, &replica, 2);
    }
    cr_expect_float_eq(sum.throughput_mops, 20, 1e-12);
    cr_expect_eq(sum.offered, 400);
    cr_expect_eq(sum.completed + sum.dropped, sum.offered);
    cr_expect_eq(sum.hits + sum.misses, sum.gets);
    cr_expect_eq(sum.gets + sum.sets + sum.deletes, sum.completed);
    cr_expect(sum.has_histogram);
    cr_expect_eq(sum.latency.count, 6);
    cr_expect_eq(sum.latency.min_ns, 1e3);
    cr_expect_eq(sum.latency.max_ns, 9e3);
    cr_expect_float_eq(kvc_histogram_mean_ns(&sum.latency), 4e3, 1e-9);
    cr_expect_eq(sum.stage_count, 2);
    cr_expect_str_eq(sum.stage[1].name, "send");
    cr_expect_float_eq(sum.stage[0].utilization_frac, 0.6, 1e-12);
    cr_expect_float_eq(sum.stage[1].busy_s, 1.6, 1e-12);
    cr_expect_eq(sum.stage[0].served, 200);
    cr_expect_float_eq(sum.stage[0].mean_us, 50, 1e-12);
    cr_expect_float_eq(kvc_metrics_get(&sum.kernel, "load_factor_frac"), 0.2, 1e-12);
    cr_expect_float_eq(kvc_metrics_get(&sum.model, "t_search_us"), 120, 1e-12);
    cr_expect_eq(sum.model.count, 1);
    cr_expect_float_eq(sum.wall_s, 4, 1e-12);
    cr_expect_float_eq(sum.simulated_s, 4, 1e-12);
    cr_expect_eq(sum.requests_simulated, 2000);
    cr_expect_eq(sum.activities, 100);
    cr_expect_eq(sum.window_count, 2);
    cr_expect_float_eq(sum.window_mops[1], 4, 1e-6);
    cr_expect_eq(sum.note_count, 3);
    cr_expect_str_eq(sum.bottleneck_stage, "load");
}

Test(merge, keeps_windows_that_all_replicas_have)
{
    for (int i = 0; i < 3; i++) {
        fill(&replica, 1);
        replica.window_count = i == 1 ? 1 : 2;
        kvc_result_merge(&sum, &replica, 3);
    }
    cr_expect_eq(sum.window_count, 1);
    cr_expect_float_eq(sum.window_mops[0], 1, 1e-6);
    cr_expect_eq(sum.window_mops[1], 0);
}

Test(merge, drops_windows_of_different_lengths)
{
    for (int i = 0; i < 3; i++) {
        fill(&replica, 1);
        replica.window_us = i == 1 ? 320 : 160;
        kvc_result_merge(&sum, &replica, 3);
    }
    cr_expect_eq(sum.window_count, 0);
}

/* A single run and a run with one replica print the same. */
Test(merge, of_one_replica_changes_nothing)
{
    fill(&replica, 2);
    kvc_bottleneck_find(&replica);
    kvc_result_merge(&sum, &replica, 1);
    cr_expect_arr_eq(&sum, &replica, sizeof(sum));
}
