#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "sim/base/array.h"
#include "sim/workload/source/source_internal.h"

/* ---- numbers by hash ---- */

enum { FIRST_PLACES = 1024 };

/* A hash table that keeps a number for each hash; a hash is never removed. */
struct kvc_hash_numbers {
    struct {
        uint64_t hash; /* 0: empty. */
        double number;
    } * place;
    uint64_t places, count; /* Places are a power of two, at most half of them used. */
};

static void free_numbers(struct kvc_hash_numbers *numbers)
{
    if (numbers != NULL) {
        free(numbers->place);
        free(numbers);
    }
}

/* Returns where the number of a hash is, or belongs. */
static double *number_of(const struct kvc_hash_numbers *numbers, uint64_t hash, bool *is_new)
{
    uint64_t at = hash & (numbers->places - 1);
    hash += hash == 0;
    while (numbers->place[at].hash != 0 && numbers->place[at].hash != hash) {
        at = (at + 1) & (numbers->places - 1);
    }
    *is_new = numbers->place[at].hash == 0;
    numbers->place[at].hash = hash;
    return &numbers->place[at].number;
}

static void keep_number(struct kvc_hash_numbers **numbers, uint64_t hash, double number)
{
    struct kvc_hash_numbers *all = *numbers;
    bool is_new;
    if (all == NULL) {
        all = *numbers = kvc_array_of(1, sizeof(*all));
    }
    if (2 * all->count >= all->places) {
        struct kvc_hash_numbers larger = {.places = all->places > 0 ? 2 * all->places : FIRST_PLACES};
        larger.place = kvc_array_of(larger.places, sizeof(*larger.place));
        for (uint64_t i = 0; i < all->places; i++) {
            if (all->place[i].hash != 0) {
                *number_of(&larger, all->place[i].hash, &is_new) = all->place[i].number;
            }
        }
        larger.count = all->count;
        free(all->place);
        *all = larger;
    }
    *number_of(all, hash, &is_new) = number;
    all->count += is_new;
}

/* Returns the number of a hash, or NaN. */
static double find_number(const struct kvc_hash_numbers *numbers, uint64_t hash)
{
    uint64_t mask = numbers != NULL ? numbers->places - 1 : 0, wanted = hash + (hash == 0);
    for (uint64_t at = hash & mask; numbers != NULL && numbers->place[at].hash != 0; at = (at + 1) & mask) {
        if (numbers->place[at].hash == wanted) {
            return numbers->place[at].number;
        }
    }
    return NAN;
}

/* ---- requests that follow from others ---- */

/* Adds a request for a pair that is sent at sent_ns. */
static void add_later(struct kvc_source *source, struct kvc_source_shard *shard, double sent_ns,
                      enum kvc_op op, const struct kvc_source_missed *pair)
{
    struct kvc_later *later = &shard->later;
    uint32_t number = later->first_free;
    if (later->frees > 0) {
        later->first_free = later->row[number].next;
        later->frees--;
    } else {
        if (later->used == later->room) {
            later->room = later->room > 0 ? 2 * later->room : KVC_SOURCE_BLOCK;
            later->row = kvc_array_grown(later->row, later->room, sizeof(*later->row));
        }
        number = later->used++;
    }
    later->row[number] = (struct kvc_later_row){.hash = pair->hash,
                                                .key_id = pair->key_id,
                                                .value_bytes = pair->value_bytes,
                                                .op = (uint8_t)op,
                                                .key_bytes = (uint8_t)pair->key_bytes};
    memcpy(later->row[number].key, pair->key, pair->key_bytes);
    if (!kvc_sends_push(&shard->sends, sent_ns, number)) {
        kvc_source_out_of_memory(source);
    }
}

static void free_later(struct kvc_later *later, uint32_t number)
{
    later->row[number].next = later->first_free;
    later->first_free = number;
    later->frees++;
}

/* Returns whether a request still has to be sent: a pair that was written again expires later. */
static bool is_due(const struct kvc_source *source, const struct kvc_later_row *row, double sent_ns)
{
    return row->op != KVC_OP_DELETE || find_number(source->expires, row->hash) == sent_ns;
}

double kvc_source_next_later_ns(struct kvc_source *source, struct kvc_source_shard *shard)
{
    while (shard->sends.count > 0) {
        const struct kvc_send *send = &shard->sends.heap[0];
        if (is_due(source, &shard->later.row[send->client], send->sent_ns)) {
            return send->sent_ns;
        }
        free_later(&shard->later, kvc_sends_pop(&shard->sends).client);
    }
    return INFINITY;
}

