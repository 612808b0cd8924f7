#include "scenarios/output/folder.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenarios/output/json.h"
#include "scenarios/output/json_value.h"
#include "sim/base/version.h"

static const char *const names[KVC_FOLDER_FILES] = {
    "result.json", "latency.hgrm", "cdf.csv", "windows.csv", "platform.xml", "timeline.json",
};

/* Makes the folder and those above it. *is_new becomes whether it was not there. */
static enum kvc_status create(const char *directory, bool *is_new, struct kvc_diag *diag)
{
    char path[PATH_MAX];
    if (directory[0] == '\0' || strlen(directory) >= sizeof(path)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found \"%.200s\", allowed: the path of a folder",
                             directory);
    }
    strcpy(path, directory);
    for (char *at = path + 1;; at++) {
        if (*at != '/' && *at != '\0') {
            continue;
        }
        char end = *at;
        *at = '\0';
        *is_new = mkdir(path, 0777) == 0;
        if (!*is_new && errno != EEXIST) {
            return kvc_diag_fail_write(diag, directory, errno);
        }
        if (end == '\0') {
            break;
        }
        *at = end;
    }
    struct stat found;
    if (stat(path, &found) != 0 || !S_ISDIR(found.st_mode)) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, directory, 0, "is not a folder");
    }
    return KVC_OK;
}

enum kvc_status kvc_folder_own(const char *directory, struct kvc_folder_lock *lock, struct kvc_diag *diag)
{
    enum kvc_status status = create(directory, &lock->is_new, diag);
    return status == KVC_OK ? kvc_folder_lock_take(lock, directory, diag) : status;
}

/* Returns whether a member of a document has the value, as far as a document's digits show it. */
static bool has_value(const json_t *document, const char *key, json_t *value)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(KVC_JSON_DIGITS));
    json_t *shown = text != NULL ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    bool is_same = shown != NULL && json_equal(shown, json_object_get(document, key));
    json_decref(shown);
    json_decref(value);
    free(text);
    return is_same;
}

static bool is_answer(const json_t *document, const struct kvc_question *question)
{
    return question->command_line != NULL &&
           has_value(document, "command_line", kvc_json_text(question->command_line)) &&
           has_value(document, "version", kvc_json_text(kvc_version)) &&
           has_value(document, "parameters", kvc_json_values(&question->loaded->parameters)) &&
           has_value(document, "provenance", kvc_json_sources(&question->loaded->provenance));
}

/* The files of an answer, the document first. */
static const char *const *files_of(const char *document)
{
    static const char *const files[][10] = {
        {"result.json", "latency.hgrm", "cdf.csv", "windows.csv", "platform.xml", "timeline.json",
         "latency_cdf.svg", "latency_cdf.pdf", "latency_cdf.png"},
        {"capacity.json", "capacity.csv", "capacity.svg", "capacity.pdf", "capacity.png"},
        {"plan.json", "plan.csv", "pareto.svg", "pareto.pdf", "pareto.png"},
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        if (strcmp(files[i][0], document) == 0) {
            return files[i];
        }
    }
    KVC_BUG("%s is the document of no folder", document);
}

/* Makes a new folder for older files. */
static enum kvc_status make_older(const char *folder, char older[PATH_MAX], struct kvc_diag *diag)
{
    uint32_t number = 1;
    int failed;
    do {
        snprintf(older, PATH_MAX, "%.3000s/older-%u", folder, number++);
        failed = mkdir(older, 0777);
    } while (failed != 0 && errno == EEXIST);
    return failed == 0 ? KVC_OK : kvc_diag_fail_write(diag, older, errno);
}

/* Gives the files a second name in another folder, so that the first one can go to a new file. A file system
 * without second names moves them. */
static enum kvc_status link_files(const char *folder, const char *older, const char *const *file,
                                  struct kvc_diag *diag)
{
    char from[PATH_MAX], to[PATH_MAX];
    for (; *file != NULL; file++) {
        snprintf(from, sizeof(from), "%.3000s/%s", folder, *file);
        snprintf(to, sizeof(to), "%.3050s/%s", older, *file);
        if (link(from, to) != 0 && errno != ENOENT && rename(from, to) != 0) {
            return kvc_diag_fail_write(diag, to, errno);
        }
    }
    return KVC_OK;
}

