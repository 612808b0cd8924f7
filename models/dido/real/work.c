#include "models/dido/real/work.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/megakv/packet.h"
#include "kernels/pages.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/diag.h"

/* ---- batch ---- */

enum { ARRAY_ALIGN = 256 /* Alignment of the arrays of a block: whole lines of every processor. */ };

/* Returns the place of an array in the block, which begins at its `used` bytes. */
static void *take(uint8_t *block, uint64_t *used, uint64_t bytes)
{
    uint8_t *array = block != NULL ? block + *used : NULL;
    *used += (bytes + ARRAY_ALIGN - 1) / ARRAY_ALIGN * ARRAY_ALIGN;
    return array;
}

/* Places the arrays that a GPU may share in a block. Returns the block's size, even if there is no block yet.
 */
static uint64_t place(struct kvc_dido_real_batch *batch, uint8_t *block)
{
    uint64_t rows = batch->shape.rows, used = 0;
    batch->op = take(block, &used, rows * sizeof(*batch->op));
    batch->key_bytes = take(block, &used, rows * sizeof(*batch->key_bytes));
    batch->keys = take(block, &used, rows * batch->shape.key_stride);
    batch->read_bytes = take(block, &used, rows * sizeof(*batch->read_bytes));
    batch->hash = take(block, &used, rows * sizeof(*batch->hash));
    batch->location = take(block, &used, rows * sizeof(*batch->location));
    batch->result = take(block, &used, rows * sizeof(*batch->result));
    batch->evicted = take(block, &used, rows * sizeof(*batch->evicted));
    batch->values = take(block, &used, rows * batch->shape.value_stride);
    batch->responses = take(block, &used, rows * (KVC_DIDO_REAL_HEADER_BYTES + batch->shape.value_stride));
    return used;
}

struct kvc_dido_real_batch *kvc_dido_real_batch_create(const struct kvc_dido_real_batch_shape *shape)
{
    struct kvc_dido_real_batch *batch = kvc_array_of(1, sizeof(*batch));
    uint32_t rows = shape->rows;
    *batch = (struct kvc_dido_real_batch){
        .shape = *shape,
        .frame = kvc_array_of(rows, sizeof(*batch->frame)),
        .set = kvc_array_of(rows, sizeof(*batch->set)),
        .value = kvc_array_of(rows, sizeof(*batch->value)),
        .value_bytes = kvc_array_of(rows, sizeof(*batch->value_bytes)),
    };
    batch->block_bytes = place(batch, NULL);
    batch->block = kvc_pages_alloc(batch->block_bytes); /* Uses huge pages if the system has them. */
    if (batch->block == NULL) {
        kvc_out_of_memory("a batch of %llu MiB", (unsigned long long)(batch->block_bytes >> 20));
    }
    place(batch, batch->block);
    return batch;
}

void kvc_dido_real_batch_free(struct kvc_dido_real_batch *batch)
{
    if (batch == NULL) {
        return;
    }
    kvc_pages_free(batch->block, batch->block_bytes);
    free(batch->frame);
    free(batch->set);
    free(batch->value);
    free(batch->value_bytes);
    free(batch);
}

void kvc_dido_real_batch_clear(struct kvc_dido_real_batch *batch)
{
    batch->rows = batch->frames = batch->sets = 0;
    batch->slowest_ns = 0;
}

void kvc_dido_real_batch_add(struct kvc_dido_real_batch *batch, const struct kvc_dido_real_frame *frame)
{
    if (frame->requests > batch->shape.rows - batch->rows) {
        KVC_BUG("a frame of %u requests in a batch that has room for %u", frame->requests,
                batch->shape.rows - batch->rows);
    }
    if (batch->sets == 0 || batch->set[batch->sets - 1].rows >= batch->shape.set_queries) {
        batch->set[batch->sets++] =
            (struct kvc_dido_real_set){.first_frame = batch->frames, .first = batch->rows};
    }
    struct kvc_dido_real_set *set = &batch->set[batch->sets - 1];
    batch->frame[batch->frames++] = *frame;
    batch->rows += frame->requests;
    set->frames++;
    set->rows += frame->requests;
}

