/** @file
 * The profile of a trace: its facts, how its keys are requested, and how many GETs an LRU cache of any size
 * would miss.
 *
 * The miss-ratio curve follows from reuse distances, the bytes of other pairs that were requested since the
 * last request for a pair (Mattson et al., IBM Systems Journal 9(2), 1970): an LRU cache that GETs and SETs
 * fill has a pair exactly if these bytes and its own fit. Distances are those of a sample of the keys
 * (SHARDS, Waldspurger et al., FAST 2015, with its adjustment), which has all keys of a short trace. A DELETE
 * removes its pair; times to live are not looked at. */
#ifndef KVC_SIM_WORKLOAD_TRACE_PROFILE_H
#define KVC_SIM_WORKLOAD_TRACE_PROFILE_H

#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/base/progress.h"
#include "sim/workload/trace/facts.h"

enum {
    KVC_REUSE_OCTAVES = 48,                 /**< Distances of up to 2^48 bytes or keys. */
    KVC_REUSE_BINS = KVC_REUSE_OCTAVES * 64 /**< Each octave has 64 bins. */
};

/** GETs by their reuse distance. Bin i has the distances from about 2^(i / 64) on. */
struct kvc_reuse_histogram {
    double gets[KVC_REUSE_BINS]; /**< GETs in each bin. */
};

/** The profile. */
struct kvc_trace_profile {
    struct kvc_trace_facts facts; /**< Facts of the whole trace. */
    double gets;                  /**< GETs. */
    double repeated_gets;         /**< GETs whose key was requested before and not deleted since. */
    double footprint_bytes;       /**< Sizes of all different pairs, summed up [bytes]. */
    double busiest_s_requests;    /**< Requests in the busiest second; 0 without times. */
    double zipf_s;                /**< Zipf exponent that fits the popularity best (maximum likelihood). */
    double zipf_distance;         /**< Largest difference of the cumulated popularities, 0 to 1
                                       (Kolmogorov and Smirnov). */
    struct kvc_reuse_histogram bytes; /**< GETs by the bytes that a cache needs to have their pair. */
    struct kvc_reuse_histogram keys;  /**< GETs by the number of pairs that it needs to have. */
};

/** A request as the profile sees it. */
struct kvc_profiled_request {
    const struct kvc_trace_row *row;   /**< The request. */
    const struct kvc_sampled_key *key; /**< Its key before the request, or NULL if it is not in the sample. */
    double scale;                      /**< Requests that it stands for, if its key is in the sample. */
    double place;                      /**< Place of the key among those of its group, 1 for the one that was
                                            requested last; 0 for a new key. */
};

/** Watches the requests of a trace while its profile is read. */
struct kvc_profile_watch {
    void (*request)(void *data, const struct kvc_profiled_request *request); /**< Called for each. */
    void *data;                                                              /**< Handed to it. */
};

/** Reads the profile of a trace. Returns KVC_ERR_SCENARIO if it cannot be read, has no row, or has a
 * malformed one. `watch`, `progress` and `diag` may be NULL. Exits with status 3 if memory is short. */
enum kvc_status kvc_trace_profile_read(const char *path, struct kvc_trace_profile *profile,
                                       const struct kvc_profile_watch *watch,
                                       const struct kvc_progress *progress, struct kvc_diag *diag);

/** Returns the profile of a trace, or NULL as kvc_trace_profile_read() fails. It is valid until the calling
 * thread asks for that of another file, and the file is read again only if it has changed. `diag` may be
 * NULL. */
const struct kvc_trace_profile *kvc_trace_profile_of(const char *path, struct kvc_diag *diag);

/** Returns the share of the GETs that find their pair in a cache of this size, in the unit of the histogram;
 * NaN without GETs. */
double kvc_trace_hit_frac(const struct kvc_trace_profile *profile, const struct kvc_reuse_histogram *reuse,
                          double size);

/** Returns the smallest distance within which a share of the repeated GETs come back. */
double kvc_trace_reuse_quantile(const struct kvc_trace_profile *profile,
                                const struct kvc_reuse_histogram *reuse, double share);

#endif
