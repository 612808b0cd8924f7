/* kvcast validate: predicted against published figures. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/arguments.h"
#include "scenarios/command.h"
#include "scenarios/output/bar.h"
#include "scenarios/output/folder.h"
#include "scenarios/output/partial.h"
#include "scenarios/print.h"
#include "scenarios/run/driver.h"
#include "validate/score.h"

enum { FLAG_UPDATE };

static const struct kvc_flag flags[] = {
    [FLAG_UPDATE] = {"--update-baseline", NULL, NULL, "accept today's errors as the baseline"},
    {0},
};

static const struct kvc_usage usage = {
    .command = "validate",
    .positional = "[SYSTEM]",
    .positional_min = 0,
    .positional_max = 1,
    .help = "Runs the cases of validate/papers/SYSTEM (default: megakv) and compares each figure with the "
            "published one.\n"
            "Exit status 1 when an error is outside its tolerance and worse than the baseline says. With "
            "--out, the\n"
            "folder gets errors.csv, which `kvcast plot -k error` draws.",
    .takes = KVC_TAKES_JOBS | KVC_TAKES_JSON | KVC_TAKES_OUT | KVC_TAKES_QUIET,
    .flags = flags,
};

/* The answers so far, so that cases which read different figures of one run share it. */
struct answers {
    size_t count;
    struct answer {
        char key[512];
        struct kvc_figures model;
        double throughput_mops, mean_us, p95_us, min_us, max_us;
    } * entry;
};

static double figure_of(const struct answer *answer, const char *figure)
{
    const struct {
        const char *name;
        double value;
    } common[] = {
        {"throughput_mops", answer->throughput_mops}, {"latency_mean_us", answer->mean_us},
        {"latency_p95_us", answer->p95_us},           {"latency_min_us", answer->min_us},
        {"latency_max_us", answer->max_us},
    };
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (strcmp(common[i].name, figure) == 0)
            return common[i].value;
    return kvc_figures_get(&answer->model, figure);
}

static void keep(const struct kvc_outcome *outcome, bool predicted, struct answer *answer)
{
    const struct kvc_result *result = &outcome->result;
    answer->model = result->model;
    answer->throughput_mops = result->throughput_mops;
    answer->mean_us = predicted ? result->latency_mean_us : kvc_histogram_mean_ns(&result->latency) / 1e3;
    answer->p95_us =
        predicted ? result->latency_p95_us : kvc_histogram_percentile_ns(&result->latency, 0.95) / 1e3;
    answer->min_us = predicted ? NAN : result->latency.min_ns / 1e3;
    answer->max_us = predicted ? NAN : result->latency.max_ns / 1e3;
}

static enum kvc_status add_overrides(const char *text, struct kvc_overrides *overrides, struct kvc_diag *diag)
{
    char one[256];
    while (*text != '\0') {
        size_t length = strcspn(text, ";");
        snprintf(one, sizeof one, "%.*s", (int)length, text);
        enum kvc_status status = kvc_overrides_parse(overrides, one, diag);
        if (status != KVC_OK)
            return status;
        text += length + (text[length] == ';');
    }
    return KVC_OK;
}

static enum kvc_status answer_case(const struct kvc_case *asked, const struct kvc_drive *drive,
                                   struct answer *answer, struct kvc_diag *diag)
{
    char path[512];
    struct kvc_overrides overrides = {0};
    struct kvc_loaded *loaded = NULL;
    struct kvc_outcome *outcome = NULL;
    snprintf(path, sizeof path, "%s/%s", KVC_SOURCE_DIR, asked->scenario);
    enum kvc_status status = add_overrides(asked->overrides, &overrides, diag);
    if (status == KVC_OK)
        status = kvc_scenario_load(path, &overrides, &loaded, diag);
    if (status == KVC_OK)
        status = asked->mode == KVC_CASE_PREDICT ? kvc_drive_predict(&loaded->scenario, &outcome, diag)
                                                 : kvc_drive_run(&loaded->scenario, drive, &outcome, diag);
    if (status == KVC_OK)
        keep(outcome, asked->mode == KVC_CASE_PREDICT, answer);
    kvc_outcome_free(outcome);
    kvc_loaded_free(loaded);
    kvc_overrides_clear(&overrides);
    return status;
}

/* The case's figure from a run or prediction. */
static enum kvc_status answered(struct answers *answers, const struct kvc_case *asked,
                                const struct kvc_drive *drive, double *value, struct kvc_diag *diag)
{
    struct answer answer = {0};
    snprintf(answer.key, sizeof answer.key, "%d %s %s", (int)asked->mode, asked->scenario, asked->overrides);
    for (size_t i = 0; i < answers->count; i++) {
        if (strcmp(answers->entry[i].key, answer.key) == 0) {
            *value = figure_of(&answers->entry[i], asked->figure);
            return KVC_OK;
        }
    }
    enum kvc_status status = answer_case(asked, drive, &answer, diag);
    if (status != KVC_OK)
        return status;
    struct answer *bigger = realloc(answers->entry, (answers->count + 1) * sizeof *bigger);
    if (bigger == NULL)
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for %zu answers", answers->count + 1);
    answers->entry = bigger;
    answers->entry[answers->count++] = answer;
    *value = figure_of(&answer, asked->figure);
    return KVC_OK;
}

