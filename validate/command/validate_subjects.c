/* kvcast validate: finds papers, machines and mechanisms, and loads their scenarios. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "validate/command/validate.h"
#include "scenarios/load/lua/locate.h"
#include "sim/base/files/data_dir.h"
#include "sim/base/diag.h"

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
static void add(struct kvc_subjects *subjects, const char *root, const char *name, enum kvc_subject_kind kind)
{
    struct kvc_subject *made = &subjects->entry[subjects->count];
    if (name[0] == '.' || subjects->count == KVC_SUBJECTS_MAX || strlen(name) >= sizeof(made->name) ||
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

static void add_all(struct kvc_subjects *subjects, const char *root, enum kvc_subject_kind kind)
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

void kvc_subjects_find(struct kvc_subjects *subjects)
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
static void join(const struct kvc_subjects *subjects, enum kvc_subject_kind kind, char *out, size_t size)
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

enum kvc_status kvc_subjects_choose(const struct kvc_subjects *subjects, const char *name,
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

static enum kvc_status add_overrides(const char *text, struct kvc_overrides *overrides, struct kvc_diag *diag)
{
    char one[KVC_PATH_MAX + KVC_TEXT_MAX + 1];
    for (; *text != '\0'; text += *text == ';') {
        size_t length = strcspn(text, ";");
        if (length == 0) {
            continue;
        }
        if (length >= sizeof(one)) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the override \"%.40s...\" is too long", text);
        }
        memcpy(one, text, length);
        one[length] = '\0';
        enum kvc_status status = kvc_overrides_parse(overrides, one, diag);
        if (status != KVC_OK) {
            return status;
        }
        text += length;
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
    /* A load that changes has no steady state to wait for: it is measured from its begin. */
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

enum kvc_status kvc_validate_load_line(const struct kvc_subject *subject, const struct kvc_plan_line *line,
                                       double capacity_mops, const char *more, struct kvc_loaded **out,
                                       struct kvc_diag *diag)
{
    char path[PATH_MAX], message[sizeof(diag->message)], overrides[sizeof(line->overrides) + 256];
    char load[64] = "";
    kvc_subject_path(subject, line->scenario, path);
    if (kvc_plan_line_is_relative(line)) {
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

enum kvc_status kvc_validate_check_capacity(const struct kvc_plan *plan, size_t line,
                                            const struct kvc_loaded *loaded, struct kvc_diag *diag)
{
    if (loaded->scenario.workload.arrival == KVC_ARRIVAL_SATURATE) {
        return KVC_OK;
    }
    for (size_t i = line + 1; i < plan->count; i++) {
        if (kvc_plan_line_is_relative(&plan->entry[i]) && plan->entry[i].of == line) {
            return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, plan->path, plan->entry[i].line,
                                    "of: found \"%s\", allowed: a run whose workload.arrival is \"saturate\"",
                                    plan->entry[line].id);
        }
    }
    return KVC_OK;
}
