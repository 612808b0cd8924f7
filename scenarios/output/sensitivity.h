/* A sensitivity: how much the numbers of the hardware matter to an answer, and how it is written.
 *
 * The elasticity of a value to a parameter is its relative change divided by the relative change of the
 * parameter, ln(value'/value) / ln(parameter'/parameter): throughput that doubles with the rate of a link has
 * 1, latency that halves has -1, and a value that does not change has 0.
 *
 * A whole number, such as a number of cores, cannot be 10 % higher. For it the steps to the next whole number
 * down and up say what a change brings: an elasticity over both would promise the loss of a core less as the
 * gain of a core more.
 *
 * A result document (scenarios/output/json.h) has it as `sensitivity`: { latency_metric, step_frac, replicas,
 * without_effect, fixed, not_run, parameters, uncertainty }. Parameters are [{ path, values, value, source,
 * by, not_run, has_interval, elasticity {METRIC: {mean, ci95}...}, steps, variance_share_frac {METRIC...} }
 * ...] in the order of their rank; `by` is "closed form", "paired runs", or null for one that cannot be
 * varied. `steps` is null unless the parameter is a whole number: [{ from, to, change_frac {METRIC: {mean,
 * ci95}...} }...], without a step that is not allowed. The uncertainty is { draws, refused, values,
 * values_with_interval, METRIC: {low, median, high}... }. */
#ifndef KVC_SCENARIOS_OUTPUT_SENSITIVITY_H
#define KVC_SCENARIOS_OUTPUT_SENSITIVITY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "scenarios/load/load.h"
#include "sim/metrics/statistics.h"

/* The values of an answer for which elasticities are found. */
enum kvc_sensitivity_metric {
    KVC_SENSITIVITY_THROUGHPUT,
    KVC_SENSITIVITY_MEAN,
    KVC_SENSITIVITY_P50,
    KVC_SENSITIVITY_P95,
    KVC_SENSITIVITY_P99,
    KVC_SENSITIVITY_METRICS,
};

/* Names of the values (sim/metrics/values.h), by enum kvc_sensitivity_metric. */
extern const char *const kvc_sensitivity_metric_names[KVC_SENSITIVITY_METRICS];

/* Method by which the elasticity to a parameter was found. */
enum kvc_sensitivity_by {
    KVC_SENSITIVITY_FIXED,       /* None: the parameter cannot be varied. */
    KVC_SENSITIVITY_CLOSED_FORM, /* By the closed form, without an interval. */
    KVC_SENSITIVITY_RUNS,        /* By paired runs. */
};

/* A whole number moved to a neighbour: by 5 % or 1, whichever is more, or by a factor of two if only powers
 * of two are allowed. */
struct kvc_sensitivity_step {
    double to; /* The number after the step; the first of several. NaN: it cannot be moved that way. */
    /* Relative change of each value, by enum kvc_sensitivity_metric; a mean of NaN: unknown. */
    struct kvc_interval change_frac[KVC_SENSITIVITY_METRICS];
};

enum { KVC_SENSITIVITY_DOWN, KVC_SENSITIVITY_UP, KVC_SENSITIVITY_SIDES };

/* One parameter of the hardware: a number, or the numbers of one field in all elements of a list. */
struct kvc_sensitivity_parameter {
    char path[KVC_PATH_MAX];
    uint32_t values;          /* Number of numbers. */
    char value[KVC_TEXT_MAX]; /* The number as a user writes it; the first of several. */
    double number;            /* The number in the base unit of its option. */
    const char *source;       /* Source of that number. */
    bool is_whole;            /* Only whole numbers are allowed. */
    bool has_interval;        /* At least one of the numbers states an interval. */
    bool is_zero;             /* All of the numbers are 0. */
    int by;                   /* enum kvc_sensitivity_by. */
    /* The parameter has an effect by the closed form, but was left out of the paired runs. */
    bool not_run;
    /* Smallest size, by its interval, of the larger elasticity of throughput and latency. */
    double rank;
    /* By enum kvc_sensitivity_metric; a mean of NaN: unknown. */
    struct kvc_interval elasticity[KVC_SENSITIVITY_METRICS];
    struct kvc_sensitivity_step step[KVC_SENSITIVITY_SIDES]; /* Only a whole number has steps. */
    /* Share of the variance that remains if only this parameter is uncertain; NaN: no parameter is. */
    double variance_share_frac[KVC_SENSITIVITY_METRICS];
};

/* The uncertainty of the answer that follows from the intervals of the hardware's values. */
struct kvc_uncertainty {
    uint32_t draws;                 /* 0: no value states an interval. */
    uint32_t refused;               /* Draws that the closed form refused; they are left out. */
    uint32_t values, with_interval; /* Numbers of the hardware, and how many of them state an interval. */
    /* Median of the draws and the ends of their 95 % interval; NaN: unknown. */
    struct {
        double low, median, high;
    } range[KVC_SENSITIVITY_METRICS];
};

struct kvc_sensitivity {
    int latency;      /* enum kvc_sensitivity_metric: the highest percentile that is known, or the mean. */
    double step_frac; /* Parameters are multiplied and divided by 1 + step_frac. */
    bool by_runs;     /* Paired runs gave the elasticities. */
    uint32_t runs_most, replicas; /* Most parameters that get runs, and runs of each. */
    uint32_t count;
    struct kvc_sensitivity_parameter *parameter; /* The most important one first. */
    uint32_t without_effect, fixed, not_run;     /* Parameters of these kinds. */
    struct kvc_uncertainty uncertainty;
};

/* Frees the struct. NULL is allowed. */
void kvc_sensitivity_free(struct kvc_sensitivity *sensitivity);

/* Returns the metric of a parameter's latency: `latency`, or the next lower metric that is known, because
 * only paired runs give some percentiles. */
int kvc_sensitivity_latency_of(const struct kvc_sensitivity_parameter *parameter, int latency);

/* Returns the object of the result document. */
json_t *kvc_sensitivity_json(const struct kvc_sensitivity *sensitivity);

/* Writes the tables, without colours. */
void kvc_sensitivity_write_table(const struct kvc_sensitivity *sensitivity, FILE *out);

#endif
