#include "sim/workload/source/source.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

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
    for (int arrival = KVC_ARRIVAL_SATURATE; arrival <= KVC_ARRIVAL_CURVE; arrival++) {
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
            KVC_CLIENTS_FOR_CLUSTER) { /* What shard 0 has received is as much as waits for 1. */
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
