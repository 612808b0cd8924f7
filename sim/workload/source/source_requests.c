#include "sim/workload/source/source_internal.h"

#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"

/* ---- columns and queues of requests ---- */

enum { FIRST_CAPACITY = 4096 };

struct kvc_columns kvc_columns_at(const struct kvc_columns *columns, uint32_t first)
{
    struct kvc_columns at = *columns;
    at.op += first;
    at.key_id += first;
    at.hash += first;
    if (at.keys != NULL) {
        at.keys += (size_t)first * at.key_stride;
    }
    if (at.key_bytes != NULL) {
        at.key_bytes += first;
    }
    if (at.value_bytes != NULL) {
        at.value_bytes += first;
    }
    if (at.sent_ns != NULL) {
        at.sent_ns += first;
    }
    return at;
}

static bool grow(void *column_address, size_t bytes)
{
    void *old, *grown;
    memcpy(&old, column_address, sizeof(old));
    grown = realloc(old, bytes);
    if (grown == NULL) {
        return false;
    }
    memcpy(column_address, &grown, sizeof(grown));
    return true;
}

bool kvc_columns_grow(struct kvc_columns *columns, uint32_t capacity, unsigned kept)
{
    size_t rows = capacity;
    return grow(&columns->op, rows * sizeof(*columns->op)) &&
           grow(&columns->key_id, rows * sizeof(*columns->key_id)) &&
           grow(&columns->hash, rows * sizeof(*columns->hash)) &&
           (!(kept & KVC_ROWS_SIZES) ||
            (grow(&columns->key_bytes, rows * sizeof(*columns->key_bytes)) &&
             grow(&columns->value_bytes, rows * sizeof(*columns->value_bytes)))) &&
           (!(kept & KVC_ROWS_KEYS) || grow(&columns->keys, rows * columns->key_stride)) &&
           (!(kept & KVC_ROWS_SENT) || grow(&columns->sent_ns, rows * sizeof(*columns->sent_ns)));
}

void kvc_columns_free(struct kvc_columns *columns)
{
    free(columns->op);
    free(columns->key_bytes);
    free(columns->value_bytes);
    free(columns->keys);
    free(columns->key_id);
    free(columns->hash);
    free(columns->sent_ns);
    *columns = (struct kvc_columns){.key_stride = columns->key_stride};
}

void kvc_rows_init(struct kvc_rows *rows, uint32_t key_stride, unsigned kept)
{
    *rows = (struct kvc_rows){.all.key_stride = key_stride, .kept = kept};
}

void kvc_rows_free(struct kvc_rows *rows)
{
    kvc_columns_free(&rows->all);
}

static void move_to_front(struct kvc_rows *rows)
{
    size_t count = kvc_rows_count(rows);
    struct kvc_columns *all = &rows->all, from = kvc_columns_at(all, rows->head);
    memmove(all->op, from.op, count * sizeof(*all->op));
    memmove(all->key_id, from.key_id, count * sizeof(*all->key_id));
    memmove(all->hash, from.hash, count * sizeof(*all->hash));
    if (rows->kept & KVC_ROWS_SIZES) {
        memmove(all->key_bytes, from.key_bytes, count * sizeof(*all->key_bytes));
        memmove(all->value_bytes, from.value_bytes, count * sizeof(*all->value_bytes));
    }
    if (rows->kept & KVC_ROWS_KEYS) {
        memmove(all->keys, from.keys, count * all->key_stride);
    }
    if (rows->kept & KVC_ROWS_SENT) {
        memmove(all->sent_ns, from.sent_ns, count * sizeof(*all->sent_ns));
    }
    rows->head = 0;
    rows->tail = (uint32_t)count;
}

double kvc_rows_memory_bytes(uint32_t count)
{
    const struct kvc_columns *columns = NULL;
    double capacity = FIRST_CAPACITY;
    while (capacity < 2.0 * count) {
        capacity *= 2;
    }
    return capacity * (sizeof(*columns->op) + sizeof(*columns->key_id) + sizeof(*columns->hash));
}

bool kvc_rows_reserve(struct kvc_rows *rows, uint32_t extra)
{
    if (rows->head == rows->tail) {
        rows->head = rows->tail = 0;
    }
    if (rows->capacity - rows->tail >= extra) {
        return true;
    }
    uint64_t needed = (uint64_t)kvc_rows_count(rows) + extra;
    if (rows->head > 0) {
        move_to_front(rows);
    }
    /* At least half of the rows are free after a move, so that moving costs O(1) per row. */
    uint64_t capacity = rows->capacity != 0 ? rows->capacity : FIRST_CAPACITY;
    while (capacity < 2 * needed) {
        capacity *= 2;
    }
    if (capacity > UINT32_MAX ||
        !(capacity == rows->capacity || kvc_columns_grow(&rows->all, (uint32_t)capacity, rows->kept))) {
        return false;
    }
    rows->capacity = (uint32_t)capacity;
    return true;
}

