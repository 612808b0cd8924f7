#include "sim/base/partial_file.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/kvcast-partial-XXXXXX";
static char path[64], partial_path[80];

static void write_text(const char *to, const char *text)
{
    FILE *out = fopen(to, "w");
    cr_assert_not_null(out);
    fputs(text, out);
    cr_assert_eq(fclose(out), 0);
}

static void make_folder(void)
{
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/x", folder);
    snprintf(partial_path, sizeof(partial_path), "%s.partial", path);
    write_text(path, "old");
}

static void remove_folder(void)
{
    unlink(path);
    cr_expect_eq(rmdir(folder), 0, "a partial file is left behind");
}

TestSuite(partial_file, .init = make_folder, .fini = remove_folder);

static void assert_holds(const char *text)
{
    char found[16] = {0};
    FILE *in = fopen(path, "r");
    cr_assert_not_null(in);
    fread(found, 1, sizeof(found) - 1, in);
    fclose(in);
    cr_assert_str_eq(found, text);
}

Test(partial_file, replaces_the_old_file_only_when_committed)
{
    struct kvc_partial_file partial = {0};
    cr_assert_eq(kvc_partial_file_open(&partial, path, NULL), KVC_OK);
    fputs("new", partial.file);
    kvc_partial_file_discard(&partial);
    assert_holds("old");
    cr_assert_eq(access(partial_path, F_OK), -1);
    cr_assert_eq(kvc_partial_file_open(&partial, path, NULL), KVC_OK);
    fputs("new", partial.file);
    assert_holds("old");
    cr_assert_eq(kvc_partial_file_commit(&partial, NULL), KVC_OK);
    assert_holds("new");
    cr_assert_eq(access(partial_path, F_OK), -1);
    kvc_partial_file_discard(&partial);
    assert_holds("new");
}

Test(partial_file, keeps_the_old_file_after_a_write_error)
{
    struct kvc_partial_file partial = {0};
    struct kvc_diag diag = {0};
    cr_assert_eq(symlink("/dev/full", partial_path), 0);
    cr_assert_eq(kvc_partial_file_open(&partial, path, NULL), KVC_OK);
    fputs("new", partial.file);
    cr_assert_eq(kvc_partial_file_commit(&partial, &diag), KVC_ERR_RUNTIME);
    cr_assert_not_null(strstr(diag.message, strerror(ENOSPC)), "%s", diag.message);
    assert_holds("old");
}

Test(partial_file, can_be_written_by_another_program)
{
    struct kvc_partial_file partial = {0};
    cr_assert_eq(kvc_partial_file_reserve(&partial, path, NULL), KVC_OK);
    cr_assert_null(partial.file);
    cr_assert_str_eq(partial.partial, partial_path);
    write_text(partial.partial, "other");
    cr_assert_eq(kvc_partial_file_commit(&partial, NULL), KVC_OK);
    assert_holds("other");
}

Test(partial_file, refuses_places_that_cannot_be_written)
{
    struct kvc_partial_file partial = {0};
    struct kvc_diag diag = {0};
    char long_path[PATH_MAX + 1];
    cr_assert_eq(kvc_partial_file_open(&partial, "/nonexistent/x", &diag), KVC_ERR_SCENARIO);
    cr_assert_str_eq(diag.file, "/nonexistent/x");
    memset(long_path, 'x', PATH_MAX);
    long_path[PATH_MAX] = '\0';
    cr_assert_eq(kvc_partial_file_open(&partial, long_path, &diag), KVC_ERR_SCENARIO);
    cr_assert_not_null(strstr(diag.message, "too long"), "%s", diag.message);
    kvc_partial_file_discard(&partial);
}

Test(partial_file, is_removed_when_a_signal_ends_the_process)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct kvc_partial_file partial = {0};
        kvc_partial_file_open(&partial, path, NULL);
        raise(access(partial_path, F_OK) == 0 ? SIGTERM : SIGABRT);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFSIGNALED(status));
    cr_assert_eq(WTERMSIG(status), SIGTERM);
    cr_assert_eq(access(partial_path, F_OK), -1);
    assert_holds("old");
}
