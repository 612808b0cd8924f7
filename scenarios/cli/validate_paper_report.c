/* kvcast validate: the scores of a paper as tables, as JSON and as CSV. */
#include <math.h>
#include <stdio.h>

#include "scenarios/cli/print.h"
#include "scenarios/cli/validate.h"

static const char *const roles[] = {"prediction", "equation", "input"};
const char *const kvc_verdict_names[] = {"ok", "missed", "REGRESSED"};

static void published_text(const struct kvc_case *scored, char *out, size_t size)
{
    if (!isnan(scored->published)) {
        snprintf(out, size, "%.5g", scored->published);
    } else if (!isnan(scored->low) && !isnan(scored->high)) {
        snprintf(out, size, "%g .. %g", scored->low, scored->high);
    } else {
        snprintf(out, size, "%s%g",
                 isnan(scored->low) ? "<= " : ">= ", isnan(scored->low) ? scored->high : scored->low);
    }
}

/* Lists what the model lacks where it misses a published value. */
static void print_lacks(const struct kvc_cases *cases, const struct kvc_score *scores)
{
    struct kvc_grid grid = {.columns = 2};
    for (size_t i = 0; i < cases->count; i++) {
        if (scores[i].verdict == KVC_VERDICT_OK || cases->entry[i].lacks[0] == '\0') {
            continue;
        }
        kvc_grid_add(&grid, cases->entry[i].id);
        kvc_grid_add(&grid, cases->entry[i].lacks);
    }
    if (grid.count > 0) {
        printf("\nwhat the model lacks where it misses a value\n");
    }
    kvc_grid_print(&grid, 2, stdout);
}

void kvc_paper_print(const struct kvc_paper *paper)
{
    const struct kvc_cases *cases = &paper->cases;
    const struct kvc_score *scores = paper->scores;
    struct kvc_grid grid = {.columns = 8};
    static const char *const head[] = {"case",  "metric",    "predicted", "published",
                                       "error", "tolerance", "verdict",   "source"};
    for (size_t i = 0; i < grid.columns; i++) {
        kvc_grid_add(&grid, head[i]);
    }
    for (size_t i = 0; i < cases->count; i++) {
        const struct kvc_case *scored = &cases->entry[i];
        char text[64];
        bool input = scored->role == KVC_CASE_INPUT;
        kvc_grid_add(&grid, scored->id);
        kvc_grid_add(&grid, scored->metric);
        snprintf(text, sizeof(text), "%.5g", scores[i].predicted);
        kvc_grid_add(&grid, text);
        published_text(scored, text, sizeof(text));
        kvc_grid_add(&grid, input ? "-" : text);
        snprintf(text, sizeof(text), "%+.1f %%", 100 * scores[i].error_frac);
        kvc_grid_add(&grid, input ? "-" : text);
        snprintf(text, sizeof(text), "%g %%", 100 * scored->tolerance_frac);
        kvc_grid_add(&grid, isnan(scored->tolerance_frac) ? "-" : text);
        kvc_grid_add(&grid, input ? "-" : kvc_verdict_names[scores[i].verdict]);
        kvc_grid_add(&grid, scored->fact);
    }
    kvc_grid_print(&grid, 0, stdout);
    print_lacks(cases, scores);
    for (int role = KVC_CASE_PREDICTION; role <= KVC_CASE_EQUATION; role++) {
        struct kvc_score_summary summary = kvc_score_summarise(cases, scores, (enum kvc_case_role)role);
        printf("\n%ss: %zu, absolute error mean %.1f %%, p95 %.1f %%, max %.1f %%; %zu missed, %zu regressed",
               roles[role], summary.errors.count, 100 * summary.errors.mean_abs_frac,
               100 * summary.errors.p95_abs_frac, 100 * summary.errors.max_abs_frac, summary.missed,
               summary.regressed);
    }
    printf("\nno input was fitted to a value that is scored\n");
}

json_t *kvc_validate_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

void kvc_paper_list(const struct kvc_paper *paper, json_t *list)
{
    const struct kvc_cases *cases = &paper->cases;
    const struct kvc_score *scores = paper->scores;
    for (size_t i = 0; i < cases->count; i++) {
        const struct kvc_case *scored = &cases->entry[i];
        json_t *entry = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "case", scored->id, "system",
                                  paper->subject->name, "role", roles[scored->role], "scenario",
                                  scored->scenario, "overrides", scored->overrides, "metric", scored->metric,
                                  "lacks", scored->lacks, "fact", scored->fact);
        const struct {
            const char *name;
            double value;
        } numbers[] = {
            {"predicted", scores[i].predicted},
            {"published", scored->published},
            {"published_low", scored->low},
            {"published_high", scored->high},
            {"error_frac", scores[i].error_frac},
            {"tolerance_frac", scored->tolerance_frac},
            {"baseline_frac", scores[i].baseline_frac},
        };
        for (size_t j = 0; j < sizeof(numbers) / sizeof(*numbers); j++) {
            json_object_set_new(entry, numbers[j].name, kvc_validate_number(numbers[j].value));
        }
        json_object_set_new(entry, "verdict", json_string(kvc_verdict_names[scores[i].verdict]));
        json_array_append_new(list, entry);
    }
}

void kvc_paper_write_errors(const struct kvc_paper *paper, FILE *out)
{
    for (size_t i = 0; i < paper->cases.count; i++) {
        const struct kvc_case *scored = &paper->cases.entry[i];
        if (scored->role == KVC_CASE_PREDICTION && scored->mode != KVC_CASE_RATIO &&
            !isnan(scored->published)) {
            fprintf(out, "%s,%s,,%.6g,,%.6g\n", scored->id, scored->metric, scored->published,
                    paper->scores[i].predicted);
        }
    }
}
