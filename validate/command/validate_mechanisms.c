#include "validate/command/validate_mechanisms.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/explore/plan/goal.h"
#include "scenarios/run/limits.h"
#include "scenarios/run/pool.h"
#include "sim/base/text/csv.h"
#include "sim/base/files/data_dir.h"

static const char header[] = "id,scenario,overrides,on,off,metric,mechanism";

enum column { ID, SCENARIO, OVERRIDES, ON, OFF, METRIC, MECHANISM };

static const char replicas[] = "run.replicas=3";

static const double differs_frac = 0.1, gone_frac = 0.05, gone_share = 1.0 / 3;

/* A task of the pool answers one side of a case. */
enum { WITH, WITHOUT, SIDES };

struct work {
    struct kvc_mechanisms *mechanisms;
    double *memory_bytes; /* By task. */
};

void kvc_mechanisms_free(struct kvc_mechanisms *mechanisms)
{
    free(mechanisms->entry);
    *mechanisms = (struct kvc_mechanisms){0};
}

static enum kvc_status copy_cells(char *const *cell, struct kvc_mechanism *made, struct kvc_diag *diag)
{
    const struct {
        enum column column;
        char *to;
        size_t size;
    } texts[] = {
        {ID, made->id, sizeof(made->id)},
        {SCENARIO, made->scenario, sizeof(made->scenario)},
        {OVERRIDES, made->overrides, sizeof(made->overrides)},
        {ON, made->on, sizeof(made->on)},
        {OFF, made->off, sizeof(made->off)},
        {METRIC, made->metric, sizeof(made->metric)},
        {MECHANISM, made->text, sizeof(made->text)},
    };
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts) && status == KVC_OK; i++) {
        status = kvc_csv_copy(cell[texts[i].column], texts[i].to, texts[i].size, diag);
    }
    return status;
}

static enum kvc_status append(void *data, char *const *cell, int line, struct kvc_diag *diag)
{
    struct kvc_mechanisms *mechanisms = data;
    struct kvc_mechanism made = {.with.simulated = NAN, .without.simulated = NAN};
    (void)line;
    enum kvc_status status = copy_cells(cell, &made, diag);
    if (status != KVC_OK) {
        return status;
    }
    for (size_t i = 0; i < mechanisms->count; i++) {
        if (strcmp(mechanisms->entry[i].id, made.id) == 0) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found case \"%s\" twice", made.id);
        }
    }
    struct kvc_mechanism *bigger =
        realloc(mechanisms->entry, (mechanisms->count + 1) * sizeof(*mechanisms->entry));
    if (bigger == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %zu cases", mechanisms->count + 1);
    }
    mechanisms->entry = bigger;
    mechanisms->entry[mechanisms->count++] = made;
    return KVC_OK;
}

static enum kvc_status name_case(const struct kvc_mechanism *mechanism, enum kvc_status status,
                                 struct kvc_diag *diag)
{
    char message[sizeof(diag->message)];
    if (status == KVC_OK) {
        return KVC_OK;
    }
    strcpy(message, diag->message);
    return kvc_diag_fail(diag, status, "case %s: %.900s", mechanism->id, message);
}

static enum kvc_status load_side(const struct kvc_mechanism *mechanism, uint32_t side,
                                 struct kvc_loaded **loaded, struct kvc_diag *diag)
{
    char path[PATH_MAX], all[sizeof(replicas) + 2 * sizeof(mechanism->overrides) + 2];
    const char *parts[] = {replicas, mechanism->overrides, side == WITH ? mechanism->on : mechanism->off};
    size_t used = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        if (parts[i][0] != '\0') {
            used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", used > 0 ? ";" : "", parts[i]);
        }
    }
    kvc_data_path(mechanism->scenario, path);
    return name_case(mechanism, kvc_validate_load(path, all, loaded, diag), diag);
}

/* Loads every side, so that a mistake in the last one is found before the first one runs. */
static enum kvc_status find_memory(struct work *work, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < work->mechanisms->count * SIDES && status == KVC_OK; i++) {
        struct kvc_loaded *loaded = NULL;
        status = load_side(&work->mechanisms->entry[i / SIDES], i % SIDES, &loaded, diag);
        if (status == KVC_OK) {
            work->memory_bytes[i] = kvc_memory_needed_bytes(&loaded->scenario);
        }
        kvc_loaded_free(loaded);
    }
    return status;
}

