#include "kernels/kvdirect/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/kvdirect/table_internal.h"
#include "kernels/pages.h"

void kvc_kvdirect_table_add_access(struct kvc_kvdirect_table_trace *trace, uint64_t line, uint32_t bytes,
                                   bool write)
{
    if (trace->count == trace->capacity) {
        uint32_t capacity = trace->capacity > 0 ? 2 * trace->capacity : 64;
        void *larger = realloc(trace->access, capacity * sizeof(*trace->access));
        trace->short_of_memory |= larger == NULL;
        if (larger == NULL) {
            return;
        }
        trace->access = larger;
        trace->capacity = capacity;
    }
    trace->access[trace->count++] =
        (struct kvc_kvdirect_table_access){(uint32_t)line, (uint16_t)bytes, write, trace->operation};
}

uint32_t kvc_kvdirect_table_allocate(struct kvc_kvdirect_table *table, unsigned type,
                                     struct kvc_kvdirect_slab_stats *stats)
{
    if (table->slab == NULL || table->exhausted_at[type] == table->released + 1) {
        return KVC_KVDIRECT_SLAB_NONE;
    }
    uint32_t granule = kvc_kvdirect_slab_alloc(table->slab, type, stats);
    if (granule == KVC_KVDIRECT_SLAB_NONE && kvc_kvdirect_slab_daemon(table->slab, stats)) {
        granule = kvc_kvdirect_slab_alloc(table->slab, type, stats);
    }
    if (granule == KVC_KVDIRECT_SLAB_NONE) {
        kvc_kvdirect_slab_recall(table->slab, stats);
        kvc_kvdirect_slab_daemon(table->slab, stats);
        granule = kvc_kvdirect_slab_alloc(table->slab, type, stats);
    }
    if (granule == KVC_KVDIRECT_SLAB_NONE) {
        table->exhausted_at[type] = table->released + 1;
    }
    return granule;
}

void kvc_kvdirect_table_release(struct kvc_kvdirect_table *table, uint32_t granule, unsigned type,
                                struct kvc_kvdirect_slab_stats *stats)
{
    kvc_kvdirect_slab_release(table->slab, granule, type, stats);
    table->released++;
}

bool kvc_kvdirect_table_find_in_slabs(const struct kvc_kvdirect_table *table,
                                      struct kvc_kvdirect_bucket *bucket,
                                      const struct kvc_kvdirect_bucket_meta *meta,
                                      const struct kvc_kvdirect_key *key, struct kvc_kvdirect_place *place,
                                      struct kvc_kvdirect_table_counts *counts, uint64_t *false_matches)
{
    uint32_t equal = kvc_kvdirect_bucket_match_pointers(bucket, meta, kvc_kvdirect_secondary_of(key->hash));
    for (; equal != 0; equal &= equal - 1) {
        unsigned slot = (unsigned)__builtin_ctz(equal);
        uint32_t granule = kvc_kvdirect_bucket_pointer_at(bucket, slot);
        unsigned type = kvc_kvdirect_bucket_slab_type_at(meta, slot);
        uint8_t *slab = kvc_kvdirect_slab_at(table, granule);
        uint32_t used = kvc_kvdirect_slab_bytes(type) - slab[1];
        kvc_kvdirect_note(table, slab, kvc_kvdirect_slab_bytes(type), false);
        counts->slab_reads++;
        counts->slab_lines_read += kvc_kvdirect_lines_of(used);
        counts->lines += kvc_kvdirect_lines_of(used);
        uint8_t *pair = slab + KVC_KVDIRECT_TABLE_HEADER_BYTES;
        if (slab[0] == key->size && memcmp(pair, key->bytes, key->size) == 0) {
            place->slot = slot;
            place->slots = 1;
            place->value_bytes = used - KVC_KVDIRECT_TABLE_HEADER_BYTES - key->size;
            place->value = pair + key->size;
            place->granule = granule;
            place->type = type;
            return true;
        }
        ++*false_matches;
    }
    return false;
}

/* --- operations on one key --- */

