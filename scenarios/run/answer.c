#include "scenarios/run/answer.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/output/json.h"
#include "scenarios/output/table.h"
#include "scenarios/run/driver.h"
#include "scenarios/run/gain.h"
#include "scenarios/run/limits.h"
#include "scenarios/run/pool.h"
#include "scenarios/run/ranks/ranks.h"
#include "scenarios/run/sensitivity.h"
#include "sim/base/files/partial_file.h"
#include "sim/base/rng.h"

enum { COMMAND_LINE_MAX = 4096 };

struct outputs {
    struct kvc_folder folder;
    struct kvc_question question;
    struct kvc_partial_file json;
};

static const char *command_of(const struct kvc_answer_options *task)
{
    static const char *const commands[] = {[KVC_ANSWER_BY_RUN] = "run",
                                           [KVC_ANSWER_BY_PREDICTION] = "predict",
                                           [KVC_ANSWER_BY_MEASUREMENT] = "measure"};
    return commands[task->by];
}

static bool to_stdout(const struct kvc_answer_options *task)
{
    return task->json != NULL && strcmp(task->json, "-") == 0;
}

static void write_command_line(const struct kvc_answer_options *task, char *text, size_t size)
{
    snprintf(text, size, "kvcast %s %s%s", command_of(task), task->path,
             task->sensitivity ? " --sensitivity" : "");
    kvc_overrides_append(task->set, text, size);
}

/* Refuses a run that would take too long or does not fit into memory, before anything is written. */
static enum kvc_status check(const struct kvc_answer_options *task, struct kvc_diag *diag)
{
    const struct kvc_scenario *scenario = &task->loaded->scenario;
    if (task->by == KVC_ANSWER_BY_PREDICTION) {
        return KVC_OK;
    }
    double replicas = (double)scenario->run.replicas;
    double jobs = task->jobs > 0 ? task->jobs : kvc_pool_processors();
    double least_s = kvc_time_least_s(scenario) * ceil(replicas / jobs);
    enum kvc_status status = kvc_time_plan(scenario, least_s, "the run", diag);
    return status == KVC_OK
               ? kvc_memory_check(task->loaded, task->path, task->set, kvc_memory_available_bytes(), diag)
               : status;
}

static enum kvc_status open_outputs(struct outputs *outputs, const struct kvc_answer_options *task,
                                    const char *command_line, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    memset(outputs, 0, sizeof(*outputs));
    outputs->question = (struct kvc_question){
        .command_line = task->by != KVC_ANSWER_BY_MEASUREMENT ? command_line : NULL, .loaded = task->loaded};
    if (task->out != NULL) {
        status = kvc_folder_open(&outputs->folder, task->out, task->by != KVC_ANSWER_BY_PREDICTION, diag);
    }
    if (task->keeps) {
        outputs->folder.question = &outputs->question;
    }
    if (status == KVC_OK && task->json != NULL && !to_stdout(task)) {
        status = kvc_partial_file_open(&outputs->json, task->json, diag);
    }
    return status;
}

static enum kvc_status find(const struct kvc_answer_options *task, struct outputs *outputs,
                            struct kvc_outcome **outcome, struct kvc_sensitivity **sensitivity,
                            struct kvc_diag *diag)
{
    bool predict = task->by == KVC_ANSWER_BY_PREDICTION;
    enum kvc_status status = KVC_OK;
    const struct kvc_scenario *scenario = &task->loaded->scenario;
    const struct kvc_run_options options = {
        .jobs = task->jobs,
        .timeline = kvc_folder_file(&outputs->folder, KVC_FOLDER_TIMELINE),
        .platform = kvc_folder_file(&outputs->folder, KVC_FOLDER_PLATFORM),
        .progress = task->progress,
    };
    if (task->by == KVC_ANSWER_BY_MEASUREMENT) {
        return kvc_driver_measure(scenario, &options, outcome, diag);
    }
    if (task->sensitivity) {
        status = kvc_sensitivity_check(scenario, diag);
    }
    if (status == KVC_OK) {
        status = predict ? kvc_driver_predict(scenario, outcome, diag)
                         : kvc_driver_run(scenario, &options, outcome, diag);
    }
    if (status == KVC_OK && !predict) {
        status = kvc_driver_judge(scenario, *outcome, diag);
    }
    if (status == KVC_OK && scenario->run.bottleneck != KVC_BOTTLENECK_BY_UTILIZATION) {
        status = kvc_gain_find(scenario, predict ? NULL : &options, *outcome, diag);
    }
    if (status == KVC_OK && task->sensitivity) {
        status = kvc_sensitivity_find(task->loaded, predict ? NULL : &options, *outcome, sensitivity, diag);
    }
    return status;
}

