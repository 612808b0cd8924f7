/** @file
 * KV-Direct's hash bucket: 64 bytes that hold pointers and inline pairs side by side. Internal to the table.
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
#ifndef KVC_KERNELS_KVDIRECT_BUCKET_H
#define KVC_KERNELS_KVDIRECT_BUCKET_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

/** The metadata behind the slots, unpacked. Fields of 3 bits for each slot lie at bit 3 * slot. */
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

/** Slots of inline pairs, as bits. */
static inline uint32_t kvc_kvdirect_bucket_inline_slots(const struct kvc_kvdirect_bucket_meta *meta)
{
    /* Each pair contributes 2^(end + 1) - 2^begin, which are the bits from its beginning to its end. */
    return (meta->end << 1) - meta->begin;
}

/** Slots of pointers, as bits. */
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

/** Free slots, as bits. */
static inline uint32_t kvc_kvdirect_bucket_free_slots(const struct kvc_kvdirect_bucket_meta *meta)
{
    return KVC_KVDIRECT_BUCKET_ALL_SLOTS &
           ~(kvc_kvdirect_bucket_inline_slots(meta) | kvc_kvdirect_bucket_pointer_slots(meta));
}

/** Whether the bucket has this many free slots, consecutive or not. */
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

/** Slots that an inline pair of this size needs. */
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

/** The inline pair that begins at this slot. */
static inline struct kvc_kvdirect_bucket_inline
kvc_kvdirect_bucket_inline_at(const struct kvc_kvdirect_bucket_meta *meta, unsigned slot)
{
    uint32_t slots = (uint32_t)__builtin_ctz(meta->end >> slot) + 1;
    uint32_t key_bytes = meta->types >> 3 * slot & (slots > 1 ? 63 : 7);
    uint32_t bytes = KVC_KVDIRECT_BUCKET_SLOT_BYTES * slots - (meta->padding >> 3 * slot & 7);
    return (struct kvc_kvdirect_bucket_inline){slots, key_bytes, bytes - key_bytes};
}

/** Slots at which the next 8 bytes, under the mask, equal the prefix; as bits. */
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

/** The granule that a pointer slot points to. */
static inline uint32_t kvc_kvdirect_bucket_pointer_at(const struct kvc_kvdirect_bucket *bucket, unsigned slot)
{
    return kvc_kvdirect_load64(bucket->byte + KVC_KVDIRECT_BUCKET_SLOT_BYTES * slot) & 0x7fffffff;
}

/** Slots with a pointer and this secondary hash, as bits. */
static inline uint32_t kvc_kvdirect_bucket_match_pointers(const struct kvc_kvdirect_bucket *bucket,
                                                          const struct kvc_kvdirect_bucket_meta *meta,
                                                          uint32_t secondary)
{
    return kvc_kvdirect_bucket_match(bucket, (uint64_t)secondary << 31, UINT64_C(0x1ff) << 31) &
           kvc_kvdirect_bucket_pointer_slots(meta);
}

/** The slab type of a pointer slot. */
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

#endif
