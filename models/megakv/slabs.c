#include "models/megakv/slabs.h"

#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/diag.h"
#include "sim/workload/sizes.h"

enum {
    SIZES_MAX = 1 << 22, /* Keys whose sizes are looked up; each may stand for several. */
    ITEM_STEP = 16,      /* Item sizes are multiples of it [bytes]. */
    ITEM_SIZES = (1 << 20) / ITEM_STEP + 1,
};

/* A size class while the store is filled. */
struct demand {
    double items, room;
};

/* Notes that `weight` items with the sizes of a key are stored. Returns false if they find no slab, because
 * then all slabs have been given to classes. */
static bool store_items(struct kvc_megakv_slab *slab, struct demand *demand, uint32_t key_bytes,
                        uint32_t value_bytes, double weight)
{
    struct demand *class = &demand[kvc_megakv_slab_item_bytes(key_bytes, value_bytes) / ITEM_STEP];
    class->items += weight;
    while (class->items > class->room) {
        if (!kvc_megakv_slab_assign(slab, key_bytes, value_bytes)) {
            return false;
        }
        class->room += kvc_megakv_slab_items(key_bytes, value_bytes);
    }
    return true;
}

void kvc_megakv_assign_slabs(struct kvc_megakv_slab *slab, const struct kvc_workload *workload,
                             uint32_t shards)
{
    struct kvc_sizes *sizes = kvc_workload_sizes(workload);
    if (sizes == NULL) {
        kvc_out_of_memory("the size distribution");
    }
    if (!kvc_sizes_fixed(sizes)) {
        uint64_t keys = (uint64_t)(workload->preload_frac * (double)workload->keys);
        uint64_t step = (keys + SIZES_MAX - 1) / SIZES_MAX;
        struct demand *demand = kvc_array_of(ITEM_SIZES, sizeof(*demand));
        bool room = true;
        for (uint64_t left = step > 0 ? keys / step : 0; left > 0 && room; left--) {
            uint64_t key_id = (left - 1) * step;
            uint8_t key_bytes;
            uint32_t value_bytes;
            kvc_sizes_fill(sizes, &key_id, 1, &key_bytes, &value_bytes);
            room = store_items(slab, demand, key_bytes, value_bytes, (double)step / shards);
        }
        free(demand);
    }
    kvc_sizes_free(sizes);
}
