#include "sim/base/events.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sim/base/diag.h"

enum { CHILDREN = 4, CAPACITY_FIRST = 256 };

void kvc_events_free(struct kvc_events *events)
{
    free(events->heap);
    *events = (struct kvc_events){0};
}

static bool before(const struct kvc_event *left, const struct kvc_event *right)
{
    return left->time_ns < right->time_ns || (left->time_ns == right->time_ns && left->order < right->order);
}

static void grow(struct kvc_events *events)
{
    uint32_t capacity = events->capacity > 0 ? 2 * events->capacity : CAPACITY_FIRST;
    struct kvc_event *heap = realloc(events->heap, capacity * sizeof(*heap));
    if (heap == NULL) {
        kvc_out_of_memory("%u events", capacity);
    }
    events->heap = heap;
    events->capacity = capacity;
}

void kvc_events_add(struct kvc_events *events, double time_ns, uint16_t kind, uint16_t unit, uint32_t tag)
{
    struct kvc_event event = {time_ns, events->added++, kind, unit, tag};
    if (events->count == events->capacity) {
        grow(events);
    }
    uint32_t at = events->count++;
    while (at > 0 && before(&event, &events->heap[(at - 1) / CHILDREN])) {
        events->heap[at] = events->heap[(at - 1) / CHILDREN];
        at = (at - 1) / CHILDREN;
    }
    events->heap[at] = event;
}

struct kvc_event kvc_events_pop(struct kvc_events *events)
{
    struct kvc_event first = events->heap[0], last = events->heap[--events->count];
    uint32_t at = 0, count = events->count;
    for (;;) {
        uint32_t child = CHILDREN * at + 1, end = child + CHILDREN < count ? child + CHILDREN : count;
        uint32_t least = child;
        for (uint32_t other = child + 1; other < end; other++) {
            if (before(&events->heap[other], &events->heap[least])) {
                least = other;
            }
        }
        if (child >= count || !before(&events->heap[least], &last)) {
            break;
        }
        events->heap[at] = events->heap[least];
        at = least;
    }
    events->heap[at] = last;
    return first;
}

double kvc_events_next_ns(const struct kvc_events *events)
{
    return events->count > 0 ? events->heap[0].time_ns : INFINITY;
}
