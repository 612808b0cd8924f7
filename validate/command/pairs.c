/* kvcast validate: the pairs of a measured machine are measured, forecast, scored and reported. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/cli/print.h"
#include "scenarios/run/limits.h"
#include "scenarios/run/pool.h"
#include "sim/base/array.h"
#include "sim/base/files/partial_file.h"
#include "validate/command/validate.h"

static const char file_name[] = "pairs.csv";

/* Returns one side of a pair as a line of a plan: the first configuration, or the one after the further
 * overrides.
 */
static struct kvc_measuring_plan_line line_of(const struct kvc_measuring_pair *pair, uint32_t side)
{
    struct kvc_measuring_plan_line line = pair->a;
    if (side == 1) {
        size_t room = sizeof(line.overrides), length = strlen(line.overrides);
        snprintf(line.overrides + length, room - length, ";%s", pair->against);
    }
    return line;
}

/* ---- the measurement ---- */

static enum kvc_status measure_one(const struct kvc_subject *subject, const struct kvc_measuring_pair *pair,
                                   double capacity_mops, uint32_t turns, struct kvc_measured_pair *measured,
                                   struct kvc_diag *diag)
{
    const struct kvc_run_options silent = {.jobs = 1};
    struct kvc_loaded *loaded[2] = {NULL, NULL};
    struct kvc_pair_result result;
    enum kvc_status status = KVC_OK;
    for (uint32_t side = 0; side < 2 && status == KVC_OK; side++) {
        const struct kvc_measuring_plan_line line = line_of(pair, side);
        status = kvc_validate_load_line(subject, &line, capacity_mops, "", &loaded[side], diag);
    }
    if (status == KVC_OK) {
        const struct kvc_scenario *const scenario[2] = {&loaded[0]->scenario, &loaded[1]->scenario};
        status = kvc_driver_measure_pair(scenario, turns, &silent, &result, diag);
    }
    if (status == KVC_OK) {
        kvc_measured_pair_of(&result, measured);
    }
    kvc_loaded_free(loaded[0]);
    kvc_loaded_free(loaded[1]);
    return status;
}

enum kvc_status kvc_machine_pairs_measure(const struct kvc_subject *subject,
                                          const struct kvc_measuring_plan *plan, const double *capacity_mops,
                                          uint32_t turns, const struct kvc_progress *progress,
                                          struct kvc_diag *diag)
{
    struct kvc_partial_file file = {0};
    char path[PATH_MAX];
    if (plan->pairs == 0) {
        return KVC_OK;
    }
    kvc_subject_path(subject, file_name, path);
    enum kvc_status status = kvc_partial_file_open(&file, path, diag);
    if (status == KVC_OK) {
        kvc_measured_pairs_write_header(file.file);
    }
    for (size_t i = 0; i < plan->pairs && status == KVC_OK; i++) {
        const struct kvc_measuring_pair *pair = &plan->pair[i];
        struct kvc_measured_pair measured;
        kvc_progress_report(progress, pair->a.id, (double)i / (double)plan->pairs);
        double mops = kvc_measuring_plan_line_is_relative(&pair->a) ? capacity_mops[pair->a.of]
                                                                    : kvc_validate_any_capacity_mops;
        status = measure_one(subject, pair, mops, turns, &measured, diag);
        if (status == KVC_OK) {
            kvc_measured_pairs_write_line(file.file, plan, i, &measured);
        }
    }
    if (status == KVC_OK) {
        status = kvc_partial_file_commit(&file, diag);
    }
    kvc_partial_file_discard(&file);
    return status;
}

/* ---- the forecasts ---- */

