/** @file
 * The way of requests through a store: how long they are in each part of it, by their latency.
 *
 * A store knows when a request, or the batch that it belongs to, passes from one part to the next. A request
 * is in the first part from its sending to the first mark, in the last part from the last mark to its
 * response, and in between for the time between two marks. The parts of a request add up to its latency.
 * Their means over the slowest requests say what makes these slow.
 *
 * Every KVC_PATHS_EVERY-th request counts, in the order in which they are recorded, so that counting costs
 * next to nothing. Requests are kept in bins of their latency, 32 for each factor of two, from 1 us to 1 s;
 * faster and slower ones are in the outermost bins. */
#ifndef KVC_SIM_METRICS_PATHS_H
#define KVC_SIM_METRICS_PATHS_H

#include <stdint.h>

enum {
    KVC_PATHS_PARTS_MAX = 9,                    /**< Parts of a way. */
    KVC_PATHS_PER_OCTAVE = 32,                  /**< Bins for each factor of two. */
    KVC_PATHS_BINS = 20 * KVC_PATHS_PER_OCTAVE, /**< Bins. */
    KVC_PATHS_EVERY = 61,                       /**< A prime, so that places in a batch take turns. */
    KVC_PATHS_NAME_MAX = 32,                    /**< Bytes of a name, including the terminating zero. */
};

/** The ways of requests. A zeroed struct has none. */
struct kvc_paths {
    uint32_t parts;                                      /**< Parts of a way; 0: none is known. */
    uint32_t skip;                                       /**< Requests until the next one that counts. */
    char name[KVC_PATHS_PARTS_MAX][KVC_PATHS_NAME_MAX];  /**< Names of the parts. */
    uint64_t count[KVC_PATHS_BINS];                      /**< Requests by latency. */
    double part_ns[KVC_PATHS_BINS][KVC_PATHS_PARTS_MAX]; /**< Sums of their times in each part [ns]. */
};

/** Counts requests. Request k passed from part i to part i + 1 at mark_ns[k * stride + i] [ns]; `stride` is 0
 * for a batch, whose marks hold for all of its requests. There is one mark fewer than parts. Requests with
 * another number of marks than the first ones are left out. */
void kvc_paths_count(struct kvc_paths *paths, const double *sent_ns, const double *done_ns, uint32_t count,
                     const double *mark_ns, uint32_t marks, uint32_t stride);

/** Names part `part`, if any request was counted. */
void kvc_paths_name(struct kvc_paths *paths, uint32_t part, const char *name);

/** Adds the ways of another run or node of the same store. Ways of another number of parts are left out. */
void kvc_paths_add(struct kvc_paths *sum, const struct kvc_paths *other);

/** Fills part_us[0 .. parts - 1] with the mean times of the slowest requests, `share_frac` of all, above 0
 * and at most 1 [us]. A bin that lies only partly among them counts with the mean of its requests. Returns
 * how many counted requests that are, 0 if there is none. */
double kvc_paths_slowest(const struct kvc_paths *paths, double share_frac,
                         double part_us[KVC_PATHS_PARTS_MAX]);

#endif
