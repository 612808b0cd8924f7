/* A store for the tests of the capacity search: one server with a constant service time, simulated by
 * Lindley's recursion without an engine. With Poisson arrivals it is an M/D/1 queue, whose capacity and mean
 * latency are known. */
#ifndef KVC_SCENARIOS_RUN_CAPACITY_FIXTURE_H
#define KVC_SCENARIOS_RUN_CAPACITY_FIXTURE_H

#include "scenarios/load/load.h"

struct kvc_queue {
    double service_ns;
    double slower_frac;   /* Each replica serves this much slower than the one before it. */
    double fill_requests; /* Requests that a client collects before it sends them. */
    uint32_t room;        /* Requests that may be in the queue and in service; 0: any number. */
};

/* Returns a loaded scenario of the queue with saturating clients. It has nothing to free. */
struct kvc_loaded kvc_queue_loaded(struct kvc_queue *queue, double duration_ns);

#endif
