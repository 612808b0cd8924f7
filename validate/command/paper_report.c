/* The scores of a paper as tables, JSON and CSV. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/cli/print.h"
#include "validate/command/validate.h"

static const char *const titles[] = {"points", "ranges", "claims", "equations", "inputs"};
const char *const kvc_verdict_names[] = {"ok", "missed", "REGRESSED"};

enum { MOVED_BY_SHOWN = 3 };

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

/* Lists the missing mechanisms of cases that miss their published value. */
static void print_lacks(const struct kvc_cases *cases, const struct kvc_score *scores)
{
    struct kvc_grid grid = {.columns = 2};
    for (size_t i = 0; i < cases->count; i++) {
        if (scores[i].verdict == KVC_VERDICT_OK || cases->entry[i].lacks[0] == '\0' ||
            kvc_case_is_beside(&cases->entry[i])) {
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

static const char *verdict_text(const struct kvc_case *scored, const struct kvc_score *score)
{
    return score->verdict == KVC_VERDICT_REGRESSED ? kvc_verdict_names[KVC_VERDICT_REGRESSED]
           : kvc_case_is_beside(scored)            ? kvc_case_roles[scored->role]
           : score->not_counted                    ? "not counted"
                                                   : kvc_verdict_names[score->verdict];
}

/* Adds the cells of one case that follow its predicted value. */
static void add_comparison(struct kvc_grid *grid, const struct kvc_case *scored,
                           const struct kvc_score *score)
{
    enum kvc_case_kind kind = kvc_case_kind_of(scored);
    char text[64];
    if (kind == KVC_KIND_INPUT) {
        return;
    }
    published_text(scored, text, sizeof(text));
    kvc_grid_add(grid, text);
    if (kind == KVC_KIND_RANGE || kind == KVC_KIND_CLAIM) {
        snprintf(text, sizeof(text), "by %.1f %%", 100 * fabs(score->error_frac.mean));
        kvc_grid_add(grid, score->error_frac.mean == 0 ? "held" : text);
    } else {
        kvc_grid_add_number(grid, "%+.1f %%", 100 * score->error_frac.mean);
    }
    if (kind != KVC_KIND_EQUATION) {
        kvc_grid_add_number(grid, "%.1f %%", 100 * score->error_frac.half_width);
    }
    if (kind == KVC_KIND_POINT || kind == KVC_KIND_EQUATION) {
        kvc_grid_add_number(grid, "%g %%", 100 * scored->tolerance_frac);
    }
    kvc_grid_add(grid, verdict_text(scored, score));
}

/* Lists the cases whose prediction identified parameters change, and the parameters. */
static void print_cross_validated(const struct kvc_paper *paper)
{
    static const char *const heads[] = {"case", "by facts", "cross-validated", "+/-", "verdict", "with"};
    const struct kvc_cases *cases = &paper->cases;
    struct kvc_grid grid = {.columns = 0};
    if (paper->identified.count == 0) {
        return;
    }
    for (; grid.columns < (int)(sizeof(heads) / sizeof(*heads)); grid.columns++) {
        kvc_grid_add(&grid, heads[grid.columns]);
    }
    for (size_t i = 0; i < cases->count; i++) {
        const struct kvc_score *score = &paper->cross_validated[i];
        char text[KVC_IDENTIFIED_TEXT];
        double value[KVC_IDENTIFIED_MAX];
        if (!kvc_score_counts(&cases->entry[i], score) || !kvc_paper_concerned(paper, i)) {
            continue;
        }
        kvc_identified_unseen(&paper->identified, cases, i, value);
        kvc_identified_print(&paper->identified, value, text);
        kvc_grid_add(&grid, cases->entry[i].id);
        kvc_grid_add_number(&grid, "%+.1f %%", 100 * paper->scores[i].error_frac.mean);
        kvc_grid_add_number(&grid, "%+.1f %%", 100 * score->error_frac.mean);
        kvc_grid_add_number(&grid, "%.1f %%", 100 * score->error_frac.half_width);
        kvc_grid_add(&grid, verdict_text(&cases->entry[i], score));
        kvc_grid_add(&grid, text);
    }
    printf("errors with identified parameters, of which none has seen the figure that it predicts\n");
    kvc_grid_print(&grid, 2, stdout);
    for (size_t i = 0; i < paper->identified.count; i++) {
        if (paper->identified.value[i].dropped[0] != '\0') {
            printf("%s is not used: %s\n", paper->identified.parameter[i].path,
                   paper->identified.value[i].dropped);
        }
    }
    printf("\n");
}

/* Prints the cases of one kind, and nothing if there are none. */
static void print_kind(const struct kvc_paper *paper, enum kvc_case_kind kind)
{
    static const char *const heads[KVC_KIND_KINDS][10] = {
        {"case", "metric", "predicted", "+/-", "published", "error", "+/-", "tolerance", "verdict", "source"},
        {"case", "metric", "predicted", "+/-", "published", "bounds", "+/-", "verdict", "source"},
        {"case", "metric", "predicted", "+/-", "published", "bounds", "+/-", "verdict", "source"},
        {"case", "metric", "computed", "+/-", "published", "error", "tolerance", "verdict", "source"},
        {"case", "metric", "value", "+/-", "source"},
    };
    struct kvc_grid grid = {.columns = 0};
    for (size_t i = 0; i < paper->cases.count; i++) {
        const struct kvc_case *scored = &paper->cases.entry[i];
        const struct kvc_score *score = &paper->scores[i];
        if (kvc_case_kind_of(scored) != kind) {
            continue;
        }
        while (grid.count == grid.columns && grid.columns < 10 && heads[kind][grid.columns] != NULL) {
            kvc_grid_add(&grid, heads[kind][grid.columns++]);
        }
        kvc_grid_add(&grid, scored->id);
        kvc_grid_add(&grid, scored->metric);
        kvc_grid_add_number(&grid, "%.5g", score->predicted.mean);
        kvc_grid_add_number(&grid, "%.2g", score->predicted.half_width);
        add_comparison(&grid, scored, score);
        kvc_grid_add(&grid, scored->fact);
    }
    if (grid.count > 0) {
        printf("%s\n", titles[kind]);
        kvc_grid_print(&grid, 2, stdout);
        printf("\n");
    }
}

/* Lists why the figures of some cases do not count. */
static void print_not_counted(const struct kvc_paper *paper)
{
    struct kvc_grid grid = {.columns = 2};
    for (size_t i = 0; i < paper->cases.count; i++) {
        const struct kvc_case *twin = &paper->cases.entry[i];
        if (kvc_case_is_beside(twin)) {
            kvc_grid_add(&grid, twin->id);
            kvc_grid_add(&grid, twin->lacks);
        }
    }
    if (grid.count > 0) {
        printf(
            "figures that do not count: duplicates with the case that does, and what the paper contradicts\n");
    }
    kvc_grid_print(&grid, 2, stdout);
    printf("%s", grid.count > 0 ? "\n" : "");
}

/* Lists the parameters that move each scored case, the strongest first. */
static void print_moved_by(const struct kvc_paper *paper)
{
    struct kvc_grid grid = {.columns = 2};
    for (size_t i = 0; i < paper->cases.count; i++) {
        const struct kvc_moved_by *moved_by = &paper->moved_by[i];
        char text[400] = "";
        size_t length = 0;
        if (kvc_case_kind_of(&paper->cases.entry[i]) > KVC_KIND_CLAIM ||
            kvc_case_is_beside(&paper->cases.entry[i])) {
            continue;
        }
        for (uint32_t j = 0; j < moved_by->count && j < MOVED_BY_SHOWN; j++) {
            length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s %+.2f", j > 0 ? ", " : "",
                                       moved_by->entry[j].parameter, moved_by->entry[j].value);
        }
        if (moved_by->costly) {
            snprintf(text, sizeof(text), "not searched, because its simulation takes too long; it counts");
        }
        if (paper->scores[i].not_counted) {
            snprintf(text + length, sizeof(text) - length, "%s",
                     moved_by->count == 0 ? "unmoved: not counted" : ", which it returns: not counted");
        }
        kvc_grid_add(&grid, paper->cases.entry[i].id);
        kvc_grid_add(&grid, text);
    }
    if (grid.count > 0) {
        printf("what moves each case: relative change of the value over relative change of the parameter\n");
    }
    kvc_grid_print(&grid, 2, stdout);
}

static void print_errors(const char *name, const struct kvc_score_summary *summary)
{
    printf("%s: %zu points, absolute error mean %.1f %%, p95 %.1f %%, max %.1f %%; %zu outside their "
           "tolerance\n",
           name, summary->points.count, 100 * summary->points.mean_abs_frac,
           100 * summary->points.p95_abs_frac, 100 * summary->points.max_abs_frac, summary->points_missed);
}

static void print_summary(const struct kvc_paper *paper)
{
    struct kvc_score_summary summary = kvc_score_summarise(&paper->cases, paper->scores);
    printf("\n");
    print_errors(paper->subject->name, &summary);
    printf("ranges held: %zu of %zu; claims held: %zu of %zu; not counted: %zu that nothing moves or that "
           "return an input, %zu duplicates, %zu excluded, %zu equations, %zu inputs; %zu regressed\n",
           summary.ranges_held, summary.ranges, summary.claims_held, summary.claims, summary.not_counted,
           summary.duplicates, summary.excluded, summary.equations, summary.inputs, summary.regressed);
    if (paper->identified.count > 0) {
        char name[64];
        summary = kvc_score_summarise(&paper->cases, paper->cross_validated);
        snprintf(name, sizeof(name), "cross-validated with %zu identified parameters",
                 kvc_identified_used(&paper->identified));
        print_errors(name, &summary);
        printf("ranges held: %zu of %zu; claims held: %zu of %zu; %zu regressed\n", summary.ranges_held,
               summary.ranges, summary.claims_held, summary.claims, summary.regressed);
    }
}

void kvc_paper_print(const struct kvc_paper *paper)
{
    for (int kind = KVC_KIND_POINT; kind < KVC_KIND_KINDS; kind++) {
        print_kind(paper, (enum kvc_case_kind)kind);
    }
    print_cross_validated(paper);
    print_not_counted(paper);
    print_moved_by(paper);
    print_lacks(&paper->cases, paper->scores);
    print_summary(paper);
}

/* Returns the errors of the points, and how many ranges and claims are held. */
static json_t *errors_document(const struct kvc_score_summary *summary)
{
    bool none = summary->points.count == 0;
    return json_pack("{s:{s:I, s:o, s:o, s:o, s:I}, s:{s:I, s:I}, s:{s:I, s:I}, s:I}", "points", "count",
                     (json_int_t)summary->points.count, "mean_abs_frac",
                     kvc_validate_number(none ? NAN : summary->points.mean_abs_frac), "p95_abs_frac",
                     kvc_validate_number(none ? NAN : summary->points.p95_abs_frac), "max_abs_frac",
                     kvc_validate_number(none ? NAN : summary->points.max_abs_frac), "outside_tolerance",
                     (json_int_t)summary->points_missed, "ranges", "count", (json_int_t)summary->ranges,
                     "held", (json_int_t)summary->ranges_held, "claims", "count", (json_int_t)summary->claims,
                     "held", (json_int_t)summary->claims_held, "regressed", (json_int_t)summary->regressed);
}

/* Returns the score with identified parameters and their values, or null if the paper has none. */
static json_t *cross_validated_document(const struct kvc_paper *paper)
{
    if (paper->identified.count == 0) {
        return json_null();
    }
    struct kvc_score_summary summary = kvc_score_summarise(&paper->cases, paper->cross_validated);
    json_t *document = errors_document(&summary), *parameters = json_array();
    for (size_t i = 0; i < paper->identified.count; i++) {
        const struct kvc_identified_parameter *parameter = &paper->identified.parameter[i];
        const struct kvc_identified_value *value = &paper->identified.value[i];
        json_array_append_new(
            parameters,
            json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:s?}", "system", parameter->system,
                      "parameter", parameter->path, "unit", parameter->unit, "value",
                      kvc_validate_number(value->value), "low", kvc_validate_number(value->low), "high",
                      kvc_validate_number(value->high), "facts", kvc_validate_number(value->facts),
                      "condition", kvc_validate_number(value->condition), "dropped",
                      value->dropped[0] != '\0' ? value->dropped : NULL));
    }
    json_object_set_new(document, "parameters", parameters);
    return document;
}

