#include "sim/workload/source/source_whole.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/workload/source/source_requests.h"

enum {
    LOOK_AHEAD = 1 << 20, /* Requests made for other shards while one frame is filled, plus ... */
    FRAMES_AHEAD = 64,    /* ... this many frames per shard. */
};

bool kvc_source_reserve_frame(struct kvc_source_shard *shard)
{
    if (shard->first_frame == shard->last_frame) {
        shard->first_frame = shard->last_frame = 0;
    }
    if (shard->last_frame < shard->frame_capacity) {
        return true;
    }
    uint32_t waiting = shard->last_frame - shard->first_frame;
    if (shard->first_frame > 0) {
        memmove(shard->frames, shard->frames + shard->first_frame, waiting * sizeof(*shard->frames));
    }
    shard->first_frame = 0;
    shard->last_frame = waiting;
    if (2 * waiting >= shard->frame_capacity) {
        uint32_t capacity = shard->frame_capacity != 0 ? 2 * shard->frame_capacity : 64;
        struct kvc_source_queued *frames = realloc(shard->frames, capacity * sizeof(*frames));
        if (frames == NULL) {
            return false;
        }
        shard->frames = frames;
        shard->frame_capacity = capacity;
    }
    return true;
}

/* Draws the times, clients and shards of a block of frames. The shard of a frame is that of a request drawn
 * for this purpose, so that each shard receives its share of the frames as a Poisson process. */
static void draw_frames(struct kvc_source *source)
{
    struct kvc_source_clients *clients = &source->clients;
    kvc_arrivals_fill(&clients->arrivals, clients->sent_ns, clients->flow, KVC_SOURCE_BLOCK);
    if (source->shards > 1) {
        kvc_source_draw_key_ids(source, &clients->shard_rng, source->block.key_id, KVC_SOURCE_BLOCK);
        kvc_source_complete_columns(source, source->block, KVC_SOURCE_BLOCK);
        kvc_hash_ring_shards(source->ring, source->block.hash, KVC_SOURCE_BLOCK, clients->shard);
    }
    clients->next = 0;
}

bool kvc_source_send_whole(struct kvc_source *source)
{
    struct kvc_source_clients *clients = &source->clients;
    if (kvc_source_stopped(source) || isinf(clients->through_ns)) {
        return false;
    }
    if (clients->next == KVC_SOURCE_BLOCK) {
        draw_frames(source);
    }
    uint32_t number = clients->next++;
    clients->through_ns = clients->sent_ns[number];
    if (isinf(clients->through_ns)) {
        return false;
    }
    uint32_t to = source->shards > 1 ? clients->shard[number] : 0, client = clients->flow[number], count;
    struct kvc_source_shard *shard = &source->shard[to];
    uint64_t ahead = LOOK_AHEAD + (uint64_t)FRAMES_AHEAD * source->shards * source->frame_requests;
    while ((count = kvc_rows_count(&shard->rows) - shard->framed) < source->frame_requests &&
           (count == 0 || clients->unframed < ahead)) {
        if (!kvc_source_make_block(source)) {
            return false;
        }
        clients->unframed += KVC_SOURCE_BLOCK;
    }
    if (count > source->frame_requests) {
        count = source->frame_requests;
    }
    if (!kvc_source_reserve_frame(shard)) {
        kvc_source_out_of_memory(source);
        return false;
    }
    struct kvc_source_filler *filler = &clients->filler[to * clients->flows + client];
    uint32_t connection = client * clients->connections + filler->frames++ % clients->connections;
    shard->frames[shard->last_frame++] = (struct kvc_source_queued){.left_ns = clients->through_ns,
                                                                    .first_ns = clients->through_ns,
                                                                    .connection = connection,
                                                                    .count = count};
    shard->framed += count;
    clients->unframed -= count;
    return true;
}
