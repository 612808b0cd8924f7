/* kvcast validate: runs the cases of a paper and scores them. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/run/capacity.h"
#include "scenarios/run/limits.h"
#include "scenarios/run/pool.h"
#include "sim/base/array.h"
#include "sim/base/files/data_dir.h"
#include "validate/command/validate.h"

/* A simulated value without an interval cannot be told from chance. A case begins with three replicas, and
 * two more follow where its interval is wide. */
enum { REPLICAS_FIRST = 3, REPLICAS_ALL = 5 };

/* A paper may have one identified parameter for this number of points that count. */
enum { POINTS_PER_PARAMETER = 8 };

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

enum kvc_status kvc_validate_load_case(const struct kvc_case *asked, const char *overrides,
                                       struct kvc_capacity_bounds *bounds, struct kvc_loaded **out,
                                       struct kvc_diag *diag)
{
    char path[PATH_MAX], scenario[KVC_IDENTIFIED_TEXT];
    *out = NULL;
    kvc_data_path(asked->scenario, path);
    enum kvc_status status =
        kvc_validate_capacity_bounds(overrides, scenario, sizeof(scenario), bounds, diag);
    return status != KVC_OK ? status : kvc_validate_load(path, scenario, out, diag);
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
static enum kvc_status find_capacity(const struct kvc_case *asked, const char *overrides,
                                     const struct kvc_run_options *options, struct kvc_capacity *capacity,
                                     struct kvc_diag *diag)
{
    struct kvc_capacity_options search = {
        .no_curve = true, .longest = LONGEST, .jobs = options->jobs, .progress = options->progress};
    struct kvc_loaded *loaded = NULL;
    enum kvc_status status = kvc_validate_load_case(asked, overrides, &search.bounds, &loaded, diag);
    if (status == KVC_OK) {
        status = kvc_capacity_find(loaded, &search, capacity, diag);
    }
    kvc_loaded_free(loaded);
    return status;
}

/* ---- scoring ---- */

/* Cases of a paper while they are answered. */
struct answering {
    struct kvc_paper *paper;
    char (*given)[KVC_IDENTIFIED_TEXT]; /* Overrides by case; NULL: each case's own. */
    struct kvc_score *scores;           /* Receive the answers. */
    char list[PATH_MAX];                /* Path of cases.csv. */
    uint32_t *due;                      /* Cases to answer: one of each group that asks the same. */
    uint32_t due_count;                 /* Used entries of `due`. */
};

static const char *given(const struct answering *answering, size_t at)
{
    return answering->given != NULL ? answering->given[at] : answering->paper->cases.entry[at].overrides;
}

static bool asks_the_same(const struct answering *answering, size_t a, size_t b)
{
    const struct kvc_case *one = &answering->paper->cases.entry[a],
                          *other = &answering->paper->cases.entry[b];
    return one->mode == other->mode && strcmp(one->scenario, other->scenario) == 0 &&
           strcmp(given(answering, a), given(answering, b)) == 0;
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
static bool fill(const struct answering *answering, size_t at, const struct answer *answer,
                 struct kvc_interval *values)
{
    const struct kvc_cases *cases = &answering->paper->cases;
    bool narrow = true;
    for (size_t i = 0; i < cases->count; i++) {
        if (asks_the_same(answering, i, at)) {
            values[i] = value_of(answer, cases->entry[i].metric);
            narrow &= values[i].half_width <= narrow_frac * fabs(values[i].mean);
        }
    }
    return narrow;
}

static enum kvc_status answer_capacity(const struct answering *answering, size_t at,
                                       const struct kvc_run_options *options, struct kvc_interval *values,
                                       struct kvc_diag *diag)
{
    struct kvc_capacity capacity = {.count = 0};
    enum kvc_status status =
        find_capacity(&answering->paper->cases.entry[at], given(answering, at), options, &capacity, diag);
    if (status == KVC_OK) {
        fill(answering, at, &(struct answer){.capacity = &capacity}, values);
    }
    kvc_capacity_free(&capacity);
    return status;
}

/* Runs the first replicas, and the others if they are needed. */
static enum kvc_status simulate(const struct answering *answering, size_t at, struct kvc_scenario *scenario,
                                const struct kvc_run_options *options, struct kvc_interval *values,
                                struct kvc_diag *diag)
{
    struct kvc_outcome *first = NULL, *more = NULL;
    struct kvc_run_options others = *options;
    replicate(scenario, REPLICAS_FIRST);
    enum kvc_status status = kvc_driver_run(scenario, options, &first, diag);
    bool enough = status != KVC_OK || fill(answering, at, &(struct answer){.outcome = first}, values) ||
                  first->replicas >= REPLICAS_ALL;
    if (!enough) {
        others.first_replica = first->replicas;
        scenario->run.replicas = REPLICAS_ALL - first->replicas;
        status = kvc_driver_run(scenario, &others, &more, diag);
    }
    if (more != NULL) {
        fill(answering, at, &(struct answer){.outcome = first, .more = more}, values);
    }
    kvc_outcome_free(first);
    kvc_outcome_free(more);
    return status;
}

static enum kvc_status predict(const struct answering *answering, size_t at,
                               const struct kvc_scenario *scenario, struct kvc_interval *values,
                               struct kvc_diag *diag)
{
    struct kvc_outcome *outcome = NULL;
    enum kvc_status status = kvc_driver_predict(scenario, &outcome, diag);
    if (status == KVC_OK) {
        fill(answering, at, &(struct answer){.outcome = outcome}, values);
    }
    kvc_outcome_free(outcome);
    return status;
}

static enum kvc_status answer_outcome(const struct answering *answering, size_t at,
                                      const struct kvc_run_options *options, struct kvc_interval *values,
                                      struct kvc_diag *diag)
{
    const struct kvc_case *asked = &answering->paper->cases.entry[at];
    char path[PATH_MAX];
    struct kvc_loaded *loaded = NULL;
    kvc_data_path(asked->scenario, path);
    enum kvc_status status = kvc_validate_load(path, given(answering, at), &loaded, diag);
    if (status == KVC_OK) {
        status = asked->mode == KVC_CASE_PREDICT
                     ? predict(answering, at, &loaded->scenario, values, diag)
                     : simulate(answering, at, &loaded->scenario, options, values, diag);
    }
    kvc_loaded_free(loaded);
    return status;
}

/* Runs in the child. The answer has a place for every case, of which it fills those that ask the same. */
static enum kvc_status answer_task(void *data, uint32_t task, const struct kvc_progress *progress,
                                   void *answer, struct kvc_diag *diag)
{
    const struct answering *answering = data;
    const size_t at = answering->due[task];
    const struct kvc_case *asked = &answering->paper->cases.entry[at];
    const struct kvc_run_options options = {.jobs = 1, .progress = progress};
    enum kvc_status status = asked->mode == KVC_CASE_CAPACITY
                                 ? answer_capacity(answering, at, &options, answer, diag)
                                 : answer_outcome(answering, at, &options, answer, diag);
    return name_case(asked, answering->list, status, diag);
}

static double memory_bytes(const void *data, uint32_t task)
{
    const struct answering *answering = data;
    return answering->paper->scenarios[answering->due[task]].memory_bytes;
}

static enum kvc_status take(void *data, uint32_t task, const void *answer, struct kvc_diag *diag)
{
    struct answering *answering = data;
    const struct kvc_interval *values = answer;
    (void)diag;
    for (size_t i = 0; i < answering->paper->cases.count; i++) {
        if (asks_the_same(answering, i, answering->due[task])) {
            score_one(&answering->scores[i], &answering->paper->cases.entry[i], values[i]);
        }
    }
    return KVC_OK;
}

/* Several cases run at the same time, each with one replica after the other. */
static enum kvc_status answer_due(struct answering *answering, const struct kvc_run_options *options,
                                  struct kvc_diag *diag)
{
    const struct kvc_pool_options pool = {
        .tasks = answering->due_count,
        .jobs = options->jobs > 0 ? options->jobs : kvc_pool_processors(),
        .answer_bytes = answering->paper->cases.count * sizeof(struct kvc_interval),
        .noun = "case",
        .data = answering,
        .body = answer_task,
        .memory_bytes = memory_bytes,
        .available_bytes = kvc_memory_available_bytes(),
        .take = take,
    };
    return kvc_pool_run(&pool, options->progress, diag);
}

/* Scores the wanted cases that follow from others, which are listed after their parts. */
static enum kvc_status score_derived(const struct kvc_paper *paper, const bool *wanted,
                                     struct kvc_score *scores, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < paper->cases.count && status == KVC_OK; i++) {
        struct kvc_interval value;
        if (kvc_case_is_derived(&paper->cases.entry[i]) && (wanted == NULL || wanted[i])) {
            status = paper->cases.entry[i].mode == KVC_CASE_RATIO
                         ? kvc_score_ratio(&paper->cases, i, scores, &value, diag)
                         : kvc_aggregate_value(&paper->cases, i, scores, &value, diag);
            if (status == KVC_OK) {
                score_one(&scores[i], &paper->cases.entry[i], value);
            }
        }
    }
    return status;
}

enum kvc_status kvc_paper_answer(struct kvc_paper *paper, const bool *wanted,
                                 char (*overrides)[KVC_IDENTIFIED_TEXT], struct kvc_score *scores,
                                 const struct kvc_run_options *options, struct kvc_diag *diag)
{
    struct answering answering = {.paper = paper, .given = overrides, .scores = scores};
    answering.due = kvc_array_of(paper->cases.count + 1, sizeof(*answering.due));
    kvc_subject_path(paper->subject, "cases.csv", answering.list);
    for (size_t i = 0; i < paper->cases.count; i++) {
        bool listed = kvc_case_is_derived(&paper->cases.entry[i]) || (wanted != NULL && !wanted[i]);
        for (uint32_t j = 0; j < answering.due_count && !listed; j++) {
            listed = asks_the_same(&answering, i, answering.due[j]);
        }
        if (!listed) {
            answering.due[answering.due_count++] = (uint32_t)i;
        }
    }
    enum kvc_status status = answering.due_count > 0 ? answer_due(&answering, options, diag) : KVC_OK;
    free(answering.due);
    return status == KVC_OK ? score_derived(paper, wanted, scores, diag) : status;
}

/* Scores the cases that identified parameters concern once more. Other cases keep their scores. */
static enum kvc_status score_identified(struct kvc_paper *paper, const struct kvc_run_options *options,
                                        struct kvc_diag *diag)
{
    const struct kvc_cases *cases = &paper->cases;
    char(*overrides)[KVC_IDENTIFIED_TEXT] = kvc_array_of(cases->count + 1, sizeof(*overrides));
    bool *wanted = kvc_array_of(cases->count + 1, sizeof(*wanted));
    for (size_t i = 0; i < cases->count; i++) {
        struct kvc_interval baseline_frac = paper->cross_validated[i].baseline_frac;
        double value[KVC_IDENTIFIED_MAX];
        kvc_identified_unseen(&paper->identified, cases, i, value);
        wanted[i] = kvc_case_is_derived(&cases->entry[i]) ||
                    kvc_identified_overrides(&paper->identified, value, &cases->entry[i],
                                             paper->scenarios[i].system, overrides[i]);
        paper->cross_validated[i] = paper->scores[i];
        paper->cross_validated[i].baseline_frac = baseline_frac;
    }
    enum kvc_status status =
        kvc_paper_answer(paper, wanted, overrides, paper->cross_validated, options, diag);
    free(overrides);
    free(wanted);
    return status;
}

bool kvc_paper_concerned(const struct kvc_paper *paper, size_t at)
{
    return paper->cross_validated[at].predicted.mean != paper->scores[at].predicted.mean;
}

/* ---- files ---- */

void kvc_paper_free(struct kvc_paper *paper)
{
    kvc_cases_free(&paper->cases);
    free(paper->scores);
    free(paper->cross_validated);
    free(paper->moved_by);
    free(paper->scenarios);
    *paper = (struct kvc_paper){.subject = paper->subject};
}

/* Adds what writes a file of the paper that cannot be read. */
static enum kvc_status name_option(const struct kvc_paper *paper, const char *option, enum kvc_status status,
                                   struct kvc_diag *diag)
{
    char message[sizeof(diag->message)];
    if (status == KVC_OK) {
        return KVC_OK;
    }
    strcpy(message, diag->message);
    return kvc_diag_fail(diag, status, "%.900s; kvcast validate %s %s writes the file", message,
                         paper->subject->name, option);
}

/* Reads the elasticities of the cases. Without the file, it is unknown which cases test the model. */
static enum kvc_status read_elasticities(struct kvc_paper *paper, struct kvc_diag *diag)
{
    char path[PATH_MAX];
    kvc_subject_path(paper->subject, "elasticities.csv", path);
    enum kvc_status status = name_option(
        paper, "--elasticities", kvc_elasticities_read(path, &paper->cases, paper->moved_by, diag), diag);
    for (size_t i = 0; i < paper->cases.count && status == KVC_OK; i++) {
        paper->scores[i].not_counted = kvc_case_kind_of(&paper->cases.entry[i]) <= KVC_KIND_CLAIM &&
                                       kvc_moved_by_nothing_or_input(&paper->moved_by[i]);
    }
    return status;
}

/* Reads which parameters are to be identified. */
static enum kvc_status read_identified(struct kvc_paper *paper, struct kvc_diag *diag)
{
    char path[PATH_MAX];
    size_t points = kvc_score_summarise(&paper->cases, paper->scores).points.count;
    kvc_subject_path(paper->subject, "identified.csv", path);
    enum kvc_status status = kvc_identified_read(path, &paper->cases, &paper->identified, diag);
    if (status == KVC_OK && paper->identified.count > points / POINTS_PER_PARAMETER) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0,
                                "found %zu parameters for %zu points that count, allowed: one for %d points",
                                paper->identified.count, points, POINTS_PER_PARAMETER);
    }
    return status;
}

