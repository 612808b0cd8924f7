/* How soon a workload comes back to the same memory: the share of accesses that find their line among the
 * last bytes touched. Che's approximation of an LRU cache (Che, Tung, Wang, IEEE JSAC 20(7), 2002): a key
 * that is asked for with probability p is among the last t requests with 1 - exp(-p t). */
#ifndef KVC_SIM_WORKLOAD_REUSE_H
#define KVC_SIM_WORKLOAD_REUSE_H

#include "sim/workload/workload.h"

struct kvc_reuse {
    double bytes_per_key;   /* that a request for it touches: its item, or the line of its bucket */
    double footprint_bytes; /* of all keys together; keys that share lines make it less than the sum */
    double stream_bytes;    /* touched per request beside that and not touched again soon: its packet */
};

/* For each of `count` rising sizes the share of accesses, 0..1, whose line is among the last size[i] bytes.
 * Without memory for the popularity of the keys: as if it were uniform. */
void kvc_reuse_shares(const struct kvc_workload *workload, const struct kvc_reuse *reuse, const double *size,
                      uint32_t count, double *share);

#endif