static enum kvc_status answer_side(const struct kvc_mechanism *mechanism, const struct kvc_loaded *loaded,
                                   const struct kvc_run_options *options, struct kvc_mechanism_side *side,
                                   struct kvc_diag *diag)
{
    struct kvc_outcome *outcome = NULL;
    enum kvc_status status = kvc_driver_predict(&loaded->scenario, &outcome, diag);
    if (status != KVC_OK) {
        return status;
    }
    side->closed_form = kvc_outcome_interval(outcome, mechanism->metric).mean;
    kvc_outcome_free(outcome);
    if (!isfinite(side->closed_form) || side->closed_form == 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the closed form states no %s", mechanism->metric);
    }
    status = kvc_driver_run(&loaded->scenario, options, &outcome, diag);
    if (status != KVC_OK) {
        return status;
    }
    side->simulated = kvc_outcome_interval(outcome, mechanism->metric).mean;
    side->difference_frac = side->simulated / side->closed_form - 1;
    kvc_plan_simulated_values(outcome, side->both.simulated);
    kvc_outcome_free(outcome);
    snprintf(side->both.system, sizeof(side->both.system), "%s", loaded->scenario.model->name);
    side->both.has_changes = loaded->scenario.run.change_count > 0;
    return kvc_plan_predict_values(&loaded->scenario, side->both.closed_form, diag);
}

static enum kvc_status answer_task(void *data, uint32_t task, const struct kvc_progress *progress,
                                   void *answer, struct kvc_diag *diag)
{
    const struct work *work = data;
    const struct kvc_mechanism *mechanism = &work->mechanisms->entry[task / SIDES];
    const struct kvc_run_options options = {.jobs = 1, .progress = progress};
    struct kvc_loaded *loaded = NULL;
    enum kvc_status status = load_side(mechanism, task % SIDES, &loaded, diag);
    if (status == KVC_OK) {
        status = name_case(mechanism, answer_side(mechanism, loaded, &options, answer, diag), diag);
    }
    kvc_loaded_free(loaded);
    return status;
}

static double memory_bytes(const void *data, uint32_t task)
{
    const struct work *work = data;
    return work->memory_bytes[task];
}

static enum kvc_status take(void *data, uint32_t task, const void *answer, struct kvc_diag *diag)
{
    struct kvc_mechanism *mechanism = &((struct work *)data)->mechanisms->entry[task / SIDES];
    (void)diag;
    *(task % SIDES == WITH ? &mechanism->with : &mechanism->without) =
        *(const struct kvc_mechanism_side *)answer;
    return KVC_OK;
}

/* A value that a simulation does not have is NaN, which is a failure. */
static enum kvc_mechanism_verdict verdict_of(const struct kvc_mechanism *mechanism)
{
    double with_frac = fabs(mechanism->with.difference_frac);
    double without_frac = fabs(mechanism->without.difference_frac);
    if (!(with_frac > differs_frac)) {
        return KVC_MECHANISM_NO_SIGN;
    }
    return without_frac <= fmax(gone_frac, gone_share * with_frac) ? KVC_MECHANISM_OK : KVC_MECHANISM_REMAINS;
}

enum kvc_status kvc_mechanisms_score(const struct kvc_subject *subject, const struct kvc_run_options *options,
                                     struct kvc_mechanisms *mechanisms, struct kvc_diag *diag)
{
    const struct kvc_csv_format format = {.header = header, .last_has_commas = true, .needs_rows = true};
    struct work work = {.mechanisms = mechanisms};
    char path[PATH_MAX];
    *mechanisms = (struct kvc_mechanisms){0};
    kvc_subject_path(subject, "cases.csv", path);
    enum kvc_status status = kvc_csv_visit(path, &format, append, mechanisms, diag);
    if (status != KVC_OK) {
        return status;
    }
    work.memory_bytes = calloc(mechanisms->count * SIDES, sizeof(*work.memory_bytes));
    if (work.memory_bytes == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %zu cases", mechanisms->count);
    }
    status = find_memory(&work, diag);
    const struct kvc_pool_options pool = {
        .tasks = (uint32_t)mechanisms->count * SIDES,
        .jobs = options->jobs > 0 ? options->jobs : kvc_pool_processors(),
        .answer_bytes = sizeof(struct kvc_mechanism_side),
        .noun = "case",
        .data = &work,
        .body = answer_task,
        .memory_bytes = memory_bytes,
        .available_bytes = kvc_memory_available_bytes(),
        .take = take,
    };
    status = status != KVC_OK ? status : kvc_pool_run(&pool, options->progress, diag);
    for (size_t i = 0; i < mechanisms->count; i++) {
        mechanisms->entry[i].verdict = verdict_of(&mechanisms->entry[i]);
    }
    free(work.memory_bytes);
    return status;
}
