/* What the stores of two replicas have in common, and what not. */
#include "models/cuckoo_store/store.h"

#include <criterion/criterion.h>

#include "models/megakv/run_fixture.h"

enum { SOCKETS = 2, KEYS = 200000 };

struct setup {
    struct kvc_scenario scenario;
    struct kvc_megakv_options options;
    struct kvc_megakv_config config;
    struct kvc_test_devices devices;
};

/* The slabs hold a part of the keys. */
static void open_setup(struct setup *setup)
{
    *setup = (struct setup){
        .scenario = {.node = {.sockets = SOCKETS},
                     .cluster = {.nodes = 1},
                     .run = {.seed = 1, .replicas = 1}},
        .devices = {
            .cpu = {.cores = 5, .threads_per_core = 2, .clock_hz = 1e9},
            .dram = {.line_bytes = 64, .bytes_per_s = 1e12},
            .gpu = {.memory_bytes = 1e10, .clock_count = 1, .clocks = {{.core_hz = 1e9, .memory_hz = 1e9}}},
            .nic = {.ports = 1,
                    .queues = 64,
                    .rss_entries = 128,
                    .bytes_per_s = 1e12,
                    .mtu_bytes = 160,
                    .ring_frames = 4096},
            .pcie = {.h2d_bytes_per_s = 1e10, .d2h_bytes_per_s = 1e10}}};
    kvc_option_table_set_defaults(&kvc_megakv_option_table, &setup->options);
    kvc_option_table_set_defaults(&kvc_workload_option_table, &setup->scenario.workload);
    setup->options.index_bytes = 8 << 20;
    setup->options.slab_bytes = KVC_MEGAKV_SLAB_BYTES;
    setup->options.cycle_ns = 100e3;
    setup->scenario.workload.keys = KEYS;
    setup->scenario.options = &setup->options;
    kvc_test_connect(&setup->scenario.node, &setup->devices);
    kvc_test_resolve(&setup->scenario, &setup->config);
}

static struct kvc_cuckoo_store *store_of(const struct setup *setup, uint64_t seed)
{
    struct kvc_diag diag = {0};
    struct kvc_cuckoo_store *store = NULL;
    cr_assert_eq(kvc_megakv_store_create(&setup->scenario, seed, NULL, &store, &diag), KVC_OK, "%s",
                 diag.message);
    return store;
}

/* Where the keys are in a store. */
struct places {
    uint8_t shard[KEYS]; /* SOCKETS: the key was evicted. */
    uint32_t location[KEYS];
    uint32_t held;
};

static struct places *places_of(const struct setup *setup, uint64_t seed)
{
    struct kvc_cuckoo_store *store = store_of(setup, seed);
    const struct kvc_source_params params = kvc_megakv_source_of(&setup->scenario, seed);
    struct kvc_source *source = kvc_source_create(&params, NULL);
    struct kvc_batch *batch = kvc_batch_create(KEYS, kvc_workload_key_stride(&setup->scenario.workload));
    struct places *places = calloc(1, sizeof(*places));
    cr_assert(source != NULL && batch != NULL && places != NULL);
    kvc_source_keys(source, 0, KEYS, batch);
    for (uint32_t i = 0; i < KEYS; i++) {
        uint32_t shard = kvc_source_shard(source, batch->hash[i]);
        kvc_index_search(store->shards[shard].index, &batch->hash[i], 1, &places->location[i],
                         &store->shards[shard].index_stats);
        bool held = places->location[i] != KVC_LOCATION_NONE;
        places->shard[i] = (uint8_t)(held ? shard : SOCKETS);
        places->held += held;
    }
    kvc_batch_free(batch);
    kvc_source_free(source);
    kvc_cuckoo_store_free(store);
    return places;
}

Test(placement, follows_from_the_seed_of_the_replica)
{
    struct setup setup;
    open_setup(&setup);
    struct places *one = places_of(&setup, 1), *again = places_of(&setup, 1), *other = places_of(&setup, 2);
    cr_expect_arr_eq(one, again, sizeof(*one));
    cr_assert(one->held > KEYS / 4 && one->held < 3 * KEYS / 4, "%u of %d", one->held, KEYS);
    uint32_t both = 0, either = 0, moved = 0, same_location = 0;
    for (uint32_t i = 0; i < KEYS; i++) {
        either += one->shard[i] < SOCKETS || other->shard[i] < SOCKETS;
        if (one->shard[i] < SOCKETS && other->shard[i] < SOCKETS) {
            both++;
            moved += one->shard[i] != other->shard[i];
            same_location += one->location[i] == other->location[i];
        }
    }
    /* The shards are full; which keys found room differs at the edge, with the number of keys of a shard. */
    cr_expect(both < either && both > 0.98 * either, "%u of %u", both, either);
    cr_expect_float_eq((double)moved / both, 1 - 1.0 / SOCKETS, 0.02);
    cr_expect_lt(same_location, both / 100);
    free(one);
    free(again);
    free(other);
}
