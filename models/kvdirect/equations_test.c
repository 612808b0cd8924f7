#include "models/kvdirect/equations.h"

#include <criterion/criterion.h>
#include <math.h>

#include "models/kvdirect/card_fixture.h"

/* N equally popular lines compete for C places, and a fraction l of them is cacheable. x = l N / C lines
 * share a place on average, Poisson distributed, and the next use hits with probability (1 - exp(-x)) / x. */
Test(equations, uniform_hits_are_those_of_a_direct_map)
{
    const struct kvc_workload workload = {.keys = 100000, .popularity = KVC_POPULARITY_UNIFORM};
    const struct kvc_kvdirect_accesses accesses = {.pairs_per_bucket = 1e-6};
    static struct kvc_kvdirect_reuse reuse;
    kvc_kvdirect_reuse_of(&workload, &accesses, 1e5 / 1e-6, 10000, &reuse);
    for (double l = 0.1; l <= 1; l += 0.1) {
        double each = l * 1e5 / 1e4;
        cr_expect_float_eq(kvc_kvdirect_hit_frac(&reuse, l), -expm1(-each) / each, 0.003, "l = %g: %g", l,
                           kvc_kvdirect_hit_frac(&reuse, l));
    }
}

Test(equations, popular_keys_hit_more)
{
    struct kvc_workload workload = {.keys = 1000000, .popularity = KVC_POPULARITY_ZIPF, .zipf_s = 0.99};
    const struct kvc_kvdirect_accesses accesses = {.pairs_per_bucket = 2};
    static struct kvc_kvdirect_reuse zipf, uniform;
    kvc_kvdirect_reuse_of(&workload, &accesses, 500000, 31250, &zipf);
    workload.popularity = KVC_POPULARITY_UNIFORM;
    kvc_kvdirect_reuse_of(&workload, &accesses, 500000, 31250, &uniform);
    double before = 1;
    for (double l = 0.1; l <= 1; l += 0.1) {
        double hit = kvc_kvdirect_hit_frac(&zipf, l);
        cr_expect_gt(hit, kvc_kvdirect_hit_frac(&uniform, l));
        cr_expect_lt(hit, before, "a larger share competes for the same places");
        before = hit;
    }
}

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

Test(equations, the_best_dispatch_loads_dram_and_pcie_alike)
{
    struct setup setup = published();
    const struct kvc_kvdirect_config *config = &setup.config;
    static struct kvc_kvdirect_reuse reuse;
    double best = best_dispatch(&setup);
    kvc_kvdirect_reuse_of(&setup.scenario.workload, &config->mean.accesses, config->buckets,
                          config->cache_lines, &reuse);
    struct kvc_kvdirect_loads loads = kvc_kvdirect_loads_of(&config->card, &config->mean, &reuse, best, 0);
    cr_expect_float_eq(loads.dram_ns, loads.pcie_ns, 0.001 * loads.pcie_ns);
    cr_expect(best > 0.3 && best < 0.9, "%g", best);
    setup.card.fpga.dram_bytes_per_s = 1e13; /* Never the limit: the DRAM caches everything. */
    cr_expect_eq(best_dispatch(&setup), 1);
    setup.card.fpga.dram_bytes = 0;
    cr_expect_eq(best_dispatch(&setup), 0);
}

/* Sec. 6.3.1: a faster DRAM takes more of the load, a larger one a little less. */
Test(equations, the_best_dispatch_follows_the_card)
{
    struct setup setup = published();
    double best = best_dispatch(&setup);
    setup.card.fpga.dram_bytes_per_s *= 1.5;
    cr_expect_gt(best_dispatch(&setup), best);
    setup.card.fpga.dram_bytes_per_s /= 3;
    cr_expect_lt(best_dispatch(&setup), best);
}

Test(equations, packets_and_power)
{
    struct setup setup = published();
    resolve(&setup);
    cr_expect_eq(setup.config.mean.packet_requests, 161, "1450 bytes of 9-byte requests");
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
