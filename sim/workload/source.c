#include "sim/workload/source.h"

#include <endian.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "sim/base/rng.h"
#include "sim/workload/arrivals.h"
#include "sim/workload/hash_ring.h"
#include "sim/workload/rows.h"
#include "sim/workload/sends.h"
#include "sim/workload/sizes.h"
#include "sim/workload/trace.h"
#include "sim/workload/zipf.h"

enum {
    BLOCK = 1024,          /* requests made at a time: their columns stay in the first-level cache */
    LOOK_AHEAD = 1 << 20,  /* open loop: requests made for other shards while one frame is filled, plus ... */
    FRAMES_AHEAD = 64,     /* ... this many frames per shard */
    SEARCH_LIMIT = 1 << 16 /* frames or trace lines that one kvc_source_next_ns looks through */
};

static const uint64_t golden = 0x9e3779b97f4a7c15ull;

struct frame {
    double sent_ns;
    uint32_t count;
};

struct shard {
    struct kvc_rows rows;
    /* Open loop: frames sent but not taken, and how many of the rows they hold. */
    struct frame *frames;
    uint32_t first_frame, last_frame, frame_capacity;
    uint32_t framed;
    struct kvc_sends sends; /* closed loop */
};

struct kvc_source {
    struct kvc_workload workload;
    uint32_t shards, frame_requests;
    uint64_t hash_seed;
    struct shard *shard;
    struct kvc_hash_ring *ring;
    struct kvc_sizes *sizes;
    struct kvc_zipf *zipf; /* NULL: uniform */
    bool sizes_fixed;
    uint64_t set_from, delete_from; /* of 2^63: operations by a random number */
    struct kvc_rng op_rng, key_rng;

    struct kvc_columns block; /* scratch */
    uint32_t *block_shard, *block_order, *shard_rows;
    uint8_t same_key_bytes[BLOCK]; /* fixed sizes, ready to be copied */
    uint32_t same_value_bytes[BLOCK];

    /* Open loop. */
    struct kvc_arrivals arrivals;
    double next_frame_ns;
    uint64_t unframed; /* rows of all shards that belong to no frame yet */
    struct kvc_rng frame_rng;
    uint32_t frame_shard[BLOCK], frame_shard_next;

    /* Closed loop, by client: what it sends next, and how many requests it has drawn. */
    uint64_t client_key;
    uint64_t *client_key_id;
    uint8_t *client_op;
    uint32_t *client_draws;

    /* Trace. */
    struct kvc_trace *trace; /* NULL once it has ended */
    double trace_ns;         /* of the last row read */

    struct kvc_diag diag; /* what stopped the stream */
};

void kvc_source_free(struct kvc_source *source)
{
    if (source == NULL) {
        return;
    }
    for (uint32_t i = 0; source->shard != NULL && i < source->shards; i++) {
        kvc_rows_free(&source->shard[i].rows);
        kvc_sends_free(&source->shard[i].sends);
        free(source->shard[i].frames);
    }
    free(source->shard);
    kvc_hash_ring_free(source->ring);
    kvc_sizes_free(source->sizes);
    kvc_zipf_free(source->zipf);
    kvc_columns_free(&source->block);
    free(source->block_shard);
    free(source->block_order);
    free(source->shard_rows);
    free(source->client_key_id);
    free(source->client_op);
    free(source->client_draws);
    kvc_trace_close(source->trace);
    free(source);
}

static void out_of_memory(struct kvc_source *source)
{
    kvc_diag_fail(&source->diag, KVC_ERR_RUNTIME, "no memory for waiting requests");
}

static bool stopped(const struct kvc_source *source)
{
    return source->diag.status != KVC_OK;
}

/* ---- making requests ---- */

static void draw_ops(const struct kvc_source *source, struct kvc_rng *rng, uint8_t *op, uint32_t count)
{
    struct kvc_rng local = *rng; /* a byte store could change *rng, for all the compiler knows */
    uint64_t set_from = source->set_from, delete_from = source->delete_from;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t random = kvc_rng_u64(&local) >> 1;
        op[i] = (uint8_t)((random >= set_from) + (random >= delete_from));
    }
    *rng = local;
}

