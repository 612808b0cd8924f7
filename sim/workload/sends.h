/* Sends that closed-loop clients have before them, in order of (time, client), per shard.
 *
 * A four-ary heap per shard: a million clients cost 16 MB and about ten levels. */
#ifndef KVC_SIM_WORKLOAD_SENDS_H
#define KVC_SIM_WORKLOAD_SENDS_H

#include <stdbool.h>
#include <stdint.h>

struct kvc_send {
    double sent_ns;
    uint32_t client;
};

/* Zero it to begin. */
struct kvc_sends {
    struct kvc_send *heap;
    uint32_t count, capacity;
};

void kvc_sends_free(struct kvc_sends *sends); /* frees the heap, not the struct */

/* sent_ns must not be negative. False when memory is short. */
bool kvc_sends_push(struct kvc_sends *sends, double sent_ns, uint32_t client);

/* The earliest; there must be one. */
struct kvc_send kvc_sends_pop(struct kvc_sends *sends);

/* Time of the earliest, +infinity when there is none. */
double kvc_sends_next_ns(const struct kvc_sends *sends);

#endif
