/* kvcast validate --elasticities: which parameters move the cases of a paper. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/run/capacity.h"
#include "scenarios/run/capacity_probe.h"
#include "scenarios/run/limits.h"
#include "scenarios/run/pool.h"
#include "sim/base/files/data_dir.h"
#include "validate/command/validate.h"

/* ---- scenarios in which one number is larger by a factor ---- */

/* Splits "160us" into 160 and "us". Returns false for a text. */
static bool parse_number(const char *text, double *number, const char **unit)
{
    char *end = NULL;
    if (strspn(text, "0123456789.") == 0) {
        return false;
    }
    *number = strtod(text, &end);
    *unit = end;
    return strspn(end, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/") == strlen(end);
}

/* Returns whether the parameter is a number of the hardware, the system, the cluster or the workload that is
 * not 0. The duration and the seed of a run are left out. */
static bool is_number(const struct kvc_parameter *parameter)
{
    static const char *const parts[] = {"system.", "node.", "cluster.", "workload."};
    double number;
    const char *unit;
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        if (strncmp(parameter->path, parts[i], strlen(parts[i])) == 0) {
            return parse_number(parameter->value, &number, &unit) && number != 0;
        }
    }
    return false;
}

/* Returns the length of the path up to the number of a list's element, as in "node.gpu.clocks.", or 0. */
static size_t list_length(const char *path)
{
    for (const char *dot = strchr(path, '.'); dot != NULL; dot = strchr(dot + 1, '.')) {
        size_t digits = strspn(dot + 1, "0123456789");
        if (digits > 0 && (dot[1 + digits] == '.' || dot[1 + digits] == '\0')) {
            return (size_t)(dot + 1 - path);
        }
    }
    return 0;
}

/* An override of text that grows. */
struct text {
    char *bytes;
    size_t length, size;
};

static void append(struct text *text, const char *path, const char *value)
{
    size_t needed = text->length + strlen(path) + strlen(value) + 3;
    if (needed > text->size) {
        text->size = 2 * needed;
        text->bytes = realloc(text->bytes, text->size);
        if (text->bytes == NULL) {
            kvc_out_of_memory("overrides of %zu bytes", text->size);
        }
    }
    text->length +=
        (size_t)sprintf(text->bytes + text->length, "%s%s=%s", text->length > 0 ? ";" : "", path, value);
}

/* Loads the scenario with one value replaced. Returns false when it is refused. */
static bool load_with(const char *path, const char *overrides, const struct kvc_parameters *resolved,
                      uint32_t index, const char *value, struct kvc_loaded **out)
{
    const struct kvc_parameter *scaled = &resolved->entry[index];
    size_t list = list_length(scaled->path);
    struct kvc_diag diag = {0};
    struct text text = {
        .bytes = strdup(overrides), .length = strlen(overrides), .size = strlen(overrides) + 1};
    if (text.bytes == NULL) {
        kvc_out_of_memory("overrides of %zu bytes", text.size);
    }
    for (uint32_t i = 0; i < resolved->count && list > 0; i++) {
        if (i != index && strncmp(resolved->entry[i].path, scaled->path, list) == 0) {
            append(&text, resolved->entry[i].path, resolved->entry[i].value);
        }
    }
    append(&text, scaled->path, value);
    enum kvc_status status = kvc_validate_load(path, text.bytes, out, &diag);
    free(text.bytes);
    return status == KVC_OK;
}

/* Loads a scenario with overrides, a list of key=value separated by semicolons, and parameter `index` of its
 * resolved values multiplied by `factor`. A whole number that may not become a fraction becomes the next
 * whole number or is doubled, and one that may not grow is divided by the factor; *ratio is the change. An
 * element of a list is scaled alone: the list is repeated with it. Returns false when the scenario takes none
 * of these; *out is then NULL. */