enum kvc_status kvc_folder_keep(const char *path, const struct kvc_question *question, struct kvc_diag *diag)
{
    char folder[PATH_MAX], older[PATH_MAX];
    const char *slash = strrchr(path, '/');
    struct stat found;
    snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
    if (lstat(path, &found) != 0 || !S_ISREG(found.st_mode)) { /* No result of kvcast is a link. */
        return KVC_OK;
    }
    json_t *document = json_load_file(path, 0, NULL);
    enum kvc_status status = KVC_OK;
    if (!is_answer(document, question)) {
        const char *command = json_string_value(json_object_get(document, "command_line"));
        status = make_older(folder, older, diag);
        if (status == KVC_OK) {
            status = link_files(folder, older, files_of(slash + 1), diag);
        }
        if (status == KVC_OK) {
            kvc_diag_fail_at(diag, KVC_OK, path, 0, "held another result (%.300s), which is now in %.300s",
                             command != NULL ? command : "of an unknown command", older);
        }
    }
    json_decref(document);
    return status;
}

enum kvc_status kvc_folder_open(struct kvc_folder *folder, const char *directory, bool simulated,
                                struct kvc_diag *diag)
{
    memset(folder, 0, sizeof(*folder));
    enum kvc_status status = kvc_folder_own(directory, &folder->lock, diag);
    int files = simulated ? KVC_FOLDER_FILES : KVC_FOLDER_RESULT + 1;
    for (int i = 0; i < files && status == KVC_OK; i++) {
        status = kvc_partial_file_open_in(&folder->file[i], directory, names[i], diag);
    }
    if (status != KVC_OK) {
        kvc_folder_discard(folder);
    }
    return status;
}

struct kvc_partial_file *kvc_folder_file(struct kvc_folder *folder, enum kvc_folder_file file)
{
    return folder->file[file].file != NULL ? &folder->file[file] : NULL;
}

static void write_cdf(const struct kvc_histogram *histogram, FILE *out)
{
    static double value_ns[KVC_CDF_POINTS], fraction[KVC_CDF_POINTS];
    uint32_t points =
        histogram->count > 0 ? kvc_histogram_cdf(histogram, KVC_CDF_POINTS, value_ns, fraction) : 0;
    fputs("latency_us,cumulative_frac\n", out);
    for (uint32_t i = 0; i < points; i++) {
        fprintf(out, "%.12g,%.12g\n", value_ns[i] * 1e-3, fraction[i]);
    }
}

static void write_windows(const struct kvc_result *result, FILE *out)
{
    fputs("time_us,throughput_mops,latency_mean_us\n", out);
    for (uint32_t i = 0; i < result->window_count; i++) {
        double latency_us = kvc_result_window_latency_us(result, i);
        fprintf(out, "%.12g,%.12g,", i * result->window_us, (double)result->window_mops[i]);
        fprintf(out, isnan(latency_us) ? "\n" : "%.12g\n", latency_us);
    }
}

/* Writes the files that are not written during the run, up to the disk. */
static enum kvc_status write_files(struct kvc_folder *folder, const struct kvc_report *report,
                                   struct kvc_diag *diag)
{
    const struct kvc_result *result = &report->outcome->result;
    const struct kvc_partial_file *json = &folder->file[KVC_FOLDER_RESULT];
    enum kvc_status status = KVC_OK;
    if (folder->file[KVC_FOLDER_HGRM].file != NULL) {
        write_cdf(&result->latency, folder->file[KVC_FOLDER_CDF].file);
        write_windows(result, folder->file[KVC_FOLDER_WINDOWS].file);
        if (kvc_histogram_write_hgrm(&result->latency, folder->file[KVC_FOLDER_HGRM].file) != 0) {
            return kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, folder->file[KVC_FOLDER_HGRM].path, 0,
                                    "cannot be written: %s", strerror(errno));
        }
    }
    status = kvc_diag_name(diag, kvc_json_write(report, json->file, diag), json->path);
    for (int i = KVC_FOLDER_HGRM; i <= KVC_FOLDER_WINDOWS && status == KVC_OK; i++) {
        if (folder->file[i].file != NULL) {
            status = kvc_partial_file_flush(&folder->file[i], diag);
        }
    }
    return status;
}

/* Drops the timeline, whose room the other files need, and writes them again. */
static enum kvc_status write_without_timeline(struct kvc_folder *folder, const struct kvc_report *report,
                                              struct kvc_diag *diag)
{
    kvc_partial_file_discard(&folder->file[KVC_FOLDER_TIMELINE]);
    for (int i = KVC_FOLDER_RESULT; i <= KVC_FOLDER_WINDOWS; i++) {
        kvc_partial_file_empty(&folder->file[i]);
    }
    return write_files(folder, report, diag);
}

