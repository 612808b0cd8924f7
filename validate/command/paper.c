/* kvcast validate: runs the cases of a paper and scores them. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/run/capacity.h"
#include "scenarios/run/limits.h"
#include "scenarios/run/pool.h"
#include "sim/base/files/data_dir.h"
#include "validate/command/validate.h"

/* A simulated value without an interval cannot be told from chance. A case begins with three replicas, and
 * two more follow where its interval is wide. */
enum { REPLICAS_FIRST = 3, REPLICAS_ALL = 5 };

/* An interval is wide if half of it, relative to the value, is larger than this. */
static const double narrow_frac = 0.01;

static void replicate(struct kvc_scenario *scenario, uint64_t least)
{
    uint64_t *replicas = &scenario->run.replicas;
    *replicas = *replicas > least ? *replicas : least;
}

void kvc_validate_replicate(struct kvc_scenario *scenario)
{
    replicate(scenario, REPLICAS_ALL);
}

/* ---- cases whose value is a capacity ---- */

static const double precision_default_frac = 0.02;

/* Half of the default, so that a paper with many cases stays affordable. */
enum { LONGEST = 4 };

/* Parses one override of the case if it is one of the search. Sets *taken if so. */
static enum kvc_status take_bound(const char *text, struct kvc_capacity_bounds *bounds, bool *taken,
                                  struct kvc_diag *diag)
{
    static const struct {
        const char *key;
        enum kvc_status (*parse)(const char *, struct kvc_capacity_bounds *, struct kvc_diag *);
    } keys[] = {{"capacity.loss=", kvc_capacity_parse_loss},
                {"capacity.latency=", kvc_capacity_parse_latency},
                {"capacity.precision=", kvc_capacity_parse_precision}};
    *taken = strncmp(text, "capacity.", strlen("capacity.")) == 0;
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        if (strncmp(text, keys[i].key, strlen(keys[i].key)) == 0) {
            return keys[i].parse(text + strlen(keys[i].key), bounds, diag);
        }
    }
    return !*taken ? KVC_OK
                   : kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                   "found \"%.40s\", allowed: capacity.loss, capacity.latency and "
                                   "capacity.precision",
                                   text);
}

enum kvc_status kvc_validate_capacity_bounds(const char *overrides, char *scenario, size_t size,
                                             struct kvc_capacity_bounds *bounds, struct kvc_diag *diag)
{
    char one[256];
    size_t used = 0;
    bool taken;
    enum kvc_status status = KVC_OK;
    *bounds = kvc_capacity_bounds_default;
    bounds->precision_frac = precision_default_frac;
    scenario[0] = '\0';
    while (*overrides != '\0' && status == KVC_OK) {
        size_t length = strcspn(overrides, ";");
        snprintf(one, sizeof(one), "%.*s", (int)length, overrides);
        status = take_bound(one, bounds, &taken, diag);
        if (!taken) {
            used += (size_t)snprintf(scenario + used, size - used, "%s%s", used > 0 ? ";" : "", one);
        }
        overrides += length + (overrides[length] == ';');
    }
    return status;
}

/* Returns the value of a metric of a capacity: throughput_mops, latency_mean_us, latency_p95_us or
 * latency_p99_us with its 95 % interval, at the highest load that all replicas serve, or capacity_low_mops,
 * capacity_high_mops, closed_form_mops or closed_form_limit_mops. Other metrics are NaN. */
static struct kvc_interval capacity_value(const struct kvc_capacity *capacity, const char *metric)
{
    /* A search without a latency curve ends at such a load, or fails. */
    const struct kvc_capacity_point *sure = &capacity->point[capacity->sure];
    const struct {
        const char *name;
        struct kvc_interval value;
    } values[] = {
        {"throughput_mops", {capacity->mean_mops, (capacity->high_mops - capacity->low_mops) / 2}},
        {"latency_mean_us", sure->latency[KVC_CAPACITY_MEAN]},
        {"latency_p95_us", sure->latency[KVC_CAPACITY_P95]},
        {"latency_p99_us", sure->latency[KVC_CAPACITY_P99]},
        {"capacity_low_mops", {capacity->low_mops, NAN}},
        {"capacity_high_mops", {capacity->high_mops, NAN}},
        {"closed_form_mops", {capacity->closed_form_mops, NAN}},
        {"closed_form_limit_mops", {capacity->closed_form_limit_mops, NAN}},
    };
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        if (strcmp(values[i].name, metric) == 0) {
            return values[i].value;
        }
    }
    return (struct kvc_interval){NAN, NAN};
}

