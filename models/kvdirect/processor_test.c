#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/kvdirect/card_fixture.h"
#include "models/kvdirect/processor.h"

enum { KEYS_MAX = 4096, VALUE_MAX = 64, SEQUENCES_MAX = 4000000, SEED = 7 };

struct setup {
    struct kvc_scenario scenario;
    struct kvc_kvdirect_options options;
    struct kvc_kvdirect_config config;
    struct kvc_test_card card;
};

/* A sequential map that checks every operation when it is done. */
struct witness {
    struct {
        uint64_t hash;
        uint64_t last, last_write; /* Sequence + 1; 0: none yet. */
        bool present;
        uint32_t bytes;
        uint8_t value[VALUE_MAX];
    } key[KEYS_MAX * 4];
    uint8_t *seen; /* Number of answers for each sequence number. */
    uint64_t done;
    double last_ns;
    int update;      /* enum kvc_kvdirect_update. */
    bool reads_pass; /* Reads may pass each other. */
    struct kvc_kvdirect_lambda lambda;
    uint32_t value_bytes; /* Value size of every key [bytes]. */
};

static struct witness *witness_create(const struct setup *setup)
{
    struct witness *witness = calloc(1, sizeof(*witness));
    cr_assert_not_null(witness);
    witness->seen = calloc(SEQUENCES_MAX, 1);
    cr_assert_not_null(witness->seen);
    witness->update = setup->options.update;
    cr_assert_eq(kvc_kvdirect_lambda_compile(
                     setup->options.update >= KVC_KVDIRECT_UPDATE ? setup->options.lambda : "v + d", "lambda",
                     &witness->lambda, NULL),
                 KVC_OK);
    witness->reads_pass = setup->options.engine == KVC_KVDIRECT_STALL;
    witness->value_bytes = (uint32_t)setup->scenario.workload.value_bytes;
    return witness;
}

static void watch(void *data, const struct kvc_kvdirect_watched *watched)
{
    struct witness *witness = data;
    uint32_t at = (uint32_t)(watched->hash % (KEYS_MAX * 4));
    while (witness->key[at].bytes != 0 && witness->key[at].hash != watched->hash) {
        at = (at + 1) % (KEYS_MAX * 4);
    }
    if (witness->key[at].bytes == 0) { /* The key was preloaded. */
        witness->key[at].hash = watched->hash;
        witness->key[at].present = true;
        witness->key[at].bytes = witness->value_bytes;
        kvc_kvdirect_first_value(watched->hash, witness->key[at].value, witness->key[at].bytes);
    }
    cr_assert_geq(watched->done_ns, witness->last_ns, "operations must end in order of time");
    witness->last_ns = watched->done_ns;
    cr_assert_lt(watched->sequence, (uint64_t)SEQUENCES_MAX);
    cr_assert_eq(witness->seen[watched->sequence]++, 0, "an operation was answered twice");
    /* A stalling pipeline stops for writes only, so reads between two writes may pass each other. */
    bool read =
        watched->op == KVC_OP_GET || (watched->op == KVC_OP_SET && witness->update > KVC_KVDIRECT_UPDATE);
    uint64_t behind = read && witness->reads_pass ? witness->key[at].last_write : witness->key[at].last;
    cr_assert_gt(watched->sequence + 1, behind, "a key's operations must end in their order: %llu after %llu",
                 (unsigned long long)watched->sequence, (unsigned long long)behind - 1);
    if (watched->sequence + 1 > witness->key[at].last) {
        witness->key[at].last = watched->sequence + 1;
    }
    if (!read) {
        witness->key[at].last_write = watched->sequence + 1;
    }
    witness->done++;
    if (watched->op == KVC_OP_GET) {
        cr_assert_eq(watched->present, witness->key[at].present);
        if (watched->present) {
            cr_assert_eq(memcmp(watched->value, witness->key[at].value, watched->value_bytes), 0,
                         "a GET must read the last write");
        }
    } else if (watched->op == KVC_OP_DELETE) {
        witness->key[at].present = false;
    } else if (witness->update == KVC_KVDIRECT_PUT) {
        witness->key[at].present = true;
        memcpy(witness->key[at].value, watched->value, watched->value_bytes);
    } else if (witness->key[at].present && witness->update <= KVC_KVDIRECT_UPDATE) {
        uint32_t element_bytes = witness->update == KVC_KVDIRECT_ADD ? 8 : 4;
        kvc_kvdirect_lambda_update(&witness->lambda, witness->key[at].value, witness->key[at].bytes,
                                   element_bytes, 1);
        cr_assert_eq(memcmp(watched->value, witness->key[at].value, watched->value_bytes), 0);
    }
}

