#include "sim/workload/batch.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"

void kvc_batch_free(struct kvc_batch *batch)
{
    if (batch == NULL) {
        return;
    }
    free(batch->op);
    free(batch->key_bytes);
    free(batch->value_bytes);
    free(batch->keys);
    free(batch->key_id);
    free(batch->hash);
    free(batch->sent_ns);
    free(batch->client);
    free(batch);
}

struct kvc_batch *kvc_batch_create(uint32_t capacity, uint32_t key_stride)
{
    struct kvc_batch *batch = kvc_array_of(1, sizeof(*batch));
    size_t rows = capacity != 0 ? capacity : 1;
    batch->capacity = capacity;
    batch->key_stride = key_stride;
    batch->op = kvc_array_grown(NULL, rows, sizeof(*batch->op));
    batch->key_bytes = kvc_array_grown(NULL, rows, sizeof(*batch->key_bytes));
    batch->value_bytes = kvc_array_grown(NULL, rows, sizeof(*batch->value_bytes));
    batch->keys = kvc_array_of(rows, key_stride != 0 ? key_stride : 8);
    batch->key_id = kvc_array_grown(NULL, rows, sizeof(*batch->key_id));
    batch->hash = kvc_array_grown(NULL, rows, sizeof(*batch->hash));
    batch->sent_ns = kvc_array_grown(NULL, rows, sizeof(*batch->sent_ns));
    batch->client = kvc_array_grown(NULL, rows, sizeof(*batch->client));
    return batch;
}

/* Returns the memory of an array that was not cleared [bytes]: a small one shares its pages with others. */
static double grown_bytes(double room, double rows, size_t size)
{
    return fmin(room * (double)size, kvc_array_touched_bytes(rows, size));
}

double kvc_batch_memory_bytes(double room, double rows, uint32_t key_stride)
{
    const struct kvc_batch *batch = NULL;
    return grown_bytes(room, rows, sizeof(*batch->op)) + grown_bytes(room, rows, sizeof(*batch->key_bytes)) +
           grown_bytes(room, rows, sizeof(*batch->value_bytes)) +
           kvc_array_memory_bytes(room, rows, key_stride) + grown_bytes(room, rows, sizeof(*batch->key_id)) +
           grown_bytes(room, rows, sizeof(*batch->hash)) + grown_bytes(room, rows, sizeof(*batch->sent_ns)) +
           grown_bytes(room, rows, sizeof(*batch->client));
}
