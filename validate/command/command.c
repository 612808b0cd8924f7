/* kvcast validate: compares predictions with published and measured values. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/cli/arguments.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/print.h"
#include "scenarios/load/lua/locate.h"
#include "scenarios/output/folder.h"
#include "sim/base/diag.h"
#include "sim/base/files/data_dir.h"
#include "sim/base/files/partial_file.h"
#include "validate/command/validate.h"

/* ---- papers, machines and mechanisms, and their scenarios ---- */

enum { SUBJECTS_MAX = 64 };

struct subjects {
    size_t count;
    struct kvc_subject entry[SUBJECTS_MAX];
};

void kvc_subject_path(const struct kvc_subject *subject, const char *file, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s", subject->folder, file);
}

static bool has(const struct kvc_subject *subject, const char *file)
{
    char path[PATH_MAX];
    kvc_subject_path(subject, file, path);
    return access(path, F_OK) == 0;
}

/* Adds an entry of the root folder if it contains the file that every subject of this kind has. */
static void add(struct subjects *subjects, const char *root, const char *name, enum kvc_subject_kind kind)
{
    struct kvc_subject *made = &subjects->entry[subjects->count];
    if (name[0] == '.' || subjects->count == SUBJECTS_MAX || strlen(name) >= sizeof(made->name) ||
        snprintf(made->folder, sizeof(made->folder), "%s/%s", root, name) >= (int)sizeof(made->folder)) {
        return;
    }
    strcpy(made->name, name);
    made->kind = kind;
    if (!has(made, kind == KVC_SUBJECT_MACHINE ? "plan.csv" : "cases.csv")) {
        return;
    }
    made->is_measured = kind == KVC_SUBJECT_MACHINE && has(made, "runs.csv");
    subjects->count++;
}

static void add_all(struct subjects *subjects, const char *root, enum kvc_subject_kind kind)
{
    struct dirent **entries;
    int count = scandir(root, &entries, NULL, alphasort);
    if (count < 0 && errno == ENOMEM) {
        kvc_out_of_memory("the names in %s", root);
    }
    for (int i = 0; i < count; i++) {
        add(subjects, root, entries[i]->d_name, kind);
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
}

/* Finds the folders in validate/papers (sim/base/files/data_dir.h) that contain cases.csv, then the folders
 * in validate/measured that contain plan.csv, both in alphabetical order, then validate/mechanisms if it
 * contains cases.csv. $KVCAST_MEASURED replaces validate/measured. */
static void find_subjects(struct subjects *subjects)
{
    const char *measured = getenv("KVCAST_MEASURED");
    char folder[PATH_MAX];
    subjects->count = 0;
    kvc_data_path("validate/papers", folder);
    add_all(subjects, folder, KVC_SUBJECT_PAPER);
    kvc_data_path("validate/measured", folder);
    add_all(subjects, measured != NULL ? measured : folder, KVC_SUBJECT_MACHINE);
    kvc_data_path("validate", folder);
    add(subjects, folder, "mechanisms", KVC_SUBJECT_MECHANISMS);
}

/* Writes "a, b", or "none". */
static void join(const struct subjects *subjects, enum kvc_subject_kind kind, char *out, size_t size)
{
    size_t length = 0;
    snprintf(out, size, "none");
    for (size_t i = 0; i < subjects->count; i++) {
        if (subjects->entry[i].kind == kind && length < size) {
            length += (size_t)snprintf(out + length, size - length, "%s%s", length > 0 ? ", " : "",
                                       subjects->entry[i].name);
        }
    }
}

/* Finds the subject with this name. If there is none, the error KVC_ERR_SCENARIO lists all names. */
static enum kvc_status choose_subject(const struct subjects *subjects, const char *name,
                                      const struct kvc_subject **chosen, struct kvc_diag *diag)
{
    char papers[300], machines[300], mechanisms[160];
    for (size_t i = 0; i < subjects->count; i++) {
        *chosen = &subjects->entry[i];
        if (strcmp((*chosen)->name, name) == 0) {
            return KVC_OK;
        }
    }
    join(subjects, KVC_SUBJECT_PAPER, papers, sizeof(papers));
    join(subjects, KVC_SUBJECT_MACHINE, machines, sizeof(machines));
    join(subjects, KVC_SUBJECT_MECHANISMS, mechanisms, sizeof(mechanisms));
    return kvc_diag_fail(
        diag, KVC_ERR_SCENARIO,
        "validate: found \"%.60s\", allowed: papers (%s), measured machines (%s) and mechanisms (%s)", name,
        papers, machines, mechanisms);
}

enum kvc_status kvc_validate_load(const char *path, const char *overrides, struct kvc_loaded **out,
                                  struct kvc_diag *diag)
{
    struct kvc_overrides parsed = {0};
    *out = NULL;
    enum kvc_status status = kvc_overrides_parse_list(&parsed, overrides, diag);
    if (status == KVC_OK) {
        status = kvc_scenario_load(path, &parsed, out, diag);
    }
    kvc_overrides_clear(&parsed);
    return status;
}

/* Fails at the place that sets the key: the overrides or the scenario. */
static enum kvc_status refuse(const struct kvc_loaded *loaded, const char *key, const char *overrides,
                              const char *list, int line, const char *why, struct kvc_diag *diag)
{
    const char *file = loaded->scenario.file;
    if (strstr(overrides, key) != NULL) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, list, line, "%s: %s", key, why);
    }
    return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, file, kvc_locate_line(file, key), "%s: %s", key, why);
}

