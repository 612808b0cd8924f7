/* The parts of `kvcast validate`: papers and machines, their scores, and the reports about the scores. */
#ifndef KVC_VALIDATE_COMMAND_VALIDATE_H
#define KVC_VALIDATE_COMMAND_VALIDATE_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>

#include "scenarios/explore/plan/goal.h"
#include "scenarios/load/load.h"
#include "scenarios/output/capacity.h"
#include "scenarios/run/driver.h"
#include "validate/scoring/comparison.h"
#include "validate/scoring/elasticities.h"
#include "validate/scoring/identified.h"
#include "validate/scoring/pairs.h"
#include "validate/scoring/runs.h"
#include "validate/scoring/score.h"

enum kvc_subject_kind { KVC_SUBJECT_PAPER, KVC_SUBJECT_MACHINE, KVC_SUBJECT_MECHANISMS };

/* A subject of validation: a folder with the cases of a paper, the folder of a machine, or the folder with
 * the mechanisms. */
struct kvc_subject {
    char name[128];
    enum kvc_subject_kind kind;
    bool is_measured; /* A machine whose folder contains runs.csv. */
    char folder[512];
};

/* Writes the path of a file in the subject's folder. */
void kvc_subject_path(const struct kvc_subject *subject, const char *file, char path[PATH_MAX]);

/* Loads a scenario with overrides, a list of key=value separated by semicolons. */
enum kvc_status kvc_validate_load(const char *path, const char *overrides, struct kvc_loaded **out,
                                  struct kvc_diag *diag);

/* Refuses simulations that cannot be scored: with a fixed warm-up, which can be chosen so that a result fits,
 * or without the real data structures. The error names the scenario and its line, or `list` and `line`, where
 * the overrides stand, if they say so. */
enum kvc_status kvc_validate_check(const struct kvc_loaded *loaded, const char *overrides, const char *list,
                                   int line, struct kvc_diag *diag);

/* Raises run.replicas to five. */
void kvc_validate_replicate(struct kvc_scenario *scenario);

/* Separates the overrides of a scenario, which keep their order, from the search's. */
enum kvc_status kvc_validate_capacity_bounds(const char *overrides, char *scenario, size_t size,
                                             struct kvc_capacity_bounds *bounds, struct kvc_diag *diag);

/* Loads the scenario of a case with these overrides, of which those of a capacity search go to *bounds. */
enum kvc_status kvc_validate_load_case(const struct kvc_case *asked, const char *overrides,
                                       struct kvc_capacity_bounds *bounds, struct kvc_loaded **out,
                                       struct kvc_diag *diag);

/* Loads the scenario of one line of a machine's plan, with `more` overrides after the line's own. A line with
 * a relative load gets Poisson arrivals at load_frac times `capacity_mops`. An error names the id of the
 * line. */
enum kvc_status kvc_validate_load_line(const struct kvc_subject *subject,
                                       const struct kvc_measuring_plan_line *line, double capacity_mops,
                                       const char *more, struct kvc_loaded **out, struct kvc_diag *diag);

/* A capacity with which a line can be loaded before any capacity is known. */
extern const double kvc_validate_any_capacity_mops;

/* Checks that the run at this index of the plan, whose scenario is `loaded`, saturates the store if other
 * lines state their loads as fractions of its throughput. */
enum kvc_status kvc_validate_check_capacity(const struct kvc_measuring_plan *plan, size_t line,
                                            const struct kvc_loaded *loaded, struct kvc_diag *diag);

/* The scenario of a case. */
struct kvc_paper_scenario {
    const char *system; /* Its system.kind; NULL for a case that follows from others. */
    double memory_bytes;
};

/* The cases of a paper and their scores. */
struct kvc_paper {
    const struct kvc_subject *subject;
    struct kvc_cases cases;
    struct kvc_score *scores;             /* From hardware facts alone, by case. */
    struct kvc_identified identified;     /* Its count is 0 if the paper has no identified parameters. */
    struct kvc_score *cross_validated;    /* With the parameters that a figure has not determined, by case. */
    struct kvc_moved_by *moved_by;        /* Indexed by case. */
    struct kvc_paper_scenario *scenarios; /* Indexed by case. */
};

void kvc_paper_free(struct kvc_paper *paper);

/* Reads the cases, what moves them, their baseline and which parameters are identified, and runs nothing.
 * Call kvc_paper_free() in any case. */
enum kvc_status kvc_paper_read(const struct kvc_subject *subject, struct kvc_paper *paper,
                               struct kvc_diag *diag);

/* Reads the values of the identified parameters and the errors that predictions with them had. */
enum kvc_status kvc_paper_read_identification(struct kvc_paper *paper, struct kvc_diag *diag);

