#include "scenarios/load/lua/sandbox_limits.h"

#include <lauxlib.h>
#include <stdlib.h>
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

enum {
    HOOK_EVERY = 1000, /* Instructions between two calls of the hook. */
    /* Active functions that are looked at for lines. Lua needs time that grows with the level to find one,
     * and at most 200 functions in C can lie between two of the script. */
    LEVELS_MAX = 256,
};

void kvc_sandbox_limits_note_lines(struct kvc_sandbox_limits *limits)
{
    lua_Debug frame;
    limits->line = 0;
    limits->trace_count = 0;
    for (int level = 0; level < LEVELS_MAX && limits->trace_count < KVC_SANDBOX_TRACE_MAX &&
                        limits->lua != NULL && lua_getstack(limits->lua, level, &frame);
         level++) {
        if (!lua_getinfo(limits->lua, "Sl", &frame) || frame.currentline <= 0 ||
            strcmp(frame.short_src, KVC_SANDBOX_CHUNK) != 0) {
            continue;
        }
        if (limits->line == 0) {
            limits->line = frame.currentline;
        } else {
            limits->trace[limits->trace_count++] = frame.currentline;
        }
    }
}

static void on_hook(lua_State *lua, lua_Debug *frame)
{
    struct kvc_sandbox_limits *limits = kvc_sandbox_limits_of(lua);
    if (limits->exceeded != KVC_SANDBOX_WITHIN_LIMITS) {
        luaL_error(lua, "limit");
    }
    if (limits->watch.expired > 0) {
        kvc_sandbox_limits_raise(lua, KVC_SANDBOX_SECONDS);
    }
    limits->instructions += HOOK_EVERY;
    if (limits->instructions > KVC_SANDBOX_INSTRUCTIONS_MAX) {
        kvc_sandbox_limits_raise(lua, KVC_SANDBOX_INSTRUCTIONS);
    }
    if (lua_getinfo(lua, "Sl", frame) && strcmp(frame->short_src, KVC_SANDBOX_CHUNK) == 0) {
        limits->watch.line = frame->currentline;
    }
}

static void hit_limit(struct kvc_sandbox_limits *limits, enum kvc_sandbox_limit limit)
{
    if (limits->exceeded != KVC_SANDBOX_WITHIN_LIMITS) {
        return;
    }
    kvc_sandbox_limits_note_lines(limits);
    limits->exceeded = limit;
    if (limits->lua != NULL && lua_gethook(limits->lua) != NULL) {
        lua_sethook(limits->lua, on_hook, LUA_MASKCALL | LUA_MASKCOUNT, 1);
    }
}

void *kvc_sandbox_limits_allocate(void *data, void *block, size_t old_bytes, size_t bytes)
{
    struct kvc_sandbox_limits *limits = data;
    size_t had = block != NULL ? old_bytes : 0;
    if (bytes == 0) {
        free(block);
        limits->used -= had;
        return NULL;
    }
    if (bytes > had && limits->used - had + bytes > limits->used_max) {
        if (limits->failed == bytes) {
            hit_limit(limits, KVC_SANDBOX_MEMORY);
        } else if (limits->exceeded == KVC_SANDBOX_WITHIN_LIMITS) {
            kvc_sandbox_limits_note_lines(limits); /* Buffers of strings are not retried. */
        }
        limits->failed = bytes;
        limits->refused = true;
        return NULL;
    }
    void *moved = realloc(block, bytes);
    if (moved == NULL) {
        return NULL;
    }
    limits->used = limits->used - had + bytes;
    if (bytes > had) {
        limits->failed = 0;
    }
    return moved;
}

struct kvc_sandbox_limits *kvc_sandbox_limits_of(lua_State *lua)
{
    void *data;
    lua_getallocf(lua, &data);
    return data;
}

int kvc_sandbox_limits_raise(lua_State *lua, enum kvc_sandbox_limit limit)
{
    hit_limit(kvc_sandbox_limits_of(lua), limit);
    return luaL_error(lua, "limit");
}

bool kvc_sandbox_limits_start(struct kvc_sandbox_limits *limits, double seconds)
{
    limits->instructions = 0;
    limits->watch.lua = limits->lua;
    limits->watch.hook = on_hook;
    lua_sethook(limits->lua, on_hook, LUA_MASKCOUNT, HOOK_EVERY);
    return kvc_sandbox_watch_start(&limits->watch, seconds);
}

void kvc_sandbox_limits_stop(struct kvc_sandbox_limits *limits)
{
    kvc_sandbox_watch_stop(&limits->watch);
    lua_sethook(limits->lua, NULL, 0, 0);
}
