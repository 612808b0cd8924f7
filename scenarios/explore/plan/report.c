#include "scenarios/explore/plan/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "models/model.h"
#include "scenarios/output/accuracy.h"
#include "scenarios/output/table.h"
#include "scenarios/run/answer.h"
#include "scenarios/run/ranks/ranks.h"

struct kvc_interval kvc_plan_found(const struct kvc_planned *planned, uint32_t candidate, uint32_t goal)
{
    return kvc_plan_value(&planned->search, &planned->search.candidate[candidate],
                          planned->goal[goal].metric);
}

uint32_t kvc_plan_count(const struct kvc_planned *planned, enum kvc_plan_fate fate, int goal)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < planned->search.count; i++) {
        const struct kvc_plan_candidate *candidate = &planned->search.candidate[i];
        count += candidate->fate == fate && (goal < 0 || candidate->goal == (uint32_t)goal);
    }
    return count;
}

/* Writes a sentence that says why no candidate meets the slo: what comes nearest and which goal it misses. */
static void explain(const struct kvc_planned *planned, char *text, size_t size)
{
    const struct kvc_plan_search *search = &planned->search;
    char values[512];
    uint32_t goal, which = (uint32_t)search->nearest;
    double short_frac = kvc_plan_shortfall_frac(search, &search->candidate[which], &goal);
    kvc_space_show(planned->space, which, values, sizeof(values));
    if (!(short_frac > 0)) {
        snprintf(text, size, "no candidate is confirmed to meet the slo; %s stays undecided at %s", values,
                 planned->goal[search->candidate[which].goal].name);
        return;
    }
    snprintf(text, size,
             "no candidate meets the slo; %s comes nearest and misses %s by %.3g %%: %.4g, %s %.4g", values,
             planned->goal[goal].name, 100 * short_frac, kvc_plan_found(planned, which, goal).mean,
             planned->goal[goal].at_least ? "at least" : "at most", planned->goal[goal].bound);
}

static void add(struct kvc_plan_notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct kvc_plan_notes *notes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(notes->note[notes->count++], KVC_PLAN_NOTE_BYTES, format, arguments);
    va_end(arguments);
}

/* Returns whether the closed form can prune by a goal other than the price. */
static bool can_prune(const struct kvc_planned *planned)
{
    for (uint32_t i = 0; i < planned->goal_count; i++) {
        for (int j = 0; j < KVC_PLAN_METRICS && planned->goal[i].metric < KVC_PLAN_METRICS; j++) {
            if (planned->errors.of[j][planned->goal[i].metric].answers > 0) {
                return true;
            }
        }
    }
    return false;
}

void kvc_plan_note(const struct kvc_planned *planned, struct kvc_plan_notes *notes)
{
    uint32_t refused = kvc_plan_count(planned, KVC_PLAN_REFUSED, -1);
    uint32_t excluded = kvc_plan_count(planned, KVC_PLAN_EXCLUDED, -1);
    uint32_t undecided = kvc_plan_count(planned, KVC_PLAN_UNDECIDED, -1);
    notes->count = 0;
    if (refused > 0) {
        add(notes, "%u points are refused, the first because: %.300s", refused, planned->refusal);
    }
    if (excluded > 0) {
        add(notes, "%u of the points state too little and are excluded; unknown: %s", excluded,
            planned->exclusion);
    }
    if (undecided > 0) {
        add(notes,
            "%u candidates stay undecided after up to %u replicas%s; a longer run.duration or more plan.replicas "
            "decide them",
            undecided, planned->search.test.most,
            planned->search.chosen >= 0 ? ", although they would be better than the chosen one" : "");
    }
    if (!can_prune(planned)) {
        add(notes,
            "the closed form of this store was never compared with its simulation, so it prunes nothing "
            "(kvcast validate mechanisms)");
    }
}

enum { FRONT_ROWS = 20 /* The files have them all. */ };

static void write_values(const struct kvc_table *table, const struct kvc_planned *planned, const char *name,
                         uint32_t candidate)
{
    char text[512];
    kvc_space_show(planned->space, candidate, text, sizeof(text));
    kvc_table_heading(table, name);
    fprintf(table->out, "%s  (point %u of %u)\n", text, candidate + 1, planned->search.count);
}

