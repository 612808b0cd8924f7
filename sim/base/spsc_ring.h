/* A ring of pointers from one thread to one other, without locks. Nothing in it waits: who finds it full or
 * empty does something else and asks again. */
#ifndef KVC_SIM_BASE_SPSC_RING_H
#define KVC_SIM_BASE_SPSC_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KVC_SPSC_RING_SLOTS = 32 }; /* power of two */

/* A zeroed struct is empty. The two ends are on lines of their own. */
struct kvc_spsc_ring {
    _Alignas(64) atomic_uint head; /* the consumer's */
    _Alignas(64) atomic_uint tail; /* the producer's */
    void *slot[KVC_SPSC_RING_SLOTS];
};

/* By the producer; false: full. */
static inline bool kvc_spsc_ring_push(struct kvc_spsc_ring *ring, void *item)
{
    unsigned tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    if (tail - atomic_load_explicit(&ring->head, memory_order_acquire) == KVC_SPSC_RING_SLOTS) {
        return false;
    }
    ring->slot[tail % KVC_SPSC_RING_SLOTS] = item;
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
    return true;
}

/* By the consumer; NULL: empty. */
static inline void *kvc_spsc_ring_pop(struct kvc_spsc_ring *ring)
{
    unsigned head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    if (head == atomic_load_explicit(&ring->tail, memory_order_acquire)) {
        return NULL;
    }
    void *item = ring->slot[head % KVC_SPSC_RING_SLOTS];
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
    return item;
}

#endif
