/* What the stores of two replicas have in common, and what not. */
#include "models/kvdirect/store.h"

#include "models/kvdirect/card_fixture.h"

enum { NICS = 4, KEYS = 60000 };

struct setup {
    struct kvc_scenario scenario;
    struct kvc_kvdirect_options options;
    struct kvc_kvdirect_config config;
    struct kvc_test_card card;
};

static void open_setup(struct setup *setup)
{
    *setup = (struct setup){.card = kvc_test_published_card,
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

static struct kvc_kvdirect_store *store_of(const struct setup *setup, uint64_t seed)
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
    struct setup setup;
    open_setup(&setup);
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
