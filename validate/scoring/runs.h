/* The measurements of a machine: runs.csv in the machine's folder has one line for every run of its plan.
 *
 * The columns are id, scenario, load_frac, of and overrides (as in the plan), repetitions, spread_frac,
 * stalled_frac, the readings, and bottleneck. A missing reading is an empty field. Every run has a throughput
 * and a bottleneck.
 */
#ifndef KVC_VALIDATE_SCORING_RUNS_H
#define KVC_VALIDATE_SCORING_RUNS_H

#include "validate/scoring/plan.h"
#include "validate/scoring/readings.h"

struct kvc_measured_run {
    uint32_t repetitions;           /* Number of repetitions; 0 before the run is read. */
    double quiet_frac;              /* Fraction of the windows that were quiet; NaN: unknown. */
    double windows;                 /* Windows of all repetitions; NaN: unknown. */
    double core_speed_steps_per_ns; /* Mean speed of the cores (sim/probes/core_watch.h); NaN: unknown. */
    double spread_frac;             /* (largest - smallest) / median of the throughput. */
    double stalled_frac;            /* Fraction of its time that the worst repetition lost to other work. */
    struct kvc_readings readings;   /* Medians over the repetitions. */
};

/* Reads into runs[i] what was measured for plan->entry[i]. Errors, with file and line: a malformed line, a
 * run that is not in the plan or differs from it, and a planned run that is missing. */
enum kvc_status kvc_runs_read(const char *path, const struct kvc_plan *plan, struct kvc_measured_run *runs,
                              struct kvc_diag *diag);

void kvc_runs_write(FILE *out, const struct kvc_plan *plan, const struct kvc_measured_run *runs);

/* The same file, with a line for each repetition, lets an interrupted measurement go on. `runs` has room for
 * `repetitions` of every line: those of line i begin at runs[i * repetitions], and those that the file lacks
 * have repetitions = 0. More repetitions than fit are an error. */
enum kvc_status kvc_runs_read_repetitions(const char *path, const struct kvc_plan *plan, uint32_t repetitions,
                                          struct kvc_measured_run *runs, struct kvc_diag *diag);
void kvc_runs_write_header(FILE *out);
void kvc_runs_write_line(FILE *out, const struct kvc_plan *plan, size_t line,
                         const struct kvc_measured_run *run);

/* Combines repetitions of a line: the medians of the readings, the means of the quiet fraction and the core
 * speed, all windows, and the largest stalled fraction. A repetition without quiet windows counts only if
 * there are no others. */
void kvc_runs_combine(const struct kvc_measured_run *repetitions, uint32_t count,
                      struct kvc_measured_run *combined);

#endif