static void run_get(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                    const struct kvc_kvdirect_key *key, struct kvc_kvdirect_table_stats *stats)
{
    struct kvc_kvdirect_place place = kvc_kvdirect_find(table, key, 0, &stats->get, &stats->false_matches);
    stats->get.operations++;
    if (place.bucket == NULL) {
        op->result = KVC_KVDIRECT_TABLE_ABSENT;
        return;
    }
    stats->get.found++;
    op->result = place.value_bytes <= op->value_bytes ? KVC_KVDIRECT_TABLE_OK : KVC_KVDIRECT_TABLE_SIZE;
    op->value_bytes = (uint16_t)place.value_bytes;
    if (op->result == KVC_KVDIRECT_TABLE_OK && place.value_bytes > 0) {
        memcpy(op->value, place.value, place.value_bytes);
    }
}

void kvc_kvdirect_table_write_slab(const struct kvc_kvdirect_table *table, const struct kvc_kvdirect_put *put,
                                   struct kvc_kvdirect_table_counts *counts)
{
    const struct kvc_kvdirect_key *key = put->key;
    uint8_t *slab = kvc_kvdirect_slab_at(table, put->granule);
    uint32_t used = KVC_KVDIRECT_TABLE_HEADER_BYTES + key->size + put->value_bytes;
    slab[0] = (uint8_t)key->size;
    slab[1] = (uint8_t)(kvc_kvdirect_slab_bytes(put->type) - used);
    memcpy(slab + KVC_KVDIRECT_TABLE_HEADER_BYTES, key->bytes, key->size);
    if (put->value_bytes > 0) {
        memcpy(slab + KVC_KVDIRECT_TABLE_HEADER_BYTES + key->size, put->value, put->value_bytes);
    }
    kvc_kvdirect_count_slab_write(table, slab, used, counts);
}

/* Appends an empty bucket to the chain whose last bucket is `last`; returns NULL if there is no memory. Two
 * writes result: the write of `last` is counted here, and the write of the new bucket when the caller makes
 * it. */
static struct kvc_kvdirect_bucket *append_bucket(struct kvc_kvdirect_table *table,
                                                 struct kvc_kvdirect_bucket *last,
                                                 struct kvc_kvdirect_table_counts *counts,
                                                 struct kvc_kvdirect_slab_stats *stats)
{
    uint32_t granule = kvc_kvdirect_table_allocate(table, KVC_KVDIRECT_TABLE_BUCKET_TYPE, stats);
    if (granule == KVC_KVDIRECT_SLAB_NONE) {
        return NULL;
    }
    struct kvc_kvdirect_bucket *bucket = kvc_kvdirect_bucket_at(table, granule);
    memset(bucket, 0, sizeof(*bucket));
    struct kvc_kvdirect_bucket_meta meta = kvc_kvdirect_bucket_load_meta(last);
    meta.chain = granule;
    kvc_kvdirect_write_bucket(table, last, &meta, counts);
    counts->lines++;
    return bucket;
}

/* Continues the search for room after the bucket that has the key, if there was none up to it. */
static void find_room_behind(const struct kvc_kvdirect_table *table, struct kvc_kvdirect_place *place,
                             uint32_t need, struct kvc_kvdirect_table_counts *counts)
{
    struct kvc_kvdirect_bucket_meta meta = place->meta;
    while (place->room == NULL && meta.chain != 0) {
        place->last = kvc_kvdirect_bucket_at(table, meta.chain);
        meta = kvc_kvdirect_bucket_load_meta(place->last);
        kvc_kvdirect_count_read(table, place->last, false, counts);
        if (kvc_kvdirect_bucket_has_room(&meta, need)) {
            place->room = place->last;
        }
    }
}

/* Returns the bucket that the pair goes to: the old bucket of its key if the pair fits there, else the first
 * with room. Returns NULL if a bucket must be appended. */
static struct kvc_kvdirect_bucket *choose_bucket(const struct kvc_kvdirect_table *table,
                                                 const struct kvc_kvdirect_put *put,
                                                 struct kvc_kvdirect_place *place,
                                                 struct kvc_kvdirect_table_counts *counts)
{
    if (place->bucket == NULL) {
        return place->room;
    }
    struct kvc_kvdirect_bucket_meta without = place->meta;
    kvc_kvdirect_bucket_clear(&without, place->slot, place->slots);
    if (kvc_kvdirect_bucket_has_room(&without, put->slots)) {
        return place->bucket;
    }
    find_room_behind(table, place, put->slots, counts);
    return place->room;
}

