/** @file
 * A queue that grows: entries leave it in the order in which they came. */
#ifndef KVC_SIM_BASE_RING_H
#define KVC_SIM_BASE_RING_H

#include <stdint.h>

/** An entry. The queue interprets neither field. */
struct kvc_ring_entry {
    uint64_t value; /**< Data of the owner, such as a page. */
    uint32_t tag;   /**< Further data of the owner, such as the index of a request. */
};

/** The queue. A zeroed struct is empty. */
struct kvc_ring {
    struct kvc_ring_entry *entry; /**< Places. */
    uint32_t first;               /**< Place of the oldest entry. */
    uint32_t count;               /**< Entries. */
    uint32_t room;                /**< Places, a power of two, or 0. */
};

/** Frees the places, not the struct, and leaves an empty queue. */
void kvc_ring_free(struct kvc_ring *ring);

/** Makes room for more entries. A step of kvc_ring_push. */
void kvc_ring_grow(struct kvc_ring *ring);

/** Adds an entry. If memory is short, the program ends (kvc_out_of_memory). */
static inline void kvc_ring_push(struct kvc_ring *ring, uint64_t value, uint32_t tag)
{
    if (ring->count == ring->room) {
        kvc_ring_grow(ring);
    }
    ring->entry[(ring->first + ring->count++) & (ring->room - 1)] = (struct kvc_ring_entry){value, tag};
}

/** Returns the oldest entry, which stays. The queue must not be empty; adding an entry may move it. */
static inline struct kvc_ring_entry *kvc_ring_first(struct kvc_ring *ring)
{
    return &ring->entry[ring->first];
}

/** Returns the entry behind `number` older ones, of which there must be more than that. */
static inline struct kvc_ring_entry *kvc_ring_at(struct kvc_ring *ring, uint32_t number)
{
    return &ring->entry[(ring->first + number) & (ring->room - 1)];
}

/** Removes the oldest entries, `count` of them, which must be there. */
static inline void kvc_ring_drop(struct kvc_ring *ring, uint32_t count)
{
    ring->first = ring->room > 0 ? (ring->first + count) & (ring->room - 1) : 0;
    ring->count -= count;
}

/** Removes and returns the oldest entry. The queue must not be empty. */
static inline struct kvc_ring_entry kvc_ring_pop(struct kvc_ring *ring)
{
    struct kvc_ring_entry entry = ring->entry[ring->first];
    ring->first = (ring->first + 1) & (ring->room - 1);
    ring->count--;
    return entry;
}

#endif
