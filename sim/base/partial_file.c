#include "sim/base/partial_file.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/cleanup.h"

enum kvc_status kvc_partial_file_reserve(struct kvc_partial_file *partial, const char *path,
                                         struct kvc_diag *diag)
{
    partial->file = NULL;
    partial->path[0] = '\0';
    if (strlen(path) + sizeof(".partial") > sizeof(partial->partial)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the path of the output file is too long: %.200s...",
                             path);
    }
    strcpy(partial->path, path);
    strcpy(partial->partial, path);
    strcat(partial->partial, ".partial");
    kvc_cleanup_file(partial->partial);
    return KVC_OK;
}

enum kvc_status kvc_partial_file_open(struct kvc_partial_file *partial, const char *path,
                                      struct kvc_diag *diag)
{
    enum kvc_status status = kvc_partial_file_reserve(partial, path, diag);
    if (status != KVC_OK) {
        return status;
    }
    partial->file = fopen(partial->partial, "we");
    if (partial->file != NULL) {
        return KVC_OK;
    }
    status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "cannot be written: %s", strerror(errno));
    kvc_cleanup_forget_file(partial->partial);
    partial->path[0] = '\0';
    return status;
}

void kvc_partial_file_discard(struct kvc_partial_file *partial)
{
    if (partial->path[0] == '\0') {
        return;
    }
    if (partial->file != NULL) {
        fclose(partial->file);
    }
    partial->file = NULL;
    unlink(partial->partial);
    kvc_cleanup_forget_file(partial->partial);
    partial->path[0] = '\0';
}

enum kvc_status kvc_partial_file_commit(struct kvc_partial_file *partial, struct kvc_diag *diag)
{
    bool written = true;
    if (partial->file != NULL) {
        written = fflush(partial->file) == 0 && ferror(partial->file) == 0;
        int error = errno;
        written &= fclose(partial->file) == 0;
        partial->file = NULL;
        if (!written && error != 0) {
            errno = error;
        }
    }
    if (!written || rename(partial->partial, partial->path) != 0) {
        enum kvc_status status = kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, partial->path, 0,
                                                  "cannot be written: %s", strerror(errno));
        kvc_partial_file_discard(partial);
        return status;
    }
    kvc_cleanup_forget_file(partial->partial);
    partial->path[0] = '\0';
    return KVC_OK;
}
