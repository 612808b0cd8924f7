#include "scenarios/load/lua/sandbox_watch.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sim/base/cleanup.h"
#include "sim/base/diag.h"
#include "sim/base/text/printable.h"

/* The name that glibc before 2.41 lacks. */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* Signals of timers are rare; this one is made for processor time. */
static const int TIMER_SIGNAL = SIGVTALRM;

static char *put(char *at, const char *end, const char *text)
{
    while (at < end && *text != '\0') {
        *at++ = *text++;
    }
    return at;
}

static char *put_number(char *at, const char *end, int number)
{
    char digits[12], *digit = digits + sizeof(digits);
    *--digit = '\0';
    do {
        *--digit = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return put(at, end, digit);
}

/* Ends the process. Everything here is safe in a signal handler. */
static void end_process(const struct kvc_sandbox_watch *watch)
{
    char message[512] = "", *end = message + sizeof(message) - 1, *at = put(message, end, "kvcast: ");
    at = put(at, end - 128, watch->file);
    at = put(at, end, ":");
    at = put_number(at, end, watch->line);
    at = put(at, end, ": an operation of the script, last seen at this line, does not end");
    *at = '\0';
    kvc_make_printable(message);
    *at++ = '\n';
    ssize_t ignored = write(STDERR_FILENO, message, (size_t)(at - message));
    (void)ignored;
    kvc_cleanup_now();
    _exit(KVC_ERR_SCENARIO);
}

static void on_timer(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    if (info->si_code != SI_TIMER) {
        return;
    }
    struct kvc_sandbox_watch *watch = info->si_value.sival_ptr;
    if (watch->expired++ == 0) {
        lua_sethook(watch->lua, watch->hook, LUA_MASKCALL | LUA_MASKCOUNT, 1);
    } else {
        end_process(watch);
    }
}

bool kvc_sandbox_watch_start(struct kvc_sandbox_watch *watch, double seconds)
{
    struct sigaction action = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TIMER_SIGNAL, .sigev_value.sival_ptr = watch};
    struct itimerspec time = {.it_value.tv_sec = (time_t)seconds,
                              .it_value.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9) + 1,
                              .it_interval.tv_sec = KVC_SANDBOX_GRACE_S};
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    sigemptyset(&action.sa_mask);
    watch->expired = 0;
    watch->line = 1;
    if (sigaction(TIMER_SIGNAL, &action, NULL) != 0 ||
        timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &watch->timer) != 0) {
        return false;
    }
    watch->runs = timer_settime(watch->timer, 0, &time, NULL) == 0;
    if (!watch->runs) {
        timer_delete(watch->timer);
    }
    return watch->runs;
}

void kvc_sandbox_watch_stop(struct kvc_sandbox_watch *watch)
{
    if (watch->runs) {
        timer_delete(watch->timer);
    }
    watch->runs = false;
}
