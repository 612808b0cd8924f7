/** @file
 * Rates that change with time: curves, bursts, and Markov-modulated Poisson processes.
 *
 * Bursts multiply the rate of a Poisson process for their length. Where several bursts overlap, the largest
 * factor counts.
 *
 * A Markov-modulated Poisson process (Fischer and Meier-Hellstern, Performance Evaluation 18, 1993) has a
 * rate in each state. It stays in a state for an exponentially distributed time and then enters the next one;
 * the first state follows the last. Two states are the MMPP-2 of the literature. A run begins in the steady
 * state: in each state with the probability that it has in the long run. Not modelled: states that are
 * entered at random. */
#ifndef KVC_SIM_WORKLOAD_RATES_H
#define KVC_SIM_WORKLOAD_RATES_H

#include "sim/workload/workload.h"

/** Returns the factor of the bursts at a time, 1 outside of them, and sets *until_ns to when it may change
 * next, which is after time_ns [ns]. */
double kvc_bursts_factor(const struct kvc_workload *workload, double time_ns, double *until_ns);

/** Returns the mean rate of an open load between two times, all nodes together; of an MMPP, its expected
 * value [million/s]. */
double kvc_workload_rate_mean_mops(const struct kvc_workload *workload, double from_ns, double until_ns);

/** Multiplies all rates of an open load. */
void kvc_workload_scale_rates(struct kvc_workload *workload, double factor);

#endif
