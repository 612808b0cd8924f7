/* Resolution replaces every "auto" and refuses scenarios that the equations cannot handle. */
#include <criterion/criterion.h>
#include <string.h>

#include "models/kvdirect/card_fixture.h"
#include "models/kvdirect/config.h"
#include "models/kvdirect/machine.h"
#include "models/kvdirect/store.h"
#include "sim/devices/cpu.h"

struct setup {
    struct kvc_scenario scenario;
    struct kvc_kvdirect_options options;
    struct kvc_kvdirect_config config;
    struct kvc_test_card card;
};

/* Sets every option to auto that can be auto. */
static void describe(struct setup *setup)
{
    memset(setup, 0, sizeof(*setup));
    kvc_option_table_set_defaults(&kvc_kvdirect_option_table, &setup->options);
    setup->options.nics = 2;
    setup->options.memory_bytes = 128 << 20;
    setup->card = kvc_test_published_card;
    setup->card.fpga.dram_bytes = 8 << 20;
    setup->scenario = (struct kvc_scenario){
        .options = &setup->options,
        .node = kvc_test_card_node(&setup->card),
        .cluster = {.nodes = 3},
        .workload = {.keys = 3000000,
                     .key_bytes = 8,
                     .value_bytes = 8,
                     .get_frac = 0.5,
                     .set_frac = 0.5,
                     .preload_frac = 1},
        .run = {.functional = KVC_FUNCTIONAL_SAMPLED, .sample_bytes = 0x1p26},
    };
}

static void expect_refusal(struct setup *setup, const char *part)
{
    struct kvc_diag diag = {0};
    cr_expect_eq(kvc_kvdirect_resolve(&setup->scenario, &setup->config, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, part), "found \"%s\", not \"%s\"", diag.message, part);
}

Test(config, autos_are_settled_and_the_options_stay)
{
    static struct setup setup;
    struct kvc_diag diag = {0};
    describe(&setup);
    struct kvc_kvdirect_options written = setup.options;
    kvc_test_resolve(&setup.scenario, &setup.config);
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(&setup.scenario);
    cr_expect_eq(memcmp(&setup.options, &written, sizeof(written)), 0);
    cr_expect_lt(setup.options.dispatch_frac, 0, "the options keep their auto");
    cr_expect(config->index_frac > 0 && config->index_frac <= 1, "%g", config->index_frac);
    cr_expect_neq(config->inline_bytes, KVC_KVDIRECT_INLINE_AUTO);
    cr_expect(config->dispatch_frac >= 0 && config->dispatch_frac <= 1, "%g", config->dispatch_frac);
    cr_expect_eq(config->shards, 6);
    cr_expect_eq(config->nic_bytes, 64 << 20);
    cr_expect_eq(config->sample_rate, 8, "384 MiB in 64 MiB");
    cr_expect_eq(config->mean.put_frac, 0.5);
    cr_expect_float_eq(config->watts, 6 * 29.2, 1e-9, "the cards alone: the idle power is unknown");
    cr_expect_eq(kvc_kvdirect_check(&setup.scenario, &diag), KVC_OK, "%s", diag.message);
}

Test(config, what_the_user_writes_is_kept)
{
    static struct setup setup;
    describe(&setup);
    setup.options.index_frac = 0.5;
    setup.options.inline_bytes = 10;
    setup.options.dispatch_frac = 0.25;
    setup.scenario.run.functional = KVC_FUNCTIONAL_FULL;
    kvc_test_resolve(&setup.scenario, &setup.config);
    cr_expect_eq(setup.config.index_frac, 0.5);
    cr_expect_eq(setup.config.inline_bytes, 10);
    cr_expect_eq(setup.config.dispatch_frac, 0.25);
    cr_expect_eq(setup.config.sample_rate, 1);
}

Test(config, refuses_what_it_cannot_work_with)
{
    static struct setup setup;
    describe(&setup);
    setup.scenario.workload.value_bytes = 1000;
    expect_refusal(&setup, "workload: found pairs of up to 1008 bytes");
    describe(&setup);
    setup.options.update = KVC_KVDIRECT_UPDATE;
    strcpy(setup.options.lambda, "v +");
    expect_refusal(&setup, "system.lambda: expected a value");
    describe(&setup);
    setup.card.pcie = (struct kvc_pcie){.h2d_bytes_per_s = 1e10};
    expect_refusal(&setup, "does not state packets");
}

/* Every host and link of a node is used, whether sockets have NICs or not. NIC i is at socket i mod
 * sockets, and its traffic to and from another socket crosses the link between them. */
