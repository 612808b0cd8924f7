#include "validate/command/validate_closed_form.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/cli/print.h"
#include "scenarios/explore/plan/goal.h"
#include "scenarios/run/limits.h"
#include "scenarios/run/pool.h"
#include "sim/base/array.h"
#include "sim/base/text/csv.h"
#include "sim/base/files/data_dir.h"
#include "sim/base/files/partial_file.h"

/* The file states four decimals, rounded outwards. */
static const double rounding_frac = 1e-9;

struct load {
    char scenario[160]; /* Relative to the project. */
    char overrides[512];
    double memory_bytes;
};

struct work {
    struct load *load;
    uint32_t count;
    struct kvc_closed_forms *forms;
};

void kvc_closed_forms_free(struct kvc_closed_forms *forms)
{
    free(forms->entry);
    *forms = (struct kvc_closed_forms){0};
}

enum kvc_status kvc_answer_both_ways(const struct kvc_loaded *loaded, const struct kvc_run_options *options,
                                     struct kvc_both_ways *answer, struct kvc_diag *diag)
{
    struct kvc_outcome *outcome = NULL;
    snprintf(answer->system, sizeof(answer->system), "%s", loaded->scenario.model->name);
    answer->has_changes = loaded->scenario.run.change_count > 0;
    enum kvc_status status = kvc_plan_predict_values(&loaded->scenario, answer->closed_form, diag);
    if (status == KVC_OK) {
        status = kvc_driver_run(&loaded->scenario, options, &outcome, diag);
    }
    if (status == KVC_OK) {
        kvc_plan_simulated_values(outcome, answer->simulated);
    }
    kvc_outcome_free(outcome);
    return status;
}

void kvc_closed_forms_add(struct kvc_closed_forms *forms, const struct kvc_both_ways *answer)
{
    uint32_t found = 0;
    if (answer->has_changes) {
        return;
    }
    while (found < forms->count && strcmp(forms->entry[found].system, answer->system) != 0) {
        found++;
    }
    if (found == forms->count) {
        forms->entry = kvc_array_grown(forms->entry, ++forms->count, sizeof(*forms->entry));
        forms->entry[found] = (struct kvc_store_errors){.regressed = 0};
        strcpy(forms->entry[found].system, answer->system);
        kvc_plan_errors_clear(&forms->entry[found].errors);
    }
    kvc_plan_errors_add(&forms->entry[found].errors, answer->closed_form, answer->simulated);
}

static enum kvc_status append(void *data, char *const *cell, int line, struct kvc_diag *diag)
{
    struct work *work = data;
    (void)line;
    work->load = kvc_array_grown(work->load, work->count + 1, sizeof(*work->load));
    struct load *made = &work->load[work->count];
    enum kvc_status status = kvc_csv_copy(cell[0], made->scenario, sizeof(made->scenario), diag);
    if (status == KVC_OK) {
        status = kvc_csv_copy(cell[1], made->overrides, sizeof(made->overrides), diag);
    }
    work->count += status == KVC_OK;
    return status;
}

static enum kvc_status load_scenario(const struct load *load, struct kvc_loaded **loaded,
                                     struct kvc_diag *diag)
{
    char path[PATH_MAX], all[sizeof(load->overrides) + 32];
    snprintf(all, sizeof(all), "run.replicas=3%s%s", load->overrides[0] != '\0' ? ";" : "", load->overrides);
    kvc_data_path(load->scenario, path);
    return kvc_validate_load(path, all, loaded, diag);
}

/* Loads every scenario, so that a mistake in the last one is found before the first one runs. */
static enum kvc_status find_memory(struct work *work, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (uint32_t i = 0; i < work->count && status == KVC_OK; i++) {
        struct kvc_loaded *loaded = NULL;
        status = load_scenario(&work->load[i], &loaded, diag);
        if (status == KVC_OK) {
            work->load[i].memory_bytes = kvc_memory_needed_bytes(&loaded->scenario);
        }
        kvc_loaded_free(loaded);
    }
    return status;
}

static enum kvc_status answer_load(void *data, uint32_t task, const struct kvc_progress *progress,
                                   void *answer, struct kvc_diag *diag)
{
    const struct load *load = &((const struct work *)data)->load[task];
    const struct kvc_run_options options = {.jobs = 1, .progress = progress};
    struct kvc_loaded *loaded = NULL;
    enum kvc_status status = load_scenario(load, &loaded, diag);
    if (status == KVC_OK) {
        status = kvc_answer_both_ways(loaded, &options, answer, diag);
    }
    kvc_loaded_free(loaded);
    return status;
}

static double memory_bytes(const void *data, uint32_t task)
{
    return ((const struct work *)data)->load[task].memory_bytes;
}

static enum kvc_status take(void *data, uint32_t task, const void *answer, struct kvc_diag *diag)
{
    (void)task;
    (void)diag;
    kvc_closed_forms_add(((struct work *)data)->forms, answer);
    return KVC_OK;
}