void kvc_dido_real_bench_open(struct kvc_dido_real_bench *bench, struct kvc_dido_real_store *store,
                              uint32_t room)
{
    *bench = (struct kvc_dido_real_bench){.store = store,
                                          .room = room,
                                          .row = kvc_array_of(room, sizeof(*bench->row)),
                                          .hash = kvc_array_of(room, sizeof(*bench->hash)),
                                          .location = kvc_array_of(room, sizeof(*bench->location))};
}

void kvc_dido_real_bench_close(struct kvc_dido_real_bench *bench)
{
    free(bench->row);
    free(bench->hash);
    free(bench->location);
}

/* Lists the rows of an operation, with their hashes. Returns how many there are. */
static uint32_t list_rows(struct kvc_dido_real_bench *bench, const struct kvc_dido_real_batch *batch,
                          const struct kvc_dido_real_set *set, enum kvc_megakv_packet_op op)
{
    uint32_t count = 0;
    for (uint32_t i = set->first; i < set->first + set->rows; i++) {
        bench->row[count] = i;
        bench->hash[count] = batch->hash[i];
        count += batch->op[i] == op;
    }
    return count;
}

/* ---- PP and MM ---- */

static void process_packets(struct kvc_dido_real_bench *bench, struct kvc_dido_real_batch *batch,
                            struct kvc_dido_real_set *set, const struct kvc_dido_stage *stage)
{
    uint32_t row = set->first, stride = batch->shape.key_stride;
    struct kvc_megakv_packet_request request;
    (void)stage;
    for (uint32_t f = set->first_frame; f < set->first_frame + set->frames; f++) {
        const uint8_t *at = batch->frame[f].at, *end = at + batch->frame[f].bytes;
        for (uint32_t i = 0; i < batch->frame[f].requests; i++, row++) {
            if (!kvc_megakv_packet_next(&at, end, &request)) {
                KVC_BUG("request %u of a frame of %u is damaged", i, batch->frame[f].requests);
            }
            batch->op[row] = (uint8_t)request.op;
            batch->key_bytes[row] = (uint8_t)request.key_bytes;
            batch->value[row] = request.value;
            batch->value_bytes[row] = request.value_bytes;
            batch->location[row] = KVC_LOCATION_NONE;
            kvc_megakv_packet_copy_key(batch->keys + (size_t)row * stride, stride, &request, end);
        }
    }
    kvc_hash_batch(batch->keys + (size_t)set->first * stride, stride, batch->key_bytes + set->first,
                   set->rows, bench->store->hash_seed, batch->hash + set->first);
}

/* Writes the items of `count` listed rows, which have the same size. */
static void store_items(struct kvc_dido_real_bench *bench, struct kvc_dido_real_batch *batch,
                        struct kvc_dido_real_set *set, const uint32_t *rows, uint32_t count)
{
    struct kvc_megakv_slab *slab = bench->store->slab;
    struct kvc_megakv_slab_stats *stats = &bench->counts.slab;
    uint32_t evictions, first = rows[0];
    uint32_t stored = kvc_megakv_slab_alloc(slab, batch->key_bytes[first], batch->value_bytes[first], count,
                                            bench->location, batch->evicted + set->first + set->evictions,
                                            &evictions, stats);
    set->evictions += evictions;
    bench->counts.rejected += count - stored;
    for (uint32_t i = 0; i < stored; i++) {
        uint32_t row = rows[i];
        kvc_megakv_slab_write(slab, bench->location[i], batch->keys + (size_t)row * batch->shape.key_stride,
                              batch->key_bytes[row], batch->value[row], batch->value_bytes[row], stats);
        batch->location[row] = bench->location[i];
    }
}

