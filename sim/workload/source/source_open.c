#include "sim/workload/source/source_open.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/workload/source/source_batch.h"
#include "sim/workload/source/source_requests.h"
#include "sim/workload/source/source_whole.h"

static bool give_back_times(struct kvc_source_clients *clients, float *since_ns)
{
    if (clients->spares == clients->spare_capacity) {
        uint32_t capacity = clients->spare_capacity != 0 ? 2 * clients->spare_capacity : 64;
        float **spare = realloc(clients->spare, capacity * sizeof(*spare));
        if (spare == NULL) {
            return false;
        }
        clients->spare = spare;
        clients->spare_capacity = capacity;
    }
    clients->spare[clients->spares++] = since_ns;
    return true;
}

/* Opens the frame of a client that has an empty one. */
static bool open_frame(struct kvc_source *source, uint32_t number, double now_ns)
{
    struct kvc_source_clients *clients = &source->clients;
    struct kvc_source_filler *filler = &clients->filler[number];
    if (clients->spares > 0) {
        filler->since_ns = clients->spare[--clients->spares];
    } else if ((filler->since_ns = malloc(source->frame_requests * sizeof(*filler->since_ns))) == NULL) {
        return false;
    }
    filler->first_ns = now_ns;
    filler->newer = KVC_SOURCE_NO_FILLER;
    filler->older = clients->newest;
    if (clients->newest == KVC_SOURCE_NO_FILLER) {
        clients->oldest = number;
        clients->expires_ns = now_ns + clients->timeout_ns;
    } else {
        clients->filler[clients->newest].newer = number;
    }
    clients->newest = number;
    return true;
}

/* Sends the frame of a client. */
static bool send_frame(struct kvc_source *source, uint32_t number, double now_ns)
{
    struct kvc_source_clients *clients = &source->clients;
    struct kvc_source_filler *filler = &clients->filler[number];
    struct kvc_source_shard *shard = &source->shard[number / clients->flows];
    if (!kvc_source_reserve_frame(shard)) {
        return false;
    }
    uint32_t client = number % clients->flows, turn = filler->frames++ % clients->connections;
    shard->frames[shard->last_frame++] =
        (struct kvc_source_queued){.left_ns = now_ns,
                                   .first_ns = filler->first_ns,
                                   .since_ns = filler->since_ns,
                                   .connection = client * clients->connections + turn,
                                   .count = filler->count};
    if (filler->older != KVC_SOURCE_NO_FILLER) {
        clients->filler[filler->older].newer = filler->newer;
    } else {
        clients->oldest = filler->newer;
        clients->expires_ns = filler->newer != KVC_SOURCE_NO_FILLER
                                  ? clients->filler[filler->newer].first_ns + clients->timeout_ns
                                  : INFINITY;
    }
    if (filler->newer != KVC_SOURCE_NO_FILLER) {
        clients->filler[filler->newer].older = filler->older;
    } else {
        clients->newest = filler->older;
    }
    filler->since_ns = NULL;
    filler->count = 0;
    filler->full = source->frame_requests;
    return true;
}

/* Sends the frames that have waited for too long at now_ns. */
static bool expire(struct kvc_source *source, double now_ns)
{
    struct kvc_source_clients *clients = &source->clients;
    while (clients->oldest != KVC_SOURCE_NO_FILLER && clients->expires_ns <= now_ns) {
        if (!send_frame(source, clients->oldest, clients->expires_ns)) {
            return false;
        }
    }
    return true;
}

/* Returns when a load ends that ends: with its curve, or when its node leaves. */
static double end_of_load_ns(const struct kvc_workload *workload)
{
    return workload->arrival == KVC_ARRIVAL_CURVE ? workload->curve[workload->curve_points - 1].time_ns
                                                  : workload->part->epoch[workload->part->epochs - 1].from_ns;
}