static void set_pair(struct kvc_kvdirect_bucket *bucket, struct kvc_kvdirect_bucket_meta *meta,
                     const struct kvc_kvdirect_put *put)
{
    unsigned slot = kvc_kvdirect_bucket_make_room(bucket, meta, put->slots);
    if (put->inlined) {
        kvc_kvdirect_bucket_set_inline(bucket, meta, slot, put->key->bytes, put->key->size, put->value,
                                       put->value_bytes);
    } else {
        kvc_kvdirect_bucket_set_pointer(bucket, meta, slot, put->granule,
                                        kvc_kvdirect_secondary_of(put->key->hash), put->type);
    }
}

bool kvc_kvdirect_table_put_elsewhere(struct kvc_kvdirect_table *table, struct kvc_kvdirect_put *put,
                                      struct kvc_kvdirect_place *place,
                                      struct kvc_kvdirect_table_counts *counts,
                                      struct kvc_kvdirect_slab_stats *stats)
{
    if (!put->inlined) {
        put->granule = kvc_kvdirect_table_allocate(table, put->type, stats);
        if (put->granule == KVC_KVDIRECT_SLAB_NONE) {
            return false;
        }
    }
    struct kvc_kvdirect_bucket *target = choose_bucket(table, put, place, counts);
    bool appended = target == NULL;
    if (appended) {
        target = append_bucket(table, place->last, counts, stats);
        if (target == NULL) {
            if (!put->inlined) {
                kvc_kvdirect_table_release(table, put->granule, put->type, stats);
            }
            return false;
        }
    }
    if (!put->inlined) {
        kvc_kvdirect_table_write_slab(table, put, counts);
        counts->lines +=
            kvc_kvdirect_lines_of(KVC_KVDIRECT_TABLE_HEADER_BYTES + put->key->size + put->value_bytes);
    }
    if (place->bucket != NULL) {
        if (place->granule != 0) {
            kvc_kvdirect_table_release(table, place->granule, place->type, stats);
        }
        struct kvc_kvdirect_bucket_meta meta = kvc_kvdirect_bucket_load_meta(place->bucket);
        kvc_kvdirect_bucket_clear(&meta, place->slot, place->slots);
        if (target == place->bucket) {
            set_pair(target, &meta, put);
            kvc_kvdirect_write_bucket(table, target, &meta, counts);
            return true;
        }
        if (appended && place->last == place->bucket) {
            kvc_kvdirect_bucket_store_meta(place->bucket, &meta); /* append_bucket has counted this write */
        } else {
            kvc_kvdirect_write_bucket(table, place->bucket, &meta, counts);
        }
    }
    struct kvc_kvdirect_bucket_meta meta = kvc_kvdirect_bucket_load_meta(target);
    set_pair(target, &meta, put);
    kvc_kvdirect_write_bucket(table, target, &meta, counts);
    return true;
}

static void run_put(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                    const struct kvc_kvdirect_key *key, struct kvc_kvdirect_table_stats *stats)
{
    uint32_t bytes = key->size + op->value_bytes;
    stats->put.operations++;
    if (key->size == 0 || bytes > KVC_KVDIRECT_TABLE_PAIR_MAX) {
        op->result = KVC_KVDIRECT_TABLE_SIZE;
        return;
    }
    bool inlined = bytes <= table->inline_bytes;
    struct kvc_kvdirect_place place = kvc_kvdirect_find(
        table, key, inlined ? kvc_kvdirect_bucket_slots_for(bytes) : 1, &stats->put, &stats->false_matches);
    stats->put.found += place.bucket != NULL;
    bool ok = kvc_kvdirect_put_pair(table, key, op->value, op->value_bytes, inlined, place, &stats->put,
                                    &stats->slab);
    stats->full += !ok;
    op->result = ok ? KVC_KVDIRECT_TABLE_OK : KVC_KVDIRECT_TABLE_FULL;
}

static void run_delete(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                       const struct kvc_kvdirect_key *key, struct kvc_kvdirect_table_stats *stats)
{
    struct kvc_kvdirect_place place = kvc_kvdirect_find(table, key, 0, &stats->erase, &stats->false_matches);
    stats->erase.operations++;
    op->result = place.bucket != NULL ? KVC_KVDIRECT_TABLE_OK : KVC_KVDIRECT_TABLE_ABSENT;
    if (place.bucket != NULL) {
        stats->erase.found++;
        kvc_kvdirect_remove_pair(table, key, place, &stats->erase, &stats->slab);
    }
}

