/** @file
 * The latencies of a closed form: from the times of a request that waits for no other one, and from the queue
 * in which requests wait longest, to the mean and the percentiles.
 *
 * Latency is client to client: from the time at which a request should be sent to the arrival of its
 * response, with all that the network of the scenario takes both ways. Every store describes it as
 *
 *     latency = part + wait
 *
 * A part is the latency of a share of the requests that wait for nobody: GETs from DRAM, GETs from flash, the
 * requests of one batch. Within a part, latencies are evenly spread over an interval, which is how requests
 * wait for a batch that leaves at set times.
 *
 * The wait is the sum over groups of queues, and within a group the longest one. Where requests pass servers
 * of nearly constant times one after another, they wait for the slowest only: it spaces them out, and the
 * order of the servers does not change the sum of the waits (Friedman, "Reduction Methods for Tandem Queuing
 * Systems", Operations Research 13(1), 1965). Such servers are a group. Parallel threads are a group of their
 * own, because requests from many of them reach the next server at random times again; waits in different
 * groups are taken as independent (Kleinrock, "Communication Nets", 1964). The mean wait for k servers is
 *
 *     (ca2 + cs2) / 2 * C(k, rho) / (1 - rho) * s / k
 *
 * for jobs of the mean time s, with C, the probability that a job waits, from Erlang's formula for M/M/k, and
 * ca2 and cs2, the squared coefficients of variation of arrivals and times (Allen, "Probability, Statistics,
 * and Queueing Theory", 2nd ed. 1990, sec. 5.3.2, after Cunneen). With one server and Poisson arrivals this
 * is the formula of Pollaczek and Khinchine, which is exact. Jobs that are served first, without interrupting
 * others, replace 1 - rho by 1 - rho_f for themselves and by (1 - rho_f) (1 - rho) for the others, where
 * rho_f is their part of rho (Cobham, "Priority Assignment in Waiting Line Problems", Operations Research
 * 2(1), 1954). A server that takes all waiting jobs at once and ends them together delays a job by those
 * behind it, too: if a job waits w on average where jobs end one by one, the jobs behind it take w rho / (1 +
 * rho), because on average as many arrive before it as after it within the time of the jobs that are served.
 *
 * A wait is 0 with the probability that no queue is met, and else exponential: exact for one M/M/k, and the
 * limit of the tail of M/G/k (Tijms, "A First Course in Stochastic Models", 2003, sec. 9.6).
 *
 * Clients that wait for their answers keep a number of requests in the store. By Little's law, a request then
 * takes that number over the throughput, and each of them is taken to wait equally long.
 *
 * An open load at or above the capacity leaves a backlog that grows, so that its latencies are unknown.
 *
 * Not modelled: queues that are loaded unequally, bursts of jobs that leave one queue for the next together,
 * and waits that depend on one another. */
#ifndef KVC_MODELS_LATENCY_H
#define KVC_MODELS_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/metrics/result.h"
#include "sim/workload/workload.h"

enum { KVC_LATENCY_PARTS_MAX = 128 };

/** Latency of a share of the requests, without waiting for a server. */
struct kvc_latency_part {
    double share;     /**< Share of the requests; the shares are relative to their sum. */
    double least_ns;  /**< Shortest latency [ns]. */
    double spread_ns; /**< Length of the interval over which the latencies are spread [ns]. */
};

/** Groups of queues, whose waits add up. */
enum kvc_latency_group {
    KVC_LATENCY_IN_LINE,  /**< Servers that all requests pass, one after another. */
    KVC_LATENCY_PARALLEL, /**< Threads, cores or keys, each of which has requests of its own. */
    KVC_LATENCY_FIRST,    /**< What these threads do first for a request, as another job. */
    KVC_LATENCY_BATCHES,  /**< Servers that batches pass, one after another. */
    KVC_LATENCY_GROUPS,
};

