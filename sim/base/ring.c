#include "sim/base/ring.h"

#include <stdlib.h>

#include "sim/base/array.h"

enum { FIRST_ROOM = 64 };

void kvc_ring_free(struct kvc_ring *ring)
{
    free(ring->entry);
    *ring = (struct kvc_ring){.entry = NULL};
}

void kvc_ring_grow(struct kvc_ring *ring)
{
    uint32_t room = ring->room > 0 ? 2 * ring->room : FIRST_ROOM;
    struct kvc_ring_entry *entry = kvc_array_of(room, sizeof(*entry));
    for (uint32_t i = 0; i < ring->count; i++) {
        entry[i] = ring->entry[(ring->first + i) & (ring->room - 1)];
    }
    free(ring->entry);
    ring->entry = entry;
    ring->room = room;
    ring->first = 0;
}
