/** @file
 * Internal to KV-Direct's hash table: the bucket, the table itself, the accounting of memory accesses, and
 * the operations on one key that are inlined.
 *
 * table.c has the operations of callers, table_index.c the same operations for the index interface, whose
 * constant sizes of keys and values are folded into the functions here.
 *
 * Source: KV-Direct (SOSP 2017), sec. 3.3.1 and fig. 5. The published bucket has ten slots of 5 bytes (a
 * 31-bit pointer and 9 bits of secondary hash), 3 bits of slab type for each slot, a bitmap that marks where
 * inline pairs begin and end, and a pointer to the next chained bucket: 50 bytes and 81 bits of the 112 that
 * are left. An inline pair fills consecutive slots with the key, the value and up to 4 bytes of padding.
 *
 * The paper does not say where the sizes of an inline pair are kept. Here they take no slot, so that a pair
 * of 10 bytes fills two: the slab type bits of an inline pair's slots hold the size of its key, and 3 of the
 * 31 unused bits for each slot hold its padding. The last bit tells whether the bucket has any pointers.
 *
 * Layout:
 *  - byte 0: slots 0 to 9
 *  - byte 50: 31 bits of chain, then the first 17 of 30 bits of padding
 *  - byte 56: 30 bits of types, 10 of beginnings, 10 of ends, 13 of padding, 1 of pointers */
#ifndef KVC_KERNELS_KVDIRECT_TABLE_INTERNAL_H
#define KVC_KERNELS_KVDIRECT_TABLE_INTERNAL_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/index.h"
#include "kernels/kvdirect/slab.h"
#include "kernels/kvdirect/table.h"

/* --- the bucket --- */

/** Shape of a bucket. */
enum {
    KVC_KVDIRECT_BUCKET_SLOTS = 10,                                       /**< Slots. */
    KVC_KVDIRECT_BUCKET_SLOT_BYTES = 5,                                   /**< Size of a slot [bytes]. */
    KVC_KVDIRECT_BUCKET_ALL_SLOTS = (1 << KVC_KVDIRECT_BUCKET_SLOTS) - 1, /**< A bit for each slot. */
};

/** A bucket in memory. */
struct kvc_kvdirect_bucket {
    _Alignas(64) uint8_t byte[64]; /**< Slots and packed metadata. */
};

/** The metadata after the slots, unpacked. Fields of 3 bits for each slot lie at bit 3 * slot. */
struct kvc_kvdirect_bucket_meta {
    uint32_t types;   /**< Pointer: slab type + 1; 0 is an empty slot. Inline pair: size of its key. */
    uint32_t padding; /**< Inline pair, at its first slot: its padding [bytes]. */
    uint32_t chain;   /**< Granule of the next bucket; 0: there is none. */
    uint32_t begin;   /**< Bit s is set where an inline pair begins at slot s. */
    uint32_t end;     /**< Bit s is set where an inline pair ends at slot s. */
    bool pointers;    /**< The bucket has pointers. */
};

/** Loads a little-endian word. */
static inline uint64_t kvc_kvdirect_load64(const uint8_t *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof(word));
    return le64toh(word);
}

/** Stores a little-endian word. */
static inline void kvc_kvdirect_store64(uint8_t *to, uint64_t word)
{
    word = htole64(word);
    memcpy(to, &word, sizeof(word));
}

/** Unpacks the metadata of a bucket. */
static inline struct kvc_kvdirect_bucket_meta
kvc_kvdirect_bucket_load_meta(const struct kvc_kvdirect_bucket *bucket)
{
    uint64_t low = kvc_kvdirect_load64(bucket->byte + 48) >> 16;
    uint64_t high = kvc_kvdirect_load64(bucket->byte + 56);
    return (struct kvc_kvdirect_bucket_meta){
        .types = high & 0x3fffffff,
        .padding = (uint32_t)(low >> 31 | (high >> 50 & 0x1fff) << 17),
        .chain = low & 0x7fffffff,
        .begin = high >> 30 & KVC_KVDIRECT_BUCKET_ALL_SLOTS,
        .end = high >> 40 & KVC_KVDIRECT_BUCKET_ALL_SLOTS,
        .pointers = high >> 63,
    };
}

