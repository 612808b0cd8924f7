#include "validate/scoring/score.h"

#include <errno.h>
#include <fnmatch.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/files/partial_file.h"
#include "sim/base/text/csv.h"

static const char header[] = "id,error_frac,half_width_frac";

/* The file has four digits after the point, and another compiler may round the last one differently. */
static const double ROUNDING_FRAC = 0.0001;

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

/* Returns the half width of the error's interval: the value's half width over the reference of the error. */
static double error_half_width(const struct kvc_case *scored, struct kvc_interval predicted)
{
    double reference = scored->published;
    if (isnan(reference)) {
        bool below = isnan(scored->high) || (!isnan(scored->low) && predicted.mean < scored->low);
        reference = below ? scored->low : scored->high;
    }
    return predicted.half_width / (reference != 0 ? fabs(reference) : 1);
}

static bool grew(const struct kvc_score *score)
{
    double now = score->error_frac.half_width, then = score->baseline_frac.half_width;
    double allowed = isnan(now) || isnan(then) ? 0 : fmin(now, then);
    return !(fabs(score->error_frac.mean) <= fabs(score->baseline_frac.mean) + allowed + ROUNDING_FRAC);
}

struct kvc_score kvc_score_case(const struct kvc_case *scored, struct kvc_interval predicted,
                                struct kvc_interval baseline_frac)
{
    struct kvc_score score = {
        .predicted = predicted,
        .error_frac = {kvc_score_error(scored, predicted.mean), error_half_width(scored, predicted)},
        .baseline_frac = baseline_frac,
        .verdict = KVC_VERDICT_OK,
    };
    double tolerance_frac = isnan(scored->published) ? 0 : scored->tolerance_frac;
    if (scored->role == KVC_CASE_INPUT) {
        return score;
    }
    if (grew(&score)) {
        score.verdict = KVC_VERDICT_REGRESSED;
    } else if (fabs(score.error_frac.mean) > tolerance_frac) {
        score.verdict = KVC_VERDICT_MISSED;
    }
    return score;
}

enum kvc_status kvc_score_parts(const struct kvc_cases *cases, size_t at, size_t *numerator,
                                size_t *denominator, struct kvc_diag *diag)
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
    *numerator = (size_t)a;
    *denominator = (size_t)b;
    return KVC_OK;
}

/* Returns the half width relative to the mean; a value without an interval does not vary. */
static double relative_half_width(struct kvc_interval value)
{
    return isnan(value.half_width) ? 0 : value.half_width / value.mean;
}

enum kvc_status kvc_score_ratio(const struct kvc_cases *cases, size_t at, const struct kvc_score *scores,
                                struct kvc_interval *value, struct kvc_diag *diag)
{
    size_t numerator = 0, denominator = 0;
    enum kvc_status status = kvc_score_parts(cases, at, &numerator, &denominator, diag);
    if (status != KVC_OK) {
        return status;
    }
    struct kvc_interval a = scores[numerator].predicted, b = scores[denominator].predicted;
    value->mean = a.mean / b.mean;
    value->half_width = fabs(value->mean) * hypot(relative_half_width(a), relative_half_width(b));
    if (isnan(a.half_width) && isnan(b.half_width)) {
        value->half_width = NAN;
    }
    return KVC_OK;
}

bool kvc_aggregate_has(const struct kvc_cases *cases, size_t at, size_t part)
{
    return part < at && fnmatch(cases->entry[at].scenario, cases->entry[part].id, 0) == 0;
}

enum kvc_status kvc_aggregate_count(const struct kvc_cases *cases, size_t at, size_t *count,
                                    struct kvc_diag *diag)
{
    *count = 0;
    for (size_t i = 0; i < at; i++) {
        *count += kvc_aggregate_has(cases, at, i);
    }
    return *count > 0 ? KVC_OK
                      : kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                      "case %s: found \"%s\", expected a pattern of earlier cases",
                                      cases->entry[at].id, cases->entry[at].scenario);
}

/* Returns the largest or the smallest value. */
static struct kvc_interval extreme(const struct kvc_cases *cases, size_t at, const struct kvc_score *scores)
{
    bool most = cases->entry[at].mode == KVC_CASE_MOST;
    struct kvc_interval found = {most ? -INFINITY : INFINITY, NAN};
    for (size_t i = 0; i < at; i++) {
        struct kvc_interval part = scores[i].predicted;
        if (kvc_aggregate_has(cases, at, i) && (most ? part.mean > found.mean : part.mean < found.mean)) {
            found = part;
        }
    }
    return found;
}

