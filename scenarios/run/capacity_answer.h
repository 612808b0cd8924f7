/* The work of `kvcast capacity`: open the outputs, search the capacity, write it. */
#ifndef KVC_SCENARIOS_RUN_CAPACITY_ANSWER_H
#define KVC_SCENARIOS_RUN_CAPACITY_ANSWER_H

#include <stdbool.h>
#include <stdio.h>

#include "scenarios/load/load.h"
#include "scenarios/run/capacity.h"
#include "sim/base/diag.h"

struct kvc_capacity_task {
    const struct kvc_loaded *loaded;
    const char *path;                /* Path of the scenario, as the user wrote it. */
    const struct kvc_overrides *set; /* The user's overrides. */
    struct kvc_capacity_options options;
    const char *out;  /* Folder for capacity.json and capacity.csv, or NULL. */
    const char *json; /* File for the JSON document, "-" for the stream, or NULL. */
    bool color;       /* Use terminal colours in the table. */
};

/* Finds the capacity, writes the files, and then writes the table to `out`, or the document if `json` is "-".
 * Nothing starts if an output cannot be opened. */
enum kvc_status kvc_capacity_answer(const struct kvc_capacity_task *task, FILE *out, struct kvc_diag *diag);

/* Draws capacity.svg, .pdf and .png from the capacity in the folder. */
enum kvc_status kvc_capacity_draw(const char *folder, struct kvc_diag *diag);

#endif
