/* What `kvcast run`, `predict` and `measure` have in common: outputs are opened, the answer is found,
 * everything is written. */
#ifndef KVC_SCENARIOS_RUN_ANSWER_H
#define KVC_SCENARIOS_RUN_ANSWER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "scenarios/load/load.h"
#include "scenarios/output/report.h"
#include "sim/base/diag.h"

/* Where an answer comes from. */
enum kvc_answer_by { KVC_ANSWER_BY_RUN, KVC_ANSWER_BY_PREDICTION, KVC_ANSWER_BY_MEASUREMENT };

struct kvc_answer_options {
    const struct kvc_loaded *loaded;
    const char *path;                /* of the scenario, as the user named it */
    const struct kvc_overrides *set; /* the user's */
    enum kvc_answer_by by;
    uint32_t jobs;    /* 0: automatic */
    const char *out;  /* folder for everything; NULL: none */
    const char *json; /* file for the document, "-": the stream; NULL: none */
    bool color;       /* of the table */
    const struct kvc_progress *progress;
};

/* Finds the answer and writes the folder and the JSON file, then the table (or the document, for "-") to
 * `out`. Nothing starts when an output cannot be opened. */
enum kvc_status kvc_answer(const struct kvc_answer_options *task, FILE *out, struct kvc_diag *diag);

/* Draws latency_cdf.svg, .pdf and .png from the folder's result. */
enum kvc_status kvc_answer_draw(const char *folder, struct kvc_diag *diag);

#endif