bool kvc_source_fills(const struct kvc_source *source)
{
    return kvc_workload_fills(&source->workload);
}

bool kvc_source_fills_key(struct kvc_source *source, uint64_t hash)
{
    bool fills = kvc_source_fills(source) && isnan(find_number(source->refused, hash));
    source->trace_counts.filled += fills;
    return fills;
}

void kvc_source_miss(struct kvc_source *source, const struct kvc_source_missed *missed, double done_ns)
{
    if (kvc_source_fills_key(source, missed->hash)) {
        struct kvc_source_shard *shard = &source->shard[kvc_hash_ring_shard(source->ring, missed->hash)];
        add_later(source, shard, done_ns, KVC_OP_SET, missed);
    }
}

void kvc_source_miss_row(struct kvc_source *source, const struct kvc_batch *batch, uint32_t row,
                         double done_ns)
{
    const struct kvc_source_missed missed = {.key = batch->keys + (size_t)row * batch->key_stride,
                                             .key_bytes = batch->key_bytes[row],
                                             .value_bytes = batch->value_bytes[row],
                                             .hash = batch->hash[row],
                                             .key_id = batch->key_id[row]};
    kvc_source_miss(source, &missed, done_ns);
}

/* ---- rows of the trace ---- */

/* Notes when the pair expires that a request writes, or that it no longer does. */
static void note_expiry(struct kvc_source *source, struct kvc_source_shard *shard,
                        const struct kvc_trace_row *row, uint64_t hash)
{
    double expires_ns = row->op == KVC_OP_SET && row->ttl_ns > 0 ? row->time_ns + row->ttl_ns : INFINITY;
    bool within = expires_ns <= source->workload.trace.facts.end_ns;
    if (row->op == KVC_OP_GET || (!within && isnan(find_number(source->expires, hash)))) {
        return;
    }
    keep_number(&source->expires, hash, expires_ns);
    if (within) {
        const struct kvc_source_missed pair = {
            .key = row->key, .key_bytes = row->key_bytes, .hash = hash, .key_id = hash};
        add_later(source, shard, expires_ns, KVC_OP_DELETE, &pair);
    }
}

/* Counts a request whose pair is too large, and makes it as small as the store takes. Returns whether it is
 * sent. */
static bool fit(struct kvc_source *source, struct kvc_trace_row *row, uint64_t hash)
{
    uint32_t key_most = kvc_workload_key_bytes_max(&source->workload);
    uint32_t value_most = kvc_workload_value_bytes_max(&source->workload);
    if (row->key_bytes <= key_most && row->value_bytes <= value_most) {
        return true;
    }
    source->trace_counts.too_large++;
    if (row->key_bytes > key_most || row->op == KVC_OP_SET) {
        return false;
    }
    keep_number(&source->refused, hash, 0);
    row->value_bytes = value_most;
    return true;
}

/* Reads a request of the trace, and queues it at its shard if it is sent. */
static bool read_trace(struct kvc_source *source)
{
    struct kvc_trace_row row;
    if (source->trace == NULL) {
        return false;
    }
    enum kvc_trace_next next = kvc_replay_read(source->trace, &row, &source->diag);
    if (next == KVC_TRACE_END && source->trace_ns < 0) {
        kvc_diag_fail_at(&source->diag, KVC_ERR_SCENARIO, source->workload.trace.path, 0,
                         "workload.arrival.sample of %g leaves no key of the trace",
                         source->workload.trace.sampled_frac);
    }
    if (next != KVC_TRACE_ROW) {
        kvc_replay_close(source->trace);
        source->trace = NULL;
        return false;
    }
    uint64_t hash = kvc_hash(row.key, row.key_bytes, source->hash_seed);
    struct kvc_source_shard *shard = &source->shard[kvc_hash_ring_shard(source->ring, hash)];
    struct kvc_rows *rows = &shard->rows;
    source->trace_ns = row.time_ns;
    source->trace_counts.read++;
    if (!fit(source, &row, hash)) {
        return true;
    }
    note_expiry(source, shard, &row, hash);
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
    return true;
}

/* ---- the load ---- */

