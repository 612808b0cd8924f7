/* The work of `kvcast day` after the scenario is loaded: it opens the outputs, answers the day and writes it
 * as a table, as JSON and as CSV.
 *
 * day.json has the schema "kvcast.day/1". Its members are schema, scenario, system, seed, version, command,
 * command_line, by ("simulation" or "closed form"), usd_per_kwh, runs, slo_met (null: unknown, or no
 * objective), slo_p99_us, requests, energy_kwh, energy_ci95_kwh, cost_usd, missed_hours, watts_missing, worst
 * (the number of a window, from 1), windows, accuracy, warnings, parameters and provenance. A window has
 * window, from_hour, to_hour, rate_mops, run, the columns of a sweep (scenarios/explore/sweep/row.h),
 * energy_kwh, cost_usd, slo_met and margin_frac. day.csv has a row for each window with the same columns. No
 * value depends on the wall clock. */
#ifndef KVC_SCENARIOS_EXPLORE_DAY_REPORT_H
#define KVC_SCENARIOS_EXPLORE_DAY_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "scenarios/explore/day/day.h"
#include "sim/base/diag.h"

struct kvc_day_output {
    struct kvc_day_options options;
    const char *out;  /* Folder for day.json and day.csv, or NULL. */
    const char *json; /* File for the JSON document, "-" for the stream, or NULL. */
    bool keeps;       /* Keep the answer to another question that is in `out` (kvc_folder_keep()). */
    bool color;       /* Use terminal colours in the table. */
};

/* Answers the day, writes the files, and then writes the table to `out`, or the document if `json` is "-".
 * Nothing starts if an output cannot be opened. */
enum kvc_status kvc_day_answer_write(const struct kvc_day_output *output, FILE *out, struct kvc_diag *diag);

/* Draws day.svg, .pdf and .png from the day in the folder. */
enum kvc_status kvc_day_draw(const char *folder, struct kvc_diag *diag);

#endif
