/* Scores of predictions: their errors, a summary, and the baseline that errors must not exceed. */
#ifndef KVC_VALIDATE_SCORING_SCORE_H
#define KVC_VALIDATE_SCORING_SCORE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/metrics/statistics.h"
#include "validate/scoring/cases.h"

enum kvc_verdict {
    KVC_VERDICT_OK,        /* The error is within the tolerance, or the bounds are held. */
    KVC_VERDICT_MISSED,    /* The value is outside, as in the baseline. */
    KVC_VERDICT_REGRESSED, /* The error exceeds the baseline's, or there is no baseline. */
};

/* A number with its 95 % interval in the same unit. The half width is NaN where there is no chance in the
 * number, as in a closed form. */
struct kvc_score {
    struct kvc_interval predicted;
    struct kvc_interval error_frac;    /* (predicted - published) / published; against bounds, the distance to
                                          the nearer one over that bound, and 0 inside. */
    struct kvc_interval baseline_frac; /* The accepted error; its mean is NaN when the baseline has none. */
    bool not_counted;                  /* Nothing moves the prediction, or it returns an input. */
    enum kvc_verdict verdict;
};

struct kvc_error_summary {
    size_t count;
    double mean_abs_frac, p95_abs_frac, max_abs_frac; /* 0 when count is 0. */
};

/* Other cases than predictions, and those that nothing moves, have counts of their own and may regress. */
struct kvc_score_summary {
    struct kvc_error_summary points;
    size_t points_missed;
    size_t ranges, ranges_held;
    size_t claims, claims_held;
    size_t equations, inputs, duplicates, excluded, not_counted;
    size_t regressed;
};

/* Returns whether a case enters the summary's errors, ranges or claims. */
bool kvc_score_counts(const struct kvc_case *scored, const struct kvc_score *score);

/* Returns the error of `predicted`; NaN stays NaN. */
double kvc_score_error(const struct kvc_case *scored, double predicted);

/* Fills error and verdict. A case regresses when it has no baseline, or when its error exceeds the baseline's
 * by more than the half width of its interval: the current one or the accepted one, whichever is smaller, so
 * that more noise excuses nothing. Being inside the tolerance does not excuse either. Inputs never regress.
 */
struct kvc_score kvc_score_case(const struct kvc_case *scored, struct kvc_interval predicted,
                                struct kvc_interval baseline_frac);

/* Divides the predictions of two cases. The case at index `at` names them as "a/b"; both stand before it. The
 * interval is computed as for a ratio of independent values by the delta method. Values that share random
 * streams vary together, so it is rather too wide than too narrow. */
enum kvc_status kvc_score_ratio(const struct kvc_cases *cases, size_t at, const struct kvc_score *scores,
                                struct kvc_interval *value, struct kvc_diag *diag);

/* Finds the indexes of the two cases that the ratio at index `at` divides. */
enum kvc_status kvc_score_parts(const struct kvc_cases *cases, size_t at, size_t *numerator,
                                size_t *denominator, struct kvc_diag *diag);

/* An aggregate combines the values of earlier cases, as a paper states a mean over its workloads: those whose
 * ids match the pattern in its column `scenario`, where * stands for any characters: "gain-K8-*".
 *
 * Returns whether case `part` is a part of the aggregate `at`. */
bool kvc_aggregate_has(const struct kvc_cases *cases, size_t at, size_t part);

/* Counts the parts of the aggregate `at`. None is an error. */
enum kvc_status kvc_aggregate_count(const struct kvc_cases *cases, size_t at, size_t *count,
                                    struct kvc_diag *diag);

/* Combines the predicted values of the parts, which do not depend on each other. The largest or the smallest
 * value has the interval of its part. */
enum kvc_status kvc_aggregate_value(const struct kvc_cases *cases, size_t at, const struct kvc_score *scores,
                                    struct kvc_interval *value, struct kvc_diag *diag);

/* Returns whether the value of case `at` follows from case `part`, perhaps by way of others. */
bool kvc_score_follows(const struct kvc_cases *cases, size_t at, size_t part);

/* Replaces the errors by their absolute values and sorts them. */
struct kvc_error_summary kvc_errors_summarise(double *errors_frac, size_t count);

struct kvc_score_summary kvc_score_summarise(const struct kvc_cases *cases, const struct kvc_score *scores);

/* The baseline is a CSV file with the columns id, error_frac and half_width_frac, which is empty where the
 * error has no interval. Reading fills baseline_frac of `scores`, NaN for cases that the file lacks; without
 * a file all are NaN. */
enum kvc_status kvc_baseline_read(const char *path, const struct kvc_cases *cases, struct kvc_score *scores,
                                  struct kvc_diag *diag);
enum kvc_status kvc_baseline_write(const char *path, const struct kvc_cases *cases,
                                   const struct kvc_score *scores, struct kvc_diag *diag);

#endif
