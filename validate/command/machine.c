/* kvcast validate: scores the runs of a measured machine and reports the scores. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "scenarios/cli/print.h"
#include "scenarios/run/limits.h"
#include "scenarios/run/pool.h"
#include "sim/base/array.h"
#include "sim/base/files/folder_lock.h"
#include "sim/base/files/partial_file.h"
#include "sim/metrics/bottleneck.h"
#include "validate/command/validate.h"

/* Loads every line, so that a mistake in the last one is found before the first one runs: first in its
 * written form, then in its forecast form. */
static enum kvc_status find_arrivals(struct kvc_measured_machine *machine, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < machine->plan.count && status == KVC_OK; i++) {
        struct kvc_loaded *loaded = NULL;
        status = kvc_validate_load_line(machine->subject, &machine->plan.entry[i],
                                        kvc_validate_any_capacity_mops, "", &loaded, diag);
        if (status == KVC_OK && kvc_measured_machine_shows(machine, i)) {
            status = kvc_validate_check(loaded, machine->plan.entry[i].overrides, machine->plan.path,
                                        machine->plan.entry[i].line, diag);
        }
        if (status == KVC_OK) {
            status = kvc_validate_check_capacity(&machine->plan, i, loaded, diag);
            machine->forecasts[i].open_loop = loaded->scenario.workload.arrival != KVC_ARRIVAL_SATURATE;
            kvc_loaded_free(loaded);
            loaded = NULL;
            status = kvc_forecast_load(machine->subject, &machine->plan.entry[i],
                                       kvc_validate_any_capacity_mops, "", &loaded, diag);
        }
        if (status == KVC_OK) {
            machine->forecasts[i].stalls = machine->runs[i].stalls;
            machine->forecasts[i].memory_bytes = kvc_memory_needed_bytes(&loaded->scenario);
            machine->forecasts[i].search_jobs = machine->runs[i].readings.value[KVC_READING_JOBS_PER_SEARCH];
            machine->forecasts[i].insert_jobs = machine->runs[i].readings.value[KVC_READING_JOBS_PER_INSERT];
            machine->forecasts[i].memory_speed_frac =
                kvc_forecast_memory_speed_frac(&loaded->scenario, machine->runs[i].memory.line_ns);
            machine->forecasts[i].core_speed_frac =
                kvc_forecast_core_speed_frac(&loaded->scenario, machine->runs[i].core_speed_steps_per_ns);
        }
        kvc_loaded_free(loaded);
    }
    return status;
}

/* Returns whether the forecast of this line is reported, or is the capacity of one that is. */
static bool is_needed(const struct kvc_measured_machine *machine, size_t line)
{
    bool needed = kvc_measured_machine_shows(machine, line);
    for (size_t i = line + 1; i < machine->plan.count && !needed; i++) {
        const struct kvc_measuring_plan_line *other = &machine->plan.entry[i];
        needed = kvc_measuring_plan_line_is_relative(other) && other->of == line &&
                 kvc_measured_machine_shows(machine, i);
    }
    for (size_t i = 0; i < machine->plan.pairs && !needed; i++) {
        const struct kvc_measuring_plan_line *pair = &machine->plan.pair[i].a;
        needed = kvc_measuring_plan_line_is_relative(pair) && pair->of == line &&
                 kvc_measured_machine_shows(machine, i);
    }
    return needed;
}

/* The lines of one pass: first those that state their load, then those that refer to the forecasts of the
 * first ones. */
struct pass {
    struct kvc_measured_machine *machine;
    bool relative;
};

static enum kvc_status forecast_task(void *data, uint32_t task, const struct kvc_progress *progress,
                                     void *answer, struct kvc_diag *diag)
{
    const struct pass *pass = data;
    const struct kvc_measured_machine *machine = pass->machine;
    struct kvc_comparison_forecast *forecast = answer;
    const struct kvc_run_options options = {.jobs = 1, .progress = progress};
    *forecast = machine->forecasts[task];
    if (kvc_measuring_plan_line_is_relative(&machine->plan.entry[task]) != pass->relative ||
        !is_needed(machine, task)) {
        return KVC_OK;
    }
    const struct kvc_measuring_plan_line *line = &machine->plan.entry[task];
    return kvc_forecast_line(machine->subject, line, &machine->forecasts[line->of], &options, forecast, diag);
}

