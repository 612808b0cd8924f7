/* An output file that appears under its name only when it is whole: written as `path`.partial, then renamed.
 *
 * A signal unlinks the partial file (sim/base/cleanup.h); an existing file of the final name stays as it
 * was until the new one is complete. */
#ifndef KVC_SIM_BASE_PARTIAL_FILE_H
#define KVC_SIM_BASE_PARTIAL_FILE_H

#include <limits.h>
#include <stdio.h>

#include "sim/base/diag.h"

struct kvc_partial_file {
    FILE *file;          /* NULL: not open */
    char path[PATH_MAX]; /* "": nothing to commit or discard */
    char partial[PATH_MAX];
};

/* Opens the partial file. KVC_ERR_SCENARIO where that is impossible: the user named a place that cannot be
 * written. */
enum kvc_status kvc_partial_file_open(struct kvc_partial_file *partial, const char *path,
                                      struct kvc_diag *diag);

/* As kvc_partial_file_open, but someone else writes to `partial->partial`; `file` stays NULL. */
enum kvc_status kvc_partial_file_reserve(struct kvc_partial_file *partial, const char *path,
                                         struct kvc_diag *diag);

/* Flushes, closes and renames. On failure the partial file is gone and the old file untouched. */
enum kvc_status kvc_partial_file_commit(struct kvc_partial_file *partial, struct kvc_diag *diag);

/* Removes the partial file; nothing happens when it was committed or never opened (a zeroed struct). */
void kvc_partial_file_discard(struct kvc_partial_file *partial);

#endif
