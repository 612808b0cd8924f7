#include "kernels/kvdirect/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/kvdirect/bucket.h"
#include "kernels/pages.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    /* Operations asked for together, in a loop of nothing else: spread over the work between them, the
     * prefetches' address translations would hardly overlap. Few enough for a core's line fill buffers. */
    GROUP = 16,
    RING = 4 * GROUP, /* keys of three groups, on their way through the stages */
    HEADER_BYTES = 2, /* of a slab pair: key size, unused bytes */
    BUCKET_TYPE = 1,  /* slab type of a chained bucket */
    TYPES = KVC_KVDIRECT_SLAB_TYPES,
};

struct kvc_kvdirect_table {
    struct kvc_index index;
    uint8_t *memory; /* the index's buckets, then the slabs */
    uint64_t bytes;
    uint64_t buckets; /* of the index */
    uint32_t inline_bytes;
    uint64_t seed;
    struct kvc_kvdirect_slab *slab;         /* NULL: the index takes all memory */
    struct kvc_kvdirect_table_trace *trace; /* NULL: nobody wants to know */
    uint64_t pairs, pair_bytes;
    uint64_t released;            /* slabs, ever */
    uint64_t exhausted_at[TYPES]; /* `released` + 1 when this type last ran out */
};

struct key {
    const uint8_t *bytes;
    uint32_t size;
    uint64_t hash;
    uint64_t prefix, mask; /* its first 8 bytes, or all */
};

/* Where a key is, or where its pair may go. */
struct place {
    struct kvc_kvdirect_table_bucket *bucket; /* has the key; NULL: absent */
    struct kvc_kvdirect_table_bucket
        *before;                         /* the one whose chain pointer points to it; NULL: of the index */
    struct kvc_kvdirect_table_meta meta; /* of `bucket`, or of `last` if absent */
    unsigned slot;
    uint32_t slots;
    uint32_t value_bytes;
    uint8_t *value;
    uint32_t granule; /* of its slab; 0: inline */
    unsigned type;
    struct kvc_kvdirect_table_bucket *room; /* first bucket seen with enough free slots; NULL: none */
    struct kvc_kvdirect_table_bucket *last; /* seen */
};

ALWAYS_INLINE struct key make_key(const void *bytes, uint32_t size, uint64_t hash)
{
    struct key key = {.bytes = bytes, .size = size, .hash = hash};
    uint8_t start[8] = {0};
    memcpy(start, bytes, size < 8 ? size : 8);
    key.prefix = kvc_kvdirect_table_load64(start);
    key.mask = size < 8 ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX;
    return key;
}

ALWAYS_INLINE struct kvc_kvdirect_table_bucket *bucket_at(const struct kvc_kvdirect_table *table,
                                                          uint64_t granule)
{
    return (struct kvc_kvdirect_table_bucket *)(table->memory + granule * KVC_KVDIRECT_TABLE_GRANULE_BYTES);
}

ALWAYS_INLINE uint8_t *slab_at(const struct kvc_kvdirect_table *table, uint64_t granule)
{
    return table->memory + granule * KVC_KVDIRECT_TABLE_GRANULE_BYTES;
}

ALWAYS_INLINE struct kvc_kvdirect_table_bucket *first_bucket(const struct kvc_kvdirect_table *table,
                                                             uint64_t hash)
{
    uint64_t number = (uint64_t)(uint32_t)hash * table->buckets >> 32;
    return (struct kvc_kvdirect_table_bucket *)table->memory + number;
}

ALWAYS_INLINE uint32_t secondary_of(uint64_t hash)
{
    return (uint32_t)(hash >> 55);
}

ALWAYS_INLINE uint64_t lines_of(uint32_t bytes)
{
    return (bytes + KVC_KVDIRECT_TABLE_BUCKET_BYTES - 1) / KVC_KVDIRECT_TABLE_BUCKET_BYTES;
}

ALWAYS_INLINE bool in_index(const struct kvc_kvdirect_table *table,
                            const struct kvc_kvdirect_table_bucket *bucket)
{
    return (uint64_t)(bucket - (const struct kvc_kvdirect_table_bucket *)table->memory) < table->buckets;
}

static __attribute__((noinline)) void add_access(struct kvc_kvdirect_table_trace *trace, uint64_t line,
                                                 uint32_t bytes, bool write)
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

ALWAYS_INLINE void note(const struct kvc_kvdirect_table *table, const void *start, uint32_t bytes, bool write)
{
    if (__builtin_expect(table->trace != NULL, 0)) {
        uint64_t offset = (uint64_t)((const uint8_t *)start - table->memory);
        add_access(table->trace, offset / KVC_KVDIRECT_TABLE_BUCKET_BYTES, bytes, write);
    }
}

ALWAYS_INLINE void count_read(const struct kvc_kvdirect_table *table,
                              const struct kvc_kvdirect_table_bucket *bucket, bool index,
                              struct kvc_kvdirect_table_counts *counts)
{
    note(table, bucket, KVC_KVDIRECT_TABLE_BUCKET_BYTES, false);
    counts->index_reads += index;
    counts->chain_reads += !index;
    counts->lines++;
}

/* Stores a bucket's metadata: its line goes to memory. */
ALWAYS_INLINE void write_bucket(const struct kvc_kvdirect_table *table,
                                struct kvc_kvdirect_table_bucket *bucket,
                                const struct kvc_kvdirect_table_meta *meta,
                                struct kvc_kvdirect_table_counts *counts)
{
    kvc_kvdirect_table_meta_store(bucket, meta);
    note(table, bucket, KVC_KVDIRECT_TABLE_BUCKET_BYTES, true);
    bool index = in_index(table, bucket);
    counts->index_writes += index;
    counts->chain_writes += !index;
}