/* Updates a value and sets the result of the operation. Returns true if the value has changed. */
static bool update_value(struct kvc_kvdirect_table_op *op, uint8_t *value, uint32_t value_bytes)
{
    op->result = KVC_KVDIRECT_TABLE_OK;
    if (op->verb == KVC_KVDIRECT_TABLE_APPLY) {
        return op->apply(op->data, value, value_bytes);
    }
    if (value_bytes != sizeof(op->original)) {
        op->result = KVC_KVDIRECT_TABLE_UNEQUAL;
        return false;
    }
    op->original = kvc_kvdirect_load64(value);
    if (op->verb == KVC_KVDIRECT_TABLE_SWAP && op->original != op->expected) {
        op->result = KVC_KVDIRECT_TABLE_UNEQUAL;
        return false;
    }
    kvc_kvdirect_store64(value,
                         op->verb == KVC_KVDIRECT_TABLE_ADD ? op->original + op->operand : op->operand);
    return true;
}

static void run_update(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                       const struct kvc_kvdirect_key *key, struct kvc_kvdirect_table_stats *stats)
{
    struct kvc_kvdirect_table_counts *counts = &stats->update;
    struct kvc_kvdirect_place place = kvc_kvdirect_find(table, key, 0, counts, &stats->false_matches);
    counts->operations++;
    if (place.bucket == NULL) {
        op->result = KVC_KVDIRECT_TABLE_ABSENT;
        return;
    }
    counts->found++;
    if (!update_value(op, place.value, place.value_bytes)) {
        return;
    }
    if (place.granule == 0) {
        kvc_kvdirect_write_bucket(table, place.bucket, &place.meta, counts);
    } else {
        uint32_t used = KVC_KVDIRECT_TABLE_HEADER_BYTES + key->size + place.value_bytes;
        kvc_kvdirect_count_slab_write(table, kvc_kvdirect_slab_at(table, place.granule), used, counts);
    }
}

/* --- batches --- */

/* The memory that an operation will need after its first bucket. */
struct second {
    const uint8_t *start; /* First byte. */
    uint32_t bytes;       /* Size, of which only the number of lines matters [bytes]. */
};

/* Guesses from the first bucket: the slab of a pointer that may be the key's, or the next bucket if the pair
 * is not in this one, else the first bucket again. There is no branch on where the pair is, because it would
 * often be mispredicted. */
KVC_KVDIRECT_INLINE struct second second_of(const struct kvc_kvdirect_table *table,
                                            const struct kvc_kvdirect_key *key)
{
    struct kvc_kvdirect_bucket *bucket = kvc_kvdirect_first_bucket(table, key->hash);
    struct kvc_kvdirect_bucket_meta meta = kvc_kvdirect_bucket_load_meta(bucket);
    if (meta.pointers) {
        uint32_t equal =
            kvc_kvdirect_bucket_match_pointers(bucket, &meta, kvc_kvdirect_secondary_of(key->hash));
        if (equal != 0) {
            unsigned slot = (unsigned)__builtin_ctz(equal);
            return (struct second){kvc_kvdirect_slab_at(table, kvc_kvdirect_bucket_pointer_at(bucket, slot)),
                                   kvc_kvdirect_slab_bytes(kvc_kvdirect_bucket_slab_type_at(&meta, slot))};
        }
    }
    bool here = kvc_kvdirect_match_inline(bucket, &meta, key) != 0;
    uintptr_t second = (uintptr_t)kvc_kvdirect_bucket_at(table, meta.chain);
    uintptr_t mask = -(uintptr_t)((!here) & (meta.chain != 0));
    return (struct second){(const uint8_t *)((second & mask) | ((uintptr_t)bucket & ~mask)), 1};
}

KVC_KVDIRECT_INLINE void prefetch_seconds(const struct second *second, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        __builtin_prefetch(second[i].start);
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t at = KVC_KVDIRECT_TABLE_BUCKET_BYTES; at < second[i].bytes;
             at += KVC_KVDIRECT_TABLE_BUCKET_BYTES) {
            __builtin_prefetch(second[i].start + at);
        }
    }
}

static void run_one(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                    const struct kvc_kvdirect_key *key, struct kvc_kvdirect_table_stats *stats)
{
    switch ((enum kvc_kvdirect_table_verb)op->verb) {
    case KVC_KVDIRECT_TABLE_GET:
        run_get(table, op, key, stats);
        break;
    case KVC_KVDIRECT_TABLE_PUT:
        run_put(table, op, key, stats);
        break;
    case KVC_KVDIRECT_TABLE_DELETE:
        run_delete(table, op, key, stats);
        break;
    case KVC_KVDIRECT_TABLE_ADD:
    case KVC_KVDIRECT_TABLE_SWAP:
    case KVC_KVDIRECT_TABLE_APPLY:
        run_update(table, op, key, stats);
        break;
    }
}