/* Reads the paper, and loads and checks all scenarios, so that all mistakes in files are found before
 * anything runs. */
enum kvc_status kvc_paper_open(const struct kvc_subject *subject, struct kvc_paper *paper,
                               struct kvc_diag *diag);

/* Answers and scores the wanted cases, or all if `wanted` is NULL, with these overrides by case, or each
 * case's own if `overrides` is NULL. Other cases keep their scores, from which derived cases follow. */
enum kvc_status kvc_paper_answer(struct kvc_paper *paper, const bool *wanted,
                                 char (*overrides)[KVC_IDENTIFIED_TEXT], struct kvc_score *scores,
                                 const struct kvc_run_options *options, struct kvc_diag *diag);

/* Scores all cases from hardware facts alone and, if the paper has identified parameters, with them. */
enum kvc_status kvc_paper_score(const struct kvc_subject *subject, const struct kvc_run_options *options,
                                struct kvc_paper *paper, struct kvc_diag *diag);

/* Returns whether identified parameters change the prediction of this case. */
bool kvc_paper_concerned(const struct kvc_paper *paper, size_t at);

/* Identifies the parameters that identified.csv asks for, writes identification.csv
 * (validate/scoring/identified.h) and prints tables on stdout.
 *
 * Bounded least squares find the values with which the logarithms of the figures are predicted best, each
 * relative to its tolerance. The fit is repeated without each figure in turn. A parameter is dropped if the
 * figures leave its interval wider than a factor of two, if they ask for a value outside the bounds, or if
 * two figures contradict each other: the ranges of values with which each of them is predicted within its
 * tolerance do not overlap. */
enum kvc_status kvc_paper_identify(const struct kvc_subject *subject, const struct kvc_run_options *options,
                                   struct kvc_diag *diag);

/* Finds the parameters that move the cases of the paper and writes elasticities.csv
 * (validate/scoring/elasticities.h). Every number of a scenario is multiplied by 1.05, and if none moves the
 * value, divided by it. The values are the closed form's where it has the metric, a capacity's under
 * saturation; otherwise they come from one simulation with the same random streams and warm-up. */
enum kvc_status kvc_paper_find_elasticities(const struct kvc_subject *subject,
                                            const struct kvc_run_options *options, struct kvc_diag *diag);

/* Loads a configuration of a plan for a forecast, with `more` overrides after its own: with a sample of the
 * keys, or, if its store keeps none, whole.
 */
enum kvc_status kvc_forecast_load(const struct kvc_subject *subject,
                                  const struct kvc_measuring_plan_line *line, double capacity_mops,
                                  const char *more, struct kvc_loaded **loaded, struct kvc_diag *diag);

/* Forecasts a configuration at forecast->core_speed_frac and memory_speed_frac. A relative load is a fraction
 * of the capacity `of` that the same method forecasts: closed form and simulation both work at the
 * utilization of the measurement.
 */
enum kvc_status kvc_forecast_line(const struct kvc_subject *subject,
                                  const struct kvc_measuring_plan_line *line,
                                  const struct kvc_comparison_forecast *of,
                                  const struct kvc_run_options *options,
                                  struct kvc_comparison_forecast *forecast, struct kvc_diag *diag);

/* Returns the speed of the cores in a measurement, relative to the one that the scenario's profile was
 * calibrated at; NaN if one of them is unknown or nothing depends on it. */
double kvc_forecast_core_speed_frac(const struct kvc_scenario *scenario, double core_speed_steps_per_ns);

/* Returns the speed of the memory in a measurement in the same way. */
double kvc_forecast_memory_speed_frac(const struct kvc_scenario *scenario, double memory_line_ns);

/* The runs of a machine, their forecasts and the scores. runs[i] and forecasts[i] belong to plan.entry[i],
 * and pairs[i], pair_forecasts[2 * i] and pair_forecasts[2 * i + 1] to plan.pair[i]. */
struct kvc_measured_machine {
    const struct kvc_subject *subject;
    bool unseen; /* The unseen runs are forecast and reported, and no others; otherwise the seen ones. */
    struct kvc_measuring_plan plan;
    struct kvc_measured_run *runs;
    struct kvc_comparison_forecast *forecasts;
    struct kvc_comparison comparison;
    struct kvc_measured_pair *pairs;
    struct kvc_pair_forecast *pair_forecasts;
    struct kvc_pair_scores pair_scores;
};

