#include "sim/base/events.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"

enum {
    BUCKETS = KVC_EVENTS_BUCKETS,
    WORD_BITS = KVC_EVENTS_WORD_BITS,
    CHILDREN = 4, /* An entry of the heap has up to this many children. */
    CAPACITY_FIRST = 256,
    PACE = 4096, /* Events from which the width is chosen. */
    BUCKETS_PER_EVENT = 2,
};

void kvc_events_free(struct kvc_events *events)
{
    free(events->bucket);
    free(events->node);
    free(events->heap);
    for (uint32_t i = 0; i < KVC_EVENTS_LANES; i++) {
        free(events->lane[i].event);
    }
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
    events->far_ns = events->heap[0].time_ns;
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
    events->far_ns = count > 0 ? events->heap[0].time_ns : INFINITY;
    events->found = false;
    return first;
}

/* ---- calendar ---- */

/* Makes room for nodes, and for buckets before the first event. */
static void add_room(struct kvc_events *events)
{
    if (events->bucket == NULL) {
        events->bucket = kvc_array_of(BUCKETS, sizeof(*events->bucket));
        events->buckets_per_ns = 1;
        events->unpaced = PACE;
        events->far_ns = INFINITY;
    }
    uint32_t old = events->nodes;
    events->nodes = old > 0 ? 2 * old : CAPACITY_FIRST;
    events->node = kvc_array_grown(events->node, events->nodes, sizeof(*events->node));
    for (uint32_t i = old; i < events->nodes; i++) {
        events->node[i].next = i + 1 < events->nodes ? i + 2 : 0;
    }
    events->free_node = old + 1;
}

/* Puts a node into a bucket that is not empty, behind all that are not later. */
static __attribute__((noinline)) void chain(struct kvc_events *events, struct kvc_events_bucket *bucket,
                                            uint32_t number)
{
    struct kvc_events_node *node = &events->node[number - 1];
    if (before(&events->node[bucket->last - 1].event, &node->event)) {
        events->node[bucket->last - 1].next = number;
        bucket->last = number;
        return;
    }
    uint32_t *link = &bucket->first;
    while (before(&events->node[*link - 1].event, &node->event)) {
        link = &events->node[*link - 1].next;
    }
    node->next = *link;
    *link = number;
}

/* Puts an event into a bucket, for which there is a free node. Its fields are arguments, so that each is
 * written once, to its place: reading a copy whole would wait for the writes of its parts. */
static inline __attribute__((always_inline)) void put(struct kvc_events *events, int64_t at, double time_ns,
                                                      uint64_t order, uint16_t kind, uint16_t unit,
                                                      uint32_t tag)
{
    uint32_t index = (uint32_t)at % BUCKETS, number = events->free_node;
    struct kvc_events_bucket *bucket = &events->bucket[index];
    struct kvc_events_node *node = &events->node[number - 1];
    events->free_node = node->next;
    events->near++;
    node->event = (struct kvc_event){time_ns, order, kind, unit, tag};
    node->next = 0;
    if (__builtin_expect(bucket->first != 0, 0)) {
        chain(events, bucket, number);
        return;
    }
    bucket->first = number;
    bucket->last = number;
    events->occupied[index / WORD_BITS] |= UINT64_C(1) << index % WORD_BITS;
}

/* Adds an event to the calendar, or to the heap if it is too late for it. One that is before the calendar's
 * first bucket goes there, since that has the earliest events. */
static __attribute__((noinline)) void put_anywhere(struct kvc_events *events, double time_ns, uint64_t order,
                                                   uint16_t kind, uint16_t unit, uint32_t tag)
{
    if (events->free_node == 0) {
        add_room(events);
    }
    double number = time_ns * events->buckets_per_ns;
    if (!(number < (double)(events->at + BUCKETS))) {
        push_heap(events, &(struct kvc_event){time_ns, order, kind, unit, tag});
        return;
    }
    int64_t at = number < (double)events->at ? events->at : (int64_t)number;
    put(events, at, time_ns, order, kind, unit, tag);
}

/* Moves to the first occupied bucket and returns it. The calendar must not be empty. */
static inline struct kvc_events_bucket *first_bucket(struct kvc_events *events)
{
    uint32_t index = (uint32_t)events->at % BUCKETS;
    uint64_t word = events->occupied[index / WORD_BITS] >> index % WORD_BITS;
    while (word == 0) {
        events->at += WORD_BITS - index % WORD_BITS;
        index = (uint32_t)events->at % BUCKETS;
        word = events->occupied[index / WORD_BITS];
    }
    events->at += __builtin_ctzll(word);
    return &events->bucket[(uint32_t)events->at % BUCKETS];
}