static void manage_memory(struct kvc_dido_real_bench *bench, struct kvc_dido_real_batch *batch,
                          struct kvc_dido_real_set *set, const struct kvc_dido_stage *stage)
{
    uint32_t sets = list_rows(bench, batch, set, KVC_MEGAKV_PACKET_SET), end;
    (void)stage;
    set->evictions = 0;
    for (uint32_t first = 0; first < sets; first = end) {
        const uint32_t *rows = bench->row + first;
        for (end = first + 1; end < sets; end++) {
            uint32_t row = bench->row[end];
            if (batch->key_bytes[row] != batch->key_bytes[rows[0]] ||
                batch->value_bytes[row] != batch->value_bytes[rows[0]]) {
                break;
            }
        }
        store_items(bench, batch, set, rows, end - first);
    }
}

/* ---- the index ---- */

static void search(struct kvc_dido_real_bench *bench, struct kvc_dido_real_batch *batch,
                   struct kvc_dido_real_set *set, const struct kvc_dido_stage *stage)
{
    uint32_t gets = list_rows(bench, batch, set, KVC_MEGAKV_PACKET_GET);
    (void)stage;
    kvc_index_search(bench->store->index, bench->hash, gets, bench->location, &bench->counts.index);
    for (uint32_t i = 0; i < gets; i++) {
        batch->location[bench->row[i]] = bench->location[i];
    }
}

static void lock_index(struct kvc_dido_real_store *store)
{
    while (atomic_flag_test_and_set_explicit(&store->changing, memory_order_acquire)) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
}

static void unlock_index(struct kvc_dido_real_store *store)
{
    atomic_flag_clear_explicit(&store->changing, memory_order_release);
}

static void insert(struct kvc_dido_real_bench *bench, struct kvc_dido_real_batch *batch,
                   struct kvc_dido_real_set *set, const struct kvc_dido_stage *stage)
{
    uint32_t inserts = 0;
    (void)stage;
    for (uint32_t i = set->first; i < set->first + set->rows; i++) {
        bench->hash[inserts] = batch->hash[i];
        bench->location[inserts] = batch->location[i];
        inserts += batch->op[i] == KVC_MEGAKV_PACKET_SET && batch->location[i] != KVC_LOCATION_NONE;
    }
    if (inserts > 0) {
        lock_index(bench->store);
        kvc_index_insert(bench->store->index, bench->hash, bench->location, inserts, NULL,
                         &bench->counts.index);
        unlock_index(bench->store);
    }
}

static void erase_evicted(struct kvc_dido_real_bench *bench, const struct kvc_dido_real_batch *batch,
                          const struct kvc_dido_real_set *set)
{
    if (set->evictions == 0) {
        return;
    }
    for (uint32_t i = 0; i < set->evictions; i++) {
        bench->hash[i] = batch->evicted[set->first + i].hash;
        bench->location[i] = batch->evicted[set->first + i].location;
    }
    lock_index(bench->store);
    kvc_index_erase(bench->store->index, bench->hash, bench->location, set->evictions, NULL,
                    &bench->counts.index);
    unlock_index(bench->store);
}

static void erase(struct kvc_dido_real_bench *bench, struct kvc_dido_real_batch *batch,
                  struct kvc_dido_real_set *set, const struct kvc_dido_stage *stage)
{
    (void)stage;
    erase_evicted(bench, batch, set);
    uint32_t deletes = list_rows(bench, batch, set, KVC_MEGAKV_PACKET_DELETE);
    if (deletes == 0) {
        return;
    }
    for (uint32_t i = 0; i < deletes; i++) {
        bench->location[i] = KVC_LOCATION_ANY;
    }
    lock_index(bench->store);
    kvc_index_erase(bench->store->index, bench->hash, bench->location, deletes, bench->location,
                    &bench->counts.index);
    unlock_index(bench->store);
    for (uint32_t i = 0; i < deletes; i++) {
        if (bench->location[i] != KVC_LOCATION_NONE) {
            kvc_megakv_slab_release_key(bench->store->slab, bench->location[i], bench->hash[i]);
        }
    }
}

/* ---- KC, RD, WR and SD ---- */

