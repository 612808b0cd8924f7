#include "sim/workload/source/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "sim/base/array.h"
#include "sim/workload/phases.h"
#include "sim/workload/source/source_internal.h"
#include "sim/workload/tenants.h"

/* ---- pending sends of a closed loop ---- */

enum { ARITY = 4 };

/* Frees the heap, not the struct, and leaves an empty queue. */
static void free_sends(struct kvc_sends *sends)
{
    free(sends->heap);
    *sends = (struct kvc_sends){0};
}

/* Times are not negative, so their bits have the same order as their values. One integer then compares
 * without a branch that could be mispredicted. */
static inline unsigned __int128 rank(const struct kvc_send *send)
{
    uint64_t bits;
    memcpy(&bits, &send->sent_ns, sizeof(bits));
    return (unsigned __int128)bits << 64 | send->client;
}

static inline bool before(const struct kvc_send *a, const struct kvc_send *b)
{
    return rank(a) < rank(b);
}

bool kvc_sends_push(struct kvc_sends *sends, double sent_ns, uint32_t client)
{
    if (sends->count == sends->capacity) {
        uint32_t capacity = sends->capacity != 0 ? 2 * sends->capacity : 64;
        struct kvc_send *heap = realloc(sends->heap, capacity * sizeof(*heap));
        if (heap == NULL) {
            return false;
        }
        sends->heap = heap;
        sends->capacity = capacity;
    }
    struct kvc_send send = {.sent_ns = sent_ns, .client = client};
    uint32_t hole = sends->count++;
    while (hole > 0 && before(&send, &sends->heap[(hole - 1) / ARITY])) {
        sends->heap[hole] = sends->heap[(hole - 1) / ARITY];
        hole = (hole - 1) / ARITY;
    }
    sends->heap[hole] = send;
    return true;
}

static inline uint32_t earlier(const struct kvc_send *heap, uint32_t a, uint32_t b)
{
    return before(&heap[b], &heap[a]) ? b : a;
}

/* The hole moves down to a leaf along the earliest children, and then up to where the last entry fits. That
 * entry comes from a leaf, so it rarely moves up far, and the way down does not have to compare it. */
struct kvc_send kvc_sends_pop(struct kvc_sends *sends)
{
    struct kvc_send *heap = sends->heap, top = heap[0], last = heap[--sends->count];
    uint32_t hole = 0, child;
    while ((child = hole * ARITY + 1) + ARITY <= sends->count) {
        child = earlier(heap, earlier(heap, child, child + 1), earlier(heap, child + 2, child + 3));
        heap[hole] = heap[child];
        hole = child;
    }
    if (child < sends->count) { /* Fewer than ARITY children: the last ones of the heap. */
        uint32_t best = child;
        while (++child < sends->count) {
            best = earlier(heap, best, child);
        }
        heap[hole] = heap[best];
        hole = best;
    }
    for (; hole > 0 && before(&last, &heap[(hole - 1) / ARITY]); hole = (hole - 1) / ARITY) {
        heap[hole] = heap[(hole - 1) / ARITY];
    }
    heap[hole] = last;
    return top;
}

double kvc_sends_next_ns(const struct kvc_sends *sends)
{
    return sends->count != 0 ? sends->heap[0].sent_ns : INFINITY;
}

/* ---- moving requests to batches ---- */

/* Copies keys from a trace and clears the bytes after them. */
static void copy_keys(const struct kvc_columns *to, const struct kvc_columns *from, uint32_t count)
{
    size_t wide = to->key_stride, narrow = from->key_stride;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(to->keys + i * wide, from->keys + i * narrow, narrow);
        memset(to->keys + i * wide + narrow, 0, wide - narrow);
    }
}

