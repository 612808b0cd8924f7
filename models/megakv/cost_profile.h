/* A cost profile holds the costs of Mega-KV's tasks on one machine, measured there with the store's own
 * code, each task alone.
 *
 * On a calibrated machine it replaces the costs that are derived from the profiles of cpu, dram and gpu. It
 * has one cost curve for each task: a list of points over five coordinates. These are the size of the piece
 * of work, the length of the keys, the load factor of the index, the footprint of the memory that the work
 * touches at random, and the number of threads that do the same work at the same time (for launches: of
 * streams). A coordinate that does not matter to a task is 0 in all of its points. For each length of keys,
 * the points must form a full grid; its sizes may differ from the sizes of other lengths. Lines join the
 * points; see kvc_megakv_cost_curve_by_size. Not modelled: threads of different tasks that disturb each
 * other. */
#ifndef KVC_MODELS_MEGAKV_COST_PROFILE_H
#define KVC_MODELS_MEGAKV_COST_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/curve.h"
#include "sim/base/diag.h"
#include "sim/base/text/option.h"
#include "sim/devices/node.h"

enum { KVC_MEGAKV_COST_POINTS_MAX = 512, KVC_MEGAKV_COST_KEYS_MAX = 8, KVC_MEGAKV_COST_BATCHES_MAX = 8 };

/* One measured point. */
struct kvc_megakv_cost_point {
    double size;            /* Requests of a frame, bytes of an item, or jobs of a launch. */
    double key_bytes;       /* Length of the keys; 0: any. */
    double load_frac;       /* Occupied slots of the index over all slots; 0: any. */
    double footprint_bytes; /* Memory that is accessed uniformly at random; 0: any. */
    uint64_t threads;       /* Threads that work concurrently, or streams of a launch. */
    double ns;              /* Time of one frame, item or launch. */
};

struct kvc_megakv_cost_curve {
    uint32_t count; /* Points; 0: not measured. */
    struct kvc_megakv_cost_point point[KVC_MEGAKV_COST_POINTS_MAX];
};

/* Either all curves are measured or none. A curve may be missing only if its comment says so. */
struct kvc_megakv_cost_profile {
    char name[KVC_TEXT_MAX];

    /* Tasks of a receiver. */
    struct kvc_megakv_cost_curve
        receive; /* A frame of GETs, by its requests and the length of the keys. The footprint is the
 memory of the batches that the receiver's core fills in turn (kvc_megakv_batches_bytes). */
    /* Extra cost of a SET over a GET if its place was free, by the length of the key and the item's bytes. */
    struct kvc_megakv_cost_curve write;
    /* Extra cost of a SET if its place must be taken from another item; `pass` comes on top. */
    struct kvc_megakv_cost_curve evict;
    struct kvc_megakv_cost_curve
        /* The cost of evict if a random half of the items that the CLOCK hand passes were read. Not measured:
         * such items cost only their `pass`. */
        evict_half_marked;
    struct kvc_megakv_cost_curve pass; /* One step of the CLOCK hand over an item that was read (size 1). */
    /* Extra cost of every request if a random half of them are SETs (size 1). Not measured: 0. */
    struct kvc_megakv_cost_curve mix;

    /* A GET at its sender, by the length of the key and the item's bytes; 0 bytes stand for a miss. */
    /* Cost of a read if all nearby reference bits of CLOCK are known to be set. */
    struct kvc_megakv_cost_curve read;
    /* Cost of a read that checks the item's own bit and finds it set. */
    struct kvc_megakv_cost_curve read_checked;
    struct kvc_megakv_cost_curve
        /* Cost of a read if the bit is clear for every other read, in random order. */
        read_half_marked;
    struct kvc_megakv_cost_curve read_marked; /* Cost of a read that finds the bit clear and sets it. */
    /* Cost of a read if every other one is a miss, in random order. */
    struct kvc_megakv_cost_curve read_half_missed;
    /* The cost of read on the slowest of the senders' cores, which limits a wait for all senders. */
    struct kvc_megakv_cost_curve read_slowest;

    /* A GET that hits at its sender, by the memory of the batches that a receiver's core fills in turn (size;
     * kvc_megakv_batches_bytes). The curves above hold for the smallest. Not measured: batches have no
     * effect.
     */
    struct kvc_megakv_cost_curve read_batch;

    /* The part of any of these times in which the sender compares the requested key with the item's, by the
     * same sizes; with api = "getk" the client compares them. Not measured: no difference is known. */
    struct kvc_megakv_cost_curve compare;

