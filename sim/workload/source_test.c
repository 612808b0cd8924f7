#include "sim/workload/source.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernels/hash.h"
#include "sim/workload/sizes.h"

enum { FRAME = 10, SEED = 11, HASH_SEED = 3, SHARDS = 6, ROWS = 20000 };

static struct kvc_workload plain(int arrival)
{
    return (struct kvc_workload){
        .keys = 100000,
        .key_bytes = 8,
        .value_bytes = 8,
        .get_frac = 0.7,
        .set_frac = 0.2,
        .delete_frac = 0.1,
        .arrival = arrival,
        .rate_mops = 100,
        .clients = 500,
        .think_ns = 2000,
        .curve_points = 2,
        .curve = {{.time_ns = 0, .rate_mops = 50}, {.time_ns = 1e6, .rate_mops = 150}}};
}

static struct kvc_source *create(const struct kvc_workload *workload, uint32_t nodes, uint32_t sockets,
                                 uint64_t seed)
{
    struct kvc_diag diag = {0};
    struct kvc_source_params params = {.workload = workload,
                                       .nodes = nodes,
                                       .sockets = sockets,
                                       .seed = seed,
                                       .hash_seed = HASH_SEED,
                                       .frame_requests = FRAME};
    cr_assert_eq(kvc_workload_check(workload, &diag), KVC_OK, "%s", diag.message);
    struct kvc_source *source = kvc_source_create(&params, &diag);
    cr_assert_not_null(source, "%s", diag.message);
    return source;
}

static struct kvc_batch *new_batch(const struct kvc_workload *workload, uint32_t capacity)
{
    struct kvc_batch *batch = kvc_batch_create(capacity, kvc_workload_key_stride(workload));
    cr_assert_not_null(batch);
    return batch;
}

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

/* Takes what is sent by until_ns, as far as there is room for whole frames, and answers it at once. */
static uint32_t drain(struct kvc_source *source, uint32_t shard, double until_ns, struct kvc_batch *batch)
{
    uint32_t first = batch->count, got;
    while (batch->capacity - batch->count >= FRAME &&
           (got = kvc_source_drain(source, shard, until_ns, batch)) != 0) {
        for (uint32_t i = batch->count - got; i < batch->count; i++) {
            double done_ns = batch->sent_ns[i] + 700 + 10 * batch->client[i];
            kvc_source_complete(source, &batch->client[i], &done_ns, 1);
        }
    }
    return batch->count - first;
}

/* Every shard's first ROWS rows, with shards asked in two very different orders. */
static void check_interleavings(const struct kvc_workload *workload)
{
    struct kvc_source *calm = create(workload, SHARDS / 2, 2, SEED),
                      *wild = create(workload, SHARDS / 2, 2, SEED);
    struct kvc_batch *a[SHARDS], *b[SHARDS];
    for (uint32_t i = 0; i < SHARDS; i++) {
        a[i] = new_batch(workload, ROWS);
        b[i] = new_batch(workload, ROWS);
    }
    for (double until = 500; until <= 5e5; until += 500) { /* 500 ns is below service plus think time */
        for (uint32_t i = 0; i < SHARDS; i++) {
            drain(calm, i, until, a[i]);
        }
    }
    for (double until = 500, step = 0; until <= 5e5; until += 500, step++) {
        for (uint32_t i = 0; i < SHARDS; i++) {
            uint32_t shard = (uint32_t)(SHARDS - 1 - (i + (uint32_t)step) % SHARDS);
            kvc_source_next_ns(wild, shard);
            drain(wild, shard, until - (shard % 2) * 250, b[shard]);
            drain(wild, shard, until, b[shard]);
        }
    }
    for (uint32_t i = 0; i < SHARDS; i++) {
        cr_assert_gt(a[i]->count, 1000u);
        cr_assert_eq(a[i]->count, b[i]->count);
        same_rows(a[i], b[i], a[i]->count);
        kvc_batch_free(a[i]);
        kvc_batch_free(b[i]);
    }
    kvc_source_free(calm);
    kvc_source_free(wild);
}

Test(source, what_a_shard_receives_does_not_depend_on_the_order_of_calls)
{
    for (int arrival = KVC_ARRIVAL_SATURATE; arrival <= KVC_ARRIVAL_CURVE; arrival++) {
        struct kvc_workload workload = plain(arrival);
        check_interleavings(&workload);
        workload.popularity = KVC_POPULARITY_ZIPF;
        workload.zipf_s = 0.99;
        workload.sizes = KVC_SIZES_ETC;
        check_interleavings(&workload);
    }
}

