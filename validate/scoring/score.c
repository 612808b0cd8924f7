#include "validate/scoring/score.h"

#include <errno.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/csv.h"
#include "sim/base/partial_file.h"

static const char header[] = "id,error_frac";

/* Runs are deterministic. Half a percentage point allows for another compiler's rounding and nothing more. */
static const double BASELINE_SLACK_FRAC = 0.005;

static double relative(double value, double reference)
{
    return (value - reference) / (reference != 0 ? fabs(reference) : 1);
}

double kvc_score_error(const struct kvc_case *scored, double predicted)
{
    if (!isnan(scored->published)) {
        return relative(predicted, scored->published);
    }
    if (!isnan(scored->low) && predicted < scored->low) {
        return relative(predicted, scored->low);
    }
    if (!isnan(scored->high) && predicted > scored->high) {
        return relative(predicted, scored->high);
    }
    return isnan(predicted) ? NAN : 0;
}

struct kvc_score kvc_score_case(const struct kvc_case *scored, double predicted, double baseline_frac)
{
    struct kvc_score score = {
        .predicted = predicted,
        .error_frac = kvc_score_error(scored, predicted),
        .baseline_frac = baseline_frac,
        .verdict = KVC_VERDICT_OK,
    };
    double tolerance_frac = isnan(scored->published) ? 0 : scored->tolerance_frac;
    bool outside = isnan(score.error_frac) || fabs(score.error_frac) > tolerance_frac;
    bool known = !isnan(baseline_frac) && fabs(score.error_frac) <= fabs(baseline_frac) + BASELINE_SLACK_FRAC;
    if (scored->role != KVC_CASE_INPUT && outside) {
        score.verdict = known ? KVC_VERDICT_MISSED : KVC_VERDICT_REGRESSED;
    }
    return score;
}

enum kvc_status kvc_score_ratio(const struct kvc_cases *cases, size_t at, const struct kvc_score *scores,
                                double *value, struct kvc_diag *diag)
{
    const struct kvc_case *asked = &cases->entry[at];
    const char *slash = strchr(asked->scenario, '/');
    long a = slash != NULL ? kvc_cases_find(cases, asked->scenario, (size_t)(slash - asked->scenario)) : -1;
    long b = slash != NULL ? kvc_cases_find(cases, slash + 1, strlen(slash + 1)) : -1;
    if (a < 0 || b < 0 || (size_t)a >= at || (size_t)b >= at) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "case %s: found \"%s\", expected two earlier cases as a/b", asked->id,
                             asked->scenario);
    }
    *value = scores[a].predicted / scores[b].predicted;
    return KVC_OK;
}

struct kvc_error_summary kvc_errors_summarise(double *errors_frac, size_t count)
{
    struct kvc_error_summary summary = {.count = count};
    if (count == 0) {
        return summary;
    }
    for (size_t i = 0; i < count; i++) {
        errors_frac[i] = fabs(errors_frac[i]);
        summary.mean_abs_frac += errors_frac[i] / (double)count;
    }
    gsl_sort(errors_frac, 1, count);
    summary.p95_abs_frac = errors_frac[(size_t)ceil(0.95 * (double)count) - 1];
    summary.max_abs_frac = errors_frac[count - 1];
    return summary;
}

struct kvc_score_summary kvc_score_summarise(const struct kvc_cases *cases, const struct kvc_score *scores,
                                             enum kvc_case_role role)
{
    struct kvc_score_summary summary = {0};
    size_t count = 0;
    double *errors_frac = malloc((cases->count + 1) * sizeof(*errors_frac));
    if (errors_frac == NULL) {
        kvc_out_of_memory("%zu errors", cases->count);
    }
    for (size_t i = 0; i < cases->count; i++) {
        if (cases->entry[i].role != role) {
            continue;
        }
        errors_frac[count++] = scores[i].error_frac;
        summary.missed += scores[i].verdict == KVC_VERDICT_MISSED;
        summary.regressed += scores[i].verdict == KVC_VERDICT_REGRESSED;
    }
    summary.errors = kvc_errors_summarise(errors_frac, count);
    free(errors_frac);
    return summary;
}

struct baseline {
    const struct kvc_cases *cases;
    struct kvc_score *scores;
};

static enum kvc_status take_baseline(void *data, char *const *column, int line, struct kvc_diag *diag)
{
    const struct baseline *baseline = data;
    double error_frac;
    (void)line;
    enum kvc_status status = kvc_csv_number(column[1], &error_frac, diag);
    if (status == KVC_OK && isnan(error_frac)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found an empty error_frac, expected a number");
    }
    long found = kvc_cases_find(baseline->cases, column[0], strlen(column[0]));
    if (status == KVC_OK && found >= 0) {
        baseline->scores[found].baseline_frac = error_frac;
    }
    return status;
}

enum kvc_status kvc_baseline_read(const char *path, const struct kvc_cases *cases, struct kvc_score *scores,
                                  struct kvc_diag *diag)
{
    struct baseline baseline = {cases, scores};
    const struct kvc_csv_format format = {.header = header};
    for (size_t i = 0; i < cases->count; i++) {
        scores[i].baseline_frac = NAN;
    }
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        return KVC_OK;
    }
    return kvc_csv_visit(path, &format, take_baseline, &baseline, diag);
}

enum kvc_status kvc_baseline_write(const char *path, const struct kvc_cases *cases,
                                   const struct kvc_score *scores, struct kvc_diag *diag)
{
    struct kvc_partial_file file = {0};
    enum kvc_status status = kvc_partial_file_open(&file, path, diag);
    if (status != KVC_OK) {
        return status;
    }
    fprintf(file.file, "%s\n", header);
    for (size_t i = 0; i < cases->count; i++) {
        if (cases->entry[i].role != KVC_CASE_INPUT && isfinite(scores[i].error_frac)) {
            fprintf(file.file, "%s,%.4f\n", cases->entry[i].id, scores[i].error_frac);
        }
    }
    return kvc_partial_file_commit(&file, diag);
}
