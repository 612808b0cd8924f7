/** @file
 * An output file that appears under its final name only when it is complete.
 *
 * It is written as PATH.partial and renamed at the end. Until then, an existing file of the final name stays
 * as it is. A signal that ends the process removes the partial file (sim/base/cleanup.h). */
#ifndef KVC_SIM_BASE_PARTIAL_FILE_H
#define KVC_SIM_BASE_PARTIAL_FILE_H

#include <limits.h>
#include <stdio.h>

#include "sim/base/diag.h"

/** A file that is being written. A zeroed struct has no file. */
struct kvc_partial_file {
    FILE *file;             /**< Write here; NULL if not open. */
    char path[PATH_MAX];    /**< The final name; empty if there is nothing to commit or discard. */
    char partial[PATH_MAX]; /**< The temporary name. */
};

/** Opens the partial file. Returns KVC_ERR_SCENARIO if that is impossible, since the user chose a place that
 * cannot be written or a path that is too long. */
enum kvc_status kvc_partial_file_open(struct kvc_partial_file *partial, const char *path,
                                      struct kvc_diag *diag);

/** Like kvc_partial_file_open, but leaves it to another program or function to write the file `partial`. The
 * field `file` stays NULL. */
enum kvc_status kvc_partial_file_reserve(struct kvc_partial_file *partial, const char *path,
                                         struct kvc_diag *diag);

/** Flushes, closes and renames the file. If one of these fails, the partial file is removed, the old file
 * stays, and KVC_ERR_RUNTIME is returned. */
enum kvc_status kvc_partial_file_commit(struct kvc_partial_file *partial, struct kvc_diag *diag);

/** Removes the partial file. Does nothing if it was committed or never opened. */
void kvc_partial_file_discard(struct kvc_partial_file *partial);

#endif