enum kvc_status kvc_paper_read_identification(struct kvc_paper *paper, struct kvc_diag *diag)
{
    char path[PATH_MAX];
    if (paper->identified.count == 0) {
        return KVC_OK;
    }
    kvc_subject_path(paper->subject, "identification.csv", path);
    enum kvc_status status = name_option(
        paper, "--identify", kvc_identification_read(path, &paper->cases, &paper->identified, diag), diag);
    kvc_subject_path(paper->subject, "cross_validated.csv", path);
    return status != KVC_OK ? status : kvc_baseline_read(path, &paper->cases, paper->cross_validated, diag);
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
    paper->cross_validated = calloc(count, sizeof(*paper->cross_validated));
    paper->moved_by = calloc(count, sizeof(*paper->moved_by));
    paper->scenarios = calloc(count, sizeof(*paper->scenarios));
    if (paper->scores == NULL || paper->cross_validated == NULL || paper->moved_by == NULL ||
        paper->scenarios == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %zu cases", paper->cases.count);
    }
    status = read_elasticities(paper, diag);
    kvc_subject_path(subject, "baseline.csv", path);
    status = status != KVC_OK ? status : kvc_baseline_read(path, &paper->cases, paper->scores, diag);
    return status != KVC_OK ? status : read_identified(paper, diag);
}

