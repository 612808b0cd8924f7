/** @file
 * A queue of events in order of time, for a device that simulates its requests itself.
 *
 * An activity of the event engine (sim/engine.h), which moves whole batches, costs microseconds. A device
 * that keeps hundreds of requests in flight, each with several steps, processes these steps as events of this
 * queue, up to the current time of the engine. An event costs about ten nanoseconds. */
#ifndef KVC_SIM_BASE_EVENTS_H
#define KVC_SIM_BASE_EVENTS_H

#include <stdint.h>

/** An event. The queue does not interpret `kind`, `unit` and `tag`. */
struct kvc_event {
    double time_ns; /**< When the event happens [ns]. */
    uint64_t order; /**< Sequence number, set by kvc_events_add. */
    uint16_t kind;  /**< Kind of the event, defined by the owner of the queue. */
    uint16_t unit;  /**< Number of the unit, if the device has several equal units. */
    uint32_t tag;   /**< Further data of the owner, such as the index of a request. */
};

/** The queue, a four-ary heap. A zeroed struct is empty. */
struct kvc_events {
    struct kvc_event *heap; /**< The heap; its root is the earliest event. */
    uint32_t count;         /**< Events in the heap. */
    uint32_t capacity;      /**< Allocated events. */
    uint64_t added;         /**< Events added so far. */
};

/** Frees the heap, not the struct, and leaves an empty queue. */
void kvc_events_free(struct kvc_events *events);

/** Adds an event. Events at the same time come out in the order in which they were added. If memory is short,
 * the program ends (kvc_out_of_memory). */
void kvc_events_add(struct kvc_events *events, double time_ns, uint16_t kind, uint16_t unit, uint32_t tag);

/** Removes and returns the earliest event. The queue must not be empty. */
struct kvc_event kvc_events_pop(struct kvc_events *events);

/** Returns the time of the earliest event [ns], or +infinity if the queue is empty. */
double kvc_events_next_ns(const struct kvc_events *events);

#endif