static double memory_bytes(const void *data, uint32_t task)
{
    const struct pass *pass = data;
    return pass->machine->forecasts[task].memory_bytes;
}

static enum kvc_status take(void *data, uint32_t task, const void *answer, struct kvc_diag *diag)
{
    struct pass *pass = data;
    (void)diag;
    pass->machine->forecasts[task] = *(const struct kvc_comparison_forecast *)answer;
    return KVC_OK;
}

static enum kvc_status forecast_all(struct kvc_measured_machine *machine,
                                    const struct kvc_run_options *options, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (int relative = 0; relative <= 1 && status == KVC_OK; relative++) {
        struct pass pass = {machine, relative != 0};
        const struct kvc_pool_options pool = {
            .tasks = (uint32_t)machine->plan.count,
            .jobs = options->jobs > 0 ? options->jobs : kvc_pool_processors(),
            .answer_bytes = sizeof(struct kvc_comparison_forecast),
            .noun = "run",
            .data = &pass,
            .body = forecast_task,
            .memory_bytes = memory_bytes,
            .available_bytes = kvc_memory_available_bytes(),
            .take = take,
        };
        status = kvc_pool_run(&pool, options->progress, diag);
    }
    return status;
}

void kvc_measured_machine_free(struct kvc_measured_machine *machine)
{
    kvc_measuring_plan_free(&machine->plan);
    free(machine->runs);
    free(machine->forecasts);
    kvc_comparison_free(&machine->comparison);
    kvc_machine_pairs_free(machine);
    machine->runs = NULL;
    machine->forecasts = NULL;
}

enum kvc_status kvc_measured_machine_read(const struct kvc_subject *subject, bool unseen,
                                          struct kvc_measured_machine *machine, struct kvc_diag *diag)
{
    char path[PATH_MAX];
    *machine = (struct kvc_measured_machine){.subject = subject, .unseen = unseen};
    kvc_subject_path(machine->subject, "plan.csv", path);
    enum kvc_status status = kvc_measuring_plan_read(path, &machine->plan, diag);
    if (status != KVC_OK) {
        return status;
    }
    machine->runs = kvc_array_of(machine->plan.count + 1, sizeof(*machine->runs));
    machine->forecasts = kvc_array_of(machine->plan.count + 1, sizeof(*machine->forecasts));
    kvc_subject_path(machine->subject, "runs.csv", path);
    status = kvc_runs_read(path, &machine->plan, machine->runs, diag);
    if (status == KVC_OK) {
        status = find_arrivals(machine, diag);
    }
    if (status == KVC_OK) {
        status = kvc_comparison_list(&machine->plan, machine->runs, machine->forecasts, machine->unseen,
                                     &machine->comparison, diag);
    }
    kvc_subject_path(machine->subject, "baseline.csv", path);
    if (status == KVC_OK) {
        status = kvc_baseline_read(path, &machine->comparison.cases, machine->comparison.score, diag);
    }
    return status == KVC_OK ? kvc_machine_pairs_read(machine, diag) : status;
}

enum kvc_status kvc_measured_machine_score(const struct kvc_subject *subject, bool unseen,
                                           const struct kvc_run_options *options,
                                           struct kvc_measured_machine *machine, struct kvc_diag *diag)
{
    enum kvc_status status = kvc_measured_machine_read(subject, unseen, machine, diag);
    if (status == KVC_OK) {
        status = forecast_all(machine, options, diag);
    }
    if (status == KVC_OK) {
        kvc_comparison_score(&machine->comparison, machine->forecasts);
        status = kvc_machine_pairs_score(machine, options, diag);
    }
    return status;
}

/* ---- report ---- */

static const double NOISY_SPREAD_FRAC = 0.1;

/* The readings that are scored, and the titles of their summaries. */
static const struct {
    enum kvc_reading reading;
    const char *title;
} classes[] = {
    {KVC_READING_THROUGHPUT, "saturation throughput"}, {KVC_READING_LATENCY_MEAN, "latency mean"},
    {KVC_READING_LATENCY_P99, "latency p99"},          {KVC_READING_SEARCH_JOB, "T_S at equal jobs"},
    {KVC_READING_INSERT_JOB, "T_I at equal jobs"},
};