enum kvc_status kvc_aggregate_value(const struct kvc_cases *cases, size_t at, const struct kvc_score *scores,
                                    struct kvc_interval *value, struct kvc_diag *diag)
{
    enum kvc_case_mode mode = cases->entry[at].mode;
    size_t count;
    enum kvc_status status = kvc_aggregate_count(cases, at, &count, diag);
    if (status != KVC_OK) {
        return status;
    }
    if (mode == KVC_CASE_MOST || mode == KVC_CASE_LEAST) {
        *value = extreme(cases, at, scores);
        return KVC_OK;
    }
    double squares = 0;
    bool varies = false;
    *value = (struct kvc_interval){0, NAN};
    for (size_t i = 0; i < at; i++) {
        struct kvc_interval part = scores[i].predicted;
        if (kvc_aggregate_has(cases, at, i)) {
            value->mean += (mode == KVC_CASE_DEVIATION ? fabs(part.mean - 1) : part.mean) / (double)count;
            squares += isnan(part.half_width) ? 0 : part.half_width * part.half_width;
            varies = varies || !isnan(part.half_width);
        }
    }
    if (varies) {
        value->half_width = sqrt(squares) / (double)count;
    }
    return KVC_OK;
}

bool kvc_score_follows(const struct kvc_cases *cases, size_t at, size_t part)
{
    size_t a, b;
    bool follows = false;
    if (cases->entry[at].mode == KVC_CASE_RATIO) {
        return kvc_score_parts(cases, at, &a, &b, NULL) == KVC_OK &&
               (a == part || b == part || kvc_score_follows(cases, a, part) ||
                kvc_score_follows(cases, b, part));
    }
    for (size_t i = 0; i < at && kvc_case_is_aggregate(&cases->entry[at]) && !follows; i++) {
        follows = kvc_aggregate_has(cases, at, i) && (i == part || kvc_score_follows(cases, i, part));
    }
    return follows;
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

bool kvc_score_counts(const struct kvc_case *scored, const struct kvc_score *score)
{
    return scored->role == KVC_CASE_PREDICTION && !score->not_counted;
}

struct kvc_score_summary kvc_score_summarise(const struct kvc_cases *cases, const struct kvc_score *scores)
{
    struct kvc_score_summary summary = {0};
    size_t points = 0;
    double *errors_frac = malloc((cases->count + 1) * sizeof(*errors_frac));
    if (errors_frac == NULL) {
        kvc_out_of_memory("%zu errors", cases->count);
    }
    for (size_t i = 0; i < cases->count; i++) {
        enum kvc_case_kind kind = kvc_case_kind_of(&cases->entry[i]);
        bool held = scores[i].error_frac.mean == 0;
        summary.regressed += scores[i].verdict == KVC_VERDICT_REGRESSED;
        summary.equations += kind == KVC_KIND_EQUATION;
        summary.inputs += kind == KVC_KIND_INPUT;
        summary.not_counted += cases->entry[i].role == KVC_CASE_PREDICTION && scores[i].not_counted;
        summary.duplicates += cases->entry[i].role == KVC_CASE_DUPLICATE;
        summary.excluded += cases->entry[i].role == KVC_CASE_EXCLUDED;
        if (!kvc_score_counts(&cases->entry[i], &scores[i])) {
            continue;
        }
        if (kind == KVC_KIND_POINT) {
            errors_frac[points++] = scores[i].error_frac.mean;
            summary.points_missed += !(fabs(scores[i].error_frac.mean) <= cases->entry[i].tolerance_frac);
        }
        summary.ranges += kind == KVC_KIND_RANGE;
        summary.ranges_held += kind == KVC_KIND_RANGE && held;
        summary.claims += kind == KVC_KIND_CLAIM;
        summary.claims_held += kind == KVC_KIND_CLAIM && held;
    }
    summary.points = kvc_errors_summarise(errors_frac, points);
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
    struct kvc_interval accepted_frac;
    (void)line;
    enum kvc_status status = kvc_csv_number(column[1], &accepted_frac.mean, diag);
    status = status != KVC_OK ? status : kvc_csv_number(column[2], &accepted_frac.half_width, diag);
    if (status == KVC_OK && isnan(accepted_frac.mean)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found an empty error_frac, expected a number");
    }
    long found = kvc_cases_find(baseline->cases, column[0], strlen(column[0]));
    if (status == KVC_OK && found >= 0) {
        baseline->scores[found].baseline_frac = accepted_frac;
    }
    return status;
}

enum kvc_status kvc_baseline_read(const char *path, const struct kvc_cases *cases, struct kvc_score *scores,
                                  struct kvc_diag *diag)
{
    struct baseline baseline = {cases, scores};
    const struct kvc_csv_format format = {.header = header};
    for (size_t i = 0; i < cases->count; i++) {
        scores[i].baseline_frac = (struct kvc_interval){NAN, NAN};
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
        struct kvc_interval error_frac = scores[i].error_frac;
        if (cases->entry[i].role != KVC_CASE_INPUT && isfinite(error_frac.mean)) {
            fprintf(file.file, "%s,%.4f,", cases->entry[i].id, error_frac.mean);
            fprintf(file.file, isnan(error_frac.half_width) ? "\n" : "%.4f\n", error_frac.half_width);
        }
    }
    return kvc_partial_file_commit(&file, diag);
}