/** Returns the slots of inline pairs, as bits. */
static inline uint32_t kvc_kvdirect_bucket_inline_slots(const struct kvc_kvdirect_bucket_meta *meta)
{
    /* Each pair contributes 2^(end + 1) - 2^begin, which are the bits from its beginning to its end. */
    return (meta->end << 1) - meta->begin;
}

/** Returns the slots of pointers, as bits. */
static inline uint32_t kvc_kvdirect_bucket_pointer_slots(const struct kvc_kvdirect_bucket_meta *meta)
{
    /* Set bit 3 * s where any of the slot's three bits is set, then gather every third bit. */
    uint32_t slots = (meta->types | meta->types >> 1 | meta->types >> 2) & 0x09249249;
    slots = (slots | slots >> 2) & 0x030c30c3;
    slots = (slots | slots >> 4) & 0x0300f00f;
    slots = (slots | slots >> 8) & 0x030000ff;
    slots = (slots | slots >> 16) & KVC_KVDIRECT_BUCKET_ALL_SLOTS;
    return slots & ~kvc_kvdirect_bucket_inline_slots(meta);
}

/** Returns the free slots, as bits. */
static inline uint32_t kvc_kvdirect_bucket_free_slots(const struct kvc_kvdirect_bucket_meta *meta)
{
    return KVC_KVDIRECT_BUCKET_ALL_SLOTS &
           ~(kvc_kvdirect_bucket_inline_slots(meta) | kvc_kvdirect_bucket_pointer_slots(meta));
}

/** Says whether the bucket has this many free slots, consecutive or not. */
static inline bool kvc_kvdirect_bucket_has_room(const struct kvc_kvdirect_bucket_meta *meta, uint32_t slots)
{
    uint32_t left = kvc_kvdirect_bucket_free_slots(meta);
    for (uint32_t i = 1; i < slots; i++) {
        left &= left - 1; /* clears the lowest bit; 0 stays 0 */
    }
    return left != 0;
}

/** Packs metadata into a bucket. */
static inline void kvc_kvdirect_bucket_store_meta(struct kvc_kvdirect_bucket *bucket,
                                                  const struct kvc_kvdirect_bucket_meta *meta)
{
    uint64_t low = meta->chain | (uint64_t)meta->padding << 31;
    uint64_t high = meta->types | (uint64_t)meta->begin << 30 | (uint64_t)meta->end << 40 |
                    (uint64_t)(meta->padding >> 17) << 50 |
                    (uint64_t)(kvc_kvdirect_bucket_pointer_slots(meta) != 0) << 63;
    uint64_t slots = kvc_kvdirect_load64(bucket->byte + 48) & 0xffff;
    kvc_kvdirect_store64(bucket->byte + 48, slots | low << 16);
    kvc_kvdirect_store64(bucket->byte + 56, high);
}

/** Returns the number of slots that an inline pair of this size needs. */
static inline uint32_t kvc_kvdirect_bucket_slots_for(uint32_t pair_bytes)
{
    return (pair_bytes + KVC_KVDIRECT_BUCKET_SLOT_BYTES - 1) / KVC_KVDIRECT_BUCKET_SLOT_BYTES;
}

/** First byte of a slot. */
static inline uint8_t *kvc_kvdirect_bucket_slot(struct kvc_kvdirect_bucket *bucket, unsigned slot)
{
    return bucket->byte + KVC_KVDIRECT_BUCKET_SLOT_BYTES * slot;
}

/** Sizes of an inline pair. */
struct kvc_kvdirect_bucket_inline {
    uint32_t slots;       /**< Slots that it fills. */
    uint32_t key_bytes;   /**< Size of its key [bytes]. */
    uint32_t value_bytes; /**< Size of its value [bytes]. */
};

/** Returns the inline pair that begins at this slot. */
static inline struct kvc_kvdirect_bucket_inline
kvc_kvdirect_bucket_inline_at(const struct kvc_kvdirect_bucket_meta *meta, unsigned slot)
{
    uint32_t slots = (uint32_t)__builtin_ctz(meta->end >> slot) + 1;
    uint32_t key_bytes = meta->types >> 3 * slot & (slots > 1 ? 63 : 7);
    uint32_t bytes = KVC_KVDIRECT_BUCKET_SLOT_BYTES * slots - (meta->padding >> 3 * slot & 7);
    return (struct kvc_kvdirect_bucket_inline){slots, key_bytes, bytes - key_bytes};
}

