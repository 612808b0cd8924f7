/* Compares the measured runs of a machine with their simulation and their closed form.
 *
 * The simulation is scored: the throughput of a saturating load, the mean and 99th percentile of the latency
 * of an open loop whose load is a fraction of the capacity below 1, and the time of a search launch and of an
 * insert launch where they were measured, at the measured number of jobs. The latency of an open loop that
 * states its load in Mops is not scored: close to the capacity it would only repeat, magnified, the error of
 * the capacity. Each is a case "RUN:METRIC" with errors, verdict and baseline, as published values have them
 * (validate/scoring/score.h).
 */
#ifndef KVC_VALIDATE_SCORING_COMPARISON_H
#define KVC_VALIDATE_SCORING_COMPARISON_H

#include "models/model.h"
#include "validate/scoring/runs.h"
#include "validate/scoring/score.h"

/* The bounds of the errors of a reading. A measured reading whose 95 % interval is wider, to either side,
 * than half the bound of the mean error is undecidable: it is shown but not counted. So is one whose interval
 * is not known. */
struct kvc_error_bounds {
    double mean_frac, largest_frac; /* NaN: the reading is never scored. */
};
extern const struct kvc_error_bounds kvc_error_bounds[KVC_READINGS];

/* The forecast of one run. */
struct kvc_comparison_forecast {
    bool open_loop;      /* Arrivals do not wait for answers; otherwise the load saturates the store. */
    double memory_bytes; /* Memory that the simulation needs. */
    /* The caller sets the warm-up of the simulation, or 0 to have its end detected; the forecast replaces it
     * by the mean over the replicas [ns]. */
    double warmup_ns;
    bool only_warmup; /* One short replica tells the warm-up; the readings do not count. */
    /* Speed of the cores in the measured run, relative to the calibration, by which the forecast makes them
     * faster; NaN: unknown, and they are as fast as in the calibration. */
    double core_speed_frac;
    double memory_speed_frac; /* The same of the memory, by which the waits for it are shorter. */
    /* Jobs of the measured launches, for which the forecast states its launches; NaN: unknown. */
    double search_jobs, insert_jobs;
    const char *stalls; /* Overrides with the stalls of the measured run; empty or NULL: unknown. */
    struct kvc_readings closed_form, simulated;
    /* p99 of the latency with these stalls, and half the width of its 95 % interval [us]; not scored. */
    double stalled_p99_us, stalled_p99_half_width_us;
    double half_width[KVC_READINGS]; /* Half the widths of the 95 % intervals of `simulated`; NaN: unknown. */
};

/* A case with the fields that a measured run adds to struct kvc_case. */
struct kvc_compared {
    size_t run;         /* Index in the plan. */
    int reading;        /* enum kvc_reading */
    bool undecidable;   /* The interval of the measured reading is too wide. */
    double closed_form; /* Prediction of the closed form; NaN when it has no such metric. */
    double closed_form_error_frac;
};

/* cases.entry[i], score[i] and entry[i] belong to the same case. */
struct kvc_comparison {
    struct kvc_cases cases;
    struct kvc_score *score;
    struct kvc_compared *entry;
};

void kvc_comparison_free(struct kvc_comparison *comparison);

/* Lists the cases of the seen or of the unseen runs. It reads only open_loop of the forecasts. On failure
 * nothing stays allocated. */
enum kvc_status kvc_comparison_list(const struct kvc_measuring_plan *plan,
                                    const struct kvc_measured_run *runs,
                                    const struct kvc_comparison_forecast *forecasts, bool unseen,
                                    struct kvc_comparison *comparison, struct kvc_diag *diag);

/* Fills errors and verdicts against the baseline that the scores contain. A launch time that the simulation
 * does not report becomes an input: the report shows it but does not count it. */
void kvc_comparison_score(struct kvc_comparison *comparison, const struct kvc_comparison_forecast *forecasts);

/* Selects the cases of a summary. */
struct kvc_comparison_part {
    int reading;      /* enum kvc_reading */
    bool closed_form; /* Summarise the errors of the closed form, where it has the metric. */
};

struct kvc_error_summary kvc_comparison_summarise(const struct kvc_comparison *comparison,
                                                  const struct kvc_comparison_part *part);

/* Number of seen or unseen runs that were forecast with the measured bottleneck, or with one of the stages
 * that the measurement cannot tell apart. Runs whose measured bottleneck is undecided do not count. */
struct kvc_bottlenecks {
    size_t runs, right_simulated, right_closed_form, undecided;
};

struct kvc_bottlenecks kvc_comparison_bottlenecks(const struct kvc_measuring_plan *plan,
                                                  const struct kvc_measured_run *runs,
                                                  const struct kvc_comparison_forecast *forecasts,
                                                  bool unseen);

/* Spread of the repetitions of a saturated run. No prediction can be closer to all of them. */
struct kvc_repeatability {
    size_t runs;
    double mean_frac, max_frac; /* Mean and largest spread of the throughput; 0 without runs. */
};

struct kvc_repeatability kvc_comparison_repeatability(const struct kvc_measuring_plan *plan,
                                                      const struct kvc_measured_run *runs,
                                                      const struct kvc_comparison_forecast *forecasts,
                                                      bool unseen);

#endif
