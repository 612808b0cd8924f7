/* kvcast validate: runs the cases of a paper and scores them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/cli/validate.h"
#include "sim/base/data_dir.h"

/* The results so far, so that cases that read different metrics of one run share it. */
struct answers {
    size_t count;
    struct answer {
        char key[512];
        struct kvc_case_values values;
    } * entry;
};

static enum kvc_status answer_case(const struct kvc_case *asked, const struct kvc_run_options *options,
                                   struct kvc_case_values *values, struct kvc_diag *diag)
{
    char path[PATH_MAX];
    struct kvc_loaded *loaded = NULL;
    struct kvc_outcome *outcome = NULL;
    if (asked->mode == KVC_CASE_CAPACITY) {
        return kvc_validate_capacity(asked, options, values, diag);
    }
    kvc_data_path(asked->scenario, path);
    enum kvc_status status = kvc_validate_load(path, asked->overrides, &loaded, diag);
    if (status == KVC_OK) {
        status = asked->mode == KVC_CASE_PREDICT ? kvc_driver_predict(&loaded->scenario, &outcome, diag)
                                                 : kvc_driver_run(&loaded->scenario, options, &outcome, diag);
    }
    if (status == KVC_OK) {
        kvc_case_values_of(&outcome->result, asked->mode == KVC_CASE_PREDICT, values);
    }
    kvc_outcome_free(outcome);
    kvc_loaded_free(loaded);
    return status;
}

/* Reads the case's metric from its run or prediction, which may have been made for an earlier case. */
static enum kvc_status answered(struct answers *answers, const struct kvc_case *asked,
                                const struct kvc_run_options *options, double *value, struct kvc_diag *diag)
{
    struct answer answer = {0};
    snprintf(answer.key, sizeof(answer.key), "%d %s %s", (int)asked->mode, asked->scenario, asked->overrides);
    for (size_t i = 0; i < answers->count; i++) {
        if (strcmp(answers->entry[i].key, answer.key) == 0) {
            *value = kvc_case_values_get(&answers->entry[i].values, asked->metric);
            return KVC_OK;
        }
    }
    enum kvc_status status = answer_case(asked, options, &answer.values, diag);
    if (status != KVC_OK) {
        return status;
    }
    struct answer *bigger = realloc(answers->entry, (answers->count + 1) * sizeof(*bigger));
    if (bigger == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %zu answers", answers->count + 1);
    }
    answers->entry = bigger;
    answers->entry[answers->count++] = answer;
    *value = kvc_case_values_get(&answer.values, asked->metric);
    return KVC_OK;
}

static enum kvc_status score_all(const struct kvc_run_options *options, struct kvc_paper *paper,
                                 struct kvc_diag *diag)
{
    struct answers answers = {0};
    const struct kvc_cases *cases = &paper->cases;
    const struct kvc_progress *progress = options->progress;
    const struct kvc_run_options silent = {.jobs = options->jobs};
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < cases->count && status == KVC_OK; i++) {
        const struct kvc_case *asked = &cases->entry[i];
        struct kvc_score *score = &paper->scores[i];
        double value = NAN;
        kvc_progress_report(progress, asked->id, (double)i / (double)cases->count);
        status = asked->mode == KVC_CASE_RATIO ? kvc_score_ratio(cases, i, paper->scores, &value, diag)
                                               : answered(&answers, asked, &silent, &value, diag);
        if (status == KVC_OK) {
            *score = kvc_score_case(asked, value, score->baseline_frac);
        }
    }
    free(answers.entry);
    return status;
}

void kvc_paper_free(struct kvc_paper *paper)
{
    kvc_cases_free(&paper->cases);
    free(paper->scores);
    paper->scores = NULL;
}

enum kvc_status kvc_paper_score(const struct kvc_subject *subject, const struct kvc_run_options *options,
                                struct kvc_paper *paper, struct kvc_diag *diag)
{
    char path[PATH_MAX];
    *paper = (struct kvc_paper){.subject = subject};
    kvc_subject_path(subject, "cases.csv", path);
    enum kvc_status status = kvc_cases_read(path, &paper->cases, diag);
    if (status != KVC_OK) {
        return status;
    }
    paper->scores = calloc(paper->cases.count + 1, sizeof(*paper->scores));
    if (paper->scores == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %zu cases", paper->cases.count);
    }
    kvc_subject_path(subject, "baseline.csv", path);
    status = kvc_baseline_read(path, &paper->cases, paper->scores, diag);
    return status != KVC_OK ? status : score_all(options, paper, diag);
}
