#include "sim/workload/hash_ring.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <math.h>

#include "sim/base/rng.h"

enum { KEYS = 400000, MOST = 64, SEED = 5 };

static uint64_t hash_of(uint64_t key)
{
    return kvc_mix64(key * 0x9e3779b97f4a7c15ull + 99);
}

Test(hash_ring, shares_are_equal_within_five_percent)
{
    static const uint32_t nodes[] = {2, 3, 4, 16};
    for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++) {
        uint32_t count[MOST] = {0};
        struct kvc_hash_ring *ring = kvc_hash_ring_create(nodes[i], 1, SEED);
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
        struct kvc_hash_ring *before = kvc_hash_ring_create(nodes, 1, SEED),
                             *after = kvc_hash_ring_create(nodes + 1, 1, SEED);
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
    struct kvc_hash_ring *ring = kvc_hash_ring_create(NODES, 1, SEED);
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
    struct kvc_hash_ring *ring = kvc_hash_ring_create(NODES, SOCKETS, SEED);
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
