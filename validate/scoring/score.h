/* Predicted against published or measured: errors, their summary, and the baseline that they may not grow
 * past. */
#ifndef KVC_VALIDATE_SCORING_SCORE_H
#define KVC_VALIDATE_SCORING_SCORE_H

#include "validate/scoring/cases.h"

/* A case is within its tolerance, misses it as the baseline says it does, or got worse. */
enum kvc_verdict { KVC_VERDICT_OK, KVC_VERDICT_MISSED, KVC_VERDICT_REGRESSED };

struct kvc_score {
    double predicted;
    double
        error_frac; /* (predicted - published) / published; against a range: to the nearer bound, 0 inside */
    double baseline_frac; /* NaN: the baseline has no such case */
    enum kvc_verdict verdict;
};

struct kvc_error_summary {
    size_t count;
    double mean_abs_frac, p95_abs_frac, max_abs_frac; /* 0 where there are none */
};

/* Over the cases of one role. */
struct kvc_score_summary {
    struct kvc_error_summary errors;
    size_t missed, regressed;
};

/* The error of `predicted`; NaN stays NaN. */
double kvc_score_error(const struct kvc_case *scored, double predicted);

/* Fills error and verdict. An error regresses when it is outside the tolerance and more than half a point
 * worse than the baseline, or has no baseline; inputs never do. */
struct kvc_score kvc_score_case(const struct kvc_case *scored, double predicted, double baseline_frac);

/* Sorts the errors, as absolute ones. */
struct kvc_error_summary kvc_errors_summarise(double *errors_frac, size_t count);

struct kvc_score_summary kvc_score_summarise(const struct kvc_cases *cases, const struct kvc_score *scores,
                                             enum kvc_case_role role);

/* Baseline file: "id,error_frac" lines under that header. Reading fills baseline_frac of `scores` (NaN where
 * absent); a missing file leaves all NaN. Writing goes to a partial file first. */
enum kvc_status kvc_baseline_read(const char *path, const struct kvc_cases *cases, struct kvc_score *scores,
                                  struct kvc_diag *diag);
enum kvc_status kvc_baseline_write(const char *path, const struct kvc_cases *cases,
                                   const struct kvc_score *scores, struct kvc_diag *diag);

#endif
