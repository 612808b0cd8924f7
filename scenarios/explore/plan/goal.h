/* The quantities that a plan compares: metrics of a configuration, goals that bound them, and the measured
 * errors of the closed form.
 *
 * A goal is one bound that a configuration must meet. A test decides from replicas whether it does.
 *
 * The test is sequential: it looks at the replicas after the first `least` of them and again after each
 * further one, up to `most`. At each look a goal is met or missed if the confidence interval of its mean lies
 * on one side of the bound. Looks * goals intervals share the error 1 - confidence equally (Bonferroni), so
 * the probability that any of them misses its mean is at most that error, however often the test looks. A
 * replica's value is a mean or a percentile over many requests, so the interval is Student's
 * (sim/metrics/statistics.h).
 *
 * The errors of a closed form say how far it has been from the store's simulation, as `kvcast validate
 * mechanisms` measured it. For a value of the closed form and a value of the simulation, an error has the
 * least and the largest share by which the simulated value differed: simulated / closed_form - 1. The two
 * values may belong to different metrics: a closed form that does not know a percentile may know the mean,
 * which lies below the percentile by some share. The errors are observations, not guarantees; more cases make
 * them more reliable.
 *
 * validate/mechanisms/closed_form.csv has the columns system, closed_form, simulated, low_frac, high_frac and
 * answers, the number of scenarios that were compared. */
#ifndef KVC_SCENARIOS_EXPLORE_PLAN_GOAL_H
#define KVC_SCENARIOS_EXPLORE_PLAN_GOAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "scenarios/output/outcome.h"
#include "scenarios/output/verdict.h"
#include "sim/base/diag.h"
#include "sim/metrics/statistics.h"
#include "sim/scenario.h"

/* Metrics that a goal may bound. Latencies come first, lower percentiles before higher ones. */
enum kvc_plan_metric {
    KVC_PLAN_P50_US,
    KVC_PLAN_P95_US,
    KVC_PLAN_P99_US,
    KVC_PLAN_P999_US,
    KVC_PLAN_MEAN_US,     /* Mean latency, for the Pareto front; no goal bounds it. */
    KVC_PLAN_MOPS,        /* Throughput. */
    KVC_PLAN_SERVED_FRAC, /* Share of the offered requests that are served (scenarios/output/verdict.h). */
    KVC_PLAN_HIT_FRAC,
    KVC_PLAN_WINDOW_FRAC, /* 1 plus the smallest margin in any window (scenarios/output/windows.h). */
    KVC_PLAN_WATTS,
    KVC_PLAN_PRICE_USD, /* Known without a simulation. */
    KVC_PLAN_METRICS,
    KVC_PLAN_TENANT_US = KVC_PLAN_METRICS, /* p99 latency of the first tenant, which no closed form knows;
                                              those of the others follow. */
    KVC_PLAN_VALUES = KVC_PLAN_TENANT_US + KVC_TENANTS_MAX,
};

enum { KVC_PLAN_LATENCIES = KVC_PLAN_P999_US + 1 };

/* "latency_p50_us", ..., by enum kvc_plan_metric, without those of tenants; NULL-terminated. */
extern const char *const kvc_plan_metric_names[];

struct kvc_plan_goal {
    enum kvc_plan_metric metric;
    double bound;                   /* Bound, in the unit that the metric's name ends in. */
    bool at_least;                  /* The metric must be at least the bound; otherwise at most. */
    char name[KVC_TENANT_NAME_MAX]; /* Name of the metric: "latency_p99_us", "tenant_web_latency_p99_us". */
};

/* Returns by how much a value meets a goal, as a share of the bound; negative: misses it. NaN if the value
 * is. */
double kvc_plan_margin_frac(const struct kvc_plan_goal *goal, double value);

/* Parameters of a sequential test over replicas. */
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

/* Returns the interval of a look at `count` values. Its half width is NaN for fewer than two values, and both
 * fields are NaN if a value is. */
struct kvc_interval kvc_plan_look(const struct kvc_plan_test *test, const double *values, uint32_t count);

/* Decides a goal by the look at `count` values, which goes to *interval. Before the first look it is open. */
enum kvc_plan_answer kvc_plan_decide(const struct kvc_plan_test *test, const struct kvc_plan_goal *goal,
                                     const double *values, uint32_t count, struct kvc_interval *interval);

struct kvc_plan_error {
    double low_frac, high_frac; /* -1 and infinity while `answers` is 0: unknown. */
    uint32_t answers;           /* Scenarios that were compared. */
};

/* The errors of one store, of[closed form's metric][simulated metric]. */
struct kvc_plan_errors {
    struct kvc_plan_error of[KVC_PLAN_METRICS][KVC_PLAN_METRICS];
};

/* Makes all errors unknown except the error of the price, which is 0. */
void kvc_plan_errors_clear(struct kvc_plan_errors *errors);

/* Widens the errors by one scenario. Values that are unknown or 0 are left out. */
void kvc_plan_errors_add(struct kvc_plan_errors *errors, const double *closed_form, const double *simulated);

/* Reads the errors of a store. Errors that the file lacks stay unknown. KVC_ERR_SCENARIO if the file is
 * missing or malformed. */
enum kvc_status kvc_plan_errors_read(const char *path, const char *system, struct kvc_plan_errors *errors,
                                     struct kvc_diag *diag);

/* Write the header, and the known errors of a store. Write errors stay in the stream (ferror). */
void kvc_plan_errors_write_header(FILE *out);
void kvc_plan_errors_write(const struct kvc_plan_errors *errors, const char *system, FILE *out);

/* Returns the narrowest range in which a simulated metric lies if the closed form errs no more than was
 * measured. 0 .. infinity if nothing is known. */
void kvc_plan_errors_range(const struct kvc_plan_errors *errors, const double *closed_form,
                           enum kvc_plan_metric metric, double *low, double *high);

struct kvc_forecast;

/* Writes the values of a forecast, by enum kvc_plan_metric; NaN: unknown. */
void kvc_plan_forecast_values(const struct kvc_forecast *forecast, double value[KVC_PLAN_METRICS]);

/* Forecasts a resolved scenario and writes its values. Returns the status of the store's closed form. */
enum kvc_status kvc_plan_predict_values(const struct kvc_scenario *scenario, double value[KVC_PLAN_METRICS],
                                        struct kvc_diag *diag);

/* Writes the values of a simulation, means over its replicas; the price is unknown. */
void kvc_plan_simulated_values(const struct kvc_outcome *outcome, double value[KVC_PLAN_METRICS]);

/* Writes the p99 latency of each tenant of a simulation from value[KVC_PLAN_TENANT_US] on; NaN: unknown. */
void kvc_plan_tenant_values(const struct kvc_outcome *outcome, double value[KVC_PLAN_VALUES]);

#endif
