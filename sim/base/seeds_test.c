#include "sim/base/seeds.h"

#include <criterion/criterion.h>

Test(seeds, differ_between_runs_replicas_and_uses)
{
    enum { RUNS = 20, REPLICAS = 20, SEEDS = RUNS * REPLICAS * 2 };
    uint64_t seed[SEEDS];
    for (uint32_t i = 0; i < SEEDS / 2; i++) {
        seed[2 * i] = kvc_seed_of_replica(i / REPLICAS, i % REPLICAS);
        seed[2 * i + 1] = kvc_seed_of_hash(seed[2 * i]);
    }
    for (uint32_t i = 0; i < SEEDS; i++) {
        for (uint32_t j = 0; j < i; j++) {
            cr_assert_neq(seed[i], seed[j]);
        }
    }
    cr_expect_eq(kvc_seed_of_replica(3, 5), seed[2 * (3 * REPLICAS + 5)]);
}
