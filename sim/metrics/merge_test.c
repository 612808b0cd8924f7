#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/metrics/bottleneck.h"
#include "sim/metrics/merge.h"

static struct kvc_result replica, total;

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
    into->simulated_s = into->warmup_s = into->wall_s = into->cpu_s = into->kernel_wall_s = scale;
    into->requests_simulated = 1000;
    into->activities = 50;
    into->window_us = 160;
    into->window_count = 2;
    into->window_mops[0] = (float)scale;
    into->window_mops[1] = (float)(2 * scale);
    kvc_result_note(into, "common");
    kvc_result_note(into, "of scale %g", scale);
}

Test(merge, adds_the_spans_of_nodes_unless_they_differ)
{
    struct kvc_merge_nodes merge = {.sum = &total};
    fill(&replica, 1);
    replica.spans = (struct kvc_spans){.length_us = 100,
                                       .last_us = 150,
                                       .count = 2,
                                       .span = {{.offered = 5, .over = {1, 2, 3, 4}}, {.hits = 3}}};
    kvc_merge_nodes_add(&merge, &replica, "node0");
    kvc_merge_nodes_add(&merge, &replica, "node1");
    cr_expect_eq(total.spans.count, 2);
    cr_expect(total.spans.span[0].offered == 10 && total.spans.span[0].over[3] == 8);
    cr_expect_eq(total.spans.span[1].hits, 6);
    replica.spans.last_us = 100;
    kvc_merge_nodes_add(&merge, &replica, "node2");
    cr_expect_eq(total.spans.count, 0);
}

Test(merge, of_two_replicas)
{
    static const double scales[] = {1, 3};
    for (int i = 0; i < 2; i++) {
        fill(&replica, scales[i]);
        kvc_result_merge(&total, &replica, 2);
    }
    cr_expect_float_eq(total.throughput_mops, 20, 1e-12);
    cr_expect_eq(total.offered, 400);
    cr_expect_eq(total.completed + total.dropped, total.offered);
    cr_expect_eq(total.hits + total.misses, total.gets);
    cr_expect_eq(total.gets + total.sets + total.deletes, total.completed);
    cr_expect(total.has_histogram);
    cr_expect_eq(total.latency.count, 6);
    cr_expect_eq(total.latency.min_ns, 1e3);
    cr_expect_eq(total.latency.max_ns, 9e3);
    cr_expect_float_eq(kvc_histogram_mean_ns(&total.latency), 4e3, 1e-9);
    cr_expect_eq(total.stage_count, 2);
    cr_expect_str_eq(total.stage[1].name, "send");
    cr_expect_float_eq(total.stage[0].utilization_frac, 0.6, 1e-12);
    cr_expect_float_eq(total.stage[1].busy_s, 1.6, 1e-12);
    cr_expect_eq(total.stage[0].served, 200);
    cr_expect_float_eq(total.stage[0].mean_us, 50, 1e-12);
    cr_expect_float_eq(kvc_metrics_get(&total.kernel, "load_factor_frac"), 0.2, 1e-12);
    cr_expect_float_eq(kvc_metrics_get(&total.model, "t_search_us"), 120, 1e-12);
    cr_expect_eq(total.model.count, 1);
    cr_expect_float_eq(total.wall_s, 4, 1e-12);
    cr_expect_float_eq(total.cpu_s, 4, 1e-12);
    cr_expect_float_eq(total.simulated_s, 4, 1e-12);
    cr_expect_eq(total.requests_simulated, 2000);
    cr_expect_eq(total.activities, 100);
    cr_expect_eq(total.window_count, 2);
    cr_expect_float_eq(total.window_mops[1], 4, 1e-6);
    cr_expect_eq(total.note_count, 3);
    cr_expect_str_eq(total.bottleneck_stage, "load");
}

Test(merge, keeps_windows_that_all_replicas_have)
{
    for (int i = 0; i < 3; i++) {
        fill(&replica, 1);
        replica.window_count = i == 1 ? 1 : 2;
        kvc_result_merge(&total, &replica, 3);
    }
    cr_expect_eq(total.window_count, 1);
    cr_expect_float_eq(total.window_mops[0], 1, 1e-6);
    cr_expect_eq(total.window_mops[1], 0);
}

Test(merge, drops_windows_of_different_lengths)
{
    for (int i = 0; i < 3; i++) {
        fill(&replica, 1);
        replica.window_us = i == 1 ? 320 : 160;
        kvc_result_merge(&total, &replica, 3);
    }
    cr_expect_eq(total.window_count, 0);
}

/* A single run and a run with one replica print the same. */
Test(merge, of_one_replica_changes_nothing)
{
    fill(&replica, 2);
    kvc_bottleneck_find(&replica);
    kvc_result_merge(&total, &replica, 1);
    cr_expect_arr_eq(&total, &replica, sizeof(total));
}

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

enum { NODES = 6, VALUES = 200000 };

static const double share[NODES] = {0.4, 0.25, 0.15, 0.1, 0.1, 0};

/* Latencies of a node: a constant and an exponential part, both of which differ between nodes. */
static double draw_ns(struct kvc_rng *rng, uint32_t node)
{
    return 1000 + 300 * node + kvc_rng_exponential(rng, 500 * (1 + node % 3));
}

