/* A watchdog on the processor time of a script.
 *
 * No count of instructions sees what one instruction does: a pattern that backtracks, a table that rehashes,
 * a collection of garbage. A timer therefore counts the processor time of the thread that runs the script,
 * and not the time of day, because a script cannot sleep, and a machine with many busy processes must not
 * fail one that needs little. Its signal cannot jump out of Lua, whose state may be half changed. It does
 * what is sound at any moment:
 *
 * - When the time is up, it installs a hook that ends the script at its next instruction or call (lua_sethook
 *   may be called from a signal handler). Functions of the library that run long without either are refused
 *   or replaced beforehand (sandbox_guards.h).
 * - When the script has not ended after KVC_SANDBOX_GRACE_S more, it is inside one instruction of Lua itself.
 *   The only sound way out is the end of the process: it writes one message, with the line that the last hook
 *   saw, removes children and unfinished files (sim/base/cleanup.h) and exits with KVC_ERR_SCENARIO.
 *
 * Several threads can each watch one script at a time. */
#ifndef KVC_SCENARIOS_LOAD_LUA_SANDBOX_WATCH_H
#define KVC_SCENARIOS_LOAD_LUA_SANDBOX_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include <lua.h>

enum { KVC_SANDBOX_GRACE_S = 1 };

struct kvc_sandbox_watch {
    const char *file; /* The scenario, for the last message. */
    lua_State *lua;
    lua_Hook hook;
    timer_t timer;
    bool runs;
    volatile sig_atomic_t expired; /* How often the timer has expired since the start. */
    volatile sig_atomic_t line;    /* The line that the script was last seen at. */
};

/* Calls `hook` soon after this thread has used `seconds` of processor time from now on. The file, the state
 * and the hook are set. Returns false, with errno, if the system has no timer left. */
bool kvc_sandbox_watch_start(struct kvc_sandbox_watch *watch, double seconds);

/* Ends the watch. It does nothing if there is none. */
void kvc_sandbox_watch_stop(struct kvc_sandbox_watch *watch);

#endif
