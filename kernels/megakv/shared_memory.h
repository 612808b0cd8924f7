/** @file
 * Internal to kernels/megakv: where the published cuckoo table and the slab store lie in the host's memory,
 * for a GPU that works on them in place. */
#ifndef KVC_KERNELS_MEGAKV_SHARED_MEMORY_H
#define KVC_KERNELS_MEGAKV_SHARED_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/megakv/cuckoo_layout.h"
#include "kernels/megakv/slab.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What kernels need to know of both. Each array begins on a page of its own. */
struct kvc_megakv_shared_memory {
    uint32_t *words;                             /**< Buckets of the table. */
    uint64_t words_bytes;                        /**< Size of the buckets [bytes]. */
    struct kvc_megakv_cuckoo_layout_masks masks; /**< Masks that select buckets. */
    uint32_t max_displacements;                  /**< Most moves per insert. */
    void *header;                                /**< The table's own structure. */
    uint64_t header_bytes;                       /**< Size of it [bytes]. */
    uint64_t *moves;                             /**< Elements moved so far; a part of this structure. */
    uint8_t *slabs;                              /**< Slab memory. */
    uint64_t slabs_bytes;                        /**< Size of it [bytes]. */
    uint32_t *item_bytes;                        /**< Size of the items of each slab [bytes]; 0: no class. */
    uint32_t slab_count;                         /**< Number of slabs. */
};

/** Finds the memory of a table and a store. Returns false if the table has not the published geometry. */
bool kvc_megakv_shared_memory_of(struct kvc_index *index, struct kvc_megakv_slab *slab,
                                 struct kvc_megakv_shared_memory *memory);

/** Notes that the GPU has added `inserted` elements to the table and removed `erased` ones. */
void kvc_megakv_shared_memory_changed(struct kvc_index *index, uint64_t inserted, uint64_t erased);

#ifdef __cplusplus
}
#endif

#endif