/* First slots of the inline pairs that begin with the key's first bytes. */
ALWAYS_INLINE uint32_t match_inline(const struct kvc_kvdirect_table_bucket *bucket,
                                    const struct kvc_kvdirect_table_meta *meta, const struct key *key)
{
    return kvc_kvdirect_table_match(bucket, key->prefix, key->mask) & meta->begin;
}

/* The pair of this key in one bucket; false: not there. */
ALWAYS_INLINE bool find_inline(struct kvc_kvdirect_table_bucket *bucket,
                               const struct kvc_kvdirect_table_meta *meta, const struct key *key,
                               struct place *place)
{
    uint32_t equal = match_inline(bucket, meta, key);
    for (; equal != 0; equal &= equal - 1) {
        unsigned slot = (unsigned)__builtin_ctz(equal);
        struct kvc_kvdirect_table_inline pair = kvc_kvdirect_table_inline_at(meta, slot);
        uint8_t *bytes = kvc_kvdirect_table_slot(bucket, slot);
        if (pair.key_bytes == key->size &&
            (key->size <= 8 || memcmp(bytes + 8, key->bytes + 8, key->size - 8) == 0)) {
            place->slot = slot;
            place->slots = pair.slots;
            place->value_bytes = pair.value_bytes;
            place->value = bytes + key->size;
            place->granule = 0;
            return true;
        }
    }
    return false;
}

static __attribute__((noinline)) bool
find_slab(const struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_bucket *bucket,
          const struct kvc_kvdirect_table_meta *meta, const struct key *key, struct place *place,
          struct kvc_kvdirect_table_counts *counts, uint64_t *false_matches)
{
    uint32_t equal = kvc_kvdirect_table_match_pointers(bucket, meta, secondary_of(key->hash));
    for (; equal != 0; equal &= equal - 1) {
        unsigned slot = (unsigned)__builtin_ctz(equal);
        uint32_t granule = kvc_kvdirect_table_pointer_at(bucket, slot);
        unsigned type = kvc_kvdirect_slab_type_at(meta, slot);
        uint8_t *slab = slab_at(table, granule);
        uint32_t used = kvc_kvdirect_slab_bytes(type) - slab[1];
        note(table, slab, kvc_kvdirect_slab_bytes(type), false);
        counts->slab_reads++;
        counts->slab_lines_read += lines_of(used);
        counts->lines += lines_of(used);
        if (slab[0] == key->size && memcmp(slab + HEADER_BYTES, key->bytes, key->size) == 0) {
            place->slot = slot;
            place->slots = 1;
            place->value_bytes = used - HEADER_BYTES - key->size;
            place->value = slab + HEADER_BYTES + key->size;
            place->granule = granule;
            place->type = type;
            return true;
        }
        ++*false_matches;
    }
    return false;
}

/* Goes along the chain up to the key or to the end. `need`: slots that `room` must have. */
ALWAYS_INLINE struct place find(const struct kvc_kvdirect_table *table, const struct key *key, uint32_t need,
                                struct kvc_kvdirect_table_counts *counts, uint64_t *false_matches)
{
    struct place place = {.bucket = NULL};
    struct kvc_kvdirect_table_bucket *bucket = first_bucket(table, key->hash);
    for (;;) {
        place.meta = kvc_kvdirect_table_meta_load(bucket);
        count_read(table, bucket, place.last == NULL, counts);
        bool found = find_inline(bucket, &place.meta, key, &place);
        if (!found && place.meta.pointers) {
            struct place in_slab = place; /* a copy, so that what is common stays in registers */
            found = find_slab(table, bucket, &in_slab.meta, key, &in_slab, counts, false_matches);
            place = in_slab;
        }
        if (found) {
            place.bucket = bucket;
            place.before = place.last;
            place.last = bucket;
            return place;
        }
        if (need != 0 && place.room == NULL && kvc_kvdirect_table_has_room(&place.meta, need)) {
            place.room = bucket;
        }
        place.last = bucket;
        if (place.meta.chain == 0) {
            return place;
        }
        bucket = bucket_at(table, place.meta.chain);
    }
}

/* A slab, with the daemon's help; KVC_KVDIRECT_SLAB_NONE: there is none, and was none since the last slab
 * was released. */
