/* Exact waiting times of single requests at a station, without one event each.
 *
 * First come, first served, no limit on the queue. One server: Lindley, Proc. Cambridge Phil. Soc. 48(2), 1952. Several
 * servers: Kiefer and Wolfowitz, Trans. Amer. Math. Soc. 78(1), 1955; each request takes the server that is free first.
 * Not modelled: priorities, requests that give up, servers of different speeds (scale service_ns beforehand). */
#ifndef KVC_SIM_METRICS_QUEUEING_H
#define KVC_SIM_METRICS_QUEUEING_H

#include <stdint.h>

/* One server that is free from free_ns on. Request i is ready at ready_ns[i] (requests are served in the order of the
 * array) and occupies the server for service_ns[i]; done_ns[i] is when it leaves. Returns when the server is free again:
 * the free_ns of the next call. done_ns may be ready_ns or service_ns. */
double kvc_fifo_serve(double free_ns, const double *ready_ns, const double *service_ns, uint32_t count, double *done_ns);

/* As kvc_fifo_serve with `servers` (at least 1) equal servers. free_ns[0 .. servers) says when they are free; it starts
 * with any rising values, equal ones included, and is kept as a heap (the earliest first) for the next call. Requests may
 * leave in another order than they came. Returns when the last of them leaves, -infinity when count is 0. */
double kvc_multiserver_serve(double *free_ns, uint32_t servers, const double *ready_ns, const double *service_ns,
                             uint32_t count, double *done_ns);

#endif
