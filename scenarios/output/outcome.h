/* An answer together with its replicas: what a report is written from. */
#ifndef KVC_SCENARIOS_OUTPUT_OUTCOME_H
#define KVC_SCENARIOS_OUTPUT_OUTCOME_H

#include <stdint.h>

#include "sim/metrics/statistics.h"
#include "sim/metrics/result.h"

/* The struct contains a histogram, so it is too large for the stack. */
struct kvc_outcome {
    struct kvc_result result;       /* All replicas merged. */
    uint32_t replicas;              /* Number of replicas; 0 for a prediction or a measurement. */
    double *replica_mops;           /* Throughput of each replica [Mops]; NULL when there are none. */
    struct kvc_interval throughput; /* Mean over the replicas and its 95 % interval [Mops]. */
};

/* Returns a zeroed outcome with room for `replicas` throughputs, or NULL when memory runs out. */
struct kvc_outcome *kvc_outcome_create(uint32_t replicas);

void kvc_outcome_free(struct kvc_outcome *outcome); /* NULL is allowed. */

#endif
