/** @file
 * The twin of a trace is a synthetic trace whose requests come back as those of the trace do.
 *
 * Keys form groups: keys that were used about as often, and whose pair is stored or not: whether a SET has
 * written it and no DELETE removed it since. A request is for a new key, or for the key that is at some place
 * of a group's LRU stack, which is the list of its keys in the order of their last requests. Place 1 has the
 * key that was requested last. The request moves the key to place 1 of the group that it then belongs to.
 * With one group, an LRU cache of any size would have the same hits as with the trace, except for chance (the
 * stack model of Mattson et al., IBM Systems Journal 9(2), 1970), but all keys would be equally popular in
 * the long run. Groups keep popular keys popular, which stores notice that do not evict the least recently
 * used pair, and stored pairs stored.
 *
 * A twin has a distribution of operations, groups and places for each window of the trace, with the window's
 * times and the sizes of its new pairs, so that it follows the trace where that changes. Where a stack is
 * shorter than in the trace, its last key is at all places behind it, and where it is empty, the stack of
 * keys with fewer uses takes its place.
 *
 * Not modelled: times to live, sizes that change, the correlation of a pair's size with its reuse within a
 * window, and bursts within one.
 *
 * The file is text. Lines, in this order, with counts that may be fractions where keys were sampled:
 *
 * - `kvcast.twin/1,TIMED,WRITES`: whether the trace had times, and whether it records writes, 0 or 1
 * - `window,REQUESTS,BEGIN_US,END_US`, for each window, and then those of it:
 * - `size,KEY_BYTES,VALUE_BYTES,COUNT`: sizes of new pairs
 * - `new,OP,COUNT`: requests for new keys; OP is get, set or delete
 * - `reuse,OP,STORED,USES,FROM,TO,COUNT`: requests for keys at the places FROM to TO of a group's stack
 *
 * STORED is 0 or 1, and USES the least number of uses of the group's keys, a power of two up to 32768.
 *
 * Lines that begin with # are comments. Memory grows with the keys, not with the requests. */
#ifndef KVC_SIM_WORKLOAD_TRACE_TWIN_H
#define KVC_SIM_WORKLOAD_TRACE_TWIN_H

#include <stdbool.h>
#include <stdint.h>

#define KVC_TWIN_SCHEMA "kvcast.twin/1" /**< The schema that the first line of a twin names. */

/** The names of operations in the file, by enum kvc_op. */
extern const char *const kvc_twin_ops[];

/** A twin whose requests are drawn. */
struct kvc_twin;

/** A request of a twin. */
struct kvc_twin_request {
    double time_ns;       /**< Send time [ns]. */
    uint64_t key;         /**< Number of the key, from 0, in the order of first requests. */
    uint32_t value_bytes; /**< Size of the value [bytes]. */
    uint8_t op;           /**< enum kvc_op. */
    uint8_t key_bytes;    /**< Size of the key [bytes]. */
};

/** Frees a twin. NULL is allowed. */
void kvc_twin_free(struct kvc_twin *twin);

/** Creates a twin without windows. Ends the program if memory is short. */
struct kvc_twin *kvc_twin_create(void);

/** Takes a line of the file, which it changes. Returns NULL, or what the line should be. */
const char *kvc_twin_take(struct kvc_twin *twin, char *line);

/** Checks a twin after the last line. Returns NULL, or what is wrong with the last window. */
const char *kvc_twin_end(struct kvc_twin *twin);

/** Draws the next request. Returns false after the last one. */
bool kvc_twin_draw(struct kvc_twin *twin, struct kvc_twin_request *request);

/** Returns whether the trace had times. */
bool kvc_twin_is_timed(const struct kvc_twin *twin);

/** Returns whether the trace records writes. */
bool kvc_twin_has_writes(const struct kvc_twin *twin);

/** Returns which share of the requests has been drawn, 0 to 1. */
double kvc_twin_drawn_frac(const struct kvc_twin *twin);

#endif