/** Returns the slots at which the next 8 bytes, under the mask, equal the prefix; as bits. */
static inline __attribute__((always_inline)) uint32_t
kvc_kvdirect_bucket_match(const struct kvc_kvdirect_bucket *bucket, uint64_t prefix, uint64_t mask)
{
    uint32_t slots = 0;
    for (unsigned s = 0; s < KVC_KVDIRECT_BUCKET_SLOTS; s++) {
        uint64_t word = kvc_kvdirect_load64(bucket->byte + KVC_KVDIRECT_BUCKET_SLOT_BYTES * s);
        slots |= (uint32_t)((word & mask) == prefix) << s;
    }
    return slots;
}

/** Returns the granule that a pointer slot points to. */
static inline uint32_t kvc_kvdirect_bucket_pointer_at(const struct kvc_kvdirect_bucket *bucket, unsigned slot)
{
    return kvc_kvdirect_load64(bucket->byte + KVC_KVDIRECT_BUCKET_SLOT_BYTES * slot) & 0x7fffffff;
}

/** Returns the slots with a pointer and this secondary hash, as bits. */
static inline uint32_t kvc_kvdirect_bucket_match_pointers(const struct kvc_kvdirect_bucket *bucket,
                                                          const struct kvc_kvdirect_bucket_meta *meta,
                                                          uint32_t secondary)
{
    return kvc_kvdirect_bucket_match(bucket, (uint64_t)secondary << 31, UINT64_C(0x1ff) << 31) &
           kvc_kvdirect_bucket_pointer_slots(meta);
}

/** Returns the slab type of a pointer slot. */
static inline unsigned kvc_kvdirect_bucket_slab_type_at(const struct kvc_kvdirect_bucket_meta *meta,
                                                        unsigned slot)
{
    return (meta->types >> 3 * slot & 7) - 1;
}

/** Empties the slots of a pointer (1 slot) or of an inline pair. */
static inline void kvc_kvdirect_bucket_clear(struct kvc_kvdirect_bucket_meta *meta, unsigned slot,
                                             uint32_t slots)
{
    uint32_t fields = ((1u << 3 * slots) - 1) << 3 * slot; /* 10 slots are 30 bits */
    meta->types &= ~fields;
    meta->padding &= ~fields;
    uint32_t run = ((1u << slots) - 1) << slot;
    meta->begin &= ~run;
    meta->end &= ~run;
}

/** Moves everything to the left, which makes the free slots consecutive. The line is written whole in any
 * case. */
static __attribute__((noinline, unused)) void
kvc_kvdirect_bucket_compact(struct kvc_kvdirect_bucket *bucket, struct kvc_kvdirect_bucket_meta *meta)
{
    struct kvc_kvdirect_bucket from = *bucket;
    struct kvc_kvdirect_bucket_meta old = *meta;
    uint32_t pointers = kvc_kvdirect_bucket_pointer_slots(&old);
    *meta = (struct kvc_kvdirect_bucket_meta){.chain = old.chain};
    unsigned to = 0;
    for (uint32_t starts = old.begin | pointers; starts != 0; starts &= starts - 1) {
        unsigned s = (unsigned)__builtin_ctz(starts);
        uint32_t slots = 1;
        if (old.begin >> s & 1) {
            slots = kvc_kvdirect_bucket_inline_at(&old, s).slots;
            meta->begin |= 1u << to;
            meta->end |= 1u << (to + slots - 1);
        }
        uint32_t fields = (1u << 3 * slots) - 1;
        meta->types |= (old.types >> 3 * s & fields) << 3 * to;
        meta->padding |= (old.padding >> 3 * s & fields) << 3 * to;
        memcpy(kvc_kvdirect_bucket_slot(bucket, to), kvc_kvdirect_bucket_slot(&from, s),
               KVC_KVDIRECT_BUCKET_SLOT_BYTES * slots);
        to += slots;
    }
}

/** Finds consecutive free slots and returns the first. The bucket must have room for them; the function moves
 * what is in the bucket if its free slots are scattered. */
