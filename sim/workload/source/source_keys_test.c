#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "sim/workload/sizes.h"
#include "sim/workload/source/source_fixture.h"

static int by_bytes(const void *left, const void *right)
{
    return memcmp(left, right, 264);
}

/* Checks all keys of a workload. Sorted by size and bytes, no two neighbors may be equal. */
static void check_unique(struct kvc_workload *workload)
{
    struct kvc_source *source = kvc_test_source(workload, 1, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(workload, (uint32_t)workload->keys);
    uint8_t *sorted = calloc(workload->keys, 264);
    kvc_source_keys(source, 0, (uint32_t)workload->keys, batch);
    cr_assert_eq(batch->count, workload->keys);
    for (uint32_t i = 0; i < batch->count; i++) {
        const uint8_t *key = batch->keys + (size_t)i * batch->key_stride;
        cr_assert_eq(batch->op[i], KVC_OP_SET);
        cr_assert_eq(batch->key_id[i], i);
        cr_assert_eq(batch->hash[i], kvc_hash(key, batch->key_bytes[i], KVC_TEST_HASH_SEED));
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

Test(source_keys, begin_with_their_ids_and_are_unique_in_every_size)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_SATURATE);
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

Test(source_keys, of_requests_equal_the_preloaded_ones)
{
    for (int set = KVC_SIZES_FIXED; set <= KVC_SIZES_ETC; set++) {
        struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_CLOSED);
        workload.sizes = set;
        workload.keys = 5000;
        for (int arrival = KVC_ARRIVAL_SATURATE; arrival <= KVC_ARRIVAL_CLOSED; arrival++) {
            workload.arrival = arrival;
            struct kvc_source *source = kvc_test_source(&workload, 1, 2, KVC_TEST_SEED);
            struct kvc_batch *keys = kvc_test_batch(&workload, 5000), *batch = kvc_batch_create(3000, 256);
            kvc_source_keys(source, 0, 2000, keys);
            kvc_source_keys(source, 2000, 3000, keys);
            kvc_test_drain(source, 1, 1e6, batch); /* The batch has a wider stride than the workload needs. */
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