enum kvc_status kvc_validate_check(const struct kvc_loaded *loaded, const char *overrides, const char *list,
                                   int line, struct kvc_diag *diag)
{
    const struct kvc_run *run = &loaded->scenario.run;
    /* A load that changes has no steady state to wait for: it is measured from its beginning. */
    bool from_begin = kvc_workload_changes(&loaded->scenario.workload) && run->warmup_ns == 0;
    if (run->warmup_ns >= 0 && !from_begin) {
        return refuse(loaded, "run.warmup", overrides, list, line,
                      "found a time, but a fixed warm-up cannot be scored; allowed: \"auto\"", diag);
    }
    if (run->functional == KVC_FUNCTIONAL_OFF) {
        return refuse(loaded, "run.functional", overrides, list, line,
                      "found \"off\", but a simulation without the real data structures cannot be scored; "
                      "allowed: \"full\" and \"sampled\"",
                      diag);
    }
    return KVC_OK;
}

const double kvc_validate_any_capacity_mops = 1;

enum kvc_status kvc_validate_load_line(const struct kvc_subject *subject,
                                       const struct kvc_measuring_plan_line *line, double capacity_mops,
                                       const char *more, struct kvc_loaded **out, struct kvc_diag *diag)
{
    char path[PATH_MAX], message[sizeof(diag->message)],
        overrides[sizeof(line->overrides) + KVC_STALLS_BYTES + 256];
    char load[64] = "";
    kvc_subject_path(subject, line->scenario, path);
    if (kvc_measuring_plan_line_is_relative(line)) {
        snprintf(load, sizeof(load), "workload.arrival.poisson_mops=%.9g", line->load_frac * capacity_mops);
    }
    snprintf(overrides, sizeof(overrides), "%s;%s;%s", line->overrides, load, more);
    enum kvc_status status = kvc_validate_load(path, overrides, out, diag);
    if (status == KVC_OK) {
        return KVC_OK;
    }
    strcpy(message, diag->message);
    return kvc_diag_fail(diag, status, "run %s: %.900s", line->id, message);
}

enum kvc_status kvc_validate_check_capacity(const struct kvc_measuring_plan *plan, size_t line,
                                            const struct kvc_loaded *loaded, struct kvc_diag *diag)
{
    if (loaded->scenario.workload.arrival == KVC_ARRIVAL_SATURATE) {
        return KVC_OK;
    }
    for (size_t i = line + 1; i < plan->count; i++) {
        if (kvc_measuring_plan_line_is_relative(&plan->entry[i]) && plan->entry[i].of == line) {
            return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, plan->path, plan->entry[i].line,
                                    "of: found \"%s\", allowed: a run whose workload.arrival is \"saturate\"",
                                    plan->entry[line].id);
        }
    }
    return KVC_OK;
}

/* ---- command ---- */

enum {
    FLAG_UPDATE,
    FLAG_UNSEEN,
    FLAG_ELASTICITIES,
    FLAG_IDENTIFY,
    FLAG_ACCURACY,
    FLAG_MEASURE,
    FLAG_REPETITIONS, /* This one and those below are only allowed with --measure. */
    FLAG_CALIBRATIONS,
    FLAG_PAIRS,
    FLAG_QUICK,
    FLAG_RESUME
};

