#include "models/memcachedgpu/real/traffic.h"

enum { LINE_BYTES = 128, CHUNK_BYTES = 16, FLAGS_DIGITS = 5, LENGTH_DIGITS = 5, SEPARATORS = 4 };

static uint64_t rounded(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

struct kvc_memcachedgpu_real_layout kvc_memcachedgpu_real_layout_of(uint32_t batch, uint32_t key_bytes_max)
{
    struct kvc_memcachedgpu_real_layout layout = {.batch = batch, .key_bytes_max = key_bytes_max};
    uint32_t packet = KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET + key_bytes_max + 2;
    uint32_t head = KVC_MEMCACHEDGPU_PACKET_RESPONSE_KEY_OFFSET + key_bytes_max + FLAGS_DIGITS +
                    LENGTH_DIGITS + SEPARATORS;
    layout.slot_bytes = packet < KVC_MEMCACHEDGPU_REAL_SLOT_MIN ? (uint32_t)KVC_MEMCACHEDGPU_REAL_SLOT_MIN
                                                                : (uint32_t)rounded(packet, CHUNK_BYTES);
    layout.head_bytes = (uint32_t)rounded(head, CHUNK_BYTES);
    layout.packets_at = rounded(batch * sizeof(struct kvc_memcachedgpu_get_packet), LINE_BYTES);
    layout.image_bytes = rounded(layout.packets_at + (uint64_t)batch * layout.slot_bytes, LINE_BYTES);
    return layout;
}

void kvc_memcachedgpu_real_put(const struct kvc_memcachedgpu_real_layout *layout, uint8_t *image, uint32_t i,
                               const uint8_t *key, uint32_t key_bytes)
{
    static const struct kvc_memcachedgpu_packet_ends ends = {
        {2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}, 0x0a000001, 0x0a000002, 40000, KVC_MEMCACHEDGPU_REAL_PORT};
    struct kvc_memcachedgpu_get_packet *packet = (struct kvc_memcachedgpu_get_packet *)(void *)image + i;
    packet->offset = i * layout->slot_bytes;
    packet->bytes = kvc_memcachedgpu_packet_write_get(image + layout->packets_at + packet->offset, &ends,
                                                      (uint16_t)i, key, key_bytes);
}
