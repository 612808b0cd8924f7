#include "sim/workload/keys/hash_ring.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <math.h>

#include "sim/base/rng.h"

enum { KEYS = 400000, MOST = 64, SEED = 5 };

static uint64_t hash_of(uint64_t key)
{
    return kvc_mix64(key * 0x9e3779b97f4a7c15ull + 99);
}

static struct kvc_hash_ring *ring_of(uint32_t nodes, uint32_t sockets, const uint32_t *each)
{
    const struct kvc_hash_ring_params params = {
        .nodes = nodes, .sockets = sockets, .seed = SEED, .each = each};
    struct kvc_hash_ring *ring = kvc_hash_ring_create(&params);
    cr_assert_not_null(ring);
    return ring;
}

Test(hash_ring, shares_are_equal_within_five_percent)
{
    static const uint32_t nodes[] = {2, 3, 4, 16};
    for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++) {
        uint32_t count[MOST] = {0};
        struct kvc_hash_ring *ring = ring_of(nodes[i], 1, NULL);
        for (uint64_t key = 0; key < KEYS; key++) {
            count[kvc_hash_ring_shard(ring, hash_of(key))]++;
        }
        for (uint32_t node = 0; node < nodes[i]; node++) {
            cr_assert_float_eq(count[node] * (double)nodes[i] / KEYS, 1, 0.05, "node %u of %u has %u of %d",
                               node, nodes[i], count[node], KEYS);
        }
        kvc_hash_ring_free(ring);
    }
}

Test(hash_ring, a_new_node_takes_its_share_and_nothing_else_moves)
{
    for (uint32_t nodes = 1; nodes <= 9; nodes++) {
        struct kvc_hash_ring *before = ring_of(nodes, 1, NULL), *after = ring_of(nodes + 1, 1, NULL);
        uint32_t moved = 0;
        for (uint64_t key = 0; key < KEYS; key++) {
            uint32_t old = kvc_hash_ring_shard(before, hash_of(key)),
                     new = kvc_hash_ring_shard(after, hash_of(key));
            if (old != new) {
                cr_assert_eq(new, nodes, "a key moved between old nodes");
                moved++;
            }
        }
        cr_assert_float_eq(moved * (nodes + 1.0) / KEYS, 1, 0.05, "%u of %d moved to node %u", moved, KEYS,
                           nodes);
        kvc_hash_ring_free(before);
        kvc_hash_ring_free(after);
    }
}

Test(hash_ring, look_ups_agree_with_a_search_over_all_points)
{
    enum { NODES = 5 };
    struct kvc_hash_ring *ring = ring_of(NODES, 1, NULL);
    for (uint64_t key = 0; key < 2000; key++) {
        uint64_t place = kvc_mix64(hash_of(key)), nearest = UINT64_MAX;
        uint32_t owner = 0;
        for (uint64_t node = 0; node < NODES; node++) {
            for (uint64_t i = 1; i <= KVC_HASH_RING_POINTS; i++) {
                uint64_t ahead = kvc_mix64(SEED + (node << 32) + i) - place; /* Wraps around the ring. */
                if (ahead < nearest) {
                    nearest = ahead;
                    owner = (uint32_t)node;
                }
            }
        }
        cr_assert_eq(kvc_hash_ring_shard(ring, hash_of(key)), owner);
    }
    kvc_hash_ring_free(ring);
}

Test(hash_ring, sockets_are_independent_of_nodes_and_of_hash_bits)
{
    enum { NODES = 4, SOCKETS = 2, BUCKETS = 16 };
    static double count[NODES * SOCKETS][2][BUCKETS], total[NODES * SOCKETS];
    uint64_t hash[1000];
    uint32_t shard[1000];
    struct kvc_hash_ring *ring = ring_of(NODES, SOCKETS, NULL);
    for (uint64_t first = 0; first < KEYS; first += 1000) {
        for (uint64_t i = 0; i < 1000; i++) {
            hash[i] = hash_of(first + i);
        }
        kvc_hash_ring_shards(ring, hash, 1000, shard);
        for (int i = 0; i < 1000; i++) {
            cr_assert_eq(shard[i], kvc_hash_ring_shard(ring, hash[i]));
            total[shard[i]]++;
            count[shard[i]][0][hash[i] % BUCKETS]++;
            count[shard[i]][1][hash[i] >> 60]++;
        }
    }
    for (int i = 0; i < NODES * SOCKETS; i++) {
        cr_assert_float_eq(total[i] * NODES * SOCKETS / KEYS, 1, 0.06);
        for (int bits = 0; bits < 2; bits++) {
            double statistic = 0, expected = total[i] / BUCKETS;
            for (int bucket = 0; bucket < BUCKETS; bucket++) {
                statistic += pow(count[i][bits][bucket] - expected, 2) / expected;
            }
            cr_assert_lt(statistic, gsl_cdf_chisq_Qinv(1e-4, BUCKETS - 1));
        }
    }
    kvc_hash_ring_free(ring);
}

Test(hash_ring, shares_follow_the_points_of_each_node)
{
    enum { NODES = 4 };
    static const uint32_t points[NODES] = {4096, 8192, 0, 2048};
    uint32_t count[NODES] = {0};
    struct kvc_hash_ring *ring = ring_of(NODES, 1, points);
    for (uint64_t key = 0; key < KEYS; key++) {
        count[kvc_hash_ring_shard(ring, hash_of(key))]++;
    }
    for (uint32_t node = 0; node < NODES; node++) {
        double expected = KEYS * (points[node] / (4096 + 8192 + 2048.0));
        cr_expect_float_eq(count[node], expected, 0.06 * expected, "node %u has %u", node, count[node]);
    }
    kvc_hash_ring_free(ring);
}

Test(hash_ring, keys_of_a_node_that_leaves_go_to_all_others_and_nothing_else_moves)
{
    enum { NODES = 5, GONE = 2 };
    uint32_t with[NODES], without[NODES], moved = 0, to[NODES] = {0};
    for (uint32_t node = 0; node < NODES; node++) {
        with[node] = 4096;
        without[node] = node != GONE ? 4096 : 0;
    }
    struct kvc_hash_ring *before = ring_of(NODES, 1, with), *after = ring_of(NODES, 1, without);
    for (uint64_t key = 0; key < KEYS; key++) {
        uint32_t old = kvc_hash_ring_shard(before, hash_of(key)),
                 new = kvc_hash_ring_shard(after, hash_of(key));
        cr_assert_neq(new, GONE);
        if (old != new) {
            cr_assert_eq(old, GONE, "a key moved between nodes that stay");
            moved++;
            to[new]++;
        }
    }
    cr_expect_float_eq(moved * (double)NODES / KEYS, 1, 0.06, "%u of %d moved", moved, KEYS);
    for (uint32_t node = 0; node < NODES; node++) {
        cr_expect(node == GONE || fabs(to[node] * (NODES - 1.0) / moved - 1) < 0.1, "node %u got %u of %u",
                  node, to[node], moved);
    }
    kvc_hash_ring_free(before);
    kvc_hash_ring_free(after);
}
