/* The work that `kvcast run`, `predict` and `measure` share: open the outputs, find the answer, write it. */
#ifndef KVC_SCENARIOS_RUN_ANSWER_H
#define KVC_SCENARIOS_RUN_ANSWER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "scenarios/load/load.h"
#include "scenarios/output/report.h"
#include "sim/base/diag.h"

/* How the answer is found. */
enum kvc_answer_by { KVC_ANSWER_BY_RUN, KVC_ANSWER_BY_PREDICTION, KVC_ANSWER_BY_MEASUREMENT };

struct kvc_answer_options {
    const struct kvc_loaded *loaded;
    const char *path;                /* Path of the scenario, as the user wrote it. */
    const struct kvc_overrides *set; /* The user's overrides. */
    enum kvc_answer_by by;
    uint32_t jobs;    /* 0 for as many as fit. */
    const char *out;  /* Folder for all files, or NULL. */
    const char *json; /* File for the JSON document, "-" for the stream, or NULL. */
    bool sensitivity; /* Find the sensitivity to the hardware, too; not of a measurement. */
    bool color;       /* Use terminal colours in the table. */
    const struct kvc_progress *progress;
};

/* Finds the answer, writes the folder and the JSON file, and then writes the table to `out`, or the document
 * if `json` is "-". Nothing starts if an output cannot be opened. */
enum kvc_status kvc_answer(const struct kvc_answer_options *task, FILE *out, struct kvc_diag *diag);

/* Draws latency_cdf.svg, .pdf and .png from the result in the folder. */
enum kvc_status kvc_answer_draw(const char *folder, struct kvc_diag *diag);

#endif
