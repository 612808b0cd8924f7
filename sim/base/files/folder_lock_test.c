#include "sim/base/files/folder_lock.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/kvcast-lock-XXXXXX";
static char path[64];

static void make_folder(void)
{
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/kvcast.lock", folder);
}

static void remove_folder(void)
{
    unlink(path);
    cr_expect_eq(rmdir(folder), 0);
}

TestSuite(folder_lock, .init = make_folder, .fini = remove_folder);

/* Starts a process that owns the folder until it is killed. */
static pid_t start_owner(void)
{
    int ready[2];
    char byte = 0;
    cr_assert_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct kvc_folder_lock lock = {0};
        byte = kvc_folder_lock_take(&lock, folder, NULL) == KVC_OK;
        _exit(write(ready[1], &byte, 1) == 1 ? pause() : 1);
    }
    cr_assert(read(ready[0], &byte, 1) == 1 && byte == 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

static void end(pid_t child, int number)
{
    cr_assert_eq(kill(child, number), 0);
    cr_assert_eq(waitpid(child, NULL, 0), child);
}

Test(folder_lock, is_gone_after_its_release)
{
    struct kvc_folder_lock lock = {0};
    kvc_folder_lock_release(&lock);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(kvc_folder_lock_take(&lock, folder, NULL), KVC_OK);
        cr_assert_eq(access(path, F_OK), 0);
        kvc_folder_lock_release(&lock);
        cr_assert_eq(access(path, F_OK), -1);
    }
}

Test(folder_lock, a_second_process_learns_who_the_owner_is)
{
    struct kvc_folder_lock lock = {0};
    struct kvc_diag diag = {0};
    char host[65] = "", owner[128];
    pid_t child = start_owner();
    gethostname(host, sizeof(host) - 1);
    snprintf(owner, sizeof(owner), "process %ld on host %s since 20", (long)child, host);
    cr_expect_eq(kvc_folder_lock_take(&lock, folder, &diag), KVC_ERR_RUNTIME);
    cr_expect_str_eq(diag.file, folder);
    cr_expect_not_null(strstr(diag.message, owner), "%s", diag.message);
    kvc_folder_lock_release(&lock);
    cr_expect_eq(access(path, F_OK), 0, "the owner's file stays");
    end(child, SIGTERM);
    cr_expect_eq(access(path, F_OK), -1, "a signal removes the file");
}

Test(folder_lock, of_a_killed_process_is_taken_over)
{
    struct kvc_folder_lock lock = {0};
    struct kvc_diag diag = {0};
    end(start_owner(), SIGKILL);
    cr_assert_eq(access(path, F_OK), 0, "the file is left behind");
    cr_assert_eq(kvc_folder_lock_take(&lock, folder, &diag), KVC_OK, "%s", diag.message);
    kvc_folder_lock_release(&lock);
}

/* The lock of a removed file excludes no process, so its holder must notice that the file is gone. */
Test(folder_lock, never_has_two_owners)
{
    enum { PROCESSES = 4, ROUNDS = 100 };
    char mark[80];
    snprintf(mark, sizeof(mark), "%s/owned", folder);
    for (int i = 0; i < PROCESSES; i++) {
        if (fork() == 0) {
            bool alone = true;
            for (int round = 0; round < ROUNDS && alone; round++) {
                struct kvc_folder_lock lock = {0};
                while (kvc_folder_lock_take(&lock, folder, NULL) != KVC_OK) {
                    sched_yield();
                }
                alone = mkdir(mark, 0700) == 0;
                alone = rmdir(mark) == 0 && alone;
                kvc_folder_lock_release(&lock);
            }
            _exit(alone ? 0 : 1);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        cr_assert_gt(wait(&status), 0);
        cr_expect_eq(status, 0, "two processes owned the folder");
    }
}

Test(folder_lock, follows_no_link)
{
    struct kvc_folder_lock lock = {0};
    struct kvc_diag diag = {0};
    cr_assert_eq(symlink("/tmp/kvcast-nowhere", path), 0);
    cr_expect_eq(kvc_folder_lock_take(&lock, folder, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "no regular file"), "%s", diag.message);
    cr_expect_eq(access("/tmp/kvcast-nowhere", F_OK), -1);
    cr_assert_eq(unlink(path), 0);
    cr_assert_eq(mkfifo(path, 0600), 0);
    cr_expect_eq(kvc_folder_lock_take(&lock, folder, &diag), KVC_ERR_SCENARIO);
}

Test(folder_lock, needs_a_folder)
{
    struct kvc_folder_lock lock = {0};
    struct kvc_diag diag = {0};
    cr_expect_eq(kvc_folder_lock_take(&lock, "/nonexistent", &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.file, "/nonexistent/kvcast.lock");
}
