/* The parts of `kvcast validate`: papers and machines, their scores, and the reports about the scores. */
#ifndef KVC_SCENARIOS_CLI_VALIDATE_H
#define KVC_SCENARIOS_CLI_VALIDATE_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>

#include "scenarios/load/load.h"
#include "scenarios/run/driver.h"
#include "validate/scoring/case_values.h"
#include "validate/scoring/comparison.h"

enum { KVC_SUBJECTS_MAX = 64 };

enum kvc_subject_kind { KVC_SUBJECT_PAPER, KVC_SUBJECT_MACHINE, KVC_SUBJECT_MECHANISMS };

/* What can be validated: a folder with the cases of a paper, the folder of a machine, or the folder with the
 * mechanisms (scenarios/cli/validate_mechanisms.h). */
struct kvc_subject {
    char name[128];
    enum kvc_subject_kind kind;
    bool is_measured; /* A machine whose folder contains runs.csv. */
    char folder[512];
};

struct kvc_subjects {
    size_t count;
    struct kvc_subject entry[KVC_SUBJECTS_MAX];
};

/* Finds the folders in validate/papers (sim/base/data_dir.h) that contain cases.csv, then the folders in
 * validate/measured that contain plan.csv, both in alphabetical order, then validate/mechanisms if it
 * contains cases.csv. $KVCAST_MEASURED replaces validate/measured. */
void kvc_subjects_find(struct kvc_subjects *subjects);

/* Finds the subject with this name. If there is none, the error KVC_ERR_SCENARIO lists all names. */
enum kvc_status kvc_subjects_choose(const struct kvc_subjects *subjects, const char *name,
                                    const struct kvc_subject **chosen, struct kvc_diag *diag);

/* Writes the path of a file in the subject's folder. */
void kvc_subject_path(const struct kvc_subject *subject, const char *file, char path[PATH_MAX]);

/* Loads a scenario with overrides, a list of key=value separated by semicolons. */
enum kvc_status kvc_validate_load(const char *path, const char *overrides, struct kvc_loaded **out,
                                  struct kvc_diag *diag);

/* Finds the simulated capacity of a case of mode "capacity" and sets its values. In addition to those of a
 * run they have the metrics capacity_low_mops, capacity_high_mops, closed_form_mops and
 * closed_form_limit_mops. Without overrides, nothing may be lost and the precision is 2 %. */
enum kvc_status kvc_validate_capacity(const struct kvc_case *asked, const struct kvc_run_options *options,
                                      struct kvc_case_values *values, struct kvc_diag *diag);

/* Loads the scenario of one line of a machine's plan. An error names the id of the line. */
enum kvc_status kvc_validate_load_line(const struct kvc_subject *subject, const struct kvc_plan_line *line,
                                       struct kvc_loaded **out, struct kvc_diag *diag);

/* The cases of a paper and their scores. */
struct kvc_paper {
    const struct kvc_subject *subject;
    struct kvc_cases cases;
    struct kvc_score *scores;
};

void kvc_paper_free(struct kvc_paper *paper);
enum kvc_status kvc_paper_score(const struct kvc_subject *subject, const struct kvc_run_options *options,
                                struct kvc_paper *paper, struct kvc_diag *diag);

/* The runs of a machine, their forecasts and the scores. runs[i] and forecasts[i] belong to plan.entry[i]. */
struct kvc_measured_machine {
    const struct kvc_subject *subject;
    bool seen_only; /* Runs that are held out are neither forecast nor reported. */
    struct kvc_plan plan;
    struct kvc_measured_run *runs;
    struct kvc_forecast *forecasts;
    struct kvc_comparison comparison;
};

void kvc_measured_machine_free(struct kvc_measured_machine *machine);
enum kvc_status kvc_measured_machine_score(const struct kvc_subject *subject, bool seen_only,
                                           const struct kvc_run_options *options,
                                           struct kvc_measured_machine *machine, struct kvc_diag *diag);

/* Returns whether the report may show this line of the plan. */
static inline bool kvc_measured_machine_shows(const struct kvc_measured_machine *machine, size_t line)
{
    return !machine->seen_only || !kvc_plan_held_out(line);
}

/* Measures every line of the plan `repetitions` times on this machine, then writes runs.csv. */
enum kvc_status kvc_measured_machine_run(const struct kvc_subject *subject, uint32_t repetitions,
                                         const struct kvc_run_options *options, struct kvc_diag *diag);

/* Print the scores as tables on stdout. */
void kvc_paper_print(const struct kvc_paper *paper);
void kvc_measured_machine_print(const struct kvc_measured_machine *machine);

/* Append the predictions of one subject, except ratios, to errors.csv. Its columns are case, metric, held,
 * published, measured and predicted. */
void kvc_paper_write_errors(const struct kvc_paper *paper, FILE *out);
void kvc_measured_machine_write_errors(const struct kvc_measured_machine *machine, FILE *out);

/* Append the cases of one subject to the list `cases` of the JSON document. */
void kvc_paper_list(const struct kvc_paper *paper, json_t *cases);
void kvc_measured_machine_list(const struct kvc_measured_machine *machine, json_t *cases);

/* Returns the summary of a machine for the JSON document. */
json_t *kvc_measured_machine_summary(const struct kvc_measured_machine *machine);

/* "ok", "missed" and "REGRESSED", by enum kvc_verdict. */
extern const char *const kvc_verdict_names[];

/* Returns a JSON number, or null when the value is not finite. */
json_t *kvc_validate_number(double value);

#endif
