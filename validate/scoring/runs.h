/* The measurements of a machine: runs.csv in the machine's folder has one line for every run of its plan.
 *
 * The columns are id, scenario and overrides (as in the plan), repetitions, spread_frac, stalled_frac, the
 * readings, and bottleneck. A missing reading is an empty field. Every run has a throughput and a bottleneck.
 */
#ifndef KVC_VALIDATE_SCORING_RUNS_H
#define KVC_VALIDATE_SCORING_RUNS_H

#include "validate/scoring/plan.h"
#include "validate/scoring/readings.h"

struct kvc_measured_run {
    uint32_t repetitions;         /* Number of repetitions; 0 before the run is read. */
    double spread_frac;           /* (largest - smallest) / median of the throughput. */
    double stalled_frac;          /* Fraction of its time that the worst repetition lost to other work. */
    struct kvc_readings readings; /* Medians over the repetitions. */
};

/* Reads into runs[i] what was measured for plan->entry[i]. Errors, with file and line: a malformed line, a
 * run that is not in the plan or differs from it, and a planned run that is missing. */
enum kvc_status kvc_runs_read(const char *path, const struct kvc_plan *plan, struct kvc_measured_run *runs,
                              struct kvc_diag *diag);

void kvc_runs_write(FILE *out, const struct kvc_plan *plan, const struct kvc_measured_run *runs);

#endif
