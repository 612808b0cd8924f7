/* Prepared GET requests: whole batches of packets in memory that the GPU can copy from, as an offline run
 * replays them. */
#ifndef KVC_MODELS_MEMCACHEDGPU_REAL_TRAFFIC_H
#define KVC_MODELS_MEMCACHEDGPU_REAL_TRAFFIC_H

#include <stdint.h>

#include "kernels/memcachedgpu/get.h"
#include "models/memcachedgpu/tables.h"

enum {
    KVC_MEMCACHEDGPU_REAL_PORT = 11211,
    /* Buffer for a key that kvc_memcachedgpu_text_key() writes [bytes]. */
    KVC_MEMCACHEDGPU_REAL_KEY_ROOM = 256,
    /* Smallest distance of packets, which is the size of a packet with a 16-byte key on the wire [bytes]. */
    KVC_MEMCACHEDGPU_REAL_SLOT_MIN = 96,
};

/* Memory layout of a batch: an image holds the places of its packets, padded to 128 bytes, and then the
 * packets, `slot_bytes` apart. */
struct kvc_memcachedgpu_real_layout {
    uint32_t batch;         /* Packets of a batch. */
    uint32_t slot_bytes;    /* Distance of packets [bytes]. */
    uint64_t packets_at;    /* Offset of the packets in an image [bytes]. */
    uint64_t image_bytes;   /* Size of an image, a multiple of 128 [bytes]. */
    uint32_t head_bytes;    /* Longest head of a response to these packets, a multiple of 16 [bytes]. */
    uint32_t key_bytes_max; /* Longest key [bytes]. */
};

struct kvc_memcachedgpu_real_layout kvc_memcachedgpu_real_layout_of(uint32_t batch, uint32_t key_bytes_max);

/* Puts a GET for a key of `key_bytes` bytes into place `i` of an image. */
void kvc_memcachedgpu_real_put(const struct kvc_memcachedgpu_real_layout *layout, uint8_t *image, uint32_t i,
                               const uint8_t *key, uint32_t key_bytes);

/* Returns the batch of `count` packets of an image, without a table's outputs. */
static inline struct kvc_memcachedgpu_get_batch
kvc_memcachedgpu_real_batch_of(const struct kvc_memcachedgpu_real_layout *layout, const uint8_t *image,
                               uint32_t count, uint32_t now)
{
    return (struct kvc_memcachedgpu_get_batch){
        .packets = image + layout->packets_at,
        .packet = (const struct kvc_memcachedgpu_get_packet *)(const void *)image,
        .count = count,
        .now = now,
        .port = KVC_MEMCACHEDGPU_REAL_PORT,
    };
}

#endif
