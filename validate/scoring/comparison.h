/* The runs of a machine against their simulation and their closed form.
 *
 * Scored is the simulation: the throughput of a load that saturates, mean and 99th percentile of the latency
 * of an open-loop load, and the time of a search and of an insert launch where they were measured. Each is a
 * case "RUN:FIGURE" with errors, verdicts and a baseline as published figures have them
 * (validate/scoring/score.h).
 */
#ifndef KVC_VALIDATE_SCORING_COMPARISON_H
#define KVC_VALIDATE_SCORING_COMPARISON_H

#include "validate/scoring/runs.h"
#include "validate/scoring/score.h"

/* What is forecast of one run. */
struct kvc_forecast {
    bool open_loop;      /* arrivals do not wait for answers; else the load saturates */
    double memory_bytes; /* that its simulation needs */
    struct kvc_readings closed_form, simulated;
};

/* One case. */
struct kvc_compared {
    size_t run;         /* index in the plan */
    int reading;        /* enum kvc_reading */
    double closed_form; /* NaN: it has no such figure */
    double closed_form_error_frac;
};

/* cases.entry[i], score[i] and entry[i] belong together. */
struct kvc_comparison {
    struct kvc_cases cases;
    struct kvc_score *score;
    struct kvc_compared *entry;
};

void kvc_comparison_free(struct kvc_comparison *comparison);

/* Which figures are compared: needs open_loop of the forecasts only. On failure nothing is left allocated. */
enum kvc_status kvc_comparison_list(const struct kvc_plan *plan, const struct kvc_measured_run *runs,
                                    const struct kvc_forecast *forecasts, struct kvc_comparison *comparison,
                                    struct kvc_diag *diag);

/* Fills errors and verdicts against the baseline that is in the scores. A launch time that the simulation
 * does not tell is an input from then on: shown and not counted. */
void kvc_comparison_score(struct kvc_comparison *comparison, const struct kvc_forecast *forecasts);

/* Which cases a summary is of. */
struct kvc_comparison_part {
    int reading; /* enum kvc_reading */
    bool held_out;
    bool closed_form; /* errors of the closed form, of the cases where it has a figure */
};

struct kvc_error_summary kvc_comparison_summarise(const struct kvc_comparison *comparison,
                                                  const struct kvc_comparison_part *part);

/* Of the seen or the held-out runs: how many there are, and of how many the bottleneck is named right. */
struct kvc_bottlenecks {
    size_t runs, right_simulated, right_closed_form;
};

struct kvc_bottlenecks kvc_comparison_bottlenecks(const struct kvc_plan *plan,
                                                  const struct kvc_measured_run *runs,
                                                  const struct kvc_forecast *forecasts, bool held_out);

#endif
