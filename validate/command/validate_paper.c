/* kvcast validate: runs the cases of a paper and scores them. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/command/validate.h"
#include "scenarios/run/limits.h"
#include "scenarios/run/pool.h"
#include "sim/base/files/data_dir.h"
#include "validate/scoring/aggregate.h"

/* A simulated value without an interval cannot be told from chance. */
enum { REPLICAS_MIN = 5 };

void kvc_validate_replicate(struct kvc_scenario *scenario)
{
    uint64_t *replicas = &scenario->run.replicas;
    *replicas = *replicas > REPLICAS_MIN ? *replicas : REPLICAS_MIN;
}

/* The cases of one paper while they are scored. */
struct scoring {
    struct kvc_paper *paper;
    char list[PATH_MAX];  /* Path of cases.csv. */
    uint32_t *due;        /* Cases to answer, one of each that ask the same. */
    uint32_t due_count;   /* Used entries of `due`. */
    double *memory_bytes; /* Memory that a case needs, by case. */
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

/* Says in which case an error occurred, and where the case and the mistake stand. */
static enum kvc_status name_case(const struct kvc_case *asked, const char *list, enum kvc_status status,
                                 struct kvc_diag *diag)
{
    char place[sizeof(diag->file) + 16] = "", message[sizeof(diag->message)];
    if (status == KVC_OK) {
        return KVC_OK;
    }
    strcpy(message, diag->message);
    if (diag->file[0] != '\0' && strcmp(diag->file, "--set") != 0) {
        int length = snprintf(place, sizeof(place), "%s:", diag->file);
        snprintf(place + length, sizeof(place) - (size_t)length, diag->line > 0 ? "%d: " : " ", diag->line);
    }
    return kvc_diag_fail_at(diag, status, list, asked->line, "case %s: %s%.600s", asked->id, place, message);
}

/* ---- answers ---- */

/* Fills the values of all cases that read a metric of the same capacity, run or prediction. */
static void fill(const struct kvc_cases *cases, const struct kvc_case *asked,
                 const struct kvc_outcome *outcome, const struct kvc_capacity *capacity,
                 struct kvc_interval *values)
{
    for (size_t i = 0; i < cases->count; i++) {
        const struct kvc_case *other = &cases->entry[i];
        if (asks_the_same(other, asked)) {
            values[i] = outcome != NULL ? kvc_outcome_interval(outcome, other->metric)
                                        : kvc_validate_capacity_value(capacity, other->metric);
        }
    }
}

static enum kvc_status answer_capacity(const struct kvc_cases *cases, const struct kvc_case *asked,
                                       const struct kvc_run_options *options, struct kvc_interval *values,
                                       struct kvc_diag *diag)
{
    struct kvc_capacity capacity = {.count = 0};
    enum kvc_status status = kvc_validate_capacity(asked, options, &capacity, diag);
    if (status == KVC_OK) {
        fill(cases, asked, NULL, &capacity, values);
    }
    kvc_capacity_free(&capacity);
    return status;
}

static enum kvc_status answer_outcome(const struct kvc_cases *cases, const struct kvc_case *asked,
                                      const struct kvc_run_options *options, struct kvc_interval *values,
                                      struct kvc_diag *diag)
{
    char path[PATH_MAX];
    struct kvc_loaded *loaded = NULL;
    struct kvc_outcome *outcome = NULL;
    kvc_data_path(asked->scenario, path);
    enum kvc_status status = kvc_validate_load(path, asked->overrides, &loaded, diag);
    if (status == KVC_OK && asked->mode == KVC_CASE_PREDICT) {
        status = kvc_driver_predict(&loaded->scenario, &outcome, diag);
    } else if (status == KVC_OK) {
        kvc_validate_replicate(&loaded->scenario);
        status = kvc_driver_run(&loaded->scenario, options, &outcome, diag);
    }
    if (status == KVC_OK) {
        fill(cases, asked, outcome, NULL, values);
    }
    kvc_outcome_free(outcome);
    kvc_loaded_free(loaded);
    return status;
}

/* Runs in the child. The answer has a place for every case, of which it fills those that ask the same. */
static enum kvc_status answer_task(void *data, uint32_t task, const struct kvc_progress *progress,
                                   void *answer, struct kvc_diag *diag)
{
    const struct scoring *scoring = data;
    const struct kvc_cases *cases = &scoring->paper->cases;
    const struct kvc_case *asked = &cases->entry[scoring->due[task]];
    const struct kvc_run_options options = {.jobs = 1, .progress = progress};
    enum kvc_status status = asked->mode == KVC_CASE_CAPACITY
                                 ? answer_capacity(cases, asked, &options, answer, diag)
                                 : answer_outcome(cases, asked, &options, answer, diag);
    return name_case(asked, scoring->list, status, diag);
}

static double memory_bytes(const void *data, uint32_t task)
{
    const struct scoring *scoring = data;
    return scoring->memory_bytes[scoring->due[task]];
}

static enum kvc_status take(void *data, uint32_t task, const void *answer, struct kvc_diag *diag)
{
    struct scoring *scoring = data;
    struct kvc_paper *paper = scoring->paper;
    const struct kvc_interval *values = answer;
    (void)diag;
    for (size_t i = 0; i < paper->cases.count; i++) {
        if (asks_the_same(&paper->cases.entry[i], &paper->cases.entry[scoring->due[task]])) {
            score_one(&paper->scores[i], &paper->cases.entry[i], values[i]);
        }
    }
    return KVC_OK;
}

/* Several cases run at the same time, each with one replica after the other. */
static enum kvc_status answer_all(struct scoring *scoring, const struct kvc_run_options *options,
                                  struct kvc_diag *diag)
{
    const struct kvc_pool_options pool = {
        .tasks = scoring->due_count,
        .jobs = options->jobs > 0 ? options->jobs : kvc_pool_processors(),
        .answer_bytes = scoring->paper->cases.count * sizeof(struct kvc_interval),
        .noun = "case",
        .data = scoring,
        .body = answer_task,
        .memory_bytes = memory_bytes,
        .available_bytes = kvc_memory_available_bytes(),
        .take = take,
    };
    return kvc_pool_run(&pool, options->progress, diag);
}

/* Scores the cases that follow from others, each of which stands behind its parts. */
static enum kvc_status score_derived(struct kvc_paper *paper, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < paper->cases.count && status == KVC_OK; i++) {
        struct kvc_interval value;
        if (kvc_case_is_derived(&paper->cases.entry[i])) {
            status = paper->cases.entry[i].mode == KVC_CASE_RATIO
                         ? kvc_score_ratio(&paper->cases, i, paper->scores, &value, diag)
                         : kvc_aggregate_value(&paper->cases, i, paper->scores, &value, diag);
            if (status == KVC_OK) {
                score_one(&paper->scores[i], &paper->cases.entry[i], value);
            }
        }
    }
    return status;
}