enum { CLASSES = sizeof(classes) / sizeof(*classes) };

static const char *part_name(const struct kvc_measured_machine *machine)
{
    return machine->unseen ? "unseen" : "seen";
}

static void add_row(const struct kvc_measured_machine *machine, size_t i, struct kvc_grid *grid)
{
    const struct kvc_compared *compared = &machine->comparison.entry[i];
    const struct kvc_case *scored = &machine->comparison.cases.entry[i];
    const struct kvc_score *score = &machine->comparison.score[i];
    kvc_grid_add(grid, machine->plan.entry[compared->run].id);
    kvc_grid_add(grid, scored->metric);
    kvc_grid_add_number(grid, "%.5g", compared->closed_form);
    kvc_grid_add_number(grid, "%+.1f %%", 100 * compared->closed_form_error_frac);
    kvc_grid_add_number(grid, "%.5g", score->predicted.mean);
    kvc_grid_add_number(grid, "%+.1f %%", 100 * score->error_frac.mean);
    kvc_grid_add_number(grid, "%.5g", scored->published);
    kvc_grid_add_number(grid, "%g %%", 100 * scored->tolerance_frac);
    kvc_grid_add(grid, compared->undecidable            ? "undecidable"
                       : scored->role == KVC_CASE_INPUT ? "-"
                                                        : kvc_verdict_names[score->verdict]);
    kvc_grid_add_number(grid, "%.1f %%",
                        100 * machine->runs[compared->run].readings.half_frac[compared->reading]);
    kvc_grid_add_number(grid, "%.0f %%", 100 * machine->runs[compared->run].quiet_frac);
    kvc_grid_add_number(grid, "%.1f %%", 100 * machine->forecasts[compared->run].core_speed_frac);
    kvc_grid_add_number(grid, "%.1f %%", 100 * machine->forecasts[compared->run].memory_speed_frac);
    kvc_grid_add_number(grid, "%.1f %%", 100 * machine->runs[compared->run].spread_frac);
}

static void print_cases(const struct kvc_measured_machine *machine)
{
    static const char *const head[] = {"case",  "metric",     "closed form",  "error",   "simulation",
                                       "error", "measured",   "tolerance",    "verdict", "+-",
                                       "quiet", "core speed", "memory speed", "spread"};
    struct kvc_grid grid = {.columns = sizeof(head) / sizeof(*head)};
    for (size_t i = 0; i < grid.columns; i++) {
        kvc_grid_add(&grid, head[i]);
    }
    for (size_t i = 0; i < machine->comparison.cases.count; i++) {
        add_row(machine, i, &grid);
    }
    kvc_grid_print(&grid, 0, stdout);
}

/* Prints what clients of the machine see beyond the quiet windows, which no score counts. */
static void print_tails(const struct kvc_measured_machine *machine)
{
    bool any = false;
    for (size_t i = 0; i < machine->plan.count; i++) {
        const struct kvc_measured_run *run = &machine->runs[i];
        const struct kvc_comparison_forecast *forecast = &machine->forecasts[i];
        if (!kvc_measured_machine_shows(machine, i) || !(forecast->stalled_p99_us > 0)) {
            continue;
        }
        if (!any) {
            printf("\n%s runs: p99 that clients see, stalls of the machine included; not scored\n",
                   part_name(machine));
        }
        any = true;
        printf(
            "  %s: measured %.5g us in all windows (%.5g us in the quiet ones); simulation %.5g +- %.2g us "
            "with the measured stalls (%.5g us without)\n",
            machine->plan.entry[i].id, run->raw_latency_p99_us, run->readings.value[KVC_READING_LATENCY_P99],
            forecast->stalled_p99_us, forecast->stalled_p99_half_width_us,
            forecast->simulated.value[KVC_READING_LATENCY_P99]);
    }
}

static void print_noisy(const struct kvc_measured_machine *machine)
{
    for (size_t i = 0; i < machine->plan.count; i++) {
        if (kvc_measured_machine_shows(machine, i) && machine->runs[i].spread_frac > NOISY_SPREAD_FRAC) {
            printf("noisy machine: %s, %u repetitions differ by %.0f %%\n", machine->plan.entry[i].id,
                   machine->runs[i].repetitions, 100 * machine->runs[i].spread_frac);
        }
    }
}