enum { REPETITIONS_DEFAULT = 3, REPETITIONS_MAX = 1000, CALIBRATIONS_DEFAULT = 3 };

static const struct kvc_flag flags[] = {
    [FLAG_UPDATE] = {"--update-baseline", NULL, NULL, "accept the present errors as the baseline"},
    [FLAG_UNSEEN] = {"--unseen", NULL, NULL,
                     "for a release: score the unseen runs of a machine, append to unseen.log"},
    [FLAG_ELASTICITIES] = {"--elasticities", NULL, NULL,
                           "find which parameters move the cases of a paper, write elasticities.csv"},
    [FLAG_IDENTIFY] = {"--identify", NULL, NULL,
                       "find the parameters that figures of a paper determine, write identification.csv"},
    [FLAG_ACCURACY] =
        {"--accuracy", NULL, NULL,
         "gather all accepted errors in validate/accuracy.csv, which answers quote; run nothing"},
    [FLAG_MEASURE] = {"--measure", NULL, NULL,
                      "calibrate and measure the runs of the machine's plan.csv, write machine.lua and "
                      "runs.csv"},
    [FLAG_REPETITIONS] =
        {"--repetitions", NULL, "N",
         "with --measure: how often to measure each run (default 3; 0: keep runs.csv and measure the pairs)"},
    [FLAG_CALIBRATIONS] = {"--calibrations", NULL, "N",
                           "with --measure: how often to calibrate between the runs (default 3; 0: keep "
                           "machine.lua)"},
    [FLAG_PAIRS] = {"--pairs", NULL, "N",
                    "with --measure: pairs of turns of each pair of the plan (default 200)"},
    [FLAG_QUICK] = {"--quick", NULL, NULL, "with --measure: calibrate with fewer points"},
    [FLAG_RESUME] = {"--resume", NULL, NULL, "with --measure: go on with an interrupted measurement"},
    {0},
};

static const struct kvc_usage usage = {
    .command = "validate",
    .positional = "[NAME]",
    .positional_min = 0,
    .positional_max = 1,
    .help =
        "Compares predictions with values that a paper published (validate/papers/NAME/cases.csv) or that\n"
        "were measured on a machine (validate/measured/NAME/runs.csv). The NAME mechanisms compares simulation\n"
        "and closed form where they differ, with the mechanism that makes the difference and without it\n"
        "(validate/mechanisms/cases.csv). Without NAME, it covers all papers, all measured machines and the\n"
        "mechanisms. $KVCAST_MEASURED names another folder of machines.\n"
        "Points, ranges and claims are scored apart: the mean error counts points alone. Simulated values come\n"
        "from three replicas, or from five if the interval of three is wider than 1 % on either side. The exit\n"
        "status is 1 when an error exceeds the baseline by more than its 95 % interval, even inside its\n"
        "tolerance, or when there is no baseline, or when a mechanism makes no difference or another one\n"
        "remains without it.\n"
        "Every third run of a machine's plan is unseen: it is neither forecast nor shown without --unseen.\n"
        "That option is for a release. It appends date, commit ($KVCAST_COMMIT outside a git tree) and summary\n"
        "to validate/measured/NAME/unseen.log.\n"
        "--elasticities multiplies each number of a case's scenario by 1.05 and writes the parameters that move\n"
        "the case to validate/papers/NAME/elasticities.csv. A case that nothing moves, or that returns an\n"
        "input, is not counted.\n"
        "--identify finds the parameters that validate/papers/NAME/identified.csv names from the figures that\n"
        "it names, within bounds by least squares, and again without each of these figures. A paper with\n"
        "identification.csv has two scores: from hardware facts alone, and with identified parameters, of which\n"
        "none has seen the figure that it predicts (validate/scoring/identified.h).\n"
        "--accuracy summarises the accepted errors of all papers and machines by store, load and metric in\n"
        "validate/accuracy.csv, from which every answer says how far forecasts of its kind were from measured\n"
        "values. --update-baseline and --unseen do so at their end, unless $KVCAST_MEASURED is set.\n"
        "--out writes errors.csv into the folder; `kvcast plot --kind error` draws it.\n"
        "--measure calibrates before the first run, after the last one and in between, so that calibrations and\n"
        "runs see the same machine; machine.lua has the medians. It adds every run to runs.unfinished.csv at\n"
        "once and writes runs.csv at the end. --resume goes on where an interrupted measurement ended; its\n"
        "machine.lua then comes from the calibrations made since.\n"
        "A run is forecast with cores as fast as it saw them, relative to the calibration, where both speeds\n"
        "are known.",
    .takes = KVC_TAKES_JOBS | KVC_TAKES_JSON | KVC_TAKES_OUT | KVC_TAKES_QUIET,
    .flags = flags,
};