static void write_missing(const struct kvc_table *table, const char *what, const char *missing)
{
    if (missing[0] != '\0') {
        fprintf(table->out, ", %sno %s is stated for %s%s", table->warn, what, missing, table->plain);
    }
}

/* Writes price, power and nodes. Power by closed form is marked as such. */
static void write_cost(const struct kvc_table *table, const struct kvc_planned *planned, uint32_t number)
{
    const struct kvc_plan_candidate *candidate = &planned->search.candidate[number];
    char text[KVC_TABLE_DIGITS_TEXT];
    double watts = kvc_plan_value(&planned->search, candidate, KVC_PLAN_WATTS).mean;
    kvc_table_heading(table, "");
    fprintf(table->out, "%s, %g node%s", kvc_plan_fate_names[candidate->fate], candidate->nodes,
            candidate->nodes == 1 ? "" : "s");
    if (!isnan(candidate->price_usd)) {
        fprintf(table->out, ", %.0f USD", candidate->price_usd);
    }
    if (!isnan(watts)) {
        fprintf(table->out, ", %s W%s", kvc_table_digits(watts, text),
                candidate->replicas > 0 ? "" : " by closed form");
    }
    write_missing(table, "price", planned->forecast[number].price_missing);
    write_missing(table, "power", planned->forecast[number].watts_missing);
    if (candidate->replicas > 0) {
        fprintf(table->out, "; simulated by %u replicas\n", candidate->replicas);
    } else {
        fputs("; not simulated\n", table->out);
    }
}

/* Writes what was found about a goal and the margin, or that the closed form does not know it. */
static void write_goal(const struct kvc_table *table, const struct kvc_plan_goal *goal,
                       const struct kvc_interval *found)
{
    double margin_frac = kvc_plan_margin_frac(goal, found->mean);
    double worse = found->mean + (goal->at_least ? -1 : 1) * found->half_width;
    const char *side = goal->at_least ? "at least" : "at most";
    char value[KVC_TABLE_DIGITS_TEXT], half[KVC_TABLE_DIGITS_TEXT], bound[KVC_TABLE_DIGITS_TEXT];
    kvc_table_heading(table, "");
    fprintf(table->out, "%s%-16s%s", margin_frac < 0 ? table->warn : "", goal->name,
            margin_frac < 0 ? table->plain : "");
    if (isnan(found->mean)) {
        fprintf(table->out, "  unknown to the closed form, %s %s\n", side,
                kvc_table_digits(goal->bound, bound));
        return;
    }
    fprintf(table->out, "%10s", kvc_table_digits(found->mean, value));
    if (isfinite(found->half_width)) {
        fprintf(table->out, " +- %s", kvc_table_digits(found->half_width, half));
    }
    fprintf(table->out, ", %s %s: margin %+.1f %%", side, kvc_table_digits(goal->bound, bound),
            100 * margin_frac);
    if (isfinite(worse)) {
        fprintf(table->out, ", at its worse end %+.1f %%", 100 * kvc_plan_margin_frac(goal, worse));
    }
    fputc('\n', table->out);
}

static void write_candidate(const struct kvc_table *table, const struct kvc_planned *planned,
                            const char *name, int64_t candidate)
{
    if (candidate < 0) {
        return;
    }
    write_values(table, planned, name, (uint32_t)candidate);
    write_cost(table, planned, (uint32_t)candidate);
    for (uint32_t i = 0; i < planned->goal_count; i++) {
        struct kvc_interval found = kvc_plan_found(planned, (uint32_t)candidate, i);
        write_goal(table, &planned->goal[i], &found);
    }
}

static void write_binding(const struct kvc_table *table, const struct kvc_plan_binding *binding)
{
    char text[KVC_TABLE_DIGITS_TEXT];
    if (binding->stage[0] == '\0') {
        return;
    }
    kvc_table_heading(table, "binding");
    fprintf(table->out, "%s on the %s is %.1f %% busy", binding->stage, binding->device,
            100 * binding->utilization_frac);
    if (binding->resource[0] != '\0') {
        fprintf(table->out, "; a higher load meets %s at %s Mops (5 %% faster: %+.1f %%)", binding->resource,
                kvc_table_digits(binding->limit_mops, text), 100 * binding->gain_frac);
    }
    fputs(", by closed form\n", table->out);
}