static void print_wrong_bottlenecks(const struct kvc_measured_machine *machine)
{
    for (size_t i = 0; i < machine->plan.count; i++) {
        const char *measured = machine->runs[i].readings.bottleneck;
        const struct kvc_comparison_forecast *forecast = &machine->forecasts[i];
        if (kvc_measured_machine_shows(machine, i) && strcmp(measured, kvc_bottleneck_undecided) != 0 &&
            !kvc_bottleneck_names(measured, forecast->simulated.bottleneck)) {
            printf("bottleneck of %s: measured %s, simulation %s, closed form %s\n",
                   machine->plan.entry[i].id, measured, forecast->simulated.bottleneck,
                   forecast->closed_form.bottleneck);
        }
    }
}

static struct kvc_error_summary summary_of(const struct kvc_measured_machine *machine, int class,
                                           bool closed_form)
{
    const struct kvc_comparison_part part = {classes[class].reading, closed_form};
    return kvc_comparison_summarise(&machine->comparison, &part);
}

static void add_errors(struct kvc_grid *grid, const struct kvc_error_summary *summary)
{
    bool none = summary->count == 0;
    kvc_grid_add_number(grid, "%.1f %%", none ? NAN : 100 * summary->mean_abs_frac);
    kvc_grid_add_number(grid, "%.1f %%", none ? NAN : 100 * summary->p95_abs_frac);
    kvc_grid_add_number(grid, "%.1f %%", none ? NAN : 100 * summary->max_abs_frac);
}

/* Prints the bounds of the errors and whether they are met, and how many readings are undecidable. */
static void print_bounds(const struct kvc_measured_machine *machine)
{
    size_t undecidable = 0;
    for (size_t i = 0; i < machine->comparison.cases.count; i++) {
        undecidable += machine->comparison.entry[i].undecidable;
    }
    for (int i = 0; i < CLASSES; i++) {
        const struct kvc_error_bounds *bounds = &kvc_error_bounds[classes[i].reading];
        struct kvc_error_summary found = summary_of(machine, i, false);
        if (found.count > 0) {
            printf("  %s: mean error at most %g %%: %s; largest at most %g %%: %s\n", classes[i].title,
                   100 * bounds->mean_frac, found.mean_abs_frac <= bounds->mean_frac ? "met" : "MISSED",
                   100 * bounds->largest_frac, found.max_abs_frac <= bounds->largest_frac ? "met" : "MISSED");
        }
    }
    if (undecidable > 0) {
        printf("  undecidable: %zu readings whose 95 %% interval is wider than half the bound of the mean "
               "error, or not known; they do not count\n",
               undecidable);
    }
}

static void print_repeatability(const struct kvc_measured_machine *machine)
{
    struct kvc_repeatability found =
        kvc_comparison_repeatability(&machine->plan, machine->runs, machine->forecasts, machine->unseen);
    if (found.runs > 0) {
        printf(
            "  repetitions of a saturated run differ by %.1f %% on average over %zu runs, at most by %.1f %%\n",
            100 * found.mean_frac, found.runs, 100 * found.max_frac);
    }
}

static void print_errors(const struct kvc_measured_machine *machine)
{
    static const char *const head[] = {
        "metric", "predictions", "simulation: mean", "p95", "max", "closed form: mean", "p95", "max"};
    struct kvc_grid grid = {.columns = sizeof(head) / sizeof(*head)};
    printf("\n%s runs: absolute errors\n", part_name(machine));
    for (size_t i = 0; i < grid.columns; i++) {
        kvc_grid_add(&grid, head[i]);
    }
    for (int i = 0; i < CLASSES; i++) {
        struct kvc_error_summary simulated = summary_of(machine, i, false);
        struct kvc_error_summary closed_form = summary_of(machine, i, true);
        if (simulated.count + closed_form.count == 0) {
            continue;
        }
        kvc_grid_add(&grid, classes[i].title);
        kvc_grid_add_number(&grid, "%.0f", (double)simulated.count);
        add_errors(&grid, &simulated);
        add_errors(&grid, &closed_form);
    }
    kvc_grid_print(&grid, 2, stdout);
    print_bounds(machine);
    print_repeatability(machine);
    struct kvc_bottlenecks found =
        kvc_comparison_bottlenecks(&machine->plan, machine->runs, machine->forecasts, machine->unseen);
    if (found.runs > 0) {
        printf("  correct bottlenecks: simulation %zu of %zu (%.0f %%), closed form %zu of %zu (%.0f %%); "
               "%zu undecided\n",
               found.right_simulated, found.runs, 100.0 * (double)found.right_simulated / (double)found.runs,
               found.right_closed_form, found.runs,
               100.0 * (double)found.right_closed_form / (double)found.runs, found.undecided);
    }
}

