/* The cases of a paper: published values that predictions are compared with, one per line of a CSV file.
 *
 * Measured values become cases as well (validate/scoring/comparison.h). The columns are id, mode, scenario,
 * overrides, metric, published, low, high, tolerance_frac, role, lacks, fact.
 *
 * mode is one of these:
 *
 *  - run, predict: the metric is read from the scenario's result, after applying `overrides`, a list of
 *    key=value separated by semicolons as for --set.
 *  - ratio: `scenario` is "a/b", and the value is case a's divided by case b's.
 *  - mean, deviation, most, least: `scenario` is a pattern of earlier ids, and the value is their mean, the
 *    mean of their distances from 1, the largest or the smallest of them (score.h).
 *  - capacity: the simulated capacity of the scenario, found as by `kvcast capacity` without a latency curve.
 *    Its throughput_mops is the capacity. Its latencies are measured at the highest load that all replicas
 *    serve, because latencies at a load that some do not serve grow with the length of the run. `overrides`
 *    may contain capacity.loss, capacity.latency (as p99=1ms) and capacity.precision.
 *
 * published is the published value, and tolerance_frac its accepted error. When it is empty, `low` or `high`
 * or both bound the value, without a tolerance.
 *
 * role is one of these:
 *
 *  - prediction: scored.
 *  - equation: repeats the paper's own arithmetic and is shown apart.
 *  - input: shown for the ratios that need it. It has neither a published value nor bounds, so a value that
 *    is missed cannot hide as an input.
 *  - duplicate: the same figure as another case, which `lacks` names and which alone counts: stated twice by
 *    the paper, or answered by both the simulation and the closed form. It is shown with its error.
 *  - excluded: the paper contradicts itself about the figure, and `lacks` has the calculation. It is shown
 *    with its error, too.
 *
 * lacks of a prediction says why it misses: the mechanism that the model does not have. fact says where the
 * value is published; it may contain commas. */
#ifndef KVC_VALIDATE_SCORING_CASES_H
#define KVC_VALIDATE_SCORING_CASES_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/diag.h"

enum kvc_case_mode {
    KVC_CASE_RUN,
    KVC_CASE_PREDICT,
    KVC_CASE_RATIO,
    KVC_CASE_CAPACITY,
    KVC_CASE_MEAN,
    KVC_CASE_DEVIATION,
    KVC_CASE_MOST,
    KVC_CASE_LEAST,
};
enum kvc_case_role {
    KVC_CASE_PREDICTION,
    KVC_CASE_EQUATION,
    KVC_CASE_INPUT,
    KVC_CASE_DUPLICATE,
    KVC_CASE_EXCLUDED,
    KVC_CASE_ROLES,
};
extern const char *const kvc_case_roles[KVC_CASE_ROLES + 1]; /* Their names, and NULL. */

/* The kind of a case follows from its columns, so that no label can make a bound look like a number. */
enum kvc_case_kind {
    KVC_KIND_POINT, /* One published number. */
    KVC_KIND_RANGE, /* Two bounds. */
    KVC_KIND_CLAIM, /* One bound: the paper says "at most", or that something rises. */
    KVC_KIND_EQUATION,
    KVC_KIND_INPUT,
    KVC_KIND_KINDS,
};
extern const char *const kvc_case_kinds[KVC_KIND_KINDS]; /* Their names. */

struct kvc_case {
    char id[96];
    enum kvc_case_mode mode;
    char scenario[160]; /* Relative to the project, "a/b", or a pattern of ids. */
    char overrides[512];
    char metric[64];             /* A name of sim/metrics/values.h. */
    double published, low, high; /* NaN when not given. */
    double tolerance_frac;       /* NaN unless the case has a published value. */
    enum kvc_case_role role;
    char lacks[256];
    char fact[160];
    int line; /* Line in the file; 0: not from a file. */
};

struct kvc_cases {
    size_t count;
    struct kvc_case *entry;
};

enum kvc_case_kind kvc_case_kind_of(const struct kvc_case *asked);

/* Returns whether a case has a published value that another one stands for, or that the paper contradicts. */
bool kvc_case_is_beside(const struct kvc_case *asked);

/* Returns whether a case combines all whose ids match a pattern (score.h). */
bool kvc_case_is_aggregate(const struct kvc_case *asked);

/* Returns whether the value of a case follows from earlier cases. */
bool kvc_case_is_derived(const struct kvc_case *asked);

void kvc_cases_free(struct kvc_cases *cases);

/* A malformed line is an error that names file and line. On failure nothing stays allocated. */
enum kvc_status kvc_cases_read(const char *path, struct kvc_cases *cases, struct kvc_diag *diag);

/* Appends a copy. */
enum kvc_status kvc_cases_add(struct kvc_cases *cases, const struct kvc_case *added, struct kvc_diag *diag);

/* Returns the index of the case with this id, or -1. */
long kvc_cases_find(const struct kvc_cases *cases, const char *id, size_t id_length);

#endif
