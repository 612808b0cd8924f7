#include "models/dido/real/batch.h"

#include <stdlib.h>

#include "kernels/pages.h"
#include "sim/base/array.h"
#include "sim/base/diag.h"

enum { ARRAY_ALIGN = 256 /* Of the arrays of a block; whole lines of every processor. */ };

/* Returns the place of an array in the block, which begins at its `used` bytes. */
static void *take(uint8_t *block, uint64_t *used, uint64_t bytes)
{
    uint8_t *array = block != NULL ? block + *used : NULL;
    *used += (bytes + ARRAY_ALIGN - 1) / ARRAY_ALIGN * ARRAY_ALIGN;
    return array;
}

/* Places the arrays that a GPU may share in a block. Returns its size, also if there is no block yet. */
static uint64_t place(struct kvc_dido_real_batch *batch, uint8_t *block)
{
    uint64_t rows = batch->shape.rows, used = 0;
    batch->op = take(block, &used, rows * sizeof(*batch->op));
    batch->key_bytes = take(block, &used, rows * sizeof(*batch->key_bytes));
    batch->keys = take(block, &used, rows * batch->shape.key_stride);
    batch->read_bytes = take(block, &used, rows * sizeof(*batch->read_bytes));
    batch->hash = take(block, &used, rows * sizeof(*batch->hash));
    batch->location = take(block, &used, rows * sizeof(*batch->location));
    batch->result = take(block, &used, rows * sizeof(*batch->result));
    batch->evicted = take(block, &used, rows * sizeof(*batch->evicted));
    batch->values = take(block, &used, rows * batch->shape.value_stride);
    batch->responses = take(block, &used, rows * (KVC_DIDO_REAL_HEADER_BYTES + batch->shape.value_stride));
    return used;
}

struct kvc_dido_real_batch *kvc_dido_real_batch_create(const struct kvc_dido_real_batch_shape *shape)
{
    struct kvc_dido_real_batch *batch = kvc_array_of(1, sizeof(*batch));
    uint32_t rows = shape->rows;
    *batch = (struct kvc_dido_real_batch){
        .shape = *shape,
        .frame = kvc_array_of(rows, sizeof(*batch->frame)),
        .set = kvc_array_of(rows, sizeof(*batch->set)),
        .value = kvc_array_of(rows, sizeof(*batch->value)),
        .value_bytes = kvc_array_of(rows, sizeof(*batch->value_bytes)),
    };
    batch->block_bytes = place(batch, NULL);
    batch->block = kvc_pages_alloc(batch->block_bytes); /* In huge pages where the system has them. */
    if (batch->block == NULL) {
        kvc_out_of_memory("a batch of %llu MiB", (unsigned long long)(batch->block_bytes >> 20));
    }
    place(batch, batch->block);
    return batch;
}

void kvc_dido_real_batch_free(struct kvc_dido_real_batch *batch)
{
    if (batch == NULL) {
        return;
    }
    kvc_pages_free(batch->block, batch->block_bytes);
    free(batch->frame);
    free(batch->set);
    free(batch->value);
    free(batch->value_bytes);
    free(batch);
}

void kvc_dido_real_batch_clear(struct kvc_dido_real_batch *batch)
{
    batch->rows = batch->frames = batch->sets = 0;
    batch->slowest_ns = 0;
}

void kvc_dido_real_batch_add(struct kvc_dido_real_batch *batch, const struct kvc_dido_real_frame *frame)
{
    if (frame->requests > batch->shape.rows - batch->rows) {
        KVC_BUG("a frame of %u requests in a batch that has room for %u", frame->requests,
                batch->shape.rows - batch->rows);
    }
    if (batch->sets == 0 || batch->set[batch->sets - 1].rows >= batch->shape.set_queries) {
        batch->set[batch->sets++] =
            (struct kvc_dido_real_set){.first_frame = batch->frames, .first = batch->rows};
    }
    struct kvc_dido_real_set *set = &batch->set[batch->sets - 1];
    batch->frame[batch->frames++] = *frame;
    batch->rows += frame->requests;
    set->frames++;
    set->rows += frame->requests;
}