static uint32_t allocate(struct kvc_kvdirect_table *table, unsigned type,
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

static void release(struct kvc_kvdirect_table *table, uint32_t granule, unsigned type,
                    struct kvc_kvdirect_slab_stats *stats)
{
    kvc_kvdirect_slab_release(table->slab, granule, type, stats);
    table->released++;
}

/* Bytes and lines of a pair that goes into a slab. */
static void write_slab(const struct kvc_kvdirect_table *table, uint32_t granule, unsigned type,
                       const struct key *key, const void *value, uint32_t value_bytes,
                       struct kvc_kvdirect_table_counts *counts)
{
    uint8_t *slab = slab_at(table, granule);
    uint32_t used = HEADER_BYTES + key->size + value_bytes;
    slab[0] = (uint8_t)key->size;
    slab[1] = (uint8_t)(kvc_kvdirect_slab_bytes(type) - used);
    memcpy(slab + HEADER_BYTES, key->bytes, key->size);
    if (value_bytes > 0) {
        memcpy(slab + HEADER_BYTES + key->size, value, value_bytes);
    }
    note(table, slab, used, true);
    counts->slab_writes++;
    counts->slab_lines_written += lines_of(used);
}

/* Adds an empty bucket behind the last one; NULL: no memory. Both are then written by the caller's last
 * write_bucket (the new one) and here. */
static struct kvc_kvdirect_table_bucket *append_bucket(struct kvc_kvdirect_table *table,
                                                       struct kvc_kvdirect_table_bucket *last,
                                                       struct kvc_kvdirect_table_counts *counts,
                                                       struct kvc_kvdirect_slab_stats *stats)
{
    uint32_t granule = allocate(table, BUCKET_TYPE, stats);
    if (granule == KVC_KVDIRECT_SLAB_NONE) {
        return NULL;
    }
    struct kvc_kvdirect_table_bucket *bucket = bucket_at(table, granule);
    memset(bucket, 0, sizeof(*bucket));
    struct kvc_kvdirect_table_meta meta = kvc_kvdirect_table_meta_load(last);
    meta.chain = granule;
    write_bucket(table, last, &meta, counts);
    counts->lines++;
    return bucket;
}

/* Room behind the bucket that has the key, if there was none up to it. */
static void find_room_behind(const struct kvc_kvdirect_table *table, struct place *place, uint32_t need,
                             struct kvc_kvdirect_table_counts *counts)
{
    struct kvc_kvdirect_table_meta meta = place->meta;
    while (place->room == NULL && meta.chain != 0) {
        place->last = bucket_at(table, meta.chain);
        meta = kvc_kvdirect_table_meta_load(place->last);
        count_read(table, place->last, false, counts);
        if (kvc_kvdirect_table_has_room(&meta, need)) {
            place->room = place->last;
        }
    }
}

struct put {
    const struct key *key;
    const void *value;
    uint32_t value_bytes;
    bool inlined;
    uint32_t slots;
    unsigned type;    /* of its slab */
    uint32_t granule; /* of its slab, once it has one */
};

static void set_pair(struct kvc_kvdirect_table_bucket *bucket, struct kvc_kvdirect_table_meta *meta,
                     const struct put *put)
{
    unsigned slot = kvc_kvdirect_table_make_room(bucket, meta, put->slots);
    if (put->inlined) {
        kvc_kvdirect_table_set_inline(bucket, meta, slot, put->key->bytes, put->key->size, put->value,
                                      put->value_bytes);
    } else {
        kvc_kvdirect_table_set_pointer(bucket, meta, slot, put->granule, secondary_of(put->key->hash),
                                       put->type);
    }
}

/* Puts the pair into the bucket with room, or into a new one, and takes the old pair away. */
static __attribute__((noinline)) bool put_elsewhere(struct kvc_kvdirect_table *table, struct put *put,
                                                    struct place *place,
                                                    struct kvc_kvdirect_table_counts *counts,
                                                    struct kvc_kvdirect_slab_stats *stats)
{
    if (!put->inlined) {
        put->granule = allocate(table, put->type, stats);
        if (put->granule == KVC_KVDIRECT_SLAB_NONE) {
            return false;
        }
    }
    struct kvc_kvdirect_table_bucket *target = place->room;
    if (place->bucket != NULL) {
        struct kvc_kvdirect_table_meta without = place->meta;
        kvc_kvdirect_table_clear(&without, place->slot, place->slots);
        if (kvc_kvdirect_table_has_room(&without, put->slots)) {
            target = place->bucket;
        } else {
            find_room_behind(table, place, put->slots, counts);
            target = place->room;
        }
    }
    bool appended = target == NULL;
    if (appended) {
        target = append_bucket(table, place->last, counts, stats);
        if (target == NULL) {
            if (!put->inlined) {
                release(table, put->granule, put->type, stats);
            }
            return false;
        }
    }
    if (!put->inlined) {
        write_slab(table, put->granule, put->type, put->key, put->value, put->value_bytes, counts);
        counts->lines += lines_of(HEADER_BYTES + put->key->size + put->value_bytes);
    }
    if (place->bucket != NULL) {
        if (place->granule != 0) {
            release(table, place->granule, place->type, stats);
        }
        struct kvc_kvdirect_table_meta meta = kvc_kvdirect_table_meta_load(place->bucket);
        kvc_kvdirect_table_clear(&meta, place->slot, place->slots);
        if (target == place->bucket) {
            set_pair(target, &meta, put);
            write_bucket(table, target, &meta, counts);
            return true;
        }
        bool chained_here = appended && place->last == place->bucket; /* its write is counted already */
        if (chained_here) {
            kvc_kvdirect_table_meta_store(place->bucket, &meta);
        } else {
            write_bucket(table, place->bucket, &meta, counts);
        }
    }
    struct kvc_kvdirect_table_meta meta = kvc_kvdirect_table_meta_load(target);
    set_pair(target, &meta, put);
    write_bucket(table, target, &meta, counts);
    return true;
}

/* False: no memory, nothing changed. */
ALWAYS_INLINE bool put_pair(struct kvc_kvdirect_table *table, const struct key *key, const void *value,
                            uint32_t value_bytes, bool inlined, struct place place,
                            struct kvc_kvdirect_table_counts *counts, struct kvc_kvdirect_slab_stats *stats)
{
    uint32_t bytes = key->size + value_bytes;
    uint32_t slots = inlined ? kvc_kvdirect_table_slots_for(bytes) : 1;
    unsigned type = inlined ? 0 : kvc_kvdirect_slab_type(bytes + HEADER_BYTES);
    bool found = place.bucket != NULL;
    bool same_slots = found && inlined && place.granule == 0 && place.slots == slots;
    if (same_slots || (!found && inlined && place.room != NULL)) {
        struct kvc_kvdirect_table_bucket *target = same_slots ? place.bucket : place.room;
        struct kvc_kvdirect_table_meta meta =
            target == place.last ? place.meta : kvc_kvdirect_table_meta_load(target);
        unsigned slot = same_slots ? place.slot : kvc_kvdirect_table_make_room(target, &meta, slots);
        kvc_kvdirect_table_set_inline(target, &meta, slot, key->bytes, key->size, value, value_bytes);
        write_bucket(table, target, &meta, counts);
    } else if (found && !inlined && place.granule != 0 && place.type == type) {
        write_slab(table, place.granule, type, key, value, value_bytes, counts);
    } else {
        struct put put = {.key = key,
                          .value = value,
                          .value_bytes = value_bytes,
                          .inlined = inlined,
                          .slots = slots,
                          .type = type};
        struct place copy = place;
        if (!put_elsewhere(table, &put, &copy, counts, stats)) {
            return false;
        }
    }
    table->pairs += !found;
    table->pair_bytes += found ? value_bytes - (uint64_t)place.value_bytes : bytes;
    return true;
}

/* Takes away the pair that was found. */
ALWAYS_INLINE void remove_pair(struct kvc_kvdirect_table *table, const struct key *key, struct place place,
                               struct kvc_kvdirect_table_counts *counts,
                               struct kvc_kvdirect_slab_stats *stats)
{
    if (place.granule != 0) {
        release(table, place.granule, place.type, stats);
    }
    kvc_kvdirect_table_clear(&place.meta, place.slot, place.slots);
    if (place.before != NULL && kvc_kvdirect_table_free_slots(&place.meta) == KVC_KVDIRECT_TABLE_ALL_SLOTS) {
        struct kvc_kvdirect_table_meta before = kvc_kvdirect_table_meta_load(place.before);
        uint32_t granule = before.chain;
        before.chain = place.meta.chain;
        write_bucket(table, place.before, &before, counts);
        release(table, granule, BUCKET_TYPE, stats);
    } else {
        write_bucket(table, place.bucket, &place.meta, counts);
    }
    table->pairs--;
    table->pair_bytes -= key->size + place.value_bytes;
}

static void run_get(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op, const struct key *key,
                    struct kvc_kvdirect_table_stats *stats)
{
    struct place place = find(table, key, 0, &stats->get, &stats->false_matches);
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

static void run_put(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op, const struct key *key,
                    struct kvc_kvdirect_table_stats *stats)
{
    uint32_t bytes = key->size + op->value_bytes;
    stats->put.operations++;
    if (key->size == 0 || bytes > KVC_KVDIRECT_TABLE_PAIR_MAX) {
        op->result = KVC_KVDIRECT_TABLE_SIZE;
        return;
    }
    bool inlined = bytes <= table->inline_bytes;
    struct place place = find(table, key, inlined ? kvc_kvdirect_table_slots_for(bytes) : 1, &stats->put,
                              &stats->false_matches);
    stats->put.found += place.bucket != NULL;
    bool ok = put_pair(table, key, op->value, op->value_bytes, inlined, place, &stats->put, &stats->slab);
    stats->full += !ok;
    op->result = ok ? KVC_KVDIRECT_TABLE_OK : KVC_KVDIRECT_TABLE_FULL;
}

static void run_delete(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                       const struct key *key, struct kvc_kvdirect_table_stats *stats)
{
    struct place place = find(table, key, 0, &stats->erase, &stats->false_matches);
    stats->erase.operations++;
    op->result = place.bucket != NULL ? KVC_KVDIRECT_TABLE_OK : KVC_KVDIRECT_TABLE_ABSENT;
    if (place.bucket != NULL) {
        stats->erase.found++;
        remove_pair(table, key, place, &stats->erase, &stats->slab);
    }
}

/* Updates the value; true: it is another one now. */
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
    op->original = kvc_kvdirect_table_load64(value);
    if (op->verb == KVC_KVDIRECT_TABLE_SWAP && op->original != op->expected) {
        op->result = KVC_KVDIRECT_TABLE_UNEQUAL;
        return false;
    }
    kvc_kvdirect_table_store64(value,
                               op->verb == KVC_KVDIRECT_TABLE_ADD ? op->original + op->operand : op->operand);
    return true;
}

static void run_update(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                       const struct key *key, struct kvc_kvdirect_table_stats *stats)
{
    struct kvc_kvdirect_table_counts *counts = &stats->update;
    struct place place = find(table, key, 0, counts, &stats->false_matches);
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
        write_bucket(table, place.bucket, &place.meta, counts);
    } else {
        uint32_t used = HEADER_BYTES + key->size + place.value_bytes;
        note(table, slab_at(table, place.granule), used, true);
        counts->slab_writes++;
        counts->slab_lines_written += lines_of(used);
    }
}