static inline unsigned kvc_kvdirect_bucket_make_room(struct kvc_kvdirect_bucket *bucket,
                                                     struct kvc_kvdirect_bucket_meta *meta, uint32_t slots)
{
    for (;;) {
        uint32_t run = kvc_kvdirect_bucket_free_slots(meta);
        for (uint32_t i = 1; i < slots; i++) {
            run &= run >> 1;
        }
        if (run != 0) {
            return (unsigned)__builtin_ctz(run);
        }
        struct kvc_kvdirect_bucket_meta moved = *meta; /* a copy keeps the original in registers */
        kvc_kvdirect_bucket_compact(bucket, &moved);
        *meta = moved;
    }
}

/** Stores an inline pair from this slot on. */
static inline void kvc_kvdirect_bucket_set_inline(struct kvc_kvdirect_bucket *bucket,
                                                  struct kvc_kvdirect_bucket_meta *meta, unsigned slot,
                                                  const void *key, uint32_t key_bytes, const void *value,
                                                  uint32_t value_bytes)
{
    uint32_t slots = kvc_kvdirect_bucket_slots_for(key_bytes + value_bytes);
    uint32_t padding = KVC_KVDIRECT_BUCKET_SLOT_BYTES * slots - key_bytes - value_bytes;
    kvc_kvdirect_bucket_clear(meta, slot, slots);
    meta->types |= key_bytes << 3 * slot;
    meta->padding |= padding << 3 * slot;
    meta->begin |= 1u << slot;
    meta->end |= 1u << (slot + slots - 1);
    memcpy(kvc_kvdirect_bucket_slot(bucket, slot), key, key_bytes);
    if (value_bytes > 0) {
        memcpy(kvc_kvdirect_bucket_slot(bucket, slot) + key_bytes, value, value_bytes);
    }
}

/** Stores a pointer to a slab in this slot. */
static inline void kvc_kvdirect_bucket_set_pointer(struct kvc_kvdirect_bucket *bucket,
                                                   struct kvc_kvdirect_bucket_meta *meta, unsigned slot,
                                                   uint32_t granule, uint32_t secondary, unsigned type)
{
    uint64_t word = granule | (uint64_t)secondary << 31;
    kvc_kvdirect_bucket_clear(meta, slot, 1);
    meta->types |= (type + 1) << 3 * slot;
    for (unsigned i = 0; i < KVC_KVDIRECT_BUCKET_SLOT_BYTES; i++) {
        kvc_kvdirect_bucket_slot(bucket, slot)[i] = (uint8_t)(word >> 8 * i);
    }
}

/* --- the table --- */

/** Functions of the hot paths, whose arguments are often constants at the call. */
#define KVC_KVDIRECT_INLINE static inline __attribute__((always_inline))

/** Sizes of the software pipelines and of the format. */
enum {
    /** Operations whose memory is prefetched together. The prefetches are a loop of their own, because their
     * address translations hardly overlap if work lies between them. There are few enough for a core's line
     * fill buffers. */
    KVC_KVDIRECT_TABLE_GROUP = 16,
    /** Size of a pipeline's ring: three groups of keys are in its stages, and a power of two keeps the modulo
     * cheap. */
    KVC_KVDIRECT_TABLE_RING = 4 * KVC_KVDIRECT_TABLE_GROUP,
    /** Metadata of a slab pair: size of the key, unused bytes [bytes]. */
    KVC_KVDIRECT_TABLE_HEADER_BYTES = 2,
    /** Slab type of a chained bucket. */
    KVC_KVDIRECT_TABLE_BUCKET_TYPE = 1,
};

/** The table. */
struct kvc_kvdirect_table {
    struct kvc_index index;                 /**< The index interface; the first member. */
    uint8_t *memory;                        /**< The buckets of the hash index, then the slabs. */
    uint64_t bytes;                         /**< Size of the memory [bytes]. */
    uint64_t buckets;                       /**< Buckets of the hash index. */
    uint32_t inline_bytes;                  /**< Inline threshold [bytes]. */
    uint32_t usual_bytes;                   /**< Index of pairs: their mean size [bytes]. */
    uint64_t seed;                          /**< Seed of the key hash. */
    uint64_t pairs;                         /**< Pairs in the table. */
    uint64_t pair_bytes;                    /**< Size of their keys and values [bytes]. */
    uint64_t released;                      /**< Slabs released since the table was created. */
    struct kvc_kvdirect_slab *slab;         /**< The allocator; NULL if the index takes all memory. */
    struct kvc_kvdirect_table_trace *trace; /**< Records accesses; NULL: they are not recorded. */
    /** Value of `released` + 1 when the daemon last found no slab of a type; 0: never. */
    uint64_t exhausted_at[KVC_KVDIRECT_SLAB_TYPES];
};

