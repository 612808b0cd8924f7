/** @file
 * The lines of host memory that a programmable card caches in its own DRAM: how often an access finds its
 * line there.
 *
 * The cache is a direct map in which each place holds the line that was used last. The reuse is exact: an
 * integral over the time between two uses of a line, of a sum over all keys. Gauss' rule with 16 nodes in
 * panels of less than a factor of 21 gives the integral to 1e-11 of itself. What depends on the keys alone is
 * kept by thread. */
#ifndef KVC_SIM_WORKLOAD_LINE_CACHE_H
#define KVC_SIM_WORKLOAD_LINE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/workload/workload.h"

/** Sizes of struct kvc_card_reuse. */
enum { KVC_CARD_REUSE_STEPS = 192, KVC_CARD_REUSE_ARGUMENTS = 7 };

/** Reuse of cached lines, from which the hit ratio follows for any l. */
struct kvc_card_reuse {
    double weight[KVC_CARD_REUSE_STEPS];       /**< Share of the accesses with this reuse time. */
    double lines[KVC_CARD_REUSE_STEPS];        /**< Other lines used since then. */
    double places;                             /**< Lines of all caches. */
    double argument[KVC_CARD_REUSE_ARGUMENTS]; /**< What it was computed from. */
    bool can_keep; /**< It depends on nothing else, so hit ratios are kept by these arguments. */
};

/** The lines of all cards that the keys are in, and the places where they are cached. */
struct kvc_card_lines {
    double buckets;          /**< Buckets of all hash indexes, each of which is a line. */
    double pairs_per_bucket; /**< Mean over the index. */
    double slab_lines;       /**< Lines of a pair's slab; 0: it is inline. */
    double places;           /**< Lines of all caches. */
};

/** Returns the reuse. It belongs to the calling thread and holds until the thread has asked for 256 others.
 */
const struct kvc_card_reuse *kvc_card_reuse_of(const struct kvc_workload *workload,
                                               const struct kvc_card_lines *cached);

/** Returns the hit ratio h(l) of a cacheable access, 0 to 1, if the share l above 0 of all lines is
 * cacheable. */
double kvc_card_hit_frac(const struct kvc_card_reuse *reuse, double dispatch_frac);

#endif