/* What an operation will need behind its first bucket: the slab of a pointer that may be it, or the next
 * bucket if the pair is not in this one, else the first again. Without a branch on where it is. */
struct second {
    const uint8_t *start;
    uint32_t bytes;
};

ALWAYS_INLINE struct second second_of(const struct kvc_kvdirect_table *table, const struct key *key)
{
    struct kvc_kvdirect_table_bucket *bucket = first_bucket(table, key->hash);
    struct kvc_kvdirect_table_meta meta = kvc_kvdirect_table_meta_load(bucket);
    if (meta.pointers) {
        uint32_t equal = kvc_kvdirect_table_match_pointers(bucket, &meta, secondary_of(key->hash));
        if (equal != 0) {
            unsigned slot = (unsigned)__builtin_ctz(equal);
            return (struct second){slab_at(table, kvc_kvdirect_table_pointer_at(bucket, slot)),
                                   kvc_kvdirect_slab_bytes(kvc_kvdirect_slab_type_at(&meta, slot))};
        }
    }
    bool here = match_inline(bucket, &meta, key) != 0;
    uintptr_t second = (uintptr_t)bucket_at(table, meta.chain);
    uintptr_t mask = -(uintptr_t)((!here) & (meta.chain != 0));
    return (struct second){(const uint8_t *)((second & mask) | ((uintptr_t)bucket & ~mask)), 1};
}