void kvc_events_set_pace(struct kvc_events *events, double now_ns)
{
    double buckets_per_ns = BUCKETS_PER_EVENT * PACE / (now_ns - events->paced_ns);
    double change = buckets_per_ns / events->buckets_per_ns;
    events->paced_ns = now_ns;
    events->unpaced = PACE;
    if (!isfinite(buckets_per_ns) || buckets_per_ns <= 0 || (change > 0.5 && change < 2)) {
        return;
    }
    uint32_t count = events->near;
    struct kvc_event *moved = kvc_array_of(count + 1, sizeof(*moved));
    for (uint32_t i = 0; i < count; i++) {
        first_bucket(events);
        moved[i] = kvc_events_take_first(events);
    }
    events->buckets_per_ns = buckets_per_ns;
    events->at = (int64_t)(now_ns * buckets_per_ns);
    for (uint32_t i = 0; i < count; i++) {
        put_anywhere(events, moved[i].time_ns, moved[i].order, moved[i].kind, moved[i].unit, moved[i].tag);
    }
    free(moved);
}

/* ---- queue ---- */

void kvc_events_add(struct kvc_events *events, double time_ns, uint16_t kind, uint16_t unit, uint32_t tag)
{
    double number = time_ns * events->buckets_per_ns;
    uint64_t order = events->added++;
    events->found &= events->near > 0;
    events->known &= events->found;
    events->head_ns[0] = time_ns < events->head_ns[0] ? time_ns : events->head_ns[0];
    if (events->has_lanes) {
        kvc_events_note(events, time_ns, 0);
    } else {
        events->count++;
        events->next_ns = events->head_ns[0];
    }
    bool soon = number < 0x1p62 && (uint64_t)((int64_t)number - events->at) < BUCKETS;
    if (__builtin_expect(!soon || events->free_node == 0, 0)) {
        put_anywhere(events, time_ns, order, kind, unit, tag);
        return;
    }
    put(events, (int64_t)number, time_ns, order, kind, unit, tag);
}

/* Finds the first event of lane 0. */
static void find_first(struct kvc_events *events)
{
    double first_ns = events->far > 0 ? events->far_ns : INFINITY;
    if (events->near > 0) {
        double near_ns = events->node[first_bucket(events)->first - 1].event.time_ns;
        first_ns = near_ns < first_ns ? near_ns : first_ns;
    }
    events->head_ns[0] = first_ns;
    events->found = true;
}

static inline uint64_t least(uint64_t left, uint64_t right)
{
    return left < right ? left : right;
}

/* There is no branch on which lane is first, because it would often be mispredicted. */
void kvc_events_find_next(struct kvc_events *events)
{
    if (!events->found) {
        find_first(events);
    }
    events->known = true;
    events->next_ns = events->head_ns[0];
    if (events->has_lanes) {
        const uint64_t *key = events->head_key;
        events->next_key =
            least(least(least(kvc_events_key(events->next_ns, 0), key[1]), least(key[2], key[3])),
                  least(least(key[4], key[5]), least(key[6], key[7])));
        events->next_ns = events->head_ns[events->next_key % KVC_EVENTS_LANES];
    }
}

/* Before the first event of any lane, all lanes become empty. */
void kvc_events_add_lane_room(struct kvc_events *events, uint32_t number)
{
    struct kvc_events_lane *lane = &events->lane[number];
    if (!events->has_lanes) {
        memset(events->head_key, 0xff, sizeof(events->head_key));
        events->has_lanes = true;
        events->known = false;
    }
    uint32_t capacity = lane->capacity > 0 ? 2 * lane->capacity : CAPACITY_FIRST;
    struct kvc_event *event = kvc_array_of(capacity, sizeof(*event));
    for (uint32_t i = lane->first; i != lane->end; i++) {
        event[i & (capacity - 1)] = lane->event[i & (lane->capacity - 1)];
    }
    free(lane->event);
    lane->event = event;
    lane->capacity = capacity;
}

struct kvc_event kvc_events_pop_far(struct kvc_events *events)
{
    if (events->near > 0) {
        uint32_t number = events->bucket[(uint32_t)events->at % BUCKETS].first;
        if (before(&events->node[number - 1].event, &events->heap[0])) {
            return kvc_events_take_first(events);
        }
    }
    struct kvc_event first = pop_heap(events);
    if (events->near == 0) {
        events->at = (int64_t)fmin(first.time_ns * events->buckets_per_ns, 0x1p62);
    }
    return first;
}
