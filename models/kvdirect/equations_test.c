#include <criterion/criterion.h>
#include <math.h>

#include "kernels/kvdirect/table.h"
#include "models/kvdirect/card_fixture.h"
#include "models/kvdirect/equations.h"

static const struct kvc_kvdirect_options options_of_64_gib = {.nics = 1,
                                                              .lanes = 80,
                                                              .idle_w = 87,
                                                              .memory_bytes = 0x1p36,
                                                              .index_frac = 0.75,
                                                              .inline_bytes = 15,
                                                              .dispatch_frac = -1,
                                                              .in_flight = 256,
                                                              .station = 1024};

struct setup {
    struct kvc_kvdirect_options options;
    struct kvc_test_card card;
    struct kvc_scenario scenario;
    struct kvc_kvdirect_config config;
};

/* Returns KV-Direct's NIC with its memory half full of 10-byte pairs. */
static struct setup published(void)
{
    return (struct setup){
        .options = options_of_64_gib,
        .card = kvc_test_published_card,
        .scenario = {.cluster = {.nodes = 1},
                     .workload = {.keys = 3400000000u,
                                  .key_bytes = 8,
                                  .value_bytes = 2,
                                  .get_frac = 1,
                                  .popularity = KVC_POPULARITY_ZIPF,
                                  .zipf_s = 0.99,
                                  .preload_frac = 1}},
    };
}

static void resolve(struct setup *setup)
{
    setup->scenario.options = &setup->options;
    setup->scenario.node = kvc_test_card_node(&setup->card);
    kvc_test_resolve(&setup->scenario, &setup->config);
}

static double best_dispatch(struct setup *setup)
{
    resolve(setup);
    return setup->config.dispatch_frac;
}

/* Chains of very many keys are summed around their mean only. */
Test(equations, chains_are_those_of_all_numbers_of_keys)
{
    static const double means[] = {0.5, 499, 501, 4000};
    enum { ROOM = 10 };
    for (size_t i = 0; i < sizeof(means) / sizeof(*means); i++) {
        double mean = means[i], before = 0, behind = 0;
        for (uint32_t keys = 1; keys <= 2 * mean + 100; keys++) {
            before += (keys - 1) / ROOM;
            behind += exp(keys * log(mean) - mean - lgamma(keys + 1.0)) * before / mean;
        }
        double reads = kvc_kvdirect_accesses_of(mean * 1000, 1000, 0, 100).bucket_reads;
        cr_expect_float_eq(reads, 1 + behind, 1e-9 * reads, "mean %g: %.17g, not %.17g", mean, reads,
                           1 + behind);
    }
}

Test(equations, the_best_dispatch_loads_dram_and_pcie_alike)
{
    struct setup setup = published();
    const struct kvc_kvdirect_config *config = &setup.config;
    double best = best_dispatch(&setup);
    const struct kvc_card_reuse *reuse = kvc_kvdirect_config_reuse(config, &setup.scenario.workload);
    struct kvc_kvdirect_loads loads = kvc_kvdirect_loads_of(&config->card, &config->mean, reuse, best, 0);
    cr_expect_float_eq(loads.dram_ns, loads.pcie_ns, 0.001 * loads.pcie_ns);
    cr_expect(best > 0.3 && best < 0.9, "%g", best);
    /* The rate is never the limit, because the DRAM caches everything. */
    setup.card.fpga.dram_bytes_per_s = 1e13;
    cr_expect_eq(best_dispatch(&setup), 1);
    setup.card.fpga.dram_bytes = 0;
    cr_expect_eq(best_dispatch(&setup), 0);
}

/* Sec. 6.3.1: a faster DRAM takes more of the load, a larger one a little less. */
Test(equations, the_best_dispatch_follows_the_card)
{
    struct setup setup = published();
    double best = best_dispatch(&setup);
    setup.scenario.workload.get_frac = 0;
    setup.scenario.workload.set_frac = 1;
    cr_expect_eq(best_dispatch(&setup), best, "the paper's equation has no writes");
    setup.card.fpga.dram_bytes_per_s *= 1.5;
    cr_expect_gt(best_dispatch(&setup), best);
    setup.card.fpga.dram_bytes_per_s /= 3;
    cr_expect_lt(best_dispatch(&setup), best);
}

Test(equations, packets_and_power)
{
    struct setup setup = published();
    resolve(&setup);
    cr_expect_eq(setup.config.mean.packet_requests, 131,
                 "1450 bytes of responses of 9 bytes and a value of 2");
    cr_expect_float_eq(setup.config.watts, 116.2, 1e-9);
    setup.scenario.workload.frame_requests = 7;
    resolve(&setup);
    cr_expect_eq(setup.config.mean.packet_requests, 7);
}

/* All NICs of a node share the memory of its sockets: twice the sockets bear twice the load, unless the links
 * between them are the limit. Each operation here reads a line and writes one. */
Test(equations, the_host_bears_its_channels)
{
    const struct kvc_kvdirect_loads loads = {
        .host_reads = 1, .host_writes = 1, .host_read_bytes = 64, .host_write_bytes = 64};
    const struct kvc_dram dram = {.bytes_per_s = 12.8e9, .line_bytes = 64};
    const struct kvc_pcie *pcie = &kvc_test_published_card.pcie;
    double memory_ns;
    cr_expect_float_eq(kvc_kvdirect_host_limit_per_ns(&loads, pcie, &dram, 1, INFINITY, &memory_ns), 0.1,
                       1e-9);
    cr_expect_float_eq(memory_ns, 10, 1e-9);
    cr_expect_float_eq(kvc_kvdirect_host_limit_per_ns(&loads, pcie, &dram, 2, INFINITY, &memory_ns), 0.2,
                       1e-9);
    /* Up: a write and a request, 90 + 26 bytes; down: 90 bytes. A quarter of all crosses each way. */
    cr_expect_float_eq(kvc_kvdirect_host_limit_per_ns(&loads, pcie, &dram, 2, 5.15e9, &memory_ns), 0.1, 1e-9);
}