/** Appends an access to a trace. */
void kvc_kvdirect_table_add_access(struct kvc_kvdirect_table_trace *trace, uint64_t line, uint32_t bytes,
                                   bool write);

/** Returns the size of the hash index: whole blocks, so that the slabs begin at one [bytes]. */
uint64_t kvc_kvdirect_table_index_bytes(const struct kvc_kvdirect_table_params *params);

/** Allocates a slab, with the daemon's help. Returns KVC_KVDIRECT_SLAB_NONE if there is none, and at once if
 * there was none and no slab has been released since. */
uint32_t kvc_kvdirect_table_allocate(struct kvc_kvdirect_table *table, unsigned type,
                                     struct kvc_kvdirect_slab_stats *stats);

/** Releases a slab. */
void kvc_kvdirect_table_release(struct kvc_kvdirect_table *table, uint32_t granule, unsigned type,
                                struct kvc_kvdirect_slab_stats *stats);

/** The table as an index that holds values (kernels/index.h). */
extern const struct kvc_index_pair_kind kvc_kvdirect_table_pair_kind;

/** Operations of the index interface. */
extern const struct kvc_index_ops kvc_kvdirect_table_index_ops;

/** Returns the smaller of two numbers. */
KVC_KVDIRECT_INLINE uint64_t kvc_kvdirect_least(uint64_t left, uint64_t right)
{
    return left < right ? left : right;
}

/** Returns the chained bucket at this granule. */
KVC_KVDIRECT_INLINE struct kvc_kvdirect_bucket *kvc_kvdirect_bucket_at(const struct kvc_kvdirect_table *table,
                                                                       uint64_t granule)
{
    return (struct kvc_kvdirect_bucket *)(table->memory + granule * KVC_KVDIRECT_SLAB_GRANULE_BYTES);
}

/** Returns the slab at this granule. */
KVC_KVDIRECT_INLINE uint8_t *kvc_kvdirect_slab_at(const struct kvc_kvdirect_table *table, uint64_t granule)
{
    return table->memory + granule * KVC_KVDIRECT_SLAB_GRANULE_BYTES;
}

/** Returns the bucket of the hash index where the chain of a hash begins. */
KVC_KVDIRECT_INLINE struct kvc_kvdirect_bucket *
kvc_kvdirect_first_bucket(const struct kvc_kvdirect_table *table, uint64_t hash)
{
    return (struct kvc_kvdirect_bucket *)table->memory + kvc_kvdirect_table_bucket_of(hash, table->buckets);
}

/** Returns the 9 bits of a hash that a pointer slot holds. */
KVC_KVDIRECT_INLINE uint32_t kvc_kvdirect_secondary_of(uint64_t hash)
{
    return (uint32_t)(hash >> 55);
}

/** Returns the number of 64-byte lines that hold this many bytes. */
KVC_KVDIRECT_INLINE uint64_t kvc_kvdirect_lines_of(uint32_t bytes)
{
    return (bytes + KVC_KVDIRECT_TABLE_BUCKET_BYTES - 1) / KVC_KVDIRECT_TABLE_BUCKET_BYTES;
}

/** Says whether a bucket belongs to the hash index, and not to a chain. */
KVC_KVDIRECT_INLINE bool kvc_kvdirect_in_index(const struct kvc_kvdirect_table *table,
                                               const struct kvc_kvdirect_bucket *bucket)
{
    return (uint64_t)(bucket - (const struct kvc_kvdirect_bucket *)table->memory) < table->buckets;
}

