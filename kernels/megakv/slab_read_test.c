#include "kernels/megakv/slab.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/index.h"
#include "kernels/megakv/slab_fixture.h"

Test(slab, read_tells_absent_changed_and_mismatch)
{
    struct kvc_megakv_slab *slab = create_slab(4 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t location[2], evicted_count;
    struct kvc_megakv_slab_evicted evicted[2];
    uint64_t value;
    cr_assert_eq(read_word(slab, 0, 1, &value, &stats), KVC_MEGAKV_SLAB_CHANGED,
                 "no slab has been given out");
    store_words(slab, 1, 1, location, evicted, &evicted_count, &stats);
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, 8, 1, location + 1, evicted, &evicted_count, &stats), 1);
    cr_assert_eq(read_word(slab, location[0], 1, &value, &stats), KVC_MEGAKV_SLAB_HIT);
    cr_assert_eq(value, ~UINT64_C(1));
    cr_assert_eq(read_word(slab, location[0], 2, &value, &stats), KVC_MEGAKV_SLAB_MISMATCH);
    cr_assert_eq(read_word(slab, location[1], 2, &value, &stats), KVC_MEGAKV_SLAB_CHANGED,
                 "allocated, not written");
    cr_assert_eq(read_word(slab, KVC_LOCATION_NONE, 1, &value, &stats), KVC_MEGAKV_SLAB_ABSENT);
    cr_assert_eq(read_word(slab, KVC_LOCATION_ANY, 1, &value, &stats), KVC_MEGAKV_SLAB_CHANGED,
                 "outside the store");
    cr_assert_eq(read_word(slab, 1 << 16, 1, &value, &stats), KVC_MEGAKV_SLAB_CHANGED, "a slab of no class");
    cr_assert_eq(read_word(slab, 65535, 1, &value, &stats), KVC_MEGAKV_SLAB_CHANGED,
                 "an item that no one can have");
    cr_assert_eq(stats.reads, 8);
    cr_assert(kvc_megakv_slab_release(slab, location[0]));
    cr_assert_eq(read_word(slab, location[0], 1, &value, &stats), KVC_MEGAKV_SLAB_CHANGED);
    kvc_megakv_slab_free(slab);
}

/* Reads all items. Returns how many reads set their item's reference bit, and in *checked how many inspected
 * it. */
static uint64_t read_words(struct kvc_megakv_slab *slab, const uint32_t *location, uint32_t count,
                           uint64_t *checked)
{
    struct kvc_megakv_slab_stats stats = {0};
    uint64_t value;
    for (uint32_t i = 0; i < count; i++) {
        cr_assert_eq(read_word(slab, location[i], i, &value, &stats), KVC_MEGAKV_SLAB_HIT);
    }
    *checked = stats.checked;
    return stats.marked;
}

