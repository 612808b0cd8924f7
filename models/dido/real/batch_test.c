#include "models/dido/real/work.h"

#include <criterion/criterion.h>

static struct kvc_dido_real_batch *batch_of(uint32_t set_queries)
{
    return kvc_dido_real_batch_create(&(struct kvc_dido_real_batch_shape){
        .set_queries = set_queries, .frame_queries = 30, .rows = 1000, .key_stride = 8, .value_stride = 8});
}

Test(batch, sets_are_whole_frames_that_reach_the_size)
{
    struct kvc_dido_real_batch *batch = batch_of(64);
    for (int i = 0; i < 10; i++) {
        kvc_dido_real_batch_add(batch, &(struct kvc_dido_real_frame){.requests = 30});
    }
    cr_assert_eq(batch->sets, 4, "found %u", batch->sets);
    cr_expect_eq(batch->rows, 300);
    for (uint32_t i = 0, row = 0, frame = 0; i < batch->sets; i++) {
        const struct kvc_dido_real_set *set = &batch->set[i];
        cr_expect_eq(set->first, row);
        cr_expect_eq(set->first_frame, frame);
        cr_expect_eq(set->rows, i < 3 ? 90 : 30, "set %u has %u", i, set->rows);
        cr_expect_leq(set->rows, kvc_dido_real_set_most(&batch->shape));
        row += set->rows;
        frame += set->frames;
    }
    kvc_dido_real_batch_free(batch);
}

Test(batch, an_empty_batch_begins_anew)
{
    struct kvc_dido_real_batch *batch = batch_of(10);
    for (int i = 0; i < 3; i++) {
        kvc_dido_real_batch_add(batch, &(struct kvc_dido_real_frame){.requests = 7});
    }
    cr_expect_eq(batch->sets, 2);
    kvc_dido_real_batch_clear(batch);
    kvc_dido_real_batch_add(batch, &(struct kvc_dido_real_frame){.requests = 5});
    cr_expect_eq(batch->sets, 1);
    cr_expect_eq(batch->rows, 5);
    cr_expect_eq(batch->set[0].frames, 1);
    kvc_dido_real_batch_free(batch);
}