static void draw_key_ids(const struct kvc_source *source, struct kvc_rng *rng, uint64_t *key_id,
                         uint32_t count)
{
    if (source->zipf != NULL) {
        kvc_zipf_fill(source->zipf, rng, key_id, count);
        return;
    }
    struct kvc_rng local = *rng;
    uint64_t keys = source->workload.keys;
    for (uint32_t i = 0; i < count; i++) {
        key_id[i] = kvc_rng_below(&local, keys);
    }
    *rng = local;
}

/* The key's bytes: its id, then words mixed from it. */
static inline uint64_t key_word(uint64_t key_id, size_t word)
{
    return htole64(word == 0 ? key_id : kvc_mix64(key_id + word * golden));
}

static void write_keys(const struct kvc_columns *to, const uint8_t *key_bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *key = to->keys + (size_t)i * to->key_stride;
        size_t whole = key_bytes[i] / 8, rest = key_bytes[i] % 8, word = 0;
        uint64_t bits;
        for (; word < whole; word++) {
            bits = key_word(to->key_id[i], word);
            memcpy(key + 8 * word, &bits, 8);
        }
        if (rest != 0) {
            bits = key_word(to->key_id[i], word) & htole64(((uint64_t)1 << 8 * rest) - 1);
            memcpy(key + 8 * word++, &bits, 8);
        }
        if (to->zero_behind) {
            memset(key + 8 * word, 0, to->key_stride - 8 * word);
        }
    }
}

/* As write_keys; quick where the key is the id. */
static void make_keys(const struct kvc_source *source, const struct kvc_columns *to, const uint8_t *key_bytes,
                      uint32_t count)
{
    if (source->sizes_fixed && source->same_key_bytes[0] == 8 && to->key_stride == 8 &&
        __BYTE_ORDER == __LITTLE_ENDIAN) {
        memcpy(to->keys, to->key_id, count * sizeof(*to->key_id));
    } else {
        write_keys(to, key_bytes, count);
    }
}

/* Fills in sizes, key bytes and hashes where op and key_id are set. At most BLOCK requests. */
static void finish(const struct kvc_source *source, struct kvc_columns to, uint32_t count)
{
    const uint8_t *key_bytes = source->same_key_bytes;
    if (!source->sizes_fixed) {
        kvc_sizes_fill(source->sizes, to.key_id, count, to.key_bytes, to.value_bytes);
        key_bytes = to.key_bytes;
    } else if (to.key_bytes != NULL) {
        memcpy(to.key_bytes, source->same_key_bytes, count);
        memcpy(to.value_bytes, source->same_value_bytes, count * sizeof(*to.value_bytes));
    }
    if (to.keys == NULL) { /* not kept: only hashed */
        to.keys = source->block.keys;
    }
    make_keys(source, &to, key_bytes, count);
    kvc_hash_batch(to.keys, to.key_stride, key_bytes, count, source->hash_seed, to.hash);
}

/* Appends the block's rows to their shards' queues, in order. */
static bool scatter(struct kvc_source *source)
{
    const struct kvc_columns *block = &source->block;
    uint32_t *start = source->shard_rows, *order = source->block_order;
    kvc_hash_ring_shards(source->ring, block->hash, BLOCK, source->block_shard);
    memset(start, 0, (source->shards + 1) * sizeof(*start));
    for (uint32_t i = 0; i < BLOCK; i++) {
        start[source->block_shard[i] + 1]++;
    }
    for (uint32_t i = 0; i < source->shards; i++) {
        start[i + 1] += start[i];
    }
    for (uint32_t i = 0; i < BLOCK; i++) {
        order[start[source->block_shard[i]]++] = i;
    }
    /* Now start[i] is where shard i ends. */
    for (uint32_t i = 0, from = 0; i < source->shards; from = start[i++]) {
        uint32_t count = start[i] - from;
        const uint32_t *pick = order + from;
        struct kvc_rows *rows = &source->shard[i].rows;
        if (count == 0) {
            continue;
        }
        if (!kvc_rows_reserve(rows, count)) {
            return false;
        }
        struct kvc_columns to = kvc_columns_at(&rows->all, rows->tail);
        for (uint32_t k = 0; k < count; k++) {
            to.op[k] = block->op[pick[k]];
        }
        for (uint32_t k = 0; k < count; k++) {
            to.key_id[k] = block->key_id[pick[k]];
        }
        for (uint32_t k = 0; k < count; k++) {
            to.hash[k] = block->hash[pick[k]];
        }
        for (uint32_t k = 0; !source->sizes_fixed && k < count; k++) {
            to.key_bytes[k] = block->key_bytes[pick[k]];
            to.value_bytes[k] = block->value_bytes[pick[k]];
        }
        rows->tail += count;
    }
    return true;
}