static void write_headroom(const struct kvc_table *table, const struct kvc_plan_headroom *headroom)
{
    char mean[KVC_TABLE_DIGITS_TEXT], low[KVC_TABLE_DIGITS_TEXT], high[KVC_TABLE_DIGITS_TEXT];
    if (!headroom->is_known) {
        return;
    }
    kvc_table_heading(table, "headroom");
    fprintf(table->out, "serves up to %s Mops (%s .. %s), %+.1f %%\n",
            kvc_table_digits(headroom->mean_mops, mean), kvc_table_digits(headroom->low_mops, low),
            kvc_table_digits(headroom->high_mops, high),
            100 * (headroom->mean_mops / headroom->offered_mops - 1));
}

/* Writes how many candidates have this fate, and if a goal decided, by which. */
static void write_fate(const struct kvc_table *table, const struct kvc_planned *planned,
                       enum kvc_plan_fate fate, const char *text)
{
    uint32_t count = kvc_plan_count(planned, fate, -1);
    const char *separator = " (";
    if (count == 0) {
        return;
    }
    fprintf(table->out, ", %u %s", count, text);
    for (uint32_t i = 0; i < planned->goal_count && fate >= KVC_PLAN_PRUNED && fate != KVC_PLAN_BEATEN; i++) {
        uint32_t by_goal = kvc_plan_count(planned, fate, (int)i);
        if (by_goal > 0) {
            fprintf(table->out, "%s%s %u", separator, planned->goal[i].name, by_goal);
            separator = ", ";
        }
    }
    fputs(separator[0] == ',' ? ")" : "", table->out);
}

static void write_counts(const struct kvc_table *table, const struct kvc_planned *planned)
{
    kvc_table_heading(table, "candidates");
    fprintf(table->out, "%u", planned->search.count);
    write_fate(table, planned, KVC_PLAN_REFUSED, "refused");
    write_fate(table, planned, KVC_PLAN_EXCLUDED, "excluded");
    write_fate(table, planned, KVC_PLAN_PRUNED, "pruned by closed form");
    write_fate(table, planned, KVC_PLAN_BEATEN, "no better than the chosen one");
    write_fate(table, planned, KVC_PLAN_FAILED, "failed in simulation");
    write_fate(table, planned, KVC_PLAN_UNDECIDED, "undecided");
    uint32_t confirmed = kvc_plan_count(planned, KVC_PLAN_CONFIRMED, -1) + (planned->search.chosen >= 0);
    fprintf(table->out, ", %u confirmed; %u simulations\n", confirmed, planned->search.simulations);
}

static void write_front(const struct kvc_table *table, const struct kvc_planned *planned)
{
    const struct kvc_plan_front *front = &planned->front;
    char text[512], value[KVC_TABLE_DIGITS_TEXT];
    if (front->count == 0) {
        return;
    }
    fprintf(table->out, "\n%s%12s%12s%18s  %-11s%s%s\n", table->bold,
            front->has_price ? "price USD" : "nodes", "W",
            front->latency < KVC_PLAN_METRICS ? kvc_plan_metric_names[front->latency] : "-", "fate",
            "Pareto front by closed form", table->plain);
    for (uint32_t i = 0; i < front->count && i < FRONT_ROWS; i++) {
        const struct kvc_plan_candidate *candidate = &planned->search.candidate[front->candidate[i]];
        const double *known = candidate->closed_form;
        kvc_space_show(planned->space, front->candidate[i], text, sizeof(text));
        fprintf(table->out, "%12g", front->has_price ? candidate->price_usd : candidate->nodes);
        fprintf(table->out, "%12s", kvc_table_digits(known[KVC_PLAN_WATTS], value));
        fprintf(table->out, "%18s",
                front->latency < KVC_PLAN_METRICS ? kvc_table_digits(known[front->latency], value) : "-");
        fprintf(table->out, "  %-11s%s\n", kvc_plan_fate_names[candidate->fate], text);
    }
    if (front->count > FRONT_ROWS) {
        fprintf(table->out, "... and %u more\n", front->count - FRONT_ROWS);
    }
}

