#include "sim/base/files/partial_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/cleanup.h"

static const char mark[] = ".kvcast-", suffix[] = ".partial";

enum {
    DIGITS = 12,      /* Digits of the random number in a temporary name. */
    NAME_SHOWN = 200, /* Bytes of the final name in a temporary one, which has to be a valid name itself. */
    ATTEMPTS = 100,   /* Temporary names to try. */
    UNKNOWN_ERROR = -1,
};

/* ---- partial files of killed processes ---- */

static bool is_temporary(const char *name)
{
    size_t length = strlen(name), tail = strlen(mark) + DIGITS + strlen(suffix);
    const char *at = name + length - tail;
    return length > tail && strncmp(at, mark, strlen(mark)) == 0 &&
           strspn(at + strlen(mark), "0123456789abcdef") == DIGITS &&
           strcmp(at + strlen(mark) + DIGITS, suffix) == 0;
}

/* Removes a partial file unless a process locks it. */
static void remove_if_stale(int folder, const char *name)
{
    int descriptor = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat found;
    if (descriptor < 0) {
        return;
    }
    if (fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode) &&
        flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
        unlinkat(folder, name, 0);
    }
    close(descriptor);
}

/* Removes what killed processes left in the folder. A folder that cannot be read is left alone. */
static void remove_stale(const char *folder)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        if (is_temporary(entry->d_name)) {
            remove_if_stale(dirfd(entries), entry->d_name);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
}

/* ---- opening ---- */

static void folder_of(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        strcpy(folder, ".");
    } else {
        snprintf(folder, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    }
}

/* Returns whether the path names something of the system, such as /dev/stdout or /dev/fd/3, which are links.
 */
static bool is_of_the_system(const char *path)
{
    char folder[PATH_MAX], real[PATH_MAX];
    folder_of(path, folder);
    return realpath(folder, real) != NULL &&
           (strcmp(real, "/dev") == 0 || strncmp(real, "/proc/", strlen("/proc/")) == 0);
}

/* Returns whether the user named a device, a pipe or the like. Other symbolic links are replaced. */
static bool is_no_file(const char *path)
{
    struct stat found;
    if (lstat(path, &found) != 0) {
        return false;
    }
    return S_ISLNK(found.st_mode) ? is_of_the_system(path) : !S_ISREG(found.st_mode);
}

/* Opens a device or a pipe. One that is this process's stdout or stderr is shared with it, because a
 * redirected file that is opened twice would be overwritten. */
static int open_in_place(const char *path)
{
    struct stat wanted, own;
    for (int standard = STDOUT_FILENO; standard <= STDERR_FILENO; standard++) {
        if (stat(path, &wanted) == 0 && fstat(standard, &own) == 0 && wanted.st_dev == own.st_dev &&
            wanted.st_ino == own.st_ino) {
            fflush(standard == STDOUT_FILENO ? stdout : stderr);
            return fcntl(standard, F_DUPFD_CLOEXEC, 0);
        }
    }
    return open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
}

/* Locks a new file. Returns false if another process took it for a stale one before that. A file system
 * without locks is no obstacle: no other process can lock the file there, so none removes it. */
static bool lock_new(int descriptor)
{
    struct stat found;
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return false;
    }
    return fstat(descriptor, &found) == 0 && found.st_nlink > 0;
}

/* Creates a file of a new name and registers it for removal. Returns its descriptor, or -1 with errno. */
static int create_new(struct kvc_partial_file *partial)
{
    char folder[PATH_MAX];
    folder_of(partial->path, folder);
    const char *slash = strrchr(partial->path, '/'), *name = slash != NULL ? slash + 1 : partial->path;
    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t number;
        if (getrandom(&number, sizeof(number), 0) != sizeof(number)) {
            return -1;
        }
        snprintf(partial->partial, sizeof(partial->partial), "%.*s%.*s%s%0*" PRIx64 "%s",
                 (int)(name - partial->path), partial->path, NAME_SHOWN, name, mark, DIGITS,
                 number >> (64 - 4 * DIGITS), suffix);
        kvc_cleanup_file(partial->partial);
        int descriptor = open(partial->partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        int error = errno;
        if (descriptor >= 0 && lock_new(descriptor)) {
            return descriptor;
        }
        kvc_cleanup_forget_file(partial->partial);
        if (descriptor >= 0) {
            close(descriptor);
        } else if (error != EEXIST) {
            errno = error;
            return -1;
        }
    }
    errno = EBUSY;
    return -1;
}

/* Forgets the partial file, which exists no more under its temporary name. */
static void forget_temporary(struct kvc_partial_file *partial)
{
    if (partial->partial[0] != '\0') {
        kvc_cleanup_forget_file(partial->partial);
        close(partial->lock);
        partial->partial[0] = '\0';
    }
}

/* Opens a stream on the descriptor. A second descriptor keeps the lock when the stream is closed. */
static bool open_stream(struct kvc_partial_file *partial, int descriptor)
{
    partial->lock = partial->partial[0] != '\0' ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : -1;
    if (partial->partial[0] == '\0' || partial->lock >= 0) {
        partial->file = fdopen(descriptor, "w");
    }
    if (partial->file != NULL) {
        return true;
    }
    int error = errno;
    close(descriptor);
    if (partial->partial[0] != '\0') {
        unlink(partial->partial);
    }
    forget_temporary(partial);
    errno = error;
    return false;
}