json_t *kvc_paper_summary(const struct kvc_paper *paper)
{
    struct kvc_score_summary summary = kvc_score_summarise(&paper->cases, paper->scores);
    json_t *document = json_pack("{s:s}", "paper", paper->subject->name), *errors = errors_document(&summary);
    json_t *counts =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}", "equations", (json_int_t)summary.equations, "inputs",
                  (json_int_t)summary.inputs, "not_counted", (json_int_t)summary.not_counted, "duplicates",
                  (json_int_t)summary.duplicates, "excluded", (json_int_t)summary.excluded, "cross_validated",
                  cross_validated_document(paper));
    json_object_update(document, errors);
    json_object_update(document, counts);
    json_decref(errors);
    json_decref(counts);
    return document;
}

/* Returns the parameters that move the case as a list of objects. */
static json_t *moved_by_document(const struct kvc_moved_by *moved_by)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < moved_by->count; i++) {
        json_array_append_new(list, json_pack("{s:s, s:f}", "parameter", moved_by->entry[i].parameter,
                                              "elasticity", moved_by->entry[i].value));
    }
    return list;
}

json_t *kvc_validate_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

void kvc_paper_list(const struct kvc_paper *paper, json_t *list)
{
    const struct kvc_cases *cases = &paper->cases;
    const struct kvc_score *scores = paper->scores;
    bool identified = paper->identified.count > 0;
    for (size_t i = 0; i < cases->count; i++) {
        const struct kvc_case *scored = &cases->entry[i];
        json_t *entry =
            json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:o}", "case", scored->id, "system",
                      paper->subject->name, "role", kvc_case_roles[scored->role], "kind",
                      kvc_case_kinds[kvc_case_kind_of(scored)], "scenario", scored->scenario, "overrides",
                      scored->overrides, "metric", scored->metric, "lacks", scored->lacks, "fact",
                      scored->fact, "counted", kvc_score_counts(scored, &scores[i]), "moved_by",
                      moved_by_document(&paper->moved_by[i]));
        const struct {
            const char *name;
            double value;
        } numbers[] = {
            {"predicted", scores[i].predicted.mean},
            {"predicted_half_width", scores[i].predicted.half_width},
            {"published", scored->published},
            {"published_low", scored->low},
            {"published_high", scored->high},
            {"error_frac", scores[i].error_frac.mean},
            {"error_half_width_frac", scores[i].error_frac.half_width},
            {"tolerance_frac", scored->tolerance_frac},
            {"baseline_frac", scores[i].baseline_frac.mean},
            {"baseline_half_width_frac", scores[i].baseline_frac.half_width},
            {"cross_validated", identified ? paper->cross_validated[i].predicted.mean : NAN},
            {"cross_validated_error_frac", identified ? paper->cross_validated[i].error_frac.mean : NAN},
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
        if (kvc_case_kind_of(scored) == KVC_KIND_POINT && !kvc_case_is_derived(scored) &&
            kvc_score_counts(scored, &paper->scores[i])) {
            fprintf(out, "%s,%s,%.6g,,%.6g\n", scored->id, scored->metric, scored->published,
                    paper->scores[i].predicted.mean);
        }
    }
}
