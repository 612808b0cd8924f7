#include "sim/workload/source/source_trace.h"

#include <math.h>
#include <string.h>

#include "kernels/hash.h"
#include "sim/workload/source/source_batch.h"

static bool read_trace(struct kvc_source *source)
{
    struct kvc_trace_row row;
    if (source->trace == NULL) {
        return false;
    }
    enum kvc_trace_next next = kvc_trace_read(source->trace, &row, &source->diag);
    if (next == KVC_TRACE_END && source->trace_ns < 0) {
        kvc_diag_fail_at(&source->diag, KVC_ERR_SCENARIO, source->workload.trace, 0,
                         "found a trace without requests; at least one line must follow the header");
    }
    if (next != KVC_TRACE_ROW) {
        kvc_trace_close(source->trace);
        source->trace = NULL;
        return false;
    }
    uint64_t hash = kvc_hash(row.key, row.key_bytes, source->hash_seed);
    struct kvc_rows *rows = &source->shard[kvc_hash_ring_shard(source->ring, hash)].rows;
    if (!kvc_rows_reserve(rows, 1)) {
        kvc_source_out_of_memory(source);
        return false;
    }
    struct kvc_columns to = kvc_columns_at(&rows->all, rows->tail++);
    *to.op = row.op;
    *to.key_bytes = row.key_bytes;
    *to.value_bytes = row.value_bytes;
    memcpy(to.keys, row.key, to.key_stride);
    *to.key_id = hash;
    *to.hash = hash;
    *to.sent_ns = row.time_ns;
    source->trace_ns = row.time_ns;
    return true;
}

bool kvc_source_peek_trace(struct kvc_source *source, const struct kvc_source_shard *shard, double until_ns)
{
    while (kvc_rows_count(&shard->rows) == 0) {
        if (source->trace_ns > until_ns || !read_trace(source)) {
            return false;
        }
    }
    return shard->rows.all.sent_ns[shard->rows.head] <= until_ns;
}

uint32_t kvc_source_drain_trace(struct kvc_source *source, struct kvc_source_shard *shard, double until_ns,
                                struct kvc_batch *batch)
{
    struct kvc_rows *rows = &shard->rows;
    if (!kvc_source_peek_trace(source, shard, until_ns) || kvc_source_room(source, batch) == 0) {
        return 0;
    }
    double sent_ns = rows->all.sent_ns[rows->head];
    batch->sent_ns[batch->count] = sent_ns;
    kvc_source_move_rows(source, rows, 1, batch);
    kvc_source_mark_frame(source, shard, sent_ns, batch);
    return 1;
}

double kvc_source_next_trace_ns(struct kvc_source *source, const struct kvc_source_shard *shard)
{
    for (int i = 0; kvc_rows_count(&shard->rows) == 0; i++) {
        if (i == KVC_SOURCE_SEARCH_LIMIT || !read_trace(source)) {
            return source->trace != NULL && !kvc_source_stopped(source) ? source->trace_ns : INFINITY;
        }
    }
    return shard->rows.all.sent_ns[shard->rows.head];
}