/* Sends what is left after the end of the load. Frames that no timeout sends leave when it ends. */
static bool flush(struct kvc_source *source)
{
    struct kvc_source_clients *clients = &source->clients;
    double end_ns = end_of_load_ns(&source->workload);
    while (clients->oldest != KVC_SOURCE_NO_FILLER) {
        double left_ns = isinf(clients->expires_ns) ? end_ns : clients->expires_ns;
        if (!send_frame(source, clients->oldest, left_ns)) {
            return false;
        }
    }
    return true;
}

static inline void put(struct kvc_source_filler *filler, double now_ns)
{
    const double down = 1 - 0x1.0p-24; /* So that a time rounded to float is never late. */
    filler->since_ns[filler->count++] = (float)((now_ns - filler->first_ns) * down);
}

/* Puts the first or the last request into a frame. */
static bool put_at_end(struct kvc_source *source, uint32_t number, double now_ns)
{
    struct kvc_source_filler *filler = &source->clients.filler[number];
    if (filler->count == 0 && !open_frame(source, number, now_ns)) {
        return false;
    }
    put(filler, now_ns);
    return filler->count < filler->full || send_frame(source, number, now_ns);
}

/* Lets the clients put the requests of a block into their frames. */
static bool fill_frames(struct kvc_source *source)
{
    struct kvc_source_clients *clients = &source->clients;
    const uint32_t *shard = source->shards > 1 ? source->block_shard : NULL;
    for (uint32_t i = 0; i < KVC_SOURCE_BLOCK; i++) {
        double now_ns = clients->sent_ns[i];
        if (clients->expires_ns <= now_ns) {
            if (isinf(now_ns)) { /* The load has ended. */
                return flush(source);
            }
            if (!expire(source, now_ns)) {
                return false;
            }
        }
        uint32_t number = (shard != NULL ? shard[i] * clients->flows : 0) + clients->flow[i];
        struct kvc_source_filler *filler = &clients->filler[number];
        if (filler->count != 0 && filler->count + 1 < filler->full) {
            put(filler, now_ns);
        } else if (!put_at_end(source, number, now_ns)) {
            return false;
        }
    }
    return true;
}

/* Lets the clients of all shards go on by one block of requests. The frames depend on the stream alone, and
 * not on what was drained so far. The keys of a frame are the next ones of its shard, because they are
 * independent of the times. Returns false at the end of the load. */
static bool go_on(struct kvc_source *source)
{
    struct kvc_source_clients *clients = &source->clients;
    if (source->workload.fill == KVC_FILL_AT_ONCE) {
        return kvc_source_send_whole(source);
    }
    if (kvc_source_stopped(source) || isinf(clients->through_ns)) {
        return false;
    }
    kvc_arrivals_fill(&clients->arrivals, clients->sent_ns, clients->flow, KVC_SOURCE_BLOCK);
    if (!kvc_source_make_block(source)) {
        return false;
    }
    if (!fill_frames(source)) {
        kvc_source_out_of_memory(source);
        return false;
    }
    clients->through_ns = clients->sent_ns[KVC_SOURCE_BLOCK - 1];
    return true;
}

/* Returns the next frame of a shard, or NULL if none leaves by until_ns. */
static struct kvc_source_queued *next_frame(struct kvc_source *source, const struct kvc_source_shard *shard,
                                            double until_ns)
{
    while (shard->first_frame == shard->last_frame) {
        if (source->clients.through_ns >= until_ns || !go_on(source)) {
            return NULL;
        }
    }
    struct kvc_source_queued *next = &shard->frames[shard->first_frame];
    return next->left_ns <= until_ns ? next : NULL;
}

bool kvc_source_peek_open(struct kvc_source *source, const struct kvc_source_shard *shard, double until_ns,
                          uint32_t *connection)
{
    const struct kvc_source_queued *next = next_frame(source, shard, until_ns);
    if (next != NULL) {
        *connection = next->connection;
    }
    return next != NULL;
}

