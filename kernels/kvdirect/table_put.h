/** @file
 * Putting a pair into KV-Direct's hash table. Internal to the table.
 *
 * The index interface calls kvc_kvdirect_put_pair on its own kind of pair, whose constant sizes are folded
 * into the function. */
#ifndef KVC_KERNELS_KVDIRECT_TABLE_PUT_H
#define KVC_KERNELS_KVDIRECT_TABLE_PUT_H

#include "kernels/kvdirect/table_ops.h"

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

#endif
