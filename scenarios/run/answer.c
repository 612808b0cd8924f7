#include "scenarios/run/answer.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "scenarios/output/folder.h"
#include "scenarios/output/json.h"
#include "scenarios/output/table.h"
#include "scenarios/run/answer_files.h"
#include "scenarios/run/driver.h"
#include "scenarios/run/gain.h"
#include "scenarios/run/memory_cause.h"
#include "scenarios/run/memory_plan.h"
#include "scenarios/run/pool.h"
#include "scenarios/run/ranks.h"
#include "scenarios/run/sensitivity.h"
#include "scenarios/run/time_plan.h"
#include "sim/base/files/partial_file.h"

enum { COMMAND_LINE_MAX = 4096 };

struct outputs {
    struct kvc_folder folder;
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

/* Refuses what would take too long or does not fit before anything is written. */
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
                                    struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    memset(outputs, 0, sizeof(*outputs));
    if (task->out != NULL) {
        status = kvc_folder_open(&outputs->folder, task->out, task->by != KVC_ANSWER_BY_PREDICTION, diag);
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
    if (status == KVC_OK && scenario->run.bottleneck != KVC_BOTTLENECK_BY_UTILIZATION) {
        status = kvc_gain_find(scenario, predict ? NULL : &options, *outcome, diag);
    }
    if (status == KVC_OK && task->sensitivity) {
        status = kvc_sensitivity_find(task->loaded, predict ? NULL : &options, *outcome, sensitivity, diag);
    }
    return status;
}

/* Writes all files, even if one of them fails, because they may be on several disks. Tells the first failure.
 */
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

/* Shows the answer, which may have taken hours, even if no file could be written. */
static enum kvc_status show(const struct kvc_answer_options *task, const struct kvc_report *report, FILE *out,
                            struct kvc_diag *diag)
{
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
        status = kvc_ranks_agree(open_outputs(&outputs, task, diag), diag);
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
    snprintf(result, sizeof(result), "%s/result.json", folder);
    return kvc_answer_files_draw(folder, "latency_cdf", KVC_PLOT_CDF, result, diag);
}
