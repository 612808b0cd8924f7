/** @file
 * The operations of KV-Direct's hash table on one key. Internal to the table.
 *
 * The table runs them on the operations of its callers; the index interface calls kvc_kvdirect_put_pair and
 * kvc_kvdirect_remove_pair on its own kind of pair, whose sizes are constants that are folded into these
 * functions. */
#ifndef KVC_KERNELS_KVDIRECT_TABLE_OPS_H
#define KVC_KERNELS_KVDIRECT_TABLE_OPS_H

#include "kernels/kvdirect/table_find.h"

/** Runs a GET. */
void kvc_kvdirect_table_get(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                            const struct kvc_kvdirect_key *key, struct kvc_kvdirect_table_stats *stats);

/** Runs a PUT. */
void kvc_kvdirect_table_put(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                            const struct kvc_kvdirect_key *key, struct kvc_kvdirect_table_stats *stats);

/** Runs a DELETE. */
void kvc_kvdirect_table_delete(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                               const struct kvc_kvdirect_key *key, struct kvc_kvdirect_table_stats *stats);

/** Runs an ADD, SWAP or APPLY. */
void kvc_kvdirect_table_update(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                               const struct kvc_kvdirect_key *key, struct kvc_kvdirect_table_stats *stats);

/** A pair that is being put. */
struct kvc_kvdirect_put {
    const struct kvc_kvdirect_key *key; /**< Its key. */
    const void *value;                  /**< Its value. */
    uint32_t value_bytes;               /**< Size of the value [bytes]. */
    bool inlined;                       /**< It goes into a bucket, and not into a slab. */
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