/* Loads the scenario of a case, checks it if it is simulated, and finds the memory that it needs. Inputs are
 * checked as well, because ratios are scored. */
static enum kvc_status check_scenario(struct kvc_paper *paper, const char *list, size_t at,
                                      struct kvc_diag *diag)
{
    const struct kvc_case *asked = &paper->cases.entry[at];
    struct kvc_paper_scenario *scenario = &paper->scenarios[at];
    struct kvc_capacity_bounds bounds;
    struct kvc_loaded *loaded = NULL;
    enum kvc_status status = kvc_validate_load_case(asked, asked->overrides, &bounds, &loaded, diag);
    status = name_case(asked, list, status, diag);
    if (status == KVC_OK) {
        scenario->system = loaded->scenario.model->name;
        scenario->memory_bytes = kvc_memory_needed_bytes(&loaded->scenario);
    }
    if (status == KVC_OK && asked->mode != KVC_CASE_PREDICT) {
        status = kvc_validate_check(loaded, asked->overrides, list, asked->line, diag);
    }
    kvc_loaded_free(loaded);
    return status;
}

enum kvc_status kvc_paper_open(const struct kvc_subject *subject, struct kvc_paper *paper,
                               struct kvc_diag *diag)
{
    const struct answering same = {.paper = paper};
    char list[PATH_MAX];
    enum kvc_status status = kvc_paper_read(subject, paper, diag);
    kvc_subject_path(subject, "cases.csv", list);
    for (size_t i = 0; i < paper->cases.count && status == KVC_OK; i++) {
        size_t twin = 0;
        while (!asks_the_same(&same, i, twin)) {
            twin++;
        }
        if (twin < i) {
            paper->scenarios[i] = paper->scenarios[twin];
        } else if (!kvc_case_is_derived(&paper->cases.entry[i])) {
            status = check_scenario(paper, list, i, diag);
        }
    }
    return status;
}

enum kvc_status kvc_paper_score(const struct kvc_subject *subject, const struct kvc_run_options *options,
                                struct kvc_paper *paper, struct kvc_diag *diag)
{
    enum kvc_status status = kvc_paper_open(subject, paper, diag);
    if (status == KVC_OK) {
        status = kvc_paper_read_identification(paper, diag);
    }
    if (status == KVC_OK) {
        status = kvc_paper_answer(paper, NULL, NULL, paper->scores, options, diag);
    }
    if (status == KVC_OK && paper->identified.count > 0) {
        status = score_identified(paper, options, diag);
    }
    return status;
}