/* The scores so far. */
struct validation {
    const struct kvc_arguments *arguments;
    json_t *cases, *papers, *machines, *mechanisms;
    const char *system;          /* Name of the first paper. */
    struct kvc_folder_lock lock; /* Lock of the folder of --out. */
    struct kvc_partial_file errors;
    bool prints_tables; /* False when the JSON document goes to stdout. */
    bool regressed;
};

/* Opens errors.csv in the folder of --out, if there is one. */
static enum kvc_status open_errors(struct validation *validation, struct kvc_diag *diag)
{
    const char *folder = validation->arguments->out;
    if (folder == NULL) {
        return KVC_OK;
    }
    enum kvc_status status = kvc_folder_own(folder, &validation->lock, diag);
    if (status == KVC_OK) {
        status = kvc_partial_file_open_in(&validation->errors, folder, "errors.csv", diag);
    }
    if (status == KVC_OK) {
        fprintf(validation->errors.file, "case,metric,published,measured,predicted\n");
    }
    return status;
}

/* Notes regressions, which fail the command at its end, or writes a new baseline. */
static enum kvc_status judge(struct validation *validation, const struct kvc_subject *subject,
                             const char *file, const struct kvc_cases *cases, const struct kvc_score *scores,
                             struct kvc_diag *diag)
{
    char path[PATH_MAX];
    kvc_subject_path(subject, file, path);
    if (validation->arguments->flag[FLAG_UPDATE] != NULL) {
        return kvc_baseline_write(path, cases, scores, diag);
    }
    for (size_t i = 0; i < cases->count; i++) {
        validation->regressed |= scores[i].verdict == KVC_VERDICT_REGRESSED;
    }
    return KVC_OK;
}

static enum kvc_status validate_paper(struct validation *validation, const struct kvc_subject *subject,
                                      struct kvc_diag *diag)
{
    struct kvc_progress_bar bar;
    struct kvc_run_options options = {.jobs = validation->arguments->jobs};
    struct kvc_paper paper;
    options.progress = kvc_progress_bar_open(&bar, validation->arguments->quiet);
    enum kvc_status status = kvc_paper_score(subject, &options, &paper, diag);
    kvc_progress_bar_close(&bar);
    if (status == KVC_OK) {
        status = judge(validation, subject, "baseline.csv", &paper.cases, paper.scores, diag);
    }
    if (status == KVC_OK && paper.identified.count > 0) {
        status = judge(validation, subject, "cross_validated.csv", &paper.cases, paper.cross_validated, diag);
    }
    if (status == KVC_OK) {
        validation->system = validation->system != NULL ? validation->system : subject->name;
        json_array_append_new(validation->papers, kvc_paper_summary(&paper));
        kvc_paper_list(&paper, validation->cases);
        if (validation->errors.file != NULL) {
            kvc_paper_write_errors(&paper, validation->errors.file);
        }
        if (validation->prints_tables) {
            kvc_paper_print(&paper);
        }
    }
    kvc_paper_free(&paper);
    return status;
}

static enum kvc_status validate_machine(struct validation *validation, const struct kvc_subject *subject,
                                        struct kvc_diag *diag)
{
    struct kvc_progress_bar bar;
    struct kvc_run_options options = {.jobs = validation->arguments->jobs};
    struct kvc_measured_machine machine;
    options.progress = kvc_progress_bar_open(&bar, validation->arguments->quiet);
    enum kvc_status status = kvc_measured_machine_score(
        subject, validation->arguments->flag[FLAG_UNSEEN] != NULL, &options, &machine, diag);
    kvc_progress_bar_close(&bar);
    if (status == KVC_OK) {
        status = machine.unseen ? kvc_measured_machine_log_unseen(&machine, diag)
                                : judge(validation, subject, "baseline.csv", &machine.comparison.cases,
                                        machine.comparison.score, diag);
    }
    if (status == KVC_OK && !machine.unseen && machine.plan.pairs > 0) {
        status = judge(validation, subject, kvc_pairs_baseline_name, &machine.pair_scores.cases,
                       machine.pair_scores.score, diag);
    }
    if (status == KVC_OK) {
        json_array_append_new(validation->machines, kvc_measured_machine_summary(&machine));
        kvc_measured_machine_list(&machine, validation->cases);
        if (validation->errors.file != NULL) {
            kvc_measured_machine_write_errors(&machine, validation->errors.file);
        }
        if (validation->prints_tables) {
            kvc_measured_machine_print(&machine);
        }
    }
    kvc_measured_machine_free(&machine);
    return status;
}

