/* kvcast validate mechanisms: scenarios where simulation and closed form differ because of one mechanism, and
 * how far the closed form of each store is from its simulation. */
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
#include "sim/base/files/data_dir.h"
#include "sim/base/files/partial_file.h"
#include "sim/base/text/csv.h"
#include "validate/command/validate.h"

static const char header[] = "id,scenario,overrides,on,off,metric,mechanism";

enum column { ID, SCENARIO, OVERRIDES, ON, OFF, METRIC, MECHANISM };

static const char replicas[] = "run.replicas=3";

static const double differs_frac = 0.1, gone_frac = 0.05, gone_share = 1.0 / 3;

/* A task of the pool answers one side of a case. */
enum { WITH, WITHOUT, SIDES };

struct work {
    struct kvc_mechanisms *mechanisms;
    double *memory_bytes; /* Indexed by task. */
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

/* ---- closed forms ---- */

/* The file states four decimals, rounded outwards. */
static const double rounding_frac = 1e-9;

struct load {
    char scenario[160]; /* Relative to the project. */
    char overrides[512];
    double memory_bytes;
};

struct loads {
    struct load *load;
    uint32_t count;
    struct kvc_closed_forms *forms;
};

void kvc_closed_forms_free(struct kvc_closed_forms *forms)
{
    free(forms->entry);
    *forms = (struct kvc_closed_forms){0};
}

/* Answers a loaded scenario by closed form and by simulation. */
static enum kvc_status answer_both_ways(const struct kvc_loaded *loaded,
                                        const struct kvc_run_options *options, struct kvc_both_ways *answer,
                                        struct kvc_diag *diag)
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

/* Widens the errors of the answer's store. Answers to scenarios whose devices change during the run are left
 * out: a plan takes none, and the closed form does not know such changes. */
static void add_answer(struct kvc_closed_forms *forms, const struct kvc_both_ways *answer)
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

static enum kvc_status append_load(void *data, char *const *cell, int line, struct kvc_diag *diag)
{
    struct loads *work = data;
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
static enum kvc_status find_memory_of_loads(struct loads *work, struct kvc_diag *diag)
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
    const struct load *load = &((const struct loads *)data)->load[task];
    const struct kvc_run_options options = {.jobs = 1, .progress = progress};
    struct kvc_loaded *loaded = NULL;
    enum kvc_status status = load_scenario(load, &loaded, diag);
    if (status == KVC_OK) {
        status = answer_both_ways(loaded, &options, answer, diag);
    }
    kvc_loaded_free(loaded);
    return status;
}

static double memory_of_load(const void *data, uint32_t task)
{
    return ((const struct loads *)data)->load[task].memory_bytes;
}

static enum kvc_status take_load(void *data, uint32_t task, const void *answer, struct kvc_diag *diag)
{
    (void)task;
    (void)diag;
    add_answer(((struct loads *)data)->forms, answer);
    return KVC_OK;
}

/* Answers the scenarios of loads.csv, if there is such a file, with three replicas, and adds them. */
static enum kvc_status answer_loads(const struct kvc_subject *subject, const struct kvc_run_options *options,
                                    struct kvc_closed_forms *forms, struct kvc_diag *diag)
{
    const struct kvc_csv_format format = {.header = "scenario,overrides", .needs_rows = true};
    struct loads work = {.forms = forms};
    char path[PATH_MAX];
    kvc_subject_path(subject, "loads.csv", path);
    if (access(path, F_OK) != 0) {
        return KVC_OK;
    }
    enum kvc_status status = kvc_csv_visit(path, &format, append_load, &work, diag);
    if (status == KVC_OK) {
        status = find_memory_of_loads(&work, diag);
    }
    const struct kvc_pool_options pool = {
        .tasks = work.count,
        .jobs = options->jobs > 0 ? options->jobs : kvc_pool_processors(),
        .answer_bytes = sizeof(struct kvc_both_ways),
        .noun = "load",
        .data = &work,
        .body = answer_load,
        .memory_bytes = memory_of_load,
        .available_bytes = kvc_memory_available_bytes(),
        .take = take_load,
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

/* Compares the errors with those that closed_form.csv states. */
static enum kvc_status judge_errors(const struct kvc_subject *subject, struct kvc_closed_forms *forms,
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

/* Replaces closed_form.csv. */
static enum kvc_status state_errors(const struct kvc_subject *subject, const struct kvc_closed_forms *forms,
                                    struct kvc_diag *diag)
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

enum kvc_status kvc_closed_forms_score(const struct kvc_subject *subject,
                                       const struct kvc_mechanisms *mechanisms,
                                       const struct kvc_run_options *options, bool update,
                                       struct kvc_closed_forms *forms, struct kvc_diag *diag)
{
    *forms = (struct kvc_closed_forms){0};
    for (size_t i = 0; i < mechanisms->count; i++) {
        add_answer(forms, &mechanisms->entry[i].with.both);
        add_answer(forms, &mechanisms->entry[i].without.both);
    }
    enum kvc_status status = answer_loads(subject, options, forms, diag);
    if (status == KVC_OK && update) {
        status = state_errors(subject, forms, diag);
    }
    return status == KVC_OK ? judge_errors(subject, forms, diag) : status;
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

/* ---- report ---- */

/* Indexed by enum kvc_mechanism_verdict. */
static const char *const verdicts[] = {"ok", "NO DIFFERENCE", "REMAINS"};

static void add_number(struct kvc_grid *grid, const char *format, double value)
{
    char text[64];
    snprintf(text, sizeof(text), format, value);
    kvc_grid_add(grid, text);
}

static void add_side(struct kvc_grid *grid, const struct kvc_mechanism_side *side)
{
    add_number(grid, "%.4g", side->closed_form);
    add_number(grid, "%.4g", side->simulated);
    add_number(grid, "%+.1f %%", 100 * side->difference_frac);
}

static void print_numbers(const struct kvc_mechanisms *mechanisms)
{
    static const char *const head[] = {"case", "metric",      "closed form", "simulated",  "difference",
                                       "off:", "closed form", "simulated",   "difference", "verdict"};
    struct kvc_grid grid = {.columns = sizeof(head) / sizeof(*head)};
    for (size_t i = 0; i < grid.columns; i++) {
        kvc_grid_add(&grid, head[i]);
    }
    for (size_t i = 0; i < mechanisms->count; i++) {
        const struct kvc_mechanism *mechanism = &mechanisms->entry[i];
        kvc_grid_add(&grid, mechanism->id);
        kvc_grid_add(&grid, mechanism->metric);
        add_side(&grid, &mechanism->with);
        kvc_grid_add(&grid, "");
        add_side(&grid, &mechanism->without);
        kvc_grid_add(&grid, verdicts[mechanism->verdict]);
    }
    kvc_grid_print(&grid, 0, stdout);
}

static void print_texts(const struct kvc_mechanisms *mechanisms)
{
    for (size_t i = 0; i < mechanisms->count; i++) {
        const struct kvc_mechanism *mechanism = &mechanisms->entry[i];
        printf("\n%s: %s\n", mechanism->id, mechanism->text);
        printf("  scenario  %s", mechanism->scenario);
        printf("%s%s\n", mechanism->overrides[0] != '\0' ? ", " : "", mechanism->overrides);
        printf("  on        %s\n", mechanism->on[0] != '\0' ? mechanism->on : "-");
        printf("  off       %s\n", mechanism->off[0] != '\0' ? mechanism->off : "-");
    }
}

void kvc_mechanisms_print(const struct kvc_mechanisms *mechanisms)
{
    size_t ok = 0;
    for (size_t i = 0; i < mechanisms->count; i++) {
        ok += mechanisms->entry[i].verdict == KVC_MECHANISM_OK;
    }
    print_numbers(mechanisms);
    print_texts(mechanisms);
    printf(
        "\ncases: %zu; in %zu the simulation differs from the closed form by more than 10 %%, and with the\n"
        "mechanism off by less than 5 %% or by less than a third of that\n",
        mechanisms->count, ok);
}

static json_t *side_document(const struct kvc_mechanism_side *side)
{
    return json_pack("{s:o, s:o, s:o}", "closed_form", kvc_validate_number(side->closed_form), "simulated",
                     kvc_validate_number(side->simulated), "difference_frac",
                     kvc_validate_number(side->difference_frac));
}

void kvc_mechanisms_list(const struct kvc_mechanisms *mechanisms, json_t *list)
{
    for (size_t i = 0; i < mechanisms->count; i++) {
        const struct kvc_mechanism *mechanism = &mechanisms->entry[i];
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:s}", "case", mechanism->id,
                            "scenario", mechanism->scenario, "overrides", mechanism->overrides, "on",
                            mechanism->on, "off", mechanism->off, "metric", mechanism->metric, "mechanism",
                            mechanism->text, "with", side_document(&mechanism->with), "without",
                            side_document(&mechanism->without), "verdict", verdicts[mechanism->verdict]));
    }
}
