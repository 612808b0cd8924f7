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

/** An event of the calendar, or a free place for one. */
struct kvc_events_node {
    struct kvc_event event; /**< The event. */
    uint32_t next; /**< Number of the next node of the bucket, or of the next free one, plus 1; 0: none. */
};

/** Events of an interval of time, as a list in their order. */
struct kvc_events_bucket {
    uint32_t first; /**< Number of its first node plus 1; 0: the list is empty. */
    uint32_t last;  /**< Number of its last node plus 1. */
};

/** Sizes of the calendar. */
enum {
    KVC_EVENTS_BUCKETS = 1024, /**< A power of two. */
    KVC_EVENTS_WORD_BITS = 64, /**< Bits of a word of the bitmap. */
};

/** The queue. A zeroed struct is empty.
 *
 * The events of the near future are in a calendar: a ring of buckets of equal width, of which a bitmap tells
 * the occupied ones. Later events are in a four-ary heap. The width follows from the mean time between
 * events, so that few buckets have several of them: to add and to remove one takes constant time, and few
 * branches depend on times. The order of the events does not depend on the width. */
struct kvc_events {
    double next_ns; /**< Time of the next event, if `found`, or +infinity if there is none [ns]. */
    double far_ns;  /**< Time of the heap's first event, or +infinity; 0 before the first event [ns]. */
    /** The next event is known, and if there are events in the calendar, the first is in bucket `at`. */
    bool found;
    uint32_t count;     /**< Events in the queue. */
    uint32_t far;       /**< Events in the heap; the others are in the calendar. */
    uint32_t free_node; /**< Number of the first free node plus 1; 0: none. */
    uint32_t unpaced;   /**< Events that will be removed before the width is chosen again. */
    uint64_t added;     /**< Events added so far. */
    int64_t at;         /**< Number of a bucket, counted from time 0, before which the calendar is empty. */
    double buckets_per_ns;            /**< Inverse of the width. */
    struct kvc_events_bucket *bucket; /**< Buckets of the calendar; NULL: nothing was added yet. */
    struct kvc_events_node *node;     /**< Events of the calendar, and free nodes. */
    struct kvc_event *heap;           /**< Later events; the root is the earliest. */
    uint32_t nodes;                   /**< Nodes that there is room for. */
    uint32_t capacity;                /**< Events that the heap has room for. */
    double paced_ns;                  /**< Time of the event after which the width was last chosen. */
    uint64_t occupied[KVC_EVENTS_BUCKETS / KVC_EVENTS_WORD_BITS]; /**< A bit for each bucket. */
};

/** Frees what the queue has allocated, not the struct, and leaves an empty queue. */
void kvc_events_free(struct kvc_events *events);

/** Adds an event. Events at the same time come out in the order in which they were added. If memory is short,
 * the program ends (kvc_out_of_memory). */
void kvc_events_add(struct kvc_events *events, double time_ns, uint16_t kind, uint16_t unit, uint32_t tag);

/** Finds the earliest event. A step of kvc_events_next_ns and kvc_events_pop. */
void kvc_events_find_next(struct kvc_events *events);

/** Returns the time of the earliest event [ns], or +infinity if the queue is empty. */
static inline double kvc_events_next_ns(struct kvc_events *events)
{
    if (!events->found) {
        kvc_events_find_next(events);
    }
    return events->next_ns;
}

/** Removes and returns the first event of bucket `at`, which must have one. A step of kvc_events_pop. */
static inline struct kvc_event kvc_events_take_first(struct kvc_events *events)
{
    uint32_t index = (uint32_t)events->at % KVC_EVENTS_BUCKETS;
    struct kvc_events_bucket *bucket = &events->bucket[index];
    uint32_t number = bucket->first;
    struct kvc_events_node *node = &events->node[number - 1];
    struct kvc_event first = node->event;
    bucket->first = node->next;
    if (node->next == 0) {
        events->occupied[index / KVC_EVENTS_WORD_BITS] &= ~(UINT64_C(1) << index % KVC_EVENTS_WORD_BITS);
    }
    node->next = events->free_node;
    events->free_node = number;
    events->count--;
    events->found = false;
    return first;
}

/** Removes the earliest event if one of the heap may be it. A step of kvc_events_pop. */
struct kvc_event kvc_events_pop_far(struct kvc_events *events);
/** Chooses the width by the mean time between the latest events, the last of which was at now_ns. A step of
 * kvc_events_pop. */
void kvc_events_set_pace(struct kvc_events *events, double now_ns);

/** Removes and returns the earliest event. The queue must not be empty. */
static inline struct kvc_event kvc_events_pop(struct kvc_events *events)
{
    bool near = kvc_events_next_ns(events) < events->far_ns;
    struct kvc_event first = near ? kvc_events_take_first(events) : kvc_events_pop_far(events);
    if (--events->unpaced == 0) {
        kvc_events_set_pace(events, first.time_ns);
    }
    return first;
}

#endif