/* The stream of one shard, dealt out by owner, is what many shards receive: nothing is lost, doubled or
 * reordered. */
Test(source, every_request_goes_to_its_owner_once)
{
    static const int arrivals[] = {KVC_ARRIVAL_SATURATE, KVC_ARRIVAL_POISSON};
    for (int i = 0; i < 2; i++) {
        struct kvc_workload workload = plain(arrivals[i]);
        struct kvc_source *whole = create(&workload, 1, 1, SEED),
                          *split = create(&workload, SHARDS / 2, 2, SEED);
        struct kvc_batch *all = new_batch(&workload, ROWS), *part[SHARDS];
        uint32_t next[SHARDS] = {0};
        drain(whole, 0, 1e12, all);
        cr_assert_eq(all->count, ROWS);
        for (uint32_t shard = 0; shard < SHARDS; shard++) {
            part[shard] = new_batch(&workload, ROWS);
        }
        for (int round = 0; round < ROWS / FRAME / SHARDS; round++) {
            for (uint32_t shard = 0; shard < SHARDS; shard++) {
                cr_assert_eq(kvc_source_drain(split, shard, 1e12, part[shard]), FRAME);
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
    struct kvc_workload workload = plain(KVC_ARRIVAL_SATURATE);
    struct kvc_source *one = create(&workload, 1, 1, 1), *two = create(&workload, 1, 1, 2);
    struct kvc_batch *a = new_batch(&workload, 1000), *b = new_batch(&workload, 1000);
    uint32_t same = 0;
    drain(one, 0, 0, a);
    drain(two, 0, 0, b);
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
        struct kvc_workload workload = plain(KVC_ARRIVAL_SATURATE);
        workload.get_frac = mixes[i][0];
        workload.set_frac = mixes[i][1];
        workload.delete_frac = mixes[i][2];
        struct kvc_source *source = create(&workload, 1, 1, SEED);
        struct kvc_batch *batch = new_batch(&workload, MANY);
        double seen[KVC_OP_COUNT] = {0};
        drain(source, 0, 0, batch);
        for (uint32_t row = 0; row < MANY; row++) {
            cr_assert_lt(batch->op[row], KVC_OP_COUNT);
            seen[batch->op[row]]++;
        }
        for (int op = 0; op < KVC_OP_COUNT;
             op++) { /* five standard deviations; 0 where the share is 0 or 1 */
            double share = mixes[i][op], slack = 5 * sqrt(MANY * share * (1 - share));
            cr_assert_leq(fabs(seen[op] - MANY * share), slack, "mix %zu op %d: %g", i, op, seen[op]);
        }
        kvc_source_free(source);
        kvc_batch_free(batch);
    }
}

static int by_bytes(const void *left, const void *right)
{
    return memcmp(left, right, 264);
}

/* All keys of a workload as strings of length and bytes, sorted: no two may be equal. */
static void check_unique(struct kvc_workload *workload)
{
    struct kvc_source *source = create(workload, 1, 1, SEED);
    struct kvc_batch *batch = new_batch(workload, (uint32_t)workload->keys);
    uint8_t *sorted = calloc(workload->keys, 264);
    kvc_source_keys(source, 0, (uint32_t)workload->keys, batch);
    cr_assert_eq(batch->count, workload->keys);
    for (uint32_t i = 0; i < batch->count; i++) {
        const uint8_t *key = batch->keys + (size_t)i * batch->key_stride;
        cr_assert_eq(batch->op[i], KVC_OP_SET);
        cr_assert_eq(batch->key_id[i], i);
        cr_assert_eq(batch->hash[i], kvc_hash(key, batch->key_bytes[i], HASH_SEED));
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

Test(source, keys_are_their_ids_and_unique_in_every_size)
{
    struct kvc_workload workload = plain(KVC_ARRIVAL_SATURATE);
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

Test(source, requests_carry_the_preloaded_keys)
{
    for (int set = KVC_SIZES_FIXED; set <= KVC_SIZES_ETC; set++) {
        struct kvc_workload workload = plain(KVC_ARRIVAL_CLOSED);
        workload.sizes = set;
        workload.keys = 5000;
        for (int arrival = KVC_ARRIVAL_SATURATE; arrival <= KVC_ARRIVAL_CLOSED; arrival++) {
            workload.arrival = arrival;
            struct kvc_source *source = create(&workload, 1, 2, SEED);
            struct kvc_batch *keys = new_batch(&workload, 5000), *batch = kvc_batch_create(3000, 256);
            kvc_source_keys(source, 0, 2000, keys);
            kvc_source_keys(source, 2000, 3000, keys);
            drain(source, 1, 1e6, batch); /* with wider keys than the workload needs */
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

Test(source, a_full_window_stops_the_stream_until_it_is_taken)
{
    struct kvc_workload workload = plain(KVC_ARRIVAL_SATURATE);
    struct kvc_source *source = create(&workload, 1, 2, SEED);
    struct kvc_batch *batch = new_batch(&workload, 1000);
    uint64_t first = 0, second = 0, got;
    while (batch->count = 0, (got = kvc_source_drain(source, 0, 0, batch)) != 0) {
        first += got;
    }
    cr_assert_geq(first + 6000,
                  (uint64_t)KVC_SOURCE_WINDOW); /* the other shard's window, plus or minus chance */
    cr_assert_leq(first, (uint64_t)KVC_SOURCE_WINDOW + 6000);
    cr_assert(isinf(kvc_source_next_ns(source, 0)));
    cr_assert_eq(kvc_source_next_ns(source, 1), 0);
    for (int i = 0; i < 2000; i++) {
        batch->count = 0;
        second += kvc_source_drain(source, 1, 0, batch);
        cr_assert(isnan(batch->sent_ns[0]));
    }
    cr_assert_eq(second, 20000);
    batch->count = 0;
    cr_assert_eq(kvc_source_drain(source, 0, 0, batch), FRAME);
    kvc_batch_free(batch);
    kvc_source_free(source);
}

Test(source, a_small_batch_gets_a_frame_in_parts)
{
    for (int arrival = KVC_ARRIVAL_SATURATE; arrival <= KVC_ARRIVAL_POISSON; arrival++) {
        struct kvc_workload workload = plain(arrival);
        struct kvc_source *source = create(&workload, 1, 1, SEED);
        struct kvc_batch *batch = new_batch(&workload, FRAME + 4), *rest = new_batch(&workload, FRAME);
        cr_assert_eq(kvc_source_drain(source, 0, 1e9, batch), FRAME);
        cr_assert_eq(kvc_source_drain(source, 0, 1e9, batch), 4);
        cr_assert_eq(kvc_source_drain(source, 0, 1e9, batch), 0);
        if (arrival == KVC_ARRIVAL_POISSON) {
            cr_assert_eq(kvc_source_drain(source, 0, 1e9, rest), FRAME - 4);
            cr_assert_eq(rest->sent_ns[0], batch->sent_ns[FRAME]);
        }
        kvc_batch_free(batch);
        kvc_batch_free(rest);
        kvc_source_free(source);
    }
}

/* Takes all frames of a shard until until_ns; counts them per window. Checks that a frame has one time, in
 * order. */
static uint64_t count_frames(struct kvc_source *source, uint32_t shard, double until_ns, double window_ns,
                             double *count)
{
    struct kvc_workload workload = plain(KVC_ARRIVAL_POISSON);
    struct kvc_batch *batch = new_batch(&workload, FRAME);
    uint64_t frames = 0;
    double last_ns = 0;
    while (kvc_source_drain(source, shard, until_ns, batch) != 0) {
        cr_assert_eq(batch->count, FRAME);
        for (uint32_t i = 0; i < FRAME; i++) {
            cr_assert_eq(batch->sent_ns[i], batch->sent_ns[0]);
        }
        cr_assert(batch->sent_ns[0] >= last_ns && batch->sent_ns[0] <= until_ns);
        last_ns = batch->sent_ns[0];
        count[(int)(last_ns / window_ns)]++;
        batch->count = 0;
        frames++;
    }
    double next_ns = kvc_source_next_ns(source, shard);
    cr_assert_gt(next_ns, until_ns);
    cr_assert_eq(kvc_source_drain(source, shard, nextafter(next_ns, 0), batch), 0);
    cr_assert_eq(kvc_source_drain(source, shard, next_ns, batch), FRAME);
    kvc_batch_free(batch);
    return frames;
}

Test(source, poisson_frames_have_their_rate_at_every_shard)
{
    enum { WINDOWS = 2000, NODES = 4 };
    struct kvc_workload workload = plain(KVC_ARRIVAL_POISSON);
    struct kvc_source *source = create(&workload, NODES, 1, SEED);
    double until_ns = 1e7, frames = workload.rate_mops * 1e-3 * until_ns / FRAME, total = 0;
    for (uint32_t shard = 0; shard < NODES; shard++) {
        double count[WINDOWS + 1] = {0}, statistic = 0;
        double seen = (double)count_frames(source, shard, until_ns, until_ns / WINDOWS, count);
        for (int i = 0; i < WINDOWS; i++) {
            statistic += pow(count[i] - seen / WINDOWS, 2) / (seen / WINDOWS);
        }
        /* A Poisson process: windows vary as much as they hold on average, no less (chi-square, both ends).
         */
        cr_assert_lt(statistic, gsl_cdf_chisq_Qinv(1e-4, WINDOWS - 1));
        cr_assert_gt(statistic, gsl_cdf_chisq_Pinv(1e-4, WINDOWS - 1));
        cr_assert_float_eq(seen * NODES / frames, 1, 0.07); /* the ring's shares */
        total += seen;
    }
    cr_assert_float_eq(total, frames, 5 * sqrt(frames));
    kvc_source_free(source);
}

Test(source, fixed_frames_are_equally_far_apart)
{
    struct kvc_workload workload = plain(KVC_ARRIVAL_FIXED);
    struct kvc_source *source = create(&workload, 1, 1, SEED);
    struct kvc_batch *batch = new_batch(&workload, FRAME);
    for (int i = 0; i < 100000; i++) {
        double expected_ns = i * (FRAME / 0.1); /* 0.1 requests per ns */
        batch->count = 0;
        cr_assert_float_eq(kvc_source_next_ns(source, 0), expected_ns, 1e-6);
        cr_assert_eq(kvc_source_drain(source, 0, expected_ns + 1e-6, batch), FRAME);
        cr_assert_eq(kvc_source_drain(source, 0, expected_ns + 1, batch), 0);
    }
    kvc_batch_free(batch);
    kvc_source_free(source);
}

/* Requests between two times under a curve, by the trapezium rule in small steps. */
static double requests_between(const struct kvc_workload *workload, double from_ns, double to_ns)
{
    enum { STEPS = 1000 };
    double sum = 0;
    for (int i = 0; i < STEPS; i++) {
        double at = from_ns + (i + 0.5) * (to_ns - from_ns) / STEPS, rate = workload->curve[0].rate_mops;
        for (uint32_t p = 1; p < workload->curve_points; p++) {
            const struct kvc_rate_point *a = &workload->curve[p - 1], *b = &workload->curve[p];
            if (at >= b->time_ns) {
                rate = b->rate_mops;
            } else if (at > a->time_ns) {
                rate = a->rate_mops +
                       (b->rate_mops - a->rate_mops) * (at - a->time_ns) / (b->time_ns - a->time_ns);
            }
        }
        sum += rate * 1e-3 * (to_ns - from_ns) / STEPS;
    }
    return sum;
}

Test(source, curve_frames_follow_the_curve)
{
    enum { WINDOWS = 100 };
    struct kvc_workload workload = plain(KVC_ARRIVAL_CURVE);
    static const struct kvc_rate_point points[] = {{1e6, 20},  {3e6, 200},   {4e6, 200}, {4.5e6, 0},
                                                   {5.5e6, 0}, {5.6e6, 300}, {8e6, 10}};
    memcpy(workload.curve, points, sizeof(points));
    workload.curve_points = sizeof(points) / sizeof(*points);
    struct kvc_source *source = create(&workload, 1, 1, SEED);
    double until_ns = 1e7, count[WINDOWS + 1] = {0}, statistic = 0;
    int bins = 0;
    count_frames(source, 0, until_ns, until_ns / WINDOWS, count);
    for (int i = 0; i < WINDOWS; i++) {
        double expected =
            requests_between(&workload, i * until_ns / WINDOWS, (i + 1) * until_ns / WINDOWS) / FRAME;
        if (expected < 1e-9) {
            cr_assert_eq(count[i], 0);
        } else {
            statistic += pow(count[i] - expected, 2) / expected;
            bins++;
        }
    }
    cr_assert_lt(statistic, gsl_cdf_chisq_Qinv(1e-4, bins));
    cr_assert_gt(statistic, gsl_cdf_chisq_Pinv(1e-4, bins));
    kvc_source_free(source);
}

Test(source, a_curve_that_ends_at_zero_ends_the_load)
{
    struct kvc_workload workload = plain(KVC_ARRIVAL_CURVE);
    workload.curve[1].rate_mops = 0;
    struct kvc_source *source = create(&workload, 1, 1, SEED);
    struct kvc_batch *batch = new_batch(&workload, 100000);
    drain(source, 0, INFINITY, batch);
    cr_assert_float_eq((double)batch->count, 25000,
                       5 * sqrt(25000.0 * FRAME)); /* 50 Mops falling to 0 in 1 ms */
    cr_assert_leq(batch->sent_ns[batch->count - 1], 1e6);
    cr_assert(isinf(kvc_source_next_ns(source, 0)));
    kvc_batch_free(batch);
    kvc_source_free(source);
}

/* One key: the other shard never gets anything, and asking it must neither hang nor go back in time. */
Test(source, a_shard_without_keys_is_told_when_to_ask_again)
{
    struct kvc_workload workload = plain(KVC_ARRIVAL_POISSON);
    workload.keys = 1;
    struct kvc_source *source = create(&workload, 2, 1, SEED);
    struct kvc_batch *batch = new_batch(&workload, FRAME);
    kvc_source_keys(source, 0, 1, batch);
    uint32_t owner = kvc_source_shard(source, batch->hash[0]), other = 1 - owner;
    batch->count = 0;
    double first_ns = kvc_source_next_ns(source, other), second_ns = kvc_source_next_ns(source, other);
    cr_assert(first_ns > 0 && second_ns > first_ns && isfinite(second_ns));
    cr_assert_eq(kvc_source_drain(source, other, first_ns, batch), 0);
    cr_assert_eq(kvc_source_drain(source, owner, first_ns, batch), FRAME);
    kvc_batch_free(batch);
    kvc_source_free(source);
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
        for (uint32_t i = 0; i < batch->count;
             i += 3) { /* a third is answered, the others stay open for a while */
            double done_ns = now_ns + 100;
            kvc_source_complete(source, &batch->client[i], &done_ns, 1);
            outstanding[batch->client[i]] = 0;
            ready_ns[batch->client[i]] = done_ns + think_ns;
        }
    }
    return sent;
}

Test(source, a_client_of_a_closed_loop_waits_for_its_response)
{
    enum { CLIENTS = 300 };
    struct kvc_workload workload = plain(KVC_ARRIVAL_CLOSED);
    workload.clients = CLIENTS;
    struct kvc_source *source = create(&workload, 2, 2, SEED);
    struct kvc_batch *batch = new_batch(&workload, 1000);
    double ready_ns[CLIENTS];
    uint8_t outstanding[CLIENTS] = {0};
    uint32_t sent = 0;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        ready_ns[i] = workload.think_ns * i / CLIENTS; /* staggered */
    }
    for (double now_ns = 50; now_ns < 2e5; now_ns += 50) {
        sent += closed_step(source, 4, now_ns, workload.think_ns, batch, ready_ns, outstanding);
        for (uint32_t i = 0; i < CLIENTS; i++) { /* late answers */
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

Test(source, unanswered_clients_send_once)
{
    enum { CLIENTS = 100000 };
    struct kvc_workload workload = plain(KVC_ARRIVAL_CLOSED);
    workload.clients = CLIENTS;
    workload.think_ns = 0;
    struct kvc_source *source = create(&workload, 1, 1, SEED);
    struct kvc_batch *batch = new_batch(&workload, 2 * CLIENTS);
    uint32_t got;
    while ((got = kvc_source_drain(source, 0, 1e9, batch)) != 0) {
        cr_assert_leq(got, FRAME);
    }
    cr_assert_eq(batch->count, CLIENTS);
    for (uint32_t i = 0; i < CLIENTS; i++) { /* all at 0: in order of their number */
        cr_assert(batch->client[i] == i && batch->sent_ns[i] == 0);
    }
    cr_assert(isinf(kvc_source_next_ns(source, 0)));
    kvc_batch_free(batch);
    kvc_source_free(source);
}

static void write_trace(struct kvc_workload *workload, const char *head, uint32_t lines)
{
    strcpy(workload->trace, "/tmp/kvc_source_XXXXXX");
    FILE *file = fdopen(mkstemp(workload->trace), "w");
    cr_assert_not_null(file);
    fputs(head, file);
    for (uint32_t i = 0; i < lines; i++) {
        fprintf(file, "%u.%u,%s,key%u,12,%u\n", i / 4, i % 4 * 25, i % 3 == 0 ? "set" : "get", i % 1000,
                i % 500);
    }
    fclose(file);
}

static const char trace_header[] = "time_us,op,key,key_bytes,value_bytes\n";

Test(source, a_trace_replays_with_its_own_times_on_all_shards)
{
    enum { LINES = 5000, NODES = 3 };
    struct kvc_workload workload = plain(KVC_ARRIVAL_TRACE);
    write_trace(&workload, trace_header, LINES);
    struct kvc_source *source = create(&workload, NODES, 1, SEED);
    struct kvc_batch *batch = new_batch(&workload, LINES);
    uint32_t line = 0;
    cr_assert_eq(kvc_source_ended(source), 0);
    while (!kvc_source_ended(source)) {
        double next_ns = INFINITY;
        uint32_t from = 0;
        for (uint32_t shard = 0; shard < NODES; shard++) {
            if (kvc_source_next_ns(source, shard) < next_ns) {
                next_ns = kvc_source_next_ns(source, shard);
                from = shard;
            }
        }
        cr_assert(isfinite(next_ns));
        cr_assert_float_eq(next_ns, (line / 4 + line % 4 * 0.25) * 1e3, 1e-6);
        cr_assert_eq(kvc_source_drain(source, from, next_ns - 1e-3, batch), 0);
        line += kvc_source_drain(source, from, next_ns, batch);
        cr_assert_eq(batch->count, line);
        cr_assert_eq(batch->key_bytes[line - 1], 12);
        cr_assert_eq(batch->hash[line - 1],
                     kvc_hash(batch->keys + (size_t)(line - 1) * batch->key_stride, 12, HASH_SEED));
        cr_assert_eq(batch->key_id[line - 1], batch->hash[line - 1]);
        cr_assert_eq(kvc_source_shard(source, batch->hash[line - 1]), from);
    }
    cr_assert_eq(line, LINES);
    cr_assert_eq(kvc_source_error(source, NULL), KVC_OK);
    kvc_source_keys(source, 0, 10, batch);
    cr_assert_eq(batch->count, LINES);
    unlink(workload.trace);
    kvc_batch_free(batch);
    kvc_source_free(source);
}

Test(source, a_bad_trace_line_stops_the_stream_and_is_named)
{
    struct kvc_workload workload = plain(KVC_ARRIVAL_TRACE);
    struct kvc_diag diag = {0};
    write_trace(&workload, "0,get,a,1,1\n0,get,b,1,1\n0,get,c,1\n", 10);
    struct kvc_source *source = create(&workload, 1, 1, SEED);
    struct kvc_batch *batch = new_batch(&workload, 100);
    cr_assert_eq(kvc_source_error(source, &diag), KVC_OK);
    while (kvc_source_drain(source, 0, 1e9, batch) != 0) {
        ;
    }
    cr_assert_eq(batch->count, 2);
    cr_assert_eq(kvc_source_error(source, &diag), KVC_ERR_SCENARIO);
    cr_assert_eq(diag.line, 3);
    cr_assert_str_eq(diag.file, workload.trace);
    cr_assert(isinf(kvc_source_next_ns(source, 0)));
    cr_assert_neq(kvc_source_ended(source), 0);
    unlink(workload.trace);
    kvc_batch_free(batch);
    kvc_source_free(source);
}

Test(source, a_missing_trace_is_refused)
{
    struct kvc_workload workload = plain(KVC_ARRIVAL_TRACE);
    struct kvc_diag diag = {0};
    struct kvc_source_params params = {.workload = &workload, .nodes = 1, .sockets = 1, .frame_requests = 1};
    strcpy(workload.trace, "/nonexistent/trace.csv");
    cr_assert_null(kvc_source_create(&params, &diag));
    cr_assert_eq(diag.status, KVC_ERR_SCENARIO);
    cr_assert_not_null(strstr(diag.message, "/nonexistent/trace.csv"));
}

static long peak_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

Test(source, a_long_trace_is_streamed)
{
    enum { LINES = 1000000 };
    struct kvc_workload workload = plain(KVC_ARRIVAL_TRACE);
    write_trace(&workload, trace_header, LINES); /* 20 MB */
    long before = peak_kib();
    struct kvc_source *source = create(&workload, 1, 1, SEED);
    struct kvc_batch *batch = new_batch(&workload, 100);
    uint32_t lines = 0;
    while (!kvc_source_ended(source)) {
        batch->count = 0;
        lines += kvc_source_drain(source, 0, 1e18, batch);
    }
    cr_assert_eq(lines, LINES);
    cr_assert_lt(peak_kib() - before, 4096);
    unlink(workload.trace);
    kvc_batch_free(batch);
    kvc_source_free(source);
}
