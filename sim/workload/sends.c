#include "sim/workload/sends.h"

#include <math.h>
#include <stdlib.h>

enum { ARITY = 4 };

void kvc_sends_free(struct kvc_sends *sends)
{
    free(sends->heap);
    *sends = (struct kvc_sends){0};
}

static bool before(const struct kvc_send *a, const struct kvc_send *b)
{
    return a->sent_ns < b->sent_ns || (a->sent_ns == b->sent_ns && a->client < b->client);
}

bool kvc_sends_push(struct kvc_sends *sends, double sent_ns, uint32_t client)
{
    if (sends->count == sends->capacity) {
        uint32_t capacity = sends->capacity != 0 ? 2 * sends->capacity : 64;
        struct kvc_send *heap = realloc(sends->heap, capacity * sizeof *heap);
        if (heap == NULL)
            return false;
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

static uint32_t first_child(const struct kvc_sends *sends, uint32_t parent)
{
    uint32_t best = parent * ARITY + 1, end = best + ARITY < sends->count ? best + ARITY : sends->count;
    for (uint32_t child = best + 1; child < end; child++)
        if (before(&sends->heap[child], &sends->heap[best]))
            best = child;
    return best;
}

struct kvc_send kvc_sends_pop(struct kvc_sends *sends)
{
    struct kvc_send top = sends->heap[0], last = sends->heap[--sends->count];
    uint32_t hole = 0;
    while (hole * ARITY + 1 < sends->count) {
        uint32_t child = first_child(sends, hole);
        if (!before(&sends->heap[child], &last))
            break;
        sends->heap[hole] = sends->heap[child];
        hole = child;
    }
    sends->heap[hole] = last;
    return top;
}

double kvc_sends_next_ns(const struct kvc_sends *sends)
{
    return sends->count != 0 ? sends->heap[0].sent_ns : INFINITY;
}