/* ---- making requests ---- */

/* Returns a word of a key: word 0 is its id, further words are mixed from the id. */
static inline uint64_t key_word(uint64_t key_id, size_t word)
{
    return htole64(word == 0 ? key_id : kvc_mix64(key_id + word * KVC_SOURCE_GOLDEN));
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
        if (to->zero_behind && 8 * word < to->key_stride) {
            memset(key + 8 * word, 0, to->key_stride - 8 * word);
        }
    }
}

/* Returns the ids of keys in the whole workload, in `room` if they differ from the ids in the part. */
static const uint64_t *whole_ids(const struct kvc_source *source, const uint64_t *key_id, uint32_t count,
                                 uint64_t room[KVC_SOURCE_BLOCK])
{
    const struct kvc_key_part *part = source->workload.part;
    for (uint32_t i = 0; part != NULL && i < count; i++) {
        room[i] = part->key[key_id[i]];
    }
    return part != NULL ? room : key_id;
}

/* Writes the keys of a part by their ids in the whole workload. */
static void make_keys_of_part(const struct kvc_source *source, const struct kvc_columns *to,
                              const uint8_t *key_bytes, uint32_t count)
{
    uint64_t room[KVC_SOURCE_BLOCK];
    for (uint32_t done = 0; done < count; done += KVC_SOURCE_BLOCK) {
        uint32_t part = count - done < KVC_SOURCE_BLOCK ? count - done : KVC_SOURCE_BLOCK;
        struct kvc_columns at = kvc_columns_at(to, done);
        at.key_id = (uint64_t *)whole_ids(source, at.key_id, part, room);
        write_keys(&at, key_bytes + done, part);
    }
}

void kvc_source_make_keys(const struct kvc_source *source, const struct kvc_columns *to,
                          const uint8_t *key_bytes, uint32_t count)
{
    if (source->ids_suffice) {
        return;
    }
    if (source->workload.part != NULL) {
        make_keys_of_part(source, to, key_bytes, count);
    } else if (source->sizes_fixed && source->same_key_bytes[0] == 8 && to->key_stride == 8 &&
               __BYTE_ORDER == __LITTLE_ENDIAN) {
        memcpy(to->keys, to->key_id, count * sizeof(*to->key_id));
    } else {
        write_keys(to, key_bytes, count);
    }
}

void kvc_source_complete_columns(const struct kvc_source *source, struct kvc_columns to, uint32_t count)
{
    const uint8_t *key_bytes = source->same_key_bytes;
    if (!source->sizes_fixed) {
        uint64_t room[KVC_SOURCE_BLOCK];
        kvc_sizes_fill(source->sizes, whole_ids(source, to.key_id, count, room), count, to.key_bytes,
                       to.value_bytes);
        key_bytes = to.key_bytes;
    } else if (to.key_bytes != NULL) {
        memcpy(to.key_bytes, source->same_key_bytes, count);
        memcpy(to.value_bytes, source->same_value_bytes, count * sizeof(*to.value_bytes));
    }
    if (to.keys == NULL) { /* The bytes are not kept, only hashed. */
        to.keys = source->block.keys;
    }
    kvc_source_make_keys(source, &to, key_bytes, count);
    if (!source->ids_suffice) {
        kvc_hash_batch(to.keys, to.key_stride, key_bytes, count, source->hash_seed, to.hash);
    }
}

