#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "sim/workload/sizes.h"
#include "sim/workload/source/source.h"
#include "sim/workload/source/source_fixture.h"

enum { SHARDS = 6, ROWS = 20000 };

static void same_rows(const struct kvc_batch *a, const struct kvc_batch *b, uint32_t count)
{
    cr_assert_geq(a->count, count);
    cr_assert_geq(b->count, count);
    cr_assert_eq(memcmp(a->op, b->op, count), 0);
    cr_assert_eq(memcmp(a->key_bytes, b->key_bytes, count), 0);
    cr_assert_eq(memcmp(a->value_bytes, b->value_bytes, count * sizeof(*a->value_bytes)), 0);
    cr_assert_eq(memcmp(a->keys, b->keys, (size_t)count * a->key_stride), 0);
    cr_assert_eq(memcmp(a->key_id, b->key_id, count * sizeof(*a->key_id)), 0);
    cr_assert_eq(memcmp(a->hash, b->hash, count * sizeof(*a->hash)), 0);
    cr_assert_eq(memcmp(a->client, b->client, count * sizeof(*a->client)), 0);
    for (uint32_t i = 0; i < count; i++) {
        cr_assert(a->sent_ns[i] == b->sent_ns[i] || (isnan(a->sent_ns[i]) && isnan(b->sent_ns[i])));
    }
}

/* Compares the first ROWS requests of every shard when the shards are drained in two very different orders.
 */
static void check_interleavings(const struct kvc_workload *workload)
{
    struct kvc_source *calm = kvc_test_source(workload, SHARDS / 2, 2, KVC_TEST_SEED),
                      *wild = kvc_test_source(workload, SHARDS / 2, 2, KVC_TEST_SEED);
    struct kvc_batch *a[SHARDS], *b[SHARDS];
    for (uint32_t i = 0; i < SHARDS; i++) {
        a[i] = kvc_test_batch(workload, ROWS);
        b[i] = kvc_test_batch(workload, ROWS);
    }
    for (double until = 500; until <= 5e5;
         until += 500) { /* Steps of 500 ns are below service plus think time. */
        for (uint32_t i = 0; i < SHARDS; i++) {
            kvc_test_drain(calm, i, until, a[i]);
        }
    }
    for (double until = 500, step = 0; until <= 5e5; until += 500, step++) {
        for (uint32_t i = 0; i < SHARDS; i++) {
            uint32_t shard = (uint32_t)(SHARDS - 1 - (i + (uint32_t)step) % SHARDS);
            kvc_source_next_ns(wild, shard);
            kvc_test_drain(wild, shard, until - (shard % 2) * 250, b[shard]);
            kvc_test_drain(wild, shard, until, b[shard]);
        }
    }
    for (uint32_t i = 0; i < SHARDS; i++) {
        cr_assert_gt(a[i]->count, 1000u);
        cr_assert_eq(a[i]->count, b[i]->count);
        same_rows(a[i], b[i], a[i]->count);
        if (workload->arrival != KVC_ARRIVAL_CLOSED) { /* There, frames depend on when one looks. */
            cr_assert_eq(a[i]->connection, b[i]->connection);
        }
        kvc_batch_free(a[i]);
        kvc_batch_free(b[i]);
    }
    kvc_source_free(calm);
    kvc_source_free(wild);
}

Test(source, what_a_shard_receives_does_not_depend_on_the_order_of_calls)
{
    for (int arrival = KVC_ARRIVAL_SATURATE; arrival <= KVC_ARRIVAL_MMPP; arrival++) {
        struct kvc_workload workload = kvc_test_workload(arrival);
        workload.flows = 5;
        workload.connections = 3;
        workload.fill_timeout_ns = 2000;
        check_interleavings(&workload);
        workload.fill = KVC_FILL_AT_ONCE;
        workload.popularity = KVC_POPULARITY_ZIPF;
        workload.zipf_s = 0.99;
        workload.sizes = KVC_SIZES_ETC;
        check_interleavings(&workload);
        workload.fill = KVC_FILL_GRADUALLY;
        check_interleavings(&workload);
    }
}

