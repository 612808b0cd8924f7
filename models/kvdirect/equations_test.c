#include "models/kvdirect/equations.h"

#include <criterion/criterion.h>
#include <math.h>

#include "models/kvdirect/card_fixture.h"

/* N lines that are used alike, C places, a share l of the lines cacheable: a place holds one of x = l N / C
 * lines on average, Poisson distributed, and the next use is of the line that it holds with (1 - exp(-x)) /
 * x. */
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

static const struct kvc_kvdirect_options system_of_64_gib = {.nics = 1,
                                                             .lanes = 80,
                                                             .idle_w = 87,
                                                             .memory_bytes = 0x1p36,
                                                             .index_frac = 0.75,
                                                             .inline_bytes = 15,
                                                             .dispatch_frac = -1,
                                                             .in_flight = 256,
                                                             .station = 1024};

/* KV-Direct's card, its memory half full of 10-byte pairs. */
static struct kvc_scenario published(const struct kvc_kvdirect_options *system, struct kvc_test_card *card)
{
    *card = kvc_test_published_card;
    return (struct kvc_scenario){
        .system = (void *)system,
        .node = kvc_test_card_node(card),
        .cluster = {.nodes = 1},
        .workload = {.keys = 3400000000u,
                     .key_bytes = 8,
                     .value_bytes = 2,
                     .get_frac = 1,
                     .popularity = KVC_POPULARITY_ZIPF,
                     .zipf_s = 0.99,
                     .preload_frac = 1},
    };
}

Test(equations, the_best_dispatch_loads_dram_and_pcie_alike)
{
    struct kvc_test_card card;
    struct kvc_scenario scenario = published(&system_of_64_gib, &card);
    static struct kvc_kvdirect_reuse reuse;
    struct kvc_kvdirect_accesses accesses;
    double best = kvc_kvdirect_best_dispatch(&scenario);
    kvc_kvdirect_inputs(&scenario, &accesses, &reuse);
    struct kvc_kvdirect_loads loads = kvc_kvdirect_loads_of(&scenario, &accesses, &reuse, best, 0);
    cr_expect_float_eq(loads.dram_ns, loads.pcie_ns, 0.001 * loads.pcie_ns);
    cr_expect(best > 0.3 && best < 0.9, "%g", best);
    card.fpga.dram_bytes_per_s = 1e13; /* never the limit: the DRAM is a cache of everything */
    cr_expect_eq(kvc_kvdirect_best_dispatch(&scenario), 1);
    card.fpga.dram_bytes = 0;
    cr_expect_eq(kvc_kvdirect_best_dispatch(&scenario), 0);
}

/* Sec. 6.3.1: a faster DRAM takes more of the load, a larger one a little less. */
Test(equations, the_best_dispatch_follows_the_card)
{
    struct kvc_test_card card;
    struct kvc_scenario scenario = published(&system_of_64_gib, &card);
    double best = kvc_kvdirect_best_dispatch(&scenario);
    card.fpga.dram_bytes_per_s *= 1.5;
    cr_expect_gt(kvc_kvdirect_best_dispatch(&scenario), best);
    card.fpga.dram_bytes_per_s /= 3;
    cr_expect_lt(kvc_kvdirect_best_dispatch(&scenario), best);
}

Test(equations, packets_and_power)
{
    struct kvc_test_card card;
    struct kvc_scenario scenario = published(&system_of_64_gib, &card);
    cr_expect_eq(kvc_kvdirect_packet_requests(&scenario), 161, "1450 bytes of 9-byte requests");
    scenario.workload.frame_requests = 7;
    cr_expect_eq(kvc_kvdirect_packet_requests(&scenario), 7);
    cr_expect_float_eq(kvc_kvdirect_watts(&scenario), 116.2, 1e-9);
}
