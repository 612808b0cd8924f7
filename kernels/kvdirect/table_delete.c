#include "kernels/kvdirect/table_ops.h"

void kvc_kvdirect_table_delete(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                               const struct key *key, struct kvc_kvdirect_table_stats *stats)
{
    struct place place = find(table, key, 0, &stats->erase, &stats->false_matches);
    stats->erase.operations++;
    op->result = place.bucket != NULL ? KVC_KVDIRECT_TABLE_OK : KVC_KVDIRECT_TABLE_ABSENT;
    if (place.bucket != NULL) {
        stats->erase.found++;
        remove_pair(table, key, place, &stats->erase, &stats->slab);
    }
}
