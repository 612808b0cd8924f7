/* A goal is one bound that a plan's configuration must meet, and the test that decides from replicas whether
 * it does.
 *
 * The test is sequential: it looks at the replicas after the first `least` of them and again after each
 * further one, up to `most`. At each look a goal is met or missed if the confidence interval of its mean lies
 * on one side of the bound. Looks * goals intervals share the error 1 - confidence equally (Bonferroni), so
 * that with at most that probability any of them misses its mean, however often the test looks. A replica's
 * value is a mean or a percentile over many requests, so the interval is Student's
 * (sim/metrics/statistics.h). */
#ifndef KVC_SCENARIOS_EXPLORE_PLAN_PLAN_GOAL_H
#define KVC_SCENARIOS_EXPLORE_PLAN_PLAN_GOAL_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/metrics/statistics.h"

/* What a goal may bound. Latencies come first, lower percentiles before higher ones. */
enum kvc_plan_metric {
    KVC_PLAN_P50_US,
    KVC_PLAN_P95_US,
    KVC_PLAN_P99_US,
    KVC_PLAN_P999_US,
    KVC_PLAN_MEAN_US,     /* Mean latency, for the Pareto front; no goal bounds it. */
    KVC_PLAN_MOPS,        /* Throughput. */
    KVC_PLAN_SERVED_FRAC, /* Throughput over the offered load. */
    KVC_PLAN_HIT_FRAC,
    KVC_PLAN_WATTS,
    KVC_PLAN_PRICE_USD, /* Known without a simulation. */
    KVC_PLAN_METRICS,
};

enum { KVC_PLAN_LATENCIES = KVC_PLAN_P999_US + 1 };

/* "latency_p50_us", ..., by enum kvc_plan_metric; NULL-terminated. */
extern const char *const kvc_plan_metric_names[];

struct kvc_plan_goal {
    enum kvc_plan_metric metric;
    double bound;  /* In the unit that the metric's name ends in. */
    bool at_least; /* The metric must be at least the bound; otherwise at most. */
};

/* Returns by how much a value meets a goal, as a share of the bound; negative: misses it. NaN if the value
 * is. */
double kvc_plan_margin_frac(const struct kvc_plan_goal *goal, double value);

/* How a sequential test looks at replicas. */
struct kvc_plan_test {
    uint32_t least, most; /* Replicas at the first and at the last look; 2 <= least <= most. */
    double confidence;    /* Probability that no interval of a configuration misses its mean, such as 0.95. */
    uint32_t goals;       /* Goals that are tested together. */
};

enum kvc_plan_answer {
    KVC_PLAN_OPEN,    /* More replicas are needed. */
    KVC_PLAN_MET,     /* The whole interval meets the bound. */
    KVC_PLAN_MISSED,  /* The whole interval misses it. */
    KVC_PLAN_UNKNOWN, /* A replica does not know the value. */
};

/* Returns the interval of a look at `count` values. Its half width is NaN for fewer than two, and both fields
 * are NaN if a value is. */
struct kvc_interval kvc_plan_look(const struct kvc_plan_test *test, const double *values, uint32_t count);

/* Decides a goal by the look at `count` values, which goes to *interval. Before the first look it is open. */
enum kvc_plan_answer kvc_plan_decide(const struct kvc_plan_test *test, const struct kvc_plan_goal *goal,
                                     const double *values, uint32_t count, struct kvc_interval *interval);

#endif
