#include "sim/workload/keys/key_parts.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "sim/workload/keys/hash_ring.h"
#include "sim/workload/source/source_fixture.h"
#include "sim/workload/keys/zipf.h"

enum { NODES = 4, KEYS = 100000, POINTS = 4096 };

static const uint32_t equal[] = {POINTS, POINTS, POINTS, POINTS};

static struct kvc_workload load(double zipf_s)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_POISSON);
    workload.keys = KEYS;
    workload.popularity = zipf_s > 0 ? KVC_POPULARITY_ZIPF : KVC_POPULARITY_UNIFORM;
    workload.zipf_s = zipf_s;
    return workload;
}

static struct kvc_key_parts *parts_of(const struct kvc_workload *workload, uint32_t epochs,
                                      const double *from_ns, const uint32_t *points, const bool *dead)
{
    struct kvc_diag diag = {0};
    const struct kvc_key_parts_params params = {.workload = workload,
                                                .hash_seed = KVC_TEST_HASH_SEED,
                                                .nodes = NODES,
                                                .epochs = epochs,
                                                .from_ns = from_ns,
                                                .points = points,
                                                .dead = dead};
    struct kvc_key_parts *parts = kvc_key_parts_create(&params, &diag);
    cr_assert_not_null(parts, "%s", diag.message);
    return parts;
}

Test(key_part, parts_are_a_partition_by_the_ring_of_the_whole)
{
    struct kvc_workload workload = load(0.99);
    struct kvc_key_parts *parts = parts_of(&workload, 1, NULL, equal, NULL);
    struct kvc_source *whole = kvc_test_source(&workload, NODES, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, KEYS);
    uint64_t seen = 0;
    double shares = 0;
    kvc_source_keys(whole, 0, KEYS, batch);
    for (uint32_t node = 0; node < NODES; node++) {
        const struct kvc_key_part *part = &parts->part[node];
        for (uint64_t i = 0; i < part->count; i++) {
            cr_assert(i == 0 || part->key[i - 1] < part->key[i]);
            cr_assert_eq(kvc_source_shard(whole, batch->hash[part->key[i]]), node);
        }
        seen += part->count;
        shares += part->epoch[0].share;
        cr_assert_eq(part->epoch[0].keys, part->count);
    }
    cr_expect_eq(seen, KEYS);
    cr_expect_float_eq(shares, 1, 1e-12);
    kvc_batch_free(batch);
    kvc_source_free(whole);
    kvc_key_parts_free(parts);
}

/* Counts the requests for every key of a node that a source sends. */
static void count_requests(struct kvc_source *source, uint32_t shard, const struct kvc_workload *workload,
                           uint32_t requests, uint32_t *count)
{
    struct kvc_batch *batch = kvc_test_batch(workload, 4096);
    for (uint32_t done = 0; done < requests; done += batch->count) {
        batch->count = 0;
        kvc_test_drain(source, shard, INFINITY, batch);
        for (uint32_t i = 0; i < batch->count; i++) {
            count[batch->key_id[i]]++;
        }
    }
    kvc_batch_free(batch);
}

/* Compares counts of the most popular keys and of all others with the probabilities. */
static void expect_popularity(const struct kvc_key_part *part, const uint32_t *count, const uint32_t *place,
                              double zipf_s)
{
    enum { CELLS = 400 };
    double statistic = 0, rest = 1, total = 0, seen = 0;
    for (uint64_t i = 0; i < part->count; i++) {
        total += count[place != NULL ? place[i] : i];
    }
    for (uint64_t i = 0; i < CELLS; i++) {
        uint32_t key = part->key[i];
        double p = (kvc_zipf_mass(KEYS, zipf_s, key + 1ull) - kvc_zipf_mass(KEYS, zipf_s, key)) /
                   part->epoch[0].share;
        double found = count[place != NULL ? place[i] : i];
        statistic += pow(found - total * p, 2) / (total * p);
        rest -= p;
        seen += found;
    }
    statistic += pow(total - seen - total * rest, 2) / (total * rest);
    cr_expect_lt(statistic, gsl_cdf_chisq_Qinv(1e-4, CELLS), "chi-square %g", statistic);
    cr_expect_gt(statistic, gsl_cdf_chisq_Pinv(1e-4, CELLS), "chi-square %g", statistic);
}