ALWAYS_INLINE void prefetch_seconds(const struct second *second, uint32_t count)
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

static uint64_t least(uint64_t left, uint64_t right)
{
    return left < right ? left : right;
}

static void run_one(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op, const struct key *key,
                    struct kvc_kvdirect_table_stats *stats)
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

/* Three stages, each a group ahead of the next: first bucket, second line, operation. */
void kvc_kvdirect_table_run(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                            uint32_t count, struct kvc_kvdirect_table_stats *stats)
{
    struct key ring[RING];
    uint64_t hashed = 0, asked = 0;
    for (uint64_t done = 0; done < count;) {
        uint64_t start = hashed;
        for (; hashed < least(done + 3 * GROUP, count); hashed++) {
            uint64_t hash = kvc_hash(op[hashed].key, op[hashed].key_bytes, table->seed);
            ring[hashed % RING] = make_key(op[hashed].key, op[hashed].key_bytes, hash);
        }
        for (uint64_t i = start; i < hashed; i++) {
            __builtin_prefetch(first_bucket(table, ring[i % RING].hash));
        }
        struct second second[2 * GROUP];
        uint32_t seconds = 0;
        for (; asked < least(done + 2 * GROUP, count); asked++) {
            second[seconds++] = second_of(table, &ring[asked % RING]);
        }
        prefetch_seconds(second, seconds);
        for (uint64_t end = least(done + GROUP, count); done < end; done++) {
            if (__builtin_expect(table->trace != NULL, 0)) {
                table->trace->operation = (uint32_t)done;
            }
            run_one(table, &op[done], &ring[done % RING], stats);
        }
    }
}

void kvc_kvdirect_table_trace(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_trace *trace)
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

/* Whole blocks, so that slabs begin at one. */
static uint64_t index_bytes_of(const struct kvc_kvdirect_table_params *params)
{
    const uint64_t block_bytes = KVC_KVDIRECT_TABLE_BLOCK_GRANULES * KVC_KVDIRECT_TABLE_GRANULE_BYTES;
    uint64_t blocks = (uint64_t)(params->hash_index_frac * (double)(params->bytes / block_bytes) + 0.5);
    return (blocks > 0 ? blocks : 1) * block_bytes;
}

static uint64_t capacity(uint64_t bytes, uint64_t buckets, uint32_t inline_bytes, uint32_t pair_bytes)
{
    if (pair_bytes == 0 || pair_bytes > KVC_KVDIRECT_TABLE_PAIR_MAX) {
        return 0;
    }
    uint64_t slab_bytes = bytes - buckets * KVC_KVDIRECT_TABLE_BUCKET_BYTES;
    if (pair_bytes <= inline_bytes) {
        uint64_t per_bucket = KVC_KVDIRECT_TABLE_SLOTS / kvc_kvdirect_table_slots_for(pair_bytes);
        return bytes / KVC_KVDIRECT_TABLE_BUCKET_BYTES * per_bucket;
    }
    uint64_t each = kvc_kvdirect_slab_bytes(kvc_kvdirect_slab_type(pair_bytes + HEADER_BYTES));
    uint64_t index_slots = buckets * KVC_KVDIRECT_TABLE_SLOTS;
    if (slab_bytes / each <= index_slots) {
        return slab_bytes / each;
    }
    /* Every further pair takes its slab and a tenth of a chained bucket. */
    uint64_t left = slab_bytes - index_slots * each;
    return index_slots + left * KVC_KVDIRECT_TABLE_SLOTS /
                             (KVC_KVDIRECT_TABLE_SLOTS * each + KVC_KVDIRECT_TABLE_BUCKET_BYTES);
}

uint64_t kvc_kvdirect_table_capacity(const struct kvc_kvdirect_table *table, uint32_t pair_bytes)
{
    return capacity(table->bytes, table->buckets, table->inline_bytes, pair_bytes);
}

uint64_t kvc_kvdirect_table_capacity_of(const struct kvc_kvdirect_table_params *params, uint32_t pair_bytes)
{
    return capacity(params->bytes, index_bytes_of(params) / KVC_KVDIRECT_TABLE_BUCKET_BYTES,
                    params->inline_bytes, pair_bytes);
}

enum {
    INDEX_KEY_BYTES = 8,
    INDEX_VALUE_BYTES = 4,
    INDEX_PAIR_BYTES = INDEX_KEY_BYTES + INDEX_VALUE_BYTES,
    INDEX_BEGIN = 1 << 0 | 1 << 3 | 1 << 6, /* three pairs of three slots each */
};

#define LAYOUT_PADDING(slot) (UINT64_C(3) << 3 * (slot))
#define LAYOUT_HIGH(slot)                                                                                    \
    (UINT64_C(8) << 3 * (slot) | UINT64_C(1) << (30 + (slot)) | UINT64_C(1) << (42 + (slot)) |               \
     (LAYOUT_PADDING(slot) >> 17) << 50)
