#include "kernels/kvdirect/table.h"

#include <errno.h>
#include <stdlib.h>

#include "kernels/kvdirect/table_internal.h"
#include "kernels/pages.h"

void kvc_kvdirect_table_set_trace(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_trace *trace)
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
    const uint64_t block_bytes = KVC_KVDIRECT_SLAB_BLOCK_GRANULES * KVC_KVDIRECT_SLAB_GRANULE_BYTES;
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
    uint64_t index_bytes = kvc_kvdirect_table_index_bytes(params);
    *table = (struct kvc_kvdirect_table){.index = {&kvc_kvdirect_table_index_ops},
                                         .bytes = bytes,
                                         .buckets = index_bytes / KVC_KVDIRECT_TABLE_BUCKET_BYTES,
                                         .inline_bytes = params->inline_bytes,
                                         .seed = params->seed};
    table->memory = kvc_pages_alloc(bytes);
    bool ok = table->memory != NULL;
    if (ok && index_bytes < bytes) {
        table->slab = kvc_kvdirect_slab_create(&(struct kvc_kvdirect_slab_params){
            .first_granule = index_bytes / KVC_KVDIRECT_SLAB_GRANULE_BYTES, .bytes = bytes - index_bytes});
        ok = table->slab != NULL;
    }
    if (!ok) {
        kvc_kvdirect_table_free(table);
        errno = ENOMEM;
        return NULL;
    }
    return table;
}