/* Writes all files, even if one of them fails, because they may be on several disks. Returns the first
 * failure. */
static enum kvc_status write_files(struct outputs *outputs, const struct kvc_answer_options *task,
                                   const struct kvc_report *report, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    if (outputs->json.file != NULL) {
        status = kvc_json_write(report, outputs->json.file, diag);
        status = kvc_diag_name(diag, status, outputs->json.path);
    }
    if (status == KVC_OK && outputs->json.file != NULL) {
        status = kvc_partial_file_commit(&outputs->json, diag);
    }
    if (task->out != NULL) {
        enum kvc_status of_folder =
            kvc_folder_commit(&outputs->folder, report, status == KVC_OK ? diag : NULL);
        status = status == KVC_OK ? of_folder : status;
    }
    return status;
}

/* Writes the answer to the stream even if no file could be written, because it may have taken hours. */
static enum kvc_status show(const struct kvc_answer_options *task, const struct kvc_report *report, FILE *out,
                            struct kvc_diag *diag)
{
    kvc_progress_done(task->progress);
    if (to_stdout(task)) {
        return kvc_diag_name(diag, kvc_json_write(report, out, diag), "stdout");
    }
    kvc_table_write(report, task->color, out);
    return KVC_OK;
}

enum kvc_status kvc_answer(const struct kvc_answer_options *task, FILE *out, struct kvc_diag *diag)
{
    char command_line[COMMAND_LINE_MAX];
    struct outputs outputs = {0};
    struct kvc_outcome *outcome = NULL;
    struct kvc_sensitivity *sensitivity = NULL;
    write_command_line(task, command_line, sizeof(command_line));
    enum kvc_status status = check(task, diag);
    if (status == KVC_OK) {
        status = kvc_ranks_agree(open_outputs(&outputs, task, command_line, diag), diag);
    }
    if (status == KVC_OK) {
        status = find(task, &outputs, &outcome, &sensitivity, diag);
    }
    const struct kvc_report report = {.command = command_of(task),
                                      .command_line = command_line,
                                      .loaded = task->loaded,
                                      .outcome = outcome,
                                      .sensitivity = sensitivity};
    if (status == KVC_OK) {
        status = write_files(&outputs, task, &report, diag);
        enum kvc_status shown = show(task, &report, out, status == KVC_OK ? diag : NULL);
        status = status == KVC_OK ? shown : status;
    }
    kvc_partial_file_discard(&outputs.json);
    kvc_folder_discard(&outputs.folder);
    kvc_sensitivity_free(sensitivity);
    kvc_outcome_free(outcome);
    return status;
}

enum kvc_status kvc_answer_draw(const char *folder, struct kvc_diag *diag)
{
    char result[PATH_MAX];
    const char *input = result;
    snprintf(result, sizeof(result), "%s/result.json", folder);
    return kvc_answer_files_draw(folder, "latency_cdf", KVC_PLOT_CDF, &input, 1, diag);
}

/* ---- the files of a search ---- */

enum kvc_status kvc_answer_files_open(struct kvc_answer_files *files, const char *folder, const char *name,
                                      const char *json, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    char file[NAME_MAX];
    memset(files, 0, sizeof(*files));
    files->to_stdout = json != NULL && strcmp(json, "-") == 0;
    if (folder != NULL) {
        status = kvc_folder_own(folder, &files->lock, diag);
        snprintf(file, sizeof(file), "%s.json", name);
        if (status == KVC_OK) {
            status = kvc_partial_file_open_in(&files->folder_json, folder, file, diag);
        }
        snprintf(file, sizeof(file), "%s.csv", name);
        if (status == KVC_OK) {
            status = kvc_partial_file_open_in(&files->folder_csv, folder, file, diag);
        }
    }
    if (status == KVC_OK && json != NULL && !files->to_stdout) {
        status = kvc_partial_file_open(&files->json, json, diag);
    }
    return status;
}

static enum kvc_status write_json(struct kvc_partial_file *file, const struct kvc_answer_forms *forms,
                                  struct kvc_diag *diag)
{
    if (file->file == NULL) {
        return KVC_OK;
    }
    return kvc_diag_name(diag, forms->json(forms->report, file->file, diag), file->path);
}

static enum kvc_status commit(struct kvc_partial_file *file, struct kvc_diag *diag)
{
    return file->path[0] != '\0' ? kvc_partial_file_commit(file, diag) : KVC_OK;
}