void kvc_kvdirect_table_prefetch(const struct kvc_kvdirect_table *table, const uint64_t *hash, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        __builtin_prefetch(kvc_kvdirect_first_bucket(table, hash[i]));
    }
}

void kvc_kvdirect_table_run_hashed(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                                   uint64_t hash, struct kvc_kvdirect_table_stats *stats)
{
    struct kvc_kvdirect_key key = kvc_kvdirect_make_key(op->key, op->key_bytes, hash);
    if (__builtin_expect(table->trace != NULL, 1)) {
        table->trace->operation = 0;
    }
    run_one(table, op, &key, stats);
}

/* Keys pass three stages, each a group ahead of the next: prefetch the first bucket, prefetch what it points
 * to, run the operation. */
void kvc_kvdirect_table_run(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                            uint32_t count, struct kvc_kvdirect_table_stats *stats)
{
    struct kvc_kvdirect_key ring[KVC_KVDIRECT_TABLE_RING];
    uint64_t hashed = 0, asked = 0;
    for (uint64_t done = 0; done < count;) {
        uint64_t start = hashed;
        for (; hashed < kvc_kvdirect_least(done + 3 * KVC_KVDIRECT_TABLE_GROUP, count); hashed++) {
            uint64_t hash = kvc_hash(op[hashed].key, op[hashed].key_bytes, table->seed);
            ring[hashed % KVC_KVDIRECT_TABLE_RING] =
                kvc_kvdirect_make_key(op[hashed].key, op[hashed].key_bytes, hash);
        }
        for (uint64_t i = start; i < hashed; i++) {
            __builtin_prefetch(kvc_kvdirect_first_bucket(table, ring[i % KVC_KVDIRECT_TABLE_RING].hash));
        }
        struct second second[2 * KVC_KVDIRECT_TABLE_GROUP];
        uint32_t seconds = 0;
        for (; asked < kvc_kvdirect_least(done + 2 * KVC_KVDIRECT_TABLE_GROUP, count); asked++) {
            second[seconds++] = second_of(table, &ring[asked % KVC_KVDIRECT_TABLE_RING]);
        }
        prefetch_seconds(second, seconds);
        for (uint64_t end = kvc_kvdirect_least(done + KVC_KVDIRECT_TABLE_GROUP, count); done < end; done++) {
            if (__builtin_expect(table->trace != NULL, 0)) {
                table->trace->operation = (uint32_t)done;
            }
            run_one(table, &op[done], &ring[done % KVC_KVDIRECT_TABLE_RING], stats);
        }
    }
}

/* --- geometry, create and free --- */

uint64_t kvc_kvdirect_table_index_bytes(const struct kvc_kvdirect_table_params *params)
{
    const uint64_t block_bytes = KVC_KVDIRECT_SLAB_BLOCK_GRANULES * KVC_KVDIRECT_SLAB_GRANULE_BYTES;
    uint64_t blocks = (uint64_t)(params->hash_index_frac * (double)(params->bytes / block_bytes) + 0.5);
    return (blocks > 0 ? blocks : 1) * block_bytes;
}

/* Returns the capacity of a table with this geometry; see kvc_kvdirect_table_capacity. */
static uint64_t capacity(uint64_t bytes, uint64_t buckets, uint32_t inline_bytes, uint32_t pair_bytes)
{
    if (pair_bytes == 0 || pair_bytes > KVC_KVDIRECT_TABLE_PAIR_MAX) {
        return 0;
    }
    uint64_t slab_bytes = bytes - buckets * KVC_KVDIRECT_TABLE_BUCKET_BYTES;
    if (pair_bytes <= inline_bytes) {
        uint64_t per_bucket = KVC_KVDIRECT_BUCKET_SLOTS / kvc_kvdirect_bucket_slots_for(pair_bytes);
        return bytes / KVC_KVDIRECT_TABLE_BUCKET_BYTES * per_bucket;
    }
    uint64_t each =
        kvc_kvdirect_slab_bytes(kvc_kvdirect_slab_type(pair_bytes + KVC_KVDIRECT_TABLE_HEADER_BYTES));
    uint64_t index_slots = buckets * KVC_KVDIRECT_BUCKET_SLOTS;
    if (slab_bytes / each <= index_slots) {
        return slab_bytes / each;
    }
    /* Each further pair takes a slab and a tenth of a chained bucket. */
    uint64_t left = slab_bytes - index_slots * each;
    return index_slots + left * KVC_KVDIRECT_BUCKET_SLOTS /
                             (KVC_KVDIRECT_BUCKET_SLOTS * each + KVC_KVDIRECT_TABLE_BUCKET_BYTES);
}

