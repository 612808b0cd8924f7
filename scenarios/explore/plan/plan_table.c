/* A plan as a summary for a terminal. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "models/model.h"
#include "scenarios/explore/plan/plan_report.h"

enum { FRONT_ROWS = 20 /* The files have them all. */ };

struct table {
    FILE *out;
    const char *bold, *warn, *plain; /* Terminal escapes, or "". */
};

static void heading(const struct table *table, const char *name)
{
    fprintf(table->out, "%s%-14s%s", table->bold, name, table->plain);
}

/* Formats four significant digits, or "-". */
static const char *digits(double value, char text[32])
{
    if (!isfinite(value)) {
        return "-";
    }
    int before = value == 0 ? 0 : (int)floor(log10(fabs(value)));
    snprintf(text, 32, "%.*f", before >= 3 ? 0 : before < -3 ? 6 : 3 - before, value);
    return text;
}

static void write_values(const struct table *table, const struct kvc_planned *planned, const char *name,
                         uint32_t candidate)
{
    char text[512];
    kvc_plan_describe(planned, candidate, text, sizeof(text));
    heading(table, name);
    fprintf(table->out, "%s  (point %u of %u)\n", text, candidate + 1, planned->search.count);
}

/* Writes price, power and nodes. Power by closed form is marked as such. */
static void write_cost(const struct table *table, const struct kvc_planned *planned, uint32_t number)
{
    const struct kvc_plan_candidate *candidate = &planned->search.candidate[number];
    char text[32];
    double watts = kvc_plan_value(&planned->search, candidate, KVC_PLAN_WATTS).mean;
    heading(table, "");
    fprintf(table->out, "%s, %g node%s", kvc_plan_fate_names[candidate->fate], candidate->nodes,
            candidate->nodes == 1 ? "" : "s");
    if (!isnan(candidate->price_usd)) {
        fprintf(table->out, ", %.0f USD", candidate->price_usd);
    }
    if (!isnan(watts)) {
        fprintf(table->out, ", %s W%s", digits(watts, text),
                candidate->replicas > 0 ? "" : " by closed form");
    }
    if (candidate->replicas > 0) {
        fprintf(table->out, "; simulated by %u replicas\n", candidate->replicas);
    } else {
        fputs("; not simulated\n", table->out);
    }
}

/* Writes what was found about a goal and the margin, or that the closed form does not know it. */
static void write_goal(const struct table *table, const struct kvc_plan_goal *goal,
                       const struct kvc_interval *found)
{
    double margin_frac = kvc_plan_margin_frac(goal, found->mean);
    double worse = found->mean + (goal->at_least ? -1 : 1) * found->half_width;
    const char *side = goal->at_least ? "at least" : "at most";
    char value[32], half[32], bound[32];
    heading(table, "");
    fprintf(table->out, "%s%-16s%s", margin_frac < 0 ? table->warn : "", kvc_plan_metric_names[goal->metric],
            margin_frac < 0 ? table->plain : "");
    if (isnan(found->mean)) {
        fprintf(table->out, "  unknown to the closed form, %s %s\n", side, digits(goal->bound, bound));
        return;
    }
    fprintf(table->out, "%10s", digits(found->mean, value));
    if (isfinite(found->half_width)) {
        fprintf(table->out, " +- %s", digits(found->half_width, half));
    }
    fprintf(table->out, ", %s %s: margin %+.1f %%", side, digits(goal->bound, bound), 100 * margin_frac);
    if (isfinite(worse)) {
        fprintf(table->out, ", at its worse end %+.1f %%", 100 * kvc_plan_margin_frac(goal, worse));
    }
    fputc('\n', table->out);
}

static void write_candidate(const struct table *table, const struct kvc_planned *planned, const char *name,
                            int64_t candidate)
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

static void write_binding(const struct table *table, const struct kvc_plan_binding *binding)
{
    char text[32];
    if (binding->stage[0] == '\0') {
        return;
    }
    heading(table, "binding");
    fprintf(table->out, "%s on the %s is %.1f %% busy", binding->stage, binding->device,
            100 * binding->utilization_frac);
    if (binding->resource[0] != '\0') {
        fprintf(table->out, "; a higher load meets %s at %s Mops (5 %% faster: %+.1f %%)", binding->resource,
                digits(binding->limit_mops, text), 100 * binding->gain_frac);
    }
    fputs(", by closed form\n", table->out);
}

