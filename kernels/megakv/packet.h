/* Requests as they lie in a packet: one after the other, each a header of 8 bytes, the key, and for a SET the
 * value. Mega-KV does not publish its format; this one has the fields that it must have.
 *
 * Header, little-endian: operation (2 bytes), key length (2), value length (4; 0 unless it is a SET). */
#ifndef KVC_KERNELS_MEGAKV_PACKET_H
#define KVC_KERNELS_MEGAKV_PACKET_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { KVC_MEGAKV_PACKET_HEADER_BYTES = 8, KVC_MEGAKV_PACKET_KEY_MAX = 255 };

enum kvc_megakv_packet_op {
    KVC_MEGAKV_PACKET_GET,
    KVC_MEGAKV_PACKET_SET,
    KVC_MEGAKV_PACKET_DELETE,
    KVC_MEGAKV_PACKET_OPS
};

struct kvc_megakv_packet_request {
    uint32_t op; /* enum kvc_megakv_packet_op */
    uint32_t key_bytes, value_bytes;
    const uint8_t *key, *value; /* into the packet */
};

static inline uint32_t kvc_megakv_packet_bytes(const struct kvc_megakv_packet_request *request)
{
    return KVC_MEGAKV_PACKET_HEADER_BYTES + request->key_bytes + request->value_bytes;
}

/* Writes a request of kvc_megakv_packet_bytes() bytes; returns where the next one goes. */
static inline uint8_t *kvc_megakv_packet_write(uint8_t *to, const struct kvc_megakv_packet_request *request)
{
    uint64_t header = request->op | (uint64_t)request->key_bytes << 16 | (uint64_t)request->value_bytes << 32;
    memcpy(to, &header, sizeof(header));
    memcpy(to + KVC_MEGAKV_PACKET_HEADER_BYTES, request->key, request->key_bytes);
    if (request->value_bytes != 0) {
        memcpy(to + KVC_MEGAKV_PACKET_HEADER_BYTES + request->key_bytes, request->value,
               request->value_bytes);
    }
    return to + kvc_megakv_packet_bytes(request);
}

/* Reads the request at *at and moves *at behind it. false, with *at where it was: what is left up to `end` is
 * no whole request. */
static inline bool kvc_megakv_packet_next(const uint8_t **at, const uint8_t *end,
                                          struct kvc_megakv_packet_request *request)
{
    uint64_t header, left = (uint64_t)(end - *at);
    if (left < KVC_MEGAKV_PACKET_HEADER_BYTES) {
        return false;
    }
    memcpy(&header, *at, sizeof(header));
    uint32_t op = header & 0xffff, key_bytes = header >> 16 & 0xffff, value_bytes = (uint32_t)(header >> 32);
    bool valid = op < KVC_MEGAKV_PACKET_OPS && key_bytes - 1 < KVC_MEGAKV_PACKET_KEY_MAX &&
                 (op == KVC_MEGAKV_PACKET_SET || value_bytes == 0) &&
                 (uint64_t)KVC_MEGAKV_PACKET_HEADER_BYTES + key_bytes + value_bytes <= left;
    if (!valid) {
        return false;
    }
    const uint8_t *key = *at + KVC_MEGAKV_PACKET_HEADER_BYTES;
    *request = (struct kvc_megakv_packet_request){op, key_bytes, value_bytes, key, key + key_bytes};
    *at = key + key_bytes + value_bytes;
    return true;
}

#endif
