/* The periodic schedule of a socket, and the latencies that follow from it.
 *
 * Every cycle launches the searches of the requests that arrived in the cycle before; every n-th cycle the
 * inserts of n cycles follow on the GPU. A search waits until the GPU is free, and the batch's sender until
 * it has sent the batch before. Over n cycles the waits repeat, unless the schedule is infeasible: then they
 * grow, and are taken after 64 n cycles. Requests arrive evenly over a cycle and leave evenly over the time
 * in which their batch is sent, so that the latencies of each of the n batches are evenly spread over an
 * interval. */
#ifndef KVC_MODELS_MEGAKV_PERIODIC_H
#define KVC_MODELS_MEGAKV_PERIODIC_H

#include <stdbool.h>
#include <stdint.h>

#include "models/megakv/options.h"

/* Times of a socket in one cycle [ns]. */
struct kvc_megakv_cycle_times {
    double cycle_ns, search_ns, insert_ns, batch_send_ns;
    double searches, inserts; /* Jobs of a launch. */
    double fixed_ns;          /* Receiving, half a frame each way, and the wire. */
    bool overlap;             /* Inserts have a stream of their own, so that searches do not wait for them. */
};

/* The latencies of the requests of n batches. */
struct kvc_megakv_latencies {
    uint32_t batches;                       /* n */
    double middle_ns[KVC_MEGAKV_DELAY_MAX]; /* Latency of the request in the middle of each batch. */
    double spread_ns;                       /* That of the last request less that of the first one. */
};

/* Follows the GPU and a sender through the schedule with the delay n, 1 to KVC_MEGAKV_DELAY_MAX. */
struct kvc_megakv_latencies kvc_megakv_latencies_of(const struct kvc_megakv_cycle_times *times,
                                                    uint32_t delay);

/* Returns the mean latency [ns]. */
double kvc_megakv_latency_mean_ns(const struct kvc_megakv_latencies *latencies);

/* Sets value_ns[i] to the quantile[i] of the latencies of 64 requests of each batch, for `count` quantiles in
 * falling order, 0 to 1 [ns]. */
void kvc_megakv_latency_quantiles_ns(const struct kvc_megakv_latencies *latencies, const double *quantile,
                                     uint32_t count, double *value_ns);

#endif