/* Scores the closed forms by the answers about the mechanisms and about further loads. */
static enum kvc_status validate_closed_forms(struct validation *validation, const struct kvc_subject *subject,
                                             const struct kvc_run_options *options,
                                             const struct kvc_mechanisms *mechanisms, struct kvc_diag *diag)
{
    struct kvc_closed_forms forms;
    enum kvc_status status = kvc_closed_forms_score(
        subject, mechanisms, options, validation->arguments->flag[FLAG_UPDATE] != NULL, &forms, diag);
    kvc_progress_done(options->progress);
    if (status == KVC_OK && validation->prints_tables) {
        kvc_mechanisms_print(mechanisms);
        kvc_closed_forms_print(&forms);
    }
    for (uint32_t i = 0; i < forms.count; i++) {
        validation->regressed |= forms.entry[i].regressed > 0;
    }
    kvc_closed_forms_free(&forms);
    return status;
}

static enum kvc_status validate_mechanisms(struct validation *validation, const struct kvc_subject *subject,
                                           struct kvc_diag *diag)
{
    struct kvc_progress_bar bar;
    struct kvc_run_options options = {.jobs = validation->arguments->jobs};
    struct kvc_mechanisms mechanisms;
    options.progress = kvc_progress_bar_open(&bar, validation->arguments->quiet);
    enum kvc_status status = kvc_mechanisms_score(subject, &options, &mechanisms, diag);
    if (status == KVC_OK) {
        kvc_mechanisms_list(&mechanisms, validation->mechanisms);
        status = validate_closed_forms(validation, subject, &options, &mechanisms, diag);
    }
    kvc_progress_bar_close(&bar);
    for (size_t i = 0; i < mechanisms.count; i++) {
        validation->regressed |= mechanisms.entry[i].verdict != KVC_MECHANISM_OK;
    }
    kvc_mechanisms_free(&mechanisms);
    return status;
}

static enum kvc_status validate_subject(struct validation *validation, const struct kvc_subject *subject,
                                        struct kvc_diag *diag)
{
    switch (subject->kind) {
    case KVC_SUBJECT_MACHINE:
        return validate_machine(validation, subject, diag);
    case KVC_SUBJECT_MECHANISMS:
        return validate_mechanisms(validation, subject, diag);
    case KVC_SUBJECT_PAPER:
        break;
    }
    return validate_paper(validation, subject, diag);
}

/* `system` names the first paper. If there are several, each case names its own. */
static enum kvc_status write_document(const struct validation *validation)
{
    const char *destination = validation->arguments->json;
    if (destination == NULL) {
        return KVC_OK;
    }
    json_t *document =
        json_pack("{s:s, s:s?, s:O, s:O, s:O, s:O}", "schema", "kvcast.validation/1", "system",
                  validation->system, "papers", validation->papers, "machines", validation->machines,
                  "mechanisms", validation->mechanisms, "cases", validation->cases);
    return (enum kvc_status)kvc_print_json(document, destination);
}

/* Scores one subject, or all that can be scored when `only` is NULL. */
static enum kvc_status score(struct validation *validation, const struct subjects *subjects,
                             const struct kvc_subject *only, struct kvc_diag *diag)
{
    bool several = false;
    enum kvc_status status = open_errors(validation, diag);
    for (size_t i = 0; i < subjects->count && status == KVC_OK; i++) {
        const struct kvc_subject *subject = &subjects->entry[i];
        bool unmeasured = subject->kind == KVC_SUBJECT_MACHINE && !subject->is_measured;
        if (only != NULL ? subject != only : unmeasured) {
            continue;
        }
        if (validation->prints_tables && only == NULL) {
            printf("%s%s\n", several ? "\n" : "", subject->name);
        }
        several = true;
        fflush(NULL); /* Otherwise the children that simulate would write the buffered output again. */
        status = validate_subject(validation, subject, diag);
    }
    if (status == KVC_OK && validation->errors.file != NULL) {
        status = kvc_partial_file_commit(&validation->errors, diag);
    }
    kvc_partial_file_discard(&validation->errors);
    kvc_folder_lock_release(&validation->lock);
    return status;
}