/** Notes an access if the table is traced. */
KVC_KVDIRECT_INLINE void kvc_kvdirect_note(const struct kvc_kvdirect_table *table, const void *start,
                                           uint32_t bytes, bool write)
{
    if (__builtin_expect(table->trace != NULL, 0)) {
        uint64_t offset = (uint64_t)((const uint8_t *)start - table->memory);
        kvc_kvdirect_table_add_access(table->trace, offset / KVC_KVDIRECT_TABLE_BUCKET_BYTES, bytes, write);
    }
}

/** Counts the read of a bucket, which belongs to the hash index or to a chain. */
KVC_KVDIRECT_INLINE void kvc_kvdirect_count_read(const struct kvc_kvdirect_table *table,
                                                 const struct kvc_kvdirect_bucket *bucket, bool index,
                                                 struct kvc_kvdirect_table_counts *counts)
{
    kvc_kvdirect_note(table, bucket, KVC_KVDIRECT_TABLE_BUCKET_BYTES, false);
    counts->index_reads += index;
    counts->chain_reads += !index;
    counts->lines++;
}

/** Stores a bucket's metadata and counts the write of its line. */
KVC_KVDIRECT_INLINE void kvc_kvdirect_write_bucket(const struct kvc_kvdirect_table *table,
                                                   struct kvc_kvdirect_bucket *bucket,
                                                   const struct kvc_kvdirect_bucket_meta *meta,
                                                   struct kvc_kvdirect_table_counts *counts)
{
    kvc_kvdirect_bucket_store_meta(bucket, meta);
    kvc_kvdirect_note(table, bucket, KVC_KVDIRECT_TABLE_BUCKET_BYTES, true);
    bool index = kvc_kvdirect_in_index(table, bucket);
    counts->index_writes += index;
    counts->chain_writes += !index;
}

/** Counts the write of a pair in a slab, metadata included. */
KVC_KVDIRECT_INLINE void kvc_kvdirect_count_slab_write(const struct kvc_kvdirect_table *table,
                                                       const uint8_t *slab, uint32_t used,
                                                       struct kvc_kvdirect_table_counts *counts)
{
    kvc_kvdirect_note(table, slab, used, true);
    counts->slab_writes++;
    counts->slab_lines_written += kvc_kvdirect_lines_of(used);
}

/* --- finding a key --- */

/** A key, and the values that the search derives from it. */
struct kvc_kvdirect_key {
    const uint8_t *bytes; /**< The key. */
    uint32_t size;        /**< Size of the key [bytes]. */
    uint64_t hash;        /**< Hash of the key. */
    uint64_t prefix;      /**< First 8 bytes of the key, or all if it is shorter. */
    uint64_t mask;        /**< The bits of `prefix` that count. */
};

/** Place of a key, or a place for its pair. */
struct kvc_kvdirect_place {
    struct kvc_kvdirect_bucket *bucket; /**< The bucket with the key; NULL: the key is absent. */
    struct kvc_kvdirect_bucket *before; /**< The bucket whose chain leads to it; NULL: it is in the index. */
    struct kvc_kvdirect_bucket_meta meta; /**< Metadata of `bucket`, or of `last` if the key is absent. */
    unsigned slot;                        /**< First slot of the pair. */
    uint32_t slots;                       /**< Slots of the pair. */
    uint32_t value_bytes;                 /**< Size of the value [bytes]. */
    uint8_t *value;                       /**< The value. */
    uint32_t granule;                     /**< Granule of the pair's slab; 0: the pair is inline. */
    unsigned type;                        /**< Type of the slab. */
    struct kvc_kvdirect_bucket *room;     /**< First bucket seen with enough free slots; NULL: none. */
    struct kvc_kvdirect_bucket *last;     /**< The last bucket seen. */
};

/** Looks for a key in the slabs that a bucket points to; returns false if it is not there. */
bool kvc_kvdirect_table_find_in_slabs(const struct kvc_kvdirect_table *table,
                                      struct kvc_kvdirect_bucket *bucket,
                                      const struct kvc_kvdirect_bucket_meta *meta,
                                      const struct kvc_kvdirect_key *key, struct kvc_kvdirect_place *place,
                                      struct kvc_kvdirect_table_counts *counts, uint64_t *false_matches);

