#include "scenarios/run/answer_files.h"

#include <limits.h>
#include <string.h>

#include "scenarios/output/folder.h"

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
    if (status == KVC_OK) {
        status = commit(&files->folder_csv, diag);
    }
    return status == KVC_OK ? commit(&files->folder_json, diag) : status;
}

/* Shows the answer, which may have taken hours, even if no file could be written. */
static enum kvc_status show(const struct kvc_answer_files *files, const struct kvc_answer_forms *forms,
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
    enum kvc_status shown = show(files, forms, out, status == KVC_OK ? diag : NULL);
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
                                      const char *input, struct kvc_diag *diag)
{
    static const char *const formats[] = {"svg", "pdf", "png"};
    char picture[PATH_MAX];
    struct kvc_folder_lock lock = {0};
    enum kvc_status status = kvc_folder_lock_take(&lock, folder, diag);
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats) && status == KVC_OK; i++) {
        snprintf(picture, sizeof(picture), "%s/%s.%s", folder, name, formats[i]);
        const struct kvc_plot_options plot = {
            .kind = kind, .input_count = 1, .inputs = &input, .output = picture, .in_folder = true};
        status = kvc_plot_draw(&plot, diag);
    }
    kvc_folder_lock_release(&lock);
    return status;
}