void kvc_measured_machine_print(const struct kvc_measured_machine *machine)
{
    print_cases(machine);
    print_noisy(machine);
    print_wrong_bottlenecks(machine);
    print_errors(machine);
    print_tails(machine);
    kvc_machine_pairs_print(machine);
    struct kvc_score_summary all = kvc_score_summarise(&machine->comparison.cases, machine->comparison.score);
    printf("\n%s, %s runs: %zu predictions, %zu outside their tolerance", machine->subject->name,
           part_name(machine), all.points.count, all.points_missed);
    if (!machine->unseen) {
        printf(", %zu regressed", all.regressed);
    }
    /* No input can be fitted: only `kvcast calibrate` writes a profile, and it does not run a store. */
    printf(
        "\nfitted inputs: 0; machine.lua lists the calibrated ones, and no end-to-end measurement enters it\n");
}

void kvc_measured_machine_list(const struct kvc_measured_machine *machine, json_t *cases)
{
    const struct kvc_comparison *comparison = &machine->comparison;
    for (size_t i = 0; i < comparison->cases.count; i++) {
        const struct kvc_case *scored = &comparison->cases.entry[i];
        const struct kvc_compared *compared = &comparison->entry[i];
        const struct kvc_measuring_plan_line *line = &machine->plan.entry[compared->run];
        const struct kvc_score *score = &comparison->score[i];
        bool counted = scored->role == KVC_CASE_PREDICTION;
        json_t *entry = json_pack("{s:s, s:s, s:b, s:s, s:s, s:s, s:s}", "case", line->id, "machine",
                                  machine->subject->name, "unseen", (int)machine->unseen, "role",
                                  counted ? "prediction" : "input", "scenario", line->scenario, "overrides",
                                  line->overrides, "metric", scored->metric);
        const struct {
            const char *name;
            double value;
        } numbers[] = {
            {"closed_form", compared->closed_form},
            {"simulated", score->predicted.mean},
            {"simulated_half_width", score->predicted.half_width},
            {"measured", scored->published},
            {"error_frac", score->error_frac.mean},
            {"error_half_width_frac", score->error_frac.half_width},
            {"closed_form_error_frac", compared->closed_form_error_frac},
            {"tolerance_frac", scored->tolerance_frac},
            {"baseline_frac", score->baseline_frac.mean},
            {"baseline_half_width_frac", score->baseline_frac.half_width},
            {"spread_frac", machine->runs[compared->run].spread_frac},
            {"stalled_frac", machine->runs[compared->run].stalled_frac},
            {"quiet_frac", machine->runs[compared->run].quiet_frac},
            {"core_speed_steps_per_ns", machine->runs[compared->run].core_speed_steps_per_ns},
            {"core_speed_frac", machine->forecasts[compared->run].core_speed_frac},
            {"memory_line_ns", machine->runs[compared->run].memory.line_ns},
            {"memory_speed_frac", machine->forecasts[compared->run].memory_speed_frac},
            {"measured_half_frac", machine->runs[compared->run].readings.half_frac[compared->reading]},
        };
        for (size_t j = 0; j < sizeof(numbers) / sizeof(*numbers); j++) {
            json_object_set_new(entry, numbers[j].name, kvc_validate_number(numbers[j].value));
        }
        json_object_set_new(entry, "undecidable", json_boolean(compared->undecidable));
        json_object_set_new(entry, "verdict",
                            counted ? json_string(kvc_verdict_names[score->verdict]) : json_null());
        json_array_append_new(cases, entry);
    }
}

