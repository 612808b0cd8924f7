/* Batches of random operations, compared with a plain map. */
#include "kernels/kvdirect/table.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/random_fixture.h"
#include "kernels/kvdirect/table_fixture.h"

enum { KEYS = 256, BATCH = 50, BATCHES = 400 };

/* The map: the value of each key, by its serial number. */
struct map {
    uint64_t number[KEYS]; /* Serial number of the value; 0: the key is absent. */
    uint32_t bytes[KEYS];  /* Size of the value [bytes]. */
    uint64_t pairs;
    uint64_t pair_bytes;
};

/* The operations of one call. */
struct batch {
    struct kvc_kvdirect_table_op op[BATCH];
    uint64_t id[BATCH];     /* Number of the operation's key. */
    uint64_t number[BATCH]; /* Serial number of its value. */
    uint8_t key[BATCH][64];
    uint8_t value[BATCH][512];
};

/* Writes the key with this number, which determines its size. Returns the size. */
static uint32_t make_key(uint64_t id, uint8_t *key)
{
    uint32_t bytes = 1 + (uint32_t)(id * 7 % 40);
    memset(key, 0x5a, bytes);
    key[0] = (uint8_t)id;
    if (bytes > 1) {
        key[bytes - 1] = (uint8_t)(id >> 8);
    }
    return bytes;
}

/* Fills a batch: 60 batches in which the table grows alternate with 40 in which it shrinks. */
static void choose(struct batch *batch, int round, uint32_t value_max)
{
    for (int i = 0; i < BATCH; i++) {
        struct kvc_kvdirect_table_op *op = &batch->op[i];
        batch->id[i] = random_word() % KEYS;
        batch->number[i] = (uint64_t)round * BATCH + (uint64_t)i + 1;
        uint64_t verb = random_word() % 8;
        *op = (struct kvc_kvdirect_table_op){.key = batch->key[i],
                                             .key_bytes = (uint8_t)make_key(batch->id[i], batch->key[i]),
                                             .value = batch->value[i],
                                             .value_bytes = 512,
                                             .verb = KVC_KVDIRECT_TABLE_GET};
        if (verb < (round % 100 < 60 ? 5 : 2)) {
            op->verb = KVC_KVDIRECT_TABLE_PUT;
            op->value_bytes = (uint16_t)(random_word() % (value_max + 1));
            fill_value(batch->value[i], batch->number[i], op->value_bytes);
        } else if (verb == 7) {
            op->verb = KVC_KVDIRECT_TABLE_DELETE;
        }
    }
}

/* Compares the results of a PUT with the map and updates it. Returns true if the table was full. */
static bool check_put(struct map *map, uint64_t id, const struct kvc_kvdirect_table_op *op, uint64_t number)
{
    if (op->result == KVC_KVDIRECT_TABLE_FULL) {
        return true;
    }
    cr_assert_eq(op->result, KVC_KVDIRECT_TABLE_OK);
    if (map->number[id] == 0) {
        map->pairs++;
        map->pair_bytes += op->key_bytes;
    }
    map->pair_bytes += op->value_bytes;
    map->pair_bytes -= map->bytes[id];
    map->number[id] = number;
    map->bytes[id] = op->value_bytes;
    return false;
}

/* Compares the result of a GET or DELETE with the map and updates it. */
static void check_other(struct map *map, uint64_t id, const struct kvc_kvdirect_table_op *op)
{
    if (map->number[id] == 0) {
        cr_assert_eq(op->result, KVC_KVDIRECT_TABLE_ABSENT);
        return;
    }
    cr_assert_eq(op->result, KVC_KVDIRECT_TABLE_OK);
    if (op->verb == KVC_KVDIRECT_TABLE_GET) {
        uint8_t expected[512];
        fill_value(expected, map->number[id], map->bytes[id]);
        cr_assert_eq(op->value_bytes, map->bytes[id]);
        cr_assert_eq(memcmp(op->value, expected, map->bytes[id]), 0);
    } else {
        map->pairs--;
        map->pair_bytes -= op->key_bytes + map->bytes[id];
        map->number[id] = 0;
        map->bytes[id] = 0;
    }
}

