/* What a receiver does with a frame: GETs out of the packet into the columns of its batch, SETs into the
 * slabs, and the index jobs of both SETs and DELETEs. */
#ifndef KVC_MODELS_MEGAKV_REAL_RECEIVE_H
#define KVC_MODELS_MEGAKV_REAL_RECEIVE_H

#include <stdint.h>

#include "kernels/megakv/packet.h"
#include "kernels/megakv/slab.h"
#include "models/megakv/real/buffer.h"

enum { KVC_FRAME_REQUESTS_MAX = 4096, KVC_MEGAKV_REAL_STOCK_MAX = 32 };

/* SETs and DELETEs of a frame, whose values lie in its packet. */
struct kvc_megakv_real_frame_writes {
    uint32_t count, key_stride;
    struct kvc_megakv_packet_request request[KVC_FRAME_REQUESTS_MAX];
    uint8_t key_bytes[KVC_FRAME_REQUESTS_MAX];
    uint64_t hash[KVC_FRAME_REQUESTS_MAX];
    uint8_t keys[]; /* as a buffer's */
};

/* Places for items of one size, taken from the slabs before they are needed: many at a time, because evicting
 * waits for memory, and the waits overlap. A zeroed struct is empty. */
struct kvc_megakv_real_stock {
    uint32_t key_bytes, value_bytes;
    uint32_t count;
    uint32_t location[KVC_MEGAKV_REAL_STOCK_MAX];
};

/* NULL: no memory. */
struct kvc_megakv_real_frame_writes *kvc_frame_writes_create(uint32_t key_stride);

/* Appends the GETs of a packet of `bytes` to the buffer, which has room for them, and lists the others, all
 * with the hashes of their keys. What is no whole request ends the frame. */
void kvc_megakv_real_receive_frame(struct kvc_megakv_real_buffer *buffer, const uint8_t *packet,
                                   uint32_t bytes, uint64_t hash_seed, double sent_ns,
                                   struct kvc_megakv_real_frame_writes *writes);

/* Stores the SETs and appends the index jobs of all, and of what was evicted for the stock. Returns how many
 * SETs found no memory. */
uint32_t kvc_megakv_real_receive_writes(struct kvc_megakv_real_buffer *buffer, struct kvc_megakv_slab *slab,
                                        const struct kvc_megakv_real_frame_writes *writes,
                                        struct kvc_megakv_real_stock *stock,
                                        struct kvc_megakv_slab_stats *stats);

#endif
