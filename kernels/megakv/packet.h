/** @file
 * Requests as they lie in a packet: one after another, each a header of 8 bytes, the key and, for a SET, the
 * value.
 *
 * Mega-KV does not publish its packet format; this one has the fields that such a format needs. The header is
 * little-endian: operation (2 bytes), key length (2 bytes), value length (4 bytes; 0 except for a SET).
 */
#ifndef KVC_KERNELS_MEGAKV_PACKET_H
#define KVC_KERNELS_MEGAKV_PACKET_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Sizes and limits of a request. */
enum {
    KVC_MEGAKV_PACKET_HEADER_BYTES = 8, /**< Size of a request header [bytes]. */
    KVC_MEGAKV_PACKET_KEY_MAX = 255,    /**< Longest key [bytes]. */
};

/** Operation of a request. */
enum kvc_megakv_packet_op {
    KVC_MEGAKV_PACKET_GET,    /**< Read the value of a key. */
    KVC_MEGAKV_PACKET_SET,    /**< Store a value under a key. */
    KVC_MEGAKV_PACKET_DELETE, /**< Delete a key. */
    KVC_MEGAKV_PACKET_OPS,    /**< Number of operations. */
};

/** A request. */
struct kvc_megakv_packet_request {
    uint32_t op;          /**< enum kvc_megakv_packet_op. */
    uint32_t key_bytes;   /**< Length of the key [bytes], 1 to KVC_MEGAKV_PACKET_KEY_MAX. */
    uint32_t value_bytes; /**< Length of the value [bytes]; 0 except for a SET. */
    const uint8_t *key;   /**< The key; after parsing, it points into the packet. */
    const uint8_t *value; /**< The value; after parsing, it points into the packet. */
};

/** Returns the size of a request in a packet [bytes]. */
static inline uint32_t kvc_megakv_packet_bytes(const struct kvc_megakv_packet_request *request)
{
    return KVC_MEGAKV_PACKET_HEADER_BYTES + request->key_bytes + request->value_bytes;
}

/** Writes a request of kvc_megakv_packet_bytes() bytes to `to` and returns the address after it. */
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

/** Parses the request at `*at` and moves `*at` past it.
 *
 * Never reads at or beyond `end`. Returns false, and leaves `*at` unchanged, if the rest of the packet does
 * not start with a complete and valid request.
 */
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
    struct kvc_megakv_packet_request parsed = {op, key_bytes, value_bytes, key, key + key_bytes};
    *request = parsed;
    *at = parsed.value + value_bytes;
    return true;
}

/** Copies the key of a parsed request to `to` and pads it with zeros to `stride` bytes.
 *
 * The packet ends at `end`. Up to there, short keys are copied in words, which needs no calls, with what
 * follows the key cut off.
 */
static inline void kvc_megakv_packet_copy_key(uint8_t *to, uint32_t stride,
                                              const struct kvc_megakv_packet_request *request,
                                              const uint8_t *end)
{
    uint32_t bytes = request->key_bytes;
    if (bytes == 8 && stride == 8) { /* The most common length. */
        memcpy(to, request->key, 8);
        return;
    }
    if (stride % 8 != 0 || stride > 64 || end - request->key < stride) {
        memcpy(to, request->key, bytes);
        memset(to + bytes, 0, stride - bytes);
        return;
    }
    for (uint32_t at = 0; at < stride; at += 8) {
        uint64_t word;
        memcpy(&word, request->key + at, sizeof(word));
        if (at + 8 > bytes) {
            word = at < bytes ? word & ((UINT64_C(1) << 8 * (bytes - at)) - 1) : 0;
        }
        memcpy(to + at, &word, sizeof(word));
    }
}

#ifdef __cplusplus
}
#endif

#endif