enum { TABLE_BYTES = 4 << 20 };

static const uint32_t key_bytes = 8;

static struct kvc_kvdirect_table_stats run_all(struct kvc_kvdirect_table *table, uint32_t keys, uint8_t verb,
                                               uint32_t pair_bytes)
{
    struct kvc_kvdirect_table_stats stats = {0};
    static uint8_t value[KVC_KVDIRECT_TABLE_PAIR_MAX];
    for (uint64_t key = 1; key <= keys; key++) {
        struct kvc_kvdirect_table_op op = {.key = &key,
                                           .key_bytes = (uint8_t)key_bytes,
                                           .verb = verb,
                                           .value = value,
                                           .value_bytes = (uint16_t)(pair_bytes - key_bytes)};
        kvc_kvdirect_table_run(table, &op, 1, &stats);
        cr_assert_eq(op.result, KVC_KVDIRECT_TABLE_OK);
    }
    return stats;
}

/* Compares the closed form with GETs and overwriting PUTs in the real table, filled with pairs of one size.
 */
static void expect_accesses(uint32_t keys, double index_frac, uint32_t inline_bytes, uint32_t pair_bytes)
{
    const struct kvc_kvdirect_table_params params = {
        .bytes = TABLE_BYTES, .hash_index_frac = index_frac, .inline_bytes = inline_bytes, .seed = 5};
    struct kvc_kvdirect_table *table = kvc_kvdirect_table_create(&params);
    cr_assert_not_null(table);
    run_all(table, keys, KVC_KVDIRECT_TABLE_PUT, pair_bytes);
    struct kvc_kvdirect_table_stats gets = run_all(table, keys, KVC_KVDIRECT_TABLE_GET, pair_bytes);
    struct kvc_kvdirect_table_stats puts = run_all(table, keys, KVC_KVDIRECT_TABLE_PUT, pair_bytes);
    struct kvc_kvdirect_accesses expected = kvc_kvdirect_accesses_of(
        keys, (double)kvc_kvdirect_table_index_buckets(table), inline_bytes, pair_bytes);
    double per_get = (double)kvc_kvdirect_table_accesses(&gets.get) / keys;
    double per_put = (double)kvc_kvdirect_table_accesses(&puts.put) / keys;
    cr_expect_float_eq(kvc_kvdirect_reads(&expected), per_get, 0.02 * per_get,
                       "GET of %u, %u bytes: %g, really %g", keys, pair_bytes, kvc_kvdirect_reads(&expected),
                       per_get);
    cr_expect_float_eq(kvc_kvdirect_reads(&expected) + 1, per_put, 0.02 * per_put,
                       "PUT of %u, %u bytes: %g, really %g", keys, pair_bytes,
                       kvc_kvdirect_reads(&expected) + 1, per_put);
    kvc_kvdirect_table_free(table);
}

Test(layout, accesses_are_those_of_the_real_table)
{
    for (double utilization = 0.1; utilization < 0.55; utilization += 0.1) {
        uint32_t keys = (uint32_t)(utilization * TABLE_BYTES);
        expect_accesses(keys / 10, 0.6, 15, 10);
        expect_accesses(keys / 10, 0.3, 15, 10);
        expect_accesses(keys / 25, 0.5, 25, 25);
        expect_accesses(keys / 62, 0.2, 15, 62);
        expect_accesses(keys / 254, 0.1, 15, 254);
    }
}

/* All pairs fit with the best index, but not with a slightly larger one. The real table agrees. */
Test(layout, the_best_index_is_the_largest_that_holds_all)
{
    const struct {
        uint32_t pair_bytes, inline_bytes;
    } pairs[] = {{10, 15}, {25, 25}, {62, 15}, {254, 15}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        for (double utilization = 0.2; utilization < 0.55; utilization += 0.1) {
            double keys = floor(utilization * TABLE_BYTES / pairs[i].pair_bytes);
            uint32_t pair = pairs[i].pair_bytes, inlined = pairs[i].inline_bytes;
            double best = kvc_kvdirect_best_index(keys, TABLE_BYTES, inlined, pair);
            cr_assert_gt(best, 0);
            cr_expect_leq(kvc_kvdirect_needed_frac(keys, TABLE_BYTES, best, inlined, pair), 1);
            if (best < 0.98) {
                cr_expect_gt(kvc_kvdirect_needed_frac(keys, TABLE_BYTES, best + 0.02, inlined, pair), 1);
            }
            expect_accesses((uint32_t)keys, best, inlined, pair);
        }
    }
    cr_expect_eq(kvc_kvdirect_best_index(1e6, TABLE_BYTES, 15, 254), 0, "the pairs do not fit");
}

/* Fig. 9a: at the same utilization, a larger index needs fewer accesses. */
Test(layout, a_larger_index_needs_fewer_accesses)
{
    double before = INFINITY;
    for (double index = 0.1; index <= 0.8; index += 0.1) {
        struct kvc_kvdirect_accesses accesses =
            kvc_kvdirect_accesses_of(0.4 * TABLE_BYTES / 10, TABLE_BYTES * index / 64, 15, 10);
        cr_expect_lt(kvc_kvdirect_reads(&accesses), before);
        before = kvc_kvdirect_reads(&accesses);
    }
}
