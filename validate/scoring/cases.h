/* What is validated: published figures, one per line of a CSV file (measured ones become cases as well:
 * validate/scoring/comparison.h).
 *
 * Columns: id, mode, scenario, overrides, figure, published, low, high, tolerance_frac, role, lacks, fact.
 *  mode       run, predict: the figure is read from the scenario's result (with `overrides`, a ;-separated
 *             list of key=value as for --set); ratio: `scenario` is "a/b" and the figure is that of case a
 *             over that of case b
 *  published  the figure; or, left empty, `low` and/or `high` bound it
 *  role       prediction: scored; equation: the paper's own arithmetic redone (scored apart); input: shown
 *  lacks      where the figure is missed: the mechanism that the model does not have
 *  fact       where the number stands; may hold commas
 */
#ifndef KVC_VALIDATE_SCORING_CASES_H
#define KVC_VALIDATE_SCORING_CASES_H

#include <stddef.h>

#include "sim/base/diag.h"

enum kvc_case_mode { KVC_CASE_RUN, KVC_CASE_PREDICT, KVC_CASE_RATIO };
enum kvc_case_role { KVC_CASE_PREDICTION, KVC_CASE_EQUATION, KVC_CASE_INPUT };

struct kvc_case {
    char id[96];
    enum kvc_case_mode mode;
    char scenario[160]; /* relative to the project, or "a/b" */
    char overrides[256];
    char metric[64]; /* throughput_mops, latency_mean_us, _p95_us, _p99_us, _min_us, _max_us, watts_mean,
                        kops_per_watt, or one of the model's or the kernels' figures */
    double published, low, high; /* NaN: not given */
    double tolerance_frac;
    enum kvc_case_role role;
    char lacks[256];
    char fact[160];
};

struct kvc_cases {
    size_t count;
    struct kvc_case *entry;
};

void kvc_cases_free(struct kvc_cases *cases);

/* Every malformed line is an error with file:line. On failure nothing is left allocated. */
enum kvc_status kvc_cases_read(const char *path, struct kvc_cases *cases, struct kvc_diag *diag);

/* Adds a copy. */
enum kvc_status kvc_cases_add(struct kvc_cases *cases, const struct kvc_case *added, struct kvc_diag *diag);

/* Index of the case with this id, or -1. */
long kvc_cases_find(const struct kvc_cases *cases, const char *id, size_t id_length);

#endif
