/* kvcast validate: runs the cases of a paper and scores them. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/cli/validate.h"
#include "sim/base/data_dir.h"

/* A simulated value without an interval cannot be told from chance. */
enum { REPLICAS_MIN = 5 };

void kvc_validate_replicate(struct kvc_loaded *loaded)
{
    uint64_t *replicas = &loaded->scenario.run.replicas;
    *replicas = *replicas > REPLICAS_MIN ? *replicas : REPLICAS_MIN;
}

/* The cases of one paper while they are scored. */
struct scoring {
    const struct kvc_run_options *options;
    struct kvc_paper *paper;
    bool *answered; /* By case. */
};

static bool asks_the_same(const struct kvc_case *a, const struct kvc_case *b)
{
    return a->mode == b->mode && strcmp(a->scenario, b->scenario) == 0 &&
           strcmp(a->overrides, b->overrides) == 0;
}

static void score_one(struct kvc_score *score, const struct kvc_case *scored, struct kvc_interval value)
{
    bool not_counted = score->not_counted;
    *score = kvc_score_case(scored, value, score->baseline_frac);
    score->not_counted = not_counted;
}

/* Scores all cases that read a metric of the same capacity, run or prediction. */
static void take(struct scoring *scoring, size_t first, const struct kvc_outcome *outcome,
                 const struct kvc_capacity *capacity)
{
    const struct kvc_cases *cases = &scoring->paper->cases;
    for (size_t i = first; i < cases->count; i++) {
        const struct kvc_case *asked = &cases->entry[i];
        if (!asks_the_same(asked, &cases->entry[first])) {
            continue;
        }
        struct kvc_score *score = &scoring->paper->scores[i];
        struct kvc_interval value = outcome != NULL ? kvc_outcome_interval(outcome, asked->metric)
                                                    : kvc_validate_capacity_value(capacity, asked->metric);
        score_one(score, asked, value);
        scoring->answered[i] = true;
    }
}

static enum kvc_status answer_capacity(struct scoring *scoring, size_t at, struct kvc_diag *diag)
{
    struct kvc_capacity capacity = {.count = 0};
    enum kvc_status status =
        kvc_validate_capacity(&scoring->paper->cases.entry[at], scoring->options, &capacity, diag);
    if (status == KVC_OK) {
        take(scoring, at, NULL, &capacity);
    }
    kvc_capacity_free(&capacity);
    return status;
}

static enum kvc_status answer_outcome(struct scoring *scoring, size_t at, struct kvc_diag *diag)
{
    const struct kvc_case *asked = &scoring->paper->cases.entry[at];
    char path[PATH_MAX];
    struct kvc_loaded *loaded = NULL;
    struct kvc_outcome *outcome = NULL;
    kvc_data_path(asked->scenario, path);
    enum kvc_status status = kvc_validate_load(path, asked->overrides, &loaded, diag);
    if (status == KVC_OK && asked->mode == KVC_CASE_PREDICT) {
        status = kvc_driver_predict(&loaded->scenario, &outcome, diag);
    } else if (status == KVC_OK) {
        kvc_validate_replicate(loaded);
        status = kvc_driver_run(&loaded->scenario, scoring->options, &outcome, diag);
    }
    if (status == KVC_OK) {
        take(scoring, at, outcome, NULL);
    }
    kvc_outcome_free(outcome);
    kvc_loaded_free(loaded);
    return status;
}

static enum kvc_status score_ratio(struct scoring *scoring, size_t at, struct kvc_diag *diag)
{
    struct kvc_paper *paper = scoring->paper;
    struct kvc_interval value;
    enum kvc_status status = kvc_score_ratio(&paper->cases, at, paper->scores, &value, diag);
    if (status == KVC_OK) {
        score_one(&paper->scores[at], &paper->cases.entry[at], value);
    }
    return status;
}

static enum kvc_status score_all(struct scoring *scoring, const struct kvc_progress *progress,
                                 struct kvc_diag *diag)
{
    const struct kvc_cases *cases = &scoring->paper->cases;
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < cases->count && status == KVC_OK; i++) {
        const struct kvc_case *asked = &cases->entry[i];
        kvc_progress_report(progress, asked->id, (double)i / (double)cases->count);
        if (asked->mode == KVC_CASE_RATIO) {
            status = score_ratio(scoring, i, diag);
        } else if (!scoring->answered[i]) {
            status = asked->mode == KVC_CASE_CAPACITY ? answer_capacity(scoring, i, diag)
                                                      : answer_outcome(scoring, i, diag);
        }
    }
    return status;
}

