/* The receiver's work on a frame: it copies GETs from the packet into the columns of its batch, stores SETs
 * in the slabs, and adds the index jobs of SETs and DELETEs to the batch. */
#ifndef KVC_MODELS_MEGAKV_REAL_RECEIVE_H
#define KVC_MODELS_MEGAKV_REAL_RECEIVE_H

#include <stdint.h>

#include "kernels/megakv/packet.h"
#include "kernels/megakv/slab.h"
#include "models/megakv/real/buffer.h"

enum { KVC_MEGAKV_REAL_FRAME_REQUESTS_MAX = 4096, KVC_MEGAKV_REAL_STOCK_MAX = 32 };

/* The SETs and DELETEs of a frame. Their values stay in the packet. */
struct kvc_megakv_real_frame_writes {
    uint32_t count, key_stride;
    struct kvc_megakv_packet_request request[KVC_MEGAKV_REAL_FRAME_REQUESTS_MAX];
    uint8_t key_bytes[KVC_MEGAKV_REAL_FRAME_REQUESTS_MAX];
    uint64_t hash[KVC_MEGAKV_REAL_FRAME_REQUESTS_MAX];
    uint8_t keys[]; /* Key i at i * key_stride, padded with zeros. */
};

/* Locations for items of one size, allocated from the slabs before they are needed. Allocating many at a time
 * is faster, because evictions wait for memory and their waits overlap. A zeroed struct is empty. */
struct kvc_megakv_real_stock {
    uint32_t key_bytes, value_bytes;
    uint32_t count;
    uint32_t location[KVC_MEGAKV_REAL_STOCK_MAX];
};

/* Creates an empty list, which the caller frees with free(). Returns NULL if memory is short. */
struct kvc_megakv_real_frame_writes *kvc_megakv_real_frame_writes_create(uint32_t key_stride);

/* Appends the GETs of a packet of `bytes` bytes to the buffer and puts the other requests into `writes`, all
 * with the hashes of their keys. Reading ends at an incomplete request, at one whose key is longer than the
 * distance of keys, or when the buffer is full. */
void kvc_megakv_real_receive_frame(struct kvc_megakv_real_buffer *buffer, const uint8_t *packet,
                                   uint32_t bytes, uint64_t hash_seed, double sent_ns,
                                   struct kvc_megakv_real_frame_writes *writes);

/* Stores the SETs in the slabs and appends the index jobs of all writes, and of the items that were evicted
 * for the stock. Returns how many SETs found no memory. */
uint32_t kvc_megakv_real_receive_writes(struct kvc_megakv_real_buffer *buffer, struct kvc_megakv_slab *slab,
                                        const struct kvc_megakv_real_frame_writes *writes,
                                        struct kvc_megakv_real_stock *stock,
                                        struct kvc_megakv_slab_stats *stats);

#endif