/* The stream of a single shard, divided by owner, is what many shards receive: no request is lost, duplicated
 * or reordered. */
Test(source, every_request_goes_to_its_owner_once)
{
    static const int arrivals[] = {KVC_ARRIVAL_SATURATE, KVC_ARRIVAL_POISSON};
    for (int i = 0; i < 2; i++) {
        struct kvc_workload workload = kvc_test_workload(arrivals[i]);
        struct kvc_source *whole = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED),
                          *split = kvc_test_source(&workload, SHARDS / 2, 2, KVC_TEST_SEED);
        struct kvc_batch *all = kvc_test_batch(&workload, ROWS), *part[SHARDS];
        uint32_t next[SHARDS] = {0};
        kvc_test_drain(whole, 0, 1e12, all);
        cr_assert_eq(all->count, ROWS);
        for (uint32_t shard = 0; shard < SHARDS; shard++) {
            part[shard] = kvc_test_batch(&workload, ROWS);
        }
        for (int round = 0; round < ROWS / KVC_TEST_FRAME / SHARDS; round++) {
            for (uint32_t shard = 0; shard < SHARDS; shard++) {
                cr_assert_eq(kvc_source_drain(split, shard, 1e12, part[shard]), KVC_TEST_FRAME);
            }
        }
        for (uint32_t row = 0; row < ROWS / 2; row++) {
            uint32_t shard = kvc_source_shard(split, all->hash[row]);
            cr_assert_lt(shard, SHARDS);
            cr_assert_lt(next[shard], part[shard]->count);
            cr_assert_eq(part[shard]->key_id[next[shard]], all->key_id[row]);
            cr_assert_eq(part[shard]->op[next[shard]], all->op[row]);
            cr_assert_eq(part[shard]->hash[next[shard]++], all->hash[row]);
        }
        for (uint32_t shard = 0; shard < SHARDS; shard++) {
            kvc_batch_free(part[shard]);
        }
        kvc_batch_free(all);
        kvc_source_free(whole);
        kvc_source_free(split);
    }
}

Test(source, seeds_give_different_streams)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_SATURATE);
    struct kvc_source *one = kvc_test_source(&workload, 1, 1, 1), *two = kvc_test_source(&workload, 1, 1, 2);
    struct kvc_batch *a = kvc_test_batch(&workload, 1000), *b = kvc_test_batch(&workload, 1000);
    uint32_t same = 0;
    kvc_test_drain(one, 0, 0, a);
    kvc_test_drain(two, 0, 0, b);
    for (uint32_t i = 0; i < 1000; i++) {
        same += a->key_id[i] == b->key_id[i];
    }
    cr_assert_lt(same, 5);
    kvc_source_free(one);
    kvc_source_free(two);
    kvc_batch_free(a);
    kvc_batch_free(b);
}

Test(source, operations_have_their_shares)
{
    enum { MANY = 500000 };
    static const double mixes[][3] = {{0.7, 0.2, 0.1}, {1, 0, 0},     {0, 1, 0},
                                      {0, 0, 1},       {0.5, 0, 0.5}, {0, 0.3, 0.7}};
    for (size_t i = 0; i < sizeof(mixes) / sizeof(*mixes); i++) {
        struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_SATURATE);
        workload.get_frac = mixes[i][0];
        workload.set_frac = mixes[i][1];
        workload.delete_frac = mixes[i][2];
        struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
        struct kvc_batch *batch = kvc_test_batch(&workload, MANY);
        double seen[KVC_OP_COUNT] = {0};
        kvc_test_drain(source, 0, 0, batch);
        for (uint32_t row = 0; row < MANY; row++) {
            cr_assert_lt(batch->op[row], KVC_OP_COUNT);
            seen[batch->op[row]]++;
        }
        for (int op = 0; op < KVC_OP_COUNT; op++) { /* Five standard deviations; 0 if the share is 0 or 1. */
            double share = mixes[i][op], slack = 5 * sqrt(MANY * share * (1 - share));
            cr_assert_leq(fabs(seen[op] - MANY * share), slack, "mix %zu op %d: %g", i, op, seen[op]);
        }
        kvc_source_free(source);
        kvc_batch_free(batch);
    }
}