static json_t *errors_document(const struct kvc_error_summary *summary)
{
    bool none = summary->count == 0;
    return json_pack("{s:I, s:o, s:o, s:o}", "count", (json_int_t)summary->count, "mean_abs_frac",
                     kvc_validate_number(none ? NAN : summary->mean_abs_frac), "p95_abs_frac",
                     kvc_validate_number(none ? NAN : summary->p95_abs_frac), "max_abs_frac",
                     kvc_validate_number(none ? NAN : summary->max_abs_frac));
}

static json_t *part_document(const struct kvc_measured_machine *machine)
{
    struct kvc_bottlenecks found =
        kvc_comparison_bottlenecks(&machine->plan, machine->runs, machine->forecasts, machine->unseen);
    json_t *part = json_pack("{s:I, s:I, s:I, s:I}", "runs", (json_int_t)(found.runs + found.undecided),
                             "bottlenecks_right_simulated", (json_int_t)found.right_simulated,
                             "bottlenecks_right_closed_form", (json_int_t)found.right_closed_form,
                             "bottlenecks_undecided", (json_int_t)found.undecided);
    for (int i = 0; i < CLASSES; i++) {
        struct kvc_error_summary simulated = summary_of(machine, i, false);
        struct kvc_error_summary closed_form = summary_of(machine, i, true);
        json_object_set_new(part, kvc_reading_names[classes[i].reading],
                            json_pack("{s:o, s:o}", "simulated", errors_document(&simulated), "closed_form",
                                      errors_document(&closed_form)));
    }
    return part;
}

json_t *kvc_measured_machine_summary(const struct kvc_measured_machine *machine)
{
    json_t *bottlenecks = json_array();
    for (size_t i = 0; i < machine->plan.count; i++) {
        if (kvc_measured_machine_shows(machine, i)) {
            json_array_append_new(bottlenecks,
                                  json_pack("{s:s, s:b, s:s, s:s, s:s}", "case", machine->plan.entry[i].id,
                                            "unseen", (int)machine->unseen, "measured",
                                            machine->runs[i].readings.bottleneck, "simulated",
                                            machine->forecasts[i].simulated.bottleneck, "closed_form",
                                            machine->forecasts[i].closed_form.bottleneck));
        }
    }
    return json_pack("{s:s, s:i, s:s, s:o, s:o, s:o}", "machine", machine->subject->name, "fitted_inputs", 0,
                     "runs", part_name(machine), "errors", part_document(machine), "bottlenecks", bottlenecks,
                     "pairs", kvc_machine_pairs_document(machine));
}

void kvc_measured_machine_write_errors(const struct kvc_measured_machine *machine, FILE *out)
{
    for (size_t i = 0; i < machine->comparison.cases.count; i++) {
        const struct kvc_case *scored = &machine->comparison.cases.entry[i];
        size_t run = machine->comparison.entry[i].run;
        if (scored->role == KVC_CASE_PREDICTION) {
            fprintf(out, "%s,%s,,%.6g,%.6g\n", machine->plan.entry[run].id, scored->metric, scored->published,
                    machine->comparison.score[i].predicted.mean);
        }
    }
}

/* ---- log of the unseen runs ---- */

extern char **environ;

const char kvc_unseen_header[] = "date,commit,metric,count,mean_abs_frac,p95_abs_frac,max_abs_frac";

