/** @file
 * Estimates how soon a workload returns to the same memory: the share of accesses whose cache line is among
 * the most recently touched bytes.
 *
 * This is Che's approximation of an LRU cache (Che, Tung, Wang, IEEE JSAC 20(7), 2002): a key that is
 * requested with probability p is among the keys of the last t requests with probability 1 - exp(-p t). */
#ifndef KVC_SIM_WORKLOAD_KEYS_REUSE_H
#define KVC_SIM_WORKLOAD_KEYS_REUSE_H

#include "sim/workload/workload.h"

/** The memory that requests touch. */
struct kvc_reuse {
    double bytes_per_key;   /**< Touched by a request for a key [bytes]: the item, or the bucket's line. */
    double footprint_bytes; /**< Memory of all keys [bytes]; less than the sum if keys share lines. */
    double stream_bytes;    /**< Touched per request and not reused soon, such as its packet [bytes]. */
};

/** Returns the share of accesses (0 to 1) whose line is among the last `size` bytes touched; 0 if size is 0.
 * If memory for the popularity of the keys is short, they count as uniform. */
double kvc_reuse_share(const struct kvc_workload *workload, const struct kvc_reuse *reuse, double size);

/** Returns the number of requests that touch `size` bytes: an LRU cache of that size keeps a key for so many
 * after its latest one. Infinity: the cache keeps all. */
double kvc_reuse_requests(const struct kvc_workload *workload, const struct kvc_reuse *reuse, double size);

#endif
