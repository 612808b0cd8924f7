#include "sim/workload/source/fill.h"
#include "sim/workload/source/source_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/workload/keys/key_part.h"
#include "sim/workload/rates.h"

/* ---- exponentially distributed numbers ---- */

/* Right end of the base layer, and the area of every layer, for 256 layers (Marsaglia and Tsang, 2000). */
static const double base_end = 7.69711747013104972, layer_area = 3.949659822581557e-3;

void kvc_exponential_init(struct kvc_exponential *tables)
{
    enum { LAST = KVC_EXPONENTIAL_LAYERS - 1 };
    double end = base_end, above = base_end, width = layer_area / exp(-base_end);
    tables->inside[0] = (uint32_t)(end / width * 0x1.0p32);
    tables->inside[1] = 0;
    tables->scale[0] = width * 0x1.0p-32;
    tables->scale[LAST] = end * 0x1.0p-32;
    tables->height[0] = 1;
    tables->height[LAST] = exp(-end);
    for (int layer = LAST - 1; layer > 0; layer--) {
        end = -log(layer_area / end + exp(-end));
        tables->inside[layer + 1] = (uint32_t)(end / above * 0x1.0p32);
        above = end;
        tables->height[layer] = exp(-end);
        tables->scale[layer] = end * 0x1.0p-32;
    }
}

double kvc_exponential_redraw(const struct kvc_exponential *tables, struct kvc_rng *rng, uint64_t bits)
{
    for (;;) {
        uint32_t layer = (uint32_t)bits & (KVC_EXPONENTIAL_LAYERS - 1), random = (uint32_t)(bits >> 32);
        double x = random * tables->scale[layer];
        if (random < tables->inside[layer]) {
            return x;
        }
        if (layer == 0) { /* The tail has the distribution itself, shifted. */
            return base_end + kvc_rng_exponential(rng, 1);
        }
        if (tables->height[layer] + kvc_rng_unit(rng) * (tables->height[layer - 1] - tables->height[layer]) <
            exp(-x)) {
            return x;
        }
        bits = kvc_rng_u64(rng);
    }
}

/* ---- arrivals ---- */

static const double mops_per_ns = 1e-3; /* Requests per ns at 1 Mops. */

/* Sets the rate of bursts or of an MMPP from now_ns on, which is when the one before it ends. */
static void change_rate(struct kvc_arrivals *arrivals, double now_ns)
{
    const struct kvc_workload *workload = arrivals->workload;
    double mops = workload->rate_mops;
    if (workload->arrival == KVC_ARRIVAL_BURSTS) {
        mops *= kvc_bursts_factor(workload, now_ns, &arrivals->until_ns);
    } else {
        const struct kvc_rate_state *state = &workload->mmpp[++arrivals->state % workload->mmpp_states];
        mops = state->rate_mops;
        arrivals->until_ns += kvc_rng_exponential(&arrivals->state_rng, state->length_ns);
    }
    arrivals->rate = mops * mops_per_ns;
}

/* Enters the state of an MMPP in which a run begins. In the steady state, an exponentially distributed time
 * has as much left as it has from its beginning. */
static void start_mmpp(struct kvc_arrivals *arrivals, uint64_t seed)
{
    const struct kvc_rate_state *state = arrivals->workload->mmpp;
    uint32_t last = arrivals->workload->mmpp_states - 1;
    double cycle_ns = 0;
    kvc_rng_init(&arrivals->state_rng, seed, "workload.mmpp", 0);
    for (uint32_t i = 0; i <= last; i++) {
        cycle_ns += state[i].length_ns;
    }
    double place_ns = kvc_rng_unit(&arrivals->state_rng) * cycle_ns;
    while (arrivals->state < last && place_ns >= state[arrivals->state].length_ns) {
        place_ns -= state[arrivals->state++].length_ns;
    }
    arrivals->rate = state[arrivals->state].rate_mops * mops_per_ns;
    arrivals->until_ns = kvc_rng_exponential(&arrivals->state_rng, state[arrivals->state].length_ns);
}

/* Starts a process of which each arrival stands for `step` requests that are sent together. `workload` must
 * outlive `arrivals` and have an open-loop arrival with rates. */
static void start_arrivals(struct kvc_arrivals *arrivals, const struct kvc_workload *workload, double step,
                           uint64_t seed)
{
    *arrivals = (struct kvc_arrivals){.workload = workload, .step = step};
    kvc_rng_init(&arrivals->rng, seed, "workload.arrival", 0);
    kvc_exponential_init(&arrivals->exponential);
    if (workload->arrival == KVC_ARRIVAL_MMPP) {
        start_mmpp(arrivals, seed);
    } else if (workload->arrival == KVC_ARRIVAL_BURSTS) {
        change_rate(arrivals, 0);
    }
}

