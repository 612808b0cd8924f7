#include "kernels/kvdirect/table_internal.h"

uint64_t kvc_kvdirect_table_index_bytes(const struct kvc_kvdirect_table_params *params)
{
    const uint64_t block_bytes = KVC_KVDIRECT_SLAB_BLOCK_GRANULES * KVC_KVDIRECT_SLAB_GRANULE_BYTES;
    uint64_t blocks = (uint64_t)(params->hash_index_frac * (double)(params->bytes / block_bytes) + 0.5);
    return (blocks > 0 ? blocks : 1) * block_bytes;
}

/* The capacity of a table with this geometry; see kvc_kvdirect_table_capacity. */
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