/* Returns KV-Direct's NIC as published, with a DRAM that holds a sixteenth of the memory. */
static struct setup published(uint64_t keys)
{
    struct setup setup = {
        .options = {.nics = 1,
                    .lanes = 80,
                    .socket_bytes_per_s = 25.7e9,
                    .slice_ns = 4000,
                    .memory_bytes = 1 << 20,
                    .index_frac = 0.6,
                    .inline_bytes = 20,
                    .dispatch_frac = 0.5,
                    .splits_per_s = 900e6,
                    .merges_per_s = 133e6,
                    .in_flight = 256,
                    .station = 1024},
        .card = kvc_test_published_card,
        .scenario = {.cluster = {.nodes = 1},
                     .workload = {.keys = keys,
                                  .key_bytes = 8,
                                  .value_bytes = 8,
                                  .get_frac = 1,
                                  .preload_frac = 1,
                                  .zipf_s = 0.99},
                     .run = {.seed = 1, .replicas = 1}},
    };
    setup.card.fpga.dram_bytes = 65536;
    return setup;
}

static void mix(struct setup *setup, double get, double set)
{
    setup->scenario.workload.get_frac = get;
    setup->scenario.workload.set_frac = set;
    setup->scenario.workload.delete_frac = 1 - get - set;
}

struct outcome {
    double mops;
    struct kvc_kvdirect_counts counts;
    uint64_t host_reads, host_writes;
    uint32_t most_reads, most_writes, most_operations;
    double cache_hit_frac;
};

