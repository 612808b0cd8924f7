#include "sim/base/files/partial_file.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/kvcast-partial-XXXXXX";
static char path[64];

static const char *in_folder(const char *name)
{
    static char text[2][128];
    static int next;
    next = !next;
    snprintf(text[next], sizeof(text[next]), "%s/%s", folder, name);
    return text[next];
}

static void write_text(const char *to, const char *text)
{
    FILE *out = fopen(to, "w");
    cr_assert_not_null(out);
    fputs(text, out);
    cr_assert_eq(fclose(out), 0);
}

static size_t partial_files(void)
{
    glob_t found;
    size_t count = glob(in_folder("*.partial"), 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return count;
}

static void make_folder(void)
{
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/x", folder);
    write_text(path, "old");
}

static void remove_folder(void)
{
    char command[128];
    cr_expect_eq(partial_files(), 0, "a partial file is left behind");
    snprintf(command, sizeof(command), "/bin/rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(partial_file, .init = make_folder, .fini = remove_folder);

static void assert_file_holds(const char *file, const char *text)
{
    char found[64] = {0};
    FILE *in = fopen(file, "r");
    cr_assert_not_null(in);
    cr_assert_eq(fread(found, 1, sizeof(found) - 1, in), strlen(text), "%s", found);
    fclose(in);
    cr_assert_str_eq(found, text);
}

static void assert_holds(const char *text)
{
    assert_file_holds(path, text);
}

Test(partial_file, replaces_the_old_file_only_when_committed)
{
    struct kvc_partial_file partial = {0};
    cr_assert_eq(kvc_partial_file_open(&partial, path, NULL), KVC_OK);
    fputs("new", partial.file);
    kvc_partial_file_discard(&partial);
    assert_holds("old");
    cr_assert_eq(partial_files(), 0);
    cr_assert_eq(kvc_partial_file_open(&partial, path, NULL), KVC_OK);
    fputs("new", partial.file);
    cr_assert_eq(partial_files(), 1);
    cr_assert_eq(kvc_partial_file_finish(&partial, NULL), KVC_OK);
    assert_holds("old");
    cr_assert_eq(kvc_partial_file_commit(&partial, NULL), KVC_OK);
    assert_holds("new");
    cr_assert_eq(partial_files(), 0);
    kvc_partial_file_discard(&partial);
    assert_holds("new");
}

Test(partial_file, has_the_mode_of_any_new_file)
{
    struct kvc_partial_file partial = {0};
    struct stat found;
    umask(027);
    cr_assert_eq(kvc_partial_file_open(&partial, path, NULL), KVC_OK);
    cr_assert_eq(kvc_partial_file_commit(&partial, NULL), KVC_OK);
    cr_assert_eq(stat(path, &found), 0);
    cr_assert_eq(found.st_mode & 0777, 0640);
}

/* A limit on the size of files stands for a full disk. */
Test(partial_file, keeps_the_old_file_after_a_write_error)
{
    struct rlimit limit;
    struct kvc_partial_file partial = {0};
    struct kvc_diag diag = {0};
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(kvc_partial_file_open(&partial, path, NULL), KVC_OK);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){100000, limit.rlim_max}), 0);
    for (int i = 0; i < 100001; i++) {
        putc('x', partial.file);
    }
    cr_expect_eq(kvc_partial_file_commit(&partial, &diag), KVC_ERR_RUNTIME);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    cr_expect_not_null(strstr(diag.message, strerror(EFBIG)), "%s", diag.message);
    cr_expect_str_eq(diag.file, path);
    assert_holds("old");
}

Test(partial_file, misses_no_write_that_failed_in_between)
{
    struct rlimit limit;
    struct kvc_partial_file partial = {0};
    struct kvc_diag diag = {0};
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(kvc_partial_file_open(&partial, path, NULL), KVC_OK);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){10, limit.rlim_max}), 0);
    fputs("a part that is lost", partial.file);
    fflush(partial.file);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    fputs("and one that fits", partial.file);
    cr_expect_eq(kvc_partial_file_commit(&partial, &diag), KVC_ERR_RUNTIME, "%s", diag.message);
    assert_holds("old");
}