void kvc_paper_free(struct kvc_paper *paper)
{
    kvc_cases_free(&paper->cases);
    free(paper->scores);
    free(paper->moved_by);
    paper->scores = NULL;
    paper->moved_by = NULL;
}

/* Reads what moves the cases. Without the file nobody knows which of them say something about the model. */
static enum kvc_status read_elasticities(struct kvc_paper *paper, struct kvc_diag *diag)
{
    char path[PATH_MAX], message[sizeof(diag->message)];
    kvc_subject_path(paper->subject, "elasticities.csv", path);
    enum kvc_status status = kvc_elasticities_read(path, &paper->cases, paper->moved_by, diag);
    if (status != KVC_OK) {
        strcpy(message, diag->message);
        return kvc_diag_fail(diag, status, "%.900s; kvcast validate %s --elasticities writes the file",
                             message, paper->subject->name);
    }
    for (size_t i = 0; i < paper->cases.count; i++) {
        paper->scores[i].not_counted = kvc_case_kind_of(&paper->cases.entry[i]) <= KVC_KIND_CLAIM &&
                                       kvc_moved_by_nothing_or_input(&paper->moved_by[i]);
    }
    return KVC_OK;
}

/* Loads the scenarios of all simulated cases. Inputs are checked as well, because ratios are scored. */
static enum kvc_status check_scenarios(const struct kvc_cases *cases, const char *list, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < cases->count && status == KVC_OK; i++) {
        const struct kvc_case *asked = &cases->entry[i];
        char path[PATH_MAX], overrides[sizeof(asked->overrides)];
        struct kvc_capacity_bounds bounds;
        struct kvc_loaded *loaded = NULL;
        if (asked->mode != KVC_CASE_RUN && asked->mode != KVC_CASE_CAPACITY) {
            continue;
        }
        kvc_data_path(asked->scenario, path);
        status = kvc_validate_capacity_bounds(asked->overrides, overrides, sizeof(overrides), &bounds, diag);
        status = status != KVC_OK ? status : kvc_validate_load(path, overrides, &loaded, diag);
        status = status != KVC_OK ? status : kvc_validate_check(loaded, overrides, list, asked->line, diag);
        kvc_loaded_free(loaded);
    }
    return status;
}

/* Reads cases, elasticities and baseline, so that all mistakes in files are found before anything runs. */
static enum kvc_status read_all(struct kvc_paper *paper, struct kvc_diag *diag)
{
    char path[PATH_MAX];
    kvc_subject_path(paper->subject, "cases.csv", path);
    enum kvc_status status = kvc_cases_read(path, &paper->cases, diag);
    if (status != KVC_OK) {
        return status;
    }
    paper->scores = calloc(paper->cases.count + 1, sizeof(*paper->scores));
    paper->moved_by = calloc(paper->cases.count + 1, sizeof(*paper->moved_by));
    if (paper->scores == NULL || paper->moved_by == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %zu cases", paper->cases.count);
    }
    status = read_elasticities(paper, diag);
    status = status != KVC_OK ? status : check_scenarios(&paper->cases, path, diag);
    kvc_subject_path(paper->subject, "baseline.csv", path);
    return status != KVC_OK ? status : kvc_baseline_read(path, &paper->cases, paper->scores, diag);
}

enum kvc_status kvc_paper_score(const struct kvc_subject *subject, const struct kvc_run_options *options,
                                struct kvc_paper *paper, struct kvc_diag *diag)
{
    *paper = (struct kvc_paper){.subject = subject};
    enum kvc_status status = read_all(paper, diag);
    if (status != KVC_OK) {
        return status;
    }
    const struct kvc_run_options silent = {.jobs = options->jobs};
    struct scoring scoring = {
        .options = &silent, .paper = paper, .answered = calloc(paper->cases.count + 1, sizeof(bool))};
    if (scoring.answered == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %zu cases", paper->cases.count);
    }
    status = score_all(&scoring, options->progress, diag);
    free(scoring.answered);
    return status;
}
