/* What `kvcast validate` is made of: papers and machines, how they are scored, and how the scores are told.
 */
#ifndef KVC_SCENARIOS_CLI_VALIDATE_H
#define KVC_SCENARIOS_CLI_VALIDATE_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>

#include "scenarios/load/load.h"
#include "scenarios/run/driver.h"
#include "validate/scoring/comparison.h"
#include "validate/probes/noise.h"

enum { KVC_SUBJECTS_MAX = 64 };

/* What is validated: a folder with published figures, or one of a measured machine. */
struct kvc_subject {
    char name[128];
    bool is_machine;
    bool is_measured; /* a machine with a runs.csv */
    char folder[512];
};

struct kvc_subjects {
    size_t count;
    struct kvc_subject entry[KVC_SUBJECTS_MAX];
};

/* Folders of validate/papers (sim/base/data_dir.h) with a cases.csv, then folders with a plan.csv of
 * validate/measured, or of $KVCAST_MEASURED where that is set; by name. */
void kvc_subjects_find(struct kvc_subjects *subjects);

/* The one of this name; KVC_ERR_SCENARIO with all names where there is none. */
enum kvc_status kvc_subjects_choose(const struct kvc_subjects *subjects, const char *name,
                                    const struct kvc_subject **chosen, struct kvc_diag *diag);

/* Path of a file of the folder. */
void kvc_subject_path(const struct kvc_subject *subject, const char *file, char path[PATH_MAX]);

/* Loads a scenario with a ;-separated list of overrides. */
enum kvc_status kvc_validate_load(const char *path, const char *overrides, struct kvc_loaded **out,
                                  struct kvc_diag *diag);

/* Loads what one line of a machine's plan says; a failure names the line's id. */
enum kvc_status kvc_validate_load_line(const struct kvc_subject *subject, const struct kvc_plan_line *line,
                                       struct kvc_loaded **out, struct kvc_diag *diag);

/* Published figures and their scores. */
struct kvc_paper {
    const struct kvc_subject *subject;
    struct kvc_cases cases;
    struct kvc_score *scores;
};

void kvc_paper_free(struct kvc_paper *paper);
enum kvc_status kvc_paper_score(const struct kvc_subject *subject, const struct kvc_run_options *drive,
                                struct kvc_paper *paper, struct kvc_diag *diag);

/* A machine's runs, what is forecast of them, and the scores. runs[i] and forecasts[i] are of plan.entry[i].
 */
struct kvc_measured_machine {
    const struct kvc_subject *subject;
    bool seen_only; /* what is held out is neither forecast nor told */
    struct kvc_plan plan;
    struct kvc_measured_run *runs;
    struct kvc_forecast *forecasts;
    struct kvc_comparison comparison;
};

void kvc_measured_machine_free(struct kvc_measured_machine *machine);
enum kvc_status kvc_measured_machine_score(const struct kvc_subject *subject, bool seen_only,
                                           const struct kvc_run_options *drive,
                                           struct kvc_measured_machine *machine, struct kvc_diag *diag);

/* Whether the line of the plan may be told. */
static inline bool kvc_measured_machine_shows(const struct kvc_measured_machine *machine, size_t line)
{
    return !machine->seen_only || !kvc_plan_held_out(line);
}

/* Measures every line of the machine's plan `turns` times on this machine and writes runs.csv, at the end. */
enum kvc_status kvc_measured_machine_run(const struct kvc_subject *subject, uint32_t repetitions,
                                         const struct kvc_run_options *drive, struct kvc_diag *diag);

/* Tables on stdout. */
void kvc_paper_print(const struct kvc_paper *paper);
void kvc_measured_machine_print(const struct kvc_measured_machine *machine);

/* Appends the points of one subject to errors.csv (case,figure,held,published,measured,predicted):
 * predictions of a figure, ratios excepted. */
void kvc_paper_write_errors(const struct kvc_paper *paper, FILE *out);
void kvc_measured_machine_write_errors(const struct kvc_measured_machine *machine, FILE *out);

/* Appends the cases of one subject to the list of a document. */
void kvc_paper_list(const struct kvc_paper *paper, json_t *cases);
void kvc_measured_machine_list(const struct kvc_measured_machine *machine, json_t *cases);
/* The summary of a machine. */
json_t *kvc_measured_machine_summary(const struct kvc_measured_machine *machine);

/* "ok", "missed", "REGRESSED": by enum kvc_verdict. */
extern const char *const kvc_verdict_names[];
/* Null for what is no number. */
json_t *kvc_validate_number(double value);

#endif