Test(partial_file, can_be_written_by_a_child)
{
    struct kvc_partial_file partial = {0};
    cr_assert_eq(kvc_partial_file_open(&partial, path, NULL), KVC_OK);
    pid_t child = fork();
    if (child == 0) {
        fputs("child", partial.file);
        _exit(kvc_partial_file_flush(&partial, NULL));
    }
    int status;
    cr_assert(waitpid(child, &status, 0) == child && status == 0);
    cr_assert_eq(kvc_partial_file_commit(&partial, NULL), KVC_OK);
    assert_holds("child");
}

Test(partial_file, can_be_a_log_that_grows_in_place)
{
    struct kvc_partial_file partial = {0};
    cr_assert_eq(kvc_partial_file_open(&partial, path, NULL), KVC_OK);
    fputs("1,", partial.file);
    cr_assert_eq(kvc_partial_file_place(&partial, NULL), KVC_OK);
    assert_holds("1,");
    fputs("2,", partial.file);
    cr_assert_eq(kvc_partial_file_flush(&partial, NULL), KVC_OK);
    assert_holds("1,2,");
    kvc_partial_file_discard(&partial);
    assert_holds("1,2,");
}

Test(partial_file, refuses_places_that_cannot_be_written)
{
    struct kvc_partial_file partial = {0};
    struct kvc_diag diag = {0};
    char long_path[PATH_MAX + 1];
    cr_assert_eq(kvc_partial_file_open(&partial, "/nonexistent/x", &diag), KVC_ERR_SCENARIO);
    cr_assert_str_eq(diag.file, "/nonexistent/x");
    cr_assert_eq(kvc_partial_file_open(&partial, folder, &diag), KVC_ERR_SCENARIO);
    cr_assert_eq(kvc_partial_file_replace(&partial, folder, &diag), KVC_ERR_SCENARIO);
    cr_assert_not_null(strstr(diag.message, strerror(EISDIR)), "%s", diag.message);
    memset(long_path, 'x', PATH_MAX);
    long_path[PATH_MAX] = '\0';
    cr_assert_eq(kvc_partial_file_open(&partial, long_path, &diag), KVC_ERR_SCENARIO);
    cr_assert_not_null(strstr(diag.message, "too long"), "%s", diag.message);
    kvc_partial_file_discard(&partial);
}

Test(partial_file, takes_the_longest_name_of_a_file)
{
    struct kvc_partial_file partial = {0};
    char name[NAME_MAX + 1];
    memset(name, 'n', NAME_MAX);
    name[NAME_MAX] = '\0';
    cr_assert_eq(kvc_partial_file_open_in(&partial, folder, name, NULL), KVC_OK);
    cr_assert_eq(kvc_partial_file_commit(&partial, NULL), KVC_OK);
    char whole[PATH_MAX];
    snprintf(whole, sizeof(whole), "%s/%s", folder, name);
    cr_assert_eq(access(whole, F_OK), 0);
}

Test(partial_file, reports_a_final_name_that_was_taken_meanwhile)
{
    struct kvc_partial_file partial = {0};
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_partial_file_open_in(&partial, folder, "y", NULL), KVC_OK);
    cr_assert_eq(mkdir(in_folder("y"), 0700), 0);
    cr_assert_eq(kvc_partial_file_commit(&partial, &diag), KVC_ERR_RUNTIME);
    cr_assert_str_eq(diag.file, in_folder("y"));
}

Test(partial_file, replaces_a_link_and_leaves_its_target_alone)
{
    struct kvc_partial_file partial = {0};
    struct stat found;
    cr_assert_eq(symlink(path, in_folder("link")), 0);
    cr_assert_eq(kvc_partial_file_open(&partial, in_folder("link"), NULL), KVC_OK);
    fputs("new", partial.file);
    cr_assert_eq(kvc_partial_file_commit(&partial, NULL), KVC_OK);
    assert_holds("old");
    cr_assert(lstat(in_folder("link"), &found) == 0 && S_ISREG(found.st_mode));
    assert_file_holds(in_folder("link"), "new");
}

