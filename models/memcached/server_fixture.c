#include "models/memcached/server_fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "models/memcached/server.h"

enum { MS_NS = 1000000, SLICE_NS = 10000 };

void kvc_test_memcached_describe(struct kvc_test_memcached *test, const struct kvc_model *model)
{
    memset(test, 0, sizeof(*test));
    kvc_option_table_set_defaults(model->options, &test->options);
    test->cpu = (struct kvc_cpu){.cores = 4, .threads_per_core = 1, .clock_hz = 3.5e9, .llc_hit_cycles = 36};
    test->dram =
        (struct kvc_dram){.random_line_ns = 67, .next_line_ns = 10, .line_bytes = 64, .bytes_per_s = 25.6e9};
    test->nic = (struct kvc_nic){.ports = 2,
                                 .bytes_per_s = 1.25e9,
                                 .mtu_bytes = 1500,
                                 .frame_overhead_bytes = 38,
                                 .packet_header_bytes = 28,
                                 .request_header_bytes = 14,
                                 .response_header_bytes = 27,
                                 .ring_frames = 512,
                                 .queues = 16,
                                 .rss_entries = 128};
    test->fpga = (struct kvc_fpga){.clock_hz = 156.25e6, .dram_bytes_per_s = 12.8e9, .dram_ns = 41};
    test->flash = (struct kvc_flash){.cards = 1,
                                     .channels = 8,
                                     .chips = 4,
                                     .blocks = 64,
                                     .pages_per_block = 64,
                                     .page_bytes = 8192,
                                     .read_ns = 50000,
                                     .program_ns = 300000,
                                     .erase_ns = 3e6,
                                     .channel_bytes_per_s = 400e6,
                                     .tags = 128};
    test->scenario = (struct kvc_scenario){
        .model = model,
        .cluster = {.nodes = 1},
        .node = {.sockets = 1},
        .workload = {.keys = 20000,
                     .key_bytes = 16,
                     .value_bytes = 2,
                     .get_frac = 1,
                     .connections = 4096,
                     .preload_frac = 1},
    };
    /* Each store reads its own options. */
    test->options.entries = 40000;
    test->options.disk_bytes = 512 << 20;
    test->options.slab_memory_bytes = 1 << 20;
    test->options.log_bytes = 1 << 20;
    test->options.buckets = 2048;
}

void kvc_test_memcached_resolve(struct kvc_test_memcached *test)
{
    struct kvc_diag diag = {0};
    struct kvc_node *node = &test->scenario.node;
    test->scenario.options = &test->options;
    node->device[0] = (struct kvc_device){&kvc_cpu_kind, &test->cpu};
    node->device[1] = (struct kvc_device){&kvc_dram_kind, &test->dram};
    node->device[2] = (struct kvc_device){&kvc_nic_kind, &test->nic};
    node->device[3] = (struct kvc_device){&kvc_fpga_kind, &test->fpga};
    node->device[4] = (struct kvc_device){&kvc_flash_kind, &test->flash};
    cr_assert_eq(test->scenario.model->resolve(&test->scenario, &test->config, &diag), KVC_OK, "%s",
                 diag.message);
    test->scenario.config = &test->config;
    cr_assert_eq(kvc_memcached_check(&test->scenario, &diag), KVC_OK, "%s", diag.message);
}

/* Records the answers of a slice. Answers after until_ns do not count. */
static void take(struct kvc_memcached_server *server, struct kvc_test_memcached_outcome *outcome,
                 double *last_ns, double *sum_ns, uint64_t *measured, double until_ns)
{
    struct kvc_answers *answers = &server->answers;
    for (uint32_t i = 0; i < answers->count; i++) {
        cr_assert_geq(answers->done_ns[i], *last_ns);
        cr_assert_gt(answers->done_ns[i], answers->sent_ns[i]);
        *last_ns = answers->done_ns[i];
        bool counts = *last_ns >= MS_NS && *last_ns < until_ns;
        *sum_ns += counts ? *last_ns - answers->sent_ns[i] : 0;
        *measured += counts;
        outcome->done_ns_sum += *last_ns * (i + 1);
        outcome->hits += answers->outcome[i] == KVC_ANSWERED_HIT;
        outcome->gets += answers->outcome[i] == KVC_ANSWERED_HIT || answers->outcome[i] == KVC_ANSWERED_MISS;
    }
    outcome->answered += answers->count;
    outcome->offered += answers->offered;
    outcome->dropped += server->dropped;
    answers->count = answers->offered = server->dropped = 0;
}

struct kvc_test_memcached_outcome kvc_test_memcached_simulate(struct kvc_test_memcached *test, double ms,
                                                              uint64_t seed)
{
    struct kvc_diag diag = {0};
    struct kvc_memcached_server server;
    struct kvc_test_memcached_outcome outcome = {0};
    void *state = NULL;
    const struct kvc_source_params params = kvc_scenario_source(&test->scenario, 1, seed);
    cr_assert_eq(kvc_memcached_store_create(&test->scenario, seed, &state, NULL, &diag), KVC_OK, "%s",
                 diag.message);
    struct kvc_memcached_store *store = state;
    struct kvc_source *source = kvc_source_create(&params, &diag);
    cr_assert_not_null(source);
    kvc_memcached_server_open(&server, &test->scenario, &store->shard[0], source, 0, seed);
    double sum_ns = 0, last_ns = 0, until_ns = (1 + ms) * MS_NS, before_ns = 0;
    uint64_t measured = 0;
    double slice_ns = fmin(SLICE_NS, kvc_memcached_slice_ns(&test->scenario));
    for (double now_ns = slice_ns; now_ns <= until_ns; now_ns += slice_ns) {
        kvc_memcached_server_advance(&server, now_ns);
        take(&server, &outcome, &last_ns, &sum_ns, &measured, until_ns);
        before_ns = now_ns <= MS_NS ? kvc_memcached_server_thread_busy_ns(&server) : before_ns;
    }
    outcome.in_flight = server.requests - server.free_count;
    outcome.thread_busy_ns = kvc_memcached_server_thread_busy_ns(&server) - before_ns;
    cr_expect_eq(outcome.offered, outcome.answered + outcome.dropped + outcome.in_flight);
    cr_expect_eq(outcome.dropped, server.ring_drops + server.handed_drops);
    outcome.mops = (double)measured / (ms * MS_NS) * 1e3;
    outcome.mean_ns = sum_ns / (double)measured;
    kvc_memcached_server_close(&server);
    kvc_source_free(source);
    kvc_memcached_store_free(store);
    return outcome;
}
