#include "validate/measure/receive.h"

#include <string.h>

#include "kernels/hash.h"
#include "kernels/index.h"

/* Keys of 8 bytes, the commonest, without calls. */
static inline void copy_key(uint8_t *to, uint32_t stride, const struct kvc_request *request)
{
    if (request->key_bytes == 8 && stride == 8) {
        memcpy(to, request->key, 8);
        return;
    }
    memcpy(to, request->key, request->key_bytes);
    memset(to + request->key_bytes, 0, stride - request->key_bytes);
}

void kvc_receive_frame(struct kvc_buffer *buffer, const uint8_t *packet, uint32_t bytes, uint64_t hash_seed,
                       double sent_ns, struct kvc_frame_sets *sets)
{
    const uint8_t *at = packet, *end = packet + bytes;
    uint32_t first = buffer->rows, row = first, gets = 0, stride = buffer->key_stride;
    struct kvc_request request;
    sets->count = 0;
    for (; row < buffer->room && kvc_request_next(&at, end, &request); row++) {
        copy_key(buffer->keys + (size_t)row * stride, stride, &request);
        buffer->op[row] = (uint8_t)request.op;
        buffer->key_bytes[row] = (uint8_t)request.key_bytes;
        buffer->sent_ns[row] = sent_ns;
        buffer->location[row] = KVC_LOCATION_NONE;
        gets += request.op == KVC_REQUEST_GET;
        if (request.op == KVC_REQUEST_SET) {
            sets->request[sets->count] = request;
            sets->row[sets->count++] = row;
        }
    }
    buffer->rows = row;
    buffer->gets += gets;
    kvc_hash_batch(buffer->keys + (size_t)first * stride, stride, buffer->key_bytes + first, row - first,
                   hash_seed, buffer->hash + first);
}
