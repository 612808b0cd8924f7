#include "kernels/kvdirect/table.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>

#include "kernels/kvdirect/table_fixture.h"

Test(kvdirect_table, rejects_bad_params)
{
    struct kvc_kvdirect_table_params bad[] = {
        {.bytes = 512, .hash_index_frac = 0.5},
        {.bytes = 1025, .hash_index_frac = 0.5},
        {.bytes = UINT64_C(128) << 30, .hash_index_frac = 0.5},
        {.bytes = 4096, .hash_index_frac = 0},
        {.bytes = 4096, .hash_index_frac = -1},
        {.bytes = 4096, .hash_index_frac = 1.01},
        {.bytes = 4096, .hash_index_frac = (double)NAN},
        {.bytes = 4096, .hash_index_frac = 0.5, .inline_bytes = 51},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        errno = 0;
        cr_assert_null(kvc_kvdirect_table_create(&bad[i]));
        cr_assert_eq(errno, EINVAL);
    }
    kvc_kvdirect_table_free(NULL);
}

Test(kvdirect_table, a_batch_takes_effect_in_its_order)
{
    struct kvc_kvdirect_table *table = create(1 << 14, 0.5, 20);
    struct kvc_kvdirect_table_stats stats = {0};
    uint64_t key = 9, value[5] = {1, 2, 0, 0, 0};
    struct kvc_kvdirect_table_op op[] = {
        {.verb = KVC_KVDIRECT_TABLE_PUT, .key = &key, .key_bytes = 8, .value = &value[0], .value_bytes = 8},
        {.verb = KVC_KVDIRECT_TABLE_GET, .key = &key, .key_bytes = 8, .value = &value[2], .value_bytes = 8},
        {.verb = KVC_KVDIRECT_TABLE_PUT, .key = &key, .key_bytes = 8, .value = &value[1], .value_bytes = 8},
        {.verb = KVC_KVDIRECT_TABLE_GET, .key = &key, .key_bytes = 8, .value = &value[3], .value_bytes = 8},
        {.verb = KVC_KVDIRECT_TABLE_DELETE, .key = &key, .key_bytes = 8},
        {.verb = KVC_KVDIRECT_TABLE_GET, .key = &key, .key_bytes = 8, .value = &value[4], .value_bytes = 8},
    };
    kvc_kvdirect_table_run(table, op, 6, &stats);
    cr_assert_eq(value[2], 1);
    cr_assert_eq(value[3], 2);
    cr_assert_eq(op[5].result, KVC_KVDIRECT_TABLE_ABSENT);
    kvc_kvdirect_table_run(table, NULL, 0, &stats);
    cr_assert_eq(stats.get.operations, 3);
    kvc_kvdirect_table_free(table);
}
