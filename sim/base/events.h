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
#include <string.h>

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

/** Sizes of the queue. */
enum {
    KVC_EVENTS_BUCKETS = 1024, /**< Buckets of the calendar, a power of two. */
    KVC_EVENTS_WORD_BITS = 64, /**< Bits of a word of the bitmap. */
    KVC_EVENTS_LANES = 8,      /**< Lanes, a power of two; lane 0 is calendar and heap. */
};

/** Events that were added in the order of their times, in a ring. */
struct kvc_events_lane {
    struct kvc_event *event; /**< The ring. */
    uint32_t first;          /**< Number of the first event; its index is this modulo the capacity. */
    uint32_t end;            /**< Number after the last event. */
    uint32_t capacity;       /**< Events that there is room for, a power of two, or 0. */
    double last_ns;          /**< Time of the last event that was added [ns]. */
};

/** The queue. A zeroed struct is empty.
 *
 * A device whose events of some sort come in the order in which it adds them, such as those of a server that
 * takes one job after another, may add them to a lane of their own, which is a ring. The other events are
 * lane 0. The first events of two lanes count as simultaneous if their times differ by at most 2^-49 of
 * themselves. The lane with the smaller number then goes first, so the times of removed events may decrease
 * by as much. With lanes, times must not be negative.
 *
 * The events of the near future are in a calendar: a ring of buckets of equal width, of which a bitmap tells
 * the occupied ones. Later events are in a four-ary heap. The width follows from the mean time between
 * events, so that few buckets have several of them: to add and to remove one takes constant time, and few
 * branches depend on times. The order of the events does not depend on the width. */
struct kvc_events {
    double next_ns;    /**< Time of the next event, if `known`, or +infinity if there is none [ns]. */
    double far_ns;     /**< Time of the heap's first event, or +infinity; 0 before the first event [ns]. */
    uint64_t next_key; /**< Key of the next event, if `known` and `has_lanes`. */
    bool known;        /**< The next event is known. */
    bool has_lanes;    /**< An event has been added to a lane other than 0. */
    /** The next event of lane 0 is known, and if there are events in the calendar, the first is in bucket
     * `at`. */
    bool found;
    uint32_t count;     /**< Events in the queue. */
    uint32_t near;      /**< Events in the calendar. */
    uint32_t far;       /**< Events in the heap. */
    uint32_t free_node; /**< Number of the first free node plus 1; 0: none. */
    uint32_t unpaced;   /**< Events that will be removed before the width is chosen again. */
    uint64_t added;     /**< Events added to lane 0 so far. */
    int64_t at;         /**< Number of a bucket, counted from time 0, before which the calendar is empty. */
    double buckets_per_ns;            /**< Inverse of the width. */
    struct kvc_events_bucket *bucket; /**< Buckets of the calendar; NULL: nothing was added yet. */
    struct kvc_events_node *node;     /**< Events of the calendar, and free nodes. */
    struct kvc_event *heap;           /**< Later events; the root is the earliest. */
    uint32_t nodes;                   /**< Nodes that there is room for. */
    uint32_t capacity;                /**< Events that the heap has room for. */
    double paced_ns;                  /**< Time of the event after which the width was last chosen. */
    uint64_t occupied[KVC_EVENTS_BUCKETS / KVC_EVENTS_WORD_BITS]; /**< A bit for each bucket. */
    double head_ns[KVC_EVENTS_LANES]; /**< Time of the first event of each lane; that of lane 0 if `found`
                                         [ns]. */
    uint64_t
        head_key[KVC_EVENTS_LANES]; /**< Key of the first event of each lane but 0, or the greatest number. */
    struct kvc_events_lane lane[KVC_EVENTS_LANES]; /**< The lanes, of which the first is not used. */
};

/** Frees what the queue has allocated, not the struct, and leaves an empty queue. */
void kvc_events_free(struct kvc_events *events);

/** Adds an event to lane 0. Its events at the same time come out in the order in which they were added. If
 * memory is short, the program ends (kvc_out_of_memory). */
void kvc_events_add(struct kvc_events *events, double time_ns, uint16_t kind, uint16_t unit, uint32_t tag);

