/* The folder of --out: result.json, latency.hgrm, cdf.csv, windows.csv, platform.xml and timeline.json.
 *
 * All files are opened before the work starts, so that a folder that cannot be written fails at once. They
 * get their names together when all of them are complete, so that files of two runs never mix. Only the
 * timeline, which may be larger than all others, may be missing: if it does not fit on the disk, the others
 * appear without it. One process at a time writes to a folder (sim/base/files/folder_lock.h). */
#ifndef KVC_SCENARIOS_OUTPUT_FOLDER_H
#define KVC_SCENARIOS_OUTPUT_FOLDER_H

#include "sim/base/files/partial_file.h"
#include "scenarios/output/report.h"
#include "sim/base/diag.h"
#include "sim/base/files/folder_lock.h"

enum kvc_folder_file {
    KVC_FOLDER_RESULT,
    KVC_FOLDER_HGRM,
    KVC_FOLDER_CDF,
    KVC_FOLDER_WINDOWS,
    KVC_FOLDER_PLATFORM, /* The engine writes it. */
    KVC_FOLDER_TIMELINE, /* The run writes it. */
    KVC_FOLDER_FILES,
};

/* The question that a document answers. */
struct kvc_question {
    const char *command_line; /* As in the document; NULL: no document answers the same question. */
    const struct kvc_loaded *loaded;
};

struct kvc_folder {
    struct kvc_partial_file file[KVC_FOLDER_FILES];
    struct kvc_folder_lock lock;
    const struct kvc_question *question; /* The commit keeps the answer to another one (kvc_folder_keep());
                                            NULL: it replaces it. */
};

/* Creates a folder and its parents where they are missing, and locks it. Fails as kvc_diag_fail_write and
 * kvc_folder_lock_take say. */
enum kvc_status kvc_folder_own(const char *directory, struct kvc_folder_lock *lock, struct kvc_diag *diag);

/* Keeps the answer to another question whose document is `path`, FOLDER/NAME: its files also get names in
 * FOLDER/older-1, or the next free number, before new files take their names; `diag` then has a message with
 * KVC_OK. An answer to the same question is not kept, because the new one is the same but for the time that
 * it took. The owner of the folder calls it. Fails as kvc_diag_fail_write says. */
enum kvc_status kvc_folder_keep(const char *path, const struct kvc_question *question, struct kvc_diag *diag);

/* Owns the folder (kvc_folder_own) and opens its files: all of them if `simulated` is set, otherwise only
 * result.json. */
enum kvc_status kvc_folder_open(struct kvc_folder *folder, const char *directory, bool simulated,
                                struct kvc_diag *diag);

/* Returns the file that the engine or the run has to write, or NULL without a folder. */
struct kvc_partial_file *kvc_folder_file(struct kvc_folder *folder, enum kvc_folder_file file);

/* Writes all files and gives them their names, result.json last, and gives the folder up. If one of them
 * cannot be written, none appears; if the timeline alone cannot, the others appear. */
enum kvc_status kvc_folder_commit(struct kvc_folder *folder, const struct kvc_report *report,
                                  struct kvc_diag *diag);

/* Removes the files that are not committed, and gives the folder up. A zeroed struct is allowed. */
void kvc_folder_discard(struct kvc_folder *folder);

#endif
