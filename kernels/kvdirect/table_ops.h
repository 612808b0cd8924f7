/** @file
 * The operations of KV-Direct's hash table on one key. Internal to the table.
 *
 * The table runs them on the operations of its callers. The index interface calls kvc_kvdirect_remove_pair
 * (and kvc_kvdirect_put_pair of table_put.h) on its own kind of pair, whose constant sizes are folded in. */
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