bool kvc_source_peek_trace(struct kvc_source *source, struct kvc_source_shard *shard, double until_ns)
{
    double later_ns = kvc_source_next_later_ns(source, shard);
    bool follows = later_ns <= until_ns && isfinite(later_ns);
    while (kvc_rows_count(&shard->rows) == 0) {
        if (source->trace_ns > until_ns || !read_trace(source)) {
            return follows;
        }
    }
    return follows || shard->rows.all.sent_ns[shard->rows.head] <= until_ns;
}

/* Moves the next request that follows from another to the batch. Returns when it is sent [ns]. */
static double take_later(struct kvc_source *source, struct kvc_source_shard *shard, struct kvc_batch *batch)
{
    struct kvc_send send = kvc_sends_pop(&shard->sends);
    const struct kvc_later_row *row = &shard->later.row[send.client];
    struct kvc_columns to = kvc_source_batch_columns(batch);
    source->trace_counts.expired += row->op == KVC_OP_DELETE;
    *to.op = row->op;
    *to.key_bytes = row->key_bytes;
    *to.value_bytes = row->value_bytes;
    *to.key_id = row->key_id;
    *to.hash = row->hash;
    memset(to.keys, 0, to.key_stride);
    memcpy(to.keys, row->key, row->key_bytes);
    batch->client[batch->count++] = 0;
    free_later(&shard->later, send.client);
    return send.sent_ns;
}

uint32_t kvc_source_drain_later(struct kvc_source *source, struct kvc_source_shard *shard,
                                struct kvc_batch *batch)
{
    double sent_ns = kvc_source_next_later_ns(source, shard);
    uint32_t most = kvc_source_room(source, batch), count = 0;
    for (; count < most && kvc_source_next_later_ns(source, shard) == sent_ns; count++) {
        batch->sent_ns[batch->count] = sent_ns;
        take_later(source, shard, batch);
    }
    if (count > 0) {
        kvc_source_mark_frame(source, shard, sent_ns, batch);
    }
    return count;
}

uint32_t kvc_source_drain_trace(struct kvc_source *source, struct kvc_source_shard *shard, double until_ns,
                                struct kvc_batch *batch)
{
    struct kvc_rows *rows = &shard->rows;
    if (!kvc_source_peek_trace(source, shard, until_ns) || kvc_source_room(source, batch) == 0) {
        return 0;
    }
    uint32_t at = batch->count;
    double sent_ns = kvc_rows_count(rows) > 0 ? rows->all.sent_ns[rows->head] : INFINITY;
    if (kvc_source_next_later_ns(source, shard) < sent_ns) {
        sent_ns = take_later(source, shard, batch);
    } else {
        kvc_source_move_rows(source, rows, 1, batch);
    }
    batch->sent_ns[at] = sent_ns;
    kvc_source_mark_frame(source, shard, sent_ns, batch);
    return 1;
}

double kvc_source_next_trace_ns(struct kvc_source *source, struct kvc_source_shard *shard)
{
    double later_ns = kvc_source_next_later_ns(source, shard);
    for (int i = 0; kvc_rows_count(&shard->rows) == 0; i++) {
        if (source->trace_ns >= later_ns) { /* The next request of the trace is not sent before. */
            return later_ns;
        }
        if (i == KVC_SOURCE_SEARCH_LIMIT || !read_trace(source)) {
            bool goes_on = source->trace != NULL && !kvc_source_stopped(source);
            return fmin(later_ns, goes_on ? source->trace_ns : INFINITY);
        }
    }
    return fmin(later_ns, shard->rows.all.sent_ns[shard->rows.head]);
}

struct kvc_source_trace_counts kvc_source_trace_counts(const struct kvc_source *source)
{
    return source->trace_counts;
}

void kvc_source_free_trace(struct kvc_source *source)
{
    kvc_replay_close(source->trace);
    free_numbers(source->expires);
    free_numbers(source->refused);
}

enum kvc_status kvc_source_start_trace(struct kvc_source *source, uint64_t seed, struct kvc_diag *diag)
{
    const struct kvc_workload_trace *trace = &source->workload.trace;
    const struct kvc_replay_params params = {.path = trace->path,
                                             .seed = seed,
                                             .speed = trace->scale,
                                             .sampled_frac = trace->sampled_frac,
                                             .copies = (uint32_t)trace->copies};
    source->trace_ns = -1;
    source->trace = kvc_replay_open(&params, diag);
    return source->trace != NULL ? KVC_OK : KVC_ERR_SCENARIO;
}
