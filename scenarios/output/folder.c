#include "scenarios/output/folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenarios/output/json.h"

static const char *const names[KVC_FOLDER_FILES] = {
    "result.json", "latency.hgrm", "cdf.csv", "windows.csv", "platform.xml", "timeline.json",
};

static enum kvc_status create(const char *directory, struct kvc_diag *diag)
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
        if (mkdir(path, 0777) != 0 && errno != EEXIST) {
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
    enum kvc_status status = create(directory, diag);
    return status == KVC_OK ? kvc_folder_lock_take(lock, directory, diag) : status;
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
    fputs("time_us,throughput_mops\n", out);
    for (uint32_t i = 0; i < result->window_count; i++) {
        fprintf(out, "%.12g,%.12g\n", i * result->window_us, (double)result->window_mops[i]);
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

enum kvc_status kvc_folder_commit(struct kvc_folder *folder, const struct kvc_report *report,
                                  struct kvc_diag *diag)
{
    struct kvc_diag of_timeline = {0};
    enum kvc_status status = finish(folder, report, &of_timeline, diag);
    /* result.json comes last, because its presence shows that all files are there. */
    for (int i = KVC_FOLDER_FILES; i-- > 0 && status == KVC_OK;) {
        if (folder->file[i].path[0] != '\0') {
            status = kvc_partial_file_commit(&folder->file[i], diag);
        }
    }
    if (status == KVC_OK && diag != NULL) {
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
