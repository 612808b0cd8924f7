#include "sim/base/files/folder_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/cleanup.h"

enum { HOST_MAX = 65, OWNER_MAX = 200 };

/* Writes who owns the folder. The text only informs, so that a disk without room for it does not matter. */
static void write_owner(int descriptor)
{
    char host[HOST_MAX] = "?", since[32], text[OWNER_MAX];
    time_t now = time(NULL);
    struct tm utc;
    gethostname(host, sizeof(host) - 1);
    strftime(since, sizeof(since), "%Y-%m-%d %H:%M:%S UTC", gmtime_r(&now, &utc));
    int bytes =
        snprintf(text, sizeof(text), "process %ld on host %s since %s\n", (long)getpid(), host, since);
    bool written = ftruncate(descriptor, 0) == 0 && pwrite(descriptor, text, (size_t)bytes, 0) == bytes;
    (void)written;
}

static enum kvc_status fail_owned(int descriptor, const char *folder, struct kvc_diag *diag)
{
    char owner[OWNER_MAX] = "";
    ssize_t bytes = pread(descriptor, owner, sizeof(owner) - 1, 0);
    owner[bytes > 0 ? bytes : 0] = '\0';
    owner[strcspn(owner, "\n")] = '\0';
    return kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, folder, 0,
                            "is locked: %s writes to this folder; wait for it, or choose another folder",
                            strncmp(owner, "process ", strlen("process ")) == 0 ? owner : "another process");
}

static bool is_still_there(int descriptor, const char *path)
{
    struct stat locked, found;
    return fstat(descriptor, &locked) == 0 && lstat(path, &found) == 0 && locked.st_dev == found.st_dev &&
           locked.st_ino == found.st_ino;
}

static enum kvc_status open_lock(struct kvc_folder_lock *lock, struct kvc_diag *diag)
{
    struct stat found;
    lock->descriptor = open(lock->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (lock->descriptor >= 0 && fstat(lock->descriptor, &found) == 0 && S_ISREG(found.st_mode)) {
        return KVC_OK;
    }
    int error = errno;
    if (lock->descriptor < 0 && error != ELOOP) {
        return kvc_diag_fail_write(diag, lock->path, error);
    }
    if (lock->descriptor >= 0) {
        close(lock->descriptor);
    }
    return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, lock->path, 0,
                            "is no regular file and cannot be the lock of the folder; remove it");
}

/* Opens the lock file and locks it. */
static enum kvc_status take(struct kvc_folder_lock *lock, const char *folder, struct kvc_diag *diag)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    enum kvc_status status = open_lock(lock, diag);
    if (status != KVC_OK || fcntl(lock->descriptor, F_SETLK, &whole) == 0) {
        return status;
    }
    int error = errno;
    status = error == EACCES || error == EAGAIN
                 ? fail_owned(lock->descriptor, folder, diag)
                 : kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, folder, 0,
                                    "cannot be locked: %s; choose a folder on a file system with locks",
                                    strerror(error));
    close(lock->descriptor);
    return status;
}

/* Takes the lock and registers its file for removal. */
static enum kvc_status take_and_register(struct kvc_folder_lock *lock, const char *folder,
                                         struct kvc_diag *diag)
{
    enum kvc_status status;
    lock->path[0] = '\0';
    if (strlen(folder) + sizeof("/kvcast.lock") > sizeof(lock->path)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the path of the folder is too long: %.200s...", folder);
    }
    strcpy(lock->path, folder);
    strcat(lock->path, "/kvcast.lock");
    while ((status = take(lock, folder, diag)) == KVC_OK && !is_still_there(lock->descriptor, lock->path)) {
        close(lock->descriptor); /* The former owner removed the file between the opening and the lock. */
    }
    if (status != KVC_OK) {
        lock->path[0] = '\0';
        return status;
    }
    kvc_cleanup_file(lock->path);
    write_owner(lock->descriptor);
    return KVC_OK;
}

enum kvc_status kvc_folder_lock_take(struct kvc_folder_lock *lock, const char *folder, struct kvc_diag *diag)
{
    /* A signal between the creation of the file and its registration would leave the file in the folder. */
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);
    enum kvc_status status = take_and_register(lock, folder, diag);
    sigprocmask(SIG_SETMASK, &old, NULL);
    return status;
}

void kvc_folder_lock_release(struct kvc_folder_lock *lock)
{
    if (lock->path[0] == '\0') {
        return;
    }
    if (is_still_there(lock->descriptor, lock->path)) {
        unlink(lock->path);
    }
    kvc_cleanup_forget_file(lock->path);
    if (lock->is_new) {
        *strrchr(lock->path, '/') = '\0';
        rmdir(lock->path); /* Fails if the folder has an answer. */
    }
    close(lock->descriptor);
    lock->path[0] = '\0';
}