Test(machine, connects_every_nic_with_the_memory_of_every_socket)
{
    struct kvc_test_card card = kvc_test_published_card;
    struct kvc_cpu cpu = {.cores = 8};
    struct kvc_dram dram = {.bytes_per_s = 40e9};
    struct kvc_kvdirect_config config = {
        .card = {&card.pcie, &card.fpga, &card.nic}, .socket_lanes = 40, .socket_bytes_per_s = 25e9};
    struct kvc_scenario scenario = {
        .cluster = {.nodes = 2},
        .config = &config,
        .node = {.device = {{&kvc_pcie_kind, &card.pcie}, {&kvc_cpu_kind, &cpu}, {&kvc_dram_kind, &dram}}}};
    for (uint32_t nics = 1; nics <= 5; nics += 2) {
        for (uint32_t sockets = 1; sockets <= KVC_KVDIRECT_SOCKETS_MAX; sockets++) {
            struct kvc_kvdirect_machine machine;
            struct kvc_diag diag = {0};
            config.nics = nics;
            config.idle_w = nics == 1 ? 0 : 100;
            scenario.node.sockets = sockets;
            struct kvc_platform *platform = kvc_platform_create();
            kvc_kvdirect_machine_open(&machine, &scenario, platform);
            cr_assert_eq(kvc_platform_check(platform, &diag), KVC_OK, "%s", diag.message);
            cr_expect_eq(kvc_platform_hosts(platform), 2 * (2 * nics + 2 * sockets + 1 + (nics > 1)));
            for (uint32_t i = 0; i < 2 * nics; i++) {
                for (uint32_t s = 0; s < sockets; s++) {
                    uint32_t memory = machine.dram[i / nics * sockets + s], there, back;
                    cr_assert_not_null(kvc_platform_route(platform, machine.port[i], memory, &there));
                    cr_assert_not_null(kvc_platform_route(platform, memory, machine.port[i], &back));
                    cr_expect_eq(there, s == i % nics % sockets ? 2 : 3);
                    cr_expect_eq(back, there);
                }
            }
            kvc_kvdirect_machine_close(&machine);
            kvc_platform_free(platform);
        }
    }
}

/* Stores of two replicas spread the same pairs differently over NICs and caches; the same seed gives the
 * same store. */

enum { NICS = 4, KEYS = 60000 };

struct stores {
    struct kvc_scenario scenario;
    struct kvc_kvdirect_options options;
    struct kvc_kvdirect_config config;
    struct kvc_test_card card;
};

static void open_stores(struct stores *setup)
{
    *setup = (struct stores){.card = kvc_test_published_card,
                             .scenario = {.cluster = {.nodes = 1}, .run = {.seed = 1, .replicas = 1}}};
    kvc_option_table_set_defaults(&kvc_kvdirect_option_table, &setup->options);
    kvc_option_table_set_defaults(&kvc_workload_option_table, &setup->scenario.workload);
    setup->options.nics = NICS;
    setup->options.memory_bytes = 4 << 20;
    setup->card.fpga.dram_bytes = 1 << 17;
    setup->scenario.workload.keys = KEYS;
    setup->scenario.workload.popularity = KVC_POPULARITY_ZIPF;
    setup->scenario.workload.zipf_s = 0.99;
    setup->scenario.options = &setup->options;
    setup->scenario.node = kvc_test_card_node(&setup->card);
    kvc_test_resolve(&setup->scenario, &setup->config);
}

static struct kvc_kvdirect_store *store_of(const struct stores *setup, uint64_t seed)
{
    struct kvc_diag diag = {0};
    struct kvc_kvdirect_store *store = NULL;
    cr_assert_eq(kvc_kvdirect_store_create(&setup->scenario, seed, NULL, &store, &diag), KVC_OK, "%s",
                 diag.message);
    cr_assert_eq(store->refused, 0);
    return store;
}

/* Returns how many places of a cache hold another line in the other store. */
static uint32_t other_lines(const struct kvc_kvdirect_dispatch *one, const struct kvc_kvdirect_dispatch *two)
{
    uint32_t others = 0;
    for (uint32_t i = 0; i < one->places; i++) {
        others += one->place[i] != two->place[i];
    }
    return others;
}

Test(placement, follows_from_the_seed_of_the_replica)
{
    struct stores setup;
    open_stores(&setup);
    struct kvc_kvdirect_store *one = store_of(&setup, 1), *again = store_of(&setup, 1),
                              *other = store_of(&setup, 2);
    uint64_t bytes[2] = {0};
    uint32_t differ = 0;
    for (uint32_t i = 0; i < NICS; i++) {
        uint64_t here = kvc_kvdirect_table_pair_bytes(one->shards[i].table);
        uint64_t there = kvc_kvdirect_table_pair_bytes(other->shards[i].table);
        cr_expect_eq(here, kvc_kvdirect_table_pair_bytes(again->shards[i].table));
        cr_expect_eq(other_lines(&one->shards[i].dispatch, &again->shards[i].dispatch), 0);
        cr_expect_gt(other_lines(&one->shards[i].dispatch, &other->shards[i].dispatch),
                     one->shards[i].dispatch.places / 4);
        differ += here != there;
        bytes[0] += here;
        bytes[1] += there;
    }
    cr_expect_geq(differ, NICS - 1u);
    cr_expect_eq(bytes[0], bytes[1]);
    kvc_kvdirect_store_free(one);
    kvc_kvdirect_store_free(again);
    kvc_kvdirect_store_free(other);
}