/* The parts of the functions below that concern the pairs. */
void kvc_machine_pairs_free(struct kvc_measured_machine *machine);
enum kvc_status kvc_machine_pairs_read(struct kvc_measured_machine *machine, struct kvc_diag *diag);
enum kvc_status kvc_machine_pairs_score(struct kvc_measured_machine *machine,
                                        const struct kvc_run_options *options, struct kvc_diag *diag);
extern const char kvc_pairs_baseline_name[]; /* File in the machine's folder. */
void kvc_machine_pairs_print(const struct kvc_measured_machine *machine);
json_t *kvc_machine_pairs_document(const struct kvc_measured_machine *machine);

/* Measures the pairs of a plan with relative loads of `capacity_mops`, by number of the run, and writes
 * pairs.csv. `turns` is the number of pairs of turns of each. */
enum kvc_status kvc_machine_pairs_measure(const struct kvc_subject *subject,
                                          const struct kvc_measuring_plan *plan, const double *capacity_mops,
                                          uint32_t turns, const struct kvc_progress *progress,
                                          struct kvc_diag *diag);

void kvc_measured_machine_free(struct kvc_measured_machine *machine);

/* Reads plan, runs and baseline, so that all mistakes in files are found before the simulations start. Call
 * kvc_measured_machine_free() in any case. */
enum kvc_status kvc_measured_machine_read(const struct kvc_subject *subject, bool unseen,
                                          struct kvc_measured_machine *machine, struct kvc_diag *diag);

enum kvc_status kvc_measured_machine_score(const struct kvc_subject *subject, bool unseen,
                                           const struct kvc_run_options *options,
                                           struct kvc_measured_machine *machine, struct kvc_diag *diag);

/* Returns whether this line of the plan is forecast and reported. */
static inline bool kvc_measured_machine_shows(const struct kvc_measured_machine *machine, size_t line)
{
    return kvc_measuring_plan_unseen(line) == machine->unseen;
}

/* Appends the summary of the unseen runs to unseen.log, a CSV file in the machine's folder, with today's date
 * and the commit of the source tree, or else $KVCAST_COMMIT. Without either it fails, because the scored
 * models would be unknown. */
enum kvc_status kvc_measured_machine_log_unseen(const struct kvc_measured_machine *machine,
                                                struct kvc_diag *diag);

/* Header of unseen.log. */
extern const char kvc_unseen_header[];

enum { KVC_CALIBRATIONS_MAX = 16 };

/* Options of measuring a machine. */
struct kvc_measuring {
    uint32_t repetitions;  /* Number of measurements of each run of the plan; 0: runs.csv is not changed. */
    uint32_t turns;        /* Pairs of turns of each pair of the plan. */
    uint32_t calibrations; /* Number of calibrations meanwhile; 0: machine.lua is not changed. */
    bool quick;            /* The calibrations are quick ones. */
    bool resume;           /* Go on with an interrupted measurement. */
};

/* Measures every line of the plan on this machine and calibrates it in between, then measures the pairs, and
 * writes machine.lua, runs.csv and pairs.csv. Each repetition is added to runs.unfinished.csv at once, which
 * is removed at the end. */
enum kvc_status kvc_measured_machine_run(const struct kvc_subject *subject,
                                         const struct kvc_measuring *measuring,
                                         const struct kvc_progress *progress, struct kvc_diag *diag);

/* Print the scores as tables on stdout. */
void kvc_paper_print(const struct kvc_paper *paper);
void kvc_measured_machine_print(const struct kvc_measured_machine *machine);

/* Append the predictions of one subject, except ratios, to errors.csv. Its columns are case, metric,
 * published, measured and predicted. */
void kvc_paper_write_errors(const struct kvc_paper *paper, FILE *out);
void kvc_measured_machine_write_errors(const struct kvc_measured_machine *machine, FILE *out);

/* Append the cases of one subject to the list `cases` of the JSON document. */
void kvc_paper_list(const struct kvc_paper *paper, json_t *cases);
void kvc_measured_machine_list(const struct kvc_measured_machine *machine, json_t *cases);

/* Return the summary of a paper or a machine for the JSON document. */
json_t *kvc_paper_summary(const struct kvc_paper *paper);
json_t *kvc_measured_machine_summary(const struct kvc_measured_machine *machine);

/* One scenario answered both ways. */
struct kvc_both_ways {
    char system[KVC_NAME_MAX];
    bool has_changes; /* Devices change during the run. */
    double closed_form[KVC_PLAN_METRICS], simulated[KVC_PLAN_METRICS];
};

/* The answers about one side of a case. difference_frac is simulated / closed_form - 1. */
struct kvc_mechanism_side {
    double closed_form, simulated, difference_frac;
    struct kvc_both_ways both; /* All values that a plan compares. */
};