Test(source, a_full_window_stops_the_stream_until_it_is_drained)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_SATURATE);
    struct kvc_source *source = kvc_test_source(&workload, 1, 2, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, 1000);
    uint64_t first = 0, second = 0, got;
    while (batch->count = 0, (got = kvc_source_drain(source, 0, 0, batch)) != 0) {
        first += got;
    }
    cr_assert_geq(first + 6000,
                  (uint64_t)KVC_SOURCE_WINDOW); /* The window of the other shard, give or take chance. */
    cr_assert_leq(first, (uint64_t)KVC_SOURCE_WINDOW + 6000);
    cr_assert(isinf(kvc_source_next_ns(source, 0)));
    cr_assert_eq(kvc_source_next_ns(source, 1), 0);
    cr_assert_float_eq(kvc_source_lead(source), 2 * KVC_SOURCE_WINDOW, 12000); /* Each has half of all. */
    for (int i = 0; i < 2000; i++) {
        batch->count = 0;
        second += kvc_source_drain(source, 1, 0, batch);
        cr_assert(isnan(batch->sent_ns[0]));
    }
    cr_assert_eq(second, 20000);
    batch->count = 0;
    cr_assert_eq(kvc_source_drain(source, 0, 0, batch), KVC_TEST_FRAME);
    kvc_batch_free(batch);
    kvc_source_free(source);
}

Test(source, clients_run_ahead_only_if_several_shards_share_them)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_SATURATE);
    for (int clients_for = KVC_CLIENTS_FOR_CLUSTER; clients_for <= KVC_CLIENTS_FOR_SOCKET; clients_for++) {
        workload.clients_for = clients_for;
        struct kvc_source *source = kvc_test_source(&workload, 1, 2, KVC_TEST_SEED);
        struct kvc_batch *batch = kvc_test_batch(&workload, 20000);
        cr_expect_eq(kvc_source_lead(source), 0);
        kvc_test_drain(source, 0, 0, batch);
        double lead = kvc_source_lead(source);
        if (clients_for ==
            KVC_CLIENTS_FOR_CLUSTER) { /* Shard 0 has received as many requests as wait for shard 1. */
            cr_expect_float_eq(lead, 2 * 20000, 6000, "%g", lead);
        } else {
            cr_expect_eq(lead, 0);
        }
        kvc_batch_free(batch);
        kvc_source_free(source);
    }
}

Test(source, a_small_batch_gets_a_frame_in_parts)
{
    for (int arrival = KVC_ARRIVAL_SATURATE; arrival <= KVC_ARRIVAL_POISSON; arrival++) {
        struct kvc_workload workload = kvc_test_workload(arrival);
        struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
        struct kvc_batch *batch = kvc_test_batch(&workload, KVC_TEST_FRAME + 4),
                         *rest = kvc_test_batch(&workload, KVC_TEST_FRAME);
        cr_assert_eq(kvc_source_drain(source, 0, 1e9, batch), KVC_TEST_FRAME);
        cr_assert_eq(kvc_source_drain(source, 0, 1e9, batch), 4);
        cr_assert_eq(kvc_source_drain(source, 0, 1e9, batch), 0);
        if (arrival == KVC_ARRIVAL_POISSON) {
            cr_assert_eq(kvc_source_drain(source, 0, 1e9, rest), KVC_TEST_FRAME - 4);
            cr_assert_gt(rest->sent_ns[0], batch->sent_ns[KVC_TEST_FRAME + 3]);
            cr_assert_eq(rest->left_ns, batch->left_ns);
            cr_assert_float_eq(rest->sent_ns[KVC_TEST_FRAME - 5], rest->left_ns, 1e-3);
        }
        kvc_batch_free(batch);
        kvc_batch_free(rest);
        kvc_source_free(source);
    }
}