Test(slab, reads_count_the_reference_bits_that_they_set)
{
    enum { ITEMS = 16 * KVC_MEGAKV_SLAB_SURE_ITEMS - 2 }; /* as many as fill a slab */
    struct kvc_megakv_slab *slab = create_slab(2 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t *location = malloc(ITEMS * sizeof(*location));
    struct kvc_megakv_slab_evicted *evicted = malloc(ITEMS * sizeof(*evicted));
    uint32_t evicted_count;
    uint64_t checked;
    store_words(slab, 0, ITEMS, location, evicted, &evicted_count, &stats);
    cr_expect_eq(read_words(slab, location, ITEMS, &checked), 0, "stored items count as read");
    cr_expect_eq(checked, 0);
    kvc_megakv_slab_forget_reads(slab, 1);
    cr_expect_eq(read_words(slab, location, ITEMS, &checked), ITEMS);
    cr_expect_eq(checked, ITEMS);
    cr_expect_eq(read_words(slab, location, ITEMS, &checked), 0);
    cr_expect_eq(checked, 0);
    kvc_megakv_slab_forget_reads(slab, 2);
    cr_expect_eq(read_words(slab, location, ITEMS, &checked), ITEMS / 2);
    kvc_megakv_slab_forget_reads(slab, 128);
    cr_expect_eq(read_words(slab, location, ITEMS, &checked), ITEMS / 128 + 1);
    /* The first read of each group sets the only bit that was clear. */
    kvc_megakv_slab_forget_reads(slab, KVC_MEGAKV_SLAB_SURE_ITEMS);
    cr_expect_eq(read_words(slab, location, ITEMS, &checked), 16);
    cr_expect_eq(checked, 16);
    free(location);
    free(evicted);
    kvc_megakv_slab_free(slab);
}

Test(slab, ring_never_splits_a_value)
{
    enum { COUNT = 9 };
    struct kvc_megakv_slab *slab = create_slab(2 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t location[COUNT], evicted_count, position = 95, value_bytes[COUNT];
    struct kvc_megakv_slab_evicted evicted[COUNT];
    uint64_t keys[COUNT], value;
    uint8_t out[100 + 8], key_bytes[COUNT], result[COUNT];
    memset(out, 0x5a, sizeof(out));
    store_words(slab, 10, COUNT, location, evicted, &evicted_count, &stats);
    for (uint32_t i = 0; i < COUNT; i++) {
        keys[i] = 10 + i;
        key_bytes[i] = 8;
    }
    keys[4] = 0;
    struct kvc_megakv_slab_reads reads = {.count = COUNT,
                                          .location = location,
                                          .keys = (const uint8_t *)keys,
                                          .key_stride = 8,
                                          .key_bytes = key_bytes,
                                          .compare = true,
                                          .out = out,
                                          .out_bytes = 100,
                                          .out_position = &position,
                                          .result = result,
                                          .value_bytes = value_bytes};
    kvc_megakv_slab_read(slab, &reads, &stats);
    cr_assert_eq(position, 64, "eight hits from the start of the ring");
    for (uint32_t i = 0, at = 0; i < COUNT; i++) {
        cr_assert_eq(result[i], i == 4 ? KVC_MEGAKV_SLAB_MISMATCH : KVC_MEGAKV_SLAB_HIT);
        cr_assert_eq(value_bytes[i], i == 4 ? 0 : 8);
        if (i != 4) {
            memcpy(&value, out + at, 8);
            cr_assert_eq(value, ~(uint64_t)(10 + i));
            at += 8;
        }
    }
    for (uint32_t i = 64; i < sizeof(out); i++) {
        cr_assert_eq(out[i], 0x5a, "nothing else was written");
    }
    position = 92;
    reads.count = 1;
    kvc_megakv_slab_read(slab, &reads, &stats);
    cr_assert_eq(position, 100, "a value that just fits stays");
    reads.out_bytes = 7;
    position = 0;
    kvc_megakv_slab_read(slab, &reads, &stats);
    cr_assert_eq(result[0], KVC_MEGAKV_SLAB_CHANGED, "a value longer than the ring");
    cr_assert_eq(position, 0);
    kvc_megakv_slab_free(slab);
}

Test(slab, counts_lines)
{
    struct kvc_megakv_slab *slab = create_slab(8 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t location[2], evicted_count;
    struct kvc_megakv_slab_evicted evicted[2];
    uint64_t key = 0;
    uint8_t value[200] = {0}, *out = malloc(KVC_MEGAKV_SLAB_VALUE_MAX);
    /* Items of 224 bytes: the first covers bytes 0 to 215, the second bytes 224 to 439. */
    cr_assert_eq(kvc_megakv_slab_item_bytes(8, 200), 224);
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, 200, 2, location, evicted, &evicted_count, &stats), 2);
    kvc_megakv_slab_write(slab, location[0], &key, 8, value, 200, &stats);
    cr_assert_eq(stats.write_lines, 4);
    kvc_megakv_slab_write(slab, location[1], &key, 8, value, 200, &stats);
    cr_assert_eq(stats.write_lines, 4 + 4);
    read_single(slab, location[0], &key, 8, true, out, NULL, &stats);
    cr_assert_eq(stats.read_lines, 4);
    key = 1;
    read_single(slab, location[0], &key, 8, true, out, NULL, &stats);
    cr_assert_eq(stats.read_lines, 5, "a mismatch reads header and key");
    read_single(slab, KVC_LOCATION_NONE, &key, 8, true, out, NULL, &stats);
    cr_assert_eq(stats.read_lines, 5);
    store_words(slab, 3, 1, location, evicted, &evicted_count, &stats);
    stats.read_lines = 0;
    key = 3;
    read_single(slab, location[0], &key, 8, true, out, NULL, &stats);
    cr_assert_eq(stats.read_lines, 1);
    free(out);
    kvc_megakv_slab_free(slab);
}
