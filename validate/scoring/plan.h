/* What is measured on a machine: plan.csv of its folder, one run per line.
 *
 * Columns: id, scenario (a file relative to the folder), overrides (a ;-separated list of key=value as for
 * --set, without commas). */
#ifndef KVC_VALIDATE_SCORING_PLAN_H
#define KVC_VALIDATE_SCORING_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/diag.h"

struct kvc_plan_line {
    char id[64];
    char scenario[160];
    char overrides[512];
    int line; /* of the file */
};

struct kvc_plan {
    char path[512]; /* of the file */
    size_t count;
    struct kvc_plan_line *entry;
};

void kvc_plan_free(struct kvc_plan *plan);

/* Every malformed line is an error with file:line, and so is a plan without lines. On failure nothing is left
 * allocated. */
enum kvc_status kvc_plan_read(const char *path, struct kvc_plan *plan, struct kvc_diag *diag);

/* Index of the line with this id, or -1. */
long kvc_plan_find(const struct kvc_plan *plan, const char *id);

/* Whether the run at this index is held out: its figures are scored as a prediction that nobody looked at
 * while the models were worked on. Of the lines, numbered from 1, it is every one whose number is a multiple
 * of 3: the rule is fixed before anything is measured, so that nobody can choose. */
bool kvc_plan_held_out(size_t index);

#endif
