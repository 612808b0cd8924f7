/** @file
 * Internal to kernels/megakv: where the elements of a cuckoo table lie, computed alike on the host and on the
 * GPU.
 */
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

/** Signature of an empty slot. */
#define KVC_MEGAKV_CUCKOO_EMPTY 0u

/** Location of an erased slot in the interleaved layout; a slot that was never used has location 0. */
#define KVC_MEGAKV_CUCKOO_ERASED_LOCATION 1u

/** Masks that select buckets. */
struct kvc_megakv_cuckoo_layout_masks {
    uint32_t bucket;    /**< Number of buckets minus 1. */
    uint32_t alternate; /**< Number of buckets of a partition minus 1. */
};

/** Fills in the defaults of the parameters and computes the masks; returns false if a parameter is out of
 * range. */
bool kvc_megakv_cuckoo_params_complete(struct kvc_megakv_cuckoo_params *params,
                                       struct kvc_megakv_cuckoo_layout_masks *masks);

/** Returns the primary bucket of an element. */
static inline KVC_HOST_DEVICE uint32_t kvc_megakv_cuckoo_primary(struct kvc_megakv_cuckoo_layout_masks masks,
                                                                 uint64_t hash)
{
    return (uint32_t)hash & masks.bucket;
}

/** Returns the other bucket of an element with this signature, which may be the same bucket. */
static inline KVC_HOST_DEVICE uint32_t
kvc_megakv_cuckoo_alternate(struct kvc_megakv_cuckoo_layout_masks masks, uint32_t bucket, uint32_t signature)
{
    return bucket ^ (signature & masks.alternate);
}

/** Returns the word of a bucket (32 bits each, the first is 0) that holds the signature of a slot. */
static inline KVC_HOST_DEVICE uint32_t kvc_megakv_cuckoo_signature_word(uint32_t slots, bool apart,
                                                                        uint32_t slot)
{
    (void)slots;
    return apart ? slot : 2 * slot;
}

/** Returns the word of a bucket (32 bits each, the first is 0) that holds the location of a slot. */
static inline KVC_HOST_DEVICE uint32_t kvc_megakv_cuckoo_location_word(uint32_t slots, bool apart,
                                                                       uint32_t slot)
{
    return apart ? slots + slot : 2 * slot + 1;
}

/** Returns how far a slot is to the left of the preferred slot of an element (its top signature bits),
 * wrapping around. An element takes the empty slot of least distance. `slots` is a power of two. */
static inline KVC_HOST_DEVICE uint32_t kvc_megakv_cuckoo_distance(uint32_t slots, uint32_t signature,
                                                                  uint32_t slot)
{
    uint32_t preferred = (uint32_t)((uint64_t)signature * slots >> 32);
    return (preferred - slot) & (slots - 1);
}

/** Returns the slot at this distance; the inverse of kvc_megakv_cuckoo_distance(). */
static inline KVC_HOST_DEVICE uint32_t kvc_megakv_cuckoo_slot_at(uint32_t slots, uint32_t signature,
                                                                 uint32_t distance)
{
    uint32_t preferred = (uint32_t)((uint64_t)signature * slots >> 32);
    return (preferred - distance) & (slots - 1);
}

#ifdef __cplusplus
}
#endif

#endif