/* Returns the time until `requests` have arrived, at a rate that starts at `rate` and grows by `slope` per
 * ns, or +infinity if they never do. */
static double time_for(double requests, double rate, double slope)
{
    double root = rate * rate + 2 * slope * requests;
    if (root < 0) {
        return INFINITY;
    }
    double denominator = rate + sqrt(root);
    return denominator > 0 ? 2 * requests / denominator : INFINITY;
}

/* Returns when `requests` more requests have arrived. */
static double follow_curve(struct kvc_arrivals *arrivals, double requests)
{
    const struct kvc_workload *workload = arrivals->workload;
    const struct kvc_rate_point *point = workload->curve;
    double from_ns = arrivals->last_ns;
    uint32_t last = workload->curve_points - 1, i = arrivals->point;
    while (i <= last && point[i].time_ns <= from_ns) {
        i++; /* Ends at the first point after from_ns. */
    }
    for (; i <= last; i++) {
        double end = point[i].time_ns, rate = point[i].rate_mops * mops_per_ns, slope = 0;
        if (i > 0) {
            slope =
                (point[i].rate_mops - point[i - 1].rate_mops) * mops_per_ns / (end - point[i - 1].time_ns);
            rate -= slope * (end - from_ns);
        }
        double length = end - from_ns, wait = time_for(requests, fmax(rate, 0), slope);
        if (wait <= length) {
            arrivals->point = i;
            return from_ns + wait;
        }
        requests -= (fmax(rate, 0) + slope * length / 2) * length;
        from_ns = end;
    }
    arrivals->point = i;
    return from_ns + time_for(fmax(requests, 0), point[last].rate_mops * mops_per_ns, 0);
}

/* Returns when `requests` more requests have arrived, at a rate that jumps. */
static double follow_jumps(struct kvc_arrivals *arrivals, double requests)
{
    double now_ns = arrivals->last_ns;
    for (;;) {
        double most = arrivals->rate * (arrivals->until_ns - now_ns);
        if (arrivals->rate > 0 && requests <= most) {
            return now_ns + requests / arrivals->rate;
        }
        requests -= most;
        now_ns = arrivals->until_ns;
        change_rate(arrivals, now_ns);
    }
}

/* Returns when `requests` more requests have arrived, at a rate that changes with the epochs of a part. */
static double follow_epochs(struct kvc_arrivals *arrivals, double requests)
{
    const struct kvc_key_part *part = arrivals->workload->part;
    double per_ns = arrivals->workload->rate_mops * mops_per_ns / kvc_key_part_share_max(part);
    double now_ns = arrivals->last_ns;
    while (isfinite(now_ns)) {
        double rate = per_ns * part->epoch[arrivals->point].share;
        bool last = arrivals->point + 1 == part->epochs;
        double end_ns = last ? INFINITY : part->epoch[arrivals->point + 1].from_ns;
        if (rate > 0 && now_ns + requests / rate < end_ns) {
            return now_ns + requests / rate;
        }
        requests -= rate > 0 ? rate * (end_ns - now_ns) : 0;
        now_ns = end_ns;
        arrivals->point += !last;
    }
    return INFINITY;
}

/* 24 random bits as a number below `flows`. The bias is below flows / 2^24. */
static uint16_t flow_of(uint32_t random, uint32_t flows)
{
    return (uint16_t)((uint64_t)random * flows >> 24);
}

static void fill_poisson(struct kvc_arrivals *arrivals, double *sent_ns, uint16_t *flow, uint32_t count)
{
    /* Kept in registers, because a time written through `sent_ns` might alias it. */
    struct kvc_rng rng = arrivals->rng;
    double gap_ns = arrivals->step / (arrivals->workload->rate_mops * mops_per_ns),
           now_ns = arrivals->last_ns;
    uint32_t flows = kvc_workload_flows(arrivals->workload), rest;
    for (uint32_t i = 0; i < count; i++) {
        now_ns += gap_ns * kvc_exponential_draw(&arrivals->exponential, &rng, &rest);
        sent_ns[i] = now_ns;
        flow[i] = flow_of(rest, flows);
    }
    arrivals->last_ns = now_ns;
    arrivals->rng = rng;
}

/* Fills in a Poisson process whose rate changes, which `follow` goes along. */
static inline void fill_changing(struct kvc_arrivals *arrivals, double *sent_ns, uint16_t *flow,
                                 uint32_t count,
                                 double (*follow)(struct kvc_arrivals *arrivals, double requests))
{
    uint32_t flows = kvc_workload_flows(arrivals->workload), rest;
    for (uint32_t i = 0; i < count; i++) {
        double draw = kvc_exponential_draw(&arrivals->exponential, &arrivals->rng, &rest);
        sent_ns[i] = arrivals->last_ns = follow(arrivals, draw * arrivals->step);
        flow[i] = flow_of(rest, flows);
    }
}

