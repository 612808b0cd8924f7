#include "sim/workload/tenants.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "sim/workload/keys/popularity_blocks.h"
#include "sim/workload/keys/tenant_keys.h"
#include "sim/workload/source/source_fixture.h"

enum { ROWS = 200000 };

/* A tenant with a few skewed keys, one with many keys that are equally popular, and one that only deletes. */
static struct kvc_workload three_tenants(void)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_POISSON);
    workload.preload_frac = 1;
    workload.tenant_count = 3;
    workload.tenants[0] = (struct kvc_tenant){"web", 60, 2000, 8, 64, 0.9, 0, 0.99, 0};
    workload.tenants[1] = (struct kvc_tenant){"batch", 30, 50000, 16, 512, 0.25, 0.25, 0, 0};
    workload.tenants[2] = (struct kvc_tenant){"purge", 10, 500, 12, 0, 0, 1, 1.2, 0};
    workload.flows = 10;
    workload.connections = 2;
    workload.fill_timeout_ns = 1e6;
    workload.rate_of_tenants = true;
    kvc_tenants_settle(&workload);
    return workload;
}

Test(tenants, the_load_of_all_is_the_sum_of_theirs)
{
    struct kvc_workload workload = three_tenants();
    cr_expect_eq(workload.keys, 52500);
    cr_expect_float_eq(workload.rate_mops, 100, 1e-12);
    cr_expect_float_eq(workload.get_frac, 0.6 * 0.9 + 0.3 * 0.25, 1e-12);
    cr_expect_float_eq(workload.delete_frac, 0.3 * 0.25 + 0.1, 1e-12);
    cr_expect_float_eq(kvc_workload_value_bytes_mean(&workload), (2000 * 64 + 50000 * 512) / 52500.0, 1e-9);
    cr_expect_float_eq(kvc_workload_value_bytes_requested(&workload), 0.6 * 64 + 0.3 * 512, 1e-9);
    cr_expect_eq(kvc_workload_key_bytes_max(&workload), 16);
    workload.rate_of_tenants = false;
    workload.rate_mops = 7;
    kvc_tenants_settle(&workload);
    cr_expect_float_eq(workload.rate_mops, 7, 0, "a stated rate stays");
    cr_expect_float_eq(kvc_tenants_workload(&workload, 1).rate_mops, 2.1, 1e-12);
}

Test(tenants, clients_are_divided_and_none_has_two_tenants)
{
    struct kvc_workload workload = three_tenants();
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 3; i++) {
        cr_expect_eq(kvc_tenants_first_flow(&workload, i), sum);
        sum += (uint32_t)kvc_tenants_workload(&workload, i).flows;
    }
    cr_expect_eq(sum, 10);
    workload.flows = 1;
    for (uint32_t i = 0; i < 3; i++) {
        cr_expect_eq(kvc_tenants_workload(&workload, i).flows, 1, "every tenant has a client");
    }
}

Test(tenants, ids_rank_the_keys_of_all_by_their_popularity)
{
    struct kvc_workload workload = three_tenants();
    const struct kvc_tenant_keys *keys = kvc_tenant_keys_of(workload.tenants, workload.tenant_count);
    bool *seen = calloc(workload.keys, sizeof(*seen));
    double mass = 0, before = INFINITY;
    for (uint32_t i = 0; i < keys->count; i++) {
        const struct kvc_tenant_block *block = &keys->block[i];
        double each = block->mass / (double)block->keys;
        cr_assert(each <= before, "block %u is more popular than the one before", i);
        before = each;
        mass += block->mass;
    }
    cr_expect_float_eq(mass, 1, 1e-9);
    for (uint32_t tenant = 0; tenant < 3; tenant++) {
        for (uint64_t rank = 0; rank < workload.tenants[tenant].keys; rank++) {
            uint64_t id = rank;
            kvc_tenant_keys_to_ids(keys, tenant, &id, 1);
            cr_assert(id < workload.keys && !seen[id], "rank %llu of tenant %u", (unsigned long long)rank,
                      tenant);
            seen[id] = true;
            const struct kvc_tenant_block *block = kvc_tenant_keys_block(keys, id);
            cr_assert_eq(block->tenant, tenant);
            cr_assert_eq(block->first_rank + (id - block->first), rank);
        }
    }
    free(seen);
    cr_expect_eq(kvc_tenant_keys_block(keys, 0)->tenant, 0,
                 "six tenths of the requests are for a few skewed keys");
    cr_expect_float_eq(kvc_popularity_mass(&workload, (double)workload.keys), 1, 1e-9);
    cr_expect_float_eq(kvc_popularity_mass(&workload, (double)workload.keys - 50000), 0.7, 1e-3,
                       "the other tenants have the most popular keys");
}

