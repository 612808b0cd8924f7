/** @file
 * The latency of multigets: several GETs that a client sends at once, and whose last answer it waits for.
 *
 * A multiget is known by its send time, which no other one shares. What is sent at a time is a multiget if
 * kvc_unit_of_time() is below their share; the rest are single writes. So nobody has to tell which requests
 * belong together, and the shards and threads of a store may answer them in any order.
 *
 * A multiget that loses one of its requests has no latency; it is counted apart. */
#ifndef KVC_SIM_METRICS_MULTIGETS_H
#define KVC_SIM_METRICS_MULTIGETS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/metrics/histogram.h"
#include "sim/metrics/result.h"

/** A multiget that is not over. */
struct kvc_multiget {
    double sent_ns; /**< Send time [ns]. */
    double done_ns; /**< When its latest answer so far arrived [ns]. */
    uint32_t left;  /**< Requests that were neither answered nor lost; 0: the place is empty. */
    bool is_lost;   /**< One of them was lost. */
};

/** The multigets of a run. */
struct kvc_multigets {
    uint32_t keys;                /**< GETs of a multiget. */
    double frac;                  /**< Share of multigets among what is sent. */
    double from_ns;               /**< What is over from here ... */
    double until_ns;              /**< ... to here counts; the owner sets both [ns]. */
    struct kvc_multiget *open;    /**< Those that are not over, in a hash table by their send times. */
    uint32_t places;              /**< Places of the table, a power of two. */
    uint32_t count;               /**< Used places. */
    uint64_t lost;                /**< Those that lost a request. */
    struct kvc_histogram latency; /**< Latencies of the others. */
};

/** Creates the record of multigets of `keys` GETs. Ends the program if memory is short. */
struct kvc_multigets *kvc_multigets_create(uint32_t keys, double frac);

/** Frees a record. NULL is allowed. */
void kvc_multigets_free(struct kvc_multigets *multigets);

/** Records that the answers to `count` requests sent at sent_ns[i] arrived at done_ns[i]. */
void kvc_multigets_answered(struct kvc_multigets *multigets, const double *sent_ns, const double *done_ns,
                            uint32_t count);

/** Records that `count` requests sent at sent_ns[i] were lost. */
void kvc_multigets_dropped(struct kvc_multigets *multigets, const double *sent_ns, uint32_t count);

/** Sets the metrics multiget_mean_us, multiget_p50_us, multiget_p95_us, multiget_p99_us, multiget_mops, and
 * multiget_lost_frac, the share that lost a request, for a measured time of `measured_ns`. */
void kvc_multigets_report(const struct kvc_multigets *multigets, double measured_ns,
                          struct kvc_metrics *metrics);

#endif
