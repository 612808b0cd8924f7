/* A batch of GET packets, from raw frames to the heads of their responses: the CPU's twin of MemcachedGPU's
 * kernel.
 *
 * Source: MemcachedGPU (SoCC 2015), sec. 3.2.2 and 4.1.1: parse UDP, parse the request, hash the key, search
 * the set-associative table, build the response's head. Values stay where they are; whoever sends the
 * responses copies them in (GNoM-post in the paper: not modelled). get_cuda.h has the same on the GPU, with
 * the same bytes as result. */
#ifndef KVC_KERNELS_MEMCACHEDGPU_GET_H
#define KVC_KERNELS_MEMCACHEDGPU_GET_H

#include <stdint.h>

#include "kernels/index.h"
#include "kernels/memcachedgpu/packet.h"
#include "kernels/memcachedgpu/set_assoc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a packet is in the batch's buffer. */
struct kvc_memcachedgpu_get_packet {
    uint32_t offset, bytes;
};

struct kvc_memcachedgpu_get_result {
    uint32_t location;       /* of the item, or KVC_LOCATION_NONE */
    uint32_t value_bytes;    /* of the item, or 0 */
    uint16_t response_bytes; /* of the head; 0: the CPU must answer, or nobody */
    uint8_t key_bytes;       /* 0 where the request is not a correct one */
    uint8_t status;          /* enum kvc_memcachedgpu_packet_status */
};

/* Packets may have any alignment and length. Responses are KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES apart, in
 * memory aligned to 16 bytes; of each, the head is written and zeros behind it up to a multiple of 16 bytes;
 * where response_bytes is 0, what is there is of no use. Every packet counts as a search. `now` is the
 * timestamp of the batch (kvc_set_assoc_search). */
struct kvc_memcachedgpu_get_batch {
    const uint8_t *packets;
    const struct kvc_memcachedgpu_get_packet *packet;
    uint32_t count;
    uint32_t now;
    uint16_t port;
    uint8_t *responses;
    struct kvc_memcachedgpu_get_result *results;
};

/* Any count, best from 32 up. */
void kvc_memcachedgpu_get(struct kvc_set_assoc *table, const struct kvc_memcachedgpu_get_batch *batch,
                          struct kvc_index_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
