/* What the stages of a store cost on one machine, measured there with the store's own code, batch by batch.
 *
 * Where a machine has been calibrated these take the place of what cpu, dram and gpu profiles would give.
 * Every law is a list of points over three coordinates, a full grid: the size of the piece of work, the
 * footprint of the memory that it touches at random, and the threads that do the same at once (for launches:
 * the streams). Lines join the points; see kvc_megakv_cost_curve_by_size. Not modelled: threads of different
 * stages disturbing each other. */
#ifndef KVC_MODELS_MEGAKV_COST_PROFILE_H
#define KVC_MODELS_MEGAKV_COST_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/curve.h"
#include "sim/base/diag.h"
#include "sim/base/option.h"
#include "sim/devices/node.h"

enum { KVC_MEGAKV_COST_POINTS_MAX = 256 };

/* How full the index is for which launches are measured: of its cells. */
#define KVC_MEGAKV_USUAL_LOAD_FRAC 0.4925
#define KVC_MEGAKV_HIGH_LOAD_FRAC 0.73875

struct kvc_megakv_cost_point {
    double size;            /* requests of a frame, bytes of an item's lines, jobs of a launch */
    double footprint_bytes; /* uniformly used; 0: does not matter */
    uint64_t threads;
    double ns;
};

struct kvc_megakv_cost_curve {
    uint32_t count; /* 0: not measured */
    struct kvc_megakv_cost_point point[KVC_MEGAKV_COST_POINTS_MAX];
};

struct kvc_megakv_cost_profile {
    char name[KVC_TEXT_MAX];
    /* A frame of GETs, by its requests. */
    struct kvc_megakv_cost_curve receive;
    /* What a SET costs its receiver beyond a GET, by the item's bytes; it evicts an item, and senders read
     * others at the same time. Without what the CLOCK hand takes to pass items: `pass`, one of them (size 1).
     */
    struct kvc_megakv_cost_curve write, pass;
    /* A GET at its sender, by the item's bytes, 0: a miss. `read`: where the reference bits of CLOCK around
     * it are all known to be set; `read_checked`: the item's own bit must be looked at and is set;
     * `read_marked`: it is clear and gets set. Of `read_half_marked` and `read_half_missed` every other one
     * is marked, or a miss, in an order that no processor guesses. `read_slowest`: as `read`, on the slowest
     * of the senders' cores, for which those who wait for all senders wait. */
    struct kvc_megakv_cost_curve read, read_checked, read_half_marked, read_marked, read_half_missed,
        read_slowest;
    /* A launch of searches, by its jobs per stream: of keys that are there, that are not; and of the former
     * in a fuller index. */
    struct kvc_megakv_cost_curve search, search_miss, search_high_load;
    /* By its jobs, a launch of inserts and deletes, half and half, and in a fuller index; and the scheduler's
     * own time for these jobs. */
    struct kvc_megakv_cost_curve insert, insert_high_load, drain;
};

extern const struct kvc_device_kind kvc_megakv_cost_profile_kind;

/* The node's cost profile; NULL if it has none. */
static inline const struct kvc_megakv_cost_profile *kvc_megakv_cost_profile_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_megakv_cost_profile_kind);
}

/* Whether every law is a full grid of at most KVC_CURVE_POINTS_MAX values in each coordinate, and all are
 * given or none. */
enum kvc_status kvc_megakv_cost_profile_check(const struct kvc_megakv_cost_profile *profile,
                                              struct kvc_diag *diag);

static inline bool kvc_megakv_cost_profile_is_measured(const struct kvc_megakv_cost_profile *profile)
{
    return profile != NULL && profile->read.count > 0;
}

/* The footprints that were measured, rising. Returns how many there are. */
uint32_t kvc_megakv_cost_footprints(const struct kvc_megakv_cost_curve *curve,
                                    double footprint_bytes[KVC_CURVE_POINTS_MAX]);

/* The law by size alone, for so many threads and for accesses of which share[i] (0..1, rising) come back to
 * something among the last footprint[i] bytes touched; `share` NULL: spread evenly over the largest
 * footprint.
 *
 * Uniform use of a footprint f costs c(f) an access, and every access reaches back over a number of bytes
 * that is evenly spread over 0 .. f. So one that reaches back over s bytes costs d(f c(f))/df at s, and other
 * popularities only change how far accesses reach back. */
struct kvc_curve kvc_megakv_cost_curve_by_size(const struct kvc_megakv_cost_curve *curve, double threads,
                                               const double *share);

/* Smallest and largest of a coordinate that was measured. */
struct kvc_megakv_cost_range {
    double size_low, size_high, footprint_low, footprint_high, threads_low, threads_high;
};
struct kvc_megakv_cost_range kvc_megakv_cost_range_of(const struct kvc_megakv_cost_curve *curve);

#endif
