/* A program under torture, which is started in a process group of its own, watched and ended; then its
 * remains are examined.
 *
 * The process that uses this module adopts every descendant whose parent dies (PR_SET_CHILD_SUBREAPER), so
 * that it sees a child that outlives a killed parent. One subject runs at a time. */
#ifndef KVC_SCENARIOS_TORTURE_SUBJECT_H
#define KVC_SCENARIOS_TORTURE_SUBJECT_H

#include <stdbool.h>
#include <sys/types.h>

/* End of a subject. */
struct kvc_subject_end {
    bool timed_out; /* The subject ran past the limit and was killed. */
    int status;     /* Wait status (wait(2)). */
    long peak_kib;  /* Largest resident set of the subject or of a child that it waited for [KiB]. */
    double seconds; /* Run time on the wall clock [s]. */
};

/* Starts a command in `folder` (NULL: here). stdin is /dev/null; stdout and stderr go to the file `log` in
 * the folder, or are inherited if it is NULL. A command that cannot be started exits with 127. Ends this
 * process if fork fails. */
pid_t kvc_subject_start(const char *folder, const char *log, char *const *command);

/* Waits until the subject ends, and kills its process group after `limit_s`. */
void kvc_subject_wait(pid_t subject, double limit_s, struct kvc_subject_end *end);

/* Waits for up to `grace_s` until no descendant of the subject is left. Returns whether one was; it is then
 * killed. */
bool kvc_subject_left_children(pid_t subject, double grace_s);

#endif