#define LAYOUT(first, second, third)                                                                         \
    [(first) | (second) << 3 |                                                                               \
        (third) << 6] = {((first)*LAYOUT_PADDING(0) | (second)*LAYOUT_PADDING(3)) << 47,                     \
                         (first)*LAYOUT_HIGH(0) | (second)*LAYOUT_HIGH(3) | (third)*LAYOUT_HIGH(6)}

/* The last 16 bytes of a bucket that holds pairs of the index alone, by their beginnings, less slots and
 * chain. All that happens to such a bucket goes from one of these to another. */
static const struct layout {
    uint64_t low, high;
} layouts[INDEX_BEGIN + 1] = {LAYOUT(0, 0, 0), LAYOUT(1, 0, 0), LAYOUT(0, 1, 0), LAYOUT(1, 1, 0),
                              LAYOUT(0, 0, 1), LAYOUT(1, 0, 1), LAYOUT(0, 1, 1), LAYOUT(1, 1, 1)};

static const uint64_t layout_low = UINT64_MAX << 47;

/* What a bucket says of a hash. */
struct probe {
    struct kvc_kvdirect_table_bucket *bucket;
    uint64_t low;
    uint32_t begin;
    uint32_t equal; /* first slot of its pair, as a bit; 0: not here */
    uint32_t chain; /* granule; 0: none */
    bool plain;     /* pairs of the index alone; else nothing but `chain` counts */
};

ALWAYS_INLINE struct probe probe(struct kvc_kvdirect_table_bucket *bucket, uint64_t hash)
{
    uint64_t low = kvc_kvdirect_table_load64(bucket->byte + 48);
    uint64_t high = kvc_kvdirect_table_load64(bucket->byte + 56);
    uint32_t begin = high >> 30 & INDEX_BEGIN;
    uint32_t equal = (uint32_t)(kvc_kvdirect_table_load64(bucket->byte) == hash) |
                     (uint32_t)(kvc_kvdirect_table_load64(bucket->byte + 15) == hash) << 3 |
                     (uint32_t)(kvc_kvdirect_table_load64(bucket->byte + 30) == hash) << 6;
    return (struct probe){
        .bucket = bucket,
        .low = low,
        .begin = begin,
        .equal = equal & begin,
        .chain = low >> 16 & 0x7fffffff,
        .plain = high == layouts[begin].high && (low & layout_low) == layouts[begin].low,
    };
}

/* The bucket behind this one where `goes`, else this one. No branch, which would be mispredicted. */
ALWAYS_INLINE struct kvc_kvdirect_table_bucket *next_if(bool goes, const struct kvc_kvdirect_table *table,
                                                        struct kvc_kvdirect_table_bucket *bucket,
                                                        uint32_t chain)
{
    uintptr_t next = (uintptr_t)bucket_at(table, chain);
    uintptr_t mask = -(uintptr_t)goes;
    return (struct kvc_kvdirect_table_bucket *)((next & mask) | ((uintptr_t)bucket & ~mask));
}

/* Where to look for the hash next: this bucket, if it is there or the chain ends. */
ALWAYS_INLINE struct kvc_kvdirect_table_bucket *further(const struct kvc_kvdirect_table *table,
                                                        struct probe probe)
{
    return next_if((probe.equal == 0) & (probe.chain != 0), table, probe.bucket, probe.chain);
}

ALWAYS_INLINE uint8_t *location_in(struct kvc_kvdirect_table_bucket *bucket, uint32_t equal)
{
    return kvc_kvdirect_table_slot(bucket, (unsigned)__builtin_ctz(equal)) + INDEX_KEY_BYTES;
}

ALWAYS_INLINE uint32_t load_location(const uint8_t *value)
{
    uint32_t location;
    memcpy(&location, value, sizeof(location));
    return location;
}

/* A hash as a key, the same on every machine. */
static struct key index_key(uint64_t hash, uint8_t *bytes)
{
    kvc_kvdirect_table_store64(bytes, hash);
    return (struct key){
        .bytes = bytes, .size = INDEX_KEY_BYTES, .hash = hash, .prefix = hash, .mask = UINT64_MAX};
}

/* A bucket with other pairs, or pointers when the threshold is that low. */
static __attribute__((noinline)) uint32_t search_other(const struct kvc_kvdirect_table *table,
                                                       struct kvc_kvdirect_table_bucket *bucket,
                                                       uint64_t hash, struct kvc_index_stats *stats)
{
    uint8_t bytes[INDEX_KEY_BYTES];
    struct key key = index_key(hash, bytes);
    struct kvc_kvdirect_table_meta meta = kvc_kvdirect_table_meta_load(bucket);
    struct kvc_kvdirect_table_counts counts = {0};
    uint64_t false_matches = 0;
    struct place place;
    bool found = find_inline(bucket, &meta, &key, &place) ||
                 (meta.pointers && find_slab(table, bucket, &meta, &key, &place, &counts, &false_matches));
    stats->search_lines += counts.lines;
    return found ? load_location(place.value) : KVC_LOCATION_NONE;
}

/* Buckets on their way, in a queue: those of a group are looked into, and their keys that need the next of
 * their chain line up again, with the next keys. */
