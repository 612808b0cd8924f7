/* kvcast validate --elasticities: which parameters move the cases of a paper. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validate/command/validate.h"
#include "validate/command/validate_scaled.h"
#include "scenarios/run/capacity_probe.h"
#include "scenarios/run/limits.h"
#include "scenarios/run/pool.h"
#include "sim/base/files/data_dir.h"
#include "validate/scoring/aggregate.h"

enum { MOVED_MAX = 256, REQUESTS_MOST = 1000000 /* Of a simulation that is repeated for each parameter. */ };

/* A parameter is larger by this factor. The small one tells whether a value that a single parameter moves
 * would follow it exactly, were there no other limit close to it. */
static const double STEP = 1.05, SMALL_STEP = 1.005;

/* The least elasticity that is worth naming. Runs with common random numbers still differ by chance. */
static const double LEAST = 0.02, LEAST_SIMULATED = 0.1;

/* The least relative change of the closed form's answer that is worth a simulation. */
static const double LEAST_SEEN_FRAC = 1e-3;

/* All parameters that move a case at all. */
struct moved {
    double least;
    bool costly; /* Nothing was searched. */
    uint32_t count;
    struct kvc_elasticity entry[MOVED_MAX];
};

/* One case while it is evaluated. */
struct evaluation {
    const struct kvc_case *asked;
    char path[PATH_MAX], overrides[sizeof(((struct kvc_case *)NULL)->overrides) + 32];
    struct kvc_loaded *loaded;
    struct kvc_outcome *closed_form; /* Of the scenario as it is. */
    double value;                    /* The metric, by the closed form or simulated. */
    bool simulated;
    bool costly;      /* The simulation takes too long to be repeated for each parameter, or the closed form
                         does not know the load and cannot say which of them are worth it. */
    double warmup_ns; /* Warm-up of all simulations. */
};

/* A latency of a capacity is the closed form's at nine tenths of the throughput under saturation. */
static enum kvc_status predict_latency(const struct evaluation *evaluation, const struct kvc_loaded *loaded,
                                       double throughput_mops, double *value, struct kvc_diag *diag)
{
    struct kvc_capacity_point point = {.offered_mops = 0.9 * throughput_mops};
    enum kvc_status status = kvc_capacity_predict(&loaded->scenario, &point, diag);
    bool is_mean = strcmp(evaluation->asked->metric, "latency_mean_us") == 0;
    bool is_p95 = strcmp(evaluation->asked->metric, "latency_p95_us") == 0;
    *value = is_mean ? point.closed_form.mean_us : is_p95 ? point.closed_form.p95_us : NAN;
    return status;
}

/* The value by the closed form; NaN when it does not have the metric. */
static enum kvc_status closed_form_value(const struct evaluation *evaluation, const struct kvc_loaded *loaded,
                                         const struct kvc_outcome *outcome, double *value,
                                         struct kvc_diag *diag)
{
    const char *metric = evaluation->asked->metric;
    bool is_capacity = evaluation->asked->mode == KVC_CASE_CAPACITY;
    if (is_capacity && strcmp(metric, "throughput_mops") != 0) {
        return predict_latency(evaluation, loaded, outcome->result.throughput_mops, value, diag);
    }
    *value = kvc_outcome_interval(outcome, metric).mean;
    return KVC_OK;
}

/* What a simulation says: the metric, the warm-up [ns], and how many requests it took. */
struct simulated {
    double value, warmup_ns;
    uint64_t requests;
};

static enum kvc_status simulated_value(const struct evaluation *evaluation, struct kvc_loaded *loaded,
                                       struct simulated *simulated, struct kvc_diag *diag)
{
    const struct kvc_run_options options = {.jobs = 1,
                                            .available_bytes = kvc_memory_needed_bytes(&loaded->scenario)};
    struct kvc_outcome *outcome = NULL;
    loaded->scenario.run.replicas = 1;
    loaded->scenario.run.warmup_ns =
        evaluation->warmup_ns >= 0 ? evaluation->warmup_ns : loaded->scenario.run.warmup_ns;
    enum kvc_status status = kvc_driver_run(&loaded->scenario, &options, &outcome, diag);
    if (status == KVC_OK) {
        *simulated =
            (struct simulated){.value = kvc_outcome_interval(outcome, evaluation->asked->metric).mean,
                               .warmup_ns = outcome->result.warmup_s * 1e9,
                               .requests = outcome->result.requests_simulated};
    }
    kvc_outcome_free(outcome);
    return status;
}

