/** @file
 * How the operations of KV-Direct's hash table find a key in its chain. Internal to the table. */
#ifndef KVC_KERNELS_KVDIRECT_TABLE_FIND_H
#define KVC_KERNELS_KVDIRECT_TABLE_FIND_H

#include <string.h>

#include "kernels/kvdirect/table_internal.h"

/** A key with what the search needs of it. */
struct kvc_kvdirect_key {
    const uint8_t *bytes; /**< The key. */
    uint32_t size;        /**< Its size [bytes]. */
    uint64_t hash;        /**< Its hash. */
    uint64_t prefix;      /**< Its first 8 bytes, or all if it is shorter. */
    uint64_t mask;        /**< The bits of `prefix` that count. */
};

/** Where a key is, or where its pair may go. */
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

/** Looks for a key behind the pointers of a bucket; returns false if it is not there. */
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

/** First slots of the inline pairs that begin with the key's first bytes, as bits. */
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

#endif