static void index_search(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                         struct kvc_index_stats *stats)
{
    const struct kvc_kvdirect_table *table = (const struct kvc_kvdirect_table *)index;
    struct {
        struct kvc_kvdirect_table_bucket *bucket;
        uint32_t i;
    } queue[RING];
    uint64_t hits = 0, done = 0, asked = 0, end = 0;
    uint32_t i = 0;
    do {
        for (; i < count && end < done + 2 * GROUP; i++, end++) {
            queue[end % RING].bucket = first_bucket(table, hash[i]);
            queue[end % RING].i = i;
        }
        for (; asked < end; asked++) {
            __builtin_prefetch(queue[asked % RING].bucket);
        }
        for (uint64_t stop = least(done + GROUP, end); done < stop; done++) {
            uint32_t now = queue[done % RING].i;
            struct probe here = probe(queue[done % RING].bucket, hash[now]);
            uint32_t found = load_location(location_in(here.bucket, here.equal | 1u << 6));
            found = here.equal != 0 ? found : KVC_LOCATION_NONE;
            if (!here.plain) {
                found = search_other(table, here.bucket, hash[now], stats);
            }
            location[now] = found;
            hits += found != KVC_LOCATION_NONE;
            queue[end % RING].bucket = bucket_at(table, here.chain);
            queue[end % RING].i = now;
            end += (found == KVC_LOCATION_NONE) & (here.chain != 0);
        }
    } while (done < end);
    stats->searches += count;
    stats->search_hits += hits;
    stats->search_lines += done;
}

/* What a batch of changes adds up. */
struct change {
    struct kvc_kvdirect_table *table;
    uint64_t replaced, dropped, erased, lines;
    struct kvc_kvdirect_table_counts counts;
    struct kvc_kvdirect_slab_stats slab;
    uint64_t false_matches;
};

typedef uint32_t change_fn(struct change *change, uint64_t hash, uint32_t location,
                           struct kvc_kvdirect_table_bucket *at);

/* Runs a change on each key, with the first three buckets of its chain on their way, each a group ahead, and
 * tells it where the key seemed to be, `at` one of these. Returns the lines touched. */
ALWAYS_INLINE uint64_t run_changes(struct change *change, const uint64_t *hash, const uint32_t *location,
                                   uint32_t count, uint32_t *out, change_fn *one)
{
    const struct kvc_kvdirect_table *table = change->table;
    struct kvc_kvdirect_table_bucket *at[RING];
    uint64_t chained[3 * GROUP + 1]; /* keys beyond their first bucket */
    uint32_t beyond = 0;
    uint64_t first = 0, second = 0;
    for (uint64_t done = 0; done < count;) {
        for (; first < least(done + 4 * GROUP, count); first++) {
            __builtin_prefetch(first_bucket(table, hash[first]), 1);
        }
        for (uint32_t c = 0; c < beyond; c++) {
            uint64_t i = chained[c];
            at[i % RING] = further(table, probe(at[i % RING], hash[i]));
            __builtin_prefetch(at[i % RING], 1);
        }
        beyond = 0;
        for (; second < least(done + 3 * GROUP, count); second++) {
            struct kvc_kvdirect_table_bucket *bucket = first_bucket(table, hash[second]);
            at[second % RING] = further(table, probe(bucket, hash[second]));
            chained[beyond] = second;
            beyond += at[second % RING] != bucket;
        }
        for (uint32_t c = 0; c < beyond; c++) {
            __builtin_prefetch(at[chained[c] % RING], 1);
        }
        for (uint64_t end = least(done + GROUP, count); done < end; done++) {
            uint32_t left = one(change, hash[done], location[done], at[done % RING]);
            if (out != NULL) {
                out[done] = left;
            }
        }
    }
    return change->lines + change->counts.lines;
}

/* Goes from one layout to another. */
ALWAYS_INLINE void store_layout(struct kvc_kvdirect_table_bucket *bucket, uint64_t low, uint32_t begin)
{
    kvc_kvdirect_table_store64(bucket->byte + 48, (low & ~layout_low) | layouts[begin].low);
    kvc_kvdirect_table_store64(bucket->byte + 56, layouts[begin].high);
}

static __attribute__((noinline)) uint32_t insert_any(struct change *change, uint64_t hash, uint32_t location)
{
    struct kvc_kvdirect_table *table = change->table;
    uint8_t bytes[INDEX_KEY_BYTES];
    struct key key = index_key(hash, bytes);
    bool inlined = INDEX_PAIR_BYTES <= table->inline_bytes;
    struct place place = find(table, &key, inlined ? kvc_kvdirect_table_slots_for(INDEX_PAIR_BYTES) : 1,
                              &change->counts, &change->false_matches);
    uint32_t old = KVC_LOCATION_NONE;
    if (place.bucket != NULL) {
        old = load_location(place.value);
        change->replaced++;
    }
    bool ok =
        put_pair(table, &key, &location, INDEX_VALUE_BYTES, inlined, place, &change->counts, &change->slab);
    change->dropped += !ok;
    return ok ? old : location;
}

static __attribute__((noinline)) uint32_t erase_any(struct change *change, uint64_t hash, uint32_t location)
{
    uint8_t bytes[INDEX_KEY_BYTES];
    struct key key = index_key(hash, bytes);
    struct place place = find(change->table, &key, 0, &change->counts, &change->false_matches);
    if (place.bucket == NULL) {
        return KVC_LOCATION_NONE;
    }
    uint32_t found = load_location(place.value);
    if (location != KVC_LOCATION_ANY && location != found) {
        return KVC_LOCATION_NONE;
    }
    remove_pair(change->table, &key, place, &change->counts, &change->slab);
    change->erased++;
    return found;
}

ALWAYS_INLINE uint32_t chain_of(const struct kvc_kvdirect_table_bucket *bucket)
{
    return kvc_kvdirect_table_load64(bucket->byte + 48) >> 16 & 0x7fffffff;
}

