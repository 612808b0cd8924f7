/* Events inside one device that handles requests itself, in order of time; simultaneous ones in the order in
 * which they were added.
 *
 * The engine (sim/engine.h) moves batches and costs microseconds an activity. A device that keeps hundreds of
 * requests in flight, each with several steps of its own, goes through its events here, at some ten
 * nanoseconds each, up to the time to which the engine has come. */
#ifndef KVC_SIM_BASE_EVENTS_H
#define KVC_SIM_BASE_EVENTS_H

#include <stdint.h>

struct kvc_event {
    double time_ns;
    uint64_t order; /* set by kvc_events_add */
    uint16_t kind;  /* the owner's */
    uint16_t unit;  /* which of several alike it is for */
    uint32_t tag;
};

/* A four-ary heap. A zeroed struct is empty. */
struct kvc_events {
    struct kvc_event *heap;
    uint32_t count, capacity;
    uint64_t added;
};

void kvc_events_free(struct kvc_events *events); /* frees the heap, not the struct */

void kvc_events_add(struct kvc_events *events, double time_ns, uint16_t kind, uint16_t unit, uint32_t tag);

/* The earliest; there must be one. */
struct kvc_event kvc_events_pop(struct kvc_events *events);

/* +infinity: none. */
double kvc_events_next_ns(const struct kvc_events *events);

#endif
