#include "models/rdma/server.h"

#include <criterion/criterion.h>
#include <math.h>

#include "models/rdma/predict.h"

struct setup {
    struct kvc_scenario scenario;
    struct kvc_rdma_options options;
    struct kvc_rdma_config config;
    struct kvc_nic nic;
};

/* Atomics on equally popular keys. */
static struct setup published(uint64_t keys)
{
    return (struct setup){
        .options = {.sides = KVC_RDMA_ONE_SIDED,
                    .atomics = true,
                    .reads = 2,
                    .cores = 16,
                    .core_mops = 7.9,
                    .message_mops = 150,
                    .atomic_mops = 2.24,
                    .read_ns = 500,
                    .outstanding = 1024},
        .nic = {.ports = 1,
                .bytes_per_s = 5e9,
                .mtu_bytes = 1500,
                .frame_overhead_bytes = 38,
                .packet_header_bytes = 50,
                .latency_ns = 1000},
        .scenario =
            {.cluster = {.nodes = 1},
             .workload = {.keys = keys, .key_bytes = 8, .value_bytes = 8, .set_frac = 1, .preload_frac = 1}},
    };
}

static void connect(struct setup *setup)
{
    setup->scenario.options = &setup->options;
    setup->scenario.node.device[0] = (struct kvc_device){&kvc_nic_kind, &setup->nic};
    cr_assert_eq(kvc_rdma_resolve(&setup->scenario, &setup->config, NULL), KVC_OK);
    setup->scenario.config = &setup->config;
}

struct outcome {
    double mops, mean_ns;
};

/* Simulates 1 ms after a warm-up of 1 ms. Asserts that every operation is answered once, and not before it
 * was sent. */
static struct outcome simulate(struct setup *setup)
{
    enum { FROM_NS = 1000000, UNTIL_NS = 2000000 };
    struct kvc_diag diag = {0};
    struct kvc_rdma_server server;
    connect(setup);
    cr_assert_eq(kvc_rdma_check(&setup->scenario, &diag), KVC_OK, "%s", diag.message);
    const struct kvc_source_params params = {.workload = &setup->scenario.workload,
                                             .nodes = 1,
                                             .sockets = 1,
                                             .seed = 3,
                                             .hash_seed = 1,
                                             .frame_requests = 1};
    struct kvc_source *source = kvc_source_create(&params, &diag);
    cr_assert_not_null(source);
    kvc_rdma_server_open(&server, &setup->scenario, source);
    double sum_ns = 0, last_ns = 0;
    uint64_t measured = 0, answered = 0, offered = 0;
    for (double now_ns = 4000; now_ns <= UNTIL_NS; now_ns += 4000) {
        kvc_rdma_server_advance(&server, now_ns);
        for (uint32_t i = 0; i < server.answers.count; i++) {
            cr_assert_geq(server.answers.done_ns[i], last_ns);
            cr_assert_gt(server.answers.done_ns[i], server.answers.sent_ns[i]);
            last_ns = server.answers.done_ns[i];
            sum_ns += last_ns >= FROM_NS ? last_ns - server.answers.sent_ns[i] : 0;
            measured += last_ns >= FROM_NS;
        }
        answered += server.answers.count;
        offered += server.answers.offered;
        server.answers.count = server.answers.offered = 0;
    }
    if (setup->scenario.workload.arrival == KVC_ARRIVAL_SATURATE) {
        cr_expect_eq(offered - answered, setup->options.outstanding);
    }
    kvc_rdma_server_close(&server);
    kvc_source_free(source);
    return (struct outcome){(double)measured / (UNTIL_NS - FROM_NS) * 1e3, sum_ns / (double)measured};
}

static void expect_mops(struct setup *setup, double mops)
{
    struct kvc_diag diag = {0};
    struct kvc_result result = {0};
    struct outcome outcome = simulate(setup);
    cr_expect_float_eq(outcome.mops, mops, 0.02 * mops, "%g, not %g", outcome.mops, mops);
    cr_assert_eq(kvc_rdma_predict(&setup->scenario, &result, &diag), KVC_OK);
    cr_expect_float_eq(result.throughput_mops, mops, 0.02 * mops, "closed form: %g, not %g",
                       result.throughput_mops, mops);
    if (setup->scenario.workload.arrival == KVC_ARRIVAL_SATURATE) { /* Little's law. */
        cr_expect_float_eq(outcome.mean_ns * outcome.mops / 1e3, (double)setup->options.outstanding,
                           0.03 * (double)setup->options.outstanding);
    }
}

/* Sec. 5.1.3: the throughput of one-sided atomics grows with the number of keys. */
Test(rdma, atomics_on_a_key_are_one_after_the_other)
{
    for (uint64_t keys = 1; keys <= 4; keys *= 2) {
        struct setup setup = published(keys);
        expect_mops(&setup, 2.24 * (double)keys);
    }
}

Test(rdma, a_key_has_one_core)
{
    struct setup setup = published(1);
    setup.options.sides = KVC_RDMA_TWO_SIDED;
    expect_mops(&setup, 7.9);
}

/* 88 bytes of headers around 16 make 104 bytes at 5 GB/s. */
Test(rdma, many_keys_fill_the_wire)
{
    struct setup setup = published(100000);
    expect_mops(&setup, 5e3 / 104);
}

Test(rdma, messages_bound_a_fast_wire)
{
    struct setup setup = published(100000);
    setup.nic.bytes_per_s = 1e11;
    expect_mops(&setup, 150);
}

/* A lone GET takes two reads, each with a round trip. */
Test(rdma, a_get_takes_two_round_trips)
{
    struct setup setup = published(1000);
    setup.scenario.workload.get_frac = 1;
    setup.scenario.workload.set_frac = 0;
    setup.options.outstanding = 1;
    double read_ns = 2000 + 104 / 5.0 + 1e3 / 150 + 500 + 96 / 5.0;
    cr_expect_float_eq(simulate(&setup).mean_ns, 2 * read_ns, 1e-3 * read_ns);
}

Test(rdma, an_open_load_is_served)
{
    struct setup setup = published(100000);
    setup.scenario.workload.arrival = KVC_ARRIVAL_POISSON;
    setup.scenario.workload.rate_mops = 20;
    expect_mops(&setup, 20);
}

Test(rdma, a_prediction_is_for_the_highest_rate_of_a_curve)
{
    struct setup setup = published(100000);
    struct kvc_diag diag = {0};
    struct kvc_result result = {0};
    connect(&setup);
    setup.scenario.workload.arrival = KVC_ARRIVAL_CURVE;
    setup.scenario.workload.rate_mops = 1; /* A curve ignores this rate. */
    setup.scenario.workload.curve_points = 2;
    setup.scenario.workload.curve[0] = (struct kvc_rate_point){.time_ns = 0, .rate_mops = 20};
    setup.scenario.workload.curve[1] = (struct kvc_rate_point){.time_ns = 1e6, .rate_mops = 10};
    cr_assert_eq(kvc_rdma_predict(&setup.scenario, &result, &diag), KVC_OK);
    cr_expect_float_eq(result.throughput_mops, 20, 1e-9);
}
