#include "scenarios/explore/plan_answer.h"

#include <limits.h>
#include <string.h>

#include "plots/plot.h"
#include "scenarios/explore/plan_report.h"
#include "scenarios/output/folder.h"
#include "scenarios/run/ranks.h"
#include "sim/base/partial_file.h"

enum { COMMAND_LINE_MAX = 4096 };

struct files {
    struct kvc_partial_file folder_json, folder_csv, json;
};

static bool to_stdout(const struct kvc_plan_output *output)
{
    return output->json != NULL && strcmp(output->json, "-") == 0;
}

static void write_command_line(const struct kvc_plan_options *options, char *text, size_t size)
{
    size_t length =
        (size_t)snprintf(text, size, "kvcast plan %s%s%s", options->path,
                         options->exhaustive ? " --exhaustive" : "", options->headroom ? " --headroom" : "");
    for (uint32_t i = 0; options->set != NULL && i < options->set->count && length < size; i++) {
        length += (size_t)snprintf(text + length, size - length, " --set %s=%s", options->set->entry[i].path,
                                   options->set->entry[i].value);
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

static enum kvc_status open_files(struct files *files, const struct kvc_plan_output *output,
                                  struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    if (output->out != NULL) {
        status = kvc_folder_create(output->out, diag);
        if (status == KVC_OK) {
            status = open_in_folder(&files->folder_json, output->out, "plan.json", diag);
        }
        if (status == KVC_OK) {
            status = open_in_folder(&files->folder_csv, output->out, "plan.csv", diag);
        }
    }
    if (status == KVC_OK && output->json != NULL && !to_stdout(output)) {
        status = kvc_partial_file_open(&files->json, output->json, diag);
    }
    return status;
}

static enum kvc_status write_json(struct kvc_partial_file *file, const struct kvc_plan_report *report,
                                  struct kvc_diag *diag)
{
    if (file->file == NULL) {
        return KVC_OK;
    }
    enum kvc_status status = kvc_plan_write_json(report, file->file, diag);
    return status == KVC_OK ? kvc_partial_file_commit(file, diag) : status;
}

static enum kvc_status write_files(struct files *files, const struct kvc_plan_report *report,
                                   struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    if (files->folder_csv.file != NULL) {
        kvc_plan_write_csv(report->planned, files->folder_csv.file);
        status = kvc_partial_file_commit(&files->folder_csv, diag);
    }
    if (status == KVC_OK) {
        status = write_json(&files->folder_json, report, diag);
    }
    return status == KVC_OK ? write_json(&files->json, report, diag) : status;
}

enum kvc_status kvc_plan_answer_write(const struct kvc_plan_output *output, FILE *out, bool *is_met,
                                      char *why, size_t why_size, struct kvc_diag *diag)
{
    char command_line[COMMAND_LINE_MAX];
    struct files files = {.json = {.file = NULL}};
    struct kvc_planned planned = {.goal_count = 0};
    const struct kvc_plan_report report = {
        .command_line = command_line, .loaded = output->options.loaded, .planned = &planned};
    write_command_line(&output->options, command_line, sizeof(command_line));
    enum kvc_status status = kvc_ranks_agree(open_files(&files, output, diag), diag);
    if (status == KVC_OK) {
        status = kvc_plan_make(&output->options, &planned, diag);
    }
    if (status == KVC_OK) {
        status = write_files(&files, &report, diag);
    }
    if (status == KVC_OK && to_stdout(output)) {
        status = kvc_plan_write_json(&report, out, diag);
    } else if (status == KVC_OK) {
        kvc_plan_write_table(&report, output->color, out);
    }
    if (status == KVC_OK) {
        *is_met = planned.search.chosen >= 0;
        why[0] = '\0';
        if (!*is_met) {
            kvc_plan_explain(&planned, why, why_size);
        }
    }
    kvc_partial_file_discard(&files.folder_json);
    kvc_partial_file_discard(&files.folder_csv);
    kvc_partial_file_discard(&files.json);
    kvc_planned_free(&planned);
    return status;
}

enum kvc_status kvc_plan_draw(const char *folder, struct kvc_diag *diag)
{
    static const char *const formats[] = {"svg", "pdf", "png"};
    char picture[PATH_MAX];
    const char *const inputs[] = {folder};
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats) && status == KVC_OK; i++) {
        snprintf(picture, sizeof(picture), "%s/pareto.%s", folder, formats[i]);
        const struct kvc_plot_options plot = {
            .kind = KVC_PLOT_PARETO, .input_count = 1, .inputs = inputs, .output = picture};
        status = kvc_plot_draw(&plot, diag);
    }
    return status;
}
