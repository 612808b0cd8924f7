#include "sim/base/events.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sim/base/array.h"

enum {
    BUCKETS = 1024, /* A power of two. */
    WORD_BITS = 64,
    CHILDREN = 4, /* An entry of the heap has up to this many children. */
    CAPACITY_FIRST = 256,
    PACE = 4096, /* Events from which the width is chosen. */
    BUCKETS_PER_EVENT = 2,
};

struct kvc_events_node {
    struct kvc_event event;
    uint32_t next; /* Number of the next node of the bucket, or of the next free one, plus 1; 0: none. */
};

void kvc_events_free(struct kvc_events *events)
{
    free(events->bucket);
    free(events->occupied);
    free(events->node);
    free(events->heap);
    *events = (struct kvc_events){0};
}

static bool before(const struct kvc_event *left, const struct kvc_event *right)
{
    return left->time_ns < right->time_ns || (left->time_ns == right->time_ns && left->order < right->order);
}

/* ---- heap ---- */

static void push_heap(struct kvc_events *events, const struct kvc_event *event)
{
    if (events->far == events->capacity) {
        events->capacity = events->capacity > 0 ? 2 * events->capacity : CAPACITY_FIRST;
        events->heap = kvc_array_grown(events->heap, events->capacity, sizeof(*events->heap));
    }
    uint32_t at = events->far++;
    while (at > 0 && before(event, &events->heap[(at - 1) / CHILDREN])) {
        events->heap[at] = events->heap[(at - 1) / CHILDREN];
        at = (at - 1) / CHILDREN;
    }
    events->heap[at] = *event;
}

