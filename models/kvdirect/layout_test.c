#include "models/kvdirect/layout.h"

#include <criterion/criterion.h>
#include <math.h>

#include "kernels/kvdirect/table.h"

enum { TABLE_BYTES = 4 << 20 };

static const uint32_t key_bytes = 8;

static struct kvc_kvdirect_table_stats run_all(struct kvc_kvdirect_table *table, uint32_t keys, uint8_t verb,
                                               uint32_t pair_bytes)
{
    struct kvc_kvdirect_table_stats stats = {0};
    static uint8_t value[KVC_KVDIRECT_TABLE_PAIR_MAX];
    for (uint64_t key = 1; key <= keys; key++) {
        struct kvc_kvdirect_table_op op = {.key = &key,
                                           .key_bytes = (uint8_t)key_bytes,
                                           .verb = verb,
                                           .value = value,
                                           .value_bytes = (uint16_t)(pair_bytes - key_bytes)};
        kvc_kvdirect_table_run(table, &op, 1, &stats);
        cr_assert_eq(op.result, KVC_KVDIRECT_TABLE_OK);
    }
    return stats;
}

/* Compares the closed form with GETs and overwriting PUTs in the real table, filled with pairs of one size.
 */
static void expect_accesses(uint32_t keys, double index_frac, uint32_t inline_bytes, uint32_t pair_bytes)
{
    const struct kvc_kvdirect_table_params params = {
        .bytes = TABLE_BYTES, .hash_index_frac = index_frac, .inline_bytes = inline_bytes, .seed = 5};
    struct kvc_kvdirect_table *table = kvc_kvdirect_table_create(&params);
    cr_assert_not_null(table);
    run_all(table, keys, KVC_KVDIRECT_TABLE_PUT, pair_bytes);
    struct kvc_kvdirect_table_stats gets = run_all(table, keys, KVC_KVDIRECT_TABLE_GET, pair_bytes);
    struct kvc_kvdirect_table_stats puts = run_all(table, keys, KVC_KVDIRECT_TABLE_PUT, pair_bytes);
    struct kvc_kvdirect_accesses expected = kvc_kvdirect_accesses_of(
        keys, (double)kvc_kvdirect_table_index_buckets(table), inline_bytes, pair_bytes);
    double per_get = (double)kvc_kvdirect_table_accesses(&gets.get) / keys;
    double per_put = (double)kvc_kvdirect_table_accesses(&puts.put) / keys;
    cr_expect_float_eq(kvc_kvdirect_reads(&expected), per_get, 0.02 * per_get,
                       "GET of %u, %u bytes: %g, really %g", keys, pair_bytes, kvc_kvdirect_reads(&expected),
                       per_get);
    cr_expect_float_eq(kvc_kvdirect_reads(&expected) + 1, per_put, 0.02 * per_put,
                       "PUT of %u, %u bytes: %g, really %g", keys, pair_bytes,
                       kvc_kvdirect_reads(&expected) + 1, per_put);
    kvc_kvdirect_table_free(table);
}

Test(layout, accesses_are_those_of_the_real_table)
{
    for (double utilization = 0.1; utilization < 0.55; utilization += 0.1) {
        uint32_t keys = (uint32_t)(utilization * TABLE_BYTES);
        expect_accesses(keys / 10, 0.6, 15, 10);
        expect_accesses(keys / 10, 0.3, 15, 10);
        expect_accesses(keys / 25, 0.5, 25, 25);
        expect_accesses(keys / 62, 0.2, 15, 62);
        expect_accesses(keys / 254, 0.1, 15, 254);
    }
}

/* All pairs fit with the best index, but not with a slightly larger one. The real table agrees. */
Test(layout, the_best_index_is_the_largest_that_holds_all)
{
    const struct {
        uint32_t pair_bytes, inline_bytes;
    } pairs[] = {{10, 15}, {25, 25}, {62, 15}, {254, 15}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        for (double utilization = 0.2; utilization < 0.55; utilization += 0.1) {
            double keys = floor(utilization * TABLE_BYTES / pairs[i].pair_bytes);
            uint32_t pair = pairs[i].pair_bytes, inlined = pairs[i].inline_bytes;
            double best = kvc_kvdirect_best_index(keys, TABLE_BYTES, inlined, pair);
            cr_assert_gt(best, 0);
            cr_expect_leq(kvc_kvdirect_needed_frac(keys, TABLE_BYTES, best, inlined, pair), 1);
            if (best < 0.98) {
                cr_expect_gt(kvc_kvdirect_needed_frac(keys, TABLE_BYTES, best + 0.02, inlined, pair), 1);
            }
            expect_accesses((uint32_t)keys, best, inlined, pair);
        }
    }
    cr_expect_eq(kvc_kvdirect_best_index(1e6, TABLE_BYTES, 15, 254), 0, "the pairs do not fit");
}

/* Fig. 9a: at the same utilization, a larger index needs fewer accesses. */
Test(layout, a_larger_index_needs_fewer_accesses)
{
    double before = INFINITY;
    for (double index = 0.1; index <= 0.8; index += 0.1) {
        struct kvc_kvdirect_accesses accesses =
            kvc_kvdirect_accesses_of(0.4 * TABLE_BYTES / 10, TABLE_BYTES * index / 64, 15, 10);
        cr_expect_lt(kvc_kvdirect_reads(&accesses), before);
        before = kvc_kvdirect_reads(&accesses);
    }
}
