#include "kernels/megakv/shared_memory.h"

#include "kernels/megakv/cuckoo_internal.h"
#include "kernels/megakv/slab_internal.h"

bool kvc_megakv_shared_memory_of(struct kvc_index *index, struct kvc_megakv_slab *slab,
                                 struct kvc_megakv_shared_memory *memory)
{
    struct kvc_megakv_cuckoo *table = kvc_megakv_cuckoo_table_of(index);
    if (table->shape.slots != kvc_megakv_cuckoo_published.slots || !table->shape.apart ||
        table->published_displacement) {
        return false;
    }
    *memory = (struct kvc_megakv_shared_memory){
        .words = table->words,
        .words_bytes = table->bytes,
        .masks = table->masks,
        .max_displacements = table->max_displacements,
        .header = table,
        .header_bytes = sizeof(*table),
        .moves = &table->moves,
        .slabs = slab->base,
        .slabs_bytes = (uint64_t)slab->slab_count * KVC_MEGAKV_SLAB_BYTES,
        .item_bytes = slab->item_bytes,
        .slab_count = slab->slab_count,
    };
    return true;
}

void kvc_megakv_shared_memory_changed(struct kvc_index *index, uint64_t inserted, uint64_t erased)
{
    kvc_megakv_cuckoo_table_of(index)->used += inserted - erased;
}
