/* kvcast validate --unseen: the log of when the unseen runs of a machine were scored. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "validate/command/validate.h"
#include "sim/base/files/folder_lock.h"
#include "sim/base/files/partial_file.h"

extern char **environ;

static const char header[] = "date,commit,metric,count,mean_abs_frac,p95_abs_frac,max_abs_frac";

/* Starts a program whose output goes to the stream. */
static int spawn(char *const *arguments, FILE *said, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        return error;
    }
    error = posix_spawn_file_actions_adddup2(&actions, fileno(said), STDOUT_FILENO);
    if (error == 0) {
        error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    if (error == 0) {
        error = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Asks git for the commit of the folder, with "-dirty" if files differ from it. */
static bool ask_git(const char *folder, char *commit, size_t size)
{
    char *arguments[] = {"git", "-C", (char *)folder, "describe", "--always", "--dirty", "--exclude",
                         "*",   NULL};
    pid_t child;
    int status = -1;
    int descriptor = memfd_create("git", MFD_CLOEXEC);
    FILE *said = descriptor >= 0 ? fdopen(descriptor, "w+") : NULL;
    if (said == NULL) {
        return false;
    }
    if (spawn(arguments, said, &child) == 0) {
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
            ;
        }
    }
    rewind(said);
    bool found = status == 0 && fgets(commit, (int)size, said) != NULL;
    fclose(said);
    if (found) {
        commit[strcspn(commit, "\n,")] = '\0';
    }
    return found && commit[0] != '\0';
}

static enum kvc_status find_commit(const char *folder, char *commit, size_t size, struct kvc_diag *diag)
{
    const char *given = getenv("KVCAST_COMMIT");
    if (ask_git(folder, commit, size)) {
        return KVC_OK;
    }
    if (given == NULL || given[0] == '\0' || strpbrk(given, ",\n\"") != NULL || strlen(given) >= size) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "validate: --unseen logs the commit, but %s is in no git tree; set KVCAST_COMMIT to "
            "a name without commas",
            folder);
    }
    strcpy(commit, given);
    return KVC_OK;
}

static void write_rows(const struct kvc_measured_machine *machine, const char *date, const char *commit,
                       FILE *out)
{
    struct kvc_bottlenecks found =
        kvc_comparison_bottlenecks(&machine->plan, machine->runs, machine->forecasts, true);
    for (int i = 0; i < KVC_READINGS; i++) {
        const struct kvc_comparison_part part = {.reading = i};
        struct kvc_error_summary errors = kvc_comparison_summarise(&machine->comparison, &part);
        if (errors.count > 0) {
            fprintf(out, "%s,%s,%s,%zu,%.4f,%.4f,%.4f\n", date, commit, kvc_reading_names[i], errors.count,
                    errors.mean_abs_frac, errors.p95_abs_frac, errors.max_abs_frac);
        }
    }
    if (found.runs > 0) {
        fprintf(out, "%s,%s,bottleneck_wrong,%zu,%.4f,,\n", date, commit, found.runs,
                1 - (double)found.right_simulated / (double)found.runs);
    }
}

/* Copies the log as it is, or begins a new one. */
static enum kvc_status copy_log(const char *path, FILE *out, struct kvc_diag *diag)
{
    FILE *in = fopen(path, "re");
    int c;
    if (in == NULL && errno == ENOENT) {
        fprintf(out, "%s\n", header);
        return KVC_OK;
    }
    while (in != NULL && (c = getc(in)) != EOF) {
        putc(c, out);
    }
    bool failed = in == NULL || ferror(in);
    if (failed) {
        kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, path, 0, "cannot be read: %s", strerror(errno));
    }
    if (in != NULL) {
        fclose(in);
    }
    return failed ? KVC_ERR_RUNTIME : KVC_OK;
}

/* Writes the log with the new rows at its end, so that a full disk leaves the old log. */
static enum kvc_status append_rows(const struct kvc_measured_machine *machine, const char *date,
                                   const char *commit, struct kvc_diag *diag)
{
    char path[PATH_MAX];
    struct kvc_partial_file log = {0};
    kvc_subject_path(machine->subject, "unseen.log", path);
    enum kvc_status status = kvc_partial_file_replace(&log, path, diag);
    if (status == KVC_OK) {
        status = copy_log(path, log.file, diag);
    }
    if (status == KVC_OK) {
        write_rows(machine, date, commit, log.file);
        status = kvc_partial_file_commit(&log, diag);
    }
    kvc_partial_file_discard(&log);
    return status;
}

enum kvc_status kvc_measured_machine_log_unseen(const struct kvc_measured_machine *machine,
                                                struct kvc_diag *diag)
{
    char commit[80], date[32];
    struct kvc_folder_lock lock = {0};
    time_t now = time(NULL);
    struct tm today;
    enum kvc_status status = find_commit(machine->subject->folder, commit, sizeof(commit), diag);
    if (status != KVC_OK) {
        return status;
    }
    strftime(date, sizeof(date), "%Y-%m-%d", gmtime_r(&now, &today));
    status = kvc_folder_lock_take(&lock, machine->subject->folder, diag);
    if (status == KVC_OK) {
        status = append_rows(machine, date, commit, diag);
    }
    kvc_folder_lock_release(&lock);
    return status;
}