/* Takes over what is scored. The time of a launch is that by job, at the measured number of jobs. */
static void take_readings(const struct kvc_comparison_forecast *forecast, struct kvc_pair_forecast *made)
{
    static const struct {
        enum kvc_pair_metric metric;
        enum kvc_reading reading;
    } taken[] = {{KVC_PAIR_THROUGHPUT, KVC_READING_THROUGHPUT},
                 {KVC_PAIR_LATENCY_MEAN, KVC_READING_LATENCY_MEAN},
                 {KVC_PAIR_LATENCY_P99, KVC_READING_LATENCY_P99},
                 {KVC_PAIR_T_SEARCH, KVC_READING_SEARCH_JOB},
                 {KVC_PAIR_T_INSERT, KVC_READING_INSERT_JOB}};
    for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++) {
        double jobs = taken[i].metric == KVC_PAIR_T_SEARCH   ? forecast->search_jobs
                      : taken[i].metric == KVC_PAIR_T_INSERT ? forecast->insert_jobs
                                                             : 1;
        made->value[taken[i].metric] = jobs * forecast->simulated.value[taken[i].reading];
        made->half_width[taken[i].metric] = jobs * forecast->half_width[taken[i].reading];
        made->closed_form[taken[i].metric] = jobs * forecast->closed_form.value[taken[i].reading];
    }
}

/* Forecasts one side of a pair as `*forecast` asks for it (warmup_ns, only_warmup). */
static enum kvc_status forecast_side(const struct kvc_measured_machine *machine, uint32_t pair, uint32_t side,
                                     const struct kvc_progress *progress,
                                     struct kvc_comparison_forecast *forecast, struct kvc_diag *diag)
{
    const struct kvc_measuring_plan_line line = line_of(&machine->plan.pair[pair], side);
    const struct kvc_measured_pair *measured = &machine->pairs[pair];
    const struct kvc_run_options options = {.jobs = 1, .progress = progress};
    struct kvc_loaded *loaded = NULL;
    enum kvc_status status =
        kvc_forecast_load(machine->subject, &line, kvc_validate_any_capacity_mops, "", &loaded, diag);
    if (status == KVC_OK) {
        forecast->core_speed_frac =
            kvc_forecast_core_speed_frac(&loaded->scenario, measured->core_speed_steps_per_ns);
        forecast->memory_speed_frac =
            kvc_forecast_memory_speed_frac(&loaded->scenario, measured->memory.line_ns);
        forecast->search_jobs = measured->side[side][KVC_PAIR_SEARCH_JOBS];
        forecast->insert_jobs = measured->side[side][KVC_PAIR_INSERT_JOBS];
        status = kvc_forecast_line(machine->subject, &line, &machine->forecasts[line.of], &options, forecast,
                                   diag);
    }
    kvc_loaded_free(loaded);
    return status;
}

/* The task of a pool. Both sides have the warm-up of the side that needs the longer one. The ends that are
 * detected differ by chance, and the sides of a measured pair are equally old. */
static enum kvc_status forecast_pair(void *data, uint32_t pair, const struct kvc_progress *progress,
                                     void *answer, struct kvc_diag *diag)
{
    const struct kvc_measured_machine *machine = data;
    struct kvc_pair_forecast *made = answer;
    double warmup_ns = 0;
    enum kvc_status status = KVC_OK;
    memcpy(made, &machine->pair_forecasts[2 * pair], 2 * sizeof(*made));
    if (kvc_measuring_plan_unseen(pair) != machine->unseen) {
        return KVC_OK;
    }
    for (uint32_t side = 0; side < 2 && status == KVC_OK; side++) {
        struct kvc_comparison_forecast forecast = {.only_warmup = true};
        status = forecast_side(machine, pair, side, progress, &forecast, diag);
        warmup_ns = fmax(warmup_ns, forecast.warmup_ns);
    }
    for (uint32_t side = 0; side < 2 && status == KVC_OK; side++) {
        struct kvc_comparison_forecast forecast = {.warmup_ns = warmup_ns};
        status = forecast_side(machine, pair, side, progress, &forecast, diag);
        if (status == KVC_OK) {
            take_readings(&forecast, &made[side]);
        }
    }
    return status;
}

/* A forecast keeps a sample of the keys. */
static double memory_bytes(const void *data, uint32_t pair)
{
    const struct kvc_measured_machine *machine = data;
    const struct kvc_pair_forecast *sides = &machine->pair_forecasts[2 * pair];
    return fmax(sides[0].memory_bytes, sides[1].memory_bytes);
}

static enum kvc_status take(void *data, uint32_t pair, const void *answer, struct kvc_diag *diag)
{
    struct kvc_measured_machine *machine = data;
    (void)diag;
    memcpy(&machine->pair_forecasts[2 * pair], answer, 2 * sizeof(struct kvc_pair_forecast));
    return KVC_OK;
}

