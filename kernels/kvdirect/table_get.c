#include "kernels/kvdirect/table_ops.h"

#include <string.h>

void kvc_kvdirect_table_get(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                            const struct kvc_kvdirect_key *key, struct kvc_kvdirect_table_stats *stats)
{
    struct kvc_kvdirect_place place = kvc_kvdirect_find(table, key, 0, &stats->get, &stats->false_matches);
    stats->get.operations++;
    if (place.bucket == NULL) {
        op->result = KVC_KVDIRECT_TABLE_ABSENT;
        return;
    }
    stats->get.found++;
    op->result = place.value_bytes <= op->value_bytes ? KVC_KVDIRECT_TABLE_OK : KVC_KVDIRECT_TABLE_SIZE;
    op->value_bytes = (uint16_t)place.value_bytes;
    if (op->result == KVC_KVDIRECT_TABLE_OK && place.value_bytes > 0) {
        memcpy(op->value, place.value, place.value_bytes);
    }
}