/* Moves one row: a call for each column would cost several times as much as the move. */
static void move_row(const struct kvc_source *source, struct kvc_rows *rows, struct kvc_batch *batch)
{
    const struct kvc_columns *from = &rows->all;
    uint32_t row = rows->head++, at = batch->count++;
    bool sizes = (rows->kept & KVC_ROWS_SIZES) != 0;
    batch->op[at] = from->op[row];
    batch->key_id[at] = from->key_id[row];
    batch->hash[at] = from->hash[row];
    batch->key_bytes[at] = sizes ? from->key_bytes[row] : source->same_key_bytes[0];
    batch->value_bytes[at] = sizes ? from->value_bytes[row] : source->same_value_bytes[0];
    batch->client[at] = 0;
    const struct kvc_columns to = {.op = &batch->op[at],
                                   .key_id = &batch->key_id[at],
                                   .hash = &batch->hash[at],
                                   .keys = batch->keys + (size_t)at * batch->key_stride,
                                   .key_stride = batch->key_stride,
                                   .zero_behind = true};
    kvc_source_make_keys(source, &to, &batch->key_bytes[at], 1);
}

void kvc_source_move_rows(const struct kvc_source *source, struct kvc_rows *rows, uint32_t count,
                          struct kvc_batch *batch)
{
    if (count == 1 && !(rows->kept & KVC_ROWS_KEYS)) {
        move_row(source, rows, batch);
        return;
    }
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

/* ---- saturating arrivals ---- */

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

/* Returns whether a whole frame is waiting. Makes requests for it unless a full window forbids that. */
static bool fill_window(struct kvc_source *source, const struct kvc_source_shard *shard)
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

static uint32_t drain_saturating(struct kvc_source *source, struct kvc_source_shard *shard,
                                 struct kvc_batch *batch)
{
    if (!fill_window(source, shard)) {
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

/* ---- closed loop ---- */

/* Draws the next request of a client. It depends only on the client and on how often the client has sent, so
 * that the order of completions has no effect. */
static void draw_for_client(struct kvc_source *source, uint32_t client, uint8_t *op, uint64_t *key_id)
{
    struct kvc_rng rng;
    uint64_t state =
        kvc_mix64(source->client_key + (((uint64_t)client << 32) | source->client_draws[client]++));
    for (int i = 0; i < 4; i++) {
        rng.state[i] = kvc_mix64(state += KVC_SOURCE_GOLDEN);
    }
    kvc_source_draw_ops(source, &rng, op, 1);
    kvc_source_draw_key_ids(source, &rng, key_id, 1);
}

/* Draws the next request of each client and queues it at the shard that owns the key. */
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
        kvc_source_complete_columns(source, *block, count);
        kvc_hash_ring_shards(source->ring, block->hash, count, source->block_shard);
    } else {
        memset(source->block_shard, 0, count * sizeof(*source->block_shard));
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!kvc_sends_push(&source->shard[source->block_shard[i]].sends, sent_ns[i], client[i])) {
            kvc_source_out_of_memory(source);
            return false;
        }
    }
    return true;
}

/* Clients of a closed loop have one connection each, until there are more clients than connections. */
static uint32_t connection_of(const struct kvc_source *source, uint32_t client)
{
    return client % kvc_workload_connections(&source->workload);
}

static bool peek_closed(const struct kvc_source *source, const struct kvc_source_shard *shard,
                        double until_ns, uint32_t *connection)
{
    if (kvc_sends_next_ns(&shard->sends) > until_ns) {
        return false;
    }
    *connection = connection_of(source, shard->sends.heap[0].client);
    return true;
}

static uint32_t drain_closed(struct kvc_source *source, struct kvc_source_shard *shard, double until_ns,
                             struct kvc_batch *batch)
{
    uint32_t most = kvc_source_room(source, batch), taken = 0;
    while (taken < most && kvc_sends_next_ns(&shard->sends) <= until_ns) {
        struct kvc_columns to = kvc_source_batch_columns(batch);
        uint32_t *client = batch->client + batch->count, count = 0;
        for (; count < KVC_SOURCE_BLOCK && taken < most && kvc_sends_next_ns(&shard->sends) <= until_ns;
             count++, taken++) {
            struct kvc_send send = kvc_sends_pop(&shard->sends);
            client[count] = send.client;
            to.sent_ns[count] = send.sent_ns;
            to.op[count] = source->client_op[send.client];
            to.key_id[count] = source->client_key_id[send.client];
        }
        kvc_source_complete_columns(source, to, count);
        batch->count += count;
    }
    if (taken != 0) {
        batch->left_ns = batch->sent_ns[batch->count - 1];
        batch->connection = connection_of(source, batch->client[batch->count - taken]);
    }
    return taken;
}

