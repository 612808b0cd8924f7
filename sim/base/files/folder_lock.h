/** @file
 * A lock that makes one process the owner of an output folder.
 *
 * The owner holds a lock (fcntl) on FOLDER/kvcast.lock, which contains its process id, its host and the time.
 * The kernel releases the lock when the process ends, however it ends, and its children never hold it. An
 * unlocked lock file is stale and is taken over. The owner removes the file at the end; a process that waited
 * for the removed file notices and starts again. A process takes one lock of a folder at a time: its own
 * locks do not keep it out. */
#ifndef KVC_SIM_BASE_FILES_FOLDER_LOCK_H
#define KVC_SIM_BASE_FILES_FOLDER_LOCK_H

#include <limits.h>
#include <stdbool.h>

#include "sim/base/diag.h"

/** The lock of a folder. A zeroed struct holds none. */
struct kvc_folder_lock {
    char path[PATH_MAX]; /**< The lock file; empty if there is no lock. */
    int descriptor;      /**< Holds the lock. */
    bool is_new;         /**< The owner has made the folder: it goes with the lock if nothing is in it. */
};

/** Makes this process the owner of the folder, which exists. Returns KVC_ERR_RUNTIME with the owner's process
 * id and host if there is one already, or if the file system has no locks, and fails as kvc_diag_fail_write
 * says if the lock file cannot be created. */
enum kvc_status kvc_folder_lock_take(struct kvc_folder_lock *lock, const char *folder, struct kvc_diag *diag);

/** Gives the folder up and removes the lock file, and a new folder in which nothing is. Does nothing without
 * a lock. */
void kvc_folder_lock_release(struct kvc_folder_lock *lock);

#endif