static struct kvc_event pop_heap(struct kvc_events *events)
{
    struct kvc_event first = events->heap[0], last = events->heap[--events->far];
    uint32_t at = 0, count = events->far;
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

/* ---- calendar ---- */

static void open_calendar(struct kvc_events *events)
{
    events->bucket = kvc_array_of(BUCKETS, sizeof(*events->bucket));
    events->occupied = kvc_array_of(BUCKETS / WORD_BITS, sizeof(*events->occupied));
    events->buckets_per_ns = 1;
    events->unpaced = PACE;
}

/* Returns the number of a free node plus 1. */
static inline uint32_t new_node(struct kvc_events *events)
{
    if (events->free_node == 0) {
        uint32_t old = events->nodes;
        events->nodes = old > 0 ? 2 * old : CAPACITY_FIRST;
        events->node = kvc_array_grown(events->node, events->nodes, sizeof(*events->node));
        for (uint32_t i = old; i < events->nodes; i++) {
            events->node[i].next = i + 1 < events->nodes ? i + 2 : 0;
        }
        events->free_node = old + 1;
    }
    uint32_t number = events->free_node;
    events->free_node = events->node[number - 1].next;
    return number;
}

/* Puts a node into a bucket, behind all that are not later. */
static void insert(struct kvc_events *events, uint32_t index, uint32_t number)
{
    struct kvc_events_bucket *bucket = &events->bucket[index];
    struct kvc_events_node *node = &events->node[number - 1];
    node->next = 0;
    events->near++;
    if (bucket->first == 0) {
        bucket->first = bucket->last = number;
        events->occupied[index / WORD_BITS] |= UINT64_C(1) << index % WORD_BITS;
    } else if (before(&events->node[bucket->last - 1].event, &node->event)) {
        events->node[bucket->last - 1].next = number;
        bucket->last = number;
    } else {
        uint32_t *link = &bucket->first;
        while (before(&events->node[*link - 1].event, &node->event)) {
            link = &events->node[*link - 1].next;
        }
        node->next = *link;
        *link = number;
    }
}

/* Adds an event to the calendar, or to the heap if it is too late for it. One that is before the calendar's
 * first bucket goes there, since that has the earliest events. Its fields are arguments, so that each is
 * written once, to its place: reading a copy whole would wait for the writes of its parts. */
static inline __attribute__((always_inline)) void
push(struct kvc_events *events, double time_ns, uint64_t order, uint16_t kind, uint16_t unit, uint32_t tag)
{
    double number = time_ns * events->buckets_per_ns;
    if (!(number < (double)(events->at + BUCKETS))) {
        push_heap(events, &(struct kvc_event){time_ns, order, kind, unit, tag});
        return;
    }
    int64_t at = number < (double)events->at ? events->at : (int64_t)number;
    uint32_t node = new_node(events);
    events->node[node - 1].event = (struct kvc_event){time_ns, order, kind, unit, tag};
    insert(events, (uint32_t)at & (BUCKETS - 1), node);
}

/* Moves to the first occupied bucket. The calendar must not be empty. */
static struct kvc_events_bucket *first_bucket(struct kvc_events *events)
{
    uint32_t index = (uint32_t)events->at & (BUCKETS - 1);
    uint64_t word = events->occupied[index / WORD_BITS] >> index % WORD_BITS;
    while (word == 0) {
        events->at += WORD_BITS - index % WORD_BITS;
        index = (uint32_t)events->at & (BUCKETS - 1);
        word = events->occupied[index / WORD_BITS];
    }
    events->at += __builtin_ctzll(word);
    return &events->bucket[(uint32_t)events->at & (BUCKETS - 1)];
}

static struct kvc_event pop_bucket(struct kvc_events *events, struct kvc_events_bucket *bucket)
{
    uint32_t number = bucket->first, index = (uint32_t)(bucket - events->bucket);
    struct kvc_events_node *node = &events->node[number - 1];
    bucket->first = node->next;
    if (node->next == 0) {
        events->occupied[index / WORD_BITS] &= ~(UINT64_C(1) << index % WORD_BITS);
    }
    node->next = events->free_node;
    events->free_node = number;
    events->near--;
    return node->event;
}

/* Chooses the width by the mean time between the latest events, the last of which was at now_ns. */
static void set_pace(struct kvc_events *events, double now_ns)
{
    double buckets_per_ns = BUCKETS_PER_EVENT * PACE / (now_ns - events->paced_ns);
    double change = buckets_per_ns / events->buckets_per_ns;
    events->paced_ns = now_ns;
    events->unpaced = PACE;
    if (!isfinite(buckets_per_ns) || buckets_per_ns <= 0 || (change > 0.5 && change < 2)) {
        return;
    }
    struct kvc_event *moved = kvc_array_of(events->near + 1, sizeof(*moved));
    uint32_t count = 0;
    while (events->near > 0) {
        moved[count++] = pop_bucket(events, first_bucket(events));
    }
    events->buckets_per_ns = buckets_per_ns;
    events->at = (int64_t)(now_ns * buckets_per_ns);
    for (uint32_t i = 0; i < count; i++) {
        push(events, moved[i].time_ns, moved[i].order, moved[i].kind, moved[i].unit, moved[i].tag);
    }
    free(moved);
}

/* ---- queue ---- */

void kvc_events_add(struct kvc_events *events, double time_ns, uint16_t kind, uint16_t unit, uint32_t tag)
{
    if (events->bucket == NULL) {
        open_calendar(events);
    }
    events->count++;
    events->found &= time_ns >= events->next_ns;
    push(events, time_ns, events->added++, kind, unit, tag);
}

static void find_next(struct kvc_events *events)
{
    const struct kvc_event *far = events->far > 0 ? &events->heap[0] : NULL, *near = NULL;
    events->next = NULL;
    if (events->near > 0) {
        events->next = first_bucket(events);
        near = &events->node[events->next->first - 1].event;
        if (far != NULL && before(far, near)) {
            events->next = NULL;
        }
    }
    const struct kvc_event *next = events->next != NULL ? near : far;
    events->next_ns = next != NULL ? next->time_ns : INFINITY;
    events->found = true;
}

struct kvc_event kvc_events_pop(struct kvc_events *events)
{
    if (!events->found) {
        find_next(events);
    }
    struct kvc_event first = events->next != NULL ? pop_bucket(events, events->next) : pop_heap(events);
    events->found = false;
    events->count--;
    if (events->near == 0) {
        events->at = (int64_t)fmin(first.time_ns * events->buckets_per_ns, 0x1p62);
    }
    if (--events->unpaced == 0) {
        set_pace(events, first.time_ns);
    }
    return first;
}

double kvc_events_next_ns(struct kvc_events *events)
{
    if (!events->found) {
        find_next(events);
    }
    return events->next_ns;
}
