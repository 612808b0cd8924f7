/* kvcast validate: the scores of a machine as tables, as JSON and as CSV. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/cli/print.h"
#include "validate/command/validate.h"
#include "sim/metrics/bottleneck.h"

static const double NOISY_SPREAD_FRAC = 0.1;

/* The readings that are scored, and the titles of their summaries. */
static const struct {
    enum kvc_reading reading;
    const char *title;
} classes[] = {
    {KVC_READING_THROUGHPUT, "saturation throughput"},
    {KVC_READING_LATENCY_MEAN, "latency mean"},
    {KVC_READING_LATENCY_P99, "latency p99"},
    {KVC_READING_SEARCH_JOB, "T_S by job"},
    {KVC_READING_INSERT_JOB, "T_I by job"},
};

enum { CLASSES = sizeof(classes) / sizeof(*classes) };

static const char *part_name(const struct kvc_measured_machine *machine)
{
    return machine->unseen ? "unseen" : "seen";
}

/* Adds the formatted value, or "-" for NaN. */
static void add_number(struct kvc_grid *grid, const char *format, double value)
{
    char text[64];
    snprintf(text, sizeof(text), format, value);
    kvc_grid_add(grid, isnan(value) ? "-" : text);
}

static void add_row(const struct kvc_measured_machine *machine, size_t i, struct kvc_grid *grid)
{
    const struct kvc_compared *compared = &machine->comparison.entry[i];
    const struct kvc_case *scored = &machine->comparison.cases.entry[i];
    const struct kvc_score *score = &machine->comparison.score[i];
    kvc_grid_add(grid, machine->plan.entry[compared->run].id);
    kvc_grid_add(grid, scored->metric);
    add_number(grid, "%.5g", compared->closed_form);
    add_number(grid, "%+.1f %%", 100 * compared->closed_form_error_frac);
    add_number(grid, "%.5g", score->predicted.mean);
    add_number(grid, "%+.1f %%", 100 * score->error_frac.mean);
    add_number(grid, "%.5g", scored->published);
    add_number(grid, "%g %%", 100 * scored->tolerance_frac);
    kvc_grid_add(grid, compared->undecidable            ? "undecidable"
                       : scored->role == KVC_CASE_INPUT ? "-"
                                                        : kvc_verdict_names[score->verdict]);
    add_number(grid, "%.1f %%", 100 * machine->runs[compared->run].readings.half_frac[compared->reading]);
    add_number(grid, "%.0f %%", 100 * machine->runs[compared->run].quiet_frac);
    add_number(grid, "%.1f %%", 100 * machine->forecasts[compared->run].core_speed_frac);
    add_number(grid, "%.1f %%", 100 * machine->runs[compared->run].spread_frac);
}

static void print_cases(const struct kvc_measured_machine *machine)
{
    static const char *const head[] = {"case",  "metric",     "closed form", "error",   "simulation",
                                       "error", "measured",   "tolerance",   "verdict", "+-",
                                       "quiet", "core speed", "spread"};
    struct kvc_grid grid = {.columns = sizeof(head) / sizeof(*head)};
    for (size_t i = 0; i < grid.columns; i++) {
        kvc_grid_add(&grid, head[i]);
    }
    for (size_t i = 0; i < machine->comparison.cases.count; i++) {
        add_row(machine, i, &grid);
    }
    kvc_grid_print(&grid, 0, stdout);
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
    add_number(grid, "%.1f %%", none ? NAN : 100 * summary->mean_abs_frac);
    add_number(grid, "%.1f %%", none ? NAN : 100 * summary->p95_abs_frac);
    add_number(grid, "%.1f %%", none ? NAN : 100 * summary->max_abs_frac);
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
        add_number(&grid, "%.0f", (double)simulated.count);
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
        const struct kvc_plan_line *line = &machine->plan.entry[compared->run];
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
    return json_pack("{s:s, s:i, s:s, s:o, s:o}", "machine", machine->subject->name, "fitted_inputs", 0,
                     "runs", part_name(machine), "errors", part_document(machine), "bottlenecks",
                     bottlenecks);
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
