/* Completes the response heads that the GET kernel wrote to whole frames, as a GNoM-post thread does for a
 * finished batch. */
#ifndef KVC_MODELS_MEMCACHEDGPU_REAL_ANSWER_H
#define KVC_MODELS_MEMCACHEDGPU_REAL_ANSWER_H

#include <stdint.h>

#include "kernels/memcachedgpu/get.h"

/* Size of a transmit or receive buffer [bytes]. */
enum { KVC_MEMCACHEDGPU_REAL_FRAME_BYTES = 2048 };

/* Slabs of host memory: the value of location l begins at values + l * stride. */
struct kvc_memcachedgpu_real_slabs {
    uint8_t *values;
    uint64_t stride_bytes;
    uint64_t count; /* Capacity in values. */
};

/* Allocates slabs and writes all values, so that their pages are resident. Byte b of value l is
 * kvc_memcachedgpu_real_value_byte(l, b). Returns false if memory is short. */
bool kvc_memcachedgpu_real_slabs_open(struct kvc_memcachedgpu_real_slabs *slabs, uint64_t count,
                                      uint64_t stride_bytes);
void kvc_memcachedgpu_real_slabs_close(struct kvc_memcachedgpu_real_slabs *slabs);

/* Returns byte `at` of the value of a location, by which a frame shows whose value it carries. */
static inline uint8_t kvc_memcachedgpu_real_value_byte(uint64_t location, uint64_t at)
{
    return (uint8_t)((location >> 8 * (at % 4)) + at);
}

/* A thread's ring of transmit buffers, and what it has sent. */
struct kvc_memcachedgpu_real_answerer {
    const struct kvc_memcachedgpu_real_slabs *slabs;
    uint8_t *frames;           /* frame_count buffers of KVC_MEMCACHEDGPU_REAL_FRAME_BYTES. */
    uint32_t *frame_bytes;     /* Length of the frame in each buffer [bytes]. */
    uint32_t frame_count;      /* A power of two. */
    uint32_t next;             /* Buffer of the next response. */
    uint64_t answered, hits;   /* Responses, and those with a value. */
    uint64_t unanswered, sent; /* Packets without a response; bytes of all frames. */
};

/* Opens a ring of `frame_count` buffers. Returns false if memory is short. */
bool kvc_memcachedgpu_real_answerer_open(struct kvc_memcachedgpu_real_answerer *answerer,
                                         const struct kvc_memcachedgpu_real_slabs *slabs,
                                         uint32_t frame_count);
void kvc_memcachedgpu_real_answerer_close(struct kvc_memcachedgpu_real_answerer *answerer);

/* Builds the frames of a batch: copies each head and, for a hit, the value and the end of the response after
 * it. Heads lie KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES apart. Packets without a response are skipped.
 */
void kvc_memcachedgpu_real_answer(struct kvc_memcachedgpu_real_answerer *answerer, const uint8_t *heads,
                                  const struct kvc_memcachedgpu_get_result *results, uint32_t count);

/* Returns whether a frame is a whole response to a GET of kvc_memcachedgpu_text_key(): a miss, or a hit with
 * its value. A value of 4 bytes or more encodes its location and must belong to the key. */
bool kvc_memcachedgpu_real_frame_is_right(const uint8_t *frame, uint32_t bytes);

#endif