/* Reads the items of the GETs. Without room, an item with the right key is reported as changed. */
static void read_items(struct kvc_dido_real_bench *bench, struct kvc_dido_real_batch *batch,
                       struct kvc_dido_real_set *set, bool compare, uint8_t *out, uint32_t out_bytes)
{
    uint32_t position = 0, stride = batch->shape.key_stride;
    for (uint32_t i = 0; i < set->rows; i++) {
        uint32_t row = set->first + i;
        bench->location[i] =
            batch->op[row] == KVC_MEGAKV_PACKET_GET ? batch->location[row] : KVC_LOCATION_NONE;
    }
    const struct kvc_megakv_slab_reads reads = {
        .count = set->rows,
        .location = bench->location,
        .keys = batch->keys + (size_t)set->first * stride,
        .key_stride = stride,
        .key_bytes = batch->key_bytes + set->first,
        .compare = compare,
        .out = out,
        .out_bytes = out_bytes,
        .out_position = &position,
        .result = batch->result + set->first,
        .value_bytes = out_bytes > 0 ? batch->read_bytes + set->first : NULL,
    };
    kvc_megakv_slab_read(bench->store->slab, &reads, &bench->counts.slab);
    set->value_bytes = position;
}

/* KC alone has no buffer for values, so it reads none. */
static void compare_keys(struct kvc_dido_real_bench *bench, struct kvc_dido_real_batch *batch,
                         struct kvc_dido_real_set *set, const struct kvc_dido_stage *stage)
{
    if (kvc_dido_stage_has(stage, KVC_DIDO_RD)) {
        return;
    }
    read_items(bench, batch, set, true, batch->values, 0);
    for (uint32_t i = set->first; i < set->first + set->rows; i++) {
        bool other = batch->op[i] == KVC_MEGAKV_PACKET_GET && batch->result[i] == KVC_MEGAKV_SLAB_MISMATCH;
        batch->location[i] = other ? KVC_LOCATION_NONE : batch->location[i];
    }
}

static uint8_t *response_values(const struct kvc_dido_real_batch *batch, const struct kvc_dido_real_set *set)
{
    return kvc_dido_real_response(batch, set) + (size_t)set->rows * KVC_DIDO_REAL_HEADER_BYTES;
}

static void read_values(struct kvc_dido_real_bench *bench, struct kvc_dido_real_batch *batch,
                        struct kvc_dido_real_set *set, const struct kvc_dido_stage *stage)
{
    bool in_place = kvc_dido_stage_has(stage, KVC_DIDO_WR);
    read_items(bench, batch, set, kvc_dido_stage_has(stage, KVC_DIDO_KC),
               in_place ? response_values(batch, set) : kvc_dido_real_values(batch, set),
               set->rows * batch->shape.value_stride);
}

/* Copies values that lie by row into contiguous memory. Returns their size [bytes]. */
static uint32_t gather_values(const struct kvc_dido_real_batch *batch, const struct kvc_dido_real_set *set,
                              uint8_t *to)
{
    const uint8_t *from = kvc_dido_real_values(batch, set);
    uint32_t bytes = 0;
    for (uint32_t i = set->first; i < set->first + set->rows; i++, from += batch->shape.value_stride) {
        if (batch->read_bytes[i] == sizeof(uint64_t)) { /* The most common size needs no call. */
            memcpy(to + bytes, from, sizeof(uint64_t));
        } else {
            memcpy(to + bytes, from, batch->read_bytes[i]);
        }
        bytes += batch->read_bytes[i];
    }
    return bytes;
}

static void write_responses(struct kvc_dido_real_bench *bench, struct kvc_dido_real_batch *batch,
                            struct kvc_dido_real_set *set, const struct kvc_dido_stage *stage)
{
    uint8_t *to = kvc_dido_real_response(batch, set);
    for (uint32_t i = set->first; i < set->first + set->rows; i++, to += KVC_DIDO_REAL_HEADER_BYTES) {
        bool hit = batch->op[i] == KVC_MEGAKV_PACKET_GET && batch->result[i] == KVC_MEGAKV_SLAB_HIT;
        uint64_t header =
            batch->op[i] | (uint64_t)hit << 16 | (uint64_t)(hit ? batch->read_bytes[i] : 0) << 32;
        memcpy(to, &header, sizeof(header));
    }
    if (bench->store->reads_on_gpu) {
        set->value_bytes = gather_values(batch, set, to);
    } else if (!kvc_dido_stage_has(stage, KVC_DIDO_RD)) {
        memcpy(to, kvc_dido_real_values(batch, set), set->value_bytes);
    }
    set->response_bytes = set->rows * KVC_DIDO_REAL_HEADER_BYTES + set->value_bytes;
}