static uint32_t closed_step(struct kvc_source *source, uint32_t shards, double now_ns, double think_ns,
                            struct kvc_batch *batch, double *ready_ns, uint8_t *outstanding)
{
    uint32_t sent = 0;
    for (uint32_t shard = 0; shard < shards; shard++) {
        double last_ns = 0;
        batch->count = 0;
        while (kvc_source_drain(source, shard, now_ns, batch) != 0) {
            ;
        }
        for (uint32_t i = 0; i < batch->count; i++) {
            uint32_t client = batch->client[i];
            cr_assert_eq(outstanding[client], 0, "client %u sent twice", client);
            cr_assert_float_eq(batch->sent_ns[i], ready_ns[client], 1e-6);
            cr_assert(batch->sent_ns[i] >= last_ns && batch->sent_ns[i] <= now_ns);
            last_ns = batch->sent_ns[i];
            outstanding[client] = 1;
            sent++;
        }
        for (uint32_t i = 0; i < batch->count; i += 3) { /* A third is answered now, the others later. */
            double done_ns = now_ns + 100;
            kvc_source_complete(source, &batch->client[i], &done_ns, 1);
            outstanding[batch->client[i]] = 0;
            ready_ns[batch->client[i]] = done_ns + think_ns;
        }
    }
    return sent;
}

Test(source_closed, clients_wait_for_their_responses)
{
    enum { CLIENTS = 300 };
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_CLOSED);
    workload.clients = CLIENTS;
    struct kvc_source *source = kvc_test_source(&workload, 2, 2, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, 1000);
    double ready_ns[CLIENTS];
    uint8_t outstanding[CLIENTS] = {0};
    uint32_t sent = 0;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        ready_ns[i] = workload.think_ns * i / CLIENTS; /* The clients start staggered. */
    }
    for (double now_ns = 50; now_ns < 2e5; now_ns += 50) {
        sent += closed_step(source, 4, now_ns, workload.think_ns, batch, ready_ns, outstanding);
        for (uint32_t i = 0; i < CLIENTS; i++) { /* Late responses. */
            double done_ns = now_ns + 25;
            if (!outstanding[i] || (i + (uint32_t)now_ns / 50) % 7 != 0) {
                continue;
            }
            kvc_source_complete(source, &i, &done_ns, 1);
            outstanding[i] = 0;
            ready_ns[i] = done_ns + workload.think_ns;
        }
    }
    cr_assert_gt(sent, 10 * CLIENTS);
    kvc_batch_free(batch);
    kvc_source_free(source);
}

Test(source_closed, clients_without_a_response_send_once)
{
    enum { CLIENTS = 100000 };
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_CLOSED);
    workload.clients = CLIENTS;
    workload.think_ns = 0;
    struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, 2 * CLIENTS);
    uint32_t got;
    while ((got = kvc_source_drain(source, 0, 1e9, batch)) != 0) {
        cr_assert_leq(got, KVC_TEST_FRAME);
    }
    cr_assert_eq(batch->count, CLIENTS);
    for (uint32_t i = 0; i < CLIENTS; i++) { /* All send at 0, in the order of their numbers. */
        cr_assert(batch->client[i] == i && batch->sent_ns[i] == 0);
    }
    cr_assert(isinf(kvc_source_next_ns(source, 0)));
    kvc_batch_free(batch);
    kvc_source_free(source);
}

static int by_bytes(const void *left, const void *right)
{
    return memcmp(left, right, 264);
}