/* Makes the next BLOCK requests of the global stream. */
static bool make_block(struct kvc_source *source)
{
    struct kvc_rows *only = source->shards == 1 ? &source->shard[0].rows : NULL;
    bool ok = only == NULL || kvc_rows_reserve(only, BLOCK);
    if (ok) {
        struct kvc_columns to = only != NULL ? kvc_columns_at(&only->all, only->tail) : source->block;
        draw_ops(source, &source->op_rng, to.op, BLOCK);
        draw_key_ids(source, &source->key_rng, to.key_id, BLOCK);
        finish(source, to, BLOCK);
        if (only != NULL) {
            only->tail += BLOCK;
        } else {
            ok = scatter(source);
        }
    }
    if (!ok) {
        out_of_memory(source);
    }
    source->unframed += BLOCK;
    return ok;
}

/* ---- handing out ---- */

static struct kvc_columns batch_columns(struct kvc_batch *batch)
{
    struct kvc_columns columns = {.op = batch->op,
                                  .key_bytes = batch->key_bytes,
                                  .value_bytes = batch->value_bytes,
                                  .keys = batch->keys,
                                  .key_id = batch->key_id,
                                  .hash = batch->hash,
                                  .sent_ns = batch->sent_ns,
                                  .key_stride = batch->key_stride,
                                  .zero_behind = true};
    return kvc_columns_at(&columns, batch->count);
}

/* Copies a trace's keys and zeroes what is behind them. */
static void copy_keys(const struct kvc_columns *to, const struct kvc_columns *from, uint32_t count)
{
    size_t wide = to->key_stride, narrow = from->key_stride;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(to->keys + i * wide, from->keys + i * narrow, narrow);
        memset(to->keys + i * wide + narrow, 0, wide - narrow);
    }
}

/* Moves `count` rows from the head of the queue to the batch. */
static void hand_out(const struct kvc_source *source, struct kvc_rows *rows, double sent_ns, uint32_t count,
                     struct kvc_batch *batch)
{
    struct kvc_columns to = batch_columns(batch), from = kvc_columns_at(&rows->all, rows->head);
    memcpy(to.op, from.op, count);
    memcpy(to.key_id, from.key_id, count * sizeof(*to.key_id));
    memcpy(to.hash, from.hash, count * sizeof(*to.hash));
    if (rows->kept & KVC_ROWS_SIZES) {
        memcpy(to.key_bytes, from.key_bytes, count);
        memcpy(to.value_bytes, from.value_bytes, count * sizeof(*to.value_bytes));
    } else {
        for (uint32_t done = 0; done < count; done += BLOCK) {
            uint32_t part = count - done < BLOCK ? count - done : BLOCK;
            memcpy(to.key_bytes + done, source->same_key_bytes, part);
            memcpy(to.value_bytes + done, source->same_value_bytes, part * sizeof(*to.value_bytes));
        }
    }
    if (rows->kept & KVC_ROWS_KEYS) {
        copy_keys(&to, &from, count);
    } else {
        make_keys(source, &to, to.key_bytes, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        to.sent_ns[i] = sent_ns;
    }
    memset(batch->client + batch->count, 0, count * sizeof(*batch->client));
    rows->head += count;
    batch->count += count;
}

static uint32_t room(const struct kvc_source *source, const struct kvc_batch *batch)
{
    if (batch->key_stride < source->block.key_stride) {
        KVC_BUG("batch with keys of %u bytes, the workload has %u", batch->key_stride,
                source->block.key_stride);
    }
    uint32_t free_rows = batch->capacity - batch->count;
    return free_rows < source->frame_requests ? free_rows : source->frame_requests;
}

/* ---- saturating ---- */

static bool window_full(const struct kvc_source *source)
{
    for (uint32_t i = 0; i < source->shards; i++) {
        if (kvc_rows_count(&source->shard[i].rows) >= KVC_SOURCE_WINDOW) {
            return true;
        }
    }
    return false;
}

/* Requests beyond the window are not sent: their socket's clients wait for it alone. */
static void drop_beyond_window(struct kvc_source *source)
{
    for (uint32_t i = 0; i < source->shards; i++) {
        struct kvc_rows *rows = &source->shard[i].rows;
        if (kvc_rows_count(rows) > KVC_SOURCE_WINDOW) {
            rows->tail = rows->head + KVC_SOURCE_WINDOW;
        }
    }
}

/* Whether a whole frame is waiting; makes requests for it unless the window is full. */
static bool fill_window(struct kvc_source *source, const struct shard *shard)
{
    bool together = source->workload.clients_for == KVC_CLIENTS_FOR_CLUSTER;
    while (kvc_rows_count(&shard->rows) < source->frame_requests) {
        if (stopped(source) || (together && window_full(source)) || !make_block(source)) {
            return false;
        }
        if (!together) {
            drop_beyond_window(source);
        }
    }
    return true;
}

static uint32_t take_saturating(struct kvc_source *source, struct shard *shard, struct kvc_batch *batch)
{
    if (!fill_window(source, shard)) {
        return 0;
    }
    uint32_t count = room(source, batch);
    hand_out(source, &shard->rows, NAN, count, batch);
    return count;
}

/* ---- open loop ---- */

/* Shard of the next frame. It is that of a request drawn for the purpose, so that every shard sees its share
 * of the frames as a Poisson process of its own; the frame is then filled with the shard's own requests. */
static uint32_t next_frame_shard(struct kvc_source *source)
{
    if (source->shards == 1) {
        return 0;
    }
    if (source->frame_shard_next == BLOCK) {
        draw_key_ids(source, &source->frame_rng, source->block.key_id, BLOCK);
        finish(source, source->block, BLOCK);
        kvc_hash_ring_shards(source->ring, source->block.hash, BLOCK, source->frame_shard);
        source->frame_shard_next = 0;
    }
    return source->frame_shard[source->frame_shard_next++];
}

static bool push_frame(struct shard *shard, double sent_ns, uint32_t count)
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
            struct frame *frames = realloc(shard->frames, capacity * sizeof(*frames));
            if (frames == NULL) {
                return false;
            }
            shard->frames = frames;
            shard->frame_capacity = capacity;
        }
    }
    shard->frames[shard->last_frame++] = (struct frame){.sent_ns = sent_ns, .count = count};
    shard->framed += count;
    return true;
}

