/** @file
 * Internal to kernels/megakv: the header of an item of the slab store, computed alike on the host and on the
 * GPU.
 */
#ifndef KVC_KERNELS_MEGAKV_SLAB_LAYOUT_H
#define KVC_KERNELS_MEGAKV_SLAB_LAYOUT_H

#include <stdint.h>

#include "kernels/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Tag of an item in use, in its header.
 *
 * The header is one word, so that it is read and written whole. Bit 0: tag. Bits 1 to 8: key length. Bits 9
 * to 30: value length. Bit 31: the item is being rewritten (never set together with the tag). Bits 32 to 63:
 * version, incremented by every write. */
static const uint64_t kvc_megakv_slab_tag_using = 1;
static const uint64_t kvc_megakv_slab_tag_writing = UINT64_C(1) << 31; /**< The item is being rewritten. */
static const uint64_t kvc_megakv_slab_shape_mask = 0xffffffff;         /**< Everything but the version. */

/** Returns the header of an item in use with these lengths, version 0. */
static inline KVC_HOST_DEVICE uint64_t kvc_megakv_slab_header_shape(uint32_t key_bytes, uint32_t value_bytes)
{
    return kvc_megakv_slab_tag_using | (uint64_t)key_bytes << 1 | (uint64_t)value_bytes << 9;
}

/** Returns the key length in a header [bytes]. */
static inline KVC_HOST_DEVICE uint32_t kvc_megakv_slab_header_key_bytes(uint64_t header)
{
    return (uint32_t)(header >> 1) & 0xff;
}

/** Returns the value length in a header [bytes]. */
static inline KVC_HOST_DEVICE uint32_t kvc_megakv_slab_header_value_bytes(uint64_t header)
{
    return (uint32_t)header >> 9;
}

#ifdef __cplusplus
}
#endif

#endif
