#include "scenarios/load/lua/sandbox_limits.h"

#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

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