/* Sends the next frame of the stream if that is due by until_ns. A frame is short when its shard is so cold
 * that filling it would make too many requests ahead for the others. What is in a frame depends on the stream
 * alone, not on what has been taken. */
static bool send_frame(struct kvc_source *source, double until_ns)
{
    if (stopped(source) || isinf(source->next_frame_ns) || source->next_frame_ns > until_ns) {
        return false;
    }
    struct shard *shard = &source->shard[next_frame_shard(source)];
    uint64_t ahead = LOOK_AHEAD + (uint64_t)FRAMES_AHEAD * source->shards * source->frame_requests;
    uint32_t count;
    while ((count = kvc_rows_count(&shard->rows) - shard->framed) < source->frame_requests &&
           (count == 0 || source->unframed < ahead)) {
        if (!make_block(source)) {
            return false;
        }
    }
    if (count > source->frame_requests) {
        count = source->frame_requests;
    }
    if (!push_frame(shard, source->next_frame_ns, count)) {
        out_of_memory(source);
        return false;
    }
    source->unframed -= count;
    source->next_frame_ns = kvc_arrivals_next(&source->arrivals);
    return true;
}

static uint32_t take_open(struct kvc_source *source, struct shard *shard, double until_ns,
                          struct kvc_batch *batch)
{
    while (shard->first_frame == shard->last_frame) {
        if (!send_frame(source, until_ns)) {
            return 0;
        }
    }
    struct frame *frame = &shard->frames[shard->first_frame];
    uint32_t count = room(source, batch);
    if (frame->sent_ns > until_ns) {
        return 0;
    }
    if (count > frame->count) {
        count = frame->count;
    }
    hand_out(source, &shard->rows, frame->sent_ns, count, batch);
    shard->framed -= count;
    frame->count -= count;
    if (frame->count == 0) {
        shard->first_frame++;
    }
    return count;
}

static double next_open(struct kvc_source *source, const struct shard *shard)
{
    for (int i = 0; shard->first_frame == shard->last_frame; i++) {
        if (i == SEARCH_LIMIT || !send_frame(source, INFINITY)) {
            return stopped(source) ? INFINITY : source->next_frame_ns;
        }
    }
    return shard->frames[shard->first_frame].sent_ns;
}

