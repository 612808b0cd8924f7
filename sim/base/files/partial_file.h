/** @file
 * An output file that appears under its final name only when it is complete.
 *
 * It is written under a temporary name in the same folder, NAME.kvcast-XXXXXXXXXXXX.partial, checked to its
 * last byte, and renamed at the end. Until then an existing file of the final name does not change. The file
 * reaches the disk (fsync) before it gets its name: otherwise a loss of power could leave an empty file under
 * the final name, and a disk that is full or over its quota may report it only then. The folder is not
 * synchronised; a loss of power may bring back the old file.
 *
 * A signal that ends the process removes the partial file (sim/base/cleanup.h). A process that is killed
 * leaves it, but not its lock (flock): whoever next opens a file in that folder removes partial files that
 * nobody locks. Nothing is ever written through a symbolic link that someone put in the way: the temporary
 * name is new and random, and the rename replaces a link of the final name.
 *
 * A user may also name a device or a pipe, such as /dev/null. Such a place keeps its kind: it is opened and
 * written directly. */
#ifndef KVC_SIM_BASE_FILES_PARTIAL_FILE_H
#define KVC_SIM_BASE_FILES_PARTIAL_FILE_H

#include <limits.h>
#include <stdio.h>

#include "sim/base/diag.h"

/** A file that is being written. A zeroed struct has no file. */
struct kvc_partial_file {
    FILE *file;             /**< Write here; NULL if not open. Children may write to it before the commit. */
    char path[PATH_MAX];    /**< The final name; empty if there is nothing to commit or discard. */
    char partial[PATH_MAX]; /**< The temporary name; empty while the file is written under its final one. */
    int lock;               /**< Descriptor that locks the partial file. */
};

/** Opens a file that the user named. Fails as kvc_diag_fail_write says; a path that is too long is
 * KVC_ERR_SCENARIO. */
enum kvc_status kvc_partial_file_open(struct kvc_partial_file *partial, const char *path,
                                      struct kvc_diag *diag);

/** Opens a file of an output folder. Unlike kvc_partial_file_open it writes to no device or pipe of that
 * name, but replaces it. */
enum kvc_status kvc_partial_file_replace(struct kvc_partial_file *partial, const char *path,
                                         struct kvc_diag *diag);

/** Like kvc_partial_file_replace, with the path FOLDER/NAME. */
enum kvc_status kvc_partial_file_open_in(struct kvc_partial_file *partial, const char *folder,
                                         const char *name, struct kvc_diag *diag);

/** Brings the bytes to the disk, checks that all of them are there, and closes the stream. The file keeps its
 * temporary name until kvc_partial_file_commit, so that several files can appear together. If a byte is
 * missing, the partial file is removed, the old file stays, and KVC_ERR_RUNTIME is returned. */
enum kvc_status kvc_partial_file_finish(struct kvc_partial_file *partial, struct kvc_diag *diag);

/** Finishes the file unless that is done, and gives it its final name. Fails like kvc_partial_file_finish. */
enum kvc_status kvc_partial_file_commit(struct kvc_partial_file *partial, struct kvc_diag *diag);

/** Gives the file its final name with the bytes that it has so far, and keeps the stream open for more: for a
 * log that grows. kvc_partial_file_discard then closes the log and leaves it where it is. Fails like
 * kvc_partial_file_finish. */
enum kvc_status kvc_partial_file_place(struct kvc_partial_file *partial, struct kvc_diag *diag);

/** Flushes the stream. If bytes cannot be written, it returns KVC_ERR_RUNTIME with a message about the file,
 * which stays open. */
enum kvc_status kvc_partial_file_flush(struct kvc_partial_file *partial, struct kvc_diag *diag);

/** Empties the partial file, also after a failed write, so that it can be written again. */
void kvc_partial_file_empty(struct kvc_partial_file *partial);

/** Closes and removes the partial file. Does nothing if it was committed or never opened. */
void kvc_partial_file_discard(struct kvc_partial_file *partial);

#endif