/* Energy and the limits that the closed form lists beside the one that holds say nothing about a simulation.
 */
static bool is_telling(const char *name)
{
    return strncmp(name, "model.", strlen("model.")) != 0 && strstr(name, "watt") == NULL &&
           strstr(name, "joules") == NULL;
}

/* Returns whether a simulation is worth its time. The closed form does not know all that a system does with
 * its own numbers; of the others, those that hardly change its answer are left out. */
static bool may_matter(const struct evaluation *evaluation, const char *parameter,
                       const struct kvc_outcome *scaled)
{
    const struct kvc_values *now = scaled->values, *then = evaluation->closed_form->values;
    bool matters = strncmp(parameter, "system.", strlen("system.")) == 0;
    for (uint32_t i = 0; i < now->count && !matters; i++) {
        double before = kvc_values_get(then, now->value[i].name, i), after = now->value[i].value;
        matters = is_telling(now->value[i].name) && fabs(after - before) > LEAST_SEEN_FRAC * fabs(before);
    }
    return matters;
}

/* Returns the elasticity to one parameter; 0 when it cannot be scaled. */
static double elasticity(const struct evaluation *evaluation, uint32_t index, double factor)
{
    struct kvc_diag diag = {0};
    struct kvc_loaded *loaded;
    struct kvc_outcome *outcome = NULL;
    struct simulated simulated;
    double ratio, value = evaluation->value;
    if (!kvc_scaled_load(evaluation->path, evaluation->overrides, &evaluation->loaded->parameters, index,
                         factor, &loaded, &ratio)) {
        return 0;
    }
    enum kvc_status status = kvc_driver_predict(&loaded->scenario, &outcome, &diag);
    if (status == KVC_OK && !evaluation->simulated) {
        status = closed_form_value(evaluation, loaded, outcome, &value, &diag);
    } else if (status == KVC_OK &&
               may_matter(evaluation, evaluation->loaded->parameters.entry[index].path, outcome)) {
        status = simulated_value(evaluation, loaded, &simulated, &diag);
        value = status == KVC_OK ? simulated.value : value;
    }
    kvc_outcome_free(outcome);
    kvc_loaded_free(loaded);
    double found = log(value / evaluation->value) / log(ratio);
    return status == KVC_OK && isfinite(found) ? found : 0;
}

/* Lists the parameters that move the value when they are multiplied by the factor. Returns how many move it
 * by at least moved->least. */
static uint32_t scale_all(const struct evaluation *evaluation, double factor,
                          const struct kvc_progress *progress, struct moved *moved)
{
    const struct kvc_parameters *parameters = &evaluation->loaded->parameters;
    uint32_t named = 0;
    moved->count = 0;
    for (uint32_t i = 0; i < parameters->count; i++) {
        kvc_progress_report(progress, parameters->entry[i].path, (double)i / parameters->count);
        if (!kvc_scaled_is_number(&parameters->entry[i])) {
            continue;
        }
        double found = elasticity(evaluation, i, factor);
        bool named_now = fabs(found) >= moved->least;
        named += named_now;
        if (fabs(found) > 1e-3 && moved->count < MOVED_MAX) {
            struct kvc_elasticity *entry = &moved->entry[moved->count++];
            snprintf(entry->parameter, sizeof(entry->parameter), "%s", parameters->entry[i].path);
            entry->value = found;
        }
    }
    return named;
}

/* A value at which another limit is close follows its parameter a little way only. Whether it returns an
 * input shows in a smaller step. */
