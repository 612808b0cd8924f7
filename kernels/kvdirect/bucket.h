/* KV-Direct's hash bucket: 64 bytes that hold pointers and inline pairs side by side. Internal to the table.
 *
 * Source: KV-Direct (SOSP 2017), sec. 3.3.1 and fig. 5. Ten slots of 5 bytes (31-bit pointer, 9-bit secondary
 * hash), 3 bits of slab type for each slot, a bitmap of beginnings and ends of inline pairs and a pointer to
 * the next chained bucket: 50 bytes and 81 bits of the 112 that are left. An inline pair fills consecutive
 * slots with key, value and up to 4 bytes of padding.
 *
 * The paper does not say where the sizes of an inline pair are. Here they take no slot, so that a pair of 10
 * bytes fills two: the slab type bits of an inline pair's slots hold the key's size and 3 of the 31 unused
 * bits per slot the padding. The last bit tells that there are pointers at all.
 *
 *   byte  0  slot 0 .. slot 9
 *   byte 50  31 bits chain, 30 bits padding (17 here, 13 at the end)
 *   byte 56  30 bits types, 10 bits beginnings, 10 bits ends, 13 bits padding, 1 bit pointers */
#ifndef KVC_KERNELS_KVDIRECT_BUCKET_H
#define KVC_KERNELS_KVDIRECT_BUCKET_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    KVC_KVDIRECT_TABLE_SLOTS = 10,
    KVC_KVDIRECT_TABLE_SLOT_BYTES = 5,
    KVC_KVDIRECT_TABLE_ALL_SLOTS = (1 << KVC_KVDIRECT_TABLE_SLOTS) - 1,
};

struct kvc_kvdirect_table_bucket {
    _Alignas(64) uint8_t byte[64];
};

/* What follows the slots, unpacked. Fields of 3 bits per slot lie at bit 3 * slot. */
struct kvc_kvdirect_table_meta {
    uint32_t types;   /* of a pointer: slab type + 1 (0: empty); of an inline pair: its key's size */
    uint32_t padding; /* of an inline pair, at its first slot */
    uint32_t chain;   /* granule of the next bucket; 0: none */
    uint32_t begin, end;
    bool pointers;
};

static inline uint64_t kvc_kvdirect_table_load64(const uint8_t *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof(word));
    return le64toh(word);
}

static inline void kvc_kvdirect_table_store64(uint8_t *to, uint64_t word)
{
    word = htole64(word);
    memcpy(to, &word, sizeof(word));
}

static inline struct kvc_kvdirect_table_meta
kvc_kvdirect_table_meta_load(const struct kvc_kvdirect_table_bucket *bucket)
{
    uint64_t low = kvc_kvdirect_table_load64(bucket->byte + 48) >> 16;
    uint64_t high = kvc_kvdirect_table_load64(bucket->byte + 56);
    return (struct kvc_kvdirect_table_meta){
        .types = high & 0x3fffffff,
        .padding = (uint32_t)(low >> 31 | (high >> 50 & 0x1fff) << 17),
        .chain = low & 0x7fffffff,
        .begin = high >> 30 & KVC_KVDIRECT_TABLE_ALL_SLOTS,
        .end = high >> 40 & KVC_KVDIRECT_TABLE_ALL_SLOTS,
        .pointers = high >> 63,
    };
}

static inline uint32_t kvc_kvdirect_table_inline_slots(const struct kvc_kvdirect_table_meta *meta)
{
    /* Each pair adds 2^(end + 1) - 2^begin: the bits from its beginning to its end. */
    return (meta->end << 1) - meta->begin;
}

/* Bit s is set where slot s holds a pointer. */
static inline uint32_t kvc_kvdirect_table_pointer_slots(const struct kvc_kvdirect_table_meta *meta)
{
    /* Gathers every third bit. */
    uint32_t slots = (meta->types | meta->types >> 1 | meta->types >> 2) & 0x09249249;
    slots = (slots | slots >> 2) & 0x030c30c3;
    slots = (slots | slots >> 4) & 0x0300f00f;
    slots = (slots | slots >> 8) & 0x030000ff;
    slots = (slots | slots >> 16) & KVC_KVDIRECT_TABLE_ALL_SLOTS;
    return slots & ~kvc_kvdirect_table_inline_slots(meta);
}

