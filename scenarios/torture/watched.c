/* Runs a command for a script, with a limit on its time, and reports how it ended.
 * Usage: watched SECONDS REPORT COMMAND...
 * REPORT gets one line: "exit N", "signal N" or "timeout", then the peak resident set [KiB], then "alone" or
 * "children" if descendants of the command were still alive two seconds after its end. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "scenarios/torture/subject.h"

static const double GRACE_S = 2;

int main(int argc, char **argv)
{
    struct kvc_subject_end end;
    if (argc < 4) {
        fputs("usage: watched SECONDS REPORT COMMAND...\n", stderr);
        return 2;
    }
    pid_t subject = kvc_subject_start(NULL, NULL, argv + 3);
    kvc_subject_wait(subject, strtod(argv[1], NULL), &end);
    bool left = kvc_subject_left_children(subject, GRACE_S);
    FILE *report = fopen(argv[2], "w");
    if (report == NULL) {
        perror(argv[2]);
        return 1;
    }
    if (end.timed_out) {
        fputs("timeout", report);
    } else if (WIFSIGNALED(end.status)) {
        fprintf(report, "signal %d", WTERMSIG(end.status));
    } else {
        fprintf(report, "exit %d", WEXITSTATUS(end.status));
    }
    fprintf(report, ", %ld KiB, %s\n", end.peak_kib, left ? "children" : "alone");
    return fclose(report) == 0 ? 0 : 1;
}