/* Returns whether a value belongs to a key: it begins with the hash of the key, or with as many bytes of the
 * hash as fit. */
static bool belongs(const uint8_t *value, uint32_t value_bytes, uint64_t hash)
{
    return memcmp(value, &hash, value_bytes < sizeof(hash) ? value_bytes : sizeof(hash)) == 0;
}

/* Marks the items that the GPU has read. */
static void mark_items(struct kvc_dido_real_bench *bench, const struct kvc_dido_real_batch *batch,
                       const struct kvc_dido_real_set *set)
{
    uint32_t hits = 0;
    for (uint32_t i = set->first; i < set->first + set->rows; i++) {
        bench->location[hits] = batch->location[i];
        hits += batch->op[i] == KVC_MEGAKV_PACKET_GET && batch->result[i] == KVC_MEGAKV_SLAB_HIT;
    }
    kvc_megakv_slab_mark(bench->store->slab, bench->location, hits, &bench->counts.slab);
}

static void send(struct kvc_dido_real_bench *bench, struct kvc_dido_real_batch *batch,
                 struct kvc_dido_real_set *set, const struct kvc_dido_stage *stage)
{
    bool by_row = bench->store->responds_on_gpu;
    uint32_t step = KVC_DIDO_REAL_HEADER_BYTES + (by_row ? batch->shape.value_stride : 0);
    const uint8_t *header_at = kvc_dido_real_response(batch, set);
    const uint8_t *value = response_values(batch, set);
    struct kvc_dido_real_counts *counts = &bench->counts;
    uint64_t header, of_op[KVC_MEGAKV_PACKET_OPS] = {0}, hits = 0, others = 0;
    (void)stage;
    for (uint32_t i = 0; i < set->rows; i++, header_at += step) {
        memcpy(&header, header_at, sizeof(header));
        uint32_t value_bytes = (uint32_t)(header >> 32);
        of_op[header & 0xffff]++;
        hits += header >> 16 & 1;
        others += !belongs(by_row ? header_at + KVC_DIDO_REAL_HEADER_BYTES : value, value_bytes,
                           batch->hash[set->first + i]);
        value += value_bytes;
    }
    counts->hits += hits - others;
    counts->misses += of_op[KVC_MEGAKV_PACKET_GET] - (hits - others);
    counts->sets += of_op[KVC_MEGAKV_PACKET_SET];
    counts->deletes += of_op[KVC_MEGAKV_PACKET_DELETE];
    counts->foreign += others;
    if (bench->store->reads_on_gpu) {
        mark_items(bench, batch, set);
    }
}

void kvc_dido_real_work(struct kvc_dido_real_bench *bench, struct kvc_dido_real_batch *batch, uint32_t set,
                        const struct kvc_dido_stage *stage)
{
    typedef void task_fn(struct kvc_dido_real_bench *, struct kvc_dido_real_batch *,
                         struct kvc_dido_real_set *, const struct kvc_dido_stage *);
    static task_fn *const does[KVC_DIDO_TASKS] = {
        [KVC_DIDO_PP] = process_packets, [KVC_DIDO_MM] = manage_memory,   [KVC_DIDO_SEARCH] = search,
        [KVC_DIDO_INSERT] = insert,      [KVC_DIDO_ERASE] = erase,        [KVC_DIDO_KC] = compare_keys,
        [KVC_DIDO_RD] = read_values,     [KVC_DIDO_WR] = write_responses, [KVC_DIDO_SD] = send,
    };
    uint64_t before = kvc_clock_ticks();
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        if (does[task] == NULL || !kvc_dido_stage_has(stage, (enum kvc_dido_task)task)) {
            continue;
        }
        does[task](bench, batch, &batch->set[set], stage);
        uint64_t after = kvc_clock_ticks();
        bench->counts.task_ticks[task] += after - before;
        before = after;
    }
}
