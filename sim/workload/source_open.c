#include "sim/workload/source_open.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/workload/source_batch.h"
#include "sim/workload/source_requests.h"

enum {
    LOOK_AHEAD = 1 << 20, /* Requests made for other shards while one frame is filled, plus ... */
    FRAMES_AHEAD = 64,    /* ... this many frames per shard. */
};

/* Returns the shard of the next frame: that of a request drawn for this purpose. Each shard then receives its
 * share of the frames as a Poisson process. The frame is filled with the shard's own requests. */
static uint32_t next_frame_shard(struct kvc_source *source)
{
    if (source->shards == 1) {
        return 0;
    }
    if (source->frame_shard_next == KVC_SOURCE_BLOCK) {
        kvc_source_draw_key_ids(source, &source->frame_rng, source->block.key_id, KVC_SOURCE_BLOCK);
        kvc_source_complete_columns(source, source->block, KVC_SOURCE_BLOCK);
        kvc_hash_ring_shards(source->ring, source->block.hash, KVC_SOURCE_BLOCK, source->frame_shard);
        source->frame_shard_next = 0;
    }
    return source->frame_shard[source->frame_shard_next++];
}

static bool push_frame(struct kvc_source_shard *shard, double sent_ns, uint32_t count)
{
    if (shard->first_frame == shard->last_frame) {
        shard->first_frame = shard->last_frame = 0;
    }
    if (shard->last_frame == shard->frame_capacity) {
        uint32_t waiting = shard->last_frame - shard->first_frame;
        if (shard->first_frame > 0) {
            memmove(shard->frames, shard->frames + shard->first_frame, waiting * sizeof(*shard->frames));
        }
        shard->first_frame = 0;
        shard->last_frame = waiting;
        if (2 * waiting >= shard->frame_capacity) {
            uint32_t capacity = shard->frame_capacity != 0 ? 2 * shard->frame_capacity : 64;
            struct kvc_source_frame *frames = realloc(shard->frames, capacity * sizeof(*frames));
            if (frames == NULL) {
                return false;
            }
            shard->frames = frames;
            shard->frame_capacity = capacity;
        }
    }
    shard->frames[shard->last_frame++] = (struct kvc_source_frame){.sent_ns = sent_ns, .count = count};
    shard->framed += count;
    return true;
}

/* Sends the next frame of the stream if it is due by until_ns. A frame is short if its shard is so cold
 * that filling it would make too many requests ahead for the other shards. The contents of a frame depend
 * on the stream alone, not on the requests drained so far. */
static bool send_frame(struct kvc_source *source, double until_ns)
{
    if (kvc_source_stopped(source) || isinf(source->next_frame_ns) || source->next_frame_ns > until_ns) {
        return false;
    }
    struct kvc_source_shard *shard = &source->shard[next_frame_shard(source)];
    uint64_t ahead = LOOK_AHEAD + (uint64_t)FRAMES_AHEAD * source->shards * source->frame_requests;
    uint32_t count;
    while ((count = kvc_rows_count(&shard->rows) - shard->framed) < source->frame_requests &&
           (count == 0 || source->unframed < ahead)) {
        if (!kvc_source_make_block(source)) {
            return false;
        }
    }
    if (count > source->frame_requests) {
        count = source->frame_requests;
    }
    if (!push_frame(shard, source->next_frame_ns, count)) {
        kvc_source_out_of_memory(source);
        return false;
    }
    source->unframed -= count;
    source->next_frame_ns = kvc_arrivals_next(&source->arrivals);
    return true;
}

uint32_t kvc_source_drain_open(struct kvc_source *source, struct kvc_source_shard *shard, double until_ns,
                               struct kvc_batch *batch)
{
    while (shard->first_frame == shard->last_frame) {
        if (!send_frame(source, until_ns)) {
            return 0;
        }
    }
    struct kvc_source_frame *frame = &shard->frames[shard->first_frame];
    uint32_t count = kvc_source_room(source, batch);
    if (frame->sent_ns > until_ns) {
        return 0;
    }
    if (count > frame->count) {
        count = frame->count;
    }
    kvc_source_move_rows(source, &shard->rows, frame->sent_ns, count, batch);
    shard->framed -= count;
    frame->count -= count;
    if (frame->count == 0) {
        shard->first_frame++;
    }
    return count;
}

double kvc_source_next_open_ns(struct kvc_source *source, const struct kvc_source_shard *shard)
{
    for (int i = 0; shard->first_frame == shard->last_frame; i++) {
        if (i == KVC_SOURCE_SEARCH_LIMIT || !send_frame(source, INFINITY)) {
            return kvc_source_stopped(source) ? INFINITY : source->next_frame_ns;
        }
    }
    return shard->frames[shard->first_frame].sent_ns;
}

void kvc_source_start_open(struct kvc_source *source, uint64_t seed)
{
    kvc_rng_init(&source->frame_rng, seed, "workload.frame", 0);
    source->frame_shard_next = KVC_SOURCE_BLOCK;
    kvc_arrivals_init(&source->arrivals, &source->workload, source->frame_requests, seed);
    source->next_frame_ns = kvc_arrivals_next(&source->arrivals);
}
