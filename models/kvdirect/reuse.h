/* The reuse of the lines that the DRAM of KV-Direct's NIC caches.
 *
 * The cache is a direct map in which each place holds the line that was used last. The reuse is exact: an
 * integral over the time between two uses of a line, of a sum over all keys. Gauss' rule with 16 nodes in
 * panels of less than a factor of 21 gives the integral to 1e-11 of itself. What depends on the keys alone is
 * kept by thread. */
#ifndef KVC_MODELS_KVDIRECT_REUSE_H
#define KVC_MODELS_KVDIRECT_REUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/workload/workload.h"

/* Reuse of cached lines, from which the hit ratio follows for any l. */
enum { KVC_KVDIRECT_REUSE_STEPS = 192, KVC_KVDIRECT_REUSE_ARGUMENTS = 7 };
struct kvc_kvdirect_reuse {
    double weight[KVC_KVDIRECT_REUSE_STEPS];       /* Share of the accesses with this reuse time. */
    double lines[KVC_KVDIRECT_REUSE_STEPS];        /* Other lines used since then. */
    double places;                                 /* Lines of all caches. */
    double argument[KVC_KVDIRECT_REUSE_ARGUMENTS]; /* What it was computed from. */
    bool can_keep; /* It depends on nothing else, so hit ratios are kept by these arguments. */
};

/* The lines of all NICs that the keys are in, and the places where they are cached. */
struct kvc_kvdirect_cached {
    double buckets;          /* Buckets of all hash indexes, each of which is a line. */
    double pairs_per_bucket; /* Mean over the index. */
    double slab_lines;       /* Lines of a pair's slab; 0: it is inline. */
    double places;           /* Lines of all caches. */
};

/* Returns the reuse. It belongs to the calling thread and holds until the thread has asked for 256 others. */
const struct kvc_kvdirect_reuse *kvc_kvdirect_reuse_of(const struct kvc_workload *workload,
                                                       const struct kvc_kvdirect_cached *cached);

/* Returns the hit ratio h(l) of a cacheable access, 0 to 1, for l above 0. */
double kvc_kvdirect_hit_frac(const struct kvc_kvdirect_reuse *reuse, double dispatch_frac);

#endif