/* ---- closed loop ---- */

/* What a client sends depends on the client and how often it has sent, so the order of completions does not
 * matter. */
static void draw_for_client(struct kvc_source *source, uint32_t client, uint8_t *op, uint64_t *key_id)
{
    struct kvc_rng rng;
    uint64_t state =
        kvc_mix64(source->client_key + (((uint64_t)client << 32) | source->client_draws[client]++));
    for (int i = 0; i < 4; i++) {
        rng.state[i] = kvc_mix64(state += golden);
    }
    draw_ops(source, &rng, op, 1);
    draw_key_ids(source, &rng, key_id, 1);
}

/* Draws the next request of each client and queues it at its shard. */
static bool queue_sends(struct kvc_source *source, const uint32_t *client, const double *sent_ns,
                        uint32_t count)
{
    struct kvc_columns *block = &source->block;
    for (uint32_t i = 0; i < count; i++) {
        draw_for_client(source, client[i], &block->op[i], &block->key_id[i]);
        source->client_op[client[i]] = block->op[i];
        source->client_key_id[client[i]] = block->key_id[i];
    }
    if (source->shards > 1) {
        finish(source, *block, count);
        kvc_hash_ring_shards(source->ring, block->hash, count, source->block_shard);
    } else {
        memset(source->block_shard, 0, count * sizeof(*source->block_shard));
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!kvc_sends_push(&source->shard[source->block_shard[i]].sends, sent_ns[i], client[i])) {
            out_of_memory(source);
            return false;
        }
    }
    return true;
}

static uint32_t take_closed(struct kvc_source *source, struct shard *shard, double until_ns,
                            struct kvc_batch *batch)
{
    uint32_t most = room(source, batch), taken = 0;
    while (taken < most && kvc_sends_next_ns(&shard->sends) <= until_ns) {
        struct kvc_columns to = batch_columns(batch);
        uint32_t *client = batch->client + batch->count, count = 0;
        for (; count < BLOCK && taken < most && kvc_sends_next_ns(&shard->sends) <= until_ns;
             count++, taken++) {
            struct kvc_send send = kvc_sends_pop(&shard->sends);
            client[count] = send.client;
            to.sent_ns[count] = send.sent_ns;
            to.op[count] = source->client_op[send.client];
            to.key_id[count] = source->client_key_id[send.client];
        }
        finish(source, to, count);
        batch->count += count;
    }
    return taken;
}

void kvc_source_complete(struct kvc_source *source, const uint32_t *client, const double *done_ns,
                         uint32_t count)
{
    double sent_ns[BLOCK];
    if (source->workload.arrival != KVC_ARRIVAL_CLOSED || stopped(source)) {
        return;
    }
    for (uint32_t first = 0, part; first < count; first += part) {
        part = count - first < BLOCK ? count - first : BLOCK;
        for (uint32_t i = 0; i < part; i++) {
            sent_ns[i] = done_ns[first + i] + source->workload.think_ns;
        }
        if (!queue_sends(source, client + first, sent_ns, part)) {
            return;
        }
    }
}

/* Client i first sends after i/N of the think time. */
static bool start_clients(struct kvc_source *source)
{
    uint64_t clients = source->workload.clients;
    source->client_key_id = malloc(clients * sizeof(*source->client_key_id));
    source->client_op = malloc(clients * sizeof(*source->client_op));
    source->client_draws = calloc(clients, sizeof(*source->client_draws));
    if (source->client_key_id == NULL || source->client_op == NULL || source->client_draws == NULL) {
        return false;
    }
    uint32_t client[BLOCK];
    double sent_ns[BLOCK];
    for (uint64_t first = 0; first < clients; first += BLOCK) {
        uint32_t part = clients - first < BLOCK ? (uint32_t)(clients - first) : BLOCK;
        for (uint32_t i = 0; i < part; i++) {
            client[i] = (uint32_t)first + i;
            sent_ns[i] = source->workload.think_ns * (double)(first + i) / (double)clients;
        }
        if (!queue_sends(source, client, sent_ns, part)) {
            return false;
        }
    }
    return true;
}

/* ---- trace ---- */