/* Returns whether a share of the rows is within five standard errors of what is expected. */
static bool is_near(double found, double expected, double rows)
{
    return fabs(found / rows - expected) < 5 * sqrt(expected * (1 - expected) / rows) + 1e-12;
}

Test(tenants, requests_are_those_of_their_tenant_and_frames_of_one)
{
    struct kvc_workload workload = three_tenants();
    struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, ROWS);
    const struct kvc_tenant_keys *keys = kvc_tenant_keys_of(workload.tenants, workload.tenant_count);
    double rows[3] = {0}, ops[3][KVC_OP_COUNT] = {{0}}, left_ns = 0;
    uint32_t got;
    while (batch->capacity - batch->count >= KVC_TEST_FRAME) {
        uint32_t connection, first = batch->count;
        double next_ns = kvc_source_next_ns(source, 0);
        cr_assert(kvc_source_peek(source, 0, INFINITY, &connection));
        got = kvc_source_drain(source, 0, INFINITY, batch);
        cr_assert(got > 0 && batch->left_ns >= left_ns && batch->connection == connection);
        cr_assert_eq(batch->left_ns, next_ns);
        left_ns = batch->left_ns;
        uint32_t tenant = batch->client[first], flow = batch->connection / (uint32_t)workload.connections;
        cr_assert(flow >= kvc_tenants_first_flow(&workload, tenant) &&
                  flow < kvc_tenants_first_flow(&workload, tenant + 1));
        for (uint32_t i = first; i < batch->count; i++) {
            cr_assert_eq(batch->client[i], tenant, "a frame has requests of one tenant");
            cr_assert_eq(kvc_tenant_keys_block(keys, batch->key_id[i])->tenant, tenant);
            cr_assert_eq(batch->key_bytes[i], workload.tenants[tenant].key_bytes);
            cr_assert_eq(batch->value_bytes[i], workload.tenants[tenant].value_bytes);
            rows[tenant]++;
            ops[tenant][batch->op[i]]++;
        }
    }
    for (uint32_t i = 0; i < 3; i++) {
        cr_expect(is_near(rows[i], kvc_workload_tenant_share(&workload, i), batch->count),
                  "tenant %u has %g of %u", i, rows[i], batch->count);
        for (int op = 0; op < KVC_OP_COUNT; op++) {
            cr_expect(is_near(ops[i][op], kvc_tenants_op_frac(&workload.tenants[i], op), rows[i]));
        }
    }
    cr_expect_float_eq(batch->count / left_ns * 1e3, 100, 2, "requests arrive at the rate of all");
    kvc_batch_free(batch);
    kvc_source_free(source);
}

Test(tenants, preloaded_keys_are_those_that_are_requested)
{
    struct kvc_workload workload = three_tenants();
    struct kvc_source *source = kvc_test_source(&workload, 2, 1, KVC_TEST_SEED);
    struct kvc_batch *all = kvc_test_batch(&workload, (uint32_t)workload.keys),
                     *some = kvc_test_batch(&workload, 5000);
    kvc_source_keys(source, 0, (uint32_t)workload.keys, all);
    cr_assert_eq(all->count, workload.keys);
    for (uint32_t shard = 0; shard < 2; shard++) {
        kvc_test_drain(source, shard, 40000, some);
    }
    cr_assert(some->count > 1000);
    for (uint32_t i = 0; i < some->count; i++) {
        uint64_t id = some->key_id[i];
        cr_assert_eq(all->key_id[id], id);
        cr_assert_eq(all->hash[id], some->hash[i]);
        cr_assert_eq(all->value_bytes[id], some->value_bytes[i]);
        cr_assert_eq(
            memcmp(all->keys + id * all->key_stride, some->keys + i * some->key_stride, some->key_stride), 0);
    }
    kvc_batch_free(all);
    kvc_batch_free(some);
    kvc_source_free(source);
}

Test(tenants, what_cannot_be_is_refused_with_its_place)
{
    struct kvc_workload workload = three_tenants();
    struct kvc_diag diag = {0};
    cr_expect_eq(kvc_workload_check(&workload, &diag), KVC_OK, "%s", diag.message);
    strcpy(workload.tenants[1].name, "web");
    cr_expect_eq(kvc_workload_check(&workload, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "workload.tenants.2.name: found \"web\""));
    workload = three_tenants();
    workload.tenants[2].get_frac = 0.5;
    cr_expect_eq(kvc_workload_check(&workload, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "get = 0.5 and delete = 1 add up to 1.5"));
    workload = three_tenants();
    workload.tenants[0].key_bytes = 1;
    cr_expect_eq(kvc_workload_check(&workload, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "workload.tenants.1.key: found 1 bytes"));
    workload = three_tenants();
    workload.arrival = KVC_ARRIVAL_CLOSED;
    cr_expect_eq(kvc_workload_check(&workload, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "workload.arrival: allowed with workload.tenants"));
}
