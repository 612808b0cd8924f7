/* The work of `kvcast plan` after the scenario is loaded: it opens the outputs, makes the plan and writes it
 * as a table, as JSON and as CSV.
 *
 * plan.json has the schema "kvcast.plan/1". Its members are schema, scenario, system, seed, version, command,
 * command_line, minimise, offered_mops, is_met, goals, counts, simulations, replicas, confidence, chosen,
 * runner_up, nearest, undecided, front, binding, headroom, closed_form_errors, accuracy, notes, parameters
 * and provenance. A candidate (chosen, runner_up, nearest, front, undecided) has point, values by path,
 * nodes, price_usd, fate, decided_by, replicas, closed_form by metric, simulated by metric ({mean,
 * half_width}; null without replicas) and goals, each with found, half_width, margin_frac and
 * margin_least_frac, the margin at the worse end of the interval. The intervals come from the last look
 * (scenarios/explore/plan/goal.h), so they hold together. plan.csv has a row for each candidate. No value
 * depends on the wall clock. */
#ifndef KVC_SCENARIOS_EXPLORE_PLAN_REPORT_H
#define KVC_SCENARIOS_EXPLORE_PLAN_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "scenarios/explore/plan/plan.h"
#include "sim/base/diag.h"

enum { KVC_PLAN_NOTES_MAX = 8, KVC_PLAN_NOTE_BYTES = 480 };

struct kvc_plan_report {
    const char *command_line; /* Command that repeats the result, without jobs and output files. */
    const struct kvc_loaded *loaded;
    const struct kvc_planned *planned;
};

/* Notes for the user besides the numbers. */
struct kvc_plan_notes {
    uint32_t count;
    char note[KVC_PLAN_NOTES_MAX][KVC_PLAN_NOTE_BYTES];
};

void kvc_plan_note(const struct kvc_planned *planned, struct kvc_plan_notes *notes);

/* Returns a candidate's value of a goal's metric: from its replicas, or from the closed form without any. */
struct kvc_interval kvc_plan_found(const struct kvc_planned *planned, uint32_t candidate, uint32_t goal);

/* Counts the candidates with this fate. If `goal` is at least 0, it counts only those that this goal decided.
 */
uint32_t kvc_plan_count(const struct kvc_planned *planned, enum kvc_plan_fate fate, int goal);

/* Writes the JSON document and a newline. */
enum kvc_status kvc_plan_write_json(const struct kvc_plan_report *report, FILE *out, struct kvc_diag *diag);

/* Writes a row for each candidate. Write errors stay in the stream (ferror). */
void kvc_plan_write_csv(const struct kvc_planned *planned, FILE *out);

struct kvc_plan_output {
    struct kvc_plan_options options;
    const char *out;  /* Folder for plan.json and plan.csv, or NULL. */
    const char *json; /* File for the JSON document, "-" for the stream, or NULL. */
    bool keeps;       /* Keep the answer to another question that is in `out` (kvc_folder_keep()). */
    bool color;       /* Use terminal colours in the table. */
};

/* Makes the plan, writes the files, and then writes the table to `out`, or the document if `json` is "-".
 * Nothing starts if an output cannot be opened. *is_met becomes whether a candidate meets the slo; otherwise
 * `why` says what comes nearest. */
enum kvc_status kvc_plan_answer_write(const struct kvc_plan_output *output, FILE *out, bool *is_met,
                                      char *why, size_t why_size, struct kvc_diag *diag);

/* Draws pareto.svg, .pdf and .png from the plan in the folder. */
enum kvc_status kvc_plan_draw(const char *folder, struct kvc_diag *diag);

#endif
