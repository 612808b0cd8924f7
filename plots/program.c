#include "plots/program.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Finds the first line of the program's output that contains more than the caret under an echoed command. */
static void first_complaint(FILE *said, char *line, int size)
{
    rewind(said);
    line[0] = '\0';
    while (fgets(line, size, said) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strspn(line, " ^") != strlen(line)) {
            return;
        }
    }
}

static int spawn(char *const *arguments, FILE *said, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        return error;
    }
    error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, fileno(said), STDOUT_FILENO);
    }
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, fileno(said), STDERR_FILENO);
    }
    if (error == 0) {
        error = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

enum kvc_status kvc_program_run(const struct kvc_drawing_program *program, char *const *arguments,
                                const char *input, struct kvc_diag *diag)
{
    char line[400];
    pid_t child;
    int status;
    FILE *said = tmpfile();
    if (said == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "cannot open a temporary file: %s", strerror(errno));
    }
    int error = spawn(arguments, said, &child);
    if (error != 0) {
        fclose(said);
        if (error == ENOENT) {
            return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                                 "%s is not installed, so no picture was drawn (Debian: apt-get install %s)",
                                 program->name, program->package);
        }
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "cannot start %s: %s", program->name, strerror(error));
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        ;
    }
    first_complaint(said, line, sizeof(line));
    fclose(said);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return KVC_OK;
    }
    return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%s failed on %s: %s", program->name, input,
                         line[0] != '\0' ? line : "no message");
}