static int score_and_write(const struct kvc_arguments *arguments, const struct subjects *subjects,
                           const struct kvc_subject *only, struct kvc_diag *diag)
{
    struct validation validation = {
        .arguments = arguments,
        .prints_tables = arguments->json == NULL || strcmp(arguments->json, "-") != 0,
        .cases = json_array(),
        .papers = json_array(),
        .machines = json_array(),
        .mechanisms = json_array(),
    };
    enum kvc_status status = score(&validation, subjects, only, diag);
    int exit_status = status == KVC_OK ? (int)write_document(&validation) : kvc_print_failure(diag);
    json_decref(validation.cases);
    json_decref(validation.papers);
    json_decref(validation.machines);
    json_decref(validation.mechanisms);
    return exit_status == 0 && validation.regressed ? KVC_ERR_REGRESSED : exit_status;
}

static enum kvc_status measure(const struct kvc_arguments *arguments, const struct kvc_subject *subject,
                               struct kvc_diag *diag)
{
    struct kvc_progress_bar bar;
    struct kvc_measuring measuring = {.repetitions = REPETITIONS_DEFAULT,
                                      .turns = KVC_PAIRS_DEFAULT,
                                      .calibrations = CALIBRATIONS_DEFAULT,
                                      .quick = arguments->flag[FLAG_QUICK] != NULL,
                                      .resume = arguments->flag[FLAG_RESUME] != NULL};
    if (subject == NULL || subject->kind != KVC_SUBJECT_MACHINE) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "validate: --measure needs the NAME of a machine, a folder with a plan.csv");
    }
    if (arguments->json != NULL || arguments->out != NULL || arguments->flag[FLAG_UPDATE] != NULL) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "validate: --measure writes runs.csv only; remove --json, --out and --update-baseline");
    }
    enum kvc_status status =
        kvc_arguments_whole("validate", "--repetitions", arguments->flag[FLAG_REPETITIONS], 0,
                            REPETITIONS_MAX, &measuring.repetitions, diag);
    if (status == KVC_OK) {
        status = kvc_arguments_whole("validate", "--calibrations", arguments->flag[FLAG_CALIBRATIONS], 0,
                                     KVC_CALIBRATIONS_MAX, &measuring.calibrations, diag);
    }
    if (status == KVC_OK) {
        status = kvc_arguments_whole("validate", "--pairs", arguments->flag[FLAG_PAIRS], KVC_PAIRS_LEAST,
                                     KVC_PAIRS_MAX, &measuring.turns, diag);
    }
    if (status != KVC_OK) {
        return status;
    }
    const struct kvc_progress *progress = kvc_progress_bar_open(&bar, arguments->quiet);
    status = kvc_measured_machine_run(subject, &measuring, progress, diag);
    kvc_progress_bar_close(&bar);
    if (status == KVC_OK) {
        printf("%s/runs.csv\n", subject->folder);
    }
    return status;
}

/* Writes the file of a paper that one of the options --elasticities and --identify is about. */
static enum kvc_status find_for_paper(const struct kvc_arguments *arguments,
                                      const struct kvc_subject *subject, struct kvc_diag *diag)
{
    struct kvc_progress_bar bar;
    struct kvc_run_options options = {.jobs = arguments->jobs};
    bool identifies = arguments->flag[FLAG_IDENTIFY] != NULL;
    const char *option = identifies ? "--identify" : "--elasticities";
    const char *file = identifies ? "identification.csv" : "elasticities.csv";
    if (subject == NULL || subject->kind != KVC_SUBJECT_PAPER) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "validate: %s needs the NAME of a paper, a folder with a cases.csv", option);
    }
    if (arguments->json != NULL || arguments->out != NULL || arguments->flag[FLAG_UPDATE] != NULL) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "validate: %s writes %s only; remove --json, --out and --update-baseline",
                             option, file);
    }
    options.progress = kvc_progress_bar_open(&bar, arguments->quiet);
    enum kvc_status status = identifies ? kvc_paper_identify(subject, &options, diag)
                                        : kvc_paper_find_elasticities(subject, &options, diag);
    kvc_progress_bar_close(&bar);
    if (status == KVC_OK) {
        printf("%s/%s\n", subject->folder, file);
    }
    return status;
}

