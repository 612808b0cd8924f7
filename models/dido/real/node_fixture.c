#include "models/dido/real/node_fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/dido/dido.h"
#include "models/dido/plan.h"
#include "sim/base/seeds.h"

void kvc_test_node_describe(struct kvc_test_node *test, const char *pipeline, double set_frac,
                            double delete_frac)
{
    memset(test, 0, sizeof(*test));
    struct kvc_workload *workload = &test->scenario.workload;
    kvc_option_table_set_defaults(&kvc_dido_option_table, &test->options);
    kvc_option_table_set_defaults(&kvc_workload_option_table, workload);
    test->cpu = (struct kvc_cpu){
        .cores = 8, .clock_hz = 2e9, .instructions_per_cycle = 2, .llc_bytes = 1 << 20, .llc_hit_cycles = 20};
    test->dram =
        (struct kvc_dram){.random_line_ns = 80, .next_line_ns = 10, .line_bytes = 64, .bytes_per_s = 1e10};
    test->gpu = (struct kvc_gpu){.sms = 8,
                                 .threads_per_sm = 2560,
                                 .wave_threads = 64,
                                 .wave_issue = 1,
                                 .launch_ns = 1e4,
                                 .clock_count = 1,
                                 .clocks = {{.core_hz = 1e9}},
                                 .access_ns = 500,
                                 .shares_memory = true,
                                 .memory_bytes = 1e9};
    test->nic = (struct kvc_nic){.ports = 1, .queues = 1, .bytes_per_s = 1e9, .mtu_bytes = 1500};
    snprintf(test->options.pipeline, sizeof(test->options.pipeline), "%s", pipeline);
    test->feed_bytes = 1 << 20;
    test->options.stealing = false;
    test->options.feed = KVC_DIDO_MEMORY;
    test->options.index_bytes = 1 << 20;
    test->options.slab_bytes = 64 << 20;
    test->scenario.options = &test->options;
    test->scenario.node = (struct kvc_node){.sockets = 1,
                                            .device = {{&kvc_cpu_kind, &test->cpu},
                                                       {&kvc_dram_kind, &test->dram},
                                                       {&kvc_gpu_kind, &test->gpu},
                                                       {&kvc_nic_kind, &test->nic}}};
    test->scenario.cluster.nodes = 1;
    test->scenario.run = (struct kvc_run){.functional = KVC_FUNCTIONAL_FULL, .seed = 1, .replicas = 1};
    workload->keys = 10000;
    workload->frame_requests = 20;
    workload->preload_frac = 1;
    workload->get_frac = 1 - set_frac - delete_frac;
    workload->set_frac = set_frac;
    workload->delete_frac = delete_frac;
}

void kvc_test_node_resolve(struct kvc_test_node *test)
{
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_dido_resolve(&test->scenario, &test->config, &diag), KVC_OK, "%s", diag.message);
    test->scenario.config = &test->config;
}

void kvc_test_node_open(struct kvc_test_node *test)
{
    struct kvc_diag diag = {0};
    void *store = NULL;
    uint64_t seed = kvc_seed_of_replica(test->scenario.run.seed, 0);
    kvc_test_node_resolve(test);
    cr_assert_eq(kvc_dido_model.prepare(&test->scenario, seed, &store, NULL, &diag), KVC_OK, "%s",
                 diag.message);
    test->store = store;
    test->node = kvc_dido_real_node_create(&test->scenario, &test->store->shards[0], test->feed_bytes, &diag);
    cr_assert_not_null(test->node, "%s", diag.message);
    kvc_dido_real_node_start(test->node);
}

void kvc_test_node_close(struct kvc_test_node *test)
{
    kvc_dido_real_node_free(test->node);
    kvc_shards_free(test->store);
}

void kvc_test_node_drain(struct kvc_test_node *test)
{
    bool busy = true;
    test->node->saturating = false;
    test->node->due_ns = INFINITY;
    while (busy) {
        busy = false;
        for (uint32_t i = 0; i < test->node->workers; i++) {
            busy = kvc_dido_real_step(&test->node->worker[i]) > 0 || busy;
        }
    }
}

struct kvc_test_answers kvc_test_node_answers(const struct kvc_test_node *test)
{
    struct kvc_test_answers answers = {0};
    for (uint32_t i = 0; i < test->node->workers; i++) {
        const struct kvc_dido_real_counts *counts = &test->node->worker[i].bench.counts;
        answers.hits += counts->hits;
        answers.misses += counts->misses;
        answers.sets += counts->sets;
        answers.deletes += counts->deletes;
        answers.foreign += counts->foreign;
        answers.latencies += test->node->worker[i].latency->count;
        answers.in_batches += test->node->worker[i].batch_queries;
    }
    answers.all = answers.hits + answers.misses + answers.sets + answers.deletes;
    return answers;
}
