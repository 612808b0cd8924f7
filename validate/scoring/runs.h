/* What was measured on a machine: runs.csv of its folder, a line for every line of its plan.
 *
 * Columns: id, scenario, overrides (as in the plan), turns, spread_frac, stalled_frac, the readings,
 * bottleneck. A reading that does not exist is an empty field; a run always has a throughput and a
 * bottleneck.
 */
#ifndef KVC_VALIDATE_SCORING_RUNS_H
#define KVC_VALIDATE_SCORING_RUNS_H

#include "validate/scoring/plan.h"
#include "validate/scoring/readings.h"

struct kvc_measured_run {
    uint32_t repetitions;         /* measurements; 0: not read yet */
    double spread_frac;           /* (largest - smallest) / median of their throughput */
    double stalled_frac;          /* of the time of the worst of them, threads were kept from running */
    struct kvc_readings readings; /* medians */
};

/* Fills runs[i] for plan->entry[i]. Malformed lines, runs that the plan has not or has otherwise, and lines
 * of the plan without a run are errors with file:line. */
enum kvc_status kvc_runs_read(const char *path, const struct kvc_plan *plan, struct kvc_measured_run *runs,
                              struct kvc_diag *diag);

void kvc_runs_write(FILE *out, const struct kvc_plan *plan, const struct kvc_measured_run *runs);

#endif
