/** @file
 * Batches of GET packets, from raw frames to the heads of their responses: the CPU's twin of MemcachedGPU's
 * kernel.
 *
 * Source: MemcachedGPU (SoCC 2015), sec. 3.2.2 and 4.1.1: parse UDP, parse the request, hash the key, search
 * the set-associative table, build the head of the response. Values stay where they are; the code that sends
 * the responses copies them in (GNoM-post in the paper, not modelled). get_cuda.h does the same on the GPU
 * and produces the same bytes.
 */
#ifndef KVC_KERNELS_MEMCACHEDGPU_GET_H
#define KVC_KERNELS_MEMCACHEDGPU_GET_H

#include <stdint.h>

#include "kernels/index.h"
#include "kernels/memcachedgpu/packet.h"
#include "kernels/memcachedgpu/set_assoc.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Where a packet is in the buffer of the batch. */
struct kvc_memcachedgpu_get_packet {
    uint32_t offset; /**< Offset of the packet in the buffer [bytes]. */
    uint32_t bytes;  /**< Length of the packet [bytes]. */
};

/** What became of a packet. */
struct kvc_memcachedgpu_get_result {
    uint32_t location;       /**< Location of the item, or KVC_LOCATION_NONE. */
    uint32_t value_bytes;    /**< Length of the value [bytes]; 0 if there is no item. */
    uint16_t response_bytes; /**< Length of the head [bytes]; 0 if the packet gets no response here. */
    uint8_t key_bytes;       /**< Length of the key [bytes]; 0 if the request is not correct. */
    uint8_t status;          /**< enum kvc_memcachedgpu_packet_status. */
};

/** A batch of packets.
 *
 * Packets may have any alignment and any length. Responses lie KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES apart
 * in memory that is aligned to 16 bytes. The call writes the head of each response and zeros behind it, up to
 * a multiple of 16 bytes. If response_bytes is 0, the CPU answers the packet in another way or ignores it,
 * and the response area contains nothing of use. Every packet counts as a search.
 */
struct kvc_memcachedgpu_get_batch {
    const uint8_t *packets;                           /**< Buffer that contains the packets. */
    const struct kvc_memcachedgpu_get_packet *packet; /**< Where the packets are in the buffer. */
    uint32_t count;                                   /**< Number of packets. */
    uint32_t now;                                     /**< Timestamp of the batch; see kvc_table_search(). */
    uint16_t port;                                    /**< UDP port that requests must be addressed to. */
    uint8_t *responses;                               /**< Receives the responses. */
    struct kvc_memcachedgpu_get_result *results;      /**< Receives a result per packet. */
};

/** Answers a batch of any size; batches of 32 packets or more run best. */
void kvc_memcachedgpu_get(struct kvc_set_assoc *table, const struct kvc_memcachedgpu_get_batch *batch,
                          struct kvc_index_stats *stats);

/** A search of a table of any kind, with the meaning of kvc_table_search(). */
typedef void (*kvc_memcachedgpu_search)(void *table, const struct kvc_set_assoc_keys *keys, uint32_t count,
                                        uint32_t now, struct kvc_set_assoc_item *items,
                                        struct kvc_index_stats *stats);

/** Answers a batch as kvc_memcachedgpu_get() does, from the table that `search` knows. */
void kvc_memcachedgpu_get_from(void *table, kvc_memcachedgpu_search search,
                               const struct kvc_memcachedgpu_get_batch *batch, struct kvc_index_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