/* "a/b": the quotient of two cases that stand before this one. */
static enum kvc_status quotient(const struct kvc_cases *cases, const struct kvc_case *asked, size_t done,
                                const struct kvc_score *scores, double *value, struct kvc_diag *diag)
{
    const char *slash = strchr(asked->scenario, '/');
    long a = slash != NULL ? kvc_cases_find(cases, asked->scenario, (size_t)(slash - asked->scenario)) : -1;
    long b = slash != NULL ? kvc_cases_find(cases, slash + 1, strlen(slash + 1)) : -1;
    if (a < 0 || b < 0 || (size_t)a >= done || (size_t)b >= done)
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "case %s: found \"%s\", expected two earlier cases as a/b", asked->id,
                             asked->scenario);
    *value = scores[a].predicted / scores[b].predicted;
    return KVC_OK;
}

static enum kvc_status score_all(const struct kvc_cases *cases, const struct kvc_drive *drive,
                                 const struct kvc_progress *progress, struct kvc_score *scores,
                                 struct kvc_diag *diag)
{
    struct answers answers = {0};
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < cases->count && status == KVC_OK; i++) {
        const struct kvc_case *asked = &cases->entry[i];
        double value = NAN;
        if (progress != NULL)
            progress->report(progress->data, asked->id, (double)i / (double)cases->count);
        status = asked->mode == KVC_CASE_RATIO ? quotient(cases, asked, i, scores, &value, diag)
                                               : answered(&answers, asked, drive, &value, diag);
        if (status == KVC_OK)
            scores[i] = kvc_score_case(asked, value, scores[i].baseline_frac);
    }
    free(answers.entry);
    return status;
}

static const char *const roles[] = {"prediction", "equation", "input"};
static const char *const verdicts[] = {"ok", "missed", "REGRESSED"};

static void published_text(const struct kvc_case *scored, char *out, size_t size)
{
    if (!isnan(scored->published))
        snprintf(out, size, "%.5g", scored->published);
    else if (!isnan(scored->low) && !isnan(scored->high))
        snprintf(out, size, "%g .. %g", scored->low, scored->high);
    else
        snprintf(out, size, "%s%g",
                 isnan(scored->low) ? "<= " : ">= ", isnan(scored->low) ? scored->high : scored->low);
}

/* What explains the figures that are missed. */
static void print_lacks(const struct kvc_cases *cases, const struct kvc_score *scores)
{
    struct kvc_grid grid = {.columns = 2};
    for (size_t i = 0; i < cases->count; i++) {
        if (scores[i].verdict == KVC_VERDICT_OK || cases->entry[i].lacks[0] == '\0')
            continue;
        kvc_grid_add(&grid, cases->entry[i].id);
        kvc_grid_add(&grid, cases->entry[i].lacks);
    }
    if (grid.count > 0)
        printf("\nwhat the model lacks where a figure is missed\n");
    kvc_grid_print(&grid, 2, stdout);
}

static void print_table(const struct kvc_cases *cases, const struct kvc_score *scores)
{
    struct kvc_grid grid = {.columns = 8};
    static const char *const head[] = {"case",  "figure",    "predicted", "published",
                                       "error", "tolerance", "verdict",   "source"};
    for (size_t i = 0; i < grid.columns; i++)
        kvc_grid_add(&grid, head[i]);
    for (size_t i = 0; i < cases->count; i++) {
        const struct kvc_case *scored = &cases->entry[i];
        char text[64];
        bool input = scored->role == KVC_CASE_INPUT;
        kvc_grid_add(&grid, scored->id);
        kvc_grid_add(&grid, scored->figure);
        snprintf(text, sizeof text, "%.5g", scores[i].predicted);
        kvc_grid_add(&grid, text);
        published_text(scored, text, sizeof text);
        kvc_grid_add(&grid, input ? "-" : text);
        snprintf(text, sizeof text, "%+.1f %%", 100 * scores[i].error_frac);
        kvc_grid_add(&grid, input ? "-" : text);
        snprintf(text, sizeof text, "%g %%", 100 * scored->tolerance_frac);
        kvc_grid_add(&grid, input ? "-" : text);
        kvc_grid_add(&grid, input ? "-" : verdicts[scores[i].verdict]);
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
    printf("\nno input was fitted to a figure that is scored\n");
}

static json_t *document_of(const char *system, const struct kvc_cases *cases, const struct kvc_score *scores)
{
    json_t *list = json_array();
    for (size_t i = 0; i < cases->count; i++) {
        const struct kvc_case *scored = &cases->entry[i];
        json_t *entry =
            json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "case", scored->id, "role", roles[scored->role],
                      "scenario", scored->scenario, "overrides", scored->overrides, "figure", scored->figure,
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
        for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++)
            json_object_set_new(entry, numbers[j].name,
                                isfinite(numbers[j].value) ? json_real(numbers[j].value) : json_null());
        json_object_set_new(entry, "verdict", json_string(verdicts[scores[i].verdict]));
        json_array_append_new(list, entry);
    }
    return json_pack("{s:s, s:s, s:o}", "schema", "kvcast.validation/1", "system", system, "cases", list);
}

