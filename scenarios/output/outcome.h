/* An answer together with its replicas, from which a report is written.
 *
 * Every value of an answer has a name (sim/metrics/values.h) and, where one is known, a 95 % interval:
 *
 * - With two replicas or more, it is Student's t interval over the values of the replicas. A percentile
 *   covers all requests together; its interval covers the mean of the replicas' own percentiles. The same
 *   holds for the extremes of the latency.
 * - With one replica, it is the interval over the means of the run's batches (sim/metrics/batches.h), for the
 *   values that batches have. Where the load or the machine changes during the run, batches differ for more
 *   reasons than chance, so that one replica tells no interval.
 * - A prediction has none.
 *
 * An answer beyond the calibrated range of its model shows wider intervals. */
#ifndef KVC_SCENARIOS_OUTPUT_OUTCOME_H
#define KVC_SCENARIOS_OUTPUT_OUTCOME_H

#include <stdint.h>

#include "sim/metrics/result.h"
#include "sim/metrics/statistics.h"
#include "sim/metrics/values.h"

enum { KVC_GAINS_MAX = 12 };

/* The gain of throughput if a resource of the store were faster. */
struct kvc_gain {
    char resource[KVC_NAME_MAX], device[KVC_NAME_MAX];
    double utilization_frac; /* Utilization of the busiest of its stages and devices; NaN: unknown. */
    struct kvc_interval
        gain_frac; /* Gain of throughput over the throughput; a closed form has no interval. */
};

/* The values that a faster resource changes. */
enum kvc_relief_value { KVC_RELIEF_THROUGHPUT, KVC_RELIEF_MEAN, KVC_RELIEF_P99, KVC_RELIEF_VALUES };

/* What a resource of the store that is 5 % faster changes. */
struct kvc_relief {
    char resource[KVC_NAME_MAX], device[KVC_NAME_MAX];
    double utilization_frac; /* As that of struct kvc_gain. */
    /* Change of each value over the value; the mean is NaN if the value is unknown, and the half width if
     * only the interval is. */
    struct kvc_interval change_frac[KVC_RELIEF_VALUES];
};

/* The struct contains a histogram, so it is too large for the stack. */
struct kvc_outcome {
    struct kvc_result result;     /* All replicas merged. */
    uint32_t replicas;            /* Number of replicas; 0 for a prediction or a measurement. */
    uint32_t node_count;          /* Nodes that were simulated apart; 0: none. */
    struct kvc_node_result *node; /* Results of the nodes, means over the replicas. */
    double *node_warmup_s;        /* Warm-up of node i in replica r: entry r * node_count + i [s]. */
    struct kvc_values *values;    /* The values of each replica or, for 0 replicas, of the result. */
    struct kvc_spans **spans;     /* The spans of each replica; NULL: it has none. */
    uint32_t gain_count;          /* Used entries of `gain`; 0: the bottleneck was found without gains. */
    struct kvc_gain gain[KVC_GAINS_MAX]; /* Largest gain first. */
};

/* Source of intervals. */
enum kvc_interval_source { KVC_INTERVALS_UNKNOWN, KVC_INTERVALS_OF_REPLICAS, KVC_INTERVALS_OF_BATCHES };

/* Returns a zeroed outcome with room for the values of `replicas`. Exits with status 3 if memory is short. */
struct kvc_outcome *kvc_outcome_create(uint32_t replicas);

void kvc_outcome_free(struct kvc_outcome *outcome); /* NULL is allowed. */

/* Merges a replica into the result and keeps its values. Call once per replica, in the order of the replicas.
 */
void kvc_outcome_take(struct kvc_outcome *outcome, uint32_t replica, const struct kvc_result *result);

/* Keeps the values of `outcome->result`, which a caller has filled. Only without replicas. */
void kvc_outcome_close(struct kvc_outcome *outcome);

/* Returns the value of a replica, or NaN if it is unknown. */
double kvc_outcome_value(const struct kvc_outcome *outcome, uint32_t replica, const char *name);

/* Returns the mean of a value over the replicas and half the width of its 95 % interval. Both are NaN if a
 * replica lacks the value, and the half width alone if only the interval is unknown. */
struct kvc_interval kvc_outcome_interval(const struct kvc_outcome *outcome, const char *name);

/* Returns the interval that an answer shows: wider, for throughput, latencies and their energy, by what the
 * model extrapolated (kvc_extrapolated_name), whose error no replica shows. */
struct kvc_interval kvc_outcome_wide_interval(const struct kvc_outcome *outcome, const char *name);

/* Returns the mean power [W], or NaN if it is unknown or lacks a device. */
double kvc_outcome_whole_watts(const struct kvc_outcome *outcome);

/* Returns the share of the offered requests that is not served: lost (NaN: nothing was offered), or left in a
 * backlog that grew. */
double kvc_unserved_frac(double lost_frac, double growth_frac);

/* Returns the share of the offered requests that a simulation or a measurement lost, or that its backlog grew
 * by. */
double kvc_outcome_unserved_frac(const struct kvc_outcome *outcome);

/* Returns the source of the intervals, and in *count the number of replicas or batches. Batches that are
 * correlated or hold too few values are joined, so that single values may have fewer. */
enum kvc_interval_source kvc_outcome_intervals(const struct kvc_outcome *outcome, uint32_t *count);

#endif
