/* Runs the cases of a paper and scores them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/cli/validate.h"
#include "sim/base/data_dir.h"

/* The answers so far, so that cases which read different figures of one run share it. */
struct answers {
    size_t count;
    struct answer {
        char key[512];
        struct kvc_metrics model, kernel;
        double throughput_mops, mean_us, p95_us, p99_us, min_us, max_us, watts;
    } * entry;
};

static double metric_of(const struct answer *answer, const char *metric)
{
    const struct {
        const char *name;
        double value;
    } common[] = {
        {"throughput_mops", answer->throughput_mops},
        {"latency_mean_us", answer->mean_us},
        {"latency_p95_us", answer->p95_us},
        {"latency_min_us", answer->min_us},
        {"latency_max_us", answer->max_us},
        {"latency_p99_us", answer->p99_us},
        {"watts_mean", answer->watts},
        {"kops_per_watt", answer->throughput_mops * 1e3 / answer->watts},
    };
    for (size_t i = 0; i < sizeof(common) / sizeof(*common); i++) {
        if (strcmp(common[i].name, metric) == 0) {
            return common[i].value;
        }
    }
    double value = kvc_metrics_get(&answer->model, metric);
    return isnan(value) ? kvc_metrics_get(&answer->kernel, metric) : value;
}

static void keep(const struct kvc_outcome *outcome, bool predicted, struct answer *answer)
{
    const struct kvc_result *result = &outcome->result;
    answer->model = result->model;
    answer->kernel = result->kernel;
    answer->throughput_mops = result->throughput_mops;
    answer->watts = result->watts_mean;
    answer->mean_us = predicted ? result->latency_mean_us : kvc_histogram_mean_ns(&result->latency) / 1e3;
    answer->p95_us =
        predicted ? result->latency_p95_us : kvc_histogram_percentile_ns(&result->latency, 0.95) / 1e3;
    answer->p99_us = predicted ? NAN : kvc_histogram_percentile_ns(&result->latency, 0.99) / 1e3;
    answer->min_us = predicted ? NAN : result->latency.min_ns / 1e3;
    answer->max_us = predicted ? NAN : result->latency.max_ns / 1e3;
}

static enum kvc_status answer_case(const struct kvc_case *asked, const struct kvc_run_options *drive,
                                   struct answer *answer, struct kvc_diag *diag)
{
    char path[PATH_MAX];
    struct kvc_loaded *loaded = NULL;
    struct kvc_outcome *outcome = NULL;
    kvc_data_path(asked->scenario, path);
    enum kvc_status status = kvc_validate_load(path, asked->overrides, &loaded, diag);
    if (status == KVC_OK) {
        status = asked->mode == KVC_CASE_PREDICT ? kvc_driver_predict(&loaded->scenario, &outcome, diag)
                                                 : kvc_driver_run(&loaded->scenario, drive, &outcome, diag);
    }
    if (status == KVC_OK) {
        keep(outcome, asked->mode == KVC_CASE_PREDICT, answer);
    }
    kvc_outcome_free(outcome);
    kvc_loaded_free(loaded);
    return status;
}

/* The case's figure from a run or prediction. */
static enum kvc_status answered(struct answers *answers, const struct kvc_case *asked,
                                const struct kvc_run_options *drive, double *value, struct kvc_diag *diag)
{
    struct answer answer = {0};
    snprintf(answer.key, sizeof(answer.key), "%d %s %s", (int)asked->mode, asked->scenario, asked->overrides);
    for (size_t i = 0; i < answers->count; i++) {
        if (strcmp(answers->entry[i].key, answer.key) == 0) {
            *value = metric_of(&answers->entry[i], asked->metric);
            return KVC_OK;
        }
    }
    enum kvc_status status = answer_case(asked, drive, &answer, diag);
    if (status != KVC_OK) {
        return status;
    }
    struct answer *bigger = realloc(answers->entry, (answers->count + 1) * sizeof(*bigger));
    if (bigger == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for %zu answers", answers->count + 1);
    }
    answers->entry = bigger;
    answers->entry[answers->count++] = answer;
    *value = metric_of(&answer, asked->metric);
    return KVC_OK;
}

/* "a/b": the quotient of two cases that stand before this one. */
static enum kvc_status quotient(const struct kvc_cases *cases, const struct kvc_case *asked, size_t done,
                                const struct kvc_score *scores, double *value, struct kvc_diag *diag)
{
    const char *slash = strchr(asked->scenario, '/');
    long a = slash != NULL ? kvc_cases_find(cases, asked->scenario, (size_t)(slash - asked->scenario)) : -1;
    long b = slash != NULL ? kvc_cases_find(cases, slash + 1, strlen(slash + 1)) : -1;
    if (a < 0 || b < 0 || (size_t)a >= done || (size_t)b >= done) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "case %s: found \"%s\", expected two earlier cases as a/b", asked->id,
                             asked->scenario);
    }
    *value = scores[a].predicted / scores[b].predicted;
    return KVC_OK;
}

static enum kvc_status score_all(const struct kvc_run_options *drive, struct kvc_paper *paper,
                                 struct kvc_diag *diag)
{
    struct answers answers = {0};
    const struct kvc_cases *cases = &paper->cases;
    const struct kvc_progress *progress = drive->progress;
    const struct kvc_run_options silent = {.jobs = drive->jobs};
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < cases->count && status == KVC_OK; i++) {
        const struct kvc_case *asked = &cases->entry[i];
        struct kvc_score *score = &paper->scores[i];
        double value = NAN;
        kvc_progress_report(progress, asked->id, (double)i / (double)cases->count);
        status = asked->mode == KVC_CASE_RATIO ? quotient(cases, asked, i, paper->scores, &value, diag)
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

enum kvc_status kvc_paper_score(const struct kvc_subject *subject, const struct kvc_run_options *drive,
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
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for %zu cases", paper->cases.count);
    }
    kvc_subject_path(subject, "baseline.csv", path);
    status = kvc_baseline_read(path, &paper->cases, paper->scores, diag);
    return status != KVC_OK ? status : score_all(drive, paper, diag);
}