static void fill_fixed(struct kvc_arrivals *arrivals, double *sent_ns, uint16_t *flow, uint32_t count)
{
    double gap_ns = arrivals->step / (arrivals->workload->rate_mops * mops_per_ns);
    uint32_t flows = kvc_workload_flows(arrivals->workload);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t number = arrivals->count + i;
        sent_ns[i] = (double)number * gap_ns; /* A product, not a sum, so that errors do not add up. */
        flow[i] = (uint16_t)(number % flows);
    }
    arrivals->last_ns = sent_ns[count - 1];
}

/* Skips the arrivals of other nodes: the number of an arrival grows by a geometrically
 * distributed step. */
static void fill_fixed_of_part(struct kvc_arrivals *arrivals, double *sent_ns, uint16_t *flow, uint32_t count)
{
    double share = kvc_key_part_share_max(arrivals->workload->part);
    double gap_ns = arrivals->step * share / (arrivals->workload->rate_mops * mops_per_ns);
    uint32_t flows = kvc_workload_flows(arrivals->workload);
    for (uint32_t i = 0; i < count; i++) {
        double skipped = share < 1 ? floor(log1p(-kvc_rng_unit(&arrivals->rng)) / log1p(-share)) : 0;
        arrivals->number += (uint64_t)skipped;
        sent_ns[i] = (double)arrivals->number * gap_ns;
        flow[i] = (uint16_t)(arrivals->number++ % flows);
    }
    arrivals->last_ns = sent_ns[count - 1];
}

/* Returns the next `count` arrivals in order: their send times [ns], +infinity after a curve has ended at
 * rate 0, and their clients, below kvc_workload_flows(). */
static void fill_arrivals(struct kvc_arrivals *arrivals, double *sent_ns, uint16_t *flow, uint32_t count)
{
    const struct kvc_key_part *part = arrivals->workload->part;
    switch (arrivals->workload->arrival) {
    case KVC_ARRIVAL_FIXED:
        (part != NULL ? fill_fixed_of_part : fill_fixed)(arrivals, sent_ns, flow, count);
        break;
    case KVC_ARRIVAL_CURVE:
        fill_changing(arrivals, sent_ns, flow, count, follow_curve);
        break;
    case KVC_ARRIVAL_BURSTS:
    case KVC_ARRIVAL_MMPP:
        fill_changing(arrivals, sent_ns, flow, count, follow_jumps);
        break;
    default:
        if (part != NULL && part->epochs > 1) {
            fill_changing(arrivals, sent_ns, flow, count, follow_epochs);
        } else {
            fill_poisson(arrivals, sent_ns, flow, count);
        }
    }
    arrivals->count += count;
}

/* ---- frames that are filled at once ---- */

enum {
    LOOK_AHEAD = 1 << 20, /* Requests made for other shards while one frame is filled, plus ... */
    FRAMES_AHEAD = 64,    /* ... this many frames per shard. */
};

/* Makes room for one more frame in the queue of a shard. Returns false if memory is short. */
static bool reserve_frame(struct kvc_source_shard *shard)
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

/* Draws the times, clients and shards of a block of frames. The shard of a frame is the shard of a request
 * drawn for this purpose, so that each shard receives its share of the frames as a Poisson process. */
static void draw_frames(struct kvc_source *source)
{
    struct kvc_source_clients *clients = &source->clients;
    fill_arrivals(&clients->arrivals, clients->sent_ns, clients->flow, KVC_SOURCE_BLOCK);
    if (source->shards > 1) {
        kvc_source_draw_key_ids(source, &clients->shard_rng, source->block.key_id, KVC_SOURCE_BLOCK);
        kvc_source_complete_columns(source, source->block, KVC_SOURCE_BLOCK);
        kvc_hash_ring_shards(source->ring, source->block.hash, KVC_SOURCE_BLOCK, clients->shard);
    }
    clients->next = 0;
}

/* Returns the operation of what clients of multigets send at a time: all of a multiget, or a single write. */
static enum kvc_op op_of(const struct kvc_workload *workload, double sent_ns)
{
    double place = kvc_unit_of_time(sent_ns), reads = kvc_workload_multiget_frac(workload);
    double writes = workload->set_frac + workload->delete_frac;
    return place < reads                                                 ? KVC_OP_GET
           : (place - reads) * writes < (1 - reads) * workload->set_frac ? KVC_OP_SET
                                                                         : KVC_OP_DELETE;
}

/* Returns how many requests are sent together at a time. */
static uint32_t together_at(const struct kvc_source *source, double sent_ns)
{
    return !kvc_workload_has_multigets(&source->workload)    ? source->frame_requests
           : op_of(&source->workload, sent_ns) == KVC_OP_GET ? (uint32_t)source->workload.multiget
                                                             : 1;
}

