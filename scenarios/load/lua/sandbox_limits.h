/* Limits on what a script may use: memory, instructions and processor time.
 *
 * The limits are the user data of the Lua state's allocator, so that every function that gets a lua_State
 * finds them. The first limit that the script exceeds is remembered; from then on every instruction and every
 * call raises a Lua error until the script has ended, also in a __close that the error runs.
 *
 * A watchdog limits the processor time, because no count of instructions sees what one instruction does: a
 * pattern that backtracks, a table that rehashes, a collection of garbage. A timer counts the processor time
 * of the thread that runs the script and not the time of day, because a script cannot sleep, and a script
 * that needs little must not fail on a busy machine. The timer's signal cannot jump out of Lua, whose state
 * may be half changed. It does what is sound at any moment:
 *
 * - When the time is up, it installs a hook that ends the script at its next instruction or call (lua_sethook
 *   may be called from a signal handler). Functions of the library that run long without either are refused
 *   or replaced beforehand (the guards in sandbox.c).
 * - When the script has not ended after KVC_SANDBOX_GRACE_S more, it is inside one instruction of Lua itself.
 *   The only sound way out is the end of the process: it writes one message, with the line that the last hook
 *   saw, removes children and unfinished files (sim/base/cleanup.h) and exits with KVC_ERR_SCENARIO.
 *
 * Several threads can each watch one script at a time. */
#ifndef KVC_SCENARIOS_LOAD_LUA_SANDBOX_LIMITS_H
#define KVC_SCENARIOS_LOAD_LUA_SANDBOX_LIMITS_H

#include <lua.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { KVC_SANDBOX_GRACE_S = 1 };

struct kvc_sandbox_watch {
    const char *file; /* The scenario, for the last message. */
    lua_State *lua;
    lua_Hook hook;
    timer_t timer;
    bool runs;
    volatile sig_atomic_t expired; /* Number of times that the timer has expired since the start. */
    volatile sig_atomic_t line;    /* Line at which the script was last seen. */
};

/* Calls `hook` soon after this thread has used `seconds` more of processor time. The caller has set the file,
 * the state and the hook. Returns false, with errno, if the system has no timer left. */
bool kvc_sandbox_watch_start(struct kvc_sandbox_watch *watch, double seconds);

/* Ends the watch. It does nothing if there is none. */
void kvc_sandbox_watch_stop(struct kvc_sandbox_watch *watch);

enum {
    KVC_SANDBOX_MEMORY_MAX = 64 << 20,
    KVC_SANDBOX_INSTRUCTIONS_MAX = 20000000,
    KVC_SANDBOX_SECONDS_MAX = 1,
    KVC_SANDBOX_CALLS_SECONDS_MAX = 10, /* Processor time of all kvc_sandbox_call() together [s]. */
    KVC_SANDBOX_TRACE_MAX = 4,
};

/* The chunk name that Lua puts in front of its messages. The file's own name may be longer than Lua keeps. */
#define KVC_SANDBOX_CHUNK "(scenario)"

/* The name of the sandbox's own code in Lua. */
#define KVC_SANDBOX_OWN_CHUNK "(library)"

enum kvc_sandbox_limit {
    KVC_SANDBOX_WITHIN_LIMITS,
    KVC_SANDBOX_MEMORY,
    KVC_SANDBOX_INSTRUCTIONS,
    KVC_SANDBOX_SECONDS,
};

struct kvc_sandbox_limits {
    lua_State *lua; /* NULL before the state exists and while it is being closed. */
    size_t used;    /* Memory that the state holds [bytes]. */
    size_t used_max;
    size_t failed; /* Size of the last refused request [bytes]; Lua collects garbage and retries it once. */
    bool refused;  /* A request for memory was refused. */
    uint64_t instructions;            /* Instructions executed since the start. */
    struct kvc_sandbox_watch watch;   /* Watches the processor time. */
    enum kvc_sandbox_limit exceeded;  /* The first limit that was exceeded. */
    int line;                         /* Line of that limit or of the error; 0 when unknown. */
    int trace[KVC_SANDBOX_TRACE_MAX]; /* Lines of the callers, innermost first. */
    int trace_count;
};

/* The allocator of the Lua state; `data` is a struct kvc_sandbox_limits. */
void *kvc_sandbox_limits_allocate(void *data, void *block, size_t old_bytes, size_t bytes);

struct kvc_sandbox_limits *kvc_sandbox_limits_of(lua_State *lua);

/* Records that the script exceeded `limit` and raises a Lua error. */
int kvc_sandbox_limits_raise(lua_State *lua, enum kvc_sandbox_limit limit);

/* Records the lines of the innermost active functions of the script. It only reads the call stack, so the
 * allocator may call it. Its time does not depend on the depth of the stack. */
void kvc_sandbox_limits_note_lines(struct kvc_sandbox_limits *limits);

/* Counts instructions from 0, and allows `seconds` of processor time. Returns false, with errno, if the time
 * cannot be watched. */
bool kvc_sandbox_limits_start(struct kvc_sandbox_limits *limits, double seconds);

/* Stops counting. */
void kvc_sandbox_limits_stop(struct kvc_sandbox_limits *limits);

#endif
