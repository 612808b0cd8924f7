#include "sim/metrics/merge_nodes.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

/* A node with values that depend on its number. */
static struct kvc_result *node_of(uint32_t number)
{
    struct kvc_result *node = calloc(1, sizeof(*node));
    double n = number + 1, sent[] = {0, 0}, done[] = {1000 * n, 3000 * n};
    node->throughput_mops = 10 * n;
    node->offered = 100;
    node->completed = 90 + number;
    node->hits = 50;
    node->misses = 5;
    node->watts_mean = 20;
    node->joules = 2 * n;
    node->simulated_s = 0.01;
    node->has_histogram = true;
    kvc_histogram_record(&node->latency, sent, done, 2);
    struct kvc_stage_result *stage = kvc_result_add_stage(node, "index", "gpu", 0.2 * n);
    stage->served = 100 * (uint64_t)n;
    stage->mean_us = n;
    kvc_result_add_device(node, "node0.socket0.gpu", "gpu")->utilization_frac = 0.2 * n;
    node->device[0].watts_mean = 20;
    node->device[0].joules = 2 * n;
    kvc_metrics_set(&node->kernel, "load_factor_frac", number == 0 ? NAN : 0.1 * n);
    kvc_metrics_set(&node->kernel, "evictions", 7 * n);
    kvc_metrics_set(&node->model, "overrun_max_us", 5 - n);
    node->batch_s = 1e-3;
    node->batch_means_count = 3;
    static const char *const names[] = {"throughput_mops", "offered_mops", "latency_mean_us"};
    for (int k = 0; k < 3; k++) {
        snprintf(node->batch_means[k].name, KVC_VALUE_NAME_MAX, "%s", names[k]);
        node->batch_means[k].count = 2;
        node->batch_means[k].mean[0] = node->batch_means[k].mean[1] = k == 2 ? 2 * n : 10 * n;
    }
    return node;
}

static struct kvc_result *merged(uint32_t nodes, bool list)
{
    struct kvc_result *sum = calloc(1, sizeof(*sum));
    struct kvc_merge_nodes merge = {.sum = sum};
    for (uint32_t i = 0; i < nodes; i++) {
        char prefix[KVC_NAME_MAX];
        struct kvc_result *node = node_of(i);
        snprintf(prefix, sizeof(prefix), list ? "node%u" : "node*", i);
        kvc_merge_nodes_add(&merge, node, prefix);
        free(node);
    }
    kvc_merge_nodes_end(&merge);
    return sum;
}

Test(merge_nodes, counts_rates_and_histograms_add_up)
{
    struct kvc_result *sum = merged(2, true);
    cr_expect_eq(sum->throughput_mops, 30);
    cr_expect_eq(sum->offered, 200);
    cr_expect_eq(sum->completed, 181);
    cr_expect_eq(sum->hits, 100);
    cr_expect_eq(sum->watts_mean, 40);
    cr_expect_eq(sum->joules, 6);
    cr_expect_eq(sum->simulated_s, 0.01, "nodes run at the same time");
    cr_expect_eq(sum->latency.count, 4);
    cr_expect_eq(kvc_histogram_mean_ns(&sum->latency), 3000);
    cr_expect_eq(sum->latency.max_ns, 6000);
    free(sum);
}

Test(merge_nodes, stages_and_metrics_are_means_where_they_are_no_counts)
{
    struct kvc_result *sum = merged(2, true);
    cr_expect_eq(sum->stage_count, 1);
    cr_expect_float_eq(sum->stage[0].utilization_frac, 0.3, 1e-12);
    cr_expect_float_eq(sum->stage[0].mean_us, (100 * 1 + 200 * 2) / 300.0, 1e-12);
    cr_expect_eq(sum->stage[0].served, 300);
    cr_expect_float_eq(kvc_metrics_get(&sum->kernel, "load_factor_frac"), 0.2, 1e-12,
                       "of the node that knows it");
    cr_expect_eq(kvc_metrics_get(&sum->kernel, "evictions"), 21);
    cr_expect_eq(kvc_metrics_get(&sum->model, "overrun_max_us"), 4);
    cr_expect_eq(kvc_merge_kind_of("lines_per_search"), KVC_MERGE_MEAN);
    cr_expect_eq(kvc_merge_kind_of("fullest_socket_over_mean"), KVC_MERGE_MEAN);
    cr_expect_eq(kvc_merge_kind_of("operations_in_flight_most"), KVC_MERGE_MOST);
    cr_expect_eq(kvc_merge_kind_of("set_kops"), KVC_MERGE_SUM);
    free(sum);
}

Test(merge_nodes, devices_are_listed_or_joined_by_class)
{
    struct kvc_result *all = merged(3, true), *joined = merged(3, false);
    cr_expect_eq(all->device_count, 3);
    cr_expect_str_eq(all->device[2].name, "node2.socket0.gpu");
    cr_expect_float_eq(all->device[2].utilization_frac, 0.6, 1e-12);
    cr_expect_eq(joined->device_count, 1);
    cr_expect_str_eq(joined->device[0].name, "node*.socket0.gpu");
    cr_expect_float_eq(joined->device[0].utilization_frac, 0.4, 1e-12);
    cr_expect_eq(joined->device[0].watts_mean, 60);
    cr_expect_eq(joined->device[0].joules, 12);
    free(all);
    free(joined);
}

Test(merge_nodes, batches_of_independent_nodes_add_up)
{
    struct kvc_result *sum = merged(2, true);
    const struct kvc_batch_means *latency = kvc_result_batch_means(sum, "latency_mean_us");
    cr_assert_not_null(latency);
    cr_expect_eq(kvc_result_batch_means(sum, "throughput_mops")->mean[1], 30);
    cr_expect_float_eq(latency->mean[0], (10 * 2 + 20 * 4) / 30.0, 1e-12);
    free(sum);
}

Test(merge_nodes, different_batches_have_no_means)
{
    struct kvc_result *sum = calloc(1, sizeof(*sum)), *first = node_of(0), *second = node_of(1);
    struct kvc_merge_nodes merge = {.sum = sum};
    second->batch_s = 2e-3;
    kvc_merge_nodes_add(&merge, first, "node0");
    kvc_merge_nodes_add(&merge, second, "node1");
    kvc_merge_nodes_end(&merge);
    cr_expect_eq(sum->batch_means_count, 0);
    free(sum);
    free(first);
    free(second);
}