enum kvc_status kvc_closed_forms_load(const struct kvc_subject *subject,
                                      const struct kvc_run_options *options, struct kvc_closed_forms *forms,
                                      struct kvc_diag *diag)
{
    const struct kvc_csv_format format = {.header = "scenario,overrides", .needs_rows = true};
    struct work work = {.forms = forms};
    char path[PATH_MAX];
    kvc_subject_path(subject, "loads.csv", path);
    if (access(path, F_OK) != 0) {
        return KVC_OK;
    }
    enum kvc_status status = kvc_csv_visit(path, &format, append, &work, diag);
    if (status == KVC_OK) {
        status = find_memory(&work, diag);
    }
    const struct kvc_pool_options pool = {
        .tasks = work.count,
        .jobs = options->jobs > 0 ? options->jobs : kvc_pool_processors(),
        .answer_bytes = sizeof(struct kvc_both_ways),
        .noun = "load",
        .data = &work,
        .body = answer_load,
        .memory_bytes = memory_bytes,
        .available_bytes = kvc_memory_available_bytes(),
        .take = take,
    };
    status = status != KVC_OK ? status : kvc_pool_run(&pool, options->progress, diag);
    free(work.load);
    return status;
}

static uint32_t count_regressions(const struct kvc_plan_errors *found, const struct kvc_plan_errors *stated)
{
    uint32_t count = 0;
    for (int i = 0; i < KVC_PLAN_METRICS; i++) {
        for (int j = 0; j < KVC_PLAN_METRICS; j++) {
            const struct kvc_plan_error *now = &found->of[i][j], *then = &stated->of[i][j];
            /* An error that is not stated is unknown to a plan, which prunes nothing by it. */
            count += now->answers > 0 && then->answers > 0 &&
                     (now->low_frac < then->low_frac - rounding_frac ||
                      now->high_frac > then->high_frac + rounding_frac);
        }
    }
    return count;
}

enum kvc_status kvc_closed_forms_judge(const struct kvc_subject *subject, struct kvc_closed_forms *forms,
                                       struct kvc_diag *diag)
{
    char path[PATH_MAX];
    enum kvc_status status = KVC_OK;
    kvc_subject_path(subject, "closed_form.csv", path);
    forms->is_stated = access(path, F_OK) == 0;
    for (uint32_t i = 0; i < forms->count && forms->is_stated && status == KVC_OK; i++) {
        struct kvc_plan_errors stated;
        status = kvc_plan_errors_read(path, forms->entry[i].system, &stated, diag);
        if (status == KVC_OK) {
            forms->entry[i].regressed = count_regressions(&forms->entry[i].errors, &stated);
        }
    }
    return status;
}

enum kvc_status kvc_closed_forms_state(const struct kvc_subject *subject,
                                       const struct kvc_closed_forms *forms, struct kvc_diag *diag)
{
    char path[PATH_MAX];
    struct kvc_partial_file partial = {0};
    kvc_subject_path(subject, "closed_form.csv", path);
    enum kvc_status status = kvc_partial_file_open(&partial, path, diag);
    if (status != KVC_OK) {
        return status;
    }
    kvc_plan_errors_write_header(partial.file);
    for (uint32_t i = 0; i < forms->count; i++) {
        kvc_plan_errors_write(&forms->entry[i].errors, forms->entry[i].system, partial.file);
    }
    status = kvc_partial_file_commit(&partial, diag);
    kvc_partial_file_discard(&partial);
    return status;
}

static void add_percent(struct kvc_grid *grid, double frac)
{
    char text[32];
    snprintf(text, sizeof(text), "%+.1f %%", 100 * frac);
    kvc_grid_add(grid, text);
}

static void add_errors(struct kvc_grid *grid, const struct kvc_store_errors *store)
{
    char text[32];
    for (int i = 0; i < KVC_PLAN_METRICS; i++) {
        const struct kvc_plan_error *error = &store->errors.of[i][i];
        if (error->answers == 0) {
            continue;
        }
        kvc_grid_add(grid, store->system);
        kvc_grid_add(grid, kvc_plan_metric_names[i]);
        snprintf(text, sizeof(text), "%u", error->answers);
        kvc_grid_add(grid, text);
        add_percent(grid, error->low_frac);
        add_percent(grid, error->high_frac);
    }
}

void kvc_closed_forms_print(const struct kvc_closed_forms *forms)
{
    static const char *const head[] = {"store", "metric", "answers", "least", "largest difference"};
    struct kvc_grid grid = {.columns = sizeof(head) / sizeof(*head)};
    uint32_t regressed = 0;
    for (size_t i = 0; i < grid.columns; i++) {
        kvc_grid_add(&grid, head[i]);
    }
    for (uint32_t i = 0; i < forms->count; i++) {
        add_errors(&grid, &forms->entry[i]);
        regressed += forms->entry[i].regressed;
    }
    printf("\nThe simulation differs from the closed form by:\n\n");
    kvc_grid_print(&grid, 0, stdout);
    if (regressed > 0) {
        printf(
            "\n%u of the differences are larger than closed_form.csv states (latencies of different kinds\n"
            "included): REGRESSED\n",
            regressed);
    }
}
