/* The plan of a machine: the runs to measure on it, one per line of plan.csv in the machine's folder.
 *
 * The columns are id, scenario, load_frac, of and overrides:
 *  scenario   A file relative to the folder.
 *  load_frac  The load of an open loop, as a fraction of a capacity: Poisson arrivals at load_frac times the
 *             throughput of the run `of`. Empty for a run whose load its scenario and overrides state.
 *  of         The id of an earlier, saturating run: the same configuration, whose throughput is the capacity.
 *             A measurement takes the measured capacity, a simulation the simulated one. Both then run at the
 *             same utilization, which is what decides how long requests queue. Empty without load_frac.
 *  overrides  A list of key=value separated by semicolons, as for --set, without commas. */
#ifndef KVC_VALIDATE_SCORING_PLAN_H
#define KVC_VALIDATE_SCORING_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/diag.h"

struct kvc_plan_line {
    char id[64];
    char scenario[160];
    double load_frac; /* Load as a fraction of the capacity; NaN when the scenario states the load. */
    size_t of;        /* Index of the run whose throughput is the capacity; unused without load_frac. */
    char overrides[512];
    int line; /* Line in plan.csv. */
};

/* Returns whether the line states its load as a fraction of a capacity. */
static inline bool kvc_plan_line_is_relative(const struct kvc_plan_line *line)
{
    return line->load_frac > 0;
}

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

/* Writes the cells load_frac and of of a line as they stand in plan.csv: "0.7,a", or ",". */
enum { KVC_PLAN_LOAD_BYTES = 96 };
void kvc_plan_describe_load(const struct kvc_plan *plan, const struct kvc_plan_line *line,
                            char text[KVC_PLAN_LOAD_BYTES]);

/* Returns whether the run at this index is unseen: only `kvcast validate NAME --unseen` forecasts and shows
 * it, once a release. Every third run is unseen (the 3rd, 6th, 9th, ...). The rule is fixed before anything
 * is measured, so nobody can choose. */
bool kvc_plan_unseen(size_t index);

#endif
