#include "sim/base/cleanup.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char kept[] = "/tmp/kvcast-cleanup-XXXXXX", removed[] = "/tmp/kvcast-cleanup-XXXXXX";

static void make_files(void)
{
    int a = mkstemp(kept), b = mkstemp(removed);
    cr_assert(a >= 0 && b >= 0);
    close(a);
    close(b);
}

static void remove_files(void)
{
    unlink(kept);
    unlink(removed);
}

TestSuite(cleanup, .init = make_files, .fini = remove_files);

/* Runs `body` in a separate process and returns its wait status. */
static int run_alone(void (*body)(void))
{
    int status = 0;
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        body();
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    return status;
}

static void end_with_a_file(void)
{
    kvc_cleanup_file(kept);
    kvc_cleanup_file(removed);
    kvc_cleanup_forget_file(kept);
    raise(SIGTERM);
}

Test(cleanup, unlinks_the_files_that_are_not_forgotten)
{
    int status = run_alone(end_with_a_file);
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "the process ends as the signal says");
    cr_expect_eq(access(removed, F_OK), -1);
    cr_expect_eq(access(kept, F_OK), 0);
}

static void end_with_a_child(void)
{
    int ready[2];
    char byte;
    if (pipe(ready) != 0) {
        _exit(1);
    }
    pid_t child = kvc_cleanup_fork();
    if (child == 0) {
        if (write(ready[1], "x", 1) == 1) {
            pause();
        }
        _exit(1);
    }
    FILE *out = fopen(removed, "w");
    fprintf(out, "%d", (int)child);
    fclose(out);
    if (read(ready[0], &byte, 1) == 1) {
        raise(SIGTERM);
    }
}

Test(cleanup, ends_and_reaps_children)
{
    int child = 0, status = run_alone(end_with_a_child);
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    FILE *in = fopen(removed, "r");
    cr_assert_eq(fscanf(in, "%d", &child), 1);
    fclose(in);
    cr_expect_eq(kill(child, 0), -1);
    cr_expect_eq(errno, ESRCH, "the child is gone");
}

Test(cleanup, returns_the_status_of_a_child)
{
    pid_t child = kvc_cleanup_fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        _exit(7);
    }
    int status = kvc_cleanup_reap(child);
    cr_expect(WIFEXITED(status));
    cr_expect_eq(WEXITSTATUS(status), 7);
}

static void interrupt_deferred(void)
{
    kvc_cleanup_file(removed);
    kvc_cleanup_defer(true);
    pid_t child = kvc_cleanup_fork();
    if (child == 0) {
        pause();
    }
    raise(SIGINT);
    raise(SIGTERM); /* So soon after the first one, it is the same request. */
    int status = kvc_cleanup_reap(child);
    bool ended = WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
    bool refused = kvc_cleanup_fork() == -1 && errno == EINTR;
    if (!ended || !refused || !kvc_cleanup_is_interrupted() || access(removed, F_OK) != 0) {
        _exit(1);
    }
    kvc_cleanup_defer(false);
    child = kvc_cleanup_fork();
    if (child == 0) {
        _exit(kvc_cleanup_is_interrupted());
    }
    _exit(kvc_cleanup_reap(child));
}

Test(cleanup, defers_the_end_to_the_second_signal)
{
    cr_expect_eq(run_alone(interrupt_deferred), 0);
}

static void interrupt_twice(void)
{
    kvc_cleanup_file(removed);
    kvc_cleanup_defer(true);
    for (;;) {
        raise(SIGINT);
        usleep(1000);
    }
}

Test(cleanup, ends_with_the_second_signal)
{
    int status = run_alone(interrupt_twice);
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    cr_expect_eq(access(removed, F_OK), -1);
}

static void clean_now(void)
{
    kvc_cleanup_file(removed);
    if (kvc_cleanup_fork() == 0) {
        pause();
    }
    kvc_cleanup_now();
    _exit(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD ? 0 : 1);
}

Test(cleanup, cleans_without_a_signal)
{
    cr_expect_eq(run_alone(clean_now), 0, "no child is left");
    cr_expect_eq(access(removed, F_OK), -1);
    cr_expect_eq(access(kept, F_OK), 0);
}
