#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "sim/workload/source/source_fixture.h"

/* A load of one client for each shard, whose frames have their requests in the order of the stream. */
static struct kvc_workload one_client(int popularity)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_POISSON);
    workload.flows = 1;
    workload.fill_timeout_ns = 1000;
    workload.popularity = popularity;
    workload.zipf_s = 0.99;
    return workload;
}

/* Churn changes nothing but which key has a rank, by the formula of the header. */
Test(source_popularity, churn_moves_the_ranks_at_its_rate)
{
    struct kvc_workload still = one_client(KVC_POPULARITY_ZIPF), moving = still;
    moving.churn_per_s = 3e8; /* 300 keys in 1 us, and so three times around in 1 ms. */
    for (uint32_t nodes = 1; nodes <= 4; nodes += 3) {
        struct kvc_source *a = kvc_test_source(&still, nodes, 1, KVC_TEST_SEED),
                          *b = kvc_test_source(&moving, nodes, 1, KVC_TEST_SEED);
        struct kvc_batch *expected = kvc_test_batch(&still, 200000), *got = kvc_test_batch(&moving, 200000);
        if (nodes > 1) { /* Requests go to the shard of the key that they have now. */
            for (uint32_t shard = 0; shard < nodes; shard++) {
                got->count = 0;
                kvc_test_drain(b, shard, 1e6, got);
                cr_assert_gt(got->count, 10000u);
                for (uint32_t i = 0; i < got->count; i++) {
                    cr_assert_eq(kvc_source_shard(b, got->hash[i]), shard);
                }
            }
        } else {
            kvc_test_drain(a, 0, 1e6, expected);
            kvc_test_drain(b, 0, 1e6, got);
            cr_assert_eq(got->count, expected->count);
            for (uint32_t i = 0; i < got->count; i++) {
                uint64_t moved = (uint64_t)floor(got->sent_ns[i] * 0.3);
                uint64_t key = (expected->key_id[i] + 10 * still.keys - moved) % still.keys;
                cr_assert_eq(got->op[i], expected->op[i]);
                cr_assert(got->key_id[i] == key ||
                              fabs(got->sent_ns[i] * 0.3 - round(got->sent_ns[i] * 0.3)) < 1e-3,
                          "request %u: key %llu, not %llu", i, (unsigned long long)got->key_id[i],
                          (unsigned long long)key);
            }
        }
        kvc_batch_free(expected);
        kvc_batch_free(got);
        kvc_source_free(a);
        kvc_source_free(b);
    }
}

/* A storm takes its share of the requests, its keys share them equally, and all other requests stay. */
Test(source_popularity, storms_take_their_share_while_they_last)
{
    enum { KEYS = 4 };
    struct kvc_workload calm = one_client(KVC_POPULARITY_ZIPF), stormy = calm;
    stormy.storm_count = 2;
    stormy.storms[0] = (struct kvc_storm){.at_ns = 3e5, .length_ns = 4e5, .frac = 0.25, .keys = KEYS};
    stormy.storms[1] = (struct kvc_storm){.at_ns = 5e5, .length_ns = 4e5, .frac = 0.5, .keys = 1};
    static const struct {
        double from_ns, until_ns, share[KEYS];
    } times[] = {{0, 3e5, {0}},
                 {3e5, 5e5, {0.0625, 0.0625, 0.0625, 0.0625}},
                 {5e5, 7e5, {0.0625 + 0.375, 0.0625, 0.0625, 0.0625}},
                 {7e5, 9e5, {0.5}},
                 {9e5, 1e6, {0}}};
    struct kvc_source *a = kvc_test_source(&calm, 1, 1, KVC_TEST_SEED),
                      *b = kvc_test_source(&stormy, 1, 1, KVC_TEST_SEED);
    struct kvc_batch *plain = kvc_test_batch(&calm, 200000), *batch = kvc_test_batch(&stormy, 200000);
    kvc_test_drain(a, 0, 1e6, plain);
    kvc_test_drain(b, 0, 1e6, batch);
    cr_assert_eq(batch->count, plain->count);
    for (size_t k = 0; k < sizeof(times) / sizeof(*times); k++) {
        double requests = 0, count[KEYS] = {0};
        for (uint32_t i = 0; i < batch->count; i++) {
            cr_assert_eq(batch->sent_ns[i], plain->sent_ns[i]);
            if (batch->sent_ns[i] < times[k].from_ns || batch->sent_ns[i] >= times[k].until_ns) {
                continue;
            }
            uint64_t from_last = stormy.keys - 1 - batch->key_id[i];
            requests++;
            if (from_last < KEYS) {
                count[from_last]++;
            } else {
                cr_assert_eq(batch->key_id[i], plain->key_id[i]);
            }
        }
        for (int key = 0; key < KEYS;
             key++) { /* Outside of storms, these keys have 1e-6 of the requests each. */
            double expected = requests * times[k].share[key];
            cr_expect_float_eq(count[key], expected, 5 * sqrt(expected) + 3, "time %zu, key %d: %g, not %g",
                               k, key, count[key], expected);
        }
    }
    kvc_batch_free(plain);
    kvc_batch_free(batch);
    kvc_source_free(a);
    kvc_source_free(b);
}