static void look_closer(const struct evaluation *evaluation, struct moved *moved)
{
    const struct kvc_parameters *parameters = &evaluation->loaded->parameters;
    for (uint32_t j = 0; j < moved->count; j++) {
        struct kvc_elasticity *entry = &moved->entry[j];
        for (uint32_t i = 0; i < parameters->count && fabs(entry->value) >= moved->least; i++) {
            if (strcmp(parameters->entry[i].path, entry->parameter) == 0) {
                double found = elasticity(evaluation, i, SMALL_STEP);
                entry->value = fabs(found) > fabs(entry->value) ? found : entry->value;
                return;
            }
        }
    }
}

static enum kvc_status open_evaluation(struct evaluation *evaluation, struct kvc_diag *diag)
{
    const struct kvc_case *asked = evaluation->asked;
    struct kvc_capacity_bounds bounds;
    kvc_data_path(asked->scenario, evaluation->path);
    enum kvc_status status = kvc_validate_capacity_bounds(asked->overrides, evaluation->overrides,
                                                          sizeof(asked->overrides), &bounds, diag);
    if (asked->mode == KVC_CASE_CAPACITY) {
        size_t length = strlen(evaluation->overrides);
        snprintf(evaluation->overrides + length, sizeof(evaluation->overrides) - length,
                 "%sworkload.arrival=saturate", length > 0 ? ";" : "");
    }
    if (status == KVC_OK) {
        status = kvc_validate_load(evaluation->path, evaluation->overrides, &evaluation->loaded, diag);
    }
    if (status == KVC_OK && evaluation->loaded->scenario.workload.phase_count > 0) {
        evaluation->costly = true;
        return KVC_OK;
    }
    if (status == KVC_OK) {
        status = kvc_driver_predict(&evaluation->loaded->scenario, &evaluation->closed_form, diag);
    }
    if (status == KVC_OK) {
        status = closed_form_value(evaluation, evaluation->loaded, evaluation->closed_form,
                                   &evaluation->value, diag);
    }
    evaluation->simulated = isnan(evaluation->value);
    evaluation->warmup_ns = -1;
    if (status == KVC_OK && evaluation->simulated) {
        struct simulated simulated = {NAN, -1, 0};
        status = simulated_value(evaluation, evaluation->loaded, &simulated, diag);
        evaluation->value = simulated.value;
        evaluation->warmup_ns = simulated.warmup_ns;
        evaluation->costly = simulated.requests > REQUESTS_MOST;
    }
    return status;
}

/* Runs in the child. */
static enum kvc_status evaluate(const struct kvc_case *asked, const struct kvc_progress *progress,
                                struct moved *moved, struct kvc_diag *diag)
{
    struct evaluation evaluation = {.asked = asked};
    enum kvc_status status = open_evaluation(&evaluation, diag);
    moved->costly = evaluation.costly;
    if (status == KVC_OK && !evaluation.costly) {
        moved->least = evaluation.simulated ? LEAST_SIMULATED : LEAST;
        uint32_t named = scale_all(&evaluation, STEP, progress, moved);
        if (named == 0) {
            named = scale_all(&evaluation, 1 / STEP, progress, moved);
        }
        if (named == 1 && !evaluation.simulated) {
            look_closer(&evaluation, moved);
        }
    }
    kvc_outcome_free(evaluation.closed_form);
    kvc_loaded_free(evaluation.loaded);
    return status;
}

/* The cases of a paper and what moves them. */
struct elasticities {
    const struct kvc_cases *cases;
    struct moved *moved; /* By case. */
    uint32_t *due;       /* Cases that are evaluated, one of each that ask the same. */
    uint32_t due_count;
};

static enum kvc_status evaluate_task(void *data, uint32_t task, const struct kvc_progress *progress,
                                     void *answer, struct kvc_diag *diag)
{
    const struct elasticities *elasticities = data;
    return evaluate(&elasticities->cases->entry[elasticities->due[task]], progress, answer, diag);
}

/* Returns whether the elasticities of the two cases are the same. */
static bool asks_the_same(const struct kvc_case *a, const struct kvc_case *b)
{
    return a->mode == b->mode && strcmp(a->scenario, b->scenario) == 0 &&
           strcmp(a->overrides, b->overrides) == 0 && strcmp(a->metric, b->metric) == 0;
}

