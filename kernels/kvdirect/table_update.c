#include "kernels/kvdirect/table_ops.h"

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

void kvc_kvdirect_table_update(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
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
