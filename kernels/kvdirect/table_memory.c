#include "kernels/kvdirect/table_internal.h"

#include <stdlib.h>

void kvc_kvdirect_table_add_access(struct kvc_kvdirect_table_trace *trace, uint64_t line, uint32_t bytes,
                                   bool write)
{
    if (trace->count == trace->capacity) {
        uint32_t capacity = trace->capacity > 0 ? 2 * trace->capacity : 64;
        void *larger = realloc(trace->access, capacity * sizeof(*trace->access));
        trace->short_of_memory |= larger == NULL;
        if (larger == NULL) {
            return;
        }
        trace->access = larger;
        trace->capacity = capacity;
    }
    trace->access[trace->count++] =
        (struct kvc_kvdirect_table_access){(uint32_t)line, (uint16_t)bytes, write, trace->operation};
}

uint32_t kvc_kvdirect_table_allocate(struct kvc_kvdirect_table *table, unsigned type,
                                     struct kvc_kvdirect_slab_stats *stats)
{
    if (table->slab == NULL || table->exhausted_at[type] == table->released + 1) {
        return KVC_KVDIRECT_SLAB_NONE;
    }
    uint32_t granule = kvc_kvdirect_slab_alloc(table->slab, type, stats);
    if (granule == KVC_KVDIRECT_SLAB_NONE && kvc_kvdirect_slab_daemon(table->slab, stats)) {
        granule = kvc_kvdirect_slab_alloc(table->slab, type, stats);
    }
    if (granule == KVC_KVDIRECT_SLAB_NONE) {
        kvc_kvdirect_slab_recall(table->slab, stats);
        kvc_kvdirect_slab_daemon(table->slab, stats);
        granule = kvc_kvdirect_slab_alloc(table->slab, type, stats);
    }
    if (granule == KVC_KVDIRECT_SLAB_NONE) {
        table->exhausted_at[type] = table->released + 1;
    }
    return granule;
}

void kvc_kvdirect_table_release(struct kvc_kvdirect_table *table, uint32_t granule, unsigned type,
                                struct kvc_kvdirect_slab_stats *stats)
{
    kvc_kvdirect_slab_release(table->slab, granule, type, stats);
    table->released++;
}
