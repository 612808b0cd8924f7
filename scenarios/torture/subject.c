#include "scenarios/torture/subject.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/clock.h"

static const useconds_t POLL_US = 500;

static _Noreturn void become(const char *folder, const char *log, char *const *command)
{
    const struct rlimit none = {0};
    setpgid(0, 0);
    setrlimit(RLIMIT_CORE, &none); /* A core file would look like output. */
    if ((folder != NULL && chdir(folder) != 0) || freopen("/dev/null", "r", stdin) == NULL) {
        _exit(127);
    }
    if (log != NULL) {
        int file = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (file < 0 || dup2(file, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0) {
            _exit(127);
        }
        close(file);
    }
    execvp(command[0], command);
    _exit(127);
}

pid_t kvc_subject_start(const char *folder, const char *log, char *const *command)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t subject = fork();
    if (subject == 0) {
        become(folder, log, command);
    }
    if (subject < 0) {
        perror("fork");
        exit(1);
    }
    setpgid(subject, subject); /* Here, too: a signal to the group may be sent before the child runs. */
    return subject;
}

void kvc_subject_wait(pid_t subject, double limit_s, struct kvc_subject_end *end)
{
    struct rusage usage;
    double start_s = kvc_clock_wall_s();
    pid_t ended;
    *end = (struct kvc_subject_end){0};
    while ((ended = wait4(subject, &end->status, end->timed_out ? 0 : WNOHANG, &usage)) == 0) {
        if (kvc_clock_wall_s() - start_s > limit_s) {
            end->timed_out = true;
            kill(-subject, SIGKILL);
        } else {
            usleep(POLL_US);
        }
    }
    if (ended != subject) {
        perror("wait4");
        exit(1);
    }
    end->peak_kib = usage.ru_maxrss;
    end->seconds = kvc_clock_wall_s() - start_s;
}

bool kvc_subject_left_children(pid_t subject, double grace_s)
{
    double start_s = kvc_clock_wall_s();
    bool left = false;
    while (!left) {
        pid_t ended = waitpid(-1, NULL, WNOHANG);
        if (ended < 0) {
            return false;
        }
        left = ended == 0 && kvc_clock_wall_s() - start_s > grace_s;
        if (ended == 0) {
            usleep(POLL_US);
        }
    }
    kill(-subject, SIGKILL);
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
    return true;
}
