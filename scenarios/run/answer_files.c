#include "scenarios/run/answer_files.h"

#include <limits.h>
#include <string.h>

#include "scenarios/output/folder.h"

static enum kvc_status open_in_folder(struct kvc_partial_file *file, const char *folder, const char *name,
                                      const char *suffix, struct kvc_diag *diag)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof(path), "%s/%s.%s", folder, name, suffix) >= (int)sizeof(path)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the path of the folder is too long: %.200s...", folder);
    }
    return kvc_partial_file_open(file, path, diag);
}

enum kvc_status kvc_answer_files_open(struct kvc_answer_files *files, const char *folder, const char *name,
                                      const char *json, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    memset(files, 0, sizeof(*files));
    files->to_stdout = json != NULL && strcmp(json, "-") == 0;
    if (folder != NULL) {
        status = kvc_folder_create(folder, diag);
        if (status == KVC_OK) {
            status = open_in_folder(&files->folder_json, folder, name, "json", diag);
        }
        if (status == KVC_OK) {
            status = open_in_folder(&files->folder_csv, folder, name, "csv", diag);
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
    enum kvc_status status = forms->json(forms->report, file->file, diag);
    return status == KVC_OK ? kvc_partial_file_commit(file, diag) : status;
}

enum kvc_status kvc_answer_files_write(struct kvc_answer_files *files, const struct kvc_answer_forms *forms,
                                       FILE *out, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    if (files->folder_csv.file != NULL) {
        forms->csv(forms->report, files->folder_csv.file);
        status = kvc_partial_file_commit(&files->folder_csv, diag);
    }
    if (status == KVC_OK) {
        status = write_json(&files->folder_json, forms, diag);
    }
    if (status == KVC_OK) {
        status = write_json(&files->json, forms, diag);
    }
    if (status == KVC_OK && files->to_stdout) {
        status = forms->json(forms->report, out, diag);
    } else if (status == KVC_OK) {
        forms->table(forms->report, forms->color, out);
    }
    return status;
}

void kvc_answer_files_discard(struct kvc_answer_files *files)
{
    kvc_partial_file_discard(&files->folder_json);
    kvc_partial_file_discard(&files->folder_csv);
    kvc_partial_file_discard(&files->json);
}

enum kvc_status kvc_answer_files_draw(const char *folder, const char *name, enum kvc_plot_kind kind,
                                      const char *input, struct kvc_diag *diag)
{
    static const char *const formats[] = {"svg", "pdf", "png"};
    char picture[PATH_MAX];
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats) && status == KVC_OK; i++) {
        snprintf(picture, sizeof(picture), "%s/%s.%s", folder, name, formats[i]);
        const struct kvc_plot_options plot = {
            .kind = kind, .input_count = 1, .inputs = &input, .output = picture};
        status = kvc_plot_draw(&plot, diag);
    }
    return status;
}
