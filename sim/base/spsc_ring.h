/** @file
 * A lock-free queue of pointers from one producer thread to one consumer thread.
 *
 * No operation waits. A thread that finds the ring full or empty does something else and tries again. */
#ifndef KVC_SIM_BASE_SPSC_RING_H
#define KVC_SIM_BASE_SPSC_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KVC_SPSC_RING_SLOTS = 32 /**< Capacity, a power of two. */ };

/** A ring. A zeroed struct is empty. The two ends are on different cache lines. */
struct kvc_spsc_ring {
    _Alignas(64) atomic_uint head;   /**< Items removed so far; written by the consumer. */
    _Alignas(64) atomic_uint tail;   /**< Items added so far; written by the producer. */
    void *slot[KVC_SPSC_RING_SLOTS]; /**< The items. */
};

/** Adds an item. Only the producer calls this. Returns false if the ring is full. */
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

/** Removes the oldest item. Only the consumer calls this. Returns NULL if the ring is empty. */
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