/* Writes the summary for a terminal, with escapes if `color` is set. */
static void write_summary(const struct kvc_plan_report *report, bool color, FILE *out)
{
    const struct kvc_planned *planned = report->planned;
    const struct kvc_scenario *scenario = &report->loaded->scenario;
    struct kvc_table table = kvc_table_begin(out, color);
    struct kvc_plan_notes notes;
    char text[1024];
    fprintf(out, "%s%s%s  %s, plan for least %s\n\n", table.bold, scenario->name, table.plain,
            scenario->model->name, kvc_plan_objective_names[planned->search.minimise]);
    write_candidate(&table, planned, "chosen", planned->search.chosen);
    if (planned->search.chosen < 0) {
        explain(planned, text, sizeof(text));
        fprintf(out, "%s%s%s\n", table.warn, text, table.plain);
    }
    write_candidate(&table, planned, "nearest", planned->search.nearest);
    write_candidate(&table, planned, "runner-up", planned->search.runner_up);
    write_binding(&table, &planned->binding);
    write_headroom(&table, &planned->headroom);
    write_counts(&table, planned);
    const struct kvc_accuracy_kind kind = kvc_accuracy_kind_of(report->loaded, KVC_ACCURACY_SIMULATION, true);
    kvc_accuracy_write_line(&kind, table.bold, table.plain, out);
    write_front(&table, planned);
    kvc_plan_note(planned, &notes);
    for (uint32_t i = 0; i < notes.count; i++) {
        fprintf(out, "%snote: %s\n", i == 0 ? "\n" : "", notes.note[i]);
    }
}

enum { COMMAND_LINE_MAX = 4096 };

static void write_command_line(const struct kvc_plan_options *options, char *text, size_t size)
{
    snprintf(text, size, "kvcast plan %s%s%s", options->path, options->exhaustive ? " --exhaustive" : "",
             options->headroom ? " --headroom" : "");
    kvc_overrides_append(options->set, text, size);
}

static enum kvc_status write_json(const void *report, FILE *out, struct kvc_diag *diag)
{
    return kvc_plan_write_json(report, out, diag);
}

static void write_csv(const void *report, FILE *out)
{
    kvc_plan_write_csv(((const struct kvc_plan_report *)report)->planned, out);
}

static void write_table(const void *report, bool color, FILE *out)
{
    write_summary(report, color, out);
}

enum kvc_status kvc_plan_answer_write(const struct kvc_plan_output *output, FILE *out, bool *is_met,
                                      char *why, size_t why_size, struct kvc_diag *diag)
{
    char command_line[COMMAND_LINE_MAX];
    struct kvc_answer_files files;
    struct kvc_planned planned = {.goal_count = 0};
    const struct kvc_plan_report report = {
        .command_line = command_line, .loaded = output->options.loaded, .planned = &planned};
    const struct kvc_question question = {command_line, output->options.loaded};
    const struct kvc_answer_forms forms = {&report,     write_json,    write_csv,
                                           write_table, output->color, output->keeps ? &question : NULL};
    write_command_line(&output->options, command_line, sizeof(command_line));
    enum kvc_status status =
        kvc_ranks_agree(kvc_answer_files_open(&files, output->out, "plan", output->json, diag), diag);
    if (status == KVC_OK) {
        status = kvc_plan_make(&output->options, &planned, diag);
    }
    if (status == KVC_OK) {
        kvc_progress_done(output->options.progress);
        status = kvc_answer_files_write(&files, &forms, out, diag);
    }
    if (status == KVC_OK) {
        *is_met = planned.search.chosen >= 0;
        why[0] = '\0';
        if (!*is_met) {
            explain(&planned, why, why_size);
        }
    }
    kvc_answer_files_discard(&files);
    kvc_planned_free(&planned);
    return status;
}

enum kvc_status kvc_plan_draw(const char *folder, struct kvc_diag *diag)
{
    return kvc_answer_files_draw(folder, "pareto", KVC_PLOT_PARETO, &folder, 1, diag);
}
