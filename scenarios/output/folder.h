/* The folder of --out: result.json, latency.hgrm, cdf.csv, windows.csv, platform.xml and timeline.json.
 *
 * All files are opened before the work starts, so that a folder that cannot be written fails at once. They
 * get their names together when the result is complete. */
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
    KVC_FOLDER_PLATFORM, /* The engine writes it. */
    KVC_FOLDER_TIMELINE, /* The run writes it. */
    KVC_FOLDER_FILES,
};

struct kvc_folder {
    struct kvc_partial_file file[KVC_FOLDER_FILES];
    struct kvc_partial_file timeline_draft; /* What kvc_timeline_open writes before it renames the file. */
};

/* Creates a folder and its parents where they are missing. KVC_ERR_SCENARIO if that is impossible. */
enum kvc_status kvc_folder_create(const char *directory, struct kvc_diag *diag);

/* Creates the folder where it is missing and opens its files: all of them if `simulated` is set, otherwise
 * only result.json. KVC_ERR_SCENARIO if they cannot be written. */
enum kvc_status kvc_folder_open(struct kvc_folder *folder, const char *directory, bool simulated,
                                struct kvc_diag *diag);

/* Returns the path at which the engine or the run shall write its file, or NULL without a folder. */
const char *kvc_folder_path(const struct kvc_folder *folder, enum kvc_folder_file file);

/* Writes all files and gives them their names, result.json last. After a failure no further file appears. */
enum kvc_status kvc_folder_commit(struct kvc_folder *folder, const struct kvc_report *report,
                                  struct kvc_diag *diag);

/* Removes the files that are not committed. A zeroed struct is allowed. */
void kvc_folder_discard(struct kvc_folder *folder);

#endif
