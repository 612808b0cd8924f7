/** @file
 * Removes running children and half-written files when a signal ends the process.
 *
 * While a child or a file is registered, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE and SIGXCPU first
 * terminate and reap the children and unlink the files, and then end the process as the signal would have
 * done. A signal that was ignored before stays ignored, so that nohup works. The lists belong to the process
 * and have a fixed size, because a signal handler reads them.
 *
 * Work that has a partial answer defers the end: the first SIGINT or SIGTERM then terminates the children
 * alone, and the next one ends the process as above. */
#ifndef KVC_SIM_BASE_CLEANUP_H
#define KVC_SIM_BASE_CLEANUP_H

#include <stdbool.h>
#include <sys/types.h>

enum {
    KVC_CLEANUP_CHILDREN_MAX = 1024, /**< Children that can run at a time. */
    KVC_CLEANUP_FILES_MAX = 64,      /**< Files that can be registered at a time. */
};

/** Forks a child and registers it until kvc_cleanup_reap. The child is killed if this process ends for any
 * reason. In the child, both lists are empty, SIGTERM has its default effect, and SIGINT is ignored, because
 * Ctrl-C reaches the whole process group and this process alone reacts to it. Returns the child's process id
 * here and 0 in the child, or -1 with errno if there is no room (EAGAIN), the work is interrupted (EINTR) or
 * fork fails. */
pid_t kvc_cleanup_fork(void);

/** Waits until the child ends, forgets it, and returns its wait status. */
int kvc_cleanup_reap(pid_t child);

/** Registers a file: a signal unlinks it unless kvc_cleanup_forget_file comes first. A path of PATH_MAX bytes
 * or more, or a file beyond KVC_CLEANUP_FILES_MAX, is not registered. */
void kvc_cleanup_file(const char *path);

/** Forgets a file, which then survives signals. */
void kvc_cleanup_forget_file(const char *path);

/** Begins to defer the end, or stops to. Either way, no interruption is known afterwards. In children of
 * kvc_cleanup_fork, nothing is deferred. */
void kvc_cleanup_defer(bool is_deferred);

/** Returns whether a signal came since kvc_cleanup_defer. The children have been terminated and must be
 * reaped, and no more can be forked. */
bool kvc_cleanup_is_interrupted(void);

/** Terminates and reaps the registered children and unlinks the registered files, before an _exit. A signal
 * handler may call it. */
void kvc_cleanup_now(void);

#endif