/* Sends the next frame of the stream, to whichever shard. A frame is short if its shard is so cold that
 * filling it would make a million requests ahead for the other shards. The contents of a frame depend on the
 * stream alone, and not on the requests drained so far. Returns false at the end of the load. */
static bool send_whole(struct kvc_source *source)
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
    uint32_t together = together_at(source, clients->through_ns);
    uint64_t ahead = LOOK_AHEAD + (uint64_t)FRAMES_AHEAD * source->shards * together;
    while ((count = kvc_rows_count(&shard->rows) - shard->framed) < together &&
           (count == 0 || clients->unframed < ahead)) {
        if (!kvc_source_make_block(source)) {
            return false;
        }
        clients->unframed += KVC_SOURCE_BLOCK;
    }
    if (count > together) {
        count = together;
    }
    if (!reserve_frame(shard)) {
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

/* ---- frames that are filled one request at a time ---- */

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
    if (!reserve_frame(shard)) {
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

/* Returns when a load that ends does so: with its curve, or when its node leaves. */
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
    const double down = 1 - 0x1.0p-24; /* Keeps a time rounded to float from being late. */
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

/* Advances the clients of all shards by one block of requests. The frames depend on the stream alone, and not
 * on what was drained so far. The keys of a frame are the next ones of its shard, because they are
 * independent of the times. Returns false at the end of the load. */
static bool go_on(struct kvc_source *source)
{
    struct kvc_source_clients *clients = &source->clients;
    if (kvc_workload_sends_together(&source->workload)) {
        return send_whole(source);
    }
    if (kvc_source_stopped(source) || isinf(clients->through_ns)) {
        return false;
    }
    fill_arrivals(&clients->arrivals, clients->sent_ns, clients->flow, KVC_SOURCE_BLOCK);
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

/* Returns whether requests that fill misses leave by until_ns, and before the next frame of the load. */
static bool fills_first(struct kvc_source *source, struct kvc_source_shard *shard, double until_ns,
                        const struct kvc_source_queued *next)
{
    double fills_ns = kvc_source_next_later_ns(source, shard);
    return isfinite(fills_ns) && fills_ns <= until_ns && (next == NULL || fills_ns < next->left_ns);
}

bool kvc_source_peek_open(struct kvc_source *source, struct kvc_source_shard *shard, double until_ns,
                          uint32_t *connection)
{
    const struct kvc_source_queued *next = next_frame(source, shard, until_ns);
    bool fills = fills_first(source, shard, until_ns, next);
    if (fills || next != NULL) {
        *connection = fills ? kvc_source_turn_connection(source, shard) : next->connection;
    }
    return fills || next != NULL;
}

uint32_t kvc_source_drain_open(struct kvc_source *source, struct kvc_source_shard *shard, double until_ns,
                               struct kvc_batch *batch)
{
    uint32_t count = kvc_source_room(source, batch);
    struct kvc_source_queued *frame = count != 0 ? next_frame(source, shard, until_ns) : NULL;
    if (count != 0 && fills_first(source, shard, until_ns, frame)) {
        return kvc_source_drain_later(source, shard, batch);
    }
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
    if (kvc_workload_has_multigets(&source->workload)) {
        memset(batch->op + batch->count - count, op_of(&source->workload, frame->first_ns), count);
    }
    frame->drained += count;
    shard->framed -= kvc_workload_sends_together(&source->workload) ? count : 0;
    if (frame->drained == frame->count) {
        shard->first_frame++;
        if (frame->since_ns != NULL && !give_back_times(&source->clients, frame->since_ns)) {
            free(frame->since_ns);
        }
    }
    return count;
}

double kvc_source_next_open_ns(struct kvc_source *source, struct kvc_source_shard *shard)
{
    bool at_once = kvc_workload_sends_together(&source->workload);
    double fills_ns = kvc_source_next_later_ns(source, shard);
    for (int i = 0; shard->first_frame == shard->last_frame; i++) {
        if (i == (at_once ? KVC_SOURCE_SEARCH_LIMIT : KVC_SOURCE_SEARCH_BLOCKS) || !go_on(source)) {
            return fmin(fills_ns, kvc_source_stopped(source) ? INFINITY : source->clients.through_ns);
        }
    }
    return fmin(fills_ns, shard->frames[shard->first_frame].left_ns);
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
    /* Mean requests that are sent together; a multiget counts as one, in however many frames. */
    double together = kvc_workload_has_multigets(workload)
                          ? kvc_fill_mean(workload, (uint32_t)workload->multiget)
                      : workload->fill == KVC_FILL_AT_ONCE ? most
                                                           : 1;
    start_arrivals(&clients->arrivals, workload, together, seed);
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