/** Prepares a key for the search. */
KVC_KVDIRECT_INLINE struct kvc_kvdirect_key kvc_kvdirect_make_key(const void *bytes, uint32_t size,
                                                                  uint64_t hash)
{
    struct kvc_kvdirect_key key = {.bytes = bytes, .size = size, .hash = hash};
    uint8_t start[8] = {0};
    memcpy(start, bytes, size < 8 ? size : 8);
    key.prefix = kvc_kvdirect_load64(start);
    key.mask = size < 8 ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX;
    return key;
}

/** Returns the first slots of the inline pairs that begin with the key's first bytes, as bits. */
KVC_KVDIRECT_INLINE uint32_t kvc_kvdirect_match_inline(const struct kvc_kvdirect_bucket *bucket,
                                                       const struct kvc_kvdirect_bucket_meta *meta,
                                                       const struct kvc_kvdirect_key *key)
{
    return kvc_kvdirect_bucket_match(bucket, key->prefix, key->mask) & meta->begin;
}

/** Looks for a key among the inline pairs of a bucket; returns false if it is not there. */
KVC_KVDIRECT_INLINE bool kvc_kvdirect_find_inline(struct kvc_kvdirect_bucket *bucket,
                                                  const struct kvc_kvdirect_bucket_meta *meta,
                                                  const struct kvc_kvdirect_key *key,
                                                  struct kvc_kvdirect_place *place)
{
    uint32_t equal = kvc_kvdirect_match_inline(bucket, meta, key);
    for (; equal != 0; equal &= equal - 1) {
        unsigned slot = (unsigned)__builtin_ctz(equal);
        struct kvc_kvdirect_bucket_inline pair = kvc_kvdirect_bucket_inline_at(meta, slot);
        uint8_t *bytes = kvc_kvdirect_bucket_slot(bucket, slot);
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

/** Follows the chain to the key or to its end. `need` is the number of free slots that makes a bucket the
 * place's `room`; 0: no room is needed. */
KVC_KVDIRECT_INLINE struct kvc_kvdirect_place
kvc_kvdirect_find(const struct kvc_kvdirect_table *table, const struct kvc_kvdirect_key *key, uint32_t need,
                  struct kvc_kvdirect_table_counts *counts, uint64_t *false_matches)
{
    struct kvc_kvdirect_place place = {.bucket = NULL};
    struct kvc_kvdirect_bucket *bucket = kvc_kvdirect_first_bucket(table, key->hash);
    for (;;) {
        place.meta = kvc_kvdirect_bucket_load_meta(bucket);
        kvc_kvdirect_count_read(table, bucket, place.last == NULL, counts);
        bool found = kvc_kvdirect_find_inline(bucket, &place.meta, key, &place);
        if (!found && place.meta.pointers) {
            struct kvc_kvdirect_place in_slab = place; /* a copy keeps the original in registers */
            found = kvc_kvdirect_table_find_in_slabs(table, bucket, &in_slab.meta, key, &in_slab, counts,
                                                     false_matches);
            place = in_slab;
        }
        if (found) {
            place.bucket = bucket;
            place.before = place.last;
            place.last = bucket;
            return place;
        }
        if (need != 0 && place.room == NULL && kvc_kvdirect_bucket_has_room(&place.meta, need)) {
            place.room = bucket;
        }
        place.last = bucket;
        if (place.meta.chain == 0) {
            return place;
        }
        bucket = kvc_kvdirect_bucket_at(table, place.meta.chain);
    }
}

/* --- putting and removing a pair --- */

/** A pair that is being put. */
struct kvc_kvdirect_put {
    const struct kvc_kvdirect_key *key; /**< Key of the pair. */
    const void *value;                  /**< Value of the pair. */
    uint32_t value_bytes;               /**< Size of the value [bytes]. */
    bool inlined;                       /**< The pair goes into a bucket, not into a slab. */
    uint32_t slots;                     /**< Slots that it needs. */
    unsigned type;                      /**< Type of its slab. */
    uint32_t granule;                   /**< Granule of its slab, once it has one. */
};

/** Writes a pair into its slab. */
void kvc_kvdirect_table_write_slab(const struct kvc_kvdirect_table *table, const struct kvc_kvdirect_put *put,
                                   struct kvc_kvdirect_table_counts *counts);

/** Puts a pair into the bucket with room, or into a new one, and removes the old pair of its key. Returns
 * false if there is no memory; nothing has changed then. */
bool kvc_kvdirect_table_put_elsewhere(struct kvc_kvdirect_table *table, struct kvc_kvdirect_put *put,
                                      struct kvc_kvdirect_place *place,
                                      struct kvc_kvdirect_table_counts *counts,
                                      struct kvc_kvdirect_slab_stats *stats);

/** Puts a pair where kvc_kvdirect_find() has found its key or room for it. Returns false if there is no
 * memory; nothing has changed then. */
KVC_KVDIRECT_INLINE bool
kvc_kvdirect_put_pair(struct kvc_kvdirect_table *table, const struct kvc_kvdirect_key *key, const void *value,
                      uint32_t value_bytes, bool inlined, struct kvc_kvdirect_place place,
                      struct kvc_kvdirect_table_counts *counts, struct kvc_kvdirect_slab_stats *stats)
{
    uint32_t bytes = key->size + value_bytes;
    uint32_t slots = inlined ? kvc_kvdirect_bucket_slots_for(bytes) : 1;
    unsigned type = inlined ? 0 : kvc_kvdirect_slab_type(bytes + KVC_KVDIRECT_TABLE_HEADER_BYTES);
    bool found = place.bucket != NULL;
    bool same_slots = found && inlined && place.granule == 0 && place.slots == slots;
    if (same_slots || (!found && inlined && place.room != NULL)) {
        struct kvc_kvdirect_bucket *target = same_slots ? place.bucket : place.room;
        struct kvc_kvdirect_bucket_meta meta =
            target == place.last ? place.meta : kvc_kvdirect_bucket_load_meta(target);
        unsigned slot = same_slots ? place.slot : kvc_kvdirect_bucket_make_room(target, &meta, slots);
        kvc_kvdirect_bucket_set_inline(target, &meta, slot, key->bytes, key->size, value, value_bytes);
        kvc_kvdirect_write_bucket(table, target, &meta, counts);
    } else {
        struct kvc_kvdirect_put put = {.key = key,
                                       .value = value,
                                       .value_bytes = value_bytes,
                                       .inlined = inlined,
                                       .slots = slots,
                                       .type = type};
        if (found && !inlined && place.granule != 0 && place.type == type) {
            put.granule = place.granule;
            kvc_kvdirect_table_write_slab(table, &put, counts);
        } else {
            struct kvc_kvdirect_place copy = place; /* a copy keeps the original in registers */
            if (!kvc_kvdirect_table_put_elsewhere(table, &put, &copy, counts, stats)) {
                return false;
            }
        }
    }
    table->pairs += !found;
    table->pair_bytes += found ? value_bytes - (uint64_t)place.value_bytes : bytes;
    return true;
}

/** Removes the pair that kvc_kvdirect_find() has found. A chained bucket that becomes empty is unlinked. */
KVC_KVDIRECT_INLINE void kvc_kvdirect_remove_pair(struct kvc_kvdirect_table *table,
                                                  const struct kvc_kvdirect_key *key,
                                                  struct kvc_kvdirect_place place,
                                                  struct kvc_kvdirect_table_counts *counts,
                                                  struct kvc_kvdirect_slab_stats *stats)
{
    if (place.granule != 0) {
        kvc_kvdirect_table_release(table, place.granule, place.type, stats);
    }
    kvc_kvdirect_bucket_clear(&place.meta, place.slot, place.slots);
    if (place.before != NULL &&
        kvc_kvdirect_bucket_free_slots(&place.meta) == KVC_KVDIRECT_BUCKET_ALL_SLOTS) {
        struct kvc_kvdirect_bucket_meta before = kvc_kvdirect_bucket_load_meta(place.before);
        uint32_t granule = before.chain;
        before.chain = place.meta.chain;
        kvc_kvdirect_write_bucket(table, place.before, &before, counts);
        kvc_kvdirect_table_release(table, granule, KVC_KVDIRECT_TABLE_BUCKET_TYPE, stats);
    } else {
        kvc_kvdirect_write_bucket(table, place.bucket, &place.meta, counts);
    }
    table->pairs--;
    table->pair_bytes -= key->size + place.value_bytes;
}

#endif