/* Finds the simulated capacity of a case of mode "capacity". Without overrides, nothing may be lost and the
 * precision is 2 %. The search has its own number of replicas (scenarios/run/capacity_probe.h). The caller
 * frees *capacity, which must be zeroed before, whatever this returns. */
static enum kvc_status find_capacity(const struct kvc_case *asked, const struct kvc_run_options *options,
                                     struct kvc_capacity *capacity, struct kvc_diag *diag)
{
    char path[PATH_MAX], overrides[sizeof(asked->overrides)];
    struct kvc_capacity_options search = {
        .no_curve = true, .longest = LONGEST, .jobs = options->jobs, .progress = options->progress};
    struct kvc_loaded *loaded = NULL;
    kvc_data_path(asked->scenario, path);
    enum kvc_status status =
        kvc_validate_capacity_bounds(asked->overrides, overrides, sizeof(overrides), &search.bounds, diag);
    if (status == KVC_OK) {
        status = kvc_validate_load(path, overrides, &loaded, diag);
    }
    if (status == KVC_OK) {
        status = kvc_capacity_find(loaded, &search, capacity, diag);
    }
    kvc_loaded_free(loaded);
    return status;
}

/* ---- scoring ---- */

/* The cases of one paper while they are scored. */
struct scoring {
    struct kvc_paper *paper;
    char list[PATH_MAX];  /* Path of cases.csv. */
    uint32_t *due;        /* Cases to answer: one of each group that asks the same. */
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

/* Adds the case in which an error occurred, and the places of the case and of the mistake. */
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

/* What a case asked for: a prediction or replicas, more replicas or NULL, or instead a capacity. */
struct answer {
    const struct kvc_outcome *outcome, *more;
    const struct kvc_capacity *capacity;
};

static struct kvc_interval value_of(const struct answer *answer, const char *metric)
{
    double value[REPLICAS_ALL];
    uint32_t count = 0;
    if (answer->outcome == NULL) {
        return capacity_value(answer->capacity, metric);
    }
    if (answer->more == NULL) {
        return kvc_outcome_interval(answer->outcome, metric);
    }
    for (uint32_t i = 0; i < answer->outcome->replicas; i++) {
        value[count++] = kvc_outcome_value(answer->outcome, i, metric);
    }
    for (uint32_t i = 0; i < answer->more->replicas; i++) {
        value[count++] = kvc_outcome_value(answer->more, i, metric);
    }
    return kvc_interval_of(value, count);
}

/* Fills the values of all cases that read a metric of the same answer. Returns whether all their intervals
 * are narrow. */
static bool fill(const struct kvc_cases *cases, const struct kvc_case *asked, const struct answer *answer,
                 struct kvc_interval *values)
{
    bool narrow = true;
    for (size_t i = 0; i < cases->count; i++) {
        const struct kvc_case *other = &cases->entry[i];
        if (asks_the_same(other, asked)) {
            values[i] = value_of(answer, other->metric);
            narrow &= values[i].half_width <= narrow_frac * fabs(values[i].mean);
        }
    }
    return narrow;
}

static enum kvc_status answer_capacity(const struct kvc_cases *cases, const struct kvc_case *asked,
                                       const struct kvc_run_options *options, struct kvc_interval *values,
                                       struct kvc_diag *diag)
{
    struct kvc_capacity capacity = {.count = 0};
    enum kvc_status status = find_capacity(asked, options, &capacity, diag);
    if (status == KVC_OK) {
        fill(cases, asked, &(struct answer){.capacity = &capacity}, values);
    }
    kvc_capacity_free(&capacity);
    return status;
}

/* Runs the first replicas, and the others if they are needed. */
static enum kvc_status simulate(const struct kvc_cases *cases, const struct kvc_case *asked,
                                struct kvc_scenario *scenario, const struct kvc_run_options *options,
                                struct kvc_interval *values, struct kvc_diag *diag)
{
    struct kvc_outcome *first = NULL, *more = NULL;
    struct kvc_run_options others = *options;
    replicate(scenario, REPLICAS_FIRST);
    enum kvc_status status = kvc_driver_run(scenario, options, &first, diag);
    bool enough = status != KVC_OK || fill(cases, asked, &(struct answer){.outcome = first}, values) ||
                  first->replicas >= REPLICAS_ALL;
    if (!enough) {
        others.first_replica = first->replicas;
        scenario->run.replicas = REPLICAS_ALL - first->replicas;
        status = kvc_driver_run(scenario, &others, &more, diag);
    }
    if (more != NULL) {
        fill(cases, asked, &(struct answer){.outcome = first, .more = more}, values);
    }
    kvc_outcome_free(first);
    kvc_outcome_free(more);
    return status;
}

static enum kvc_status predict(const struct kvc_cases *cases, const struct kvc_case *asked,
                               const struct kvc_scenario *scenario, struct kvc_interval *values,
                               struct kvc_diag *diag)
{
    struct kvc_outcome *outcome = NULL;
    enum kvc_status status = kvc_driver_predict(scenario, &outcome, diag);
    if (status == KVC_OK) {
        fill(cases, asked, &(struct answer){.outcome = outcome}, values);
    }
    kvc_outcome_free(outcome);
    return status;
}

static enum kvc_status answer_outcome(const struct kvc_cases *cases, const struct kvc_case *asked,
                                      const struct kvc_run_options *options, struct kvc_interval *values,
                                      struct kvc_diag *diag)
{
    char path[PATH_MAX];
    struct kvc_loaded *loaded = NULL;
    kvc_data_path(asked->scenario, path);
    enum kvc_status status = kvc_validate_load(path, asked->overrides, &loaded, diag);
    if (status == KVC_OK) {
        status = asked->mode == KVC_CASE_PREDICT
                     ? predict(cases, asked, &loaded->scenario, values, diag)
                     : simulate(cases, asked, &loaded->scenario, options, values, diag);
    }
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

/* Scores the cases that follow from others, which are listed after their parts. */
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

/* Reads the elasticities of the cases. Without the file, it is unknown which cases test the model. */
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

enum kvc_status kvc_paper_read(const struct kvc_subject *subject, struct kvc_paper *paper,
                               struct kvc_diag *diag)
{
    char path[PATH_MAX];
    *paper = (struct kvc_paper){.subject = subject};
    kvc_subject_path(subject, "cases.csv", path);
    enum kvc_status status = kvc_cases_read(path, &paper->cases, diag);
    if (status != KVC_OK) {
        return status;
    }
    size_t count = paper->cases.count + 1;
    paper->scores = calloc(count, sizeof(*paper->scores));
    paper->moved_by = calloc(count, sizeof(*paper->moved_by));
    if (paper->scores == NULL || paper->moved_by == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %zu cases", paper->cases.count);
    }
    status = read_elasticities(paper, diag);
    kvc_subject_path(subject, "baseline.csv", path);
    return status != KVC_OK ? status : kvc_baseline_read(path, &paper->cases, paper->scores, diag);
}

/* Reads and checks everything, so that all mistakes in files are found before anything runs. */
static enum kvc_status read_all(struct scoring *scoring, const struct kvc_subject *subject,
                                struct kvc_diag *diag)
{
    enum kvc_status status = kvc_paper_read(subject, scoring->paper, diag);
    if (status != KVC_OK) {
        return status;
    }
    size_t count = scoring->paper->cases.count + 1;
    kvc_subject_path(subject, "cases.csv", scoring->list);
    scoring->due = calloc(count, sizeof(*scoring->due));
    scoring->memory_bytes = calloc(count, sizeof(*scoring->memory_bytes));
    if (scoring->due == NULL || scoring->memory_bytes == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %zu cases", count - 1);
    }
    return list_due(scoring, diag);
}

enum kvc_status kvc_paper_score(const struct kvc_subject *subject, const struct kvc_run_options *options,
                                struct kvc_paper *paper, struct kvc_diag *diag)
{
    struct scoring scoring = {.paper = paper};
    enum kvc_status status = read_all(&scoring, subject, diag);
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