/* Writes the files of the folder and puts them in place together. */
static enum kvc_status write_folder(struct kvc_answer_files *files, const struct kvc_answer_forms *forms,
                                    struct kvc_diag *diag)
{
    if (files->folder_csv.file == NULL) {
        return KVC_OK;
    }
    forms->csv(forms->report, files->folder_csv.file);
    enum kvc_status status = kvc_partial_file_finish(&files->folder_csv, diag);
    if (status == KVC_OK) {
        status = write_json(&files->folder_json, forms, diag);
    }
    if (status == KVC_OK) {
        status = kvc_partial_file_finish(&files->folder_json, diag);
    }
    if (status == KVC_OK && forms->question != NULL) {
        status = kvc_folder_keep(files->folder_json.path, forms->question, diag);
    }
    if (status == KVC_OK) {
        status = commit(&files->folder_csv, diag);
    }
    return status == KVC_OK ? commit(&files->folder_json, diag) : status;
}

/* Writes the answer to the stream even if no file could be written, because it may have taken hours. */
static enum kvc_status show_form(const struct kvc_answer_files *files, const struct kvc_answer_forms *forms,
                                 FILE *out, struct kvc_diag *diag)
{
    if (files->to_stdout) {
        return kvc_diag_name(diag, forms->json(forms->report, out, diag), "stdout");
    }
    forms->table(forms->report, forms->color, out);
    return KVC_OK;
}

enum kvc_status kvc_answer_files_write(struct kvc_answer_files *files, const struct kvc_answer_forms *forms,
                                       FILE *out, struct kvc_diag *diag)
{
    enum kvc_status status = write_folder(files, forms, diag);
    enum kvc_status json = write_json(&files->json, forms, status == KVC_OK ? diag : NULL);
    if (json == KVC_OK) {
        json = commit(&files->json, status == KVC_OK ? diag : NULL);
    }
    status = status == KVC_OK ? json : status;
    enum kvc_status shown = show_form(files, forms, out, status == KVC_OK ? diag : NULL);
    return status == KVC_OK ? shown : status;
}

void kvc_answer_files_discard(struct kvc_answer_files *files)
{
    kvc_partial_file_discard(&files->folder_json);
    kvc_partial_file_discard(&files->folder_csv);
    kvc_partial_file_discard(&files->json);
    kvc_folder_lock_release(&files->lock);
}

enum kvc_status kvc_answer_files_draw(const char *folder, const char *name, enum kvc_plot_kind kind,
                                      const char *const *inputs, int count, struct kvc_diag *diag)
{
    static const char *const formats[] = {"svg", "pdf", "png"};
    char picture[PATH_MAX];
    struct kvc_folder_lock lock = {0};
    enum kvc_status status = kvc_folder_lock_take(&lock, folder, diag);
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats) && status == KVC_OK; i++) {
        snprintf(picture, sizeof(picture), "%s/%s.%s", folder, name, formats[i]);
        const struct kvc_plot_options plot = {
            .kind = kind, .input_count = count, .inputs = inputs, .output = picture, .in_folder = true};
        status = kvc_plot_draw(&plot, diag);
    }
    kvc_folder_lock_release(&lock);
    return status;
}

/* ---- the same scenario on all ranks ---- */

static uint64_t add(uint64_t hash, const char *text)
{
    return kvc_mix64(hash ^ kvc_name_hash(text));
}

static uint64_t add_parameters(uint64_t hash, const struct kvc_parameters *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        hash = add(add(add(hash, list->entry[i].path), list->entry[i].value), list->entry[i].source);
    }
    return hash;
}

/* Adds the contents of a file; one that cannot be read adds nothing. */
static uint64_t add_file(uint64_t hash, const char *path)
{
    char part[1 << 16];
    size_t bytes;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return hash;
    }
    while ((bytes = fread(part, 1, sizeof(part) - 1, file)) > 0) {
        part[bytes] = '\0';
        hash = add(hash, part);
    }
    fclose(file);
    return hash;
}

enum kvc_status kvc_ranks_check_loaded(const struct kvc_loaded *loaded, struct kvc_diag *diag)
{
    if (kvc_ranks_count() == 1) {
        return KVC_OK;
    }
    uint64_t hash = add_file(0, loaded->scenario.file);
    hash = add_parameters(add_parameters(hash, &loaded->parameters), &loaded->provenance);
    if (loaded->scenario.workload.trace.path[0] != '\0') {
        hash = add_file(hash, loaded->scenario.workload.trace.path);
    }
    return kvc_ranks_check_same("scenario", hash, diag);
}
