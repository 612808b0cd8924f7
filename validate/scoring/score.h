/* Scores of predictions: their errors, a summary, and the baseline that errors must not exceed. */
#ifndef KVC_VALIDATE_SCORING_SCORE_H
#define KVC_VALIDATE_SCORING_SCORE_H

#include "validate/scoring/cases.h"

enum kvc_verdict {
    KVC_VERDICT_OK,        /* The error is within the tolerance. */
    KVC_VERDICT_MISSED,    /* It is outside the tolerance, as the baseline says. */
    KVC_VERDICT_REGRESSED, /* It is outside the tolerance and worse than the baseline. */
};

struct kvc_score {
    double predicted;
    double error_frac;    /* (predicted - published) / published; against a range, the distance to the nearer
                             bound over that bound, and 0 inside. */
    double baseline_frac; /* NaN when the baseline has no such case. */
    enum kvc_verdict verdict;
};

struct kvc_error_summary {
    size_t count;
    double mean_abs_frac, p95_abs_frac, max_abs_frac; /* 0 when count is 0. */
};

/* Summary of the cases of one role. */
struct kvc_score_summary {
    struct kvc_error_summary errors;
    size_t missed, regressed;
};

/* Returns the error of `predicted`; NaN stays NaN. */
double kvc_score_error(const struct kvc_case *scored, double predicted);

/* Fills error and verdict. A case regresses when its error is outside the tolerance and either exceeds the
 * baseline by more than half a percentage point or has no baseline. Inputs never regress. */
struct kvc_score kvc_score_case(const struct kvc_case *scored, double predicted, double baseline_frac);

/* Divides the predictions of two cases. The case at index `at` names them as "a/b"; both stand before it. */
enum kvc_status kvc_score_ratio(const struct kvc_cases *cases, size_t at, const struct kvc_score *scores,
                                double *value, struct kvc_diag *diag);

/* Replaces the errors by their absolute values and sorts them. */
struct kvc_error_summary kvc_errors_summarise(double *errors_frac, size_t count);

struct kvc_score_summary kvc_score_summarise(const struct kvc_cases *cases, const struct kvc_score *scores,
                                             enum kvc_case_role role);

/* The baseline is a CSV file with the columns id and error_frac. Reading fills baseline_frac of `scores`, NaN
 * for cases that the file lacks; without a file all are NaN. */
enum kvc_status kvc_baseline_read(const char *path, const struct kvc_cases *cases, struct kvc_score *scores,
                                  struct kvc_diag *diag);
enum kvc_status kvc_baseline_write(const char *path, const struct kvc_cases *cases,
                                   const struct kvc_score *scores, struct kvc_diag *diag);

#endif