static void write_headroom(const struct table *table, const struct kvc_plan_headroom *headroom)
{
    char mean[32], low[32], high[32];
    if (!headroom->is_known) {
        return;
    }
    heading(table, "headroom");
    fprintf(table->out, "serves up to %s Mops (%s .. %s), %+.1f %%\n", digits(headroom->mean_mops, mean),
            digits(headroom->low_mops, low), digits(headroom->high_mops, high),
            100 * (headroom->mean_mops / headroom->offered_mops - 1));
}

/* Writes how many candidates have this fate, and if a goal decided, by which. */
static void write_fate(const struct table *table, const struct kvc_planned *planned, enum kvc_plan_fate fate,
                       const char *text)
{
    uint32_t count = kvc_plan_count(planned, fate, -1);
    const char *separator = " (";
    if (count == 0) {
        return;
    }
    fprintf(table->out, ", %u %s", count, text);
    for (uint32_t i = 0; i < planned->goal_count && fate != KVC_PLAN_REFUSED && fate != KVC_PLAN_BEATEN;
         i++) {
        uint32_t by_goal = kvc_plan_count(planned, fate, (int)i);
        if (by_goal > 0) {
            fprintf(table->out, "%s%s %u", separator, kvc_plan_metric_names[planned->goal[i].metric],
                    by_goal);
            separator = ", ";
        }
    }
    fputs(separator[0] == ',' ? ")" : "", table->out);
}

static void write_counts(const struct table *table, const struct kvc_planned *planned)
{
    heading(table, "candidates");
    fprintf(table->out, "%u", planned->search.count);
    write_fate(table, planned, KVC_PLAN_REFUSED, "refused");
    write_fate(table, planned, KVC_PLAN_PRUNED, "pruned by closed form");
    write_fate(table, planned, KVC_PLAN_BEATEN, "no better than the chosen one");
    write_fate(table, planned, KVC_PLAN_FAILED, "failed in simulation");
    write_fate(table, planned, KVC_PLAN_UNDECIDED, "undecided");
    uint32_t confirmed = kvc_plan_count(planned, KVC_PLAN_CONFIRMED, -1) + (planned->search.chosen >= 0);
    fprintf(table->out, ", %u confirmed; %u simulations\n", confirmed, planned->search.simulations);
}

static void write_front(const struct table *table, const struct kvc_planned *planned)
{
    const struct kvc_plan_front *front = &planned->front;
    char text[512], value[32];
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
        kvc_plan_describe(planned, front->candidate[i], text, sizeof(text));
        fprintf(table->out, "%12g", front->has_price ? candidate->price_usd : candidate->nodes);
        fprintf(table->out, "%12s", digits(known[KVC_PLAN_WATTS], value));
        fprintf(table->out, "%18s",
                front->latency < KVC_PLAN_METRICS ? digits(known[front->latency], value) : "-");
        fprintf(table->out, "  %-11s%s\n", kvc_plan_fate_names[candidate->fate], text);
    }
    if (front->count > FRONT_ROWS) {
        fprintf(table->out, "... and %u more\n", front->count - FRONT_ROWS);
    }
}

void kvc_plan_write_table(const struct kvc_plan_report *report, bool color, FILE *out)
{
    const struct kvc_planned *planned = report->planned;
    const struct kvc_scenario *scenario = &report->loaded->scenario;
    struct table table = {.out = out, .bold = "", .warn = "", .plain = ""};
    struct kvc_plan_notes notes;
    char text[1024];
    if (color) {
        table.bold = "\033[1m";
        table.warn = "\033[33m";
        table.plain = "\033[0m";
    }
    fprintf(out, "%s%s%s  %s, plan for least %s\n\n", table.bold, scenario->name, table.plain,
            scenario->model->name, kvc_plan_objective_names[planned->search.minimise]);
    write_candidate(&table, planned, "chosen", planned->search.chosen);
    if (planned->search.chosen < 0) {
        kvc_plan_explain(planned, text, sizeof(text));
        fprintf(out, "%s%s%s\n", table.warn, text, table.plain);
    }
    write_candidate(&table, planned, "nearest", planned->search.nearest);
    write_candidate(&table, planned, "runner-up", planned->search.runner_up);
    write_binding(&table, &planned->binding);
    write_headroom(&table, &planned->headroom);
    write_counts(&table, planned);
    write_front(&table, planned);
    kvc_plan_note(planned, &notes);
    for (uint32_t i = 0; i < notes.count; i++) {
        fprintf(out, "%snote: %s\n", i == 0 ? "\n" : "", notes.note[i]);
    }
}