static bool load_scaled(const char *path, const char *overrides, const struct kvc_parameters *resolved,
                        uint32_t index, double factor, struct kvc_loaded **out, double *ratio)
{
    double number;
    const char *unit;
    *out = NULL;
    if (!parse_number(resolved->entry[index].value, &number, &unit)) {
        return false;
    }
    bool whole = number == floor(number);
    const double tried[] = {number * factor, whole ? ceil(number * factor) : NAN, whole ? number * 2 : NAN,
                            number / factor};
    for (size_t i = 0; i < sizeof(tried) / sizeof(*tried); i++) {
        char value[64];
        snprintf(value, sizeof(value), "%.12g%s", tried[i], unit);
        if (!isnan(tried[i]) && load_with(path, overrides, resolved, index, value, out)) {
            *ratio = tried[i] / number;
            return true;
        }
    }
    return false;
}

/* ---- evaluation of a case ---- */

enum {
    MOVED_MAX = 256,
    REQUESTS_MOST = 1000000, /* A simulation of more requests is not repeated for each parameter. */
};

/* Parameters are multiplied by STEP. SMALL_STEP stays away from other limits: it shows whether a value that a
 * single parameter moves follows that parameter exactly. */
static const double STEP = 1.05, SMALL_STEP = 1.005;

/* Smaller elasticities are not named. Runs with common random numbers still differ by chance. */
static const double LEAST = 0.02, LEAST_SIMULATED = 0.1;

/* A parameter that changes the closed form's answer by less is not simulated. */
static const double LEAST_SEEN_FRAC = 1e-3;

/* The parameters that move a case. */
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
    struct kvc_outcome *closed_form; /* Prediction of the unchanged scenario. */
    double value;                    /* The metric, by the closed form or simulated. */
    bool simulated;
    bool costly;      /* The simulation takes too long to be repeated for each parameter, or the closed form
                         does not know the load and cannot select parameters. */
    double warmup_ns; /* Warm-up of all simulations. */
};

/* A latency of a capacity is the closed form's at nine tenths of the throughput under saturation. */
static enum kvc_status predict_latency(const struct evaluation *evaluation, const struct kvc_loaded *loaded,
                                       double throughput_mops, double *value, struct kvc_diag *diag)
{
    struct kvc_capacity_point point = {.offered_mops = 0.9 * throughput_mops};
    enum kvc_status status = kvc_capacity_predict(&loaded->scenario, &point, diag);
    *value = NAN;
    for (int i = 0; i < KVC_CAPACITY_LATENCIES; i++) {
        char name[KVC_NAME_MAX];
        snprintf(name, sizeof(name), "latency_%s_us", kvc_capacity_latency_names[i]);
        *value = strcmp(evaluation->asked->metric, name) == 0 ? point.closed_form.latency_us[i] : *value;
    }
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

/* The answer of a simulation: the metric, the warm-up [ns], and how many requests it took. */
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

/* Returns whether a change of this value announces a change of the simulation. Energy does not, nor do the
 * limits that the closed form lists besides the one that holds. */
static bool is_telling(const char *name)
{
    return strncmp(name, "model.", strlen("model.")) != 0 && strstr(name, "watt") == NULL &&
           strstr(name, "joules") == NULL;
}

/* Returns whether a parameter may change the simulation. The closed form does not know all effects of the
 * system's own numbers, so those always may; other parameters may if they change the closed form's answer. */
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
    if (!load_scaled(evaluation->path, evaluation->overrides, &evaluation->loaded->parameters, index, factor,
                     &loaded, &ratio)) {
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
        if (!is_number(&parameters->entry[i])) {
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

/* A value follows its parameter only until another limit holds. If that limit is close, a smaller step shows
 * whether the value returns an input. */
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
    struct moved *moved; /* Indexed by case. */
    uint32_t *due;       /* Cases to evaluate: one of each group that asks the same. */
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

/* The elasticity of a ratio is the difference of its parts' elasticities. */
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

/* The elasticity of a mean is taken as the mean of its parts' elasticities, and the elasticity of an extreme,
 * too, since another part may be the extreme one tomorrow. */
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

/* Marks a case and the parts that it follows from as wanted. */
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

/* Fills the cases that follow from others and are listed after their parts, and keeps the largest
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