/* ---- files ---- */

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

/* Loads the scenario of a case, checks it if it is simulated, and finds the memory that it needs. Inputs are
 * checked as well, because ratios are scored. */
static enum kvc_status check_scenario(const struct scoring *scoring, size_t at, struct kvc_diag *diag)
{
    const struct kvc_case *asked = &scoring->paper->cases.entry[at];
    char path[PATH_MAX], overrides[sizeof(asked->overrides)];
    struct kvc_capacity_bounds bounds;
    struct kvc_loaded *loaded = NULL;
    kvc_data_path(asked->scenario, path);
    enum kvc_status status =
        kvc_validate_capacity_bounds(asked->overrides, overrides, sizeof(overrides), &bounds, diag);
    status = status != KVC_OK ? status : kvc_validate_load(path, overrides, &loaded, diag);
    status = name_case(asked, scoring->list, status, diag);
    if (status == KVC_OK && asked->mode != KVC_CASE_PREDICT) {
        status = kvc_validate_check(loaded, overrides, scoring->list, asked->line, diag);
        scoring->memory_bytes[at] = kvc_memory_needed_bytes(&loaded->scenario);
    }
    kvc_loaded_free(loaded);
    return status;
}

/* Lists one of the cases that ask the same, and checks it. */
static enum kvc_status list_due(struct scoring *scoring, struct kvc_diag *diag)
{
    const struct kvc_cases *cases = &scoring->paper->cases;
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < cases->count && status == KVC_OK; i++) {
        bool listed = kvc_case_is_derived(&cases->entry[i]);
        for (uint32_t j = 0; j < scoring->due_count && !listed; j++) {
            listed = asks_the_same(&cases->entry[i], &cases->entry[scoring->due[j]]);
        }
        if (!listed) {
            scoring->due[scoring->due_count++] = (uint32_t)i;
            status = check_scenario(scoring, i, diag);
        }
    }
    return status;
}

/* Reads cases, elasticities and baseline, so that all mistakes in files are found before anything runs. */
static enum kvc_status read_all(struct scoring *scoring, struct kvc_diag *diag)
{
    struct kvc_paper *paper = scoring->paper;
    char path[PATH_MAX];
    kvc_subject_path(paper->subject, "cases.csv", scoring->list);
    enum kvc_status status = kvc_cases_read(scoring->list, &paper->cases, diag);
    if (status != KVC_OK) {
        return status;
    }
    size_t count = paper->cases.count + 1;
    paper->scores = calloc(count, sizeof(*paper->scores));
    paper->moved_by = calloc(count, sizeof(*paper->moved_by));
    scoring->due = calloc(count, sizeof(*scoring->due));
    scoring->memory_bytes = calloc(count, sizeof(*scoring->memory_bytes));
    if (paper->scores == NULL || paper->moved_by == NULL || scoring->due == NULL ||
        scoring->memory_bytes == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %zu cases", paper->cases.count);
    }
    status = read_elasticities(paper, diag);
    status = status != KVC_OK ? status : list_due(scoring, diag);
    kvc_subject_path(paper->subject, "baseline.csv", path);
    return status != KVC_OK ? status : kvc_baseline_read(path, &paper->cases, paper->scores, diag);
}

enum kvc_status kvc_paper_score(const struct kvc_subject *subject, const struct kvc_run_options *options,
                                struct kvc_paper *paper, struct kvc_diag *diag)
{
    struct scoring scoring = {.paper = paper};
    *paper = (struct kvc_paper){.subject = subject};
    enum kvc_status status = read_all(&scoring, diag);
    if (status == KVC_OK) {
        status = answer_all(&scoring, options, diag);
    }
    if (status == KVC_OK) {
        status = score_derived(paper, diag);
    }
    free(scoring.due);
    free(scoring.memory_bytes);
    return status;
}
