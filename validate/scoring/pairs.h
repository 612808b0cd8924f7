/* The pairs of a machine: what-ifs that were measured in turns (models/measured/pair.h), and their scores.
 *
 * A forecast of both configurations gives the ratio of their metrics, which is compared with the measured
 * one: throughput where the load saturates, latencies of open loops whose load is a fraction of the capacity,
 * and the times of search and insert launches. Each is a case "PAIR:METRIC" (validate/scoring/score.h). A
 * measured ratio whose 95 % interval is wider, to either side, than half the bound of the mean error is
 * undecidable: it is shown but not counted.
 *
 * pairs.csv has a line for each pair of plan.csv. It has the plan's columns, pairs, counted_pairs,
 * disturbed_frac, core_speed_steps_per_ns, memory_line_ns, memory_latency_ns, memory_bytes_per_s and
 * memory_handoff_ns. Each metric adds the medians of both configurations (METRIC_a, METRIC_b), their ratio
 * (METRIC_ratio), and the distance from the ratio to the farther end of its 95 % interval, relative to the
 * ratio (METRIC_half_frac). A cell is empty where the value is unknown. Launches are forecast at their
 * measured numbers of jobs. The columns of kops_per_watt, which is not scored, may be missing.
 */
#ifndef KVC_VALIDATE_SCORING_PAIRS_H
#define KVC_VALIDATE_SCORING_PAIRS_H

#include "models/measured/pair.h"
#include "validate/scoring/runs.h"
#include "validate/scoring/score.h"

/* A measured pair; NaN: unknown. */
struct kvc_measured_pair {
    uint32_t pairs; /* Pairs of turns; 0: the pair is not read. */
    uint32_t counted;
    double disturbed_frac, core_speed_steps_per_ns;
    struct kvc_memory_rates memory;
    double side[2][KVC_PAIR_METRICS]; /* Medians of both configurations. */
    double ratio[KVC_PAIR_METRICS], half_frac[KVC_PAIR_METRICS];
};

/* Takes over what was measured. */
void kvc_measured_pair_of(const struct kvc_pair_result *result, struct kvc_measured_pair *pair);

/* Reads into measured[i] what was measured for plan->pair[i]. Errors, with file and line: a malformed line, a
 * pair that is not in the plan or differs from it, and a planned pair that is missing. */
enum kvc_status kvc_measured_pairs_read(const char *path, const struct kvc_measuring_plan *plan,
                                        struct kvc_measured_pair *measured, struct kvc_diag *diag);
void kvc_measured_pairs_write_header(FILE *out);
void kvc_measured_pairs_write_line(FILE *out, const struct kvc_measuring_plan *plan, size_t pair,
                                   const struct kvc_measured_pair *measured);

/* The forecast of a configuration: metrics with half the widths of their intervals. */
struct kvc_pair_forecast {
    double value[KVC_PAIR_METRICS], half_width[KVC_PAIR_METRICS]; /* NaN: unknown. */
    double closed_form[KVC_PAIR_METRICS];
    double memory_bytes; /* Memory that the simulation needs. */
};

/* A case with the fields that a pair adds to struct kvc_case. */
struct kvc_pair_case {
    size_t pair;
    enum kvc_pair_metric metric;
    bool undecidable;
    double half_frac;   /* Farther end of the measured ratio's interval, relative to the ratio. */
    double closed_form; /* Ratio by the closed form; NaN: unknown. */
};

/* cases.entry[i], score[i] and entry[i] belong to the same case. */
struct kvc_pair_scores {
    struct kvc_cases cases;
    struct kvc_score *score;
    struct kvc_pair_case *entry;
};

void kvc_pair_scores_free(struct kvc_pair_scores *scores);

/* Lists the cases of the seen or of the unseen pairs. */
enum kvc_status kvc_pair_scores_list(const struct kvc_measuring_plan *plan,
                                     const struct kvc_measured_pair *measured, bool unseen,
                                     struct kvc_pair_scores *scores, struct kvc_diag *diag);

/* Scores the ratio of forecast[2 * i + 1] to forecast[2 * i] for pair i, against the baseline in the scores.
 */
void kvc_pair_scores_fill(struct kvc_pair_scores *scores, const struct kvc_pair_forecast *forecast);

/* The errors of a metric, over the pairs that are decided. */
struct kvc_pair_summary {
    struct kvc_error_summary errors, closed_form;
    size_t undecidable;
    size_t differing, right; /* Measured ratios whose interval excludes 1, and forecasts on the same side. */
};
struct kvc_pair_summary kvc_pair_scores_summarise(const struct kvc_pair_scores *scores,
                                                  enum kvc_pair_metric metric);

#endif
