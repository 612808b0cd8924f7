/* kvcast validate: finds papers and machines, and loads their scenarios. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/cli/validate.h"
#include "sim/base/data_dir.h"

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

/* Adds an entry of the root folder if it contains the file that every paper or machine has. */
static void add(struct kvc_subjects *subjects, const char *root, const char *name, bool is_machine)
{
    struct kvc_subject *made = &subjects->entry[subjects->count];
    if (name[0] == '.' || subjects->count == KVC_SUBJECTS_MAX || strlen(name) >= sizeof(made->name) ||
        snprintf(made->folder, sizeof(made->folder), "%s/%s", root, name) >= (int)sizeof(made->folder)) {
        return;
    }
    strcpy(made->name, name);
    made->is_machine = is_machine;
    if (!has(made, is_machine ? "plan.csv" : "cases.csv")) {
        return;
    }
    made->is_measured = is_machine && has(made, "runs.csv");
    subjects->count++;
}

static void add_all(struct kvc_subjects *subjects, const char *root, bool is_machine)
{
    struct dirent **entries;
    int count = scandir(root, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        add(subjects, root, entries[i]->d_name, is_machine);
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
}

void kvc_subjects_find(struct kvc_subjects *subjects)
{
    const char *measured = getenv("KVCAST_MEASURED");
    char folder[PATH_MAX];
    subjects->count = 0;
    kvc_data_path("validate/papers", folder);
    add_all(subjects, folder, false);
    kvc_data_path("validate/measured", folder);
    add_all(subjects, measured != NULL ? measured : folder, true);
}

/* Writes "a, b", or "none". */
static void join(const struct kvc_subjects *subjects, bool machines, char *out, size_t size)
{
    size_t length = 0;
    snprintf(out, size, "none");
    for (size_t i = 0; i < subjects->count; i++) {
        if (subjects->entry[i].is_machine == machines && length < size) {
            length += (size_t)snprintf(out + length, size - length, "%s%s", length > 0 ? ", " : "",
                                       subjects->entry[i].name);
        }
    }
}

enum kvc_status kvc_subjects_choose(const struct kvc_subjects *subjects, const char *name,
                                    const struct kvc_subject **chosen, struct kvc_diag *diag)
{
    char papers[300], machines[300];
    for (size_t i = 0; i < subjects->count; i++) {
        *chosen = &subjects->entry[i];
        if (strcmp((*chosen)->name, name) == 0) {
            return KVC_OK;
        }
    }
    join(subjects, false, papers, sizeof(papers));
    join(subjects, true, machines, sizeof(machines));
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                         "validate: found \"%.60s\", allowed: papers (%s) and measured machines (%s)", name,
                         papers, machines);
}

static enum kvc_status add_overrides(const char *text, struct kvc_overrides *overrides, struct kvc_diag *diag)
{
    char one[KVC_PATH_MAX + KVC_TEXT_MAX + 1];
    while (*text != '\0') {
        size_t length = strcspn(text, ";");
        if (length >= sizeof(one)) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the override \"%.40s...\" is too long", text);
        }
        memcpy(one, text, length);
        one[length] = '\0';
        enum kvc_status status = kvc_overrides_parse(overrides, one, diag);
        if (status != KVC_OK) {
            return status;
        }
        text += length + (text[length] == ';');
    }
    return KVC_OK;
}

enum kvc_status kvc_validate_load(const char *path, const char *overrides, struct kvc_loaded **out,
                                  struct kvc_diag *diag)
{
    struct kvc_overrides parsed = {0};
    *out = NULL;
    enum kvc_status status = add_overrides(overrides, &parsed, diag);
    if (status == KVC_OK) {
        status = kvc_scenario_load(path, &parsed, out, diag);
    }
    kvc_overrides_clear(&parsed);
    return status;
}

enum kvc_status kvc_validate_load_line(const struct kvc_subject *subject, const struct kvc_plan_line *line,
                                       struct kvc_loaded **out, struct kvc_diag *diag)
{
    char path[PATH_MAX], message[sizeof(diag->message)];
    kvc_subject_path(subject, line->scenario, path);
    enum kvc_status status = kvc_validate_load(path, line->overrides, out, diag);
    if (status == KVC_OK) {
        return KVC_OK;
    }
    strcpy(message, diag->message);
    return kvc_diag_fail(diag, status, "run %s: %.900s", line->id, message);
}