static enum kvc_status take(void *data, uint32_t task, const void *answer, struct kvc_diag *diag)
{
    struct elasticities *elasticities = data;
    const struct kvc_cases *cases = elasticities->cases;
    (void)diag;
    for (size_t i = 0; i < cases->count; i++) {
        if (asks_the_same(&cases->entry[i], &cases->entry[elasticities->due[task]])) {
            elasticities->moved[i] = *(const struct moved *)answer;
        }
    }
    return KVC_OK;
}

static double value_of(const struct moved *moved, const char *parameter)
{
    for (uint32_t i = 0; i < moved->count; i++) {
        if (strcmp(moved->entry[i].parameter, parameter) == 0) {
            return moved->entry[i].value;
        }
    }
    return 0;
}

/* The elasticity of a ratio is the difference of those of its parts. */
static void divide(const struct moved *a, const struct moved *b, struct moved *ratio)
{
    *ratio = *a;
    ratio->costly = a->costly || b->costly;
    ratio->least = fmax(a->least, b->least);
    for (uint32_t i = 0; i < ratio->count; i++) {
        ratio->entry[i].value -= value_of(b, ratio->entry[i].parameter);
    }
    for (uint32_t i = 0; i < b->count && ratio->count < MOVED_MAX; i++) {
        if (value_of(a, b->entry[i].parameter) == 0) {
            ratio->entry[ratio->count] = b->entry[i];
            ratio->entry[ratio->count++].value = -b->entry[i].value;
        }
    }
}

/* Adds a share of the elasticities of a part. */
static void add_part(const struct moved *part, double share, struct moved *sum)
{
    sum->costly = sum->costly || part->costly;
    sum->least = fmax(sum->least, part->least);
    for (uint32_t i = 0; i < part->count; i++) {
        uint32_t at = 0;
        while (at < sum->count && strcmp(sum->entry[at].parameter, part->entry[i].parameter) != 0) {
            at++;
        }
        if (at == sum->count && sum->count < MOVED_MAX) {
            sum->entry[sum->count] = part->entry[i];
            sum->entry[sum->count++].value = 0;
        }
        if (at < sum->count) {
            sum->entry[at].value += share * part->entry[i].value;
        }
    }
}

/* The elasticity of a mean is taken as the mean of those of its parts, and so is that of an extreme, since
 * another part may be the extreme one tomorrow. */
static void average(const struct kvc_cases *cases, size_t at, struct moved *all)
{
    size_t count;
    if (kvc_aggregate_count(cases, at, &count, NULL) == KVC_OK) {
        for (size_t i = 0; i < at; i++) {
            if (kvc_aggregate_has(cases, at, i)) {
                add_part(&all[i], 1.0 / (double)count, &all[at]);
            }
        }
    }
}

/* Notes a case, or the parts that it follows from, as due. */
static enum kvc_status want(const struct kvc_cases *cases, size_t at, bool *wanted, struct kvc_diag *diag)
{
    size_t a = 0, b = 0;
    wanted[at] = true;
    if (kvc_case_is_aggregate(&cases->entry[at])) {
        enum kvc_status status = kvc_aggregate_count(cases, at, &a, diag);
        for (size_t i = 0; i < at && status == KVC_OK; i++) {
            status = kvc_aggregate_has(cases, at, i) ? want(cases, i, wanted, diag) : KVC_OK;
        }
        return status;
    }
    if (cases->entry[at].mode != KVC_CASE_RATIO) {
        return KVC_OK;
    }
    enum kvc_status status = kvc_score_parts(cases, at, &a, &b, diag);
    status = status != KVC_OK ? status : want(cases, a, wanted, diag);
    return status != KVC_OK ? status : want(cases, b, wanted, diag);
}

