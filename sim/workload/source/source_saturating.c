#include "sim/workload/source/source_saturating.h"

#include <math.h>

#include "sim/workload/source/source.h"
#include "sim/workload/source/source_batch.h"
#include "sim/workload/source/source_requests.h"

static bool window_full(const struct kvc_source *source)
{
    for (uint32_t i = 0; i < source->shards; i++) {
        if (kvc_rows_count(&source->shard[i].rows) >= source->window) {
            return true;
        }
    }
    return false;
}

/* Drops requests beyond the window: the clients of a full socket wait and do not send them. */
static void drop_beyond_window(struct kvc_source *source)
{
    for (uint32_t i = 0; i < source->shards; i++) {
        struct kvc_rows *rows = &source->shard[i].rows;
        if (kvc_rows_count(rows) > source->window) {
            rows->tail = rows->head + source->window;
        }
    }
}

bool kvc_source_fill_window(struct kvc_source *source, const struct kvc_source_shard *shard)
{
    bool together = source->workload.clients_for == KVC_CLIENTS_FOR_CLUSTER;
    while (kvc_rows_count(&shard->rows) < source->frame_requests) {
        if (kvc_source_stopped(source) || (together && window_full(source)) ||
            !kvc_source_make_block(source)) {
            return false;
        }
        if (!together) {
            drop_beyond_window(source);
        }
    }
    return true;
}

uint32_t kvc_source_drain_saturating(struct kvc_source *source, struct kvc_source_shard *shard,
                                     struct kvc_batch *batch)
{
    if (!kvc_source_fill_window(source, shard)) {
        return 0;
    }
    uint32_t count = kvc_source_room(source, batch);
    for (uint32_t i = 0; i < count; i++) {
        batch->sent_ns[batch->count + i] = NAN;
    }
    kvc_source_move_rows(source, &shard->rows, count, batch);
    kvc_source_mark_frame(source, shard, NAN, batch);
    return count;
}

double kvc_source_lead(const struct kvc_source *source)
{
    double all = 0, most = 0;
    if (source->workload.arrival != KVC_ARRIVAL_SATURATE ||
        source->workload.clients_for != KVC_CLIENTS_FOR_CLUSTER) {
        return 0;
    }
    for (uint32_t i = 0; i < source->shards; i++) {
        double waiting = kvc_rows_count(&source->shard[i].rows);
        double made = (double)source->shard[i].turn * source->frame_requests + waiting;
        all += made;
        most = made > 0 ? fmax(most, waiting / made) : most;
    }
    return most * all;
}