/* Checks all keys of a workload. Sorted by size and bytes, no two neighbors may be equal. */
static void check_unique(struct kvc_workload *workload)
{
    struct kvc_source *source = kvc_test_source(workload, 1, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(workload, (uint32_t)workload->keys);
    uint8_t *sorted = calloc(workload->keys, 264);
    kvc_source_keys(source, 0, (uint32_t)workload->keys, batch);
    cr_assert_eq(batch->count, workload->keys);
    for (uint32_t i = 0; i < batch->count; i++) {
        const uint8_t *key = batch->keys + (size_t)i * batch->key_stride;
        cr_assert_eq(batch->op[i], KVC_OP_SET);
        cr_assert_eq(batch->key_id[i], i);
        cr_assert_eq(batch->hash[i], kvc_hash(key, batch->key_bytes[i], KVC_TEST_HASH_SEED));
        for (uint32_t j = 0; j < 8 && j < batch->key_bytes[i]; j++) {
            cr_assert_eq(key[j], (uint8_t)(batch->key_id[i] >> 8 * j));
        }
        for (uint32_t j = batch->key_bytes[i]; j < batch->key_stride; j++) {
            cr_assert_eq(key[j], 0);
        }
        sorted[i * 264] = batch->key_bytes[i];
        memcpy(sorted + i * 264 + 1, key, batch->key_bytes[i]);
    }
    qsort(sorted, workload->keys, 264, by_bytes);
    for (uint64_t i = 1; i < workload->keys; i++) {
        cr_assert_neq(memcmp(sorted + (i - 1) * 264, sorted + i * 264, 264), 0);
    }
    free(sorted);
    kvc_batch_free(batch);
    kvc_source_free(source);
}

Test(source_keys, begin_with_their_ids_and_are_unique_in_every_size)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_SATURATE);
    for (uint32_t bytes = 1; bytes <= 255; bytes += bytes < 20 ? 1 : 47) {
        workload.key_bytes = bytes;
        workload.keys = bytes == 1 ? 256 : 3000;
        check_unique(&workload);
    }
    workload.keys = 20000;
    for (int set = KVC_SIZES_ETC; set <= KVC_SIZES_SYS; set++) {
        workload.sizes = set;
        check_unique(&workload);
    }
}

Test(source_keys, of_requests_equal_the_preloaded_ones)
{
    for (int set = KVC_SIZES_FIXED; set <= KVC_SIZES_ETC; set++) {
        struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_CLOSED);
        workload.sizes = set;
        workload.keys = 5000;
        for (int arrival = KVC_ARRIVAL_SATURATE; arrival <= KVC_ARRIVAL_CLOSED; arrival++) {
            workload.arrival = arrival;
            struct kvc_source *source = kvc_test_source(&workload, 1, 2, KVC_TEST_SEED);
            struct kvc_batch *keys = kvc_test_batch(&workload, 5000), *batch = kvc_batch_create(3000, 256);
            kvc_source_keys(source, 0, 2000, keys);
            kvc_source_keys(source, 2000, 3000, keys);
            kvc_test_drain(source, 1, 1e6, batch); /* The batch has a wider stride than the workload needs. */
            cr_assert_gt(batch->count, 100);
            for (uint32_t i = 0; i < batch->count; i++) {
                uint64_t id = batch->key_id[i];
                const uint8_t *key = batch->keys + (size_t)i * 256;
                cr_assert_eq(batch->hash[i], keys->hash[id]);
                cr_assert_eq(batch->key_bytes[i], keys->key_bytes[id]);
                cr_assert_eq(batch->value_bytes[i], keys->value_bytes[id]);
                cr_assert_eq(memcmp(key, keys->keys + id * keys->key_stride, keys->key_stride), 0);
                for (uint32_t j = keys->key_stride; j < 256; j++) {
                    cr_assert_eq(key[j], 0);
                }
                cr_assert_eq(kvc_source_shard(source, batch->hash[i]), 1);
            }
            kvc_batch_free(keys);
            kvc_batch_free(batch);
            kvc_source_free(source);
        }
    }
}