static bool read_trace(struct kvc_source *source)
{
    struct kvc_trace_row row;
    if (source->trace == NULL) {
        return false;
    }
    if (kvc_trace_read(source->trace, &row, &source->diag) != KVC_TRACE_ROW) {
        kvc_trace_close(source->trace);
        source->trace = NULL;
        return false;
    }
    uint64_t hash = kvc_hash(row.key, row.key_bytes, source->hash_seed);
    struct kvc_rows *rows = &source->shard[kvc_hash_ring_shard(source->ring, hash)].rows;
    if (!kvc_rows_reserve(rows, 1)) {
        out_of_memory(source);
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

static uint32_t take_trace(struct kvc_source *source, struct shard *shard, double until_ns,
                           struct kvc_batch *batch)
{
    struct kvc_rows *rows = &shard->rows;
    while (kvc_rows_count(rows) == 0) {
        if (source->trace_ns > until_ns || !read_trace(source)) {
            return 0;
        }
    }
    double sent_ns = rows->all.sent_ns[rows->head];
    if (sent_ns > until_ns || room(source, batch) == 0) {
        return 0;
    }
    hand_out(source, rows, sent_ns, 1, batch);
    return 1;
}

static double next_trace(struct kvc_source *source, const struct shard *shard)
{
    for (int i = 0; kvc_rows_count(&shard->rows) == 0; i++) {
        if (i == SEARCH_LIMIT || !read_trace(source)) {
            return source->trace != NULL && !stopped(source) ? source->trace_ns : INFINITY;
        }
    }
    return shard->rows.all.sent_ns[shard->rows.head];
}

/* ---- the interface ---- */

uint32_t kvc_source_drain(struct kvc_source *source, uint32_t shard, double until_ns, struct kvc_batch *batch)
{
    switch (source->workload.arrival) {
    case KVC_ARRIVAL_SATURATE:
        return take_saturating(source, &source->shard[shard], batch);
    case KVC_ARRIVAL_CLOSED:
        return take_closed(source, &source->shard[shard], until_ns, batch);
    case KVC_ARRIVAL_TRACE:
        return take_trace(source, &source->shard[shard], until_ns, batch);
    default:
        return take_open(source, &source->shard[shard], until_ns, batch);
    }
}

double kvc_source_next_ns(struct kvc_source *source, uint32_t shard)
{
    switch (source->workload.arrival) {
    case KVC_ARRIVAL_SATURATE:
        return fill_window(source, &source->shard[shard]) ? 0 : INFINITY;
    case KVC_ARRIVAL_CLOSED:
        return kvc_sends_next_ns(&source->shard[shard].sends);
    case KVC_ARRIVAL_TRACE:
        return next_trace(source, &source->shard[shard]);
    default:
        return next_open(source, &source->shard[shard]);
    }
}

enum kvc_status kvc_source_error(const struct kvc_source *source, struct kvc_diag *diag)
{
    if (stopped(source) && diag != NULL) {
        *diag = source->diag;
    }
    return source->diag.status;
}

int kvc_source_ended(const struct kvc_source *source)
{
    if (source->workload.arrival != KVC_ARRIVAL_TRACE || source->trace != NULL) {
        return 0;
    }
    for (uint32_t i = 0; i < source->shards; i++) {
        if (kvc_rows_count(&source->shard[i].rows) != 0) {
            return 0;
        }
    }
    return 1;
}

uint32_t kvc_source_shard(const struct kvc_source *source, uint64_t hash)
{
    return kvc_hash_ring_shard(source->ring, hash);
}

void kvc_source_keys(const struct kvc_source *source, uint64_t first, uint32_t count, struct kvc_batch *batch)
{
    if (source->workload.arrival == KVC_ARRIVAL_TRACE) {
        return;
    }
    if (count > batch->capacity - batch->count) {
        KVC_BUG("%u keys for a batch with room for %u", count, batch->capacity - batch->count);
    }
    for (uint32_t done = 0, part; done < count; done += part) {
        struct kvc_columns to = batch_columns(batch);
        part = count - done < BLOCK ? count - done : BLOCK;
        memset(to.op, KVC_OP_SET, part);
        memset(batch->client + batch->count, 0, part * sizeof(*batch->client));
        for (uint32_t i = 0; i < part; i++) {
            to.key_id[i] = first + done + i;
            to.sent_ns[i] = 0;
        }
        finish(source, to, part);
        batch->count += part;
    }
}

/* ---- setting up ---- */

static bool set_up_keys(struct kvc_source *source)
{
    const struct kvc_workload *workload = &source->workload;
    uint32_t key_max = kvc_workload_key_bytes_max(workload);
    bool trace = workload->arrival == KVC_ARRIVAL_TRACE;
    source->block.key_stride = (key_max + 7) / 8 * 8;
    if (trace) {
        return true;
    }
    source->sizes = kvc_sizes_create(workload);
    if (source->sizes == NULL) {
        return false;
    }
    source->sizes_fixed = kvc_sizes_fixed(source->sizes);
    if (source->sizes_fixed) {
        uint64_t any[BLOCK] = {0};
        kvc_sizes_fill(source->sizes, any, BLOCK, source->same_key_bytes, source->same_value_bytes);
    }
    if (workload->popularity == KVC_POPULARITY_ZIPF) {
        source->zipf = kvc_zipf_create(workload->keys, workload->zipf_s);
        if (source->zipf == NULL) {
            return false;
        }
    }
    bool deletes = workload->delete_frac > 0, sets = deletes || workload->set_frac > 0;
    source->set_from = sets ? (uint64_t)(workload->get_frac * 0x1.0p63) : 1ull << 63;
    source->delete_from = deletes ? (uint64_t)((1 - workload->delete_frac) * 0x1.0p63) : 1ull << 63;
    return true;
}

static bool set_up_shards(struct kvc_source *source, const struct kvc_source_params *params)
{
    source->shards = params->nodes * params->sockets;
    source->ring = kvc_hash_ring_create(params->nodes, params->sockets);
    source->shard = calloc(source->shards, sizeof(*source->shard));
    source->block_shard = malloc(BLOCK * sizeof(*source->block_shard));
    source->block_order = malloc(BLOCK * sizeof(*source->block_order));
    source->shard_rows = malloc((source->shards + 1ull) * sizeof(*source->shard_rows));
    if (source->ring == NULL || source->shard == NULL || source->block_shard == NULL ||
        source->block_order == NULL || source->shard_rows == NULL) {
        return false;
    }
    unsigned sizes = source->sizes_fixed ? 0 : KVC_ROWS_SIZES;
    unsigned text = source->workload.arrival == KVC_ARRIVAL_TRACE ? KVC_ROWS_KEYS | KVC_ROWS_SENT : 0;
    for (uint32_t i = 0; i < source->shards; i++) {
        kvc_rows_init(&source->shard[i].rows, source->block.key_stride, sizes | text);
    }
    return kvc_columns_grow(&source->block, BLOCK, sizes | KVC_ROWS_KEYS);
}

static enum kvc_status set_up_arrival(struct kvc_source *source, uint64_t seed, struct kvc_diag *diag)
{
    struct kvc_rng rng;
    switch (source->workload.arrival) {
    case KVC_ARRIVAL_SATURATE:
        return KVC_OK;
    case KVC_ARRIVAL_CLOSED:
        kvc_rng_init(&rng, seed, "workload.client", 0);
        source->client_key = kvc_rng_u64(&rng);
        return start_clients(source) ? KVC_OK
                                     : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the clients");
    case KVC_ARRIVAL_TRACE:
        source->trace = kvc_trace_open(source->workload.trace, diag);
        return source->trace != NULL ? KVC_OK : KVC_ERR_SCENARIO;
    default:
        kvc_rng_init(&source->frame_rng, seed, "workload.frame", 0);
        source->frame_shard_next = BLOCK;
        kvc_arrivals_init(&source->arrivals, &source->workload, source->frame_requests, seed);
        source->next_frame_ns = kvc_arrivals_next(&source->arrivals);
        return KVC_OK;
    }
}

struct kvc_source *kvc_source_create(const struct kvc_source_params *params, struct kvc_diag *diag)
{
    struct kvc_source *source = calloc(1, sizeof(*source));
    if (source != NULL) {
        source->workload = *params->workload;
        source->hash_seed = params->hash_seed;
        source->frame_requests = params->frame_requests;
        kvc_rng_init(&source->op_rng, params->seed, "workload.op", 0);
        kvc_rng_init(&source->key_rng, params->seed, "workload.key", 0);
    }
    if (source == NULL || !set_up_keys(source) || !set_up_shards(source, params)) {
        kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the workload of %u nodes", params->nodes);
    } else if (set_up_arrival(source, params->seed, diag) == KVC_OK) {
        return source;
    }
    kvc_source_free(source);
    return NULL;
}
