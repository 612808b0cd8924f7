/* What has to go when a signal ends the process: running children and half-written files.
 *
 * Once there is a child or a file, SIGINT, SIGTERM and SIGHUP end and reap the children, unlink the files and
 * then end the process as the signal would have. State of the process; the lists are fixed because a handler
 * reads them. */
#ifndef KVC_SIM_BASE_CLEANUP_H
#define KVC_SIM_BASE_CLEANUP_H

#include <sys/types.h>

enum { KVC_CLEANUP_CHILDREN_MAX = 1024, KVC_CLEANUP_FILES_MAX = 64 };

/* Forks a child that is killed with this process, whatever ends it, and remembers it until kvc_cleanup_reap.
 * In the child the lists are empty, SIGTERM ends it, SIGINT does not (this process decides), and 0 is
 * returned. -1 with errno on failure. */
pid_t kvc_cleanup_fork(void);

/* Waits for the child's end and forgets it; its wait status. */
int kvc_cleanup_reap(pid_t child);

/* Unlinks `path` on a signal until it is forgotten again. A path that is too long or one too many is not
 * kept. */
void kvc_cleanup_file(const char *path);
void kvc_cleanup_forget_file(const char *path);

#endif