/* Appends the requests of the block to the queues of their shards, in order. */
static bool scatter(struct kvc_source *source)
{
    const struct kvc_columns *block = &source->block;
    uint32_t *start = source->shard_rows, *order = source->block_order;
    kvc_hash_ring_shards(source->ring, block->hash, KVC_SOURCE_BLOCK, source->block_shard);
    memset(start, 0, (source->shards + 1) * sizeof(*start));
    for (uint32_t i = 0; i < KVC_SOURCE_BLOCK; i++) {
        start[source->block_shard[i] + 1]++;
    }
    for (uint32_t i = 0; i < source->shards; i++) {
        start[i + 1] += start[i];
    }
    for (uint32_t i = 0; i < KVC_SOURCE_BLOCK; i++) {
        order[start[source->block_shard[i]]++] = i;
    }
    /* start[i] is now where shard i ends. */
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

bool kvc_source_enter_epoch(struct kvc_source *source, uint32_t epoch)
{
    const struct kvc_key_part *part = source->workload.part;
    kvc_part_sampler_free(source->sampler);
    source->sampler = NULL;
    source->epoch = epoch;
    if (part->epoch[epoch].keys > 0) {
        double s = source->workload.popularity == KVC_POPULARITY_ZIPF ? source->workload.zipf_s : 0;
        source->sampler = kvc_part_sampler_create(part, s, epoch);
    }
    return part->epoch[epoch].keys == 0 || source->sampler != NULL;
}

/* Draws the keys of a block of a part, each in the epoch of its request. Requests that are never sent have no
 * time and any key. */
static bool draw_in_epochs(struct kvc_source *source, uint64_t *key_id)
{
    const struct kvc_key_part *part = source->workload.part;
    const double *sent_ns = source->clients.sent_ns;
    for (uint32_t i = 0, end; i < KVC_SOURCE_BLOCK; i = end) {
        uint32_t epoch = source->epoch;
        while (epoch + 1 < part->epochs && sent_ns[i] >= part->epoch[epoch + 1].from_ns) {
            epoch++;
        }
        if (epoch != source->epoch && !kvc_source_enter_epoch(source, epoch)) {
            return false;
        }
        double until_ns = epoch + 1 < part->epochs ? part->epoch[epoch + 1].from_ns : INFINITY;
        for (end = i + 1; end < KVC_SOURCE_BLOCK && !(sent_ns[end] >= until_ns);) {
            end++;
        }
        if (source->sampler != NULL) {
            kvc_part_sampler_fill(source->sampler, &source->key_rng, key_id + i, end - i);
        } else {
            memset(key_id + i, 0, (end - i) * sizeof(*key_id));
        }
    }
    return true;
}

/* Moves the keys of a block's requests, each by the ranks that churn has moved until its time. */
static void churn(const struct kvc_source *source, uint64_t *key_id)
{
    uint64_t keys = source->workload.keys;
    double per_ns = source->workload.churn_per_s * 1e-9;
    for (uint32_t i = 0; i < KVC_SOURCE_BLOCK; i++) {
        double moved = floor(source->clients.sent_ns[i] * per_ns);
        uint64_t by = isfinite(moved) ? (uint64_t)fmod(moved, (double)keys) : 0; /* Else it is never sent. */
        key_id[i] = key_id[i] >= by ? key_id[i] - by : key_id[i] + keys - by;
    }
}

/* Gives the requests of a block to the storms of their time. */
static void take_by_storms(struct kvc_source *source, uint64_t *key_id)
{
    const struct kvc_workload *workload = &source->workload;
    for (uint32_t i = 0; i < KVC_SOURCE_BLOCK; i++) {
        double sent_ns = source->clients.sent_ns[i];
        bool taken = false;
        for (uint32_t k = 0; k < workload->storm_count && !taken; k++) {
            const struct kvc_storm *storm = &workload->storms[k];
            taken = sent_ns >= storm->at_ns && sent_ns < storm->at_ns + storm->length_ns &&
                    kvc_rng_unit(&source->storm_rng) < storm->frac;
            if (taken) {
                key_id[i] = workload->keys - 1 - kvc_rng_below(&source->storm_rng, storm->keys);
            }
        }
    }
}

/* Draws the keys of a block. */
static bool draw_keys(struct kvc_source *source, uint64_t *key_id)
{
    if (source->workload.part != NULL && source->workload.part->epochs > 1) {
        return draw_in_epochs(source, key_id);
    }
    kvc_source_draw_key_ids(source, &source->key_rng, key_id, KVC_SOURCE_BLOCK);
    if (source->workload.churn_per_s > 0) {
        churn(source, key_id);
    }
    if (source->workload.storm_count > 0) {
        take_by_storms(source, key_id);
    }
    return true;
}

bool kvc_source_make_block(struct kvc_source *source)
{
    struct kvc_rows *only = source->shards == 1 ? &source->shard[0].rows : NULL;
    bool ok = only == NULL || kvc_rows_reserve(only, KVC_SOURCE_BLOCK);
    if (ok) {
        struct kvc_columns to = only != NULL ? kvc_columns_at(&only->all, only->tail) : source->block;
        kvc_source_draw_ops(source, &source->op_rng, to.op, KVC_SOURCE_BLOCK);
        ok = draw_keys(source, to.key_id);
        kvc_source_complete_columns(source, to, KVC_SOURCE_BLOCK);
        if (only != NULL) {
            only->tail += KVC_SOURCE_BLOCK;
        } else {
            ok = ok && scatter(source);
        }
    }
    if (!ok) {
        kvc_source_out_of_memory(source);
    }
    return ok;
}