uint64_t kvc_kvdirect_table_capacity(const struct kvc_kvdirect_table *table, uint32_t pair_bytes)
{
    return capacity(table->bytes, table->buckets, table->inline_bytes, pair_bytes);
}

uint64_t kvc_kvdirect_table_index_buckets_of(const struct kvc_kvdirect_table_params *params)
{
    return kvc_kvdirect_table_index_bytes(params) / KVC_KVDIRECT_TABLE_BUCKET_BYTES;
}

uint64_t kvc_kvdirect_table_capacity_of(const struct kvc_kvdirect_table_params *params, uint32_t pair_bytes)
{
    return capacity(params->bytes, kvc_kvdirect_table_index_bytes(params) / KVC_KVDIRECT_TABLE_BUCKET_BYTES,
                    params->inline_bytes, pair_bytes);
}

void kvc_kvdirect_table_set_trace(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_trace *trace)
{
    table->trace = trace;
}

bool kvc_kvdirect_table_daemon(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_stats *stats)
{
    return table->slab == NULL || kvc_kvdirect_slab_daemon(table->slab, &stats->slab);
}

uint64_t kvc_kvdirect_table_pairs(const struct kvc_kvdirect_table *table)
{
    return table->pairs;
}

uint64_t kvc_kvdirect_table_pair_bytes(const struct kvc_kvdirect_table *table)
{
    return table->pair_bytes;
}

uint64_t kvc_kvdirect_table_bytes(const struct kvc_kvdirect_table *table)
{
    return table->bytes;
}

uint64_t kvc_kvdirect_table_free_slab_bytes(const struct kvc_kvdirect_table *table)
{
    return table->slab == NULL ? 0 : kvc_kvdirect_slab_free_bytes(table->slab);
}

uint64_t kvc_kvdirect_table_index_buckets(const struct kvc_kvdirect_table *table)
{
    return table->buckets;
}

void kvc_kvdirect_table_free(struct kvc_kvdirect_table *table)
{
    if (table != NULL) {
        kvc_pages_free(table->memory, table->bytes);
        kvc_kvdirect_slab_free(table->slab);
        free(table);
    }
}

struct kvc_kvdirect_table *kvc_kvdirect_table_create(const struct kvc_kvdirect_table_params *params)
{
    const uint64_t block_bytes = KVC_KVDIRECT_SLAB_BLOCK_GRANULES * KVC_KVDIRECT_SLAB_GRANULE_BYTES;
    uint64_t bytes = params->bytes;
    if (bytes < 1024 || bytes > UINT64_C(64) << 30 || bytes % block_bytes != 0 ||
        !(params->hash_index_frac > 0 && params->hash_index_frac <= 1) ||
        params->inline_bytes > KVC_KVDIRECT_TABLE_INLINE_MAX) {
        errno = EINVAL;
        return NULL;
    }
    struct kvc_kvdirect_table *table = calloc(1, sizeof(*table));
    if (table == NULL) {
        return NULL;
    }
    uint64_t index_bytes = kvc_kvdirect_table_index_bytes(params);
    *table = (struct kvc_kvdirect_table){.index = {&kvc_kvdirect_table_index_ops},
                                         .bytes = bytes,
                                         .buckets = index_bytes / KVC_KVDIRECT_TABLE_BUCKET_BYTES,
                                         .inline_bytes = params->inline_bytes,
                                         .seed = params->seed};
    table->memory = kvc_pages_alloc(bytes);
    bool ok = table->memory != NULL;
    if (ok && index_bytes < bytes) {
        table->slab = kvc_kvdirect_slab_create(&(struct kvc_kvdirect_slab_params){
            .first_granule = index_bytes / KVC_KVDIRECT_SLAB_GRANULE_BYTES, .bytes = bytes - index_bytes});
        ok = table->slab != NULL;
    }
    if (!ok) {
        kvc_kvdirect_table_free(table);
        errno = ENOMEM;
        return NULL;
    }
    return table;
}