Test(partial_file, writes_to_a_device_or_pipe_that_the_user_names)
{
    struct kvc_partial_file partial = {0};
    struct kvc_diag diag = {0};
    struct stat found;
    char got[8] = {0};
    cr_assert_eq(kvc_partial_file_open(&partial, "/dev/full", NULL), KVC_OK);
    fputs("new", partial.file);
    cr_assert_eq(kvc_partial_file_commit(&partial, &diag), KVC_ERR_RUNTIME);
    cr_assert_not_null(strstr(diag.message, strerror(ENOSPC)), "%s", diag.message);
    cr_assert_eq(mkfifo(in_folder("pipe"), 0600), 0);
    int reader = open(in_folder("pipe"), O_RDONLY | O_NONBLOCK);
    cr_assert_eq(kvc_partial_file_open(&partial, in_folder("pipe"), NULL), KVC_OK);
    fputs("new", partial.file);
    cr_assert_eq(kvc_partial_file_commit(&partial, NULL), KVC_OK);
    cr_assert_eq(read(reader, got, sizeof(got) - 1), 3);
    cr_assert_str_eq(got, "new");
    cr_assert(lstat("/dev/full", &found) == 0 && S_ISCHR(found.st_mode));
    cr_assert(lstat(in_folder("pipe"), &found) == 0 && S_ISFIFO(found.st_mode));
    cr_assert_eq(kvc_partial_file_replace(&partial, in_folder("pipe"), NULL), KVC_OK);
    cr_assert_eq(kvc_partial_file_commit(&partial, NULL), KVC_OK);
    cr_assert(lstat(in_folder("pipe"), &found) == 0 && S_ISREG(found.st_mode));
}

Test(partial_file, writes_behind_what_stdout_has)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct kvc_partial_file partial = {0};
        freopen(path, "w", stdout);
        printf("1,");
        kvc_partial_file_open(&partial, "/dev/fd/1", NULL);
        fputs("2,", partial.file);
        kvc_partial_file_commit(&partial, NULL);
        printf("3,");
        fflush(stdout);
        _exit(0);
    }
    cr_assert(waitpid(child, &status, 0) == child && status == 0);
    assert_holds("1,2,3,");
}

/* Starts a process that opens the file and ends by the signal. */
static void open_and_raise(int number)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct kvc_partial_file partial = {0};
        kvc_partial_file_open(&partial, path, NULL);
        raise(partial_files() == 1 ? number : SIGABRT);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFSIGNALED(status));
    cr_assert_eq(WTERMSIG(status), number);
    assert_holds("old");
}

Test(partial_file, is_removed_when_a_signal_ends_the_process)
{
    const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGQUIT};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        open_and_raise(numbers[i]);
        cr_assert_eq(partial_files(), 0, "signal %d", numbers[i]);
    }
}

Test(partial_file, of_a_killed_process_is_removed_by_the_next_writer)
{
    struct kvc_partial_file first = {0}, second = {0};
    write_text(in_folder("movie.20240101.partial"), "of somebody else");
    cr_assert_eq(kvc_partial_file_open(&first, path, NULL), KVC_OK);
    fputs("first", first.file);
    pid_t child = fork();
    if (child == 0) {
        struct kvc_partial_file killed = {0};
        kvc_partial_file_open(&killed, path, NULL);
        kill(getpid(), SIGKILL);
    }
    cr_assert_eq(waitpid(child, NULL, 0), child);
    cr_assert_eq(partial_files(), 3);
    cr_assert_eq(kvc_partial_file_open(&second, path, NULL), KVC_OK);
    cr_assert_eq(partial_files(), 3,
                 "the killed one's is removed, the first one's and the foreign one are not");
    fputs("second", second.file);
    cr_assert_eq(kvc_partial_file_commit(&second, NULL), KVC_OK);
    assert_holds("second");
    cr_assert_eq(kvc_partial_file_commit(&first, NULL), KVC_OK);
    assert_holds("first");
    cr_assert_eq(unlink(in_folder("movie.20240101.partial")), 0);
}