static inline uint32_t kvc_kvdirect_table_free_slots(const struct kvc_kvdirect_table_meta *meta)
{
    return KVC_KVDIRECT_TABLE_ALL_SLOTS &
           ~(kvc_kvdirect_table_inline_slots(meta) | kvc_kvdirect_table_pointer_slots(meta));
}

static inline bool kvc_kvdirect_table_has_room(const struct kvc_kvdirect_table_meta *meta, uint32_t slots)
{
    uint32_t left = kvc_kvdirect_table_free_slots(meta);
    for (uint32_t i = 1; i < slots; i++) {
        left &= left - 1; /* 0 stays 0 */
    }
    return left != 0;
}

static inline void kvc_kvdirect_table_meta_store(struct kvc_kvdirect_table_bucket *bucket,
                                                 const struct kvc_kvdirect_table_meta *meta)
{
    uint64_t low = meta->chain | (uint64_t)meta->padding << 31;
    uint64_t high = meta->types | (uint64_t)meta->begin << 30 | (uint64_t)meta->end << 40 |
                    (uint64_t)(meta->padding >> 17) << 50 |
                    (uint64_t)(kvc_kvdirect_table_pointer_slots(meta) != 0) << 63;
    uint64_t slots = kvc_kvdirect_table_load64(bucket->byte + 48) & 0xffff;
    kvc_kvdirect_table_store64(bucket->byte + 48, slots | low << 16);
    kvc_kvdirect_table_store64(bucket->byte + 56, high);
}

static inline uint32_t kvc_kvdirect_table_slots_for(uint32_t pair_bytes)
{
    return (pair_bytes + KVC_KVDIRECT_TABLE_SLOT_BYTES - 1) / KVC_KVDIRECT_TABLE_SLOT_BYTES;
}

static inline uint8_t *kvc_kvdirect_table_slot(struct kvc_kvdirect_table_bucket *bucket, unsigned slot)
{
    return bucket->byte + KVC_KVDIRECT_TABLE_SLOT_BYTES * slot;
}

/* An inline pair, by its first slot. */
struct kvc_kvdirect_table_inline {
    uint32_t slots, key_bytes, value_bytes;
};

static inline struct kvc_kvdirect_table_inline
kvc_kvdirect_table_inline_at(const struct kvc_kvdirect_table_meta *meta, unsigned slot)
{
    uint32_t slots = (uint32_t)__builtin_ctz(meta->end >> slot) + 1;
    uint32_t key_bytes = meta->types >> 3 * slot & (slots > 1 ? 63 : 7);
    uint32_t bytes = KVC_KVDIRECT_TABLE_SLOT_BYTES * slots - (meta->padding >> 3 * slot & 7);
    return (struct kvc_kvdirect_table_inline){slots, key_bytes, bytes - key_bytes};
}

/* Bit s is set where the bytes from slot s on, under the mask, are `prefix`. */
static inline __attribute__((always_inline)) uint32_t
kvc_kvdirect_table_match(const struct kvc_kvdirect_table_bucket *bucket, uint64_t prefix, uint64_t mask)
{
    uint32_t slots = 0;
    for (unsigned s = 0; s < KVC_KVDIRECT_TABLE_SLOTS; s++) {
        uint64_t word = kvc_kvdirect_table_load64(bucket->byte + KVC_KVDIRECT_TABLE_SLOT_BYTES * s);
        slots |= (uint32_t)((word & mask) == prefix) << s;
    }
    return slots;
}

static inline uint32_t kvc_kvdirect_table_pointer_at(const struct kvc_kvdirect_table_bucket *bucket,
                                                     unsigned slot)
{
    return kvc_kvdirect_table_load64(bucket->byte + KVC_KVDIRECT_TABLE_SLOT_BYTES * slot) & 0x7fffffff;
}

/* Slots with a pointer and this secondary hash. */
static inline uint32_t kvc_kvdirect_table_match_pointers(const struct kvc_kvdirect_table_bucket *bucket,
                                                         const struct kvc_kvdirect_table_meta *meta,
                                                         uint32_t secondary)
{
    return kvc_kvdirect_table_match(bucket, (uint64_t)secondary << 31, UINT64_C(0x1ff) << 31) &
           kvc_kvdirect_table_pointer_slots(meta);
}

static inline unsigned kvc_kvdirect_slab_type_at(const struct kvc_kvdirect_table_meta *meta, unsigned slot)
{
    return (meta->types >> 3 * slot & 7) - 1;
}