/* Drops files that were not written: a store without an engine has no platform, and the run may have taken
 * place on another rank. */
static void drop_unwritten(struct kvc_folder *folder)
{
    struct stat found;
    for (int i = KVC_FOLDER_PLATFORM; i < KVC_FOLDER_FILES; i++) {
        struct kvc_partial_file *partial = &folder->file[i];
        if (partial->file != NULL && fstat(fileno(partial->file), &found) == 0 && found.st_size == 0) {
            kvc_partial_file_discard(partial);
        }
    }
}

/* Brings all files to the disk. The timeline may fail alone: `of_timeline` then says why. */
static enum kvc_status finish(struct kvc_folder *folder, const struct kvc_report *report,
                              struct kvc_diag *of_timeline, struct kvc_diag *diag)
{
    struct kvc_partial_file *timeline = &folder->file[KVC_FOLDER_TIMELINE];
    int error = report->outcome->result.timeline_error;
    char path[PATH_MAX];
    struct kvc_diag first = {0};
    strcpy(path, timeline->path);
    drop_unwritten(folder);
    if (error != 0) {
        kvc_diag_fail_at(of_timeline, KVC_ERR_RUNTIME, path, 0,
                         "cannot be written: %s; the other results are complete", strerror(error));
    } else if (timeline->file != NULL) {
        kvc_partial_file_finish(timeline, of_timeline);
    }
    enum kvc_status status = write_files(folder, report, &first);
    if (status != KVC_OK && timeline->path[0] != '\0') {
        first = (struct kvc_diag){0};
        status = write_without_timeline(folder, report, &first);
        kvc_diag_fail_at(of_timeline, KVC_ERR_RUNTIME, path, 0,
                         "does not fit on the disk beside the other results, which are complete");
    }
    for (int i = 0; i < KVC_FOLDER_TIMELINE && status == KVC_OK; i++) {
        if (folder->file[i].file != NULL) {
            status = kvc_partial_file_finish(&folder->file[i], &first);
        }
    }
    if (status != KVC_OK && diag != NULL) {
        *diag = first;
    }
    return status;
}

/* Removes the files of an earlier answer that the new one has not replaced, so that files of two answers do
 * not stay together. */
static void drop_earlier(const char *directory, const bool *is_replaced)
{
    const char *const *name = files_of(names[0]);
    char path[PATH_MAX];
    for (int i = 0; name[i] != NULL; i++) {
        if (i >= KVC_FOLDER_FILES || !is_replaced[i]) {
            snprintf(path, sizeof(path), "%.3000s/%s", directory, name[i]);
            unlink(path);
        }
    }
}

/* Gives the files their names, result.json last, because its presence shows that all files are there. Nothing
 * earlier goes before it is in place. */
static enum kvc_status name_files(struct kvc_folder *folder, struct kvc_diag *diag)
{
    const char *result = folder->file[KVC_FOLDER_RESULT].path;
    bool is_replaced[KVC_FOLDER_FILES];
    char directory[PATH_MAX];
    enum kvc_status status = KVC_OK;
    snprintf(directory, sizeof(directory), "%.*s", (int)(strrchr(result, '/') - result), result);
    for (int i = KVC_FOLDER_FILES; i-- > 0 && status == KVC_OK;) {
        is_replaced[i] = folder->file[i].path[0] != '\0';
        if (is_replaced[i]) {
            status = kvc_partial_file_commit(&folder->file[i], diag);
        }
    }
    if (status == KVC_OK) {
        drop_earlier(directory, is_replaced);
    }
    return status;
}

enum kvc_status kvc_folder_commit(struct kvc_folder *folder, const struct kvc_report *report,
                                  struct kvc_diag *diag)
{
    struct kvc_diag of_timeline = {0};
    enum kvc_status status = finish(folder, report, &of_timeline, diag);
    if (status == KVC_OK && folder->question != NULL) {
        status = kvc_folder_keep(folder->file[KVC_FOLDER_RESULT].path, folder->question, diag);
    }
    if (status == KVC_OK) {
        status = name_files(folder, diag);
    }
    if (of_timeline.status != KVC_OK && status == KVC_OK && diag != NULL) {
        *diag = of_timeline;
    }
    kvc_folder_discard(folder);
    return status == KVC_OK ? of_timeline.status : status;
}

void kvc_folder_discard(struct kvc_folder *folder)
{
    for (int i = 0; i < KVC_FOLDER_FILES; i++) {
        kvc_partial_file_discard(&folder->file[i]);
    }
    kvc_folder_lock_release(&folder->lock);
}