    /* A launch of searches, by its jobs per stream and the load factor of the index. */
    struct kvc_megakv_cost_curve search;             /* Keys that exist. */
    struct kvc_megakv_cost_curve search_miss;        /* Keys that are missing. */
    struct kvc_megakv_cost_curve search_half_missed; /* Both, half of each in random order. Not measured: a
                                                        mix costs what its parts cost. */

    /* A launch of one kind of writes, by its jobs and the load factor. A launch of deletes and inserts takes
     * the sum of both. */
    struct kvc_megakv_cost_curve insert; /* Keys that the index does not have. */
    /* Keys that the index has; they get another location. */
    struct kvc_megakv_cost_curve replace;
    struct kvc_megakv_cost_curve insert_half_replaced; /* Both, half of each in random order. Not measured: as
                                                          above. */
    struct kvc_megakv_cost_curve erase;                /* Deletes of keys that the index has. */
    /* Deletes of items whose key has a newer location. Not measured: they cost as much as other deletes. */
    struct kvc_megakv_cost_curve erase_miss;
    struct kvc_megakv_cost_curve erase_half_missed; /* Both, half of each in random order. Missing together
                                                       with erase_miss. */
    struct kvc_megakv_cost_curve drain;             /* The scheduler's own time for these jobs. */
};

extern const struct kvc_device_kind kvc_megakv_cost_profile_kind;

/* Finds the node's cost profile. Returns NULL if it has none. */
static inline const struct kvc_megakv_cost_profile *kvc_megakv_cost_profile_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_megakv_cost_profile_kind);
}

/* Checks that every curve is a full grid of at most KVC_CURVE_POINTS_MAX sizes and footprints for each of at
 * most KVC_MEGAKV_COST_KEYS_MAX lengths of keys, and that either all curves are given or none. */
enum kvc_status kvc_megakv_cost_profile_check(const struct kvc_megakv_cost_profile *profile,
                                              struct kvc_diag *diag);

/* Returns whether the profile has measured costs; false for NULL. */
static inline bool kvc_megakv_cost_profile_is_measured(const struct kvc_megakv_cost_profile *profile)
{
    return profile != NULL && profile->read.count > 0;
}

/* Writes the measured footprints in rising order. Returns their number. */
uint32_t kvc_megakv_cost_footprints(const struct kvc_megakv_cost_curve *curve,
                                    double footprint_bytes[KVC_CURVE_POINTS_MAX]);

/* Writes the measured lengths of keys in rising order. Returns their number, at least 1 for a curve that has
 * points. */
uint32_t kvc_megakv_cost_keys(const struct kvc_megakv_cost_curve *curve,
                              double key_bytes[KVC_MEGAKV_COST_KEYS_MAX]);

/* Reduces a cost curve to a curve over the size alone, for the measured length of keys nearest to
 * `key_bytes`.
 *
 * `threads` is the number of threads at once. Between measured load factors and numbers of threads, lines
 * join the points; outside of them the nearest one counts. share[i] (0 to 1, rising) is the part of the
 * accesses that return to something among the last footprint[i] bytes touched; NULL stands for accesses
 * spread evenly over the largest footprint.
 *
 * Uniform use of a footprint f costs c(f) per access, and its accesses reach back over distances that are
 * spread evenly over 0 .. f. An access that reaches back over s bytes therefore costs the derivative of f
 * c(f) at s, and other popularities only change how far accesses reach back. */
struct kvc_curve kvc_megakv_cost_curve_by_size(const struct kvc_megakv_cost_curve *curve, double key_bytes,
                                               double load_frac, double threads, const double *share);

/* Smallest and largest measured value of each coordinate. */
struct kvc_megakv_cost_range {
    double size_low, size_high, key_low, key_high, load_low, load_high, footprint_low, footprint_high,
        threads_low, threads_high;
};
struct kvc_megakv_cost_range kvc_megakv_cost_range_of(const struct kvc_megakv_cost_curve *curve);

enum kvc_megakv_coordinate {
    KVC_MEGAKV_BY_SIZE,
    KVC_MEGAKV_BY_KEY,
    KVC_MEGAKV_BY_LOAD,
    KVC_MEGAKV_BY_FOOTPRINT,
    KVC_MEGAKV_BY_THREADS,
    KVC_MEGAKV_COORDINATES,
};

/* Returns how far costs may be off at a value of a coordinate beyond the measured ones, relative to them; 0
 * within. This is the change that follows if the trend between the two nearest measured values goes on, in
 * logarithms of both. Costs by size are those of a unit of size. Where one value alone was measured, the cost
 * may grow in proportion. */
double kvc_megakv_cost_beyond_frac(const struct kvc_megakv_cost_curve *curve,
                                   enum kvc_megakv_coordinate coordinate, double value);

#endif
