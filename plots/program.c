#include "plots/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/cleanup.h"

enum {
    TAIL_BYTES = 32,   /* Hold the end mark of every format. */
    NOT_STARTED = 127, /* Exit status of a child that could not become the program, as in a shell. */
};

bool kvc_program_is_installed(const char *name)
{
    const char *folders = getenv("PATH");
    char path[PATH_MAX];
    bool found = false;
    while (folders != NULL && *folders != '\0' && !found) {
        int length = (int)strcspn(folders, ":");
        snprintf(path, sizeof(path), "%.*s/%s", length, folders, name);
        found = access(path, X_OK) == 0;
        folders += length + (folders[length] == ':');
    }
    return found;
}

/* Finds the first line of the program's errors that contains more than the caret under an echoed command. */
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

/* Starts the program as a child that ends with this process, however that ends: gnuplot would survive Ctrl-C
 * and wait for commands. Returns its process id, or -1 with errno. */
static pid_t start(char *const *arguments, int input, int output, int errors)
{
    const int descriptors[] = {[STDIN_FILENO] = input, [STDOUT_FILENO] = output, [STDERR_FILENO] = errors};
    pid_t child = kvc_cleanup_fork();
    if (child != 0) {
        return child;
    }
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
        /* A copy stays open in the program, but a descriptor that is no copy would be closed. */
        if ((descriptors[i] == i ? fcntl(i, F_SETFD, 0) : dup2(descriptors[i], i)) < 0) {
            _exit(NOT_STARTED);
        }
    }
    execvp(arguments[0], arguments);
    _exit(NOT_STARTED);
}

/* Copies the program's output, and keeps its last bytes in `tail`. Returns 0 or the errno of a failed write.
 */
static int copy(int from, FILE *to, char tail[TAIL_BYTES + 1])
{
    static char bytes[1 << 16];
    ssize_t got;
    memset(tail, 0, TAIL_BYTES + 1);
    while ((got = read(from, bytes, sizeof(bytes))) != 0) {
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0 || fwrite(bytes, 1, (size_t)got, to) != (size_t)got) {
            return errno;
        }
        size_t added = got < TAIL_BYTES ? (size_t)got : TAIL_BYTES;
        memmove(tail, tail + added, TAIL_BYTES - added);
        memcpy(tail + TAIL_BYTES - added, bytes + got - added, added);
    }
    return 0;
}

/* Returns whether a file of this format ends in these bytes. */
static bool is_end(const char *format, const char *tail)
{
    const char *mark = strcmp(format, "png") == 0 ? "IEND" : strcmp(format, "pdf") == 0 ? "%%EOF" : "</svg>";
    return memmem(tail, TAIL_BYTES, mark, strlen(mark)) != NULL;
}

/* Judges how the program ended. */
static enum kvc_status judge(const struct kvc_drawing_program *program, const struct kvc_drawing *drawing,
                             int status, bool complete, FILE *said, struct kvc_diag *diag)
{
    char line[400];
    first_complaint(said, line, sizeof(line));
    if (WIFSIGNALED(status)) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%s ended early while it drew %s: %s", program->name,
                             drawing->what, strsignal(WTERMSIG(status)));
    }
    if (WEXITSTATUS(status) != 0) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%s failed on %s: %s", program->name, drawing->what,
                             line[0] != '\0' ? line : "no message");
    }
    if (!complete) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%s ended before the picture did: %s", program->name,
                             line[0] != '\0' ? line : "no message");
    }
    return KVC_OK;
}

static enum kvc_status fail_to_start(const struct kvc_drawing_program *program, int error,
                                     struct kvc_diag *diag)
{
    if (error == ENOENT) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                             "%s is not installed, so no picture was drawn (Debian: apt-get install %s)",
                             program->name, program->package);
    }
    return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "cannot start %s: %s", program->name, strerror(error));
}

/* Runs the program, whose errors go to `said`. */
static enum kvc_status draw(const struct kvc_drawing_program *program, const struct kvc_drawing *drawing,
                            struct kvc_partial_file *picture, FILE *said, struct kvc_diag *diag)
{
    char tail[TAIL_BYTES + 1];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return fail_to_start(program, errno, diag);
    }
    pid_t child = start(drawing->arguments, drawing->input, ends[1], fileno(said));
    int error = errno;
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return fail_to_start(program, error, diag);
    }
    error = copy(ends[0], picture->file, tail);
    close(ends[0]); /* A program that still writes ends now. */
    int status = kvc_cleanup_reap(child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_STARTED) {
        return fail_to_start(program, ENOENT, diag);
    }
    if (error != 0) {
        return kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, picture->path, 0, "cannot be written: %s",
                                strerror(error));
    }
    return judge(program, drawing, status, is_end(drawing->format, tail), said, diag);
}

enum kvc_status kvc_program_draw(const struct kvc_drawing_program *program, const struct kvc_drawing *drawing,
                                 struct kvc_partial_file *picture, struct kvc_diag *diag)
{
    int errors = memfd_create("errors", MFD_CLOEXEC);
    FILE *said = errors >= 0 ? fdopen(errors, "r") : NULL;
    if (said == NULL) {
        enum kvc_status status = fail_to_start(program, errno, diag);
        if (errors >= 0) {
            close(errors);
        }
        return status;
    }
    lseek(drawing->input, 0, SEEK_SET);
    enum kvc_status status = draw(program, drawing, picture, said, diag);
    fclose(said);
    return status;
}

/* ---- gnuplot ---- */

static const struct kvc_drawing_program gnuplot = {"gnuplot", "gnuplot-nox"};

enum kvc_status kvc_gnuplot_draw(const char *script, const char *const *arguments, int data,
                                 const char *format, struct kvc_partial_file *picture, struct kvc_diag *diag)
{
    char *list[KVC_GNUPLOT_ARGUMENTS_MAX + 4] = {"gnuplot", "-c", (char *)script};
    for (int i = 0; arguments[i] != NULL; i++) {
        if (i == KVC_GNUPLOT_ARGUMENTS_MAX) {
            KVC_BUG("more than %d arguments for %s", KVC_GNUPLOT_ARGUMENTS_MAX, script);
        }
        list[3 + i] = (char *)arguments[i];
    }
    const struct kvc_drawing drawing = {.arguments = list, .input = data, .format = format, .what = script};
    return kvc_program_draw(&gnuplot, &drawing, picture, diag);
}
