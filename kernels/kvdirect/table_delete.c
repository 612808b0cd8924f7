#include "kernels/kvdirect/table_ops.h"

void kvc_kvdirect_table_delete(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                               const struct kvc_kvdirect_key *key, struct kvc_kvdirect_table_stats *stats)
{
    struct kvc_kvdirect_place place = kvc_kvdirect_find(table, key, 0, &stats->erase, &stats->false_matches);
    stats->erase.operations++;
    op->result = place.bucket != NULL ? KVC_KVDIRECT_TABLE_OK : KVC_KVDIRECT_TABLE_ABSENT;
    if (place.bucket != NULL) {
        stats->erase.found++;
        kvc_kvdirect_remove_pair(table, key, place, &stats->erase, &stats->slab);
    }
}