Test(key_part, a_nodes_source_draws_its_keys_as_the_coupled_source_does)
{
    enum { REQUESTS = 1000000 };
    struct kvc_workload workload = load(0.99);
    struct kvc_key_parts *parts = parts_of(&workload, 1, NULL, equal, NULL);
    struct kvc_source *whole = kvc_test_source(&workload, NODES, 1, KVC_TEST_SEED);
    for (uint32_t node = 0; node < NODES; node += NODES - 1) {
        const struct kvc_key_part *part = &parts->part[node];
        struct kvc_workload own = workload;
        uint32_t *alone = calloc(KEYS, sizeof(*alone)), *together = calloc(KEYS, sizeof(*together));
        own.part = part;
        own.keys = part->count;
        struct kvc_source *source = kvc_test_source(&own, 1, 1, KVC_TEST_SEED + node);
        count_requests(source, 0, &own, REQUESTS, alone);
        count_requests(whole, node, &workload, REQUESTS, together);
        expect_popularity(part, alone, NULL, 0.99);
        expect_popularity(part, together, part->key, 0.99);
        kvc_source_free(source);
        free(alone);
        free(together);
    }
    kvc_source_free(whole);
    kvc_key_parts_free(parts);
}

Test(key_part, keys_have_the_bytes_sizes_and_hashes_of_the_whole)
{
    struct kvc_workload workload = load(0.5);
    workload.sizes = KVC_SIZES_ETC;
    struct kvc_key_parts *parts = parts_of(&workload, 1, NULL, equal, NULL);
    struct kvc_workload own = workload;
    own.part = &parts->part[1];
    own.keys = own.part->count;
    struct kvc_source *whole = kvc_test_source(&workload, NODES, 1, KVC_TEST_SEED),
                      *source = kvc_test_source(&own, 1, 2, KVC_TEST_SEED);
    struct kvc_batch *all = kvc_test_batch(&workload, KEYS), *batch = kvc_test_batch(&own, 5000);
    kvc_source_keys(whole, 0, KEYS, all);
    kvc_source_keys(source, 0, 20, batch);
    kvc_test_drain(source, 0, INFINITY, batch);
    cr_assert_gt(batch->count, 4000);
    for (uint32_t i = 0; i < batch->count; i++) {
        uint64_t id = own.part->key[batch->key_id[i]];
        cr_assert_eq(batch->hash[i], all->hash[id]);
        cr_assert_eq(batch->key_bytes[i], all->key_bytes[id]);
        cr_assert_eq(batch->value_bytes[i], all->value_bytes[id]);
        cr_assert_eq(memcmp(batch->keys + (size_t)i * batch->key_stride, all->keys + id * all->key_stride,
                            all->key_stride),
                     0);
        cr_assert(i >= 20 || batch->key_id[i] == i);
    }
    kvc_batch_free(all);
    kvc_batch_free(batch);
    kvc_source_free(source);
    kvc_source_free(whole);
    kvc_key_parts_free(parts);
}