/** Finds the earliest event. A step of kvc_events_next_ns and kvc_events_pop. */
void kvc_events_find_next(struct kvc_events *events);

/** Returns the time of the earliest event [ns], or +infinity if the queue is empty. It may be
 * earlier than that of the last removed event by a rounding error. */
static inline double kvc_events_next_ns(struct kvc_events *events)
{
    if (!events->known) {
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
    events->near--;
    events->found = false;
    return first;
}

/** Removes the earliest event when it may be in the heap. A step of kvc_events_pop. */
struct kvc_event kvc_events_pop_far(struct kvc_events *events);
/** Chooses the width by the mean time between the latest events, the last of which was at now_ns. A step of
 * kvc_events_pop. */
void kvc_events_set_pace(struct kvc_events *events, double now_ns);

/** Returns a number that ascends with a time, and in its lowest bits with the lane. A step of kvc_events_pop
 * and kvc_events_append. */
static inline uint64_t kvc_events_key(double time_ns, uint32_t lane)
{
    uint64_t bits;
    memcpy(&bits, &time_ns, sizeof(bits));
    return (bits & ~(uint64_t)(KVC_EVENTS_LANES - 1)) | lane;
}

/** Notes an event that has just been added. If the next event is not known, only the count matters. A step
 * of kvc_events_append. */
static inline void kvc_events_note(struct kvc_events *events, double time_ns, uint32_t lane)
{
    uint64_t key = kvc_events_key(time_ns, lane);
    events->count++;
    if (key < events->next_key) {
        events->next_key = key;
        events->next_ns = time_ns;
    }
}

/** Makes room in a lane. A step of kvc_events_append. */
void kvc_events_add_lane_room(struct kvc_events *events, uint32_t number);

/** Adds an event to a lane, 1 to KVC_EVENTS_LANES - 1. An event that is earlier than the last one
 * added to the lane goes to lane 0 instead, which is slower but no error. If memory is short, the program
 * ends (kvc_out_of_memory). */
static inline void kvc_events_append(struct kvc_events *events, uint32_t number, double time_ns,
                                     uint16_t kind, uint16_t unit, uint32_t tag)
{
    struct kvc_events_lane *lane = &events->lane[number];
    if (__builtin_expect(time_ns < lane->last_ns, 0)) {
        kvc_events_add(events, time_ns, kind, unit, tag);
        return;
    }
    if (__builtin_expect(lane->end - lane->first == lane->capacity, 0)) {
        kvc_events_add_lane_room(events, number);
    }
    lane->event[lane->end & (lane->capacity - 1)] = (struct kvc_event){time_ns, 0, kind, unit, tag};
    lane->last_ns = time_ns;
    if (lane->end++ == lane->first) {
        events->head_ns[number] = time_ns;
        events->head_key[number] = kvc_events_key(time_ns, number);
    }
    kvc_events_note(events, time_ns, number);
}

/** Removes and returns the first event of a lane other than 0, which must have one. A step of kvc_events_pop.
 */
static inline struct kvc_event kvc_events_take_lane(struct kvc_events *events, uint32_t number)
{
    struct kvc_events_lane *lane = &events->lane[number];
    uint32_t mask = lane->capacity - 1;
    struct kvc_event first = lane->event[lane->first++ & mask];
    double next_ns = lane->event[lane->first & mask].time_ns;
    events->head_ns[number] = next_ns;
    events->head_key[number] = lane->first != lane->end ? kvc_events_key(next_ns, number) : UINT64_MAX;
    return first;
}

/** Removes and returns the earliest event. The queue must not be empty. */
static inline struct kvc_event kvc_events_pop(struct kvc_events *events)
{
    kvc_events_next_ns(events);
    events->known = false;
    events->count--;
    if (events->has_lanes && events->next_key % KVC_EVENTS_LANES > 0) {
        return kvc_events_take_lane(events, (uint32_t)(events->next_key % KVC_EVENTS_LANES));
    }
    bool near = events->head_ns[0] < events->far_ns;
    struct kvc_event first = near ? kvc_events_take_first(events) : kvc_events_pop_far(events);
    if (--events->unpaced == 0) {
        kvc_events_set_pace(events, first.time_ns);
    }
    return first;
}

#endif