/* Empties the slots of a pointer (slots = 1) or of an inline pair. */
static inline void kvc_kvdirect_table_clear(struct kvc_kvdirect_table_meta *meta, unsigned slot,
                                            uint32_t slots)
{
    uint32_t fields = ((1u << 3 * slots) - 1) << 3 * slot; /* slots <= 10: 30 bits */
    meta->types &= ~fields;
    meta->padding &= ~fields;
    uint32_t run = ((1u << slots) - 1) << slot;
    meta->begin &= ~run;
    meta->end &= ~run;
}

/* Moves everything to the left, so that the free slots follow each other. The line is written whole anyway.
 */
static __attribute__((noinline, unused)) void
kvc_kvdirect_table_compact(struct kvc_kvdirect_table_bucket *bucket, struct kvc_kvdirect_table_meta *meta)
{
    struct kvc_kvdirect_table_bucket from = *bucket;
    struct kvc_kvdirect_table_meta old = *meta;
    uint32_t pointers = kvc_kvdirect_table_pointer_slots(&old);
    *meta = (struct kvc_kvdirect_table_meta){.chain = old.chain};
    unsigned to = 0;
    for (uint32_t starts = old.begin | pointers; starts != 0; starts &= starts - 1) {
        unsigned s = (unsigned)__builtin_ctz(starts);
        uint32_t slots = 1;
        if (old.begin >> s & 1) {
            slots = kvc_kvdirect_table_inline_at(&old, s).slots;
            meta->begin |= 1u << to;
            meta->end |= 1u << (to + slots - 1);
        }
        uint32_t fields = (1u << 3 * slots) - 1;
        meta->types |= (old.types >> 3 * s & fields) << 3 * to;
        meta->padding |= (old.padding >> 3 * s & fields) << 3 * to;
        memcpy(kvc_kvdirect_table_slot(bucket, to), kvc_kvdirect_table_slot(&from, s),
               KVC_KVDIRECT_TABLE_SLOT_BYTES * slots);
        to += slots;
    }
}

/* First of `slots` consecutive free ones, of which there must be as many; may move what is in the bucket. */
static inline unsigned kvc_kvdirect_table_make_room(struct kvc_kvdirect_table_bucket *bucket,
                                                    struct kvc_kvdirect_table_meta *meta, uint32_t slots)
{
    for (;;) {
        uint32_t run = kvc_kvdirect_table_free_slots(meta);
        for (uint32_t i = 1; i < slots; i++) {
            run &= run >> 1;
        }
        if (run != 0) {
            return (unsigned)__builtin_ctz(run);
        }
        struct kvc_kvdirect_table_meta moved = *meta; /* a copy, so that what is common stays in registers */
        kvc_kvdirect_table_compact(bucket, &moved);
        *meta = moved;
    }
}

static inline void kvc_kvdirect_table_set_inline(struct kvc_kvdirect_table_bucket *bucket,
                                                 struct kvc_kvdirect_table_meta *meta, unsigned slot,
                                                 const void *key, uint32_t key_bytes, const void *value,
                                                 uint32_t value_bytes)
{
    uint32_t slots = kvc_kvdirect_table_slots_for(key_bytes + value_bytes);
    uint32_t padding = KVC_KVDIRECT_TABLE_SLOT_BYTES * slots - key_bytes - value_bytes;
    kvc_kvdirect_table_clear(meta, slot, slots);
    meta->types |= key_bytes << 3 * slot;
    meta->padding |= padding << 3 * slot;
    meta->begin |= 1u << slot;
    meta->end |= 1u << (slot + slots - 1);
    memcpy(kvc_kvdirect_table_slot(bucket, slot), key, key_bytes);
    if (value_bytes > 0) {
        memcpy(kvc_kvdirect_table_slot(bucket, slot) + key_bytes, value, value_bytes);
    }
}

static inline void kvc_kvdirect_table_set_pointer(struct kvc_kvdirect_table_bucket *bucket,
                                                  struct kvc_kvdirect_table_meta *meta, unsigned slot,
                                                  uint32_t granule, uint32_t secondary, unsigned type)
{
    uint64_t word = granule | (uint64_t)secondary << 31;
    kvc_kvdirect_table_clear(meta, slot, 1);
    meta->types |= (type + 1) << 3 * slot;
    for (unsigned i = 0; i < KVC_KVDIRECT_TABLE_SLOT_BYTES; i++) {
        kvc_kvdirect_table_slot(bucket, slot)[i] = (uint8_t)(word >> 8 * i);
    }
}

#endif