static enum kvc_status open_file(struct kvc_partial_file *partial, const char *path, bool in_place,
                                 struct kvc_diag *diag)
{
    struct stat found;
    char folder[PATH_MAX];
    int descriptor = -1;
    memset(partial, 0, sizeof(*partial));
    if (strlen(path) + strlen(mark) + DIGITS + sizeof(suffix) > sizeof(partial->path)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the path of the output file is too long: %.200s...",
                             path);
    }
    strcpy(partial->path, path);
    if (in_place) {
        descriptor = open_in_place(path);
    } else if (lstat(path, &found) == 0 && S_ISDIR(found.st_mode)) {
        errno = EISDIR;
    } else {
        folder_of(path, folder);
        remove_stale(folder);
        descriptor = create_new(partial);
    }
    if (descriptor >= 0 && open_stream(partial, descriptor)) {
        return KVC_OK;
    }
    int error = errno;
    memset(partial, 0, sizeof(*partial));
    return kvc_diag_fail_write(diag, path, error);
}

enum kvc_status kvc_partial_file_open(struct kvc_partial_file *partial, const char *path,
                                      struct kvc_diag *diag)
{
    return open_file(partial, path, is_no_file(path), diag);
}

enum kvc_status kvc_partial_file_replace(struct kvc_partial_file *partial, const char *path,
                                         struct kvc_diag *diag)
{
    return open_file(partial, path, false, diag);
}

enum kvc_status kvc_partial_file_open_in(struct kvc_partial_file *partial, const char *folder,
                                         const char *name, struct kvc_diag *diag)
{
    char path[PATH_MAX];
    memset(partial, 0, sizeof(*partial));
    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the path of the folder is too long: %.200s...", folder);
    }
    return open_file(partial, path, false, diag);
}

/* ---- ending ---- */

void kvc_partial_file_discard(struct kvc_partial_file *partial)
{
    if (partial->file != NULL) {
        fclose(partial->file);
    }
    partial->file = NULL;
    if (partial->partial[0] != '\0') {
        unlink(partial->partial);
    }
    forget_temporary(partial);
    partial->path[0] = '\0';
}

/* Flushes the stream. Returns 0, an errno, or UNKNOWN_ERROR if an earlier write failed. */
static int flush(FILE *file)
{
    if (fflush(file) != 0) {
        return errno;
    }
    return ferror(file) ? UNKNOWN_ERROR : 0;
}

/* Flushes a stream to the disk. Devices cannot be synchronised. */
static int flush_to_disk(FILE *file)
{
    int error = flush(file);
    if (error == 0 && fsync(fileno(file)) != 0 && errno != EINVAL && errno != ENOTSUP) {
        error = errno;
    }
    return error;
}

static enum kvc_status fail(const struct kvc_partial_file *partial, int error, struct kvc_diag *diag)
{
    return kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, partial->path, 0, "cannot be written: %s",
                            error == UNKNOWN_ERROR ? "a part of it is missing" : strerror(error));
}

enum kvc_status kvc_partial_file_flush(struct kvc_partial_file *partial, struct kvc_diag *diag)
{
    int error = flush(partial->file);
    return error == 0 ? KVC_OK : fail(partial, error, diag);
}

void kvc_partial_file_empty(struct kvc_partial_file *partial)
{
    __fpurge(partial->file);
    rewind(partial->file); /* Clears the error, too. */
    if (ftruncate(fileno(partial->file), 0) != 0) {
        clearerr(partial->file); /* A device cannot be emptied. */
    }
}

/* Renames the file. `error` is what was wrong before. */
static enum kvc_status rename_file(struct kvc_partial_file *partial, int error, struct kvc_diag *diag)
{
    if (error == 0 && partial->partial[0] != '\0' && rename(partial->partial, partial->path) != 0) {
        error = errno;
    }
    if (error != 0) {
        enum kvc_status status = fail(partial, error, diag);
        kvc_partial_file_discard(partial);
        return status;
    }
    forget_temporary(partial);
    return KVC_OK;
}

enum kvc_status kvc_partial_file_finish(struct kvc_partial_file *partial, struct kvc_diag *diag)
{
    int error = flush_to_disk(partial->file);
    if (fclose(partial->file) != 0 && error == 0) {
        error = errno;
    }
    partial->file = NULL;
    if (error != 0) {
        enum kvc_status status = fail(partial, error, diag);
        kvc_partial_file_discard(partial);
        return status;
    }
    return KVC_OK;
}

enum kvc_status kvc_partial_file_commit(struct kvc_partial_file *partial, struct kvc_diag *diag)
{
    enum kvc_status status = partial->file != NULL ? kvc_partial_file_finish(partial, diag) : KVC_OK;
    if (status == KVC_OK) {
        status = rename_file(partial, 0, diag);
        partial->path[0] = '\0';
    }
    return status;
}

enum kvc_status kvc_partial_file_place(struct kvc_partial_file *partial, struct kvc_diag *diag)
{
    return rename_file(partial, flush_to_disk(partial->file), diag);
}