uint32_t kvc_source_drain_open(struct kvc_source *source, struct kvc_source_shard *shard, double until_ns,
                               struct kvc_batch *batch)
{
    uint32_t count = kvc_source_room(source, batch);
    struct kvc_source_queued *frame = count != 0 ? next_frame(source, shard, until_ns) : NULL;
    if (frame == NULL) {
        return 0;
    }
    if (count > frame->count - frame->drained) {
        count = frame->count - frame->drained;
    }
    double *sent_ns = batch->sent_ns + batch->count;
    const float *since_ns = frame->since_ns != NULL ? frame->since_ns + frame->drained : NULL;
    for (uint32_t i = 0; i < count; i++) {
        sent_ns[i] = frame->first_ns + (since_ns != NULL ? since_ns[i] : 0);
    }
    batch->left_ns = frame->left_ns;
    batch->connection = frame->connection;
    kvc_source_move_rows(source, &shard->rows, count, batch);
    frame->drained += count;
    shard->framed -= source->workload.fill == KVC_FILL_AT_ONCE ? count : 0;
    if (frame->drained == frame->count) {
        shard->first_frame++;
        if (frame->since_ns != NULL && !give_back_times(&source->clients, frame->since_ns)) {
            free(frame->since_ns);
        }
    }
    return count;
}

double kvc_source_next_open_ns(struct kvc_source *source, const struct kvc_source_shard *shard)
{
    bool at_once = source->workload.fill == KVC_FILL_AT_ONCE;
    for (int i = 0; shard->first_frame == shard->last_frame; i++) {
        if (i == (at_once ? KVC_SOURCE_SEARCH_LIMIT : KVC_SOURCE_SEARCH_BLOCKS) || !go_on(source)) {
            return kvc_source_stopped(source) ? INFINITY : source->clients.through_ns;
        }
    }
    return shard->frames[shard->first_frame].left_ns;
}

bool kvc_source_start_open(struct kvc_source *source, uint64_t seed)
{
    struct kvc_source_clients *clients = &source->clients;
    const struct kvc_workload *workload = &source->workload;
    uint32_t flows = kvc_workload_flows(workload), most = source->frame_requests;
    clients->flows = flows;
    clients->connections = kvc_workload_connections(workload) / flows;
    clients->timeout_ns = workload->fill_timeout_ns > 0 ? workload->fill_timeout_ns : INFINITY;
    clients->oldest = clients->newest = KVC_SOURCE_NO_FILLER;
    clients->expires_ns = INFINITY;
    clients->through_ns = -1;
    clients->filler = calloc((size_t)source->shards * flows, sizeof(*clients->filler));
    kvc_arrivals_init(&clients->arrivals, workload, workload->fill == KVC_FILL_AT_ONCE ? most : 1, seed);
    kvc_rng_init(&clients->shard_rng, seed, "workload.frame", 0);
    clients->next = KVC_SOURCE_BLOCK;
    for (uint32_t i = 0; clients->filler != NULL && i < source->shards * flows; i++) {
        /* Clients that take turns would send all their frames at about the same time. Shorter first frames
         * spread them evenly. */
        uint32_t head_start = (uint32_t)((uint64_t)(i % flows) * most / flows);
        clients->filler[i].full = workload->arrival == KVC_ARRIVAL_FIXED ? most - head_start : most;
    }
    return clients->filler != NULL;
}

void kvc_source_free_open(struct kvc_source *source)
{
    struct kvc_source_clients *clients = &source->clients;
    for (uint32_t i = 0; clients->filler != NULL && i < source->shards * clients->flows; i++) {
        free(clients->filler[i].since_ns);
    }
    for (uint32_t i = 0; source->shard != NULL && i < source->shards; i++) {
        struct kvc_source_shard *shard = &source->shard[i];
        for (uint32_t k = shard->first_frame; k < shard->last_frame; k++) {
            free(shard->frames[k].since_ns);
        }
        free(shard->frames);
    }
    for (uint32_t i = 0; i < clients->spares; i++) {
        free(clients->spare[i]);
    }
    free(clients->spare);
    free(clients->filler);
}
