#include "kernels/megakv/slab_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

struct kvc_megakv_slab *create_slab(uint64_t bytes)
{
    struct kvc_megakv_slab *slab = kvc_megakv_slab_create(bytes, hash_seed);
    cr_assert_not_null(slab);
    return slab;
}

void store_words(struct kvc_megakv_slab *slab, uint64_t first, uint32_t count, uint32_t *location,
                 struct kvc_megakv_slab_evicted *evicted, uint32_t *evicted_count,
                 struct kvc_megakv_slab_stats *stats)
{
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, 8, count, location, evicted, evicted_count, stats), count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t key = first + i, value = ~key;
        kvc_megakv_slab_write(slab, location[i], &key, 8, &value, 8, stats);
    }
}

enum kvc_megakv_slab_read_result read_single(struct kvc_megakv_slab *slab, uint32_t location, const void *key,
                                             uint32_t key_bytes, bool compare, uint8_t *out,
                                             uint32_t *value_bytes, struct kvc_megakv_slab_stats *stats)
{
    uint32_t position = 0;
    uint8_t result, length = (uint8_t)key_bytes;
    struct kvc_megakv_slab_reads reads = {.count = 1,
                                          .location = &location,
                                          .keys = key,
                                          .key_bytes = &length,
                                          .compare = compare,
                                          .out = out,
                                          .out_bytes = KVC_MEGAKV_SLAB_VALUE_MAX,
                                          .out_position = &position,
                                          .result = &result,
                                          .value_bytes = value_bytes};
    kvc_megakv_slab_read(slab, &reads, stats);
    return result;
}

enum kvc_megakv_slab_read_result read_word(struct kvc_megakv_slab *slab, uint32_t location, uint64_t key,
                                           uint64_t *value, struct kvc_megakv_slab_stats *stats)
{
    static uint8_t out[KVC_MEGAKV_SLAB_VALUE_MAX];
    uint32_t bytes;
    enum kvc_megakv_slab_read_result result = read_single(slab, location, &key, 8, true, out, &bytes, stats);
    cr_assert_eq(bytes, result == KVC_MEGAKV_SLAB_HIT ? 8 : 0);
    memcpy(value, out, 8);
    return result;
}