/* errors.csv of the folder; nothing is opened without --out. */
static enum kvc_status open_errors(const char *folder, struct kvc_partial *errors, struct kvc_diag *diag)
{
    char path[512];
    if (folder == NULL)
        return KVC_OK;
    snprintf(path, sizeof path, "%s/errors.csv", folder);
    enum kvc_status status = kvc_folder_create(folder, diag);
    return status != KVC_OK ? status : kvc_partial_open(errors, path, diag);
}

/* Points for `kvcast plot -k error`: predictions with a published value, ratios excepted. */
static enum kvc_status write_errors(struct kvc_partial *errors, const struct kvc_cases *cases,
                                    const struct kvc_score *scores, struct kvc_diag *diag)
{
    if (errors->file == NULL)
        return KVC_OK;
    fprintf(errors->file, "case,published,predicted\n");
    for (size_t i = 0; i < cases->count; i++)
        if (cases->entry[i].role == KVC_CASE_PREDICTION && cases->entry[i].mode != KVC_CASE_RATIO &&
            !isnan(cases->entry[i].published))
            fprintf(errors->file, "%s,%.6g,%.6g\n", cases->entry[i].id, cases->entry[i].published,
                    scores[i].predicted);
    return kvc_partial_commit(errors, diag);
}

static enum kvc_status score_with_bar(const struct kvc_arguments *arguments, const struct kvc_cases *cases,
                                      struct kvc_score *scores, struct kvc_diag *diag)
{
    struct kvc_bar bar;
    struct kvc_drive drive = {.jobs = arguments->jobs};
    enum kvc_status status = score_all(cases, &drive, kvc_bar_open(&bar, arguments->quiet), scores, diag);
    kvc_bar_close(&bar);
    return status;
}

static enum kvc_status validate(const struct kvc_arguments *arguments, const char *system,
                                struct kvc_cases *cases, struct kvc_score **scores, struct kvc_diag *diag)
{
    char path[512], baseline[512];
    struct kvc_partial errors = {0};
    snprintf(path, sizeof path, "%s/validate/papers/%s/cases.csv", KVC_SOURCE_DIR, system);
    snprintf(baseline, sizeof baseline, "%s/validate/papers/%s/baseline.csv", KVC_SOURCE_DIR, system);
    enum kvc_status status = kvc_cases_read(path, cases, diag);
    if (status != KVC_OK)
        return status;
    *scores = calloc(cases->count + 1, sizeof **scores);
    if (*scores == NULL)
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for %zu cases", cases->count);
    status = kvc_baseline_read(baseline, cases, *scores, diag);
    if (status == KVC_OK)
        status = open_errors(arguments->out, &errors, diag);
    if (status == KVC_OK)
        status = score_with_bar(arguments, cases, *scores, diag);
    if (status == KVC_OK && arguments->flag[FLAG_UPDATE] != NULL)
        status = kvc_baseline_write(baseline, cases, *scores, diag);
    if (status == KVC_OK)
        status = write_errors(&errors, cases, *scores, diag);
    kvc_partial_discard(&errors);
    return status;
}

int kvc_command_validate(int argc, char **argv)
{
    struct kvc_arguments arguments;
    struct kvc_cases cases = {0};
    struct kvc_score *scores = NULL;
    struct kvc_diag diag = {0};
    int exit_status;
    if (!kvc_arguments_parse(argc, argv, &usage, &arguments, &exit_status))
        return exit_status;
    const char *system = arguments.positional_count > 0 ? arguments.positional[0] : "megakv";
    enum kvc_status status = validate(&arguments, system, &cases, &scores, &diag);
    if (status == KVC_OK) {
        if (arguments.json != NULL)
            status = (enum kvc_status)kvc_print_json(document_of(system, &cases, scores), arguments.json);
        if (arguments.json == NULL || strcmp(arguments.json, "-") != 0)
            print_table(&cases, scores);
    } else {
        kvc_print_failure(&diag);
    }
    for (size_t i = 0; status == KVC_OK && i < cases.count && arguments.flag[FLAG_UPDATE] == NULL; i++)
        if (scores[i].verdict == KVC_VERDICT_REGRESSED)
            status = KVC_ERR_REGRESSED;
    free(scores);
    kvc_cases_free(&cases);
    kvc_arguments_free(&arguments);
    return (int)status;
}
