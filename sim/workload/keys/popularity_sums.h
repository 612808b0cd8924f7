/** @file
 * Sums over all keys of a workload of what depends on how often they were requested.
 *
 * The keys are in blocks of nearly equal popularity (sim/workload/keys/popularity_blocks.h). Popular keys are
 * summed block by block, less popular ones by a series for each group of neighbouring blocks; what rare ones
 * add is one series in the number of requests. The sums of powers that the series need are kept, so that a
 * sum takes about 150 exponentials instead of 1300. Results agree with the sums over the
 * blocks to 1e-12 of themselves. */
#ifndef KVC_SIM_WORKLOAD_KEYS_POPULARITY_SUMS_H
#define KVC_SIM_WORKLOAD_KEYS_POPULARITY_SUMS_H

#include "sim/workload/workload.h"

/** The sums of a workload. */
struct kvc_popularity_sums;

/** Returns the sums of a workload's keys. They belong to the calling thread and hold until the thread has
 * asked for those of 256 other workloads. */
const struct kvc_popularity_sums *kvc_popularity_sums_of(const struct kvc_workload *workload);

/** Keys after some requests, each of which chose its key by the popularity. */
struct kvc_popularity_use {
    double touched_frac; /**< Fraction of the keys that were requested. */
    double left_mass;    /**< Share of all requests that is for the other keys, 0 to 1. */
    double left_squares; /**< Sum of the squares of the shares of each of the other keys. */
};

/** Returns the use after `requests`, at least 0. */
struct kvc_popularity_use kvc_popularity_use_after(const struct kvc_popularity_sums *sums, double requests);

/** Returns the share of the requests whose key has another request in flight, if `requests` of all keys are
 * in flight on average, at least 0: the sum of the shares p of the keys times p r / (1 + p r). */
double kvc_popularity_shared_frac(const struct kvc_popularity_sums *sums, double requests);

#endif
