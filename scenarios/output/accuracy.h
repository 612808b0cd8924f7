/* How far forecasts were from measured values: the accepted errors of `kvcast validate`, by store, by the way
 * that an answer was found, by its load and by metric.
 *
 * `kvcast validate --accuracy` writes validate/accuracy.csv from the committed cases, their baselines and the
 * logs of the unseen runs (validate/command/accuracy.c); a test compares them. Every answer reads its store's
 * lines of it. Only predictions are in it: no input, no equation of a paper, and no case that returns an
 * input.
 *
 * Errors of one way of answering, of one load or of one metric say nothing about another one. An answer for
 * which nothing was measured therefore has no number, and says for which ways and loads there is one.
 *
 * In a document it is the object `accuracy`: { answer, load, metrics: [{ metric, points, median_abs_frac,
 * worst_abs_frac, worst_case, bounds, bounds_held, unseen: { points, mean_abs_frac, worst_abs_frac }, from,
 * elsewhere }...] }, or null if the file cannot
 * be read or the points of a sweep differ in store or arrivals. `from` are the subjects of validate that have
 * the cases, and `elsewhere` are the other ways and loads with scores, such as "simulation, saturated".
 *
 * An answer about a GPU or CPU that was not measured says how far the launches or tasks of a measured one
 * were forecast from another one by the same rule (validate/carried_over.csv). In a document this is the
 * member `carried_over`: [{ device, rule, from, to, tasks: [{ task, points, mean_abs_frac, worst_frac,
 * worst_case }...]
 * }...], without entries if both were measured. */
#ifndef KVC_SCENARIOS_OUTPUT_ACCURACY_H
#define KVC_SCENARIOS_OUTPUT_ACCURACY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "scenarios/load/load.h"
#include "sim/base/diag.h"
#include "sim/workload/workload.h"

/* The way in which an answer is found. */
enum kvc_accuracy_answer { KVC_ACCURACY_SIMULATION, KVC_ACCURACY_CLOSED_FORM, KVC_ACCURACY_ANSWERS };

/* The load that an answer is about. */
enum kvc_accuracy_load {
    KVC_ACCURACY_SATURATED, /* A request always waits. */
    KVC_ACCURACY_CAPACITY,  /* The highest open load that is served. */
    KVC_ACCURACY_OPEN,      /* Requests arrive at rates of their own. */
    KVC_ACCURACY_CLOSED,    /* Clients wait for their responses. */
    KVC_ACCURACY_LOADS,
};

enum kvc_accuracy_metric {
    KVC_ACCURACY_THROUGHPUT,
    KVC_ACCURACY_LATENCY_MEAN,
    KVC_ACCURACY_LATENCY_TAIL, /* The 95th percentile and those above it. */
    KVC_ACCURACY_ENERGY,       /* Power, and requests per joule. */
    KVC_ACCURACY_METRICS,
};

/* Names in the file, in documents and in tables: "closed form", "open loop", "latency_tail". */
extern const char *const kvc_accuracy_answers[KVC_ACCURACY_ANSWERS];
extern const char *const kvc_accuracy_loads[KVC_ACCURACY_LOADS];
extern const char *const kvc_accuracy_metrics[KVC_ACCURACY_METRICS];

/* The errors of one kind. Errors are absolute values. */
struct kvc_accuracy_score {
    uint32_t points;                        /* Measured values that were forecast. */
    double median_abs_frac, worst_abs_frac; /* Errors of the points; NaN: none. */
    char worst_case[160];                   /* Subject and case of the worst one. */
    uint32_t bounds, bounds_held;           /* Published bounds, and how many of them the forecasts hold. */
    uint32_t unseen;                        /* Measured runs that nobody saw before a release. */
    double unseen_mean_frac, unseen_worst_frac; /* Their errors; NaN: none. */
    char from[160];                             /* Subjects of the cases, separated by spaces. */
};

/* The scores of one store. */
struct kvc_accuracy {
    struct kvc_accuracy_score score[KVC_ACCURACY_ANSWERS][KVC_ACCURACY_LOADS][KVC_ACCURACY_METRICS];
};

/* Returns the kind of a metric of sim/metrics/values.h, or KVC_ACCURACY_METRICS for one of another kind. */
enum kvc_accuracy_metric kvc_accuracy_metric_of(const char *name);

/* Returns the load of a run. */
enum kvc_accuracy_load kvc_accuracy_load_of(const struct kvc_workload *workload);

/* What an answer is a forecast of. */
struct kvc_accuracy_kind {
    const char *system; /* Name of the store; NULL: the points of a sweep differ in store or arrivals. */
    enum kvc_accuracy_answer answer;
    enum kvc_accuracy_load load;
    const char *gpu_rule, *cpu_rule; /* Rules by which costs of others are carried over; NULL: measured. */
};

/* Returns the kind of an answer about a scenario, or about all points of its sweep. */
struct kvc_accuracy_kind kvc_accuracy_kind_of(const struct kvc_loaded *loaded,
                                              enum kvc_accuracy_answer answer, bool all_points);

/* Reads the scores of a store, which may have none. Errors name file and line. */
enum kvc_status kvc_accuracy_read(const char *path, const char *system, struct kvc_accuracy *accuracy,
                                  struct kvc_diag *diag);

/* Writes the header, and the lines of one store. */
void kvc_accuracy_write_header(FILE *out);
void kvc_accuracy_write(const struct kvc_accuracy *accuracy, const char *system, FILE *out);

/* Returns the member of a document. */
json_t *kvc_accuracy_json(const struct kvc_accuracy_kind *kind);

/* Writes the same as one line for people, after "accuracy" between the escapes `bold` and `plain`. */
void kvc_accuracy_write_line(const struct kvc_accuracy_kind *kind, const char *bold, const char *plain,
                             FILE *out);

#endif
