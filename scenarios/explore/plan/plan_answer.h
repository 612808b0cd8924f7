/* The work of `kvcast plan`: open the outputs, make the plan, write it. */
#ifndef KVC_SCENARIOS_EXPLORE_PLAN_PLAN_ANSWER_H
#define KVC_SCENARIOS_EXPLORE_PLAN_PLAN_ANSWER_H

#include <stdbool.h>
#include <stdio.h>

#include "scenarios/explore/plan/plan.h"
#include "sim/base/diag.h"

struct kvc_plan_output {
    struct kvc_plan_options options;
    const char *out;  /* Folder for plan.json and plan.csv, or NULL. */
    const char *json; /* File for the JSON document, "-" for the stream, or NULL. */
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
