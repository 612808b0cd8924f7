#include "scenarios/run/capacity_answer.h"

#include <limits.h>
#include <string.h>

#include "plots/plot.h"
#include "scenarios/output/folder.h"
#include "scenarios/run/ranks.h"
#include "sim/base/partial_file.h"

enum { COMMAND_LINE_MAX = 4096 };

struct outputs {
    struct kvc_partial_file folder_json, folder_csv, json;
};

static bool to_stdout(const struct kvc_capacity_task *task)
{
    return task->json != NULL && strcmp(task->json, "-") == 0;
}

/* Writes the command that repeats the result. Bounds that the user did not give have their defaults. */
static void write_command_line(const struct kvc_capacity_task *task, char *text, size_t size)
{
    const struct kvc_capacity_bounds *bounds = &task->options.bounds;
    size_t length = (size_t)snprintf(text, size, "kvcast capacity %s --loss %g --precision %g", task->path,
                                     bounds->loss_frac, bounds->precision_frac);
    if (bounds->bounds_latency && length < size) {
        length += (size_t)snprintf(text + length, size - length, " --latency %s=%.12gus",
                                   kvc_capacity_latency_names[bounds->latency], bounds->latency_us);
    }
    for (uint32_t i = 0; task->set != NULL && i < task->set->count && length < size; i++) {
        length += (size_t)snprintf(text + length, size - length, " --set %s=%s", task->set->entry[i].path,
                                   task->set->entry[i].value);
    }
}

static enum kvc_status open_in_folder(struct kvc_partial_file *file, const char *folder, const char *name,
                                      struct kvc_diag *diag)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the path of the folder is too long: %.200s...", folder);
    }
    return kvc_partial_file_open(file, path, diag);
}

static enum kvc_status open_outputs(struct outputs *outputs, const struct kvc_capacity_task *task,
                                    struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    memset(outputs, 0, sizeof(*outputs));
    if (task->out != NULL) {
        status = kvc_folder_create(task->out, diag);
        if (status == KVC_OK) {
            status = open_in_folder(&outputs->folder_json, task->out, "capacity.json", diag);
        }
        if (status == KVC_OK) {
            status = open_in_folder(&outputs->folder_csv, task->out, "capacity.csv", diag);
        }
    }
    if (status == KVC_OK && task->json != NULL && !to_stdout(task)) {
        status = kvc_partial_file_open(&outputs->json, task->json, diag);
    }
    return status;
}

static enum kvc_status write_json(struct kvc_partial_file *file, const struct kvc_capacity_report *report,
                                  struct kvc_diag *diag)
{
    if (file->file == NULL) {
        return KVC_OK;
    }
    enum kvc_status status = kvc_capacity_write_json(report, file->file, diag);
    return status == KVC_OK ? kvc_partial_file_commit(file, diag) : status;
}

static enum kvc_status write_files(struct outputs *outputs, const struct kvc_capacity_report *report,
                                   struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    if (outputs->folder_csv.file != NULL) {
        kvc_capacity_write_csv(report->capacity, outputs->folder_csv.file);
        status = kvc_partial_file_commit(&outputs->folder_csv, diag);
    }
    if (status == KVC_OK) {
        status = write_json(&outputs->folder_json, report, diag);
    }
    return status == KVC_OK ? write_json(&outputs->json, report, diag) : status;
}

enum kvc_status kvc_capacity_answer(const struct kvc_capacity_task *task, FILE *out, struct kvc_diag *diag)
{
    char command_line[COMMAND_LINE_MAX];
    struct outputs outputs;
    struct kvc_capacity capacity = {.count = 0};
    const struct kvc_capacity_report report = {
        .command_line = command_line, .loaded = task->loaded, .capacity = &capacity};
    write_command_line(task, command_line, sizeof(command_line));
    enum kvc_status status = kvc_ranks_agree(open_outputs(&outputs, task, diag), diag);
    if (status == KVC_OK) {
        status = kvc_capacity_find(task->loaded, &task->options, &capacity, diag);
    }
    if (status == KVC_OK) {
        status = write_files(&outputs, &report, diag);
    }
    if (status == KVC_OK && to_stdout(task)) {
        status = kvc_capacity_write_json(&report, out, diag);
    } else if (status == KVC_OK) {
        kvc_capacity_write_table(&report, task->color, out);
    }
    kvc_partial_file_discard(&outputs.folder_json);
    kvc_partial_file_discard(&outputs.folder_csv);
    kvc_partial_file_discard(&outputs.json);
    kvc_capacity_free(&capacity);
    return status;
}

enum kvc_status kvc_capacity_draw(const char *folder, struct kvc_diag *diag)
{
    static const char *const formats[] = {"svg", "pdf", "png"};
    char picture[PATH_MAX];
    const char *const inputs[] = {folder};
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats) && status == KVC_OK; i++) {
        snprintf(picture, sizeof(picture), "%s/capacity.%s", folder, formats[i]);
        const struct kvc_plot_options plot = {
            .kind = KVC_PLOT_CAPACITY, .input_count = 1, .inputs = inputs, .output = picture};
        status = kvc_plot_draw(&plot, diag);
    }
    return status;
}