Test(key_part, one_of_n_keys_moves_to_a_node_that_joins_and_back_when_it_leaves)
{
    static const uint32_t points[3 * NODES] = {POINTS, POINTS, POINTS, 0,      POINTS, POINTS,
                                               POINTS, POINTS, POINTS, POINTS, POINTS, 0};
    static const double from_ns[] = {0, 1e6, 2e6};
    struct kvc_workload workload = load(0);
    struct kvc_key_parts *parts = parts_of(&workload, 3, from_ns, points, NULL);
    cr_expect_float_eq(parts->moved_frac[1], 1.0 / NODES, 0.02);
    cr_expect_eq(parts->moved_frac[1], parts->moved_frac[2]);
    cr_expect_float_eq(parts->part[3].epoch[1].keys, parts->moved_frac[1] * KEYS, 1e-6);
    cr_expect_eq(parts->part[3].epoch[0].keys, 0);
    for (uint32_t node = 0; node < NODES - 1; node++) {
        cr_expect_eq(parts->part[node].epoch[0].keys, parts->part[node].epoch[2].keys);
        cr_expect_eq(parts->part[node].count, parts->part[node].epoch[0].keys);
        cr_expect_lt(parts->part[node].epoch[1].keys, parts->part[node].epoch[0].keys);
    }
    kvc_key_parts_free(parts);
}

Test(key_part, requests_follow_the_epochs)
{
    static const uint32_t points[3 * NODES] = {POINTS, POINTS, POINTS, 0,      POINTS, POINTS,
                                               POINTS, POINTS, POINTS, POINTS, POINTS, 0};
    static const double from_ns[] = {0, 1e6, 2e6};
    struct kvc_workload workload = load(0.99);
    struct kvc_key_parts *parts = parts_of(&workload, 3, from_ns, points, NULL);
    for (uint32_t node = 2; node < NODES; node++) {
        const struct kvc_key_part *part = &parts->part[node];
        struct kvc_workload own = workload;
        double sent[3] = {0};
        own.part = part;
        own.keys = part->count;
        own.rate_mops *= kvc_key_part_share_max(part);
        struct kvc_source *source = kvc_test_source(&own, 1, 1, KVC_TEST_SEED);
        struct kvc_batch *batch = kvc_test_batch(&own, 500000);
        kvc_test_drain(source, 0, 3e6, batch);
        for (uint32_t i = 0; i < batch->count; i++) {
            uint32_t epoch = (uint32_t)(batch->sent_ns[i] / 1e6);
            sent[epoch]++;
            /* Clients have a frame of requests open when the epoch begins. */
            bool near = fmod(batch->sent_ns[i], 1e6) < 1e4 || fmod(batch->sent_ns[i], 1e6) > 1e6 - 1e4;
            cr_assert(near || (part->owned[batch->key_id[i]] >> epoch & 1) != 0);
        }
        for (uint32_t epoch = 0; epoch < 3; epoch++) {
            double expected = workload.rate_mops * 1e3 * part->epoch[epoch].share;
            cr_expect_float_eq(sent[epoch], expected, 5 * sqrt(expected) + 1e-9,
                               "node %u, epoch %u: %g of %g", node, epoch, sent[epoch], expected);
        }
        cr_expect_eq(kvc_source_holds_key(source, 0), (part->owned[0] & 1) != 0);
        kvc_batch_free(batch);
        kvc_source_free(source);
    }
    kvc_key_parts_free(parts);
}

Test(key_part, of_requests_at_equal_distances_each_is_the_nodes_with_its_share)
{
    struct kvc_workload workload = load(0);
    workload.arrival = KVC_ARRIVAL_FIXED;
    struct kvc_key_parts *parts = parts_of(&workload, 1, NULL, equal, NULL);
    struct kvc_workload own = workload;
    own.part = &parts->part[0];
    own.keys = own.part->count;
    double share = own.part->epoch[0].share, gap_ns = 1e3 / workload.rate_mops;
    own.rate_mops *= share;
    struct kvc_source *source = kvc_test_source(&own, 1, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&own, 200000);
    kvc_test_drain(source, 0, 4e6, batch);
    double expected = 4e6 / gap_ns * share;
    cr_expect_float_eq(batch->count, expected, 5 * sqrt(expected * (1 - share)));
    for (uint32_t i = 0; i < batch->count; i++) {
        double number = batch->sent_ns[i] / gap_ns;
        cr_assert_float_eq(number, round(number), 1e-3);
    }
    kvc_batch_free(batch);
    kvc_source_free(source);
    kvc_key_parts_free(parts);
}
