#include "sim/base/cleanup.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/clock.h"

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU};
enum { ENDING_SIGNALS = sizeof(ending_signals) / sizeof(*ending_signals) };

static bool installed;
static struct sigaction before[ENDING_SIGNALS];
static pid_t children[KVC_CLEANUP_CHILDREN_MAX];    /* 0 marks a free entry. */
static char files[KVC_CLEANUP_FILES_MAX][PATH_MAX]; /* An empty path marks a free entry. */

/* `timeout` sends its signal to the process and to its group, which is one request. */
static const double same_request_s = 0.1;

static volatile sig_atomic_t defers, interrupted;
static double interrupted_s; /* Clock of the interruption [s]. */

static void terminate_children(void)
{
    for (int i = 0; i < KVC_CLEANUP_CHILDREN_MAX; i++) {
        if (children[i] > 0) {
            kill(children[i], SIGTERM);
        }
    }
}

void kvc_cleanup_now(void)
{
    terminate_children();
    for (int i = 0; i < KVC_CLEANUP_CHILDREN_MAX; i++) {
        if (children[i] > 0) {
            waitpid(children[i], NULL, 0);
        }
    }
    for (int i = 0; i < KVC_CLEANUP_FILES_MAX; i++) {
        if (files[i][0] != '\0') {
            unlink(files[i]);
        }
    }
}

static void on_signal(int number)
{
    if (defers && (number == SIGINT || number == SIGTERM)) {
        double now_s = kvc_clock_wall_s();
        if (!interrupted) {
            interrupted = true;
            interrupted_s = now_s;
            terminate_children();
        }
        if (now_s < interrupted_s + same_request_s) {
            return;
        }
    }
    kvc_cleanup_now();
    signal(number, SIG_DFL);
    raise(number);
}

/* Blocks the signals, because the handler must not run while a list changes. */
static void block(sigset_t *old)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < ENDING_SIGNALS; i++) {
        sigaddset(&set, ending_signals[i]);
    }
    sigprocmask(SIG_BLOCK, &set, old);
}

static void unblock(const sigset_t *old)
{
    sigprocmask(SIG_SETMASK, old, NULL);
}

static void install(void)
{
    if (installed) {
        return;
    }
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < ENDING_SIGNALS; i++) {
        sigaddset(&action.sa_mask, ending_signals[i]);
    }
    for (int i = 0; i < ENDING_SIGNALS; i++) {
        sigaction(ending_signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) { /* The signal is ignored, for example under nohup. */
            sigaction(ending_signals[i], &action, NULL);
        }
    }
    installed = true;
}

static void become_child(pid_t parent)
{
    if (installed) {
        for (int i = 0; i < ENDING_SIGNALS; i++) {
            sigaction(ending_signals[i], &before[i], NULL);
        }
    }
    /* Ctrl-C reaches the whole process group. Only the parent reacts, so that no child appears to have
     * crashed. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    installed = false;
    defers = false;
    memset(children, 0, sizeof(children));
    memset(files, 0, sizeof(files));
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) { /* The parent died before prctl. */
        _exit(1);
    }
}

pid_t kvc_cleanup_fork(void)
{
    int slot = 0;
    while (slot < KVC_CLEANUP_CHILDREN_MAX && children[slot] != 0) {
        slot++;
    }
    if (slot == KVC_CLEANUP_CHILDREN_MAX) {
        errno = EAGAIN;
        return -1;
    }
    pid_t parent = getpid();
    sigset_t old;
    install();
    block(&old);
    pid_t child = interrupted ? -1 : fork();
    int error = interrupted ? EINTR : errno;
    if (child == 0) {
        become_child(parent);
    } else if (child > 0) {
        children[slot] = child;
    }
    unblock(&old);
    errno = error;
    return child;
}

int kvc_cleanup_reap(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        ;
    }
    sigset_t old;
    block(&old);
    for (int i = 0; i < KVC_CLEANUP_CHILDREN_MAX; i++) {
        if (children[i] == child) {
            children[i] = 0;
        }
    }
    unblock(&old);
    return status;
}

void kvc_cleanup_defer(bool is_deferred)
{
    sigset_t old;
    install();
    block(&old);
    defers = is_deferred;
    interrupted = false;
    unblock(&old);
}

bool kvc_cleanup_is_interrupted(void)
{
    return interrupted;
}

void kvc_cleanup_file(const char *path)
{
    sigset_t old;
    if (strlen(path) >= PATH_MAX) {
        return;
    }
    install();
    block(&old);
    for (int i = 0; i < KVC_CLEANUP_FILES_MAX; i++) {
        if (files[i][0] == '\0') {
            strcpy(files[i], path);
            break;
        }
    }
    unblock(&old);
}

void kvc_cleanup_forget_file(const char *path)
{
    sigset_t old;
    block(&old);
    for (int i = 0; i < KVC_CLEANUP_FILES_MAX; i++) {
        if (strcmp(files[i], path) == 0) {
            files[i][0] = '\0';
        }
    }
    unblock(&old);
}
