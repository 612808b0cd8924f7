#include "validate/score.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static const char header[] = "id,error_frac";

/* Runs are deterministic; half a point leaves room for a change of the compiler's rounding, no more. */
static const double BASELINE_SLACK_FRAC = 0.005;

static double relative(double value, double reference)
{
    return (value - reference) / (reference != 0 ? fabs(reference) : 1);
}

double kvc_score_error(const struct kvc_case *scored, double predicted)
{
    if (!isnan(scored->published))
        return relative(predicted, scored->published);
    if (!isnan(scored->low) && predicted < scored->low)
        return relative(predicted, scored->low);
    if (!isnan(scored->high) && predicted > scored->high)
        return relative(predicted, scored->high);
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
    bool outside = isnan(score.error_frac) || fabs(score.error_frac) > scored->tolerance_frac;
    bool known = !isnan(baseline_frac) && fabs(score.error_frac) <= fabs(baseline_frac) + BASELINE_SLACK_FRAC;
    if (scored->role != KVC_CASE_INPUT && outside)
        score.verdict = known ? KVC_VERDICT_MISSED : KVC_VERDICT_REGRESSED;
    return score;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct kvc_score_summary kvc_score_summarise(const struct kvc_cases *cases, const struct kvc_score *scores,
                                             enum kvc_case_role role)
{
    struct kvc_score_summary summary = {0};
    double *errors = malloc((cases->count + 1) * sizeof *errors);
    if (errors == NULL)
        KVC_BUG("no memory for %zu errors", cases->count);
    for (size_t i = 0; i < cases->count; i++) {
        if (cases->entry[i].role != role)
            continue;
        errors[summary.cases++] = fabs(scores[i].error_frac);
        summary.mean_abs_frac += fabs(scores[i].error_frac);
        summary.missed += scores[i].verdict == KVC_VERDICT_MISSED;
        summary.regressed += scores[i].verdict == KVC_VERDICT_REGRESSED;
    }
    if (summary.cases > 0) {
        qsort(errors, summary.cases, sizeof *errors, ascending);
        summary.mean_abs_frac /= (double)summary.cases;
        summary.p95_abs_frac = errors[(size_t)ceil(0.95 * (double)summary.cases) - 1];
        summary.max_abs_frac = errors[summary.cases - 1];
    }
    free(errors);
    return summary;
}

enum kvc_status kvc_baseline_read(const char *path, const struct kvc_cases *cases, struct kvc_score *scores,
                                  struct kvc_diag *diag)
{
    char line[256];
    int number = 0;
    for (size_t i = 0; i < cases->count; i++)
        scores[i].baseline_frac = NAN;
    FILE *in = fopen(path, "r");
    if (in == NULL)
        return errno == ENOENT
                   ? KVC_OK
                   : kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "cannot read: %s", strerror(errno));
    enum kvc_status status = KVC_OK;
    while (status == KVC_OK && fgets(line, sizeof line, in) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        char *comma = strchr(line, ','), *end = NULL;
        if (++number == 1) {
            if (strcmp(line, header) != 0)
                status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, number, "expected \"%s\"", header);
            continue;
        }
        double error_frac = comma != NULL ? strtod(comma + 1, &end) : NAN;
        if (comma == NULL || end == comma + 1 || *end != '\0') {
            status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, number,
                                      "found \"%s\", expected id,error_frac", line);
            continue;
        }
        long found = kvc_cases_find(cases, line, (size_t)(comma - line));
        if (found >= 0)
            scores[found].baseline_frac = error_frac;
    }
    fclose(in);
    return status;
}

enum kvc_status kvc_baseline_write(const char *path, const struct kvc_cases *cases,
                                   const struct kvc_score *scores, struct kvc_diag *diag)
{
    char partial[512];
    snprintf(partial, sizeof partial, "%s.partial", path);
    FILE *out = fopen(partial, "w");
    if (out == NULL)
        return kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, partial, 0, "cannot write: %s", strerror(errno));
    fprintf(out, "%s\n", header);
    for (size_t i = 0; i < cases->count; i++)
        if (cases->entry[i].role != KVC_CASE_INPUT)
            fprintf(out, "%s,%.4f\n", cases->entry[i].id, scores[i].error_frac);
    if (fclose(out) != 0 || rename(partial, path) != 0) {
        remove(partial);
        return kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, path, 0, "cannot write: %s", strerror(errno));
    }
    return KVC_OK;
}