/* Saturates one NIC for duration_ns and checks every operation against the witness. */
static struct outcome saturate(struct setup *setup, double duration_ns)
{
    struct kvc_diag diag = {0};
    struct kvc_kvdirect_store *store = NULL;
    struct kvc_kvdirect_processor processor;
    setup->scenario.options = &setup->options;
    setup->scenario.node = kvc_test_card_node(&setup->card);
    kvc_test_resolve(&setup->scenario, &setup->config);
    cr_assert_eq(kvc_kvdirect_check(&setup->scenario, &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(kvc_kvdirect_store_create(&setup->scenario, SEED, NULL, &store, &diag), KVC_OK, "%s",
                 diag.message);
    cr_assert_eq(store->refused, 0);
    struct kvc_source_params params = kvc_scenario_source(&setup->scenario, 1, SEED);
    params.frame_requests = 50;
    struct kvc_source *source = kvc_source_create(&params, &diag);
    struct witness *witness = witness_create(setup);
    cr_assert_not_null(source);
    kvc_kvdirect_processor_open(&processor, &setup->scenario, store, source, 0, params.frame_requests, 3);
    processor.watch = watch;
    processor.watch_data = witness;
    for (double now_ns = 1000; now_ns <= duration_ns; now_ns += 1000) {
        kvc_kvdirect_processor_advance(&processor, now_ns);
        processor.answers.count = 0;
    }
    struct outcome outcome = {.mops = (double)witness->done / duration_ns * 1e3,
                              .counts = processor.counts,
                              .host_reads = processor.memory.host_reads,
                              .host_writes = processor.memory.host_writes,
                              .most_operations = processor.most_in_flight};
    for (int e = 0; e < 2; e++) {
        const struct kvc_pcie_engine *engine = &processor.memory.engine[e];
        outcome.most_reads =
            engine->reads.most > outcome.most_reads ? engine->reads.most : outcome.most_reads;
        outcome.most_writes =
            engine->writes.most > outcome.most_writes ? engine->writes.most : outcome.most_writes;
    }
    const struct kvc_kvdirect_cache_stats *cache = &store->shards[0].dispatch.stats;
    outcome.cache_hit_frac = (double)cache->hits / (double)cache->cacheable;
    /* Every decoded operation is answered or in flight. */
    cr_assert_leq(processor.counts.decoded - witness->done, setup->options.in_flight);
    cr_assert_leq(outcome.most_operations, setup->options.in_flight);
    cr_assert_leq(outcome.most_reads, 64);
    cr_assert_leq(outcome.most_writes, 88);
    free(witness->seen);
    free(witness);
    kvc_kvdirect_processor_close(&processor);
    kvc_source_free(source);
    kvc_kvdirect_store_free(store);
    return outcome;
}

static void expect_near(const char *what, double found, double expected, double part)
{
    cr_expect_float_eq(found, expected, part * expected, "%s: %g, not %g", what, found, expected);
}

/* With one, few and many keys, the witness checks the values and the order of reads and all kinds of writes.
 */
Test(processor, operations_take_effect_in_order_and_read_the_last_write)
{
    const struct {
        uint64_t keys;
        int popularity;
    } loads[] = {{1, KVC_POPULARITY_UNIFORM},
                 {3, KVC_POPULARITY_UNIFORM},
                 {4000, KVC_POPULARITY_ZIPF},
                 {4000, KVC_POPULARITY_UNIFORM}};
    for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++) {
        for (int engine = KVC_KVDIRECT_OUT_OF_ORDER; engine <= KVC_KVDIRECT_STALL; engine++) {
            struct setup setup = published(loads[i].keys);
            setup.options.engine = engine;
            setup.scenario.workload.popularity = loads[i].popularity;
            mix(&setup, 0.5, 0.4);
            saturate(&setup, 300e3);
            setup.options.inline_bytes = 10; /* Pairs lie in slabs. */
            saturate(&setup, 300e3);
            setup.options.station = 2; /* Nearly all operations seem dependent. */
            saturate(&setup, 300e3);
            mix(&setup, 0.3, 0.7);
            setup.options.update = KVC_KVDIRECT_ADD;
            setup.options.dispatch_frac = 1;
            saturate(&setup, 300e3);
        }
    }
}

/* For vectors of eight elements in slabs, the witness checks updates as writes, and reductions and filters as
 * reads. */
Test(processor, vectors_are_updated_in_order)
{
    static const char *const lambdas[] = {[KVC_KVDIRECT_UPDATE] = "v * 3 + d",
                                          [KVC_KVDIRECT_REDUCE] = "s + v",
                                          [KVC_KVDIRECT_FILTER] = "v % 2 == d"};
    for (int update = KVC_KVDIRECT_UPDATE; update <= KVC_KVDIRECT_FILTER; update++) {
        for (int engine = KVC_KVDIRECT_OUT_OF_ORDER; engine <= KVC_KVDIRECT_STALL; engine++) {
            struct setup setup = published(500);
            setup.options.engine = engine;
            setup.options.update = update;
            setup.options.element_bytes = 4;
            setup.options.delta = 1;
            strcpy(setup.options.lambda, lambdas[update]);
            setup.scenario.workload.value_bytes = 32;
            setup.scenario.workload.popularity = KVC_POPULARITY_ZIPF;
            mix(&setup, 0.3, 0.6);
            struct outcome outcome = saturate(&setup, 200e3);
            if (update > KVC_KVDIRECT_UPDATE && engine == KVC_KVDIRECT_STALL) {
                cr_expect_gt(outcome.counts.operations[KVC_OP_SET], 1000);
            }
        }
    }
}

/* Facts kvdirect.ooo.atomics.with and .without: 180 Mops at one operation a clock, and 0.94 Mops if each
 * operation waits for the one before over PCIe. */
Test(processor, atomics_on_one_key)
{
    struct setup setup = published(1);
    mix(&setup, 0, 1);
    setup.options.update = KVC_KVDIRECT_ADD;
    setup.options.dispatch_frac = 0;
    struct outcome ordered = saturate(&setup, 500e3);
    expect_near("out of order", ordered.mops, 180, 0.02);
    setup.options.engine = KVC_KVDIRECT_STALL;
    struct outcome stalled = saturate(&setup, 3e6);
    expect_near("stalled", stalled.mops, 0.94, 0.1);
}

/* Uniform reads of inline pairs: each of two links has 64 reads in flight for 1050 ns and the transfer. */
Test(processor, tags_bound_uniform_reads)
{
    struct setup setup = published(4000);
    setup.options.dispatch_frac = 0;
    struct outcome outcome = saturate(&setup, 1e6);
    /* Lines fall on the links at random, so a link is idle at times. */
    expect_near("reads", (double)outcome.host_reads / 1e6 * 1e3, 2 * 64 / 1.0696, 0.04);
    cr_expect_eq(outcome.most_reads, 64);
    cr_expect_eq(outcome.host_writes, 0);
    expect_near("DMA reads", (double)outcome.host_reads, (double)outcome.counts.accesses[KVC_OP_GET], 0.001);
}

/* If the NIC caches everything, the clock is the limit and PCIe is idle. */
Test(processor, the_clock_bounds_what_the_card_has)
{
    struct setup setup = published(4000);
    setup.options.dispatch_frac = 1;
    setup.card.fpga.dram_bytes = 1 << 20;
    struct outcome outcome = saturate(&setup, 1e6);
    cr_expect_gt(outcome.cache_hit_frac, 0.999);
    cr_expect_eq(outcome.host_reads, 0);
    expect_near("reads", outcome.mops, 180, 0.02);
}

/* Fact kvdirect.ooo.collision: below 25 % with 256 operations in flight and 1024 slots. */
Test(processor, few_operations_seem_dependent)
{
    struct setup setup = published(4000);
    struct outcome outcome = saturate(&setup, 1e6);
    double collided_frac = (double)outcome.counts.collided / (double)outcome.counts.decoded;
    cr_expect_eq(outcome.most_operations, 256);
    cr_expect_lt(collided_frac, 0.25);
    cr_expect_gt(collided_frac, 0.15, "%g", collided_frac);
}

/* Facts kvdirect.hw.cpu.rand_rate and kvdirect.sg.batch: each core reads 29.3 million lines a second and
 * announces 256 at a time. The witness checks that nothing is lost or mixed up. */
Test(processor, cores_can_gather)
{
    for (uint32_t cores = 1; cores <= 2; cores++) {
        struct setup setup = published(4000);
        setup.options.dispatch_frac = 0;
        setup.options.gather_cores = cores;
        setup.options.in_flight = 4096;
        setup.options.station = 65536;
        mix(&setup, 0.9, 0.1);
        saturate(&setup, 300e3);
        mix(&setup, 1, 0);
        struct outcome outcome = saturate(&setup, 2e6);
        expect_near("lines", (double)outcome.counts.accesses[KVC_OP_GET] / 2e6 * 1e3, 29.3 * cores, 0.1);
        cr_expect_lt(outcome.host_reads, outcome.counts.accesses[KVC_OP_GET] / 100,
                     "lines must be fetched in batches");
    }
}

/* The same seed gives the same run. */
Test(processor, is_deterministic)
{
    struct setup setup = published(4000);
    mix(&setup, 0.5, 0.5);
    struct outcome first = saturate(&setup, 200e3), second = saturate(&setup, 200e3);
    cr_expect_eq(memcmp(&first.counts, &second.counts, sizeof(first.counts)), 0);
    cr_expect_eq(first.host_reads, second.host_reads);
    cr_expect_eq(first.host_writes, second.host_writes);
}

/* Fact kvdirect.ooo.atomics.with, fig. 13a: as many atomic operations a second on two to five keys as on one.
 * More keys in flight than operations share the links, which start reads and writes one after another. */
Test(processor, atomics_on_few_keys)
{
    for (uint64_t keys = 1; keys <= 5; keys++) {
        struct setup setup = published(keys);
        mix(&setup, 0, 1);
        setup.options.update = KVC_KVDIRECT_ADD;
        expect_near("few keys", saturate(&setup, 500e3).mops, 180, 0.02);
    }
    struct setup many = published(4000);
    mix(&many, 0, 1);
    many.options.update = KVC_KVDIRECT_ADD;
    many.options.dispatch_frac = 0;
    struct outcome outcome = saturate(&many, 500e3);
    double links_mops = (double)(outcome.host_reads + outcome.host_writes) / 500e3 * 1e3;
    expect_near("reads and writes of two links", links_mops, 2 * 62.5, 0.03);
}

/* Sec. 3.2: as many copies of the function as PCIe feeds, 13.2 GB/s at 180 MHz or 74 bytes a clock. One copy
 * takes an element a clock, and a vector of 16 elements 16 clocks. */
Test(processor, vectors_occupy_the_function)
{
    struct setup setup = published(500);
    setup.options.update = KVC_KVDIRECT_UPDATE;
    setup.options.element_bytes = 4;
    strcpy(setup.options.lambda, "v + d");
    setup.scenario.workload.value_bytes = 64;
    setup.options.delta = 1;
    setup.options.memory_bytes = 4 << 20;
    mix(&setup, 0, 1);
    struct outcome many = saturate(&setup, 300e3);
    cr_expect_eq(setup.config.lambda_units, 19);
    cr_expect_eq(kvc_kvdirect_lambda_busy_clocks(&setup.config, 64), 1);
    setup.options.lambda_units = 1;
    struct outcome one = saturate(&setup, 300e3);
    expect_near("one copy", one.mops, 180.0 / 16, 0.02);
    cr_expect_gt(many.mops, 4 * one.mops);
    cr_expect_leq(one.counts.lambda_busy_ns, 300e3 + 256 * 16 * 1e3 / 180, "with the vectors in flight");
    setup.options.update = KVC_KVDIRECT_REDUCE;
    strcpy(setup.options.lambda, "s + v * d");
    saturate(&setup, 300e3);
    cr_expect_eq(kvc_kvdirect_lambda_clocks(&setup.config, 64), 32, "16 elements, 2 operators each");
}

/* Inserts use up the slabs of their size, and the daemon has to split larger ones. All of its time is
 * counted, and a slow daemon delays PUTs. */
Test(processor, puts_wait_for_the_slab_daemon)
{
    struct setup setup = published(500);
    setup.options.inline_bytes = 10;
    setup.scenario.workload.preload_frac = 0;
    setup.options.index_frac = 0.3;
    mix(&setup, 0, 0.6);
    struct outcome fast = saturate(&setup, 300e3);
    setup.options.splits_per_s = setup.options.merges_per_s = 1e6;
    struct outcome slow = saturate(&setup, 300e3);
    cr_expect_gt(fast.counts.daemon_busy_ns, 0);
    cr_expect_gt(slow.counts.daemon_busy_ns, 100 * fast.counts.daemon_busy_ns);
    cr_expect_lt(slow.mops, fast.mops);
}

/* Even operations have key "a", odd ones have key "b". */
static bool same(void *data, int32_t owner, int32_t operation)
{
    (void)data;
    return owner % 2 == operation % 2;
}

static struct kvc_kvdirect_station station;
static struct kvc_kvdirect_slot *slot;

static void open_station(void)
{
    kvc_kvdirect_station_open(&station, 1, 10);
    slot = kvc_kvdirect_slot_of(&station, UINT64_MAX);
}

static void close_station(void)
{
    kvc_kvdirect_station_close(&station);
}

TestSuite(station, .init = open_station, .fini = close_station);

static enum kvc_kvdirect_admission admit(int32_t operation)
{
    return kvc_kvdirect_station_admit(&station, slot, operation,
                                      slot->owner != KVC_KVDIRECT_NONE && same(NULL, slot->owner, operation));
}

Test(station, a_fetch_alone_leaves_an_empty_slot)
{
    cr_expect_eq(admit(0), KVC_KVDIRECT_FETCH);
    cr_expect_eq(slot->owner, 0);
    cr_expect_eq(kvc_kvdirect_station_next(&station, slot), KVC_KVDIRECT_NEXT_NOTHING,
                 "the fetch is under way");
    cr_expect_eq(slot->owner, 0);
    slot->fetching = false;
    cr_expect_eq(kvc_kvdirect_station_next(&station, slot), KVC_KVDIRECT_NEXT_NOTHING);
    cr_expect_eq(slot->owner, KVC_KVDIRECT_NONE);
}

/* Operations on the owner's key overtake the others. Then their change is written, and the next key follows.
 */
Test(station, waiting_operations_get_the_value_then_the_next_key_is_fetched)
{
    int32_t before = KVC_KVDIRECT_NONE;
    cr_expect_eq(admit(0), KVC_KVDIRECT_FETCH);
    cr_expect_eq(admit(1), KVC_KVDIRECT_WAIT);
    cr_expect_eq(admit(2), KVC_KVDIRECT_WAIT);
    cr_expect_eq(admit(3), KVC_KVDIRECT_WAIT);
    cr_expect_eq(admit(4), KVC_KVDIRECT_WAIT);
    slot->fetching = false;
    cr_expect_eq(kvc_kvdirect_station_take(&station, slot, &before, same, NULL), 2);
    cr_expect_eq(kvc_kvdirect_station_take(&station, slot, &before, same, NULL), 4);
    cr_expect_eq(kvc_kvdirect_station_take(&station, slot, &before, same, NULL), KVC_KVDIRECT_NONE);
    cr_expect_eq(slot->forwarding, 2);
    slot->changed = true;
    cr_expect_eq(kvc_kvdirect_station_next(&station, slot), KVC_KVDIRECT_NEXT_NOTHING,
                 "two operations are being done");
    slot->forwarding = 0;
    cr_expect_eq(kvc_kvdirect_station_next(&station, slot), KVC_KVDIRECT_NEXT_WRITE);
    cr_expect_eq(slot->owner, 0);
    cr_expect_not(slot->changed);
    cr_expect_eq(admit(6), KVC_KVDIRECT_WAIT, "no operation overtakes a waiting one");
    slot->writing = false;
    cr_expect_eq(kvc_kvdirect_station_next(&station, slot), KVC_KVDIRECT_NEXT_FETCH);
    cr_expect_eq(slot->owner, 1);
    slot->fetching = false;
    before = KVC_KVDIRECT_NONE;
    cr_expect_eq(kvc_kvdirect_station_take(&station, slot, &before, same, NULL), 3);
    slot->forwarding = 0;
    cr_expect_eq(kvc_kvdirect_station_next(&station, slot), KVC_KVDIRECT_NEXT_FETCH);
    cr_expect_eq(slot->owner, 6);
}

Test(station, a_value_under_way_serves_who_comes)
{
    admit(0);
    slot->fetching = false;
    slot->changed = true;
    cr_expect_eq(kvc_kvdirect_station_next(&station, slot), KVC_KVDIRECT_NEXT_WRITE);
    cr_expect_eq(admit(2), KVC_KVDIRECT_FORWARD);
    cr_expect_eq(slot->forwarding, 1);
    cr_expect_eq(admit(1), KVC_KVDIRECT_WAIT);
    cr_expect_eq(admit(4), KVC_KVDIRECT_WAIT, "waits behind the other key");
}

Test(station, stalling_lets_reads_pass_together)
{
    cr_expect(kvc_kvdirect_station_enter(slot, false));
    cr_expect(kvc_kvdirect_station_enter(slot, false));
    cr_expect_not(kvc_kvdirect_station_enter(slot, true));
    kvc_kvdirect_station_leave(slot, false);
    kvc_kvdirect_station_leave(slot, false);
    cr_expect(kvc_kvdirect_station_enter(slot, true));
    cr_expect_not(kvc_kvdirect_station_enter(slot, true));
    cr_expect_not(kvc_kvdirect_station_enter(slot, false));
    kvc_kvdirect_station_leave(slot, true);
    cr_expect(kvc_kvdirect_station_enter(slot, false));
}
