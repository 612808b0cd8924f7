/* Mean-value analysis of the network of queues that a composed store is to clients that wait for answers.
 *
 * Customers circle: frames in front of the stages that serve them, batches behind, single requests on
 * storage. Whoever arrives at a queue finds the network as it is with one customer less (Reiser and
 * Lavenberg, "Mean-Value Analysis of Closed Multichain Queuing Networks", Journal of the ACM 27(2), 1980),
 * where N - 1 of N customers are taken to load it by as much less than N do (Schweitzer, "Approximate
 * analysis of multiclass closed networks of queues", Int. Conf. on Stochastic Control and Optimization, 1979;
 * Bard, "Some Extensions to Multiclass Queueing Network Analysis", 1979). It then waits as models/latency.h
 * says for an open load of that utilization: with one server and exponential times, s (1 + Q (N - 1) / N) in
 * all, as Schweitzer has it, and with many customers what open loads wait. It never waits for more than the N
 * - k customers who can be in front of it, while k servers end one of them every s / k.
 *
 * The throughput X is where all customers are on their way, X (delays + waits) = N, and at most the capacity.
 * Since the work of a customer depends on the rate, this is solved for X as a whole (predict.c) instead of a
 * customer at a time, and costs no more than the waits.
 *
 * The times of clients and stages are nearly constant, so that customers who do not part keep at their
 * distances and do not wait: waits come from varying times, and from what parts customers at random: the keys
 * or connections that choose a pipeline or a chip, and branches.
 *
 * Left out: customers of several kinds at one queue beyond the variation
 * of its times, limits of queues, and clients of a pipeline that has more of them than others. */
#ifndef KVC_MODELS_COMPOSED_CLOSED_FORM_MVA_H
#define KVC_MODELS_COMPOSED_CLOSED_FORM_MVA_H

#include "models/latency.h"

enum { KVC_COMPOSED_QUEUES_MAX = 40 };

/* The queues of a load. Zeroed, it has none. */
struct kvc_composed_network {
    uint32_t queues;
    struct kvc_latency_wait wait[KVC_COMPOSED_QUEUES_MAX];
    uint32_t stages[KVC_COMPOSED_QUEUES_MAX]; /* A bit for each stage that they are in front of. */
};

/* Adds a queue in front of some stages, a bit for each, whose utilization is that of all customers.
 * Infinitely many of them are an open load. A queue without spare time has an infinite wait in an open load.
 */
void kvc_composed_network_add(struct kvc_composed_network *network, const struct kvc_workload *workload,
                              const struct kvc_latency_queue *queue, double customers, uint32_t stages);

/* Returns how long the mean request waits in the network [ns]: the sum over the groups of queues of the
 * longest wait of each. */
double kvc_composed_network_ns(const struct kvc_composed_network *network);

/* Adds what the mean request waits for each stage [ns]. Of a queue in front of several stages, each has a
 * part as large as its part of their requests; share[i] of all requests come to stage i. */
void kvc_composed_network_by_stage(const struct kvc_composed_network *network, const double *share,
                                   double *wait_ns);

/* Takes the waits of the network into account. */
void kvc_composed_network_wait(const struct kvc_composed_network *network, struct kvc_latency_law *law);

#endif
