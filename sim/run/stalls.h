/** @file
 * Stalls are times in which the machine takes a core away from a thread (node.stalls), at random: each kind
 * is a Poisson process of its own, whose events wait while the core is away. A piece of work ends later by
 * the stalls that it meets; a stall while the thread has nothing to do delays the next piece by what is left.
 * Threads that take turns on a core all meet its stalls; each is asked about its work in the order of time.
 */
#ifndef KVC_SIM_RUN_STALLS_H
#define KVC_SIM_RUN_STALLS_H

#include "sim/base/rng.h"
#include "sim/devices/node.h"
#include "sim/metrics/recorder.h"
#include "sim/metrics/result.h"
#include "sim/scenario.h"

/** The stalls of one core. */
struct kvc_stalls {
    const struct kvc_node *node; /**< Has the kinds of stalls. */
    struct kvc_rng rng;          /**< Draws them. */
    double begin_ns;             /**< When the next stall begins [ns]; infinity: there is none. */
    double length_ns;            /**< Its length [ns]. */
    double met_from_ns;          /**< When the latest stall that a thread met began [ns]. */
    double met_until_ns;         /**< When it ended [ns]. */
    double met_sum_ns;           /**< Sum of the lengths of all stalls that threads have met [ns]. */
};

/** Prepares the stalls of a core of a replica with this seed. Cores have different numbers. The node must
 * outlive them. */
void kvc_stalls_open(struct kvc_stalls *stalls, const struct kvc_node *node, uint64_t seed, uint64_t number);

/** Returns by how much the stalls of the core delay work that would last from start_ns to end_ns [ns]. */
double kvc_stalls_ns(struct kvc_stalls *stalls, double start_ns, double end_ns);

/** Samples the stalls that all cores have met so far, sum_ns, as a fraction of the time of one core
 * (kvc_watched_stalled_frac()). */
void kvc_stalls_sample(const struct kvc_node *node, double sum_ns, struct kvc_recorder *recorder);

/** Reports the stalls that `cores` cores met within the measured time, sum_ns, and notes kinds that are too
 * rare for the length of the run. */
void kvc_stalls_report(const struct kvc_scenario *scenario, const struct kvc_recorder *recorder,
                       double sum_ns, double cores, struct kvc_result *result);

/** Lets the calling actor, which has worked on the core since since_ns, sleep for the stalls that it met. */
void kvc_stalls_wait(struct kvc_stalls *stalls, double since_ns);

#endif