enum kvc_mechanism_verdict {
    /* Simulation and closed form differ with the mechanism, and the difference disappears without it. */
    KVC_MECHANISM_OK,
    KVC_MECHANISM_NO_SIGN, /* They differ by no more than 10 % even with the mechanism. */
    /* Without the mechanism, they still differ by more than 5 % and by more than a third of the first
     * difference. */
    KVC_MECHANISM_REMAINS,
};

struct kvc_mechanism {
    char id[64];
    char scenario[160]; /* Relative to the project. */
    char overrides[512], on[512], off[512];
    char metric[64];
    char text[320]; /* Description of the mechanism in one sentence. It may contain commas. */
    struct kvc_mechanism_side with, without;
    enum kvc_mechanism_verdict verdict;
};

/* Scenarios where simulation and closed form differ because of one mechanism.
 *
 * validate/mechanisms/cases.csv has the columns id, scenario, overrides, on, off, metric, mechanism. A case
 * is answered four times: by closed form and by simulation, with `overrides` and then `on` (the mechanism
 * acts), and with `overrides` and then `off` (an option of the scenario turns it off). Each is a list of
 * key=value separated by semicolons. The metric is one of sim/metrics/values.h that the closed form
 * states. */
struct kvc_mechanisms {
    size_t count;
    struct kvc_mechanism *entry;
};

void kvc_mechanisms_free(struct kvc_mechanisms *mechanisms);

/* Reads the cases of the subject, loads all of their scenarios, then answers them, with three replicas of
 * each simulation unless the case states run.replicas. An error names the case. Call kvc_mechanisms_free() in
 * any case. */
enum kvc_status kvc_mechanisms_score(const struct kvc_subject *subject, const struct kvc_run_options *options,
                                     struct kvc_mechanisms *mechanisms, struct kvc_diag *diag);

/* Writes validate/accuracy.csv (scenarios/output/accuracy.h) from the committed files of papers and machines,
 * and runs nothing. A case counts for the store of its scenario. A ratio of two values of one metric is no
 * forecast of that metric, nor do means over several cases have one load; neither counts. Of the log of a
 * machine's unseen runs, the last line of each metric counts.
 *
 * Writes validate/fidelity.csv as well, with the columns paper, parameters, case, kind, facts_frac,
 * cross_validated_frac: the accepted errors of each case of a paper that counts, from hardware facts alone
 * and with as many identified parameters. */
enum kvc_status kvc_accuracy_make(const struct kvc_subject *subjects, size_t count, struct kvc_diag *diag);

/* Prints the cases and their mechanisms as tables on stdout. */
void kvc_mechanisms_print(const struct kvc_mechanisms *mechanisms);

/* Appends the cases to the list of the JSON document. */
void kvc_mechanisms_list(const struct kvc_mechanisms *mechanisms, json_t *list);

struct kvc_store_errors {
    char system[KVC_NAME_MAX];
    struct kvc_plan_errors errors;
    uint32_t regressed; /* Errors beyond the stated ones. */
};

/* Errors of each store's closed form relative to its simulation.
 *
 * The errors are the extremes over all scenarios that are answered both ways: the two sides of each
 * mechanism, and the loads in validate/mechanisms/loads.csv, which has the columns scenario and overrides. A
 * plan allows for the errors that validate/mechanisms/closed_form.csv states when it prunes candidates by the
 * closed form (scenarios/explore/plan/goal.h), so a larger error is a regression. */
struct kvc_closed_forms {
    uint32_t count;
    struct kvc_store_errors *entry; /* In the order in which the stores appear. */
    bool is_stated;                 /* closed_form.csv exists, so that errors can regress. */
};

/* Scores the closed forms by the answers about the mechanisms and, if there is a loads.csv, by three replicas
 * of each of its loads. `update` replaces closed_form.csv first. Call
 * kvc_closed_forms_free() in any case. */
enum kvc_status kvc_closed_forms_score(const struct kvc_subject *subject,
                                       const struct kvc_mechanisms *mechanisms,
                                       const struct kvc_run_options *options, bool update,
                                       struct kvc_closed_forms *forms, struct kvc_diag *diag);

/* Prints the errors of each store as a table on stdout. */
void kvc_closed_forms_print(const struct kvc_closed_forms *forms);

/* Frees the errors and empties the struct. */
void kvc_closed_forms_free(struct kvc_closed_forms *forms);

/* "ok", "missed" and "REGRESSED", by enum kvc_verdict. */
extern const char *const kvc_verdict_names[];

/* Returns a JSON number, or null when the value is not finite. */
json_t *kvc_validate_number(double value);

#endif
