#include "sim/workload/source/source_batch.h"

#include <string.h>

#include "sim/workload/source/source_requests.h"

/* Copies keys from a trace and clears the bytes behind them. */
static void copy_keys(const struct kvc_columns *to, const struct kvc_columns *from, uint32_t count)
{
    size_t wide = to->key_stride, narrow = from->key_stride;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(to->keys + i * wide, from->keys + i * narrow, narrow);
        memset(to->keys + i * wide + narrow, 0, wide - narrow);
    }
}

void kvc_source_move_rows(const struct kvc_source *source, struct kvc_rows *rows, uint32_t count,
                          struct kvc_batch *batch)
{
    struct kvc_columns to = kvc_source_batch_columns(batch), from = kvc_columns_at(&rows->all, rows->head);
    memcpy(to.op, from.op, count);
    memcpy(to.key_id, from.key_id, count * sizeof(*to.key_id));
    memcpy(to.hash, from.hash, count * sizeof(*to.hash));
    if (rows->kept & KVC_ROWS_SIZES) {
        memcpy(to.key_bytes, from.key_bytes, count);
        memcpy(to.value_bytes, from.value_bytes, count * sizeof(*to.value_bytes));
    } else {
        for (uint32_t done = 0; done < count; done += KVC_SOURCE_BLOCK) {
            uint32_t part = count - done < KVC_SOURCE_BLOCK ? count - done : KVC_SOURCE_BLOCK;
            memcpy(to.key_bytes + done, source->same_key_bytes, part);
            memcpy(to.value_bytes + done, source->same_value_bytes, part * sizeof(*to.value_bytes));
        }
    }
    if (rows->kept & KVC_ROWS_KEYS) {
        copy_keys(&to, &from, count);
    } else {
        kvc_source_make_keys(source, &to, to.key_bytes, count);
    }
    memset(batch->client + batch->count, 0, count * sizeof(*batch->client));
    rows->head += count;
    batch->count += count;
}

uint32_t kvc_source_turn_connection(const struct kvc_source *source, const struct kvc_source_shard *shard)
{
    uint32_t flows = kvc_workload_flows(&source->workload);
    uint32_t connections = kvc_workload_connections(&source->workload) / flows;
    return shard->turn % flows * connections + shard->turn / flows % connections;
}

void kvc_source_mark_frame(const struct kvc_source *source, struct kvc_source_shard *shard, double left_ns,
                           struct kvc_batch *batch)
{
    batch->left_ns = left_ns;
    batch->connection = kvc_source_turn_connection(source, shard);
    shard->turn++;
}

uint32_t kvc_source_room(const struct kvc_source *source, const struct kvc_batch *batch)
{
    if (batch->key_stride < source->block.key_stride) {
        KVC_BUG("batch with keys of %u bytes, the workload has %u", batch->key_stride,
                source->block.key_stride);
    }
    uint32_t free_rows = batch->capacity - batch->count;
    return free_rows < source->frame_requests ? free_rows : source->frame_requests;
}
