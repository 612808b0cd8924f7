/** @file
 * The pending sends of the closed-loop clients of one shard, ordered by (time, client).
 *
 * The queue is a four-ary heap: a million clients take 16 MB and about ten levels. */
#ifndef KVC_SIM_WORKLOAD_SOURCE_SENDS_H
#define KVC_SIM_WORKLOAD_SOURCE_SENDS_H

#include <stdbool.h>
#include <stdint.h>

/** A pending send. */
struct kvc_send {
    double sent_ns;  /**< When the client sends [ns]. */
    uint32_t client; /**< Number of the client. */
};

/** The queue. A zeroed struct is empty. */
struct kvc_sends {
    struct kvc_send *heap; /**< The heap; its root is the earliest send. */
    uint32_t count;        /**< Sends in the heap. */
    uint32_t capacity;     /**< Allocated sends. */
};

/** Frees the heap, not the struct, and leaves an empty queue. */
void kvc_sends_free(struct kvc_sends *sends);

/** Adds a send. `sent_ns` must not be negative. Returns false if memory is short. */
bool kvc_sends_push(struct kvc_sends *sends, double sent_ns, uint32_t client);

/** Removes and returns the earliest send. The queue must not be empty. */
struct kvc_send kvc_sends_pop(struct kvc_sends *sends);

/** Returns the time of the earliest send [ns], or +infinity if the queue is empty. */
double kvc_sends_next_ns(const struct kvc_sends *sends);

#endif
