/* Limits on what a script may use: memory, instructions and processor time.
 *
 * The limits are the user data of the Lua state's allocator, so that every function that gets a lua_State
 * finds them. The first limit that the script exceeds is remembered; from then on every instruction and every
 * call raises a Lua error until the script has ended, also in a __close that the error runs. */
#ifndef KVC_SCENARIOS_LOAD_LUA_SANDBOX_LIMITS_H
#define KVC_SCENARIOS_LOAD_LUA_SANDBOX_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lua.h>

#include "scenarios/load/lua/sandbox_watch.h"

enum {
    KVC_SANDBOX_MEMORY_MAX = 64 << 20,
    KVC_SANDBOX_INSTRUCTIONS_MAX = 20000000,
    KVC_SANDBOX_SECONDS_MAX = 1,
    KVC_SANDBOX_CALLS_SECONDS_MAX = 10, /* Of all kvc_sandbox_call() together [s]. */
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
    bool refused;  /* Some request was refused. */
    uint64_t instructions;            /* Executed since the start. */
    struct kvc_sandbox_watch watch;   /* Of the processor time. */
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