enum kvc_status kvc_machine_pairs_score(struct kvc_measured_machine *machine,
                                        const struct kvc_run_options *options, struct kvc_diag *diag)
{
    const struct kvc_pool_options pool = {
        .tasks = (uint32_t)machine->plan.pairs,
        .jobs = options->jobs > 0 ? options->jobs : kvc_pool_processors(),
        .answer_bytes = 2 * sizeof(struct kvc_pair_forecast),
        .noun = "pair",
        .data = machine,
        .body = forecast_pair,
        .memory_bytes = memory_bytes,
        .available_bytes = kvc_memory_available_bytes(),
        .take = take,
    };
    enum kvc_status status = machine->plan.pairs > 0 ? kvc_pool_run(&pool, options->progress, diag) : KVC_OK;
    if (status == KVC_OK) {
        kvc_pair_scores_fill(&machine->pair_scores, machine->pair_forecasts);
    }
    return status;
}

/* ---- the files ---- */

void kvc_machine_pairs_free(struct kvc_measured_machine *machine)
{
    free(machine->pairs);
    free(machine->pair_forecasts);
    machine->pairs = NULL;
    machine->pair_forecasts = NULL;
    kvc_pair_scores_free(&machine->pair_scores);
}

/* Loads both sides of every pair, so that a mistake in the last one is found before the first one runs. */
static enum kvc_status check_all(struct kvc_measured_machine *machine, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < 2 * machine->plan.pairs && status == KVC_OK; i++) {
        const struct kvc_measuring_plan_line line = line_of(&machine->plan.pair[i / 2], (uint32_t)(i % 2));
        struct kvc_loaded *loaded = NULL;
        status = kvc_validate_load_line(machine->subject, &line, kvc_validate_any_capacity_mops, "", &loaded,
                                        diag);
        if (status == KVC_OK) {
            status = kvc_validate_check(loaded, line.overrides, machine->plan.path, line.line, diag);
        }
        kvc_loaded_free(loaded);
        loaded = NULL;
        if (status == KVC_OK) {
            status =
                kvc_forecast_load(machine->subject, &line, kvc_validate_any_capacity_mops, "", &loaded, diag);
        }
        if (status == KVC_OK) {
            machine->pair_forecasts[i].memory_bytes = kvc_memory_needed_bytes(&loaded->scenario);
        }
        kvc_loaded_free(loaded);
    }
    return status;
}

enum kvc_status kvc_machine_pairs_read(struct kvc_measured_machine *machine, struct kvc_diag *diag)
{
    size_t pairs = machine->plan.pairs;
    char path[PATH_MAX];
    machine->pairs = kvc_array_of(pairs + 1, sizeof(*machine->pairs));
    machine->pair_forecasts = kvc_array_of(2 * pairs + 1, sizeof(*machine->pair_forecasts));
    if (pairs == 0) {
        return KVC_OK;
    }
    kvc_subject_path(machine->subject, file_name, path);
    enum kvc_status status = kvc_measured_pairs_read(path, &machine->plan, machine->pairs, diag);
    if (status == KVC_OK) {
        status = check_all(machine, diag);
    }
    if (status == KVC_OK) {
        status = kvc_pair_scores_list(&machine->plan, machine->pairs, machine->unseen, &machine->pair_scores,
                                      diag);
    }
    kvc_subject_path(machine->subject, kvc_pairs_baseline_name, path);
    return status == KVC_OK
               ? kvc_baseline_read(path, &machine->pair_scores.cases, machine->pair_scores.score, diag)
               : status;
}

const char kvc_pairs_baseline_name[] = "pairs_baseline.csv";

/* ---- the report ---- */

static void add_head(struct kvc_grid *grid, const char *const *head)
{
    for (size_t i = 0; i < grid->columns; i++) {
        kvc_grid_add(grid, head[i]);
    }
}

