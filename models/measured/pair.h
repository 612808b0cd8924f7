/* Two stores measured in pairs: both stay in memory and take turns of 30 ms in one process, in the order
 * A B B A, so that what the machine does meanwhile meets both alike.
 *
 * The reading is the ratio of a metric of B to that of A. Two successive turns (A B or B A) are a pair and
 * give one ratio. The first 10 ms of a turn, in which caches and queues settle, do not count; the other 20 ms
 * do. A pair counts if handoffs were in their commonest state at the readings of the memory before, between
 * and after its turns (sim/probes/memory/memory_watch.h), because far handoffs make another machine. If fewer
 * than KVC_PAIRS_LEAST pairs do, the earliest others count, too. Other disturbances meet both sides alike:
 * leaving out disturbed pairs costs more precision than it gains. The median over these pairs is the ratio,
 * and the order statistics around it are its 95 % interval, which assumes nothing about the distribution. */
#ifndef KVC_MODELS_MEASURED_PAIR_H
#define KVC_MODELS_MEASURED_PAIR_H

#include "models/measured/measurable.h"
#include "sim/probes/cores.h"

enum kvc_pair_metric {
    KVC_PAIR_THROUGHPUT,   /* [Mops] */
    KVC_PAIR_LATENCY_MEAN, /* [us] */
    KVC_PAIR_LATENCY_P99,  /* [us] */
    KVC_PAIR_T_SEARCH,     /* Time of a search launch [us]. */
    KVC_PAIR_T_INSERT,     /* Time of an insert launch [us]. */
    KVC_PAIR_SEARCH_JOBS,  /* Jobs of a search launch. */
    KVC_PAIR_INSERT_JOBS,  /* Jobs of an insert launch. */
    /* Requests for the energy of processors and memory [1000/J]; NaN without a meter (sim/probes/meter.h). */
    KVC_PAIR_KOPS_PER_WATT,
    KVC_PAIR_METRICS
};

/* Their names in results and files. */
extern const char *const kvc_pair_metric_names[KVC_PAIR_METRICS];

/* A metric of two stores. All are NaN if too few pairs have it. */
struct kvc_pair_reading {
    double a, b;             /* Medians over the pairs that count. */
    double ratio, low, high; /* b / a, and its 95 % interval. */
};

struct kvc_pair_result {
    uint32_t pairs, counted; /* Pairs that were measured, and those that count. */
    /* How much the machine disturbed the median pair that counts: the share of its windows for which its
     * threads were kept from running, plus the relative difference of the speeds of its cores between its two
     * turns. */
    double disturbed_frac;
    double core_speed_steps_per_ns, stalled_frac, others_frac; /* As kvc_measurable_run() reports them. */
    struct kvc_memory_rates memory;
    uint32_t cores;
    double core_line_ns[KVC_CORES_MAX]; /* By core: memory.line_ns [ns]. */
    struct kvc_pair_reading reading[KVC_PAIR_METRICS];
};

/* Pairs of turns that a user may ask for. As many as the fewest count, whatever their handoffs were, so that
 * the median has an interval. */
enum { KVC_PAIRS_DEFAULT = 200, KVC_PAIRS_LEAST = 12, KVC_PAIRS_MAX = 10000 };

/* Measures the checked scenarios scenario[0] (A) and scenario[1] (B) in `pairs` pairs. Returns the errors of
 * both stores. */
enum kvc_status kvc_measured_pair(const struct kvc_scenario *const scenario[2], uint32_t pairs,
                                  const struct kvc_progress *progress, struct kvc_pair_result *result,
                                  struct kvc_diag *diag);

/* Returns the median of values[0 .. count - 1], which are sorted, and sets its 95 % interval; NaN for fewer
 * than six. */
double kvc_pair_median(double *values, uint32_t count, double *low, double *high);

#endif