/* Starts a program whose output goes to the stream. */
static int spawn(char *const *arguments, FILE *said, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        return error;
    }
    error = posix_spawn_file_actions_adddup2(&actions, fileno(said), STDOUT_FILENO);
    if (error == 0) {
        error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    if (error == 0) {
        error = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Asks git for the commit of the folder, with "-dirty" if files differ from it. */
static bool ask_git(const char *folder, char *commit, size_t size)
{
    char *arguments[] = {"git", "-C", (char *)folder, "describe", "--always", "--dirty", "--exclude",
                         "*",   NULL};
    pid_t child;
    int status = -1;
    int descriptor = memfd_create("git", MFD_CLOEXEC);
    FILE *said = descriptor >= 0 ? fdopen(descriptor, "w+") : NULL;
    if (said == NULL) {
        return false;
    }
    if (spawn(arguments, said, &child) == 0) {
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
            ;
        }
    }
    rewind(said);
    bool found = status == 0 && fgets(commit, (int)size, said) != NULL;
    fclose(said);
    if (found) {
        commit[strcspn(commit, "\n,")] = '\0';
    }
    return found && commit[0] != '\0';
}

static enum kvc_status find_commit(const char *folder, char *commit, size_t size, struct kvc_diag *diag)
{
    const char *given = getenv("KVCAST_COMMIT");
    if (ask_git(folder, commit, size)) {
        return KVC_OK;
    }
    if (given == NULL || given[0] == '\0' || strpbrk(given, ",\n\"") != NULL || strlen(given) >= size) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "validate: --unseen logs the commit, but %s is in no git tree; set KVCAST_COMMIT to "
            "a name without commas",
            folder);
    }
    strcpy(commit, given);
    return KVC_OK;
}

static void write_rows(const struct kvc_measured_machine *machine, const char *date, const char *commit,
                       FILE *out)
{
    struct kvc_bottlenecks found =
        kvc_comparison_bottlenecks(&machine->plan, machine->runs, machine->forecasts, true);
    for (int i = 0; i < KVC_READINGS; i++) {
        const struct kvc_comparison_part part = {.reading = i};
        struct kvc_error_summary errors = kvc_comparison_summarise(&machine->comparison, &part);
        if (errors.count > 0) {
            fprintf(out, "%s,%s,%s,%zu,%.4f,%.4f,%.4f\n", date, commit, kvc_reading_names[i], errors.count,
                    errors.mean_abs_frac, errors.p95_abs_frac, errors.max_abs_frac);
        }
    }
    if (found.runs > 0) {
        fprintf(out, "%s,%s,bottleneck_wrong,%zu,%.4f,,\n", date, commit, found.runs,
                1 - (double)found.right_simulated / (double)found.runs);
    }
}

/* Copies the log, or begins a new one. */
static enum kvc_status copy_log(const char *path, FILE *out, struct kvc_diag *diag)
{
    FILE *in = fopen(path, "re");
    int c;
    if (in == NULL && errno == ENOENT) {
        fprintf(out, "%s\n", kvc_unseen_header);
        return KVC_OK;
    }
    while (in != NULL && (c = getc(in)) != EOF) {
        putc(c, out);
    }
    bool failed = in == NULL || ferror(in);
    if (failed) {
        kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, path, 0, "cannot be read: %s", strerror(errno));
    }
    if (in != NULL) {
        fclose(in);
    }
    return failed ? KVC_ERR_RUNTIME : KVC_OK;
}

/* Writes the log with the new rows at its end, so that a full disk leaves the old log. */
static enum kvc_status append_rows(const struct kvc_measured_machine *machine, const char *date,
                                   const char *commit, struct kvc_diag *diag)
{
    char path[PATH_MAX];
    struct kvc_partial_file log = {0};
    kvc_subject_path(machine->subject, "unseen.log", path);
    enum kvc_status status = kvc_partial_file_replace(&log, path, diag);
    if (status == KVC_OK) {
        status = copy_log(path, log.file, diag);
    }
    if (status == KVC_OK) {
        write_rows(machine, date, commit, log.file);
        status = kvc_partial_file_commit(&log, diag);
    }
    kvc_partial_file_discard(&log);
    return status;
}

enum kvc_status kvc_measured_machine_log_unseen(const struct kvc_measured_machine *machine,
                                                struct kvc_diag *diag)
{
    char commit[80], date[32];
    struct kvc_folder_lock lock = {0};
    time_t now = time(NULL);
    struct tm today;
    enum kvc_status status = find_commit(machine->subject->folder, commit, sizeof(commit), diag);
    if (status != KVC_OK) {
        return status;
    }
    strftime(date, sizeof(date), "%Y-%m-%d", gmtime_r(&now, &today));
    status = kvc_folder_lock_take(&lock, machine->subject->folder, diag);
    if (status == KVC_OK) {
        status = append_rows(machine, date, commit, diag);
    }
    kvc_folder_lock_release(&lock);
    return status;
}