/* The trace has exactly the accesses that were counted, and all of them lie in the table's memory. */
static void assert_traced(const struct kvc_kvdirect_table *table,
                          const struct kvc_kvdirect_table_trace *trace,
                          const struct kvc_kvdirect_table_stats *stats)
{
    const struct kvc_kvdirect_table_counts *classes[] = {&stats->get, &stats->put, &stats->erase,
                                                         &stats->update};
    uint64_t counted = 0, written = 0, writes = 0;
    for (int i = 0; i < 4; i++) {
        counted += kvc_kvdirect_table_accesses(classes[i]);
        written += classes[i]->index_writes + classes[i]->chain_writes + classes[i]->slab_writes;
    }
    for (uint32_t i = 0; i < trace->count; i++) {
        const struct kvc_kvdirect_table_access *access = &trace->access[i];
        writes += access->write;
        cr_assert(access->bytes >= 1 && access->bytes <= 512);
        cr_assert_leq((uint64_t)access->line * 64 + 1, kvc_kvdirect_table_bytes(table));
    }
    cr_assert_not(trace->short_of_memory);
    cr_assert_eq(trace->count, counted);
    cr_assert_eq(writes, written);
}

/* Deletes every key; the table must be empty then. */
static void delete_all(struct kvc_kvdirect_table *table, const struct map *map,
                       struct kvc_kvdirect_table_stats *stats)
{
    for (uint64_t id = 0; id < KEYS; id++) {
        uint8_t key[64];
        uint32_t key_bytes = make_key(id, key);
        cr_assert_eq(erase(table, key, key_bytes, stats),
                     map->number[id] != 0 ? KVC_KVDIRECT_TABLE_OK : KVC_KVDIRECT_TABLE_ABSENT);
    }
    cr_assert_eq(kvc_kvdirect_table_pairs(table), 0);
}

/* Runs random batches on a table and on the map. Returns the number of PUTs that found no memory. */
static uint64_t against_map(uint64_t bytes, double hash_index_frac, uint32_t inline_bytes, uint32_t value_max)
{
    struct kvc_kvdirect_table *table = create(bytes, hash_index_frac, inline_bytes);
    uint64_t slabs = kvc_kvdirect_table_free_slab_bytes(table), full = 0;
    struct kvc_kvdirect_table_stats stats = {0};
    struct kvc_kvdirect_table_trace trace = {0};
    kvc_kvdirect_table_set_trace(table, &trace);
    struct map map = {.pairs = 0};
    static struct batch batch;
    for (int round = 0; round < BATCHES; round++) {
        choose(&batch, round, value_max);
        kvc_kvdirect_table_run(table, batch.op, BATCH, &stats);
        for (int i = 0; i < BATCH; i++) {
            if (batch.op[i].verb == KVC_KVDIRECT_TABLE_PUT) {
                full += check_put(&map, batch.id[i], &batch.op[i], batch.number[i]);
            } else {
                check_other(&map, batch.id[i], &batch.op[i]);
            }
        }
        cr_assert_eq(kvc_kvdirect_table_pairs(table), map.pairs);
        cr_assert_eq(kvc_kvdirect_table_pair_bytes(table), map.pair_bytes);
        if (round % 50 == 0) {
            kvc_kvdirect_table_daemon(table, &stats);
        }
    }
    delete_all(table, &map, &stats);
    assert_traced(table, &trace, &stats);
    free(trace.access);
    cr_assert_eq(kvc_kvdirect_table_free_slab_bytes(table), slabs, "no slab is lost");
    cr_assert_eq(stats.slab.allocated, stats.slab.released);
    kvc_kvdirect_table_free(table);
    return full;
}

Test(kvdirect_table, random_operations_agree_with_a_map)
{
    const double frac[] = {0.01, 0.3, 0.7, 1};
    for (size_t f = 0; f < 4; f++) {
        for (uint32_t inline_bytes = 0; inline_bytes <= 50; inline_bytes += 10) {
            for (uint64_t bytes = 1 << 10; bytes <= 1 << 18; bytes *= 16) {
                uint64_t full = against_map(bytes, frac[f], inline_bytes, 20);
                full += against_map(bytes, frac[f], inline_bytes, 470);
                if (bytes == 1 << 10) {
                    cr_assert_gt(full, 0, "a table this small must run full");
                } else if (bytes == 1 << 18 && frac[f] < 0.5) {
                    cr_assert_eq(full, 0, "there is room for all");
                }
            }
        }
    }
}