static void print_cases(const struct kvc_measured_machine *machine)
{
    static const char *const head[] = {"pair",     "metric", "closed form", "simulation",
                                       "measured", "+-",     "error",       "verdict"};
    const struct kvc_pair_scores *scores = &machine->pair_scores;
    struct kvc_grid grid = {.columns = sizeof(head) / sizeof(*head)};
    add_head(&grid, head);
    for (size_t i = 0; i < scores->cases.count; i++) {
        const struct kvc_pair_case *entry = &scores->entry[i];
        const struct kvc_case *scored = &scores->cases.entry[i];
        kvc_grid_add(&grid, machine->plan.pair[entry->pair].a.id);
        kvc_grid_add(&grid, scored->metric);
        kvc_grid_add_number(&grid, "%.4f", entry->closed_form);
        kvc_grid_add_number(&grid, "%.4f", scores->score[i].predicted.mean);
        kvc_grid_add_number(&grid, "%.4f", scored->published);
        kvc_grid_add_number(&grid, "%.1f %%", 100 * entry->half_frac);
        kvc_grid_add_number(&grid, "%+.1f %%", 100 * scores->score[i].error_frac.mean);
        kvc_grid_add(&grid, entry->undecidable               ? "undecidable"
                            : scored->role == KVC_CASE_INPUT ? "-"
                                                             : kvc_verdict_names[scores->score[i].verdict]);
    }
    kvc_grid_print(&grid, 0, stdout);
}

void kvc_machine_pairs_print(const struct kvc_measured_machine *machine)
{
    static const char *const head[] = {
        "ratio of",          "pairs", "undecidable",    "simulation: mean", "max",
        "closed form: mean", "max",   "direction right"};
    struct kvc_grid grid = {.columns = sizeof(head) / sizeof(*head)};
    if (machine->plan.pairs == 0) {
        return;
    }
    printf("\n%s pairs: measured in turns, ratios B / A\n", machine->unseen ? "unseen" : "seen");
    print_cases(machine);
    printf("\n");
    add_head(&grid, head);
    for (int m = 0; m < KVC_PAIR_METRICS; m++) {
        struct kvc_pair_summary found =
            kvc_pair_scores_summarise(&machine->pair_scores, (enum kvc_pair_metric)m);
        char text[64];
        if (found.errors.count + found.undecidable == 0) {
            continue;
        }
        kvc_grid_add(&grid, kvc_pair_metric_names[m]);
        kvc_grid_add_number(&grid, "%.0f", (double)found.errors.count);
        kvc_grid_add_number(&grid, "%.0f", (double)found.undecidable);
        kvc_grid_add_number(&grid, "%.1f %%", 100 * found.errors.mean_abs_frac);
        kvc_grid_add_number(&grid, "%.1f %%", 100 * found.errors.max_abs_frac);
        kvc_grid_add_number(&grid, "%.1f %%", 100 * found.closed_form.mean_abs_frac);
        kvc_grid_add_number(&grid, "%.1f %%", 100 * found.closed_form.max_abs_frac);
        snprintf(text, sizeof(text), "%zu of %zu", found.right, found.differing);
        kvc_grid_add(&grid, text);
    }
    kvc_grid_print(&grid, 2, stdout);
}

json_t *kvc_machine_pairs_document(const struct kvc_measured_machine *machine)
{
    const struct kvc_pair_scores *scores = &machine->pair_scores;
    json_t *list = json_array();
    for (size_t i = 0; i < scores->cases.count; i++) {
        const struct kvc_pair_case *entry = &scores->entry[i];
        const struct kvc_case *scored = &scores->cases.entry[i];
        const struct kvc_measuring_pair *pair = &machine->plan.pair[entry->pair];
        bool counted = scored->role == KVC_CASE_PREDICTION;
        json_array_append_new(
            list,
            json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "pair", pair->a.id,
                      "scenario", pair->a.scenario, "overrides", pair->a.overrides, "against", pair->against,
                      "metric", scored->metric, "measured", kvc_validate_number(scored->published),
                      "measured_half_frac", kvc_validate_number(entry->half_frac), "simulated",
                      kvc_validate_number(scores->score[i].predicted.mean), "closed_form",
                      kvc_validate_number(entry->closed_form), "error_frac",
                      kvc_validate_number(scores->score[i].error_frac.mean), "undecidable",
                      (int)entry->undecidable, "verdict",
                      counted ? json_string(kvc_verdict_names[scores->score[i].verdict]) : json_null()));
    }
    return list;
}