/** Servers that take their jobs from one queue. */
struct kvc_latency_queue {
    enum kvc_latency_group group;
    const char *name;        /**< The stage, for people: "threads". */
    double servers;          /**< Number of servers; at least 1. */
    double job_ns;           /**< Mean time of a job [ns]. */
    double job_cv2;          /**< Squared coefficient of variation of this time. */
    double even_frac;        /**< By which share jobs come more evenly than requests: 0 as these, 1 at equal
                                  distances. */
    double longest_ns;       /**< Bound of the mean wait, where few jobs meet; 0: there is none [ns]. */
    double utilization_frac; /**< Share of the time in which a server works. */
    double first_frac;       /**< Share of the time in which it works on jobs that are served first. */
    bool is_first;           /**< Whether these jobs are served first. */
    bool ends_together;      /**< Whether a server takes all waiting jobs and ends them at the same time. */
    double share;            /**< Share of all requests that come to this queue, 0 to 1. */
    double equals_frac;      /**< Share of all requests that come to this queue or one like it, 0 to 1. */
    double visits;           /**< Jobs of a request. */
};

/** The wait in a group of queues. */
struct kvc_latency_wait {
    struct kvc_latency_queue queue; /**< The queue with the longest wait. */
    double mean_ns;                 /**< Mean over all requests [ns]; INFINITY: it has no spare time. */
    double waits_frac;              /**< Share of the requests that wait there. */
};

/** The distribution of latencies. Zeroed, it is empty. */
struct kvc_latency_law {
    uint32_t parts;                                      /**< Used entries of `part`. */
    struct kvc_latency_part part[KVC_LATENCY_PARTS_MAX]; /**< The parts. */
    struct kvc_latency_wait wait[KVC_LATENCY_GROUPS];    /**< The waits. */
    const char *assumes; /**< What the store assumes for its parts, after "assumes that"; NULL: nothing. */
    const char *unknown; /**< Why the store's closed form does not know the latencies; NULL: it does. */
};

/** Adds a part; one without a share is left out. Too many parts are a bug (KVC_BUG). */
void kvc_latency_add(struct kvc_latency_law *law, double share, double least_ns, double spread_ns);

/** Returns the mean latency without waiting for a server [ns]. */
double kvc_latency_alone_ns(const struct kvc_latency_law *law);

/** Returns the wait at a queue of an open load; infinite without spare time. */
struct kvc_latency_wait kvc_latency_wait_of(const struct kvc_workload *workload,
                                            const struct kvc_latency_queue *queue);

/** Takes a queue of an open load into account: of its group, the one with the longest mean wait counts. */
void kvc_latency_queue(struct kvc_latency_law *law, const struct kvc_workload *workload,
                       const struct kvc_latency_queue *queue);

/** Delays all requests equally, so that their mean latency, with the waits, becomes mean_ns if it is longer:
 * Little's law for clients that wait. */
void kvc_latency_closed(struct kvc_latency_law *law, double mean_ns);

/** Sets the latencies of a closed form that serves throughput_mops of the workload. This is the only way from
 * a closed form to latencies, so that predictions and forecasts agree. */
void kvc_latencies_set(const struct kvc_latency_law *law, const struct kvc_workload *workload,
                       double throughput_mops, struct kvc_latencies *latencies);

/** Says in a sentence what the latencies assume, or why they are unknown. */
void kvc_latencies_explain(const struct kvc_latency_law *law, const struct kvc_workload *workload,
                           double throughput_mops, char text[KVC_NOTE_BYTES]);

/** Sets the latencies of a prediction and what they assume. */
void kvc_result_set_latencies(struct kvc_result *result, const struct kvc_latency_law *law,
                              const struct kvc_workload *workload);

/** Adds the metric server_mean_us: the mean latency without path_ns, the way of a message through NIC and
 * network, there and back. Papers that measure at the server state this quantity. */
void kvc_result_add_server_latency(struct kvc_result *result, double path_ns);

/** Takes the latencies of a class of nodes into account, which serves `mops` of the cluster's requests. The
 * sum starts as a zeroed struct; kvc_latencies_end_sum() ends it. The percentiles are those of the slowest
 * class, which a request of the cluster does not exceed more often. An unknown value makes the sum unknown.
 */
void kvc_latencies_add_class(struct kvc_latencies *sum, const struct kvc_latencies *class, double mops);

/** Ends a sum over classes that serve `mops` together. */
void kvc_latencies_end_sum(struct kvc_latencies *sum, double mops);

#endif
