/* The folder of `--out DIR`: result.json, latency.hgrm, cdf.csv, windows.csv, platform.xml and timeline.json.
 *
 * All files are opened before the work starts, so that a folder that cannot be written fails at once, and
 * they appear under their names together when the answer is whole. */
#ifndef KVC_SCENARIOS_OUTPUT_FOLDER_H
#define KVC_SCENARIOS_OUTPUT_FOLDER_H

#include "sim/base/partial_file.h"
#include "scenarios/output/report.h"
#include "sim/base/diag.h"

enum kvc_folder_file {
    KVC_FOLDER_RESULT,
    KVC_FOLDER_HGRM,
    KVC_FOLDER_CDF,
    KVC_FOLDER_WINDOWS,
    KVC_FOLDER_PLATFORM, /* written by the engine */
    KVC_FOLDER_TIMELINE, /* written by the run */
    KVC_FOLDER_FILES,
};

struct kvc_folder {
    struct kvc_partial_file file[KVC_FOLDER_FILES];
    struct kvc_partial_file timeline_draft; /* what kvc_timeline_open itself writes before it renames */
};

/* Creates a folder and its parents where missing. KVC_ERR_SCENARIO when that is impossible. */
enum kvc_status kvc_folder_create(const char *directory, struct kvc_diag *diag);

/* Creates DIR and its parents where missing, and opens the files; `simulated` false: only result.json.
 * KVC_ERR_SCENARIO when it cannot be written. */
enum kvc_status kvc_folder_open(struct kvc_folder *folder, const char *directory, bool simulated,
                                struct kvc_diag *diag);

/* Where the run shall write a file that is not written here. */
const char *kvc_folder_path(const struct kvc_folder *folder, enum kvc_folder_file file);

/* Writes everything and gives the files their names. On failure none of the remaining ones appears. */
enum kvc_status kvc_folder_commit(struct kvc_folder *folder, const struct kvc_report *report,
                                  struct kvc_diag *diag);

/* Removes what is not committed. A zeroed struct is allowed. */
void kvc_folder_discard(struct kvc_folder *folder);

#endif
