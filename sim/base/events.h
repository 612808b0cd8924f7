/** @file
 * A queue of events in order of time, for a device that simulates its requests itself.
 *
 * An activity of the event engine (sim/engine.h), which moves whole batches, costs microseconds. A device
 * that keeps hundreds of requests in flight, each with several steps, processes these steps as events of this
 * queue, up to the current time of the engine. An event costs some ten nanoseconds. */
#ifndef KVC_SIM_BASE_EVENTS_H
#define KVC_SIM_BASE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

/** An event. The queue does not interpret `kind`, `unit` and `tag`. */
struct kvc_event {
    double time_ns; /**< When the event happens [ns]. */
    uint64_t order; /**< Sequence number, set by kvc_events_add. */
    uint16_t kind;  /**< Kind of the event, defined by the owner of the queue. */
    uint16_t unit;  /**< Number of the unit, if the device has several equal units. */
    uint32_t tag;   /**< Further data of the owner, such as the index of a request. */
};

struct kvc_events_node;

/** Events of an interval of time, as a list in their order. */
struct kvc_events_bucket {
    uint32_t first; /**< Number of its first node plus 1; 0: the list is empty. */
    uint32_t last;  /**< Number of its last node plus 1. */
};

/** The queue. A zeroed struct is empty.
 *
 * The events of the near future are in a calendar: a ring of buckets of equal width, of which a bitmap tells
 * the occupied ones. Later events are in a four-ary heap. The width follows from the mean time between
 * events, so that few buckets have several of them: to add and to remove one takes constant time, and few
 * branches depend on times. The order of the events does not depend on the width. */
struct kvc_events {
    struct kvc_events_bucket *bucket; /**< Buckets of the calendar; NULL: nothing was added yet. */
    uint64_t *occupied;               /**< A bit for each bucket. */
    struct kvc_events_node *node;     /**< Events of the calendar, and free nodes. */
    uint32_t free_node;               /**< Number of the first free node plus 1; 0: none. */
    uint32_t nodes;                   /**< Nodes that there is room for. */
    uint32_t near;                    /**< Events in the calendar. */
    int64_t at; /**< Number of a bucket, counted from time 0, before which the calendar is empty. */
    double buckets_per_ns;  /**< Inverse of the width. */
    double paced_ns;        /**< Time of the event after which the width was last chosen. */
    uint32_t unpaced;       /**< Events that will be removed before it is chosen again. */
    struct kvc_event *heap; /**< Later events; the root is the earliest. */
    uint32_t far;           /**< Events in the heap. */
    uint32_t capacity;      /**< Events that the heap has room for. */
    uint32_t count;         /**< Events in the queue. */
    bool found;             /**< The next two fields are up to date. */
    struct kvc_events_bucket
        *next;      /**< Bucket of the next event; NULL: it is in the heap, or there is none. */
    double next_ns; /**< Its time, or +infinity if there is none [ns]. */
    uint64_t added; /**< Events added so far. */
};

/** Frees what the queue has allocated, not the struct, and leaves an empty queue. */
void kvc_events_free(struct kvc_events *events);

/** Adds an event. Events at the same time come out in the order in which they were added. If memory is short,
 * the program ends (kvc_out_of_memory). */
void kvc_events_add(struct kvc_events *events, double time_ns, uint16_t kind, uint16_t unit, uint32_t tag);

/** Removes and returns the earliest event. The queue must not be empty. */
struct kvc_event kvc_events_pop(struct kvc_events *events);

/** Returns the time of the earliest event [ns], or +infinity if the queue is empty. */
double kvc_events_next_ns(struct kvc_events *events);

#endif
