#include "models/dido/real/batch.h"

#include <stdlib.h>

#include "kernels/pages.h"
#include "sim/base/array.h"
#include "sim/base/diag.h"

/* Returns memory in huge pages where the system has them. */
static uint8_t *pages_of(uint64_t bytes)
{
    uint8_t *pages = kvc_pages_alloc(bytes);
    if (pages == NULL) {
        kvc_out_of_memory("a batch with %llu MiB of values", (unsigned long long)(bytes >> 20));
    }
    return pages;
}

static uint64_t values_bytes(const struct kvc_dido_real_batch_shape *shape)
{
    return (uint64_t)shape->rows * shape->value_stride;
}

static uint64_t responses_bytes(const struct kvc_dido_real_batch_shape *shape)
{
    return (uint64_t)shape->rows * (KVC_DIDO_REAL_HEADER_BYTES + shape->value_stride);
}

struct kvc_dido_real_batch *kvc_dido_real_batch_create(const struct kvc_dido_real_batch_shape *shape)
{
    struct kvc_dido_real_batch *batch = kvc_array_of(1, sizeof(*batch));
    uint32_t rows = shape->rows;
    *batch = (struct kvc_dido_real_batch){
        .shape = *shape,
        .frame = kvc_array_of(rows, sizeof(*batch->frame)),
        .set = kvc_array_of(rows, sizeof(*batch->set)),
        .op = kvc_array_of(rows, sizeof(*batch->op)),
        .key_bytes = kvc_array_of(rows, sizeof(*batch->key_bytes)),
        .keys = kvc_array_of(rows, shape->key_stride),
        .value = kvc_array_of(rows, sizeof(*batch->value)),
        .value_bytes = kvc_array_of(rows, sizeof(*batch->value_bytes)),
        .read_bytes = kvc_array_of(rows, sizeof(*batch->read_bytes)),
        .hash = kvc_array_of(rows, sizeof(*batch->hash)),
        .location = kvc_array_of(rows, sizeof(*batch->location)),
        .result = kvc_array_of(rows, sizeof(*batch->result)),
        .evicted = kvc_array_of(rows, sizeof(*batch->evicted)),
        .values = pages_of(values_bytes(shape)),
        .responses = pages_of(responses_bytes(shape)),
    };
    return batch;
}

void kvc_dido_real_batch_free(struct kvc_dido_real_batch *batch)
{
    if (batch == NULL) {
        return;
    }
    kvc_pages_free(batch->values, values_bytes(&batch->shape));
    kvc_pages_free(batch->responses, responses_bytes(&batch->shape));
    free(batch->frame);
    free(batch->set);
    free(batch->op);
    free(batch->key_bytes);
    free(batch->keys);
    free(batch->value);
    free(batch->value_bytes);
    free(batch->read_bytes);
    free(batch->hash);
    free(batch->location);
    free(batch->result);
    free(batch->evicted);
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
