#include "scenarios/output/folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenarios/output/json.h"

static const char *const names[KVC_FOLDER_FILES] = {
    "result.json", "latency.hgrm", "cdf.csv", "windows.csv", "platform.xml", "timeline.json",
};

enum kvc_status kvc_folder_create(const char *directory, struct kvc_diag *diag)
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
            return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, directory, 0, "cannot create the folder: %s",
                                    strerror(errno));
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

static bool written_elsewhere(int file)
{
    return file == KVC_FOLDER_PLATFORM || file == KVC_FOLDER_TIMELINE;
}

static enum kvc_status open_file(struct kvc_folder *folder, const char *directory, int file,
                                 struct kvc_diag *diag)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof(path), "%s/%s", directory, names[file]) >= (int)sizeof(path)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the path of the folder is too long: %.200s...",
                             directory);
    }
    return written_elsewhere(file) ? kvc_partial_file_reserve(&folder->file[file], path, diag)
                                   : kvc_partial_file_open(&folder->file[file], path, diag);
}

enum kvc_status kvc_folder_open(struct kvc_folder *folder, const char *directory, bool simulated,
                                struct kvc_diag *diag)
{
    memset(folder, 0, sizeof(*folder));
    enum kvc_status status = kvc_folder_create(directory, diag);
    int files = simulated ? KVC_FOLDER_FILES : KVC_FOLDER_RESULT + 1;
    for (int i = 0; i < files && status == KVC_OK; i++) {
        status = open_file(folder, directory, i, diag);
    }
    if (simulated && status == KVC_OK) {
        status = kvc_partial_file_reserve(&folder->timeline_draft, folder->file[KVC_FOLDER_TIMELINE].partial,
                                          diag);
    }
    if (status != KVC_OK) {
        kvc_folder_discard(folder);
    }
    return status;
}

const char *kvc_folder_path(const struct kvc_folder *folder, enum kvc_folder_file file)
{
    return folder->file[file].path[0] != '\0' ? folder->file[file].partial : NULL;
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

static enum kvc_status write_files(struct kvc_folder *folder, const struct kvc_report *report,
                                   struct kvc_diag *diag)
{
    const struct kvc_result *result = &report->outcome->result;
    if (folder->file[KVC_FOLDER_HGRM].file != NULL) {
        write_cdf(&result->latency, folder->file[KVC_FOLDER_CDF].file);
        write_windows(result, folder->file[KVC_FOLDER_WINDOWS].file);
        if (kvc_histogram_write_hgrm(&result->latency, folder->file[KVC_FOLDER_HGRM].file) != 0) {
            return kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, folder->file[KVC_FOLDER_HGRM].path, 0,
                                    "cannot be written: %s", strerror(errno));
        }
    }
    return kvc_json_write(report, folder->file[KVC_FOLDER_RESULT].file, diag);
}

enum kvc_status kvc_folder_commit(struct kvc_folder *folder, const struct kvc_report *report,
                                  struct kvc_diag *diag)
{
    enum kvc_status status = write_files(folder, report, diag);
    /* result.json comes last, because its presence shows that all files are there. */
    for (int i = KVC_FOLDER_FILES; i-- > 0 && status == KVC_OK;) {
        struct kvc_partial_file *partial = &folder->file[i];
        if (partial->path[0] == '\0' || (written_elsewhere(i) && access(partial->partial, F_OK) != 0)) {
            continue; /* A store without an engine writes no platform. */
        }
        status = kvc_partial_file_commit(partial, diag);
    }
    kvc_folder_discard(folder);
    return status;
}

void kvc_folder_discard(struct kvc_folder *folder)
{
    for (int i = 0; i < KVC_FOLDER_FILES; i++) {
        kvc_partial_file_discard(&folder->file[i]);
    }
    kvc_partial_file_discard(&folder->timeline_draft);
}