static enum kvc_status make_accuracy(const struct kvc_arguments *arguments, const struct subjects *subjects,
                                     struct kvc_diag *diag)
{
    if (arguments->positional_count > 0 || arguments->json != NULL || arguments->out != NULL ||
        arguments->flag[FLAG_UPDATE] != NULL) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "validate: --accuracy gathers the errors of all papers and machines in "
                             "accuracy.csv only; remove NAME, --json, --out and --update-baseline");
    }
    enum kvc_status status = kvc_accuracy_make(subjects->entry, subjects->count, diag);
    if (status == KVC_OK) {
        char path[PATH_MAX];
        kvc_data_path("validate/accuracy.csv", path);
        printf("%s\n", path);
    }
    return status;
}

/* Returns whether the scores that accuracy.csv gathers have been written. Those of another folder of machines
 * are not among them. */
static bool changes_accuracy(const struct kvc_arguments *arguments)
{
    return (arguments->flag[FLAG_UPDATE] != NULL || arguments->flag[FLAG_UNSEEN] != NULL) &&
           getenv("KVCAST_MEASURED") == NULL;
}

/* Refuses options that have no meaning for this subject. */
static enum kvc_status check_flags(const struct kvc_arguments *arguments, const struct kvc_subject *only,
                                   struct kvc_diag *diag)
{
    for (int i = FLAG_REPETITIONS; i <= FLAG_RESUME; i++) {
        if (arguments->flag[i] != NULL && arguments->flag[FLAG_MEASURE] == NULL) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "validate: %s is only allowed with --measure",
                                 flags[i].name);
        }
    }
    if ((arguments->flag[FLAG_MEASURE] != NULL) + (arguments->flag[FLAG_ELASTICITIES] != NULL) +
            (arguments->flag[FLAG_IDENTIFY] != NULL) + (arguments->flag[FLAG_UNSEEN] != NULL) +
            (arguments->flag[FLAG_ACCURACY] != NULL) >
        1) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "validate: found more than one of --measure, --elasticities, --identify, --unseen "
            "and --accuracy, allowed: one of them");
    }
    if (arguments->flag[FLAG_UNSEEN] == NULL) {
        return KVC_OK;
    }
    if (only == NULL || only->kind != KVC_SUBJECT_MACHINE) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "validate: --unseen needs the NAME of a machine, a folder with a plan.csv");
    }
    if (arguments->out != NULL || arguments->flag[FLAG_UPDATE] != NULL) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "validate: --unseen only prints and logs, because pictures and baseline.csv know "
            "the seen runs alone; remove --out and --update-baseline");
    }
    return KVC_OK;
}

int kvc_command_validate(int argc, char **argv)
{
    struct kvc_arguments arguments;
    struct subjects subjects;
    const struct kvc_subject *only = NULL;
    struct kvc_diag diag = {0};
    int exit_status;
    if (!kvc_arguments_parse(argc, argv, &usage, &arguments, &exit_status)) {
        return exit_status;
    }
    find_subjects(&subjects);
    enum kvc_status status = KVC_OK;
    if (arguments.positional_count > 0) {
        status = choose_subject(&subjects, arguments.positional[0], &only, &diag);
    }
    if (status == KVC_OK) {
        status = check_flags(&arguments, only, &diag);
    }
    if (status == KVC_OK && arguments.flag[FLAG_MEASURE] != NULL) {
        status = measure(&arguments, only, &diag);
    } else if (status == KVC_OK &&
               (arguments.flag[FLAG_ELASTICITIES] != NULL || arguments.flag[FLAG_IDENTIFY] != NULL)) {
        status = find_for_paper(&arguments, only, &diag);
    } else if (status == KVC_OK && arguments.flag[FLAG_ACCURACY] != NULL) {
        status = make_accuracy(&arguments, &subjects, &diag);
    } else if (status == KVC_OK) {
        exit_status = score_and_write(&arguments, &subjects, only, &diag);
        if (exit_status <= KVC_ERR_REGRESSED && changes_accuracy(&arguments)) {
            status = kvc_accuracy_make(subjects.entry, subjects.count, &diag);
        }
    }
    if (status != KVC_OK) {
        exit_status = kvc_print_failure(&diag);
    }
    kvc_arguments_free(&arguments);
    return exit_status;
}