/* Queues the next requests of clients whose responses arrive at done_ns[i]. */
static void complete_closed(struct kvc_source *source, const uint32_t *client, const double *done_ns,
                            uint32_t count)
{
    double sent_ns[KVC_SOURCE_BLOCK];
    for (uint32_t first = 0, part; first < count; first += part) {
        part = count - first < KVC_SOURCE_BLOCK ? count - first : KVC_SOURCE_BLOCK;
        for (uint32_t i = 0; i < part; i++) {
            sent_ns[i] = done_ns[first + i] + source->workload.think_ns;
        }
        if (!queue_sends(source, client + first, sent_ns, part)) {
            return;
        }
    }
}

/* Queues the first request of every client. Client i of N first sends after i/N of the think time. Returns
 * false if memory is short. */
static bool start_clients(struct kvc_source *source, uint64_t seed)
{
    struct kvc_rng rng;
    kvc_rng_init(&rng, seed, "workload.client", 0);
    source->client_key = kvc_rng_u64(&rng);
    uint64_t clients = source->workload.clients;
    source->client_key_id = malloc(clients * sizeof(*source->client_key_id));
    source->client_op = malloc(clients * sizeof(*source->client_op));
    source->client_draws = calloc(clients, sizeof(*source->client_draws));
    if (source->client_key_id == NULL || source->client_op == NULL || source->client_draws == NULL) {
        return false;
    }
    uint32_t client[KVC_SOURCE_BLOCK];
    double sent_ns[KVC_SOURCE_BLOCK];
    for (uint64_t first = 0; first < clients; first += KVC_SOURCE_BLOCK) {
        uint32_t part = clients - first < KVC_SOURCE_BLOCK ? (uint32_t)(clients - first) : KVC_SOURCE_BLOCK;
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

/* ---- creation ---- */

void kvc_source_free(struct kvc_source *source)
{
    if (source == NULL) {
        return;
    }
    for (uint32_t i = 0; i < source->inner_count; i++) {
        kvc_source_free(source->inner[i]);
    }
    if (source->inner_count > 0) {
        kvc_tenant_keys_free(source->keys);
        free(source->inner);
    }
    for (uint32_t i = 0; source->shard != NULL && i < source->shards; i++) {
        kvc_rows_free(&source->shard[i].rows);
        free_sends(&source->shard[i].sends);
        free(source->shard[i].later.row);
    }
    kvc_source_free_open(source);
    free(source->shard);
    kvc_hash_ring_free(source->ring);
    kvc_sizes_free(source->sizes);
    kvc_zipf_free(source->zipf);
    kvc_part_sampler_free(source->sampler);
    kvc_columns_free(&source->block);
    free(source->block_shard);
    free(source->block_order);
    free(source->shard_rows);
    free(source->client_key_id);
    free(source->client_op);
    free(source->client_draws);
    kvc_source_free_trace(source);
    free(source);
}

/* Returns whether phases or tenants have sources of their own. */
static bool is_of_several(const struct kvc_workload *workload)
{
    return workload->phase_count > 0 || workload->tenant_count > 0;
}

static bool set_up_keys(struct kvc_source *source)
{
    const struct kvc_workload *workload = &source->workload;
    uint32_t key_max = kvc_workload_key_bytes_max(workload);
    bool trace = workload->arrival == KVC_ARRIVAL_TRACE;
    source->block.key_stride = (key_max + 7) / 8 * 8;
    if (trace || is_of_several(workload)) {
        return true;
    }
    kvc_action_mix_open(&source->actions, workload, NULL); /* kvc_workload_check() has checked it. */
    source->members = workload->keys / source->actions.kinds;
    source->sizes = kvc_workload_sizes(workload);
    source->sizes_fixed = kvc_sizes_fixed(source->sizes);
    if (source->sizes_fixed) {
        uint64_t any[KVC_SOURCE_BLOCK] = {0};
        kvc_sizes_fill(source->sizes, any, KVC_SOURCE_BLOCK, source->same_key_bytes,
                       source->same_value_bytes);
    }
    if (workload->part != NULL) {
        if (!kvc_source_enter_epoch(source, 0)) {
            return false;
        }
    } else if (workload->popularity == KVC_POPULARITY_ZIPF) {
        source->zipf = kvc_zipf_create(source->members, workload->zipf_s);
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
    source->ring = kvc_hash_ring_create(&(struct kvc_hash_ring_params){.nodes = params->nodes,
                                                                       .sockets = params->sockets,
                                                                       .seed = params->hash_seed,
                                                                       .points = params->ring_points});
    source->shard = calloc(source->shards, sizeof(*source->shard));
    source->block_shard = malloc(KVC_SOURCE_BLOCK * sizeof(*source->block_shard));
    source->block_order = malloc(KVC_SOURCE_BLOCK * sizeof(*source->block_order));
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
    return kvc_columns_grow(&source->block, KVC_SOURCE_BLOCK, sizes | KVC_ROWS_KEYS);
}

static enum kvc_status set_up_arrival(struct kvc_source *source, uint64_t seed, struct kvc_diag *diag)
{
    switch (source->workload.arrival) {
    case KVC_ARRIVAL_SATURATE:
        return KVC_OK;
    case KVC_ARRIVAL_CLOSED:
        return start_clients(source, seed)
                   ? KVC_OK
                   : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the clients");
    case KVC_ARRIVAL_TRACE:
        return kvc_source_start_trace(source, seed, diag);
    default:
        return kvc_source_start_open(source, seed)
                   ? KVC_OK
                   : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the clients");
    }
}

/* Creates the source of a phase or of a tenant, whose load is `workload`. */
static struct kvc_source *create_inner(const struct kvc_source_params *params,
                                       const struct kvc_workload *workload, uint32_t number,
                                       struct kvc_diag *diag)
{
    bool phase = params->workload->phase_count > 0;
    struct kvc_source_params own = *params;
    own.workload = workload;
    own.seed = kvc_rng_seed(params->seed, phase ? "workload.phase" : "workload.tenant", number);
    if (phase && params->phase_frame_requests != NULL) {
        own.frame_requests = params->phase_frame_requests[number];
    }
    return kvc_source_create(&own, diag);
}

static enum kvc_status set_up_inner(struct kvc_source *source, const struct kvc_source_params *params,
                                    struct kvc_diag *diag)
{
    const struct kvc_workload *all = params->workload;
    bool tenants = all->tenant_count > 0;
    source->inner_count = tenants ? all->tenant_count : all->phase_count;
    source->inner = kvc_array_of(source->inner_count, sizeof(struct kvc_source *));
    source->keys = tenants ? kvc_tenant_keys_copy(kvc_tenant_keys_of(all->tenants, all->tenant_count)) : NULL;
    for (uint32_t i = 0; i < source->inner_count; i++) {
        struct kvc_workload one = tenants ? kvc_tenants_workload(all, i) : kvc_phases_workload(all, i);
        struct kvc_source *inner = source->inner[i] = create_inner(params, &one, i, diag);
        if (inner == NULL) {
            return KVC_ERR_RUNTIME;
        }
        inner->first_key = tenants ? 0 : kvc_phases_first_key(all, i);
        inner->keys = source->keys;
        inner->tenant = i;
    }
    return KVC_OK;
}

double kvc_source_memory_bytes(const struct kvc_workload *workload, uint32_t shards)
{
    const struct kvc_source *source = NULL;
    double client_bytes = sizeof(*source->client_key_id) + sizeof(*source->client_op) +
                          sizeof(*source->client_draws) + sizeof(struct kvc_send);
    bool waits = workload->arrival == KVC_ARRIVAL_SATURATE && shards > 1;
    return (workload->arrival == KVC_ARRIVAL_CLOSED ? (double)workload->clients * client_bytes : 0) +
           (waits ? kvc_rows_memory_bytes(KVC_SOURCE_WINDOW + KVC_SOURCE_BLOCK) : 0);
}

struct kvc_source *kvc_source_create(const struct kvc_source_params *params, struct kvc_diag *diag)
{
    struct kvc_source *source = calloc(1, sizeof(*source));
    if (source != NULL) {
        source->workload = *params->workload;
        source->hash_seed = params->hash_seed;
        source->ids_suffice = params->ids_suffice && params->nodes * params->sockets == 1;
        source->frame_requests = params->frame_requests;
        source->window = KVC_SOURCE_WINDOW;
        kvc_rng_init(&source->op_rng, params->seed, "workload.op", 0);
        kvc_rng_init(&source->key_rng, params->seed, "workload.key", 0);
        kvc_rng_init(&source->storm_rng, params->seed, "workload.storm", 0);
    }
    if (source == NULL || !set_up_keys(source) || !set_up_shards(source, params)) {
        kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the workload of %u nodes", params->nodes);
    } else if ((is_of_several(params->workload) ? set_up_inner(source, params, diag)
                                                : set_up_arrival(source, params->seed, diag)) == KVC_OK) {
        return source;
    }
    kvc_source_free(source);
    return NULL;
}

/* ---- phases and tenants ---- */

/* Returns when the next frame of an inner source leaves its client [ns]. */
static double next_of_inner_ns(const struct kvc_source *source, uint32_t number, uint32_t shard)
{
    double own_ns = kvc_source_next_ns(source->inner[number], shard);
    bool saturates = source->workload.arrival == KVC_ARRIVAL_SATURATE;
    return saturates || isinf(own_ns) || source->keys != NULL
               ? own_ns
               : kvc_phases_time_ns(&source->workload, number, own_ns);
}

/* Returns the inner source of the next frame: the one whose frame leaves first, or the current phase for
 * saturating clients. */
static uint32_t next_inner(const struct kvc_source *source, uint32_t shard, double now_ns)
{
    uint32_t next = 0;
    double next_ns = INFINITY;
    if (source->workload.arrival == KVC_ARRIVAL_SATURATE) {
        return kvc_phases_at(&source->workload, now_ns);
    }
    for (uint32_t i = 0; i < source->inner_count; i++) {
        double leaves_ns = next_of_inner_ns(source, i, shard);
        next = leaves_ns < next_ns ? i : next;
        next_ns = fmin(next_ns, leaves_ns);
    }
    return next;
}

/* Returns a connection of all clients from that of a tenant's. */
static uint32_t connection_of_tenant(const struct kvc_source *source, uint32_t tenant, uint32_t connection)
{
    const struct kvc_workload *workload = &source->workload;
    uint32_t all = kvc_workload_connections(workload), each = all / kvc_workload_flows(workload);
    return (kvc_tenants_first_flow(workload, tenant) * each + connection) % all;
}

static uint32_t drain_tenant(struct kvc_source *source, uint32_t tenant, uint32_t shard, double until_ns,
                             struct kvc_batch *batch)
{
    uint32_t first = batch->count, count = kvc_source_drain(source->inner[tenant], shard, until_ns, batch);
    for (uint32_t i = first; i < batch->count; i++) {
        batch->client[i] = tenant;
    }
    if (count > 0) {
        batch->connection = connection_of_tenant(source, tenant, batch->connection);
    }
    return count;
}

/* Returns the time that a phase has lasted by until_ns [ns], with the next frame if that leaves by then,
 * whatever rounding makes of its time. */
static double own_until_ns(const struct kvc_source *source, uint32_t phase, uint32_t shard, double until_ns)
{
    double own_ns = kvc_phases_own_ns(&source->workload, phase, until_ns);
    bool leaves = next_of_inner_ns(source, phase, shard) <= until_ns;
    return leaves ? fmax(own_ns, kvc_source_next_ns(source->inner[phase], shard)) : own_ns;
}

static uint32_t drain_inner(struct kvc_source *source, uint32_t shard, double until_ns,
                            struct kvc_batch *batch)
{
    const struct kvc_workload *workload = &source->workload;
    uint32_t next = next_inner(source, shard, until_ns), first = batch->count;
    if (source->keys != NULL) {
        return drain_tenant(source, next, shard, until_ns, batch);
    }
    if (workload->arrival == KVC_ARRIVAL_SATURATE) {
        return kvc_source_drain(source->inner[next], shard, until_ns, batch);
    }
    double own_ns = own_until_ns(source, next, shard, until_ns);
    uint32_t count = kvc_source_drain(source->inner[next], shard, own_ns, batch);
    for (uint32_t i = first; i < batch->count; i++) {
        batch->sent_ns[i] = kvc_phases_time_ns(workload, next, batch->sent_ns[i]);
    }
    batch->left_ns = count > 0 ? kvc_phases_time_ns(workload, next, batch->left_ns) : batch->left_ns;
    return count;
}

static bool peek_inner(struct kvc_source *source, uint32_t shard, double until_ns, uint32_t *connection)
{
    uint32_t next = next_inner(source, shard, until_ns);
    bool as_is = source->keys != NULL || source->workload.arrival == KVC_ARRIVAL_SATURATE;
    double own_ns = as_is ? until_ns : own_until_ns(source, next, shard, until_ns);
    bool found = kvc_source_peek(source->inner[next], shard, own_ns, connection);
    if (found && source->keys != NULL) {
        *connection = connection_of_tenant(source, next, *connection);
    }
    return found;
}

/* ---- all loads ---- */

bool kvc_source_peek(struct kvc_source *source, uint32_t shard, double until_ns, uint32_t *connection)
{
    if (source->inner_count > 0) {
        return peek_inner(source, shard, until_ns, connection);
    }
    struct kvc_source_shard *at = &source->shard[shard];
    switch (source->workload.arrival) {
    case KVC_ARRIVAL_SATURATE:
        *connection = kvc_source_turn_connection(source, at);
        return fill_window(source, at);
    case KVC_ARRIVAL_CLOSED:
        return peek_closed(source, at, until_ns, connection);
    case KVC_ARRIVAL_TRACE:
        *connection = kvc_source_turn_connection(source, at);
        return kvc_source_peek_trace(source, at, until_ns);
    default:
        return kvc_source_peek_open(source, at, until_ns, connection);
    }
}

uint32_t kvc_source_drain(struct kvc_source *source, uint32_t shard, double until_ns, struct kvc_batch *batch)
{
    if (source->inner_count > 0) {
        return drain_inner(source, shard, until_ns, batch);
    }
    switch (source->workload.arrival) {
    case KVC_ARRIVAL_SATURATE:
        return drain_saturating(source, &source->shard[shard], batch);
    case KVC_ARRIVAL_CLOSED:
        return drain_closed(source, &source->shard[shard], until_ns, batch);
    case KVC_ARRIVAL_TRACE:
        return kvc_source_drain_trace(source, &source->shard[shard], until_ns, batch);
    default:
        return kvc_source_drain_open(source, &source->shard[shard], until_ns, batch);
    }
}

void kvc_source_complete(struct kvc_source *source, const uint32_t *client, const double *done_ns,
                         uint32_t count)
{
    if (source->workload.arrival == KVC_ARRIVAL_CLOSED && !kvc_source_stopped(source)) {
        complete_closed(source, client, done_ns, count);
    }
}

double kvc_source_next_ns(struct kvc_source *source, uint32_t shard)
{
    double next_ns = INFINITY;
    for (uint32_t i = 0; i < source->inner_count; i++) {
        next_ns = fmin(next_ns, next_of_inner_ns(source, i, shard));
    }
    if (source->inner_count > 0) {
        return next_ns;
    }
    switch (source->workload.arrival) {
    case KVC_ARRIVAL_SATURATE:
        return fill_window(source, &source->shard[shard]) ? 0 : INFINITY;
    case KVC_ARRIVAL_CLOSED:
        return kvc_sends_next_ns(&source->shard[shard].sends);
    case KVC_ARRIVAL_TRACE:
        return kvc_source_next_trace_ns(source, &source->shard[shard]);
    default:
        return kvc_source_next_open_ns(source, &source->shard[shard]);
    }
}

enum kvc_status kvc_source_error(const struct kvc_source *source, struct kvc_diag *diag)
{
    for (uint32_t i = 0; i < source->inner_count; i++) {
        if (kvc_source_stopped(source->inner[i])) {
            return kvc_source_error(source->inner[i], diag);
        }
    }
    if (kvc_source_stopped(source) && diag != NULL) {
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
        if (kvc_rows_count(&source->shard[i].rows) != 0 || source->shard[i].sends.count != 0) {
            return 0;
        }
    }
    return 1;
}

const struct kvc_action_mix *kvc_source_actions(const struct kvc_source *source)
{
    return &source->actions;
}

void kvc_source_draw_other_members(const struct kvc_source *source, struct kvc_rng *rng, uint64_t *member,
                                   uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        kvc_source_draw_members(source, rng, &member[i], 1);
        for (uint32_t other = 0; other < i; other++) {
            if (member[i] == member[other]) { /* The next member may also already be in the list. */
                member[i] = (member[i] + 1) % source->members;
                other = UINT32_MAX;
            }
        }
    }
}

bool kvc_source_holds_key(const struct kvc_source *source, uint64_t key_id)
{
    const struct kvc_key_part *part = source->workload.part;
    return part == NULL || part->owned == NULL || (part->owned[key_id] & 1) != 0;
}

uint32_t kvc_source_shard(const struct kvc_source *source, uint64_t hash)
{
    return kvc_hash_ring_shard(source->ring, hash);
}

void kvc_source_shards(const struct kvc_source *source, const uint64_t *hash, uint32_t count, uint32_t *shard)
{
    kvc_hash_ring_shards(source->ring, hash, count, shard);
}

/* Returns the inner source to which a key belongs, and to which all following ones below *end do, too. */
static uint32_t owner_of(const struct kvc_source *source, uint64_t key_id, uint64_t *end)
{
    uint32_t phase = 0;
    if (source->keys != NULL) {
        const struct kvc_tenant_block *block = kvc_tenant_keys_block(source->keys, key_id);
        *end = block->first + block->keys;
        return block->tenant;
    }
    while ((*end = kvc_phases_first_key(&source->workload, phase + 1)) <= key_id) {
        phase++;
    }
    return phase;
}

void kvc_source_keys(const struct kvc_source *source, uint64_t first, uint32_t count, struct kvc_batch *batch)
{
    if (source->workload.arrival == KVC_ARRIVAL_TRACE) {
        return;
    }
    if (count > batch->capacity - batch->count) {
        KVC_BUG("%u keys for a batch with room for %u", count, batch->capacity - batch->count);
    }
    for (uint32_t done = 0; source->inner_count > 0 && done < count;) {
        uint64_t id = first + done, end;
        uint32_t owner = owner_of(source, id, &end);
        uint32_t part = end - id < count - done ? (uint32_t)(end - id) : count - done;
        kvc_source_keys(source->inner[owner], id, part, batch);
        done += part;
    }
    for (uint32_t done = 0, part; source->inner_count == 0 && done < count; done += part) {
        struct kvc_columns to = kvc_source_batch_columns(batch);
        part = count - done < KVC_SOURCE_BLOCK ? count - done : KVC_SOURCE_BLOCK;
        memset(to.op, KVC_OP_SET, part);
        memset(batch->client + batch->count, 0, part * sizeof(*batch->client));
        for (uint32_t i = 0; i < part; i++) {
            to.key_id[i] = first + done + i;
            to.sent_ns[i] = 0;
        }
        kvc_source_complete_columns(source, to, part);
        batch->count += part;
    }
}
