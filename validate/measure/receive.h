/* What a receiver does with a frame: requests out of the packet into the rows of its batch. */
#ifndef KVC_VALIDATE_MEASURE_RECEIVE_H
#define KVC_VALIDATE_MEASURE_RECEIVE_H

#include <stdint.h>

#include "kernels/megakv/packet.h"
#include "validate/measure/buffer.h"

enum { KVC_FRAME_REQUESTS_MAX = 4096 };

/* SETs of a frame, whose values lie in its packet. */
struct kvc_frame_sets {
    uint32_t count;
    struct kvc_request request[KVC_FRAME_REQUESTS_MAX];
    uint32_t row[KVC_FRAME_REQUESTS_MAX];
};

/* Appends the requests of a packet of `bytes` to the buffer, which has room for them, with the hashes of
 * their keys, and lists the SETs. What is no whole request ends the frame. */
void kvc_receive_frame(struct kvc_buffer *buffer, const uint8_t *packet, uint32_t bytes, uint64_t hash_seed,
                       double sent_ns, struct kvc_frame_sets *sets);

#endif