/* Buckets from the first of the hash's chain to this one, 1 .. 3; 0: it is not, or no longer, one of these.
 * Looks at none behind it. */
ALWAYS_INLINE uint32_t buckets_to(const struct kvc_kvdirect_table *table, uint64_t hash,
                                  const struct kvc_kvdirect_table_bucket *at)
{
    struct kvc_kvdirect_table_bucket *first = first_bucket(table, hash);
    struct kvc_kvdirect_table_bucket *second = next_if(at != first, table, first, chain_of(first));
    struct kvc_kvdirect_table_bucket *third = next_if(at != second, table, second, chain_of(second));
    return (1 + (uint32_t)(at != first) + (uint32_t)(at != second)) & -(uint32_t)(at == third);
}

/* Most keys are found where they seemed to be; the others take the way of all pairs. No branch on which
 * bucket of its chain that is: it would be mispredicted. */
ALWAYS_INLINE uint32_t insert_one(struct change *change, uint64_t hash, uint32_t location,
                                  struct kvc_kvdirect_table_bucket *at)
{
    struct probe here = probe(at, hash);
    uint32_t buckets = buckets_to(change->table, hash, at);
    if ((buckets == 0) | !here.plain | (here.equal == 0)) {
        return insert_any(change, hash, location);
    }
    uint8_t *value = location_in(at, here.equal);
    uint32_t old = load_location(value);
    memcpy(value, &location, sizeof(location));
    change->lines += buckets;
    change->replaced++;
    return old;
}

ALWAYS_INLINE uint32_t erase_one(struct change *change, uint64_t hash, uint32_t location,
                                 struct kvc_kvdirect_table_bucket *at)
{
    struct kvc_kvdirect_table *table = change->table;
    struct probe here = probe(at, hash);
    uint32_t buckets = buckets_to(table, hash, at);
    bool unlinks = (buckets > 1) & (here.begin == here.equal);
    bool unsure = (here.equal == 0) & (here.chain != 0);
    if ((buckets == 0) | !here.plain | unlinks | unsure) {
        return erase_any(change, hash, location);
    }
    change->lines += buckets;
    if (here.equal == 0) {
        return KVC_LOCATION_NONE;
    }
    uint32_t found = load_location(location_in(at, here.equal));
    if (location != KVC_LOCATION_ANY && location != found) {
        return KVC_LOCATION_NONE;
    }
    store_layout(at, here.low, here.begin & ~here.equal);
    table->pairs--;
    table->pair_bytes -= INDEX_PAIR_BYTES;
    change->erased++;
    return found;
}

static void index_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                         uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    struct change change = {.table = (struct kvc_kvdirect_table *)index};
    stats->insert_lines += run_changes(&change, hash, location, count, out, insert_one);
    stats->inserts += count;
    stats->replaced += change.replaced;
    stats->dropped += change.dropped;
}

static void index_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                        uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    struct change change = {.table = (struct kvc_kvdirect_table *)index};
    stats->erase_lines += run_changes(&change, hash, location, count, out, erase_one);
    stats->erases += count;
    stats->erased += change.erased;
}

static uint64_t index_capacity(const struct kvc_index *index)
{
    return kvc_kvdirect_table_capacity((const struct kvc_kvdirect_table *)index,
                                       INDEX_KEY_BYTES + INDEX_VALUE_BYTES);
}

static uint64_t index_used(const struct kvc_index *index)
{
    return ((const struct kvc_kvdirect_table *)index)->pairs;
}

static void index_free(struct kvc_index *index)
{
    kvc_kvdirect_table_free((struct kvc_kvdirect_table *)index);
}

static const struct kvc_index_ops index_ops = {
    .free = index_free,
    .search = index_search,
    .insert = index_insert,
    .erase = index_erase,
    .capacity = index_capacity,
    .used = index_used,
};

struct kvc_index *kvc_kvdirect_table_index(struct kvc_kvdirect_table *table)
{
    return &table->index;
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
    const uint64_t block_bytes = KVC_KVDIRECT_TABLE_BLOCK_GRANULES * KVC_KVDIRECT_TABLE_GRANULE_BYTES;
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
    uint64_t index_bytes = index_bytes_of(params);
    *table = (struct kvc_kvdirect_table){.index = {&index_ops},
                                         .bytes = bytes,
                                         .buckets = index_bytes / KVC_KVDIRECT_TABLE_BUCKET_BYTES,
                                         .inline_bytes = params->inline_bytes,
                                         .seed = params->seed};
    table->memory = kvc_pages_alloc(bytes);
    bool ok = table->memory != NULL;
    if (ok && index_bytes < bytes) {
        table->slab = kvc_kvdirect_slab_create(&(struct kvc_kvdirect_slab_params){
            .first_granule = index_bytes / KVC_KVDIRECT_TABLE_GRANULE_BYTES, .bytes = bytes - index_bytes});
        ok = table->slab != NULL;
    }
    if (!ok) {
        kvc_kvdirect_table_free(table);
        errno = ENOMEM;
        return NULL;
    }
    return table;
}

static struct kvc_index *create_published(uint64_t bytes, uint64_t seed)
{
    struct kvc_kvdirect_table *table = kvc_kvdirect_table_create(&(struct kvc_kvdirect_table_params){
        .bytes = bytes, .hash_index_frac = 0.625, .inline_bytes = 15, .seed = seed});
    return table == NULL ? NULL : &table->index;
}

const struct kvc_index_kind kvc_kvdirect_table_kind = {
    .name = "kvdirect",
    .source = "KV-Direct, SOSP 2017, sec. 3.3.1",
    .many_readers = true,
    .create = create_published,
};