static void fill_pack(struct kvc_histogram_pack *pack, double *value_ns, uint32_t node)
{
    struct kvc_histogram *histogram = calloc(1, sizeof(*histogram));
    struct kvc_rng rng;
    kvc_rng_init(&rng, 7, "fanout", node);
    for (uint32_t i = 0; i < VALUES; i++) {
        double zero = 0;
        value_ns[i] = draw_ns(&rng, node);
        kvc_histogram_record(histogram, &zero, &value_ns[i], 1);
    }
    cr_assert(kvc_histogram_take(histogram, pack));
    free(histogram);
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Draws multigets one by one: every key a node, and every node that has one a latency. */
static void draw(double (*value_ns)[VALUES], uint32_t keys, double *slowest_ns, uint32_t draws)
{
    struct kvc_rng rng;
    kvc_rng_init(&rng, 9, "multigets", keys);
    for (uint32_t i = 0; i < draws; i++) {
        unsigned asked = 0;
        for (uint32_t key = 0; key < keys; key++) {
            double at = kvc_rng_unit(&rng);
            uint32_t node = 0;
            while (node < NODES - 2 && at >= share[node]) {
                at -= share[node++];
            }
            asked |= 1u << node;
        }
        slowest_ns[i] = 0;
        for (uint32_t node = 0; node < NODES; node++) {
            double latency_ns = value_ns[node][kvc_rng_below(&rng, VALUES)];
            slowest_ns[i] = (asked >> node & 1) != 0 ? fmax(slowest_ns[i], latency_ns) : slowest_ns[i];
        }
    }
    qsort(slowest_ns, draws, sizeof(*slowest_ns), ascending);
}

Test(fanout, equals_multigets_drawn_one_by_one)
{
    enum { DRAWS = 200000 };
    static const uint32_t keys[] = {1, 2, 5, 20, 100};
    double(*value_ns)[VALUES] = malloc(NODES * sizeof(*value_ns));
    double *slowest_ns = malloc(DRAWS * sizeof(*slowest_ns));
    struct kvc_histogram_pack pack[NODES] = {{0}};
    struct kvc_fanout_node node[NODES];
    for (uint32_t i = 0; i < NODES; i++) {
        fill_pack(&pack[i], value_ns[i], i);
        node[i] = (struct kvc_fanout_node){share[i], &pack[i]};
    }
    for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
        struct kvc_fanout fanout;
        double mean_ns = 0, squares = 0;
        draw(value_ns, keys[k], slowest_ns, DRAWS);
        for (uint32_t i = 0; i < DRAWS; i++) {
            mean_ns += slowest_ns[i] / DRAWS;
            squares += slowest_ns[i] * slowest_ns[i] / DRAWS;
        }
        cr_assert(kvc_fanout_of(node, NODES, keys[k], &fanout));
        double error_ns = sqrt((squares - mean_ns * mean_ns) / DRAWS);
        cr_expect_float_eq(fanout.mean_us * 1e3, mean_ns, 5 * error_ns, "%u keys: %g, drawn %g +- %g",
                           keys[k], fanout.mean_us * 1e3, mean_ns, error_ns);
        cr_expect_float_eq(fanout.p50_us * 1e3, slowest_ns[DRAWS / 2], 0.01 * slowest_ns[DRAWS / 2]);
        cr_expect_float_eq(fanout.p95_us * 1e3, slowest_ns[DRAWS * 95ull / 100],
                           0.015 * slowest_ns[DRAWS * 95ull / 100]);
        cr_expect_float_eq(fanout.p99_us * 1e3, slowest_ns[DRAWS * 99ull / 100],
                           0.02 * slowest_ns[DRAWS * 99ull / 100]);
    }
    for (uint32_t i = 0; i < NODES; i++) {
        free(pack[i].slot);
    }
    free(value_ns);
    free(slowest_ns);
}

Test(fanout, many_keys_wait_for_the_slowest_of_all_nodes)
{
    static double value_ns[VALUES];
    struct kvc_histogram_pack pack[3] = {{0}};
    struct kvc_fanout_node node[3];
    struct kvc_fanout fanout;
    for (uint32_t i = 0; i < 3; i++) {
        fill_pack(&pack[i], value_ns, 0);
        node[i] = (struct kvc_fanout_node){1.0 / 3, &pack[i]};
    }
    /* All three are asked, but for a chance of 1e-175: the largest of three values from one distribution. */
    cr_assert(kvc_fanout_of(node, 3, 1000, &fanout));
    double below = 0, mean_ns = 0;
    for (uint32_t slot = 0; slot < pack[0].slots; slot++) {
        double next = below + pack[0].slot[slot] / (double)VALUES;
        mean_ns += (pow(next, 3) - pow(below, 3)) * kvc_histogram_slot_ns(pack[0].first + slot);
        below = next;
    }
    cr_expect_float_eq(fanout.mean_us * 1e3, mean_ns, 1e-9 * mean_ns, "%.10g %.10g", fanout.mean_us * 1e3,
                       mean_ns);
    cr_expect_float_eq(mean_ns, 1000 + 500 * (1 + 1 / 2.0 + 1 / 3.0), 10);
    for (uint32_t i = 0; i < 3; i++) {
        free(pack[i].slot);
    }
}
