#include "models/memcachedgpu/real/answer.h"

#include <string.h>

#include "kernels/pages.h"
#include "models/memcachedgpu/real/traffic.h"

static const char value_end[] = "\r\nEND\r\n";

bool kvc_memcachedgpu_real_slabs_open(struct kvc_memcachedgpu_real_slabs *slabs, uint64_t count,
                                      uint64_t stride_bytes)
{
    *slabs = (struct kvc_memcachedgpu_real_slabs){.stride_bytes = stride_bytes, .count = count};
    slabs->values = kvc_pages_alloc(count * stride_bytes);
    for (uint64_t l = 0; l < count && slabs->values != NULL; l++) {
        for (uint64_t at = 0; at < stride_bytes; at++) {
            slabs->values[l * stride_bytes + at] = kvc_memcachedgpu_real_value_byte(l, at);
        }
    }
    return slabs->values != NULL;
}

void kvc_memcachedgpu_real_slabs_close(struct kvc_memcachedgpu_real_slabs *slabs)
{
    kvc_pages_free(slabs->values, slabs->count * slabs->stride_bytes);
    slabs->values = NULL;
}

static uint64_t frames_bytes(uint32_t frame_count)
{
    return (uint64_t)frame_count * KVC_MEMCACHEDGPU_REAL_FRAME_BYTES;
}

bool kvc_memcachedgpu_real_answerer_open(struct kvc_memcachedgpu_real_answerer *answerer,
                                         const struct kvc_memcachedgpu_real_slabs *slabs,
                                         uint32_t frame_count)
{
    *answerer = (struct kvc_memcachedgpu_real_answerer){.slabs = slabs, .frame_count = frame_count};
    answerer->frames = kvc_pages_alloc(frames_bytes(frame_count));
    answerer->frame_bytes = kvc_pages_alloc(frame_count * sizeof(*answerer->frame_bytes));
    if (answerer->frames == NULL || answerer->frame_bytes == NULL) {
        return false;
    }
    kvc_pages_touch(answerer->frames, frames_bytes(frame_count));
    return true;
}

void kvc_memcachedgpu_real_answerer_close(struct kvc_memcachedgpu_real_answerer *answerer)
{
    kvc_pages_free(answerer->frames, frames_bytes(answerer->frame_count));
    kvc_pages_free(answerer->frame_bytes, answerer->frame_count * sizeof(*answerer->frame_bytes));
    answerer->frames = NULL;
    answerer->frame_bytes = NULL;
}

void kvc_memcachedgpu_real_answer(struct kvc_memcachedgpu_real_answerer *answerer, const uint8_t *heads,
                                  const struct kvc_memcachedgpu_get_result *results, uint32_t count)
{
    const struct kvc_memcachedgpu_real_slabs *slabs = answerer->slabs;
    for (uint32_t i = 0; i < count; i++) {
        const struct kvc_memcachedgpu_get_result *result = &results[i];
        uint32_t bytes = result->response_bytes;
        if (bytes == 0) {
            answerer->unanswered++;
            continue;
        }
        uint32_t place = answerer->next++ & (answerer->frame_count - 1);
        uint8_t *frame = answerer->frames + (uint64_t)place * KVC_MEMCACHEDGPU_REAL_FRAME_BYTES;
        memcpy(frame, heads + (uint64_t)i * KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES, bytes);
        if (result->location != KVC_LOCATION_NONE) {
            memcpy(frame + bytes, slabs->values + result->location * slabs->stride_bytes,
                   result->value_bytes);
            bytes += result->value_bytes;
            memcpy(frame + bytes, value_end, sizeof(value_end) - 1);
            bytes += sizeof(value_end) - 1;
            answerer->hits++;
        }
        answerer->frame_bytes[place] = bytes;
        answerer->sent += bytes;
        answerer->answered++;
    }
}

/* Returns whether the value belongs to the key; short values do not tell, and pass. */
static bool is_value_of(const uint8_t *value, uint32_t value_bytes, const uint8_t *key, uint32_t key_bytes)
{
    uint8_t own_key[KVC_MEMCACHEDGPU_REAL_KEY_ROOM];
    uint64_t location = 0;
    for (uint32_t at = 0; at < 4 && at < value_bytes; at++) {
        location |= (uint64_t)(uint8_t)(value[at] - at) << 8 * at;
    }
    for (uint32_t at = 4; at < value_bytes; at++) {
        if (value[at] != kvc_memcachedgpu_real_value_byte(location, at)) {
            return false;
        }
    }
    kvc_memcachedgpu_text_key(own_key, location, key_bytes);
    return value_bytes < 4 || memcmp(own_key, key, key_bytes) == 0;
}

bool kvc_memcachedgpu_real_frame_is_right(const uint8_t *frame, uint32_t bytes)
{
    const uint32_t end_bytes = sizeof(value_end) - 1;
    struct kvc_memcachedgpu_packet_response response;
    if (bytes < KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET) {
        return false;
    }
    if (kvc_memcachedgpu_packet_read_response(frame, bytes, &response) && !response.found) {
        return true;
    }
    /* The head ends with the first line, which starts after the frame header. */
    const uint8_t *line = memchr(frame + KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET, '\n',
                                 bytes - KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET);
    uint32_t head_bytes = line != NULL ? (uint32_t)(line + 1 - frame) : 0;
    return line != NULL && kvc_memcachedgpu_packet_read_response(frame, head_bytes, &response) &&
           response.found && head_bytes + response.value_bytes + end_bytes == bytes &&
           memcmp(frame + bytes - end_bytes, value_end, end_bytes) == 0 &&
           is_value_of(frame + head_bytes, response.value_bytes, response.key, response.key_bytes);
}
