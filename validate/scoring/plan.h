/* The plan of a machine: the runs to measure on it, one per line of plan.csv in the machine's folder.
 *
 * The columns are id, scenario (a file relative to the folder) and overrides (a list of key=value separated
 * by semicolons, as for --set, without commas). */
#ifndef KVC_VALIDATE_SCORING_PLAN_H
#define KVC_VALIDATE_SCORING_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/diag.h"

struct kvc_plan_line {
    char id[64];
    char scenario[160];
    char overrides[512];
    int line; /* Line in plan.csv. */
};

struct kvc_plan {
    char path[512]; /* Path of plan.csv. */
    size_t count;
    struct kvc_plan_line *entry;
};

void kvc_plan_free(struct kvc_plan *plan);

/* A malformed line is an error that names file and line, and a plan without runs is an error. On failure
 * nothing stays allocated. */
enum kvc_status kvc_plan_read(const char *path, struct kvc_plan *plan, struct kvc_diag *diag);

/* Returns the index of the run with this id, or -1. */
long kvc_plan_find(const struct kvc_plan *plan, const char *id);

/* Returns whether the run at this index is unseen: only `kvcast validate NAME --unseen` forecasts and shows
 * it, once a release. Every third run is unseen (the 3rd, 6th, 9th, ...). The rule is fixed before anything
 * is measured, so nobody can choose. */
bool kvc_plan_unseen(size_t index);

#endif
