/* The DMA segments of one direction: buffers of the host's memory in which messages follow one another
 * without gaps, so that a message may lie in several. Source: Xu et al., BlueCache, sec. 3.1. */
#ifndef KVC_MODELS_BLUECACHE_SEGMENTS_H
#define KVC_MODELS_BLUECACHE_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

struct kvc_bluecache_segments {
    uint32_t bytes, filled; /* Of a segment, and of the open one. */
    uint32_t free;          /* Segments that can be opened. */
    bool open;
};

/* Appends as many bytes of a message as fit into the open segment or, if there is none, into a free one.
 * Returns the bytes that are left: all of them if no segment is free. */
static inline uint32_t kvc_bluecache_segments_append(struct kvc_bluecache_segments *segments, uint32_t bytes)
{
    if (!segments->open) {
        if (segments->free == 0) {
            return bytes;
        }
        segments->free--;
        segments->open = true;
        segments->filled = 0;
    }
    uint32_t room = segments->bytes - segments->filled, taken = bytes < room ? bytes : room;
    segments->filled += taken;
    return bytes - taken;
}

static inline bool kvc_bluecache_segments_full(const struct kvc_bluecache_segments *segments)
{
    return segments->open && segments->filled == segments->bytes;
}

#endif
