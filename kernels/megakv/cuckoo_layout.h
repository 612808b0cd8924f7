/* Where the elements of a cuckoo table are: the same arithmetic for the table in host memory and for its GPU
 * twin. */
#ifndef KVC_KERNELS_MEGAKV_CUCKOO_LAYOUT_H
#define KVC_KERNELS_MEGAKV_CUCKOO_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/device.h"
#include "kernels/hash.h"
#include "kernels/megakv/cuckoo.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Signature of an empty cell. In the interleaved layout its location tells whether it ever held an element.
 */
#define KVC_MEGAKV_CUCKOO_EMPTY 0u
#define KVC_MEGAKV_CUCKOO_ERASED_LOCATION 1u

struct kvc_megakv_cuckoo_layout_masks {
    uint32_t bucket;    /* buckets - 1 */
    uint32_t alternate; /* buckets of a partition - 1 */
};

/* false: not a table that can be. Fills in the defaults. */
bool kvc_megakv_cuckoo_params_complete(struct kvc_megakv_cuckoo_params *params,
                                       struct kvc_megakv_cuckoo_layout_masks *masks);

#ifdef __cplusplus
}
#endif

static inline KVC_HOST_DEVICE uint32_t kvc_megakv_cuckoo_primary(struct kvc_megakv_cuckoo_layout_masks masks,
                                                                 uint64_t hash)
{
    return (uint32_t)hash & masks.bucket;
}

/* The other bucket of an element with this signature; it may be the same one. */
static inline KVC_HOST_DEVICE uint32_t
kvc_megakv_cuckoo_alternate(struct kvc_megakv_cuckoo_layout_masks masks, uint32_t bucket, uint32_t signature)
{
    return bucket ^ (signature & masks.alternate);
}

/* The 32-bit words of a bucket, counted from its first one. */
static inline KVC_HOST_DEVICE uint32_t kvc_megakv_cuckoo_signature_word(uint32_t slots, bool apart,
                                                                        uint32_t slot)
{
    (void)slots;
    return apart ? slot : 2 * slot;
}

static inline KVC_HOST_DEVICE uint32_t kvc_megakv_cuckoo_location_word(uint32_t slots, bool apart,
                                                                       uint32_t slot)
{
    return apart ? slots + slot : 2 * slot + 1;
}

/* How far left of its preferred cell (the top signature bits) an element's cell is, round the end; elements
 * go to the empty cell of least distance. `cells` is a power of two. */
static inline KVC_HOST_DEVICE uint32_t kvc_megakv_cuckoo_distance(uint32_t slots, uint32_t signature,
                                                                  uint32_t slot)
{
    uint32_t preferred = (uint32_t)((uint64_t)signature * slots >> 32);
    return (preferred - slot) & (slots - 1);
}

static inline KVC_HOST_DEVICE uint32_t kvc_megakv_cuckoo_slot_at(uint32_t slots, uint32_t signature,
                                                                 uint32_t distance)
{
    uint32_t preferred = (uint32_t)((uint64_t)signature * slots >> 32);
    return (preferred - distance) & (slots - 1);
}

#endif
