#include "sim/workload/source/sends.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ARITY = 4 };

void kvc_sends_free(struct kvc_sends *sends)
{
    free(sends->heap);
    *sends = (struct kvc_sends){0};
}

/* Times are not negative, so their bits have the same order as their values. One integer then compares
 * without a branch that could be mispredicted. */
static inline unsigned __int128 rank(const struct kvc_send *send)
{
    uint64_t bits;
    memcpy(&bits, &send->sent_ns, sizeof(bits));
    return (unsigned __int128)bits << 64 | send->client;
}

static inline bool before(const struct kvc_send *a, const struct kvc_send *b)
{
    return rank(a) < rank(b);
}

bool kvc_sends_push(struct kvc_sends *sends, double sent_ns, uint32_t client)
{
    if (sends->count == sends->capacity) {
        uint32_t capacity = sends->capacity != 0 ? 2 * sends->capacity : 64;
        struct kvc_send *heap = realloc(sends->heap, capacity * sizeof(*heap));
        if (heap == NULL) {
            return false;
        }
        sends->heap = heap;
        sends->capacity = capacity;
    }
    struct kvc_send send = {.sent_ns = sent_ns, .client = client};
    uint32_t hole = sends->count++;
    while (hole > 0 && before(&send, &sends->heap[(hole - 1) / ARITY])) {
        sends->heap[hole] = sends->heap[(hole - 1) / ARITY];
        hole = (hole - 1) / ARITY;
    }
    sends->heap[hole] = send;
    return true;
}

static inline uint32_t earlier(const struct kvc_send *heap, uint32_t a, uint32_t b)
{
    return before(&heap[b], &heap[a]) ? b : a;
}

/* The hole moves down to a leaf along the earliest children, and then up to where the last entry fits. That
 * entry comes from a leaf, so it rarely moves up far, and the way down does not have to compare it. */
struct kvc_send kvc_sends_pop(struct kvc_sends *sends)
{
    struct kvc_send *heap = sends->heap, top = heap[0], last = heap[--sends->count];
    uint32_t hole = 0, child;
    while ((child = hole * ARITY + 1) + ARITY <= sends->count) {
        child = earlier(heap, earlier(heap, child, child + 1), earlier(heap, child + 2, child + 3));
        heap[hole] = heap[child];
        hole = child;
    }
    if (child < sends->count) { /* Fewer than ARITY children: the last ones of the heap. */
        uint32_t best = child;
        while (++child < sends->count) {
            best = earlier(heap, best, child);
        }
        heap[hole] = heap[best];
        hole = best;
    }
    for (; hole > 0 && before(&last, &heap[(hole - 1) / ARITY]); hole = (hole - 1) / ARITY) {
        heap[hole] = heap[(hole - 1) / ARITY];
    }
    heap[hole] = last;
    return top;
}

double kvc_sends_next_ns(const struct kvc_sends *sends)
{
    return sends->count != 0 ? sends->heap[0].sent_ns : INFINITY;
}
