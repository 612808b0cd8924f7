#include "kernels/kvdirect/table.h"

#include <criterion/criterion.h>

#include "kernels/kvdirect/table_fixture.h"

Test(kvdirect_table, updates)
{
    struct kvc_kvdirect_table *table = create(1 << 14, 0.5, 16);
    struct kvc_kvdirect_table_stats stats = {0};
    uint64_t key = 5, zero = 0, one = 1, got;
    struct kvc_kvdirect_table_op op[40];
    op[0] = (struct kvc_kvdirect_table_op){
        .verb = KVC_KVDIRECT_TABLE_ADD, .key = &key, .key_bytes = 8, .operand = 1};
    kvc_kvdirect_table_run(table, op, 1, &stats);
    cr_assert_eq(op[0].result, KVC_KVDIRECT_TABLE_ABSENT);
    cr_assert_eq(put(table, &key, 8, &zero, 8, &stats), KVC_KVDIRECT_TABLE_OK);
    for (uint64_t i = 0; i < 40; i++) { /* all on one key, in one batch */
        op[i] = (struct kvc_kvdirect_table_op){
            .verb = KVC_KVDIRECT_TABLE_ADD, .key = &key, .key_bytes = 8, .operand = i};
    }
    kvc_kvdirect_table_run(table, op, 40, &stats);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 40; i++) {
        cr_assert_eq(op[i].original, sum);
        sum += i;
    }
    cr_assert_eq(get(table, &key, 8, &got, &stats), 8);
    cr_assert_eq(got, sum);
    op[0] = (struct kvc_kvdirect_table_op){
        .verb = KVC_KVDIRECT_TABLE_SWAP, .key = &key, .key_bytes = 8, .expected = sum, .operand = 11};
    op[1] = op[0];
    kvc_kvdirect_table_run(table, op, 2, &stats);
    cr_assert_eq(op[0].result, KVC_KVDIRECT_TABLE_OK);
    cr_assert_eq(op[0].original, sum);
    cr_assert_eq(op[1].result, KVC_KVDIRECT_TABLE_UNEQUAL);
    cr_assert_eq(op[1].original, 11);
    cr_assert_eq(put(table, &one, 8, &zero, 7, &stats), KVC_KVDIRECT_TABLE_OK);
    op[0] = (struct kvc_kvdirect_table_op){
        .verb = KVC_KVDIRECT_TABLE_ADD, .key = &one, .key_bytes = 8, .operand = 1};
    kvc_kvdirect_table_run(table, op, 1, &stats);
    cr_assert_eq(op[0].result, KVC_KVDIRECT_TABLE_UNEQUAL, "not 8 bytes");
    cr_assert_eq(stats.update.operations, 1 + 40 + 2 + 1);
    kvc_kvdirect_table_free(table);
}

/* Adds 1 to every byte if `data` points to true. */
static bool add_one_to_all(void *data, uint8_t *value, uint32_t bytes)
{
    const bool *changes = data;
    for (uint32_t i = 0; i < bytes && *changes; i++) {
        value[i]++;
    }
    return *changes;
}

/* If the function has changed the value, the bucket of an inline pair is written back, or the slab of another
 * pair. */
Test(kvdirect_table, functions_on_values)
{
    struct kvc_kvdirect_table *table = create(1 << 20, 0.5, 20);
    for (uint32_t value_bytes = 8; value_bytes <= 400; value_bytes *= 50) {
        for (int changes = 0; changes <= 1; changes++) {
            struct kvc_kvdirect_table_stats stats = {0};
            bool change = changes;
            uint8_t value[512], expected[512];
            uint64_t key = value_bytes + (uint64_t)changes;
            fill_value(expected, key, value_bytes);
            cr_assert_eq(put(table, &key, 8, expected, value_bytes, &stats), KVC_KVDIRECT_TABLE_OK);
            struct kvc_kvdirect_table_op op = {.verb = KVC_KVDIRECT_TABLE_APPLY,
                                               .key = &key,
                                               .key_bytes = 8,
                                               .apply = add_one_to_all,
                                               .data = &change};
            kvc_kvdirect_table_run(table, &op, 1, &stats);
            cr_assert_eq(op.result, KVC_KVDIRECT_TABLE_OK);
            cr_expect_eq(kvc_kvdirect_table_accesses(&stats.update), 1u + (value_bytes > 12) + change);
            cr_assert_eq(get(table, &key, 8, value, &stats), (int)value_bytes);
            for (uint32_t i = 0; i < value_bytes; i++) {
                cr_assert_eq(value[i], (uint8_t)(expected[i] + changes));
            }
            key = 12345;
            kvc_kvdirect_table_run(table, &op, 1, &stats);
            cr_expect_eq(op.result, KVC_KVDIRECT_TABLE_ABSENT);
        }
    }
    kvc_kvdirect_table_free(table);
}