static enum kvc_status list_due(struct elasticities *elasticities, bool *wanted, struct kvc_diag *diag)
{
    const struct kvc_cases *cases = elasticities->cases;
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < cases->count && status == KVC_OK; i++) {
        if (kvc_case_kind_of(&cases->entry[i]) <= KVC_KIND_CLAIM) {
            status = want(cases, i, wanted, diag);
        }
    }
    for (size_t i = 0; i < cases->count; i++) {
        bool answered = kvc_case_is_derived(&cases->entry[i]);
        for (uint32_t j = 0; j < elasticities->due_count && !answered; j++) {
            answered = asks_the_same(&cases->entry[i], &cases->entry[elasticities->due[j]]);
        }
        if (wanted[i] && !answered) {
            elasticities->due[elasticities->due_count++] = (uint32_t)i;
        }
    }
    return status;
}

/* Fills the cases that follow from others, each of which stands behind its parts, and keeps the largest
 * elasticities. */
static void finish(struct elasticities *elasticities, const bool *wanted, struct kvc_moved_by *moved_by)
{
    const struct kvc_cases *cases = elasticities->cases;
    for (size_t i = 0; i < cases->count; i++) {
        struct moved *moved = &elasticities->moved[i];
        size_t a = 0, b = 0;
        if (wanted[i] && cases->entry[i].mode == KVC_CASE_RATIO &&
            kvc_score_parts(cases, i, &a, &b, NULL) == KVC_OK) {
            divide(&elasticities->moved[a], &elasticities->moved[b], moved);
        } else if (wanted[i] && kvc_case_is_aggregate(&cases->entry[i])) {
            average(cases, i, elasticities->moved);
        }
        moved_by[i].known = kvc_case_kind_of(&cases->entry[i]) <= KVC_KIND_CLAIM;
        moved_by[i].costly = moved->costly;
        for (uint32_t j = 0; j < moved->count && moved_by[i].known && !moved->costly; j++) {
            kvc_moved_by_add(&moved_by[i], moved->entry[j].parameter, moved->entry[j].value, moved->least);
        }
    }
}

static enum kvc_status find_all(struct elasticities *elasticities, bool *wanted, uint32_t jobs,
                                const struct kvc_progress *progress, struct kvc_diag *diag)
{
    enum kvc_status status = list_due(elasticities, wanted, diag);
    const struct kvc_pool_options pool = {
        .tasks = elasticities->due_count,
        .jobs = jobs > 0 ? jobs : kvc_pool_processors(),
        .answer_bytes = sizeof(struct moved),
        .noun = "case",
        .data = elasticities,
        .body = evaluate_task,
        .take = take,
    };
    return status != KVC_OK ? status : kvc_pool_run(&pool, progress, diag);
}

enum kvc_status kvc_paper_find_elasticities(const struct kvc_subject *subject,
                                            const struct kvc_run_options *options, struct kvc_diag *diag)
{
    struct kvc_cases cases;
    char path[PATH_MAX];
    kvc_subject_path(subject, "cases.csv", path);
    enum kvc_status status = kvc_cases_read(path, &cases, diag);
    if (status != KVC_OK) {
        return status;
    }
    struct elasticities elasticities = {.cases = &cases,
                                        .moved = calloc(cases.count, sizeof(*elasticities.moved)),
                                        .due = calloc(cases.count, sizeof(*elasticities.due))};
    bool *wanted = calloc(cases.count, sizeof(*wanted));
    struct kvc_moved_by *moved_by = calloc(cases.count, sizeof(*moved_by));
    if (elasticities.moved == NULL || elasticities.due == NULL || wanted == NULL || moved_by == NULL) {
        kvc_out_of_memory("elasticities of %zu cases", cases.count);
    }
    status = find_all(&elasticities, wanted, options->jobs, options->progress, diag);
    if (status == KVC_OK) {
        finish(&elasticities, wanted, moved_by);
        kvc_subject_path(subject, "elasticities.csv", path);
        status = kvc_elasticities_write(path, &cases, moved_by, diag);
    }
    free(elasticities.moved);
    free(elasticities.due);
    free(wanted);
    free(moved_by);
    kvc_cases_free(&cases);
    return status;
}
